"""Methods of a level for the functions of optional modules, which do not pass calls with active
arguments to the protocols of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overlay import nonoverlay
from overlay.interpretations.autodiff.active_numbers import declare_rules
from overlay.interpretations.autodiff.applying import (
    applied,
    bound_arguments,
    context_in_force,
    is_active,
)
from overlay.interpretations.autodiff.levels import Level, declare
from overlay.interpretations.autodiff.rules import optional_rules
from overlay.interpretations.autodiff.rules.array_rule import ArrayRule
from overlay.interpretations.autodiff.rules.array_rules import optional_array_rules

__all__ = ["declare_optional"]


def declare_optional(level: Level, modules: tuple[str, ...]) -> None:
    """Declare the methods for functions with rules of some optional modules."""
    declare_rules(level, optional_rules(modules))
    for rule in optional_array_rules(modules):
        for function in rule.spellings:
            declares = _declare_calling if rule.kind == "calling" else _declare_applied
            level.later(function, declares, rule, function)


def _declare_applied(level: Level, rule: ArrayRule, function: Callable[..., Any]) -> None:
    # in the level its own arrays would be active
    plain = nonoverlay(function)

    def method(*args: Any, **named: Any) -> Any:
        if is_active(args, named):
            return applied(function, args, named)
        return plain(*args, **named)

    declare(level.table, function, method, ())


def _declare_calling(level: Level, rule: ArrayRule, function: Callable[..., Any]) -> None:
    assert rule.by is not None
    by, by_name = nonoverlay(rule.by), nonoverlay(_by_name)

    def method(*args: Any, **named: Any) -> Any:
        # a call arrives here also with arguments that the program has left out
        return by(context_in_force(), **by_name(rule, args, named))

    declare(level.table, function, method, ())


def _by_name(rule: ArrayRule, args: Any, named: Any) -> dict[str, Any]:
    found = dict(bound_arguments(rule, args, named).arguments)
    for parameter in rule.signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            found.update(found.pop(parameter.name, {}))
    return found
