"""An inverse as a standalone module, which depends only on Python, numpy and scipy."""

from __future__ import annotations

import ast
import functools
import re

import numpy as np

from inversion.emitting.definition import Definition
from inversion.emitting.entry_code import emit
from inversion.emitting.module_text import Source, tuple_of
from inversion.errors import NoSolution, NotWritable, OutsideDomain
from inversion.program.statements import WIDTH, renumbered
from inversion.program.trees import as_name
from inversion.tools.standalone.long_lines import wrapped_source
from inversion.tools.standalone.writing_out import ModuleWriter, documented
from primitives.relation import RETURN

__all__ = ["standalone"]

REFUSING = """\
def {name}(function):
    @{wraps}(function)
    def refused(*args):
        try:
            return function(*args)
        except ({own},):
            raise
        except (ValueError, ArithmeticError, LookupError, RecursionError) as error:
            raise {no}(str(error)) from error

    return refused
"""
"""A decorator that turns errors of a computation, such as a division by 0, into the
module's own.
"""


def standalone(definition: Definition) -> str:
    """The source of an inverse as a module with ``inverse``, ``forward`` and ``recover``.

    ``forward`` is the function itself, if it has source and no context changes its calls; otherwise
    it is the program that was lifted from it. Objects without source are imported by name. Raises
    NotWritable for an object with neither.
    """
    if definition.context is None:
        try:
            return _module(definition, definition.source, with_function=True)
        except NotWritable:
            pass  # the lifted program is available in any case
    plan, axes, tolerance = definition.plan, definition.axes, definition.tolerance
    source = emit(plan, axes, *tolerance, definition.domains, with_forward=True)
    return _module(definition, source, with_function=False)


def _module(definition: Definition, source: Source, *, with_function: bool) -> str:
    used = {n.id for n in ast.walk(ast.parse(source.text)) if isinstance(n, ast.Name)}
    local = {n.arg for n in ast.walk(ast.parse(source.text)) if isinstance(n, ast.arg)}
    writer = ModuleWriter(
        {*used, *local, *source.names, *source.parts, "forward", "inverse", "recover"}
    )
    for name, value in source.names.items():
        if name in used:
            writer.define(name, value)
    if with_function:
        writer.define("forward", definition.function)
    text = source.text
    refusing = _refusing(writer, with_domains="OutsideDomain" in used)
    around = f"@{refusing}\n"
    if any("numpy" in line for line in writer.imports):  # an overflow is refused, without a warning
        around += f'@{writer.named("np", np)}.errstate(all="ignore")\n'
    text = re.sub(r"^(?=def (inverse|recover)\()", around, text, flags=re.MULTILINE)
    parts = [
        _document(definition, writer) + "\n",
        "\n".join(sorted(writer.imports)) + "\n",
        '__all__ = ["forward", "inverse", "recover"]\n\n',
        *(f"{each}\n" for each in (*writer.classes, *writer.definitions)),
        text,
    ]
    return wrapped_source("\n".join(part for part in parts if part.strip()), WIDTH)


def _refusing(writer: ModuleWriter, *, with_domains: bool) -> str:
    """The name of a decorator that turns errors inside a function into the module's own."""
    own = [writer.named("NoSolution", NoSolution)]
    own += [writer.named("OutsideDomain", OutsideDomain)] if with_domains else []
    wraps, name = writer.named("wraps", functools.wraps), renumbered("refusing", writer.taken)
    writer.taken.add(name)
    writer.definitions.append(
        REFUSING.format(name=name, wraps=wraps, own=", ".join(own), no=own[0])
    )
    return name


def _document(definition: Definition, writer: ModuleWriter) -> str:
    known = ["ret" if axis == RETURN else as_name(axis) for axis in definition.axes.known]
    unknown = ["ret" if axis == RETURN else as_name(axis) for axis in definition.axes.unknown]
    given = ", ".join([*known, *(["theta"] if len(definition.parameters) else [])])
    inputs = ", ".join(definition.axes.inputs)
    rows = [
        f"The inverse of {definition.name}   [{definition.where}]",
        "",
        f"inverse({given}) gives {tuple_of(unknown)},",
        f"recover({inputs}) the theta for which it gives these,",
        f"forward({inputs}) what they lead to.",
        "Values are given in the types that the function has there.",
    ]
    if len(definition.parameters):
        rows += ["", "theta is a tuple of:", *(f"    {p}" for p in definition.parameters)]
    if writer.needs:
        rows += ["", "Imported, for want of a source: " + ", ".join(sorted(writer.needs))]
    return documented("\n".join(rows) + "\n")
