"""A check of this installation, ``python -m overlay doctor``: versions, each engine on a small
program, and the folders in use."""

from __future__ import annotations

import math
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import metadata, util
from typing import Any, NamedTuple

from overlay.contexts.context import Context
from overlay.core.cache_folder import PLACE, SIZE, Folder
from overlay.core.errors import OverlayError
from overlay.core.short_repr import counted
from overlay.core.table import MethodTable

__all__ = ["Diagnosis", "diagnoses"]

LIBRARIES = ("numba", "llvmlite", "numpy", "scipy", "plum-dispatch", "rich", "typeguard")
OPTIONAL = ("ipython", "matplotlib", "dask", "z3-solver")
VARIABLES = (PLACE, SIZE, "NUMBA_ENABLE_CUDASIM", "NUMBA_DISABLE_JIT", "NUMBA_CACHE_DIR")


class Diagnosis(NamedTuple):
    """Diagnosis of one part of the installation.

    name: of the part. state: "works", "not available", or "fails". told: its version, its
    location, or the fault. remedy: the remedy, or "".
    """

    name: str
    state: str
    told: str
    remedy: str = ""


def diagnoses() -> Iterator[Diagnosis]:
    """Look at this environment, one thing after the other: versions, each engine on a small
    program, and folders. The compiled engine is tried last but for the GPU, since numba takes
    seconds."""
    build = f"{platform.python_implementation()} {platform.python_version()}"
    yield Diagnosis("Python", "works", f"{build}, {platform.platform()}, {sys.executable}")
    for name in ("overlay-dispatch", *LIBRARIES):
        yield _version(name, "reinstall overlay-dispatch, which requires it")
    for name in OPTIONAL:
        yield _version(name, "")
    yield from _folders()
    yield _tried("interpreted code, ctx(f)", _interpreted)
    yield _tried("compiled code, ctx.jit(f)", _compiled)
    yield _tried("inverses, invert(f)", _inverted)
    yield _gpu()


def _version(name: str, remedy: str) -> Diagnosis:
    try:
        return Diagnosis(name, "works", metadata.version(name))
    except metadata.PackageNotFoundError:
        return Diagnosis(name, "fails" if remedy else "not available", "not installed", remedy)


def _folders() -> Iterator[Diagnosis]:
    folder = Folder.of()
    files = counted(len(folder.files()), "function")
    held = f"{folder.path}: {files}, {counted(folder.size(), 'byte')}"
    is_writable = os.access(_nearest(folder.path), os.W_OK)
    yield Diagnosis(
        "compiled code on disk",
        "works" if is_writable else "fails",
        held,
        "" if is_writable else f"set {PLACE} to a folder that you can write to",
    )
    for name in VARIABLES:
        if name in os.environ:
            yield Diagnosis(name, "works", os.environ[name])


def _nearest(path: str) -> str:
    """The folder, or the nearest one above it that exists."""
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return path


def _tried(name: str, program: Callable[[], str]) -> Diagnosis:
    """The result of a small program."""
    try:
        return Diagnosis(name, "works", program())
    except OverlayError as error:
        text, _, remedy = str(error).partition("\n  help: ")
        return Diagnosis(name, "fails", text, remedy)
    except Exception as error:
        return Diagnosis(name, "fails", f"{type(error).__name__}: {error}", "please report this")


def _wave(x: float) -> float:
    return math.sin(x) + 1.0


def _context() -> Context:
    table = MethodTable("doctor")
    table.overlay(math.sin)(_twice)
    return Context(table)


def _twice(x: float) -> float:
    return 2.0 * x


def _interpreted() -> str:
    _expect(_context()(_wave, 3.0), 7.0)
    return "a function in C is intercepted below a Python function"


def _compiled() -> str:
    _expect(_context().jit(_wave)(3.0), 7.0)
    return "a function in C is replaced in machine code"


def _inverted() -> str:
    if util.find_spec("inversion") is None:
        raise OverlayError("the package inversion is not there", help="reinstall overlay-dispatch")
    code = "import inversion; print(inversion.invert(lambda x: 2.0 * x + 1.0, float)(7.0)[0])"
    # above this package in the tower, so that it is not imported here
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise OverlayError(ran.stderr.strip().rpartition("\n")[2], help="please report this")
    _expect(float(ran.stdout), 3.0)
    return "2 x + 1 = 7 gives x = 3"


def _expect(found: float, right: float) -> None:
    if found != right:
        raise OverlayError(f"a program gave {found} in place of {right}", help="please report this")


def _gpu() -> Diagnosis:
    name = "kernels, ctx.jit(f, target='cuda')"
    if os.environ.get("NUMBA_ENABLE_CUDASIM", "0") != "0":
        return Diagnosis(name, "works", "run by the interpreter, in numba's simulator")
    found = _tried(name, _kernel)
    return found._replace(state="not available") if found.state == "fails" else found


def _kernel() -> str:
    def doubled(x: Any) -> None:
        x[0] = 2.0 * x[0]

    hot: Any = Context().jit(doubled, target="cuda")
    hot.ptx("float64[:]", (8, 0))
    try:
        hot.ptx("float64[:]")  # for the GPU of this machine
    except OverlayError as error:
        return f"compiled; {error.asked}"
    return "compiled for the GPU that is at hand"
