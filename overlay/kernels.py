"""Compiled kernels as text, to be inspected, stored and loaded in another process; and functions
for code that also runs in kernels.

``Context.jit(f, target="cuda").compile(types, capability)`` gives compiled kernels.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from overlay.core.errors import OverlayError
from overlay.core.location import caller
from overlay.core.markup import code, facts, listed, place, sheet
from overlay.core.public_names import completes
from overlay.core.short_repr import counted, short_repr
from overlay.plugins.attempts import attempted

__all__ = [
    "CompiledFunction",
    "CompiledKernel",
    "atomic_add",
    "attempted",
    "in_kernel",
    "local_array",
]
__dir__ = completes(__all__)

FORMAT: Final = 1


@dataclass(frozen=True)
class CompiledFunction:
    """A function of the program in a compiled kernel.

    Attributes
    ----------
    symbol : str
        Its name in PTX and LLVM.
    name : str
        The qualified name of the Python function.
    where : str
        ``file:line`` of its definition.
    types : tuple of str
        The types of its arguments, and last of its result.

    Examples
    --------
    >>> from overlay.kernels import CompiledFunction
    >>> CompiledFunction("_Z5twiced", "twice", "model.py:3", ("float64", "float64")).name
    'twice'
    """

    symbol: str
    name: str
    where: str
    types: tuple[str, ...]


@dataclass(frozen=True)
class CompiledKernel:
    """A kernel as text, for one combination of types and one compute capability.

    Nothing in it belongs to the process that made it.

    Attributes
    ----------
    name : str
        The qualified name of the Python function.
    symbol : str
        Its name in the code.
    types : tuple of str
        The types of its arguments.
    capability : (int, int)
        The compute capability, such as ``(8, 0)``.
    ptx : str
        The code in PTX.
    llvm : tuple of str
        The LLVM modules that NVIDIA's compiler was given, the kernel's own first.
    functions : tuple of CompiledFunction
        All functions of the program in them.

    Examples
    --------
    >>> from overlay.kernels import CompiledKernel
    >>> made = CompiledKernel("fill", "_Z4fill", ("array",), (8, 0), ".version 7.5", (), ())
    >>> CompiledKernel.from_bytes(made.to_bytes()) == made
    True
    """

    name: str
    symbol: str
    types: tuple[str, ...]
    capability: tuple[int, int]
    ptx: str
    llvm: tuple[str, ...]
    functions: tuple[CompiledFunction, ...]

    def __repr__(self) -> str:
        capability = ".".join(map(str, self.capability))
        facts = f"{self.name}({', '.join(self.types)}) for {capability}"
        return short_repr("CompiledKernel", facts)

    def _repr_html_(self) -> str:
        functions = listed(
            ("function", "types", "where"),
            self.functions,
            lambda each: (code(each.name), code(", ".join(each.types)), place(each.where)),
        )
        given = facts(
            ("types", code(", ".join(self.types))),
            ("capability", ".".join(map(str, self.capability))),
            ("PTX", counted(len(self.ptx.splitlines()), "line")),
            ("LLVM", counted(len(self.llvm), "module")),
        )
        return sheet("kernel", self.name, None, given, functions)

    def to_bytes(self) -> bytes:
        """Serialize the kernel.

        Returns
        -------
        bytes
            JSON; equal bytes in each process that compiles the same code.
        """
        return json.dumps({"format": FORMAT, **asdict(self)}, sort_keys=True, indent=1).encode()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the kernel to a file.

        Parameters
        ----------
        path : path-like
            The file, which is replaced if it exists.
        """
        with open(path, "wb") as file:
            file.write(self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CompiledKernel:
        """Read a kernel that ``save`` has written, in this process or another.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        CompiledKernel
            A kernel equal to the one that was saved.

        Raises
        ------
        OverlayError
            The file does not hold a kernel of this version.
        """
        with open(path, "rb") as file:
            return cls.from_bytes(file.read(), os.fspath(path))

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "these bytes") -> CompiledKernel:
        """Read a kernel from the bytes of ``to_bytes``.

        Parameters
        ----------
        data : bytes
            The serialized kernel.
        name : str
            The name of the data in an error.

        Returns
        -------
        CompiledKernel
            A kernel equal to the one that was serialized.

        Raises
        ------
        OverlayError
            The bytes are no kernel of this version.
        """
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
    """The fields of a kernel read from JSON, with its lists turned into tuples again."""
    made = dict[str, Any](fields)
    for name, value in fields.items():
        if isinstance(value, list):
            made[name] = tuple(value)
    return made


# ---- code that also runs in kernels ------------------------------------------------------


def local_array(shape: Any, dtype: Any = np.float64) -> Any:
    """A new array that lives as long as the function that makes it, which must not return it.

    In a kernel it is ``cuda.local.array``, whose shape has to be constant there; elsewhere
    ``np.empty``.

    Parameters
    ----------
    shape : int or tuple of int
        The length of each axis.
    dtype : numpy dtype
        The type of the elements.

    Returns
    -------
    array
        The array; its initial content is undefined.

    Examples
    --------
    >>> from overlay.kernels import local_array
    >>> local_array((2, 3)).shape
    (2, 3)
    """
    return np.empty(shape, dtype)


def atomic_add(array: Any, index: Any, value: Any) -> None:
    """Add to an element of an array to which other threads of a kernel may add at the same time.

    In a kernel it is ``cuda.atomic.add``; elsewhere ``array[index] += value``.

    Parameters
    ----------
    array : array
        The array, which is changed in place.
    index : int or tuple of int
        The index of the element.
    value : number
        The summand.

    Examples
    --------
    >>> import numpy as np
    >>> from overlay.kernels import atomic_add
    >>> total = np.zeros(2)
    >>> atomic_add(total, 1, 0.5)
    >>> total
    array([0. , 0.5])
    """
    array[index] += value


def in_kernel() -> bool:
    """In a generated method or a plugin: whether the code is compiled for a GPU.

    Returns
    -------
    bool
        True while a kernel is compiled; False in any other code.

    Examples
    --------
    >>> from overlay import Context, MethodTable
    >>> from overlay.kernels import in_kernel
    >>> def where() -> str: ...
    >>> table = MethodTable("table")
    >>> @table.generated(where)
    ... def where_it_runs():
    ...     return (lambda: "GPU") if in_kernel() else (lambda: "CPU")
    >>> Context(table).jit(lambda: where())()
    'CPU'
    """
    compiling = sys.modules.get("overlay.compiled.sharing")
    frame = None if compiling is None else compiling.frame()
    return frame is not None and frame.world.target.is_device
