"""The command line: ``python -m inversion FUNCTION --return VALUE``."""

from __future__ import annotations

import argparse
import ast
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from inversion.errors import NoSolution
from inversion.inverse import Inverse
from inversion.inverting import choose
from overlay import OverlayError
from overlay.tools.named import module_of, named_context, named_function, named_type
from overlay.tools.terminal import (
    command_name,
    common_options,
    described,
    find_modules_here,
    parsed,
    print_json,
    report,
    show,
    told,
    version_option,
)
from primitives.relation import RETURN

__all__ = ["main"]

_EXAMPLES = """\
  %(prog)s "lambda x, y: x * y" --return 6                  x = 6.0, y = 1.0, for one θ
  %(prog)s "lambda x, y: x * y" --return 6 --known x=2      y = 3.0
  %(prog)s "lambda x, y, z: x * y + z" --return 5 --seed 0  another solution
  %(prog)s "lambda x: math.exp(2 * x) + 1" --show           print the inverse
  %(prog)s package.module:function float --return 1.5 --json

Exit codes: 0 with an answer, 1 without an answer, 2 for a wrong command line or a function that
cannot be inverted."""
_NO_SOLUTION = 1
_NAMES = {"math": math, "np": np, "numpy": np}  # the names that a lambda may use


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, by default with the arguments of this process; return the exit code."""
    find_modules_here("inversion")
    asked = parsed(_parser(), arguments)
    try:
        function = _function(asked.function)
        given = dict(map(_assignment, asked.known))
        if asked.result is not None:
            given = {RETURN: _value(asked.result), **given}
        known = (RETURN,) if asked.show and not given else tuple(given)
        inverse = choose(function, *_types(asked, function), known=known, context=_context(asked))
        if asked.show:
            print_json(_shown(inverse)) if asked.json else show(inverse)
        else:
            _print(inverse, *_answer(inverse, asked, given), as_json=asked.json)
    except NoSolution as error:
        if asked.json:
            print_json(_without_answer(told(error)))
        if asked.traceback or not asked.json:
            report("inversion", asked, error)
        return _NO_SOLUTION
    except Exception as error:  # of the function, or of its module
        return report("inversion", asked, error)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=command_name("inversion"),
        parents=[common_options()],
        description="Find a function's arguments from its result, or any axes from the others.",
        **described(_EXAMPLES),
    )
    parser.add_argument(
        "function", help="package.module:function, or a lambda, which may use math and np"
    )
    parser.add_argument(
        "types", nargs="*", default=[], metavar="TYPE",
        help="types of the arguments; by default from annotations, and float in a lambda",
    )  # fmt: skip
    parser.add_argument(
        "--return", dest="result", metavar="VALUE",
        help="the known result; use = if it begins with -: --return=-1e5",
    )  # fmt: skip
    parser.add_argument(
        "--known", action="append", default=[], metavar="NAME=VALUE", help="a known argument"
    )
    theta = parser.add_mutually_exclusive_group()
    theta.add_argument(
        "--theta",
        metavar="V,V,...",
        help="the parameters, in order; missing ones at the end have their defaults",
    )
    theta.add_argument("--seed", type=_seed, help="draw the parameters at random")
    parser.add_argument("--context", metavar="package.module:name", help="the Context to use")
    parser.add_argument("--show", action="store_true", help="print the inverse, and stop")
    version_option(parser)
    return parser


def _function(text: str) -> Callable[..., Any]:
    if not text.lstrip().startswith("lambda"):
        if ":" not in text and module_of(text) is None:
            raise OverlayError(
                f"{text!r} names no function",
                help='write package.module:function, or "lambda x, y: x * y"',
            )
        return named_function(text)
    try:
        code = compile(text.strip(), "<the lambda>", "eval")
    except SyntaxError as error:
        raise OverlayError(
            f"cannot read {text!r}: {error.msg}", help='write it as "lambda x, y: x * y"'
        ) from None
    try:
        return eval(code, dict(_NAMES))
    except Exception as error:  # of a default value
        raise OverlayError(
            f"{text!r} raises {type(error).__name__}: {error}", help="give it no such default"
        ) from error


def _types(asked: argparse.Namespace, function: Callable[..., Any]) -> list[Any]:
    if asked.types:
        return [named_type(name) for name in asked.types]
    if not asked.function.lstrip().startswith("lambda"):
        return []
    return [float] * len(inspect.signature(function).parameters)


def _context(asked: argparse.Namespace) -> Any:
    return None if asked.context is None else named_context(asked.context)


def _seed(text: str) -> int:
    seed = int(text)
    if seed < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return seed


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        raise OverlayError(
            f"cannot read the value {text!r}",
            help="write a number, True, a tuple like (1, 2.5), or text in two pairs of quotes: "
            f'"{text.strip()!r}"',
        ) from None


def _assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise OverlayError(f"--known {text!r} names no value", help="write --known x=2")
    return name.strip(), _value(value)


def _answer(
    inverse: Inverse, asked: argparse.Namespace, given: dict[str, Any]
) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """The parameters by name, and the answers of the inverse."""
    space = inverse.parameters
    if asked.theta is not None:
        theta = tuple(_value(part) for part in asked.theta.split(","))
        theta += space.default()[len(theta) :]
    elif asked.seed is not None:
        theta = space.normal(space.sample(np.random.default_rng(asked.seed)))
    else:
        answers = inverse(*given.values())
        return _theta_of(inverse, given, answers), answers
    answers = inverse(*given.values(), *([theta] if len(space) else []))
    return dict(zip(space.names, space.normal(theta), strict=True)), answers


def _theta_of(inverse: Inverse, given: dict[str, Any], answers: tuple[Any, ...]) -> dict[str, Any]:
    """The parameters, by name, for an answer that was found by search."""
    values = {**given, **dict(zip(inverse.unknown, answers, strict=True))}
    theta = inverse.coordinates_of([values[axis] for axis in inverse.axes.inputs])
    return dict(zip(inverse.parameters.names, theta or (), strict=False))


def _shown(inverse: Inverse) -> dict[str, Any]:
    parameters = [
        {"name": each.name, "domain": str(each.domain), "line": each.line}
        for each in inverse.parameters
    ]
    known, unknown = list(inverse.known), list(inverse.unknown)
    return {"known": known, "unknown": unknown, "theta": parameters, "source": inverse.source}


def _without_answer(error: OverlayError) -> dict[str, Any]:
    """The parts of the error that says why there is no solution."""
    notes = [{"label": label, "text": text} for label, text in error.notes]
    return {"error": error.asked, "where": error.where, "notes": notes, "help": error.help}


def _print(
    inverse: Inverse, theta: dict[str, Any], answers: tuple[Any, ...], *, as_json: bool
) -> None:
    if as_json:
        found = dict(zip(inverse.unknown, answers, strict=True))
        print_json({"arguments": found, "theta": theta})
        return
    if not inverse.unknown:
        show("the values agree: nothing is left to find")
    for name, answer in zip(inverse.unknown, answers, strict=True):
        show(f"{name} = {answer!r}")
    if theta:
        chosen = ", ".join(f"{name}={value!r}" for name, value in theta.items())
        show(f"  with θ: {chosen}")
