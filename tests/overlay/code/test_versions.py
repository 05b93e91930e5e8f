"""What is said where the engine cannot run code."""

import math
import subprocess
import sys
import textwrap

import pytest

from overlay import Context, MethodTable, OverlayError, Plugin, UnsupportedPython
from overlay.code.versions import READABLE, REWRITABLE, require_readable, require_rewritable

# A Python that no emitter knows: another version, and no instruction by a name that is known.
UNKNOWN = """
    import dis, opcode, sys
    import inversion, numba, plum  # they have needs of their own
    version = sys.version_info
    sys.version_info = (3, 99, 0, "final", 0)
    dis.opmap = {}
    ours = ("overlay", "inversion", "primitives")
    for name in [name for name in sys.modules if name.split(".")[0] in ours]:
        del sys.modules[name]
    import overlay
    from overlay import Context, MethodTable, UnsupportedPython, generic
"""


def on_unknown_python(body):
    program = textwrap.dedent(UNKNOWN) + textwrap.dedent(body)
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


def test_the_versions_that_are_tested_can_be_read():
    assert sys.version_info[:2] in READABLE
    for version in READABLE:
        require_readable(version)
    for version in REWRITABLE:
        require_rewritable(version)


@pytest.mark.parametrize("require", [require_readable, require_rewritable])
@pytest.mark.parametrize("version", [(3, 11), (3, 99)])
def test_another_version_is_refused_by_name(require, version):
    with pytest.raises(UnsupportedPython, match=rf"{version[0]}\.{version[1]}[\s\S]*3\.12"):
        require(version)


def test_on_an_unknown_python_only_the_engine_is_refused():
    said = on_unknown_python("""
        table = MethodTable("table")

        @generic
        def area(shape: float):
            return shape * shape

        @table.overlay(area)
        def other(shape: float):
            return -1.0

        with Context(table):
            print(area(2.0))
        print(area(2.0))
        try:
            Context(table)(area, 2.0)
        except UnsupportedPython as error:
            print("refused" if "3.99" in str(error) else error)
    """)
    assert said == ["-1.0", "4.0", "refused"]


def test_on_an_unknown_python_inverses_run():
    assert on_unknown_python("""
        from inversion import invert

        print(*invert(lambda x: 2.0 * x + 1.0, float)(5.0))
    """) == ["2.0"]


def test_code_that_cannot_be_rewritten_is_named():
    def function():
        return len("x")

    code = function.__code__
    function.__code__ = code.replace(co_code=code.co_code[:4] + b"\xc8\0" * 2)
    with pytest.raises(OverlayError, match=r"function cannot be rewritten[\s\S]*test_versions"):
        Context(MethodTable("table"), plugins=(Plugin(),))(function)


@pytest.mark.skipif(sys.version_info[:2] in REWRITABLE, reason="ctx(f) runs here")
def test_where_code_cannot_be_rewritten_the_error_names_what_works():
    table = MethodTable("table")

    @table.overlay(math.sin)
    def sin(x: float) -> float:
        return x

    def f(x):
        return 2.0 * math.sin(x)

    assert Context(table)(f, 0.5) == 1.0
    context = Context(table, plugins=(Plugin(),))
    with pytest.raises(UnsupportedPython, match=r"plugins[\s\S]*ctx\(f\)[\s\S]*ctx\.jit"):
        context(f, 0.5)
    assert context.jit(f)(0.5) == 1.0


@pytest.mark.skipif(sys.version_info[:2] in REWRITABLE, reason="frames are hidden here")
def test_no_code_is_changed_where_it_cannot_be_rewritten():
    from overlay.python import unseen

    def function(x):
        return x

    code = function.__code__
    assert unseen.unseen(function).__code__ is code
    program = """
        import gc
        import overlay.python.unseen
        gc.callbacks.append(overlay.python.unseen.unobserved(lambda *given: None))
        for _ in range(50):
            gc.collect()
        print("lives")
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.stdout.split() == ["lives"], ran.stderr
