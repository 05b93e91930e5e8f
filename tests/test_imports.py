"""Imports on first use: few modules at the start, and the same ones wherever they come first."""

import ast
import importlib
import inspect
import json
import pickle
import pkgutil
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

import inversion
import overlay
import primitives
from inversion.deadline import OutOfTime, limited
from overlay import analysis
from overlay.core.late_binding import LateBound, is_importing
from overlay.interpretations import intervals

ROOT = Path(__file__).parents[1]
LAZY = (inversion, primitives, analysis, intervals)
"""The packages whose names are imported on first access."""
OF_MODULES = (overlay, overlay.interpretations)
"""The packages whose modules alone are imported on first access."""
EAGER = {
    "primitives": {"Mode", "Relation", "parametric", "relation"},
    intervals.__name__: {"EMPTY", "ENTIRE", "Interval", "NotAnInterval", "Undecided"},
}
"""Their names that are imported at the start."""
HEAVY = {
    *("numba", "llvmlite", "plum", "typeguard", "sympy", "jax", "z3", "dask", "pandas"),
    *("matplotlib", "IPython", "rich", "tqdm", "scipy.sparse", "scipy.optimize", "scipy.linalg"),
}
"""Modules of others that are slow to import, or not always installed."""


def fresh(code: str, *args: str) -> str:
    """The output of a Python that has imported nothing yet."""
    command = [sys.executable, "-c", textwrap.dedent(code), *args]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def names_of(package):
    return [(package, name) for name in package.__all__]


NAMES = [pair for package in LAZY for pair in names_of(package)]


# ---- at the start ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "most"),
    [("import primitives", 60), ("import inversion", 60), ("from inversion import invert", 420)],
)
def test_an_import_runs_few_modules_of_ours_and_none_that_is_heavy(statement, most):
    found = fresh(f"import sys\n{statement}\nprint(*sys.modules)").split()
    assert HEAVY & {*found} == set()
    ours = [name for name in found if name.partition(".")[0] in PACKAGES]
    assert len(ours) <= most


PACKAGES = ("overlay", "primitives", "inversion")


def test_an_inverse_of_numbers_that_is_called_imports_nothing_heavy():
    code = """
        import sys
        from inversion import invert
        print(*invert(lambda x: 2.0 * x + 1.0, float)(7.0))
        print(*sys.modules)
    """
    answer, found = fresh(code).splitlines()
    assert answer == "3.0"
    assert HEAVY & {*found.split()} == set()


# ---- names ----------------------------------------------------------------------------------


def test_the_packages_that_import_late_are_those_that_are_tested():
    texts = (p for name in PACKAGES for p in (ROOT / name).rglob("__init__.py"))
    found = {p.parent for p in texts if "lazy_names(" in p.read_text()}
    assert found == {Path(package.__file__).parent for package in (*LAZY, *OF_MODULES)}


def imported_for_types(package):
    """The module of each name that a package imports for type checkers alone."""
    tree = ast.parse(inspect.getsource(package))
    for node in tree.body:
        if isinstance(node, ast.If):
            for each in node.body:
                yield from ((alias.name, each.module) for alias in each.names)


@pytest.mark.parametrize("package", LAZY, ids=lambda package: package.__name__)
def test_type_checkers_see_the_names_that_are_imported_late_where_they_are(package):
    for name, module in imported_for_types(package):
        assert getattr(package, name) is getattr(importlib.import_module(module), name)
    late = {name for name, _ in imported_for_types(package)}
    assert late | EAGER.get(package.__name__, set()) == {*package.__all__}


@pytest.mark.parametrize("package", LAZY, ids=lambda package: package.__name__)
def test_no_name_that_is_imported_late_is_that_of_a_module(package):
    modules = {each.name for each in pkgutil.iter_modules(package.__path__)}
    assert modules & {name for name, _ in imported_for_types(package)} == set()


def test_names_are_listed_before_they_are_imported_and_wrong_ones_refused():
    code = """
        import importlib, sys
        for name in sys.argv[1:]:
            package = importlib.import_module(name)
            early = dir(package)
            assert {*package.__all__} <= {*early}, name
            assert not hasattr(package, "no_such_name")
            try:
                getattr(package, "no_such_name")
            except AttributeError as error:
                print(error, "|", error.name)
            scope = {}
            exec(f"from {name} import *", scope)
            assert {*package.__all__} <= {*scope}
        import inversion
        print(inversion.solving.smt.__name__)
    """
    found = fresh(code, *(package.__name__ for package in LAZY)).splitlines()
    assert found[:-1] == [
        f"module '{package.__name__}' has no attribute 'no_such_name' | no_such_name"
        for package in LAZY
    ]
    assert found[-1] == "inversion.solving.smt"


@pytest.mark.parametrize(
    ("package", "name"), NAMES, ids=[f"{package.__name__}.{name}" for package, name in NAMES]
)
def test_each_name_is_pickled_where_it_can_be(package, name):
    value = getattr(package, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert pickle.loads(pickle.dumps(value)) is value


def test_what_is_pickled_is_read_where_nothing_is_imported():
    found = [getattr(package, name) for package, name in NAMES]
    values = [
        *(each for each in found if inspect.isclass(each) or inspect.isfunction(each)),
        inversion.NoSolution("none"),
        primitives.Reals(0.0, 1.0),
    ]
    code = "import pickle, sys; print(*pickle.loads(bytes.fromhex(sys.argv[1]))[-2:])"
    assert fresh(code, pickle.dumps(values).hex()) == "none Reals(0.0, 1.0)\n"


# ---- registries -----------------------------------------------------------------------------

REGISTRIES = """
    import importlib, json, pkgutil, sys
    if sys.argv[1] == "all":
        import inversion, overlay, primitives
        for package in (primitives, inversion):
            for each in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
                if not each.name.endswith("__main__"):
                    importlib.import_module(each.name)
    from inversion.program import shown, structured

    def registered(function):
        more = (frozenset(),) if function is structured.planned else ()
        try:
            function(object(), *more)
        except TypeError as error:
            assert "nothing is registered" in str(error), error
        return sorted(f"{cls.__module__}.{cls.__qualname__}" for cls in function.registry)

    found = {f.__name__: registered(f) for f in
             (shown.text_of, shown.html_of, shown.svg_of, structured.planned)}
    import primitives

    def methods(table):
        return sorted(map(repr, table.methods()))

    found["relations"] = methods(primitives.base_relations)
    found["partials"] = methods(primitives.base_partials)
    from overlay.interpretations.autodiff.rules import RULES
    from overlay.interpretations.autodiff.rules.array_rules import ARRAY_RULES
    from overlay.interpretations.autodiff.reverse.structural import STRUCTURAL
    from inversion.passes.all_passes import PASSES
    from overlay.core.target import describe
    found["rules"] = [describe(rule.function) for rule in RULES]
    found["rules of arrays"] = len(ARRAY_RULES)
    found["structural"] = len(STRUCTURAL)
    found["passes"] = [each.__name__ for each in PASSES]
    print(json.dumps(found))
"""


def test_registries_are_complete_when_they_are_asked_for():
    """Their content is what it is where all modules are imported first."""
    late, early = (json.loads(fresh(REGISTRIES, which)) for which in ("few", "all"))
    for name in early:
        assert len(early[name]) > 1 if isinstance(early[name], list) else early[name] > 1, name
        assert late[name] == early[name], name


# ---- threads and contexts -------------------------------------------------------------------


@pytest.mark.parametrize("order", ["inversion", "primitives", "both"])
def test_threads_that_import_the_same_names_at_once_all_get_them(order):
    code = """
        import sys, threading
        sys.setswitchinterval(1e-5)
        import inversion, primitives
        packages = {"inversion": [inversion], "primitives": [primitives]}
        packages["both"] = [inversion, primitives]
        asked = [(each, name) for each in packages[sys.argv[1]] for name in each.__all__] * 2
        found, gate = [], threading.Barrier(len(asked))

        def ask(package, name):
            gate.wait()
            found.append((package.__name__, name, getattr(package, name)))

        threads = [threading.Thread(target=ask, args=each) for each in asked]
        for each in threads: each.start()
        for each in threads: each.join()
        assert len(found) == len(asked), found
        assert all(value is getattr(sys.modules[p], name) for p, name, value in found)
        print(inversion.invert(lambda x: 2.0 * x + 1.0, float)(7.0))
    """
    assert fresh(code, order) == "(3.0,)\n"


def test_a_time_limit_lets_an_import_on_first_use_end():
    """The thread is interrupted after it; interrupted, it would leave modules half imported."""
    seen = []

    def load():
        inner = LateBound(lambda: 1)
        inner.load()
        end = time.monotonic() + 0.3
        while time.monotonic() < end:  # far beyond the limit
            pass
        seen.append("whole")
        return "module"

    hook = LateBound(load)

    def run():
        hook.load()
        while True:
            pass

    with pytest.raises(OutOfTime):
        limited(0.02, run)
    assert seen == ["whole"]
    assert hook.load() == "module"
    assert not is_importing(threading.get_ident())


def test_what_is_found_while_an_import_lasts_that_fails_is_not_kept():
    loads = []

    def load():
        loads.append(len(loads))
        if len(loads) == 1:
            assert hook.load() == "half"  # as a module asks that is imported in part
            raise ImportError
        return "half" if len(loads) == 2 else "whole"

    hook = LateBound(load)
    with pytest.raises(ImportError):
        hook.load()
    assert hook.load() == hook.load() == "whole"
    assert loads == [0, 1, 2]


IN_A_CONTEXT = """
    import json, math, sys
    import overlay
    from overlay import Context, MethodTable, install
    way, first = sys.argv[1:]
    table = MethodTable("wrong")

    def declare(function):
        @table.overlay(function)
        def wrong(x: float): return -7.5

    for function in (math.sqrt, math.log, math.exp, math.log2, math.fabs, math.ulp):
        declare(function)

    @table.overlay(math.nextafter)
    def beside(x: float, y: float): return -7.5

    @table.overlay(math.ldexp)
    def scaled(x: float, i: int): return -7.5

    def program():
        import inversion, primitives
        answers = [
            inversion.invert(lambda x: 2.0 * x + 1.0, float)(7.0),
            inversion.invert(lambda x: x ** 3 + x, float)(10.0),
        ]
        for package in (inversion, primitives):
            for name in package.__all__:
                getattr(package, name)
        import inversion.solving.smt_programs, inversion.derivatives.jacobian
        return answers, math.sqrt(4.0)

    if first == "early":
        math_now = program()
    context = Context(table)
    if way == "with":
        with context:
            found = program()
    elif way == "call":
        found = context(program)
    else:
        with install(context):
            found = program()
    numbers = {
        f"{name}.{key}": repr(value)
        for name, module in sorted(sys.modules.items())
        if name.partition(".")[0] in ("inversion", "primitives", "overlay")
        for key, value in vars(module).items()
        if isinstance(value, int | float | complex) and not key.startswith("__")
        or type(value).__name__ in ("Reals", "Integers")
    }
    print(json.dumps([found, numbers]))
"""


@pytest.mark.parametrize("way", ["with", "call", "install"])
def test_a_first_import_in_a_context_gives_what_one_outside_gives(way):
    """No module of ours computes what it holds with the methods of a context."""
    late, early = (json.loads(fresh(IN_A_CONTEXT, way, when)) for when in ("late", "early"))
    assert early[0][1] == -7.5
    assert len(early[1]) > 300
    assert late == early


def test_a_target_in_a_module_that_is_imported_late_in_a_context_is_seen_at_once():
    code = """
        from overlay import Context, MethodTable
        import inversion
        table = MethodTable("named")
        @table.overlay("inversion.solving.even_points:point_of")
        def point_of(*args, **kwargs): return "overlaid"

        def program():
            inversion.pave
            from inversion.solving import even_points
            return even_points.point_of(0, 0)

        print(Context(table)(program))
    """
    assert fresh(code) == "overlaid\n"
