"""Whole programs under a context: scripts and modules, run as Python itself would run them."""

from __future__ import annotations

import code
import importlib.machinery
import importlib.util
import os
import pkgutil
import sys
from types import CodeType, ModuleType, TracebackType
from typing import Any

from overlay.contexts.context import Context
from overlay.core.errors import OverlayError
from overlay.core.location import is_ours
from overlay.tools.install import Session, session_of_console

__all__ = ["MainProgram"]


class MainProgram:
    """A program to be run as ``__main__``.

    code: None for a console. attributes: of the module ``__main__``. arguments: ``sys.argv``.
    place: the first entry of ``sys.path`` while it runs, or None where that stays.
    """

    def __init__(
        self,
        code: CodeType | None,
        attributes: dict[str, Any],
        arguments: list[str],
        place: str | None,
    ) -> None:
        self.code = code
        self.attributes = attributes
        self.arguments = arguments
        self.place = place

    @classmethod
    def of_script(cls, path: str, *arguments: str) -> MainProgram:
        """A file of source or bytecode, or a directory or archive with a ``__main__``."""
        importer: Any = pkgutil.get_importer(path)
        if importer is not None:
            spec = importer.find_spec("__main__")
            if spec is None:
                raise OverlayError(f"{path!r} has no __main__ to run", help="name a script")
            code = spec.loader.get_code("__main__")
            return cls(code, _attributes(spec), [path, *arguments], path)
        if not os.path.isfile(path):
            raise OverlayError(f"there is no script {path!r}", help="check the path")
        file = os.path.abspath(path)
        compiled = path.endswith(tuple(importlib.machinery.BYTECODE_SUFFIXES))
        kind: Any = (
            importlib.machinery.SourcelessFileLoader
            if compiled
            else importlib.machinery.SourceFileLoader
        )
        loader = kind("__main__", file)
        code = loader.get_code("__main__") if compiled else _compiled(file)
        attributes = {"__file__": file, "__loader__": loader, "__spec__": None}
        place = os.path.dirname(os.path.realpath(path))
        return cls(code, attributes, [path, *arguments], place)

    @classmethod
    def of_module(cls, name: str, *arguments: str) -> MainProgram:
        """A module, or a package with a ``__main__``."""
        spec = _spec_of(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name = f"{name}.__main__"
            spec = _spec_of(name)
        loader: Any = None if spec is None else spec.loader
        code = loader.get_code(name) if hasattr(loader, "get_code") else None
        if spec is None or code is None:
            raise OverlayError(f"there is no module {name!r} to run", help="check the spelling")
        return cls(code, _attributes(spec), [spec.origin or name, *arguments], None)

    @classmethod
    def of_console(cls) -> MainProgram:
        """An interactive console."""
        return cls(None, {"__spec__": None, "__loader__": None}, [""], None)

    def run(self, context: Context) -> None:
        """Run the program. Its exceptions propagate, and are shown without frames of
        ``overlay``."""
        main = ModuleType("__main__")
        vars(main).update({"__builtins__": __builtins__, "__cached__": None} | self.attributes)
        # Keep the previous module alive: its variables are still in use.
        self._before, sys.modules["__main__"] = sys.modules["__main__"], main
        sys.argv[:] = self.arguments
        if self.place is not None and not sys.flags.safe_path:
            sys.path[0] = self.place
        if self.code is None:
            console = code.InteractiveConsole(vars(main))
            session_of_console(console).add(context)
            console.interact()
            return
        session = Session()
        session.add(context)
        try:
            with session.prepared(self.code, vars(main)) as piece:
                exec(piece, vars(main))
        except BaseException:
            _show_without_our_frames()
            raise


def _compiled(path: str) -> CodeType:
    with open(path, "rb") as file:
        source = file.read()
    return compile(source, path, "exec", dont_inherit=True)


def _spec_of(name: str) -> importlib.machinery.ModuleSpec | None:
    if name.startswith("."):  # relative to nothing
        return None
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is not None and name.startswith(error.name):
            return None
        raise
    except ValueError:  # a module without a spec
        return None


def _attributes(spec: Any) -> dict[str, Any]:
    return {
        "__file__": spec.origin,
        "__loader__": spec.loader,
        "__package__": spec.parent,
        "__spec__": spec,
    }


def _show_without_our_frames() -> None:
    """Have ``sys.excepthook`` omit our frames, and those that started us, from the traceback."""
    shown_by = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        trace = _of_program(trace)
        shown_by(kind, error.with_traceback(trace), trace)

    sys.excepthook = show


def _of_program(trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that begins with the program's own frames."""
    found = trace
    while found is not None and not is_ours(found.tb_frame.f_code.co_filename):
        found = found.tb_next  # frames that started us
    while found is not None and is_ours(found.tb_frame.f_code.co_filename):
        found = found.tb_next
    return trace if found is None else found
