"""Branches as generated functions: an ``if`` forwards; backwards each arm is tried in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inversion.emitting.module_text import (
    FunctionText,
    Module,
    PartWriter,
    RowText,
    conditions,
    tuple_of,
)
from inversion.planning.plan import Plan
from inversion.planning.statement_modes import THEN_FIRST, Ranked
from inversion.program.branches import Branch
from inversion.program.statements import Constant, Variable


def run(body: FunctionText, rule: Branch) -> None:
    """Run a branch and return its results."""
    body.forward(rule.before)
    each_arm(body, rule, lambda taken: give(body, rule, taken))


def each_arm(body: FunctionText, rule: Branch, then: Callable[[int], None]) -> None:
    for taken, word in enumerate((f"if {body.shown(rule.condition)}:", "else:")):
        body.row(word)
        body.depth += 1
        then(taken)
        body.depth -= 1


def give(body: FunctionText, rule: Branch, taken: int) -> None:
    """Run an arm and return its results."""
    arm = rule.arms[taken]
    body.forward(arm.statements)
    conditions(body, arm.holds)
    pairs = zip(arm.gives, rule.results, strict=True)
    gives = [
        f"float({body.shown(give)})" if result.kind is float and give.kind is not float
        else body.shown(give) for give, result in pairs
    ]  # fmt: skip
    body.row(f"return {', '.join(gives)}")


def solve(module: Module, rule: Branch, mode: Ranked, name: str) -> list[RowText]:
    """The function that tries the arms in the chosen order."""
    body = FunctionText(module)
    arms = [solved_arm(module, rule, mode, taken) for taken in (0, 1)]
    arguments = [body.name(axis) for axis in mode.takes]
    body.row(f"def {name}({', '.join(arguments)}):", depth=0)
    known = [axis for axis in mode.takes if axis not in mode.coordinates]
    calls = [
        f"{arm}({', '.join(body.name(a) for a in (*known, *chosen.values()))})"
        for arm, chosen in zip(arms, mode.chosen, strict=True)
    ]
    for first, word in ((0, f"if {body.name(THEN_FIRST)}:"), (1, "else:")):
        body.row(word)
        body.depth += 1
        body.row("try:")
        body.row(f"    answer = {calls[first]}")
        body.row("    found = True")
        body.row("except Exception:")
        body.row(f'    refused("{("then", "else")[first]}")')
        body.row("    found = False")
        body.row("if not found:")
        body.row(f"    answer = {calls[1 - first]}")
        body.row("return answer")
        body.depth -= 1
    return [*body.rows, RowText("")]


def solved_arm(module: Module, rule: Branch, mode: Ranked, taken: int) -> str:
    assert mode.plans is not None
    plan, chosen = mode.plans[taken], mode.chosen[taken]

    def write(name: str) -> list[RowText]:
        body = FunctionText(module)
        body.names(plan.program, ())
        known = [axis for axis in mode.takes if axis not in mode.coordinates]
        outputs = dict(zip(rule.outputs, rule.results, strict=True))
        # a result that is the same variable as a known value is only checked
        given = {v for v in plan.program.inputs if v.name in known}
        first: list[str] = []
        for axis in known:
            if axis in outputs:
                operand = plan.operand(axis)
                if isinstance(operand, Variable) and operand not in given:
                    given.add(operand)
                    first.append(f"{body.shown(operand)} = {body.name(axis)}")
        arguments = [body.name(n) for n in (*known, *chosen)]
        body.row(f"def {name}({', '.join(arguments)}):", depth=0)
        for text in first:
            body.row(text)
        body.solve(plan)
        check_arm(body, module, rule, known)
        body.row(f"return {', '.join(answers(body, plan, mode))}")
        return [*body.rows, RowText("")]

    word = ("then", "else")[taken]
    return module.part((id(mode), taken), f"{rule.name}_{word}_{'_'.join(mode.unknown)}", write)


def answers(body: FunctionText, plan: Plan, mode: Ranked) -> list[str]:
    return [body.shown(plan.operand(axis)) for axis in mode.unknown]


def check_arm(body: FunctionText, module: Module, rule: Branch, known: Sequence[str]) -> None:
    """Run the branch on the answer, for which its condition may take the other arm."""
    again = [body.own(f"again_{v.name}") for v in rule.results]
    given = ", ".join(map(body.shown, rule.inputs))
    body.row(f"{', '.join(again)} = {module.forward(rule)}({given})")
    for name, result in zip(again, rule.results, strict=True):
        if result.name in known:
            why = "the condition leads to another branch"
            body.compare(name, body.name(result.name), result.kind, why)


def recover(module: Module, rule: Branch, mode: Ranked, name: str) -> list[RowText]:
    """The function that recovers the coordinates: which arm is taken, and those of the arm."""
    assert mode.plans is not None
    plans = mode.plans
    body = FunctionText(module)
    body.row(f"def {name}({', '.join(body.name(axis) for axis in mode.recovers)}):", depth=0)
    body.forward(rule.before)

    def arm(taken: int) -> None:
        inner = FunctionText(module, local=dict(body.local), depth=body.depth)
        plan, chosen = plans[taken], mode.chosen[taken]
        inner.forward(s for s in plan.program.statements if s not in rule.before)
        values = dict(zip(chosen.values(), inner.recovered(plan), strict=True))
        default = {name: domain.default for name, domain in mode.coordinates.items()}
        default[THEN_FIRST] = not taken
        found = [values.get(n, inner.shown(Constant(default[n]))) for n in mode.coordinates]
        inner.row(f"return {tuple_of(found)}")
        body.rows += inner.rows

    each_arm(body, rule, arm)
    return [*body.rows, RowText("")]


BRANCHES = PartWriter(run, solve, recover)
