"""The generated functions of an inverse, interpreted, compiled, and in loops over rows; and
staleness.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from inversion.emitting.compiled_form import form_for_cpu, form_for_kernels
from inversion.emitting.definition import Definition, dtype_of, example_of
from inversion.emitting.raising import as_in_python
from inversion.emitting.row_code import loop_source
from inversion.numba_compilation import jitted
from inversion.planning.plan import is_quick
from inversion.program.limits import first_sequence
from inversion.program.statements import Program
from inversion.program.trees import classes_of, is_dataclass, leaves, rebuilt
from inversion.running.array_kernels import ArrayKernel
from inversion.running.lockstep import Lockstep
from inversion.running.quick import SEEN
from overlay import Context, MethodTable, NotCompilable, nonoverlay
from overlay.code.record import FunctionReads, attribute_held, is_same
from overlay.core.background import Later
from overlay.core.short_repr import a_or_an
from primitives.solver_forms import compiled_solvers, without_refusals

__all__ = ["Cache", "GeneratedFunctions", "Staleness"]

Cache = bool | str | os.PathLike[str]


class GeneratedFunctions:
    """The functions of an inverse, each created on first use.

    cache: whether compiled code is stored on disk, or the folder for it: see ``Context.jit``.
    """

    def __init__(self, definition: Definition, cache: Cache) -> None:
        self._definition = definition
        self._source = definition.source
        self.cache = cache
        # its own context: a context checks everything that it has compiled for changes
        self._own = Context(MethodTable(definition.filename))
        self._home = compiled_solvers | self._own

    # ---- made later ----

    @cached_property
    def inverse(self) -> Later[Callable[..., tuple[Any, ...]]]:
        """``inverse`` as one function compiled by numba."""
        return Later(self._inverse, f"the inverse of {self._definition.name}")

    @cached_property
    def rows(self) -> Later[Callable[..., int]]:
        """The compiled loop over rows: ``rows(failed, *columns, *outs)`` returns the number of rows
        that failed.
        """
        return Later(self._rows, f"the rows of {self._definition!r}")

    @cached_property
    def quick_rows(self) -> tuple[Later[Callable[..., int] | None], ...]:
        """The loops ``rows(*columns, *outs)``, one for θ in columns and one for a shared θ."""
        return tuple(
            Later(
                partial(self._made_quick, one_theta=one), f"the quick rows of {self._definition!r}"
            )
            for one in (False, True)
        )

    # ---- interpreted ----

    @cached_property
    def namespace(self) -> dict[str, Any]:
        """The generated functions, interpreted."""
        namespace = {**self._source.names, "forward": self._forward()}
        exec(compile(self._source.text, self._definition.filename, "exec"), namespace)
        plain = self._definition.is_plain
        for rows, loop in self._source.kernels.items():
            compiled = self._compiled_part, self._quick_loop
            forms = [partial(one, rows) for one in (compiled if loop.quick else compiled[:1])]
            one = Lockstep(namespace[loop.one], fits=plain and (loop.quick or loop.floats))
            namespace[rows] = ArrayKernel(one, loop.outs, forms)
        return namespace

    @cached_property
    def columns(self) -> Lockstep:
        """``inverse``, interpreted over columns, if it solves floats from floats in sequence."""
        definition = self._definition
        floats = all(kind is float for kind in definition.leaf_kinds(definition.axes.known))
        numbers = floats and self._answers_numbers
        fits = numbers and definition.is_plain and is_quick(definition.plan)
        return Lockstep(self.namespace["inverse"], fits=fits)

    @property
    def _answers_numbers(self) -> bool:
        axes = self._definition.axes
        unknown = [axes.trees[axis] for axis in axes.unknown]
        return bool(unknown) and all(isinstance(tree, str) for tree in unknown)

    def _forward(self) -> Callable[..., Any]:
        function = self._definition.function
        if self._definition.context is not None:
            return self._definition.context.wrap(function)
        return getattr(function, "py_func", function)

    # ---- compiled ----

    def _inverse(self) -> Callable[..., tuple[Any, ...]]:
        """``inverse`` as one function compiled by numba. Raises NotCompilable."""
        definition, names = self._definition, self._entered
        kinds = [definition.kinds[axis] for axis in definition.axes.known]
        defaults = [rebuilt(tree, map(example_of, leaves(tree))) for tree in kinds]
        space = definition.parameters
        missing = "give all known values"
        if len(space):
            theta = "inv.parameters.default()"
            theta = f"inv.parameters.compiled({theta})" if space.repeats else theta
            missing = f"give θ last, as in compiled(*values, {theta})"
        return jitted(
            self._home.jit(names["inverse"], cache=self.cache, no_cfunc_wrapper=True),
            (*defaults, *definition.as_argument(space.compiled(space.default()))),
            f"the inverse of {definition.name}",
            definition.where,
            self._normal if space.repeats else None,
            missing,
        )

    def fitted(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of a call, in the form for compiled code."""
        count = len(self._definition.axes.known)
        return (*given[:count], *map(self._definition.parameters.compiled, given[count:]))

    def _normal(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments converted if their types do not fit; θ may be a tuple of tuples."""
        count, space = len(self._definition.axes.known), self._definition.parameters
        return self.fitted((*given[:count], *map(space.normal, given[count:])))

    def _compiled_part(self, name: str, example: tuple[Any, ...]) -> Callable[..., Any]:
        """One of the generated functions, compiled for arguments like these."""
        part = self._home.jit(self._entered[name], cache=self.cache)
        return self._for_elements(part, example)

    def _quick_loop(self, name: str, example: tuple[Any, ...]) -> Callable[..., Any]:
        """A loop over elements that stores NaN for errors, compiled for arguments like these."""
        loop = without_refusals(self._functions(None)[name], self._own, nogil=True)
        return self._for_elements(loop, example)

    def _for_elements(self, loop: Any, example: tuple[Any, ...]) -> Callable[..., Any]:
        return jitted(loop, example, repr(self._definition), self._definition.where)

    @cached_property
    def _entered(self) -> dict[str, Any]:
        """The generated functions in the form for compilation. Raises NotCompilable."""
        self.check()
        context, function = self._definition.context, self._definition.function
        if self._definition.hides_errors:
            context = as_in_python(context)
        return self._functions((context or Context()).jit(function))

    def _functions(self, forward: Any) -> dict[str, Any]:
        """The generated functions, which call this function for ``forward``."""
        names = {**self._source.names, "forward": forward, "__name__": __name__}
        exec(compile(self._source.text, self._definition.filename, "exec"), names)
        return names

    def check(self) -> None:
        """Raise NotCompilable for a program with strings, lists or dataclasses."""
        if self._sequence is not None:
            name, kind, where = self._sequence
            raise NotCompilable(
                f"cannot compile the inverse of {self._definition.name}: {name} is {a_or_an(kind)}",
                where=where,
                help="strings and lists are inverted by calls, which are interpreted",
            )
        trees = self._definition.axes.trees.values()
        held = [c for tree in trees for c in classes_of(tree) if not issubclass(c, tuple)]
        if held:
            raise NotCompilable(
                f"cannot compile the inverse of {self._definition.name}: {held[0].__name__} is "
                f"{'a dataclass' if is_dataclass(held[0]) else 'no tuple'}",
                where=self._definition.where,
                help="named tuples are compiled; dataclasses and containers are inverted by calls",
            )

    @cached_property
    def _sequence(self) -> tuple[str, str, str] | None:
        return first_sequence(self._definition.plan.program)

    # ---- called in compiled code ----

    @cached_property
    def on_cpu(self) -> Callable[..., tuple[Any, ...]]:
        """The function that code compiled by a context calls. Raises NotCompilable."""
        return form_for_cpu(self._definition, compiled_solvers.wrap(self._entered["inverse"]))

    @cached_property
    def in_kernels(self) -> Callable[..., tuple[Any, ...]]:
        """The function that a kernel calls. Raises NotCompilable."""
        self.check()
        return form_for_kernels(self._definition)

    # ---- rows ----

    def _rows(self) -> Callable[..., int]:
        """The compiled loop over rows: ``rows(failed, *columns, *outs)`` returns the number of rows
        that failed. Raises NotCompilable.
        """
        rows = self._loop(self._entered["inverse"], raises=True)
        return self._for_columns(self._home.jit(rows, cache=self.cache, nogil=True), raises=True)

    def _made_quick(self, *, one_theta: bool) -> Callable[..., int] | None:
        """The loop ``rows(*columns, *outs)`` over an inverse that returns NaN where there is no
        answer, if there is one.

        one_theta: whether parameters are numbers that all rows share.
        """
        definition = self._definition
        if not self.may_be_quick:
            return None
        context, function = definition.context, definition.function
        forward = Context().jit(function)
        if context is not None:  # the methods of the context are for the original function
            forward = nonoverlay(context.jit(function, forceinline=True))
        inverse = self._functions(forward)["inverse"]
        rows = self._loop(inverse, raises=False, one_theta=one_theta)
        quick = without_refusals(rows, self._own, nogil=True)
        try:
            return self._for_columns(quick, raises=False, one_theta=one_theta)
        except NotCompilable:
            return None

    @cached_property
    def may_be_quick(self) -> bool:
        """Whether rows may be solved by code that returns NaN where there is no solution."""
        definition = self._definition
        return self._answers_numbers and is_quick(definition.plan) and not definition.hides_errors

    def _loop(
        self, inverse: Callable[..., Any], *, raises: bool, one_theta: bool = False
    ) -> Callable[..., int]:
        """The loop over rows that calls an inverse."""
        definition = self._definition
        known, unknown = (
            [definition.axes.trees[axis] for axis in axes]
            for axes in (definition.axes.known, definition.axes.unknown)
        )
        count = len(definition.parameters)
        text = loop_source(known, count, unknown, raises=raises, one_theta=one_theta)
        classes = {c.__name__: c for tree in (*known, *unknown) for c in classes_of(tree)}
        namespace: dict[str, Any] = {**SEEN, "inverse": inverse, **classes, "__name__": __name__}
        exec(compile(text, definition.filename, "exec"), namespace)
        return namespace["rows"]

    def _for_columns(
        self, rows: Any, *, raises: bool, one_theta: bool = False
    ) -> Callable[..., int]:
        """A loop over rows, compiled for the columns of this inverse."""
        definition = self._definition
        axes, dtypes = definition.axes, [p.domain.dtype for p in definition.parameters]
        example: list[Any] = [np.zeros(0, np.bool_)] if raises else []
        example += [np.zeros(0, dtype_of(kind)) for kind in definition.leaf_kinds(axes.known)]
        example += [dtype.type() if one_theta else np.zeros(0, dtype) for dtype in dtypes]
        example += [np.zeros(0, dtype_of(kind)) for kind in definition.leaf_kinds(axes.unknown)]
        return jitted(rows, tuple(example), repr(definition), definition.where)


class Staleness:
    """A detector of changes of the names, attributes, code or tables from which a program was
    lifted.

    It stores the values that the functions read when the program was made, and listens to the
    tables of the context.
    """

    def __init__(self, program: Program, context: Context | None) -> None:
        self._readings = [FunctionReads(function) for function in program.functions]
        self._attributes = program.attributes
        self._changed = False
        for table in (*program.tables, *(context.tables if context is not None else ())):
            table.listen(self)

    def table_changed(self, target: Any) -> None:
        """Callback of the tables, when a method for a target changes."""
        self._changed = True

    @property
    def changed(self) -> bool:
        """Whether a change was detected, now or by an earlier check."""
        self._changed = (
            self._changed
            or any(reading.changed() for reading in self._readings)
            or any(
                not is_same(attribute_held(thing, name), value)
                for thing, name, value in self._attributes
            )
        )
        return self._changed

    @property
    def outdated(self) -> bool:
        """Whether anything changed, including the contents of arrays and lists that were read,
        which are compared in full.
        """
        self._changed = self.changed or any(reading.altered() for reading in self._readings)
        return self._changed
