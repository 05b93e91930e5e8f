"""What is said where the engine cannot run code."""

import subprocess
import sys
import textwrap

import pytest

from overlay import UnsupportedPython
from overlay.code.versions import READABLE, require_readable

# A Python that is not known: another version, and no instruction by a name that is known.
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


@pytest.mark.parametrize("version", [(3, 11), (3, 99)])
def test_another_version_is_refused_by_name(version):
    with pytest.raises(UnsupportedPython, match=rf"{version[0]}\.{version[1]}[\s\S]*3\.12"):
        require_readable(version)


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


def test_on_an_unknown_python_no_program_is_inverted_but_relations_are():
    assert on_unknown_python("""
        from inversion import invert
        from primitives import base_relations

        try:
            invert(lambda x: 2.0 * x + 1.0, float)
        except UnsupportedPython as error:
            print("refused" if "3.99" in str(error) and error.help else error)
        print("known" if base_relations.methods else "none")
    """) == ["refused", "known"]
