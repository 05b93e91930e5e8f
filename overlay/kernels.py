"""Compiled kernels as text, to be looked at, written to disk and read in another process.

``Context.jit(f, target="cuda").compile(types, capability)`` gives them.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import Any, Final

from overlay.attempts import attempted
from overlay.errors import OverlayError
from overlay.location import caller

__all__ = ["CompiledFunction", "CompiledKernel", "attempted"]

FORMAT: Final = 1


@dataclass(frozen=True)
class CompiledFunction:
    """A function of the program in a compiled kernel.

    symbol: its name in PTX and LLVM. name, where: the Python function and its ``file:line``.
    types: of its arguments, and last of its result.
    """

    symbol: str
    name: str
    where: str
    types: tuple[str, ...]


@dataclass(frozen=True)
class CompiledKernel:
    """A kernel for one combination of types and one compute capability, as text: nothing in it
    belongs to the process that made it.

    symbol: its name in the code. types: of its arguments. llvm: the modules that NVIDIA's
    compiler was given, the kernel's own first. functions: all of the program that is in them.
    """

    name: str
    symbol: str
    types: tuple[str, ...]
    capability: tuple[int, int]
    ptx: str
    llvm: tuple[str, ...]
    functions: tuple[CompiledFunction, ...]

    def to_bytes(self) -> bytes:
        """All of it; the same in each process that compiles the same."""
        return json.dumps({"format": FORMAT, **asdict(self)}, sort_keys=True, indent=1).encode()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it into a file."""
        with open(path, "wb") as file:
            file.write(self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CompiledKernel:
        """What ``save`` has written, in this process or another."""
        with open(path, "rb") as file:
            return cls.from_bytes(file.read(), os.fspath(path))

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "these bytes") -> CompiledKernel:
        """What ``to_bytes`` gave. name: what to call it in an error."""
        try:
            found: dict[str, Any] = json.loads(data)
            if found.pop("format") != FORMAT:
                raise ValueError("another format")
            fields = _as_made(found)
            fields["functions"] = tuple(CompiledFunction(**_as_made(f)) for f in found["functions"])
            return cls(**fields)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise OverlayError(
                f"{name} is not a compiled kernel: {error}",
                where=caller(),
                help="load what CompiledKernel.save has written, with the same version",
            ) from error


def _as_made(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields that were read, of which JSON has made lists of the tuples."""
    made = dict[str, Any](fields)
    for name, value in fields.items():
        if isinstance(value, list):
            made[name] = tuple(value)
    return made
