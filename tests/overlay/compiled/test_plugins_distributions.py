"""Two distributions with tables and plugins on the same targets behave the same in whichever
order they are imported."""

import json
import subprocess
import sys
from textwrap import dedent

import pytest

PACKAGE = '''
    """A distribution of tables and plugins."""

    import math

    from overlay import Context, MethodTable, Plugin, call_next

    table = MethodTable("approximations")


    @table.overlay(math.sin)
    def sin(x: float):
        return call_next(x) + {number}


    @table.overlay(abs)
    def absolute(x: {kind}):
        return {number}


    class Scales(Plugin):
        cache_token = "scales"

        def enter(self, callee, types):
            own = callee is scaled or getattr(callee, "__name__", "") == "untouched"
            return None if own else self

        def before_inference(self, ir):
            for call in ir.calls(math.cos):
                ir.replace(call, scaled, *call.args)


    def scaled(x):
        return math.cos(x) * {number}


    context = Context(table, plugins=(Scales(),))
'''

PROGRAM = """
    import importlib
    import json
    import math
    import sys

    names = sys.argv[1:]
    modules = dict(zip(names, map(importlib.import_module, names)))
    one, two = modules["dist_one"].context, modules["dist_two"].context

    def untouched(x):
        return math.cos(x)

    def program(x):
        return math.sin(x), math.cos(x), abs(x), abs(2), untouched(x)

    contexts = {"one": one, "two": two, "one|two": one | two, "two|one": two | one}
    found = {name: context.jit(program)(0.5) for name, context in contexts.items()}

    def in_python(found):  # interpreted code has the tables' methods, and no hook on its IR
        sine, _, *others = found
        return sine, math.cos(0.5), *others

    for name, context in contexts.items():
        assert context(program, 0.5) == in_python(found[name])
    assert one(lambda: [two(program, 0.5)]) == [in_python(found["one|two"])]
    print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the program prints, by the order of the imports."""
    folder = tmp_path_factory.mktemp("site-packages")
    for name, number, kind in (("dist_one", 10.0, "float"), ("dist_two", 100.0, "float | int")):
        package = folder / name
        package.mkdir()
        source = dedent(PACKAGE).format(number=number, kind=kind)
        (package / "__init__.py").write_text(source)
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    program = folder / "program.py"
    program.write_text(dedent(PROGRAM))
    return {order: run(program, order) for order in ("dist_one dist_two", "dist_two dist_one")}


def run(program, order):
    command = [sys.executable, str(program), *order.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_order_of_imports_changes_nothing(found):
    first, second = found.values()
    assert first == second


def test_the_order_in_which_contexts_are_joined_decides(found):
    rows = next(iter(found.values()))
    assert rows["one"] != rows["two"]
    sine = {name: row[0] for name, row in rows.items()}
    assert sine["one|two"] == pytest.approx(sine["one"] + 100.0)
    assert sine["one|two"] == pytest.approx(sine["two|one"])
    cosine = {name: row[1] for name, row in rows.items()}
    assert cosine["one"] * 10 == pytest.approx(cosine["two"])
    assert cosine["one|two"] == pytest.approx(cosine["one"] * 100.0)
    assert [row[2:4] for row in rows.values()] == [
        [10.0, 2],
        [100.0, 100.0],
        [100.0, 100.0],
        [10.0, 100.0],
    ]
    assert len({row[4] for row in rows.values()}) == 1
