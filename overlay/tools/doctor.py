"""A check of this installation, ``python -m overlay doctor``: versions and which are supported, the
calls that are intercepted, the folders in use, and each engine on a small program."""

from __future__ import annotations

import math
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import metadata, util
from typing import Any, NamedTuple

from overlay.code.versions import NUMBA_TESTED, READABLE, TESTED
from overlay.contexts.context import Context
from overlay.core.cache_folder import PLACE, SIZE, Folder
from overlay.core.errors import OverlayError
from overlay.core.short_repr import counted
from overlay.core.table import MethodTable
from overlay.python.seen_calls import SEEN, UNSEEN

__all__ = ["Diagnosis", "diagnoses"]

LIBRARIES = ("numba", "llvmlite", "numpy", "scipy", "plum-dispatch", "rich", "typeguard")
OPTIONAL = ("ipython", "matplotlib", "dask", "z3-solver")
_SIMULATE = "set NUMBA_ENABLE_CUDASIM=1 to run kernels in numba's simulator"
VARIABLES = (PLACE, SIZE, "NUMBA_ENABLE_CUDASIM", "NUMBA_DISABLE_JIT", "NUMBA_CACHE_DIR")


class Diagnosis(NamedTuple):
    """Diagnosis of one part of the installation.

    part: the heading, such as "engines". name: of the thing. state: "works", "not available" or
    "fails"; of kernels also "compiles only"; of calls "intercepted" or "not seen". told: its
    version, its location, or the fault. remedy: the remedy, or "".
    """

    part: str
    name: str
    state: str
    told: str
    remedy: str = ""


def diagnoses() -> Iterator[Diagnosis]:
    """Look at this environment, one thing after the other: versions, what is supported, calls,
    folders, and each engine on a small program. The compiled engine is tried last but for the GPU,
    since numba takes seconds."""
    build = f"{platform.python_implementation()} {platform.python_version()}"
    told = f"{build}, {platform.platform()}, {sys.executable}"
    yield Diagnosis("versions", "Python", "works", told)
    for name in ("overlay-dispatch", *LIBRARIES):
        yield _version(name, "reinstall overlay-dispatch, which requires it")
    for name in OPTIONAL:
        yield _version(name, "")
    yield from _supported()
    for name in SEEN:
        yield Diagnosis("calls", name, "intercepted", "")
    for name in UNSEEN:
        yield Diagnosis("calls", name, "not seen", "")
    yield from _folders()
    yield _tried("interpreted code, ctx(f)", _interpreted)
    yield _tried("compiled code, ctx.jit(f)", _compiled)
    yield _tried("inverses, invert(f)", _inverted)
    yield _gpu()


def _version(name: str, remedy: str) -> Diagnosis:
    try:
        return Diagnosis("versions", name, "works", metadata.version(name))
    except metadata.PackageNotFoundError:
        state = "fails" if remedy else "not available"
        return Diagnosis("versions", name, state, "not installed", remedy)


def _supported() -> Iterator[Diagnosis]:
    """The supported versions of Python and numba, and whether those here are among them."""
    part = "supported versions"
    here = sys.version_info[:3]
    told, remedy = f"{', '.join(map(_dotted, READABLE))}; ", "run one of these versions"
    state = "works" if here[:2] in READABLE else "fails"
    told += f"{_dotted(here[:2])} here: {'yes' if state == 'works' else 'no'}"
    yield Diagnosis(part, "supported Python", state, told, "" if state == "works" else remedy)
    verdict = "yes" if here in TESTED else "no, so contexts test it on first use"
    told = f"{', '.join(map(_dotted, TESTED))}; {_dotted(here)} here: {verdict}"
    yield Diagnosis(part, "tested releases", "works", told)
    first, last = NUMBA_TESTED
    told, remedy = f"{_dotted(first)} to {_dotted(last)}; ", "install one of these versions"
    try:
        numba = metadata.version("numba")
    except metadata.PackageNotFoundError:
        yield Diagnosis(part, "supported numba", "fails", f"{told}none here", remedy)
        return
    minor = tuple(int(number) for number in numba.split(".")[:2])
    if first <= minor <= last:
        yield Diagnosis(part, "supported numba", "works", f"{told}{numba} here: yes")
    else:
        told += f"{numba} here: no, so a small program is compiled first"
        yield Diagnosis(part, "supported numba", "works", told, remedy)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _folders() -> Iterator[Diagnosis]:
    folder = Folder.of()
    files = counted(len(folder.files()), "function")
    held = f"{folder.path}: {files}, {counted(folder.size(), 'byte')}"
    is_writable = os.access(_nearest(folder.path), os.W_OK)
    yield Diagnosis(
        "folders",
        "compiled code on disk",
        "works" if is_writable else "fails",
        held,
        "" if is_writable else f"set {PLACE} to a folder that you can write to",
    )
    for name in VARIABLES:
        if name in os.environ:
            yield Diagnosis("folders", name, "works", os.environ[name])


def _nearest(path: str) -> str:
    """The folder, or the nearest one above it that exists."""
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return path


def _tried(name: str, program: Callable[[], str]) -> Diagnosis:
    """The result of a small program. An error is told without its place, which is here."""
    try:
        return Diagnosis("engines", name, "works", program())
    except OverlayError as error:
        notes = "".join(f" ({label}: {text})" for label, text in error.notes)
        return Diagnosis("engines", name, "fails", f"{error.asked}{notes}", error.help or "")
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        return Diagnosis("engines", name, "fails", told, "please report this")


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
        told = "run by the interpreter, in numba's simulator"
        return Diagnosis("engines", name, "works", told)
    try:
        return Diagnosis("engines", name, *_kernel())
    except OverlayError as error:
        reason = error.asked.removeprefix("cannot compile for a GPU: ")
        return Diagnosis("engines", name, "not available", reason, error.help or "")
    except Exception as error:
        return Diagnosis("engines", name, "not available", f"{type(error).__name__}: {error}")


def _kernel() -> tuple[str, ...]:
    """The state of kernels, what is told of them, and the remedy, if any."""

    def doubled(x: Any) -> None:
        x[0] = 2.0 * x[0]

    hot: Any = Context().jit(doubled, target="cuda")
    hot.ptx("float64[:]", (8, 0))
    try:
        hot.ptx("float64[:]")  # for the GPU of this machine
    except OverlayError as error:
        from overlay.compiled.cuda.cuda_typing import capability_at_hand

        reason = "this machine has no GPU" if capability_at_hand() is None else error.asked
        return "compiles only", f"kernels cannot run here: {reason}", _SIMULATE
    return "works", "compiled for the GPU of this machine"
