"""Loops as generated functions, which run them forwards or undo them iteration by iteration."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from inversion.emitting.module_text import (
    FunctionText,
    Module,
    PartWriter,
    RowText,
    assign,
    conditions,
    tuple_of,
)
from inversion.planning.loop_modes import BEYOND, TRIPS, BackwardLoop, Counted
from inversion.planning.plan import Plan
from inversion.program.loops import Loop, Part
from inversion.program.statements import Operand, Variable


def run(body: FunctionText, rule: Loop) -> None:
    """Run a loop and return its results."""
    turns(body, rule)
    body.depth += 1
    body.forward(rule.before.statements)
    if rule.condition is not None:
        leave(body, rule, lambda: give(body, rule))
    conditions(body, rule.before.holds)
    body.forward(rule.after.statements)
    conditions(body, rule.after.holds)
    assign(body, rule.state, rule.following)
    body.depth -= 1
    if rule.condition is None:
        give(body, rule)
    else:
        body.row(_endless(rule))


def _endless(rule: Loop) -> str:
    more = f"a loop has more than {rule.max_trips} iterations; invert(..., max_trips=) allows more"
    return f'raise NoSolution("{more}")'


CLOSE = 1e-9  # relative and absolute tolerance of the search for the end of a range


def turns(body: FunctionText, rule: Loop) -> None:
    """The head of a loop that runs forward."""
    if rule.bounds is None:
        body.row(f"for {body.own('turn')} in range({rule.max_trips} + 1):")
    else:
        index = body.shown(rule.bounds.index)
        body.row(f"for {index} in range({', '.join(map(body.shown, rule.limits))}):")


def leave(body: FunctionText, rule: Loop, then: Callable[[], None]) -> None:
    assert rule.condition is not None
    body.row(f"if {'' if rule.leaves else 'not '}{body.shown(rule.condition)}:")
    body.depth += 1
    then()
    body.depth -= 1


def give(body: FunctionText, rule: Loop) -> None:
    conditions(body, rule.ends)
    body.row(f"return {', '.join(map(body.shown, rule.gives))}")


def solve(module: Module, rule: Loop, mode: BackwardLoop | Counted, name: str) -> list[RowText]:
    """The function that solves a loop."""
    if isinstance(mode, Counted):
        return count(module, rule, mode, name)
    if mode.last is None:
        return run_on(module, rule, mode, name)
    return undone(module, rule, mode, name)


def undone(module: Module, rule: Loop, mode: BackwardLoop, name: str) -> list[RowText]:
    """The function that undoes the iterations of a loop, the last one first."""
    assert mode.last is not None
    assert mode.turn is not None
    body = FunctionText(module)
    begun = [v for v in rule.state if v.name in mode.takes]
    arguments = {axis: body.name(axis) for axis in mode.takes}
    for axis in mode.coordinates:
        # the plans use their own names for the coordinates
        arguments[axis] = body.own(TRIPS if axis == mode.trips else f"{axis}_chosen")
    for v in begun:  # the initial state has a separate name
        if v not in mode.forwards:
            arguments[v.name] = body.own(f"{v.name}_begun")
    body.row(f"def {name}({', '.join(arguments.values())}):", depth=0)
    trips = body.own(TRIPS)
    if mode.to_the_end is not None:
        body.row(f"{trips} = len(range({', '.join(map(body.shown, mode.to_the_end))}))")
    past = {v: body.own(f"{v.name}_past") for v in mode.forwards}
    run_known(body, rule, mode, past, trips)
    outputs = [r for r in rule.results if r.name in mode.takes]
    given = {v for v in mode.last.program.inputs if v.name in mode.last.known}
    for result in outputs:
        operand = mode.last.operand(result.name)
        if isinstance(operand, Variable) and operand not in given:
            given.add(operand)
            body.row(f"{body.shown(operand)} = {body.shown(result)}")
    for parameter, coordinate in mode.at_end.items():
        body.row(f"{body.name(parameter)} = {arguments[coordinate]}")
    body.solve(mode.last)
    if mode.each:
        body.row(f"if {trips} > {rule.max_trips}:")
        body.row(f"    {_endless(rule)}")
    body.row(f"for {body.own('turn')} in range({trips} - 1, -1, -1):")
    body.depth += 1
    if rule.bounds is not None:
        start, _, step = map(body.shown, rule.limits)
        body.row(f"{body.shown(rule.bounds.index)} = {start} + {body.own('turn')} * {step}")
    for v, kept in past.items():
        body.row(f"{body.shown(v)} = {kept}[{body.own('turn')}]")
    choose(body, mode, mode.turn, arguments)
    undo(body, rule, mode, mode.turn)
    body.depth -= 1
    begin(body, mode, arguments, trips)
    for v in begun:
        if v not in mode.forwards:
            why = "the loop does not begin with what is known"
            wanted = arguments[v.name]
            body.compare(body.shown(v), wanted, v.kind, why)
    if not set(rule.outputs).isdisjoint(mode.unknown):
        given = ", ".join(map(body.shown, rule.inputs))
        body.row(f"{', '.join(map(body.name, rule.outputs))} = {module.forward(rule)}({given})")
    body.row(f"return {', '.join(map(body.name, mode.unknown))}")
    return [*body.rows, RowText("")]


def choose(
    body: FunctionText, mode: BackwardLoop, turn: Plan, arguments: Mapping[str, str]
) -> None:
    """Take the coordinates of an iteration."""
    for parameter in turn.parameters:
        if parameter.name in mode.each:
            name = body.name(parameter.name)
            body.row(f"{name} = {arguments[mode.each[parameter.name]]}[{body.own('turn')}]")
            body.refuse(name, parameter.domain, "OutsideDomain", None)


def begin(body: FunctionText, mode: BackwardLoop, arguments: Mapping[str, str], trips: str) -> None:
    """Choose the initial values that a loop overwrites, if it runs at all."""
    for v in mode.overwritten:
        chosen = arguments[mode.begins.get(v, v.name)]
        body.row(f"if {trips} > 0:")
        body.row(f"    {body.shown(v)} = {chosen}")


def run_on(module: Module, rule: Loop, mode: BackwardLoop, name: str) -> list[RowText]:
    """The function that runs a loop for some of its results, if the rest is known."""
    body = FunctionText(module)
    body.row(f"def {name}({', '.join(map(body.name, mode.takes))}):", depth=0)
    again = [body.own(f"again_{axis}") for axis in rule.outputs]
    given = ", ".join(map(body.shown, rule.inputs))
    body.row(f"{', '.join(again)} = {module.forward(rule)}({given})")
    found = dict(zip(rule.outputs, again, strict=True))
    body.row(f"return {', '.join(found[axis] for axis in mode.unknown)}")
    return [*body.rows, RowText("")]


def run_known(
    body: FunctionText, rule: Loop, mode: BackwardLoop, past: Mapping[Variable, str], trips: str
) -> None:
    """Run the state that does not depend on the unknowns, and store it for each iteration."""
    if not past:
        return
    for v, kept in past.items():
        body.row(f"{kept} = [{body.shown(v)}]")
    body.row(f"for {body.own('turn')} in range({trips}):")
    body.depth += 1
    if rule.bounds is not None:
        start, _, step = map(body.shown, rule.limits)
        body.row(f"{body.shown(rule.bounds.index)} = {start} + {body.own('turn')} * {step}")
    body.forward(rule.slice_for(mode.forwards))
    following = dict(zip(rule.state, rule.following, strict=True))
    assign(body, mode.forwards, [following[v] for v in mode.forwards])
    for v, kept in past.items():
        body.row(f"{kept}.append({body.shown(v)})")
    body.depth -= 1


def undo(body: FunctionText, rule: Loop, mode: BackwardLoop, turn: Plan) -> None:
    """Undo one iteration."""
    back = [v for v in rule.state if v not in mode.forwards]
    names: dict[Operand, Operand] = {}
    for v in back:
        operand = turn.operand(f"{v.name} after")
        if isinstance(operand, Variable) and operand not in names:
            names[operand] = v
    given = {v for v in turn.program.inputs if v.name in turn.known}
    names = {operand: v for operand, v in names.items() if operand not in given}
    assign(body, list(names), list(names.values()))
    body.solve(turn)


def count(module: Module, rule: Loop, mode: Counted, name: str) -> list[RowText]:
    """The function that runs a loop until it gives the known results, as close as possible to the
    chosen number of iterations.
    """
    assert rule.bounds is not None
    body = FunctionText(module)
    best, turn, trips, beyond = map(body.own, ("best", "turn", TRIPS, BEYOND))
    chosen = {mode.trips: trips, mode.beyond: beyond}
    takes = [chosen.get(axis) or body.name(axis) for axis in mode.takes]
    body.row(f"def {name}({', '.join(takes)}):", depth=0)
    start, _, step = map(body.shown, rule.limits)
    body.row(f"{best} = -1")
    body.row(f"for {turn} in range({rule.max_trips} + 1):")
    body.depth += 1
    body.row(f"if {best} >= 0 and abs({turn} - {trips}) > abs({best} - {trips}):")
    body.row("    break")
    body.row(f"{body.shown(rule.bounds.index)} = {start} + {turn} * {step}")
    same = [
        f"abs({body.shown(v)} - {body.name(axis)}) <= {CLOSE} * abs({body.name(axis)}) + {CLOSE}"
        if v.kind in (float, complex) else f"{body.shown(v)} == {body.name(axis)}"
        for v, axis in zip(rule.gives, rule.outputs, strict=True)
    ]  # fmt: skip
    body.row(f"if {' and '.join(same)}:")
    body.row(f"    {best} = {turn}")
    body.row(f"    if {turn} >= {trips}:")
    body.row("        break")
    again(body, rule)
    body.depth -= 1
    body.row(f"if {best} < 0:")
    body.row('    raise NoSolution("no number of iterations gives the known results")')
    body.row(f"if {best} > 0:")
    body.row(f"    {beyond} = {beyond} % abs({step})")
    body.row(f"if {step} < 0:")
    body.row(f"    {beyond} = -{beyond}")
    body.row(f"return {start} + {best} * {step} - {beyond}")
    return [*body.rows, RowText("")]


def again(body: FunctionText, rule: Loop) -> None:
    """Run an iteration from a known state."""
    body.forward(rule.before.statements)
    conditions(body, rule.before.holds)
    body.forward(rule.after.statements)
    conditions(body, rule.after.holds)
    assign(body, rule.state, rule.following)


def recover(module: Module, rule: Loop, mode: BackwardLoop | Counted, name: str) -> list[RowText]:
    """The function that recovers the coordinates of a loop, by running it."""
    if isinstance(mode, Counted):
        return counted(module, rule, mode, name)
    return followed(module, rule, mode, name)


def counted(module: Module, rule: Loop, mode: Counted, name: str) -> list[RowText]:
    """The function that returns the number of iterations, and the rest of the range."""
    body = FunctionText(module)
    body.row(f"def {name}({', '.join(map(body.name, mode.recovers))}):", depth=0)
    start, stop, step = map(body.shown, rule.limits)
    trips = body.own(TRIPS)
    body.row(f"{trips} = len(range({start}, {stop}, {step}))")
    body.row(f"return ({trips}, abs({start} + {trips} * {step} - {stop}))")
    return [*body.rows, RowText("")]


def followed(module: Module, rule: Loop, mode: BackwardLoop, name: str) -> list[RowText]:
    """The function that runs a loop, and recovers the iteration count and the coordinates."""
    assert mode.last is not None
    assert mode.turn is not None
    body = FunctionText(module)
    body.row(f"def {name}({', '.join(map(body.name, mode.recovers))}):", depth=0)
    trips = body.own(TRIPS)
    body.row(f"{trips} = 0")
    kept = {p: body.own(f"{coordinate}_kept") for p, coordinate in mode.each.items()}
    for values in kept.values():
        body.row(f"{values} = []")
    begun = {coordinate: body.own(f"{v}_begun") for v, coordinate in mode.begins.items()}
    for v, coordinate in mode.begins.items():
        body.row(f"{begun[coordinate]} = {body.shown(v)}")
    at_end = {coordinate: p for p, coordinate in mode.at_end.items()}
    each = {coordinate: f"tuple({kept[p]})" for p, coordinate in mode.each.items()}

    def left() -> None:
        assert mode.last is not None
        found = dict(zip((p.name for p in mode.last.parameters),
                         recovered(body, mode.last, rule.before), strict=True))  # fmt: skip
        values = {mode.trips: trips, **begun, **each, **{c: found[p] for c, p in at_end.items()}}
        body.row(f"return {tuple_of([values[name] for name in mode.coordinates])}")

    turns(body, rule)
    body.depth += 1
    body.forward(rule.before.statements)
    if rule.condition is not None:
        leave(body, rule, left)
    body.forward(rule.after.statements)
    done = Part((*rule.before.statements, *rule.after.statements))
    found = recovered(body, mode.turn, done)
    for parameter, value in zip(mode.turn.parameters, found, strict=True):
        if parameter.name in kept:
            body.row(f"{kept[parameter.name]}.append({value})")
    assign(body, rule.state, rule.following)
    body.row(f"{trips} += 1")
    body.depth -= 1
    if rule.condition is None:
        left()
    else:
        body.row(_endless(rule))
    return [*body.rows, RowText("")]


def recovered(body: FunctionText, plan: Plan, done: Part) -> list[str]:
    """The names of a plan's parameters, recovered from computed values; ``done`` was computed
    before.
    """
    inner = FunctionText(body.module, local=dict(body.local), depth=body.depth)
    inner.forward(s for s in plan.program.statements if s not in done.statements)
    found = inner.recovered(plan)
    body.rows += inner.rows
    return found


LOOPS = PartWriter(run, solve, recover)
