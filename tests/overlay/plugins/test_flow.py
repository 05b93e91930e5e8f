"""Blocks, branches, stores and chains of the IR that plugins see, and the edges of branches."""

import math
import operator

import pytest

from overlay import Context, OverlayError, Plugin
from overlay.analysis import Intervals, integers
from overlay.ir import UNKNOWN, IRStatement, Variable, read


def clipped(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


def summed(xs, table):
    total = 0.0
    last = 0
    for x in xs:
        if x > 0.0:
            total += x
        else:
            table[last] = x
        last += 1
    return total, last


PROGRAMS = {clipped: (float, float, float), summed: (list[float], list[float])}


def both(function):
    """The IR of a function before types are known, and after."""
    return [read(function), read(function, *PROGRAMS[function])]


def ways(ir):
    """All ways through a function without going twice along an edge, as lists of labels."""
    edges = {block.label: block.edges for block in ir.blocks()}
    found, todo = [], [([ir.blocks()[0].label], frozenset())]
    while todo:
        way, gone = todo.pop()
        if not edges[way[-1]]:
            found.append(way)
        for edge in edges[way[-1]]:
            if edge not in gone:
                todo.append(([*way, edge.target], gone | {edge}))
    return found


@pytest.mark.parametrize("function", PROGRAMS)
def test_each_statement_is_in_one_block_and_the_last_alone_leaves_it(function):
    for ir in both(function):
        for block in ir.blocks():
            *inner, end = block.statements
            assert all(s.block == block.label for s in block.statements)
            assert end.operation in ("branch", "jump", "return", "raise")
            assert not any(s.operation in ("branch", "jump", "return", "raise") for s in inner)
            assert (end.branch is None) == (len(block.edges) != 2)
            assert all(edge.source == block.label for edge in block.edges)
        calls = [s.call for s in ir.statements() if s.call is not None]
        assert [c.native for c in calls] == [c.native for c in ir.calls()]


@pytest.mark.parametrize("function", PROGRAMS)
def test_dominance_is_that_of_all_ways_through_the_function(function):
    for ir in both(function):
        labels = [block.label for block in ir.blocks()]
        for one in labels:
            for other in labels:
                before, after = [], []
                for way in ways(ir):
                    if other in way:
                        before.append(one in way[: way.index(other) + 1])
                        last = len(way) - 1 - way[::-1].index(other)
                        after.append(one in way[last:])
                assert ir.dominates(one, other) == all(before)
                assert ir.post_dominates(one, other) == all(after)


def test_statements_of_one_block_dominate_in_their_order():
    ir = read(clipped)
    first, second, *_ = ir.blocks()[0].statements
    assert ir.dominates(first, second)
    assert not ir.dominates(second, first)
    assert ir.post_dominates(second, first)
    assert not ir.post_dominates(first, second)
    assert ir.dominates(first, first)
    assert ir.post_dominates(first, first)


def test_a_branch_has_its_condition_and_an_edge_for_each_truth():
    for ir in both(clipped):
        below, above = ir.branches()
        assert [b.test.target for b in (below, above)] == [operator.lt, operator.gt]
        assert [v.name.split(".")[0] for v in below.test.args] == ["x", "low"]
        assert (below.yes.truth, below.no.truth) == (True, False)
        assert below.yes.condition == below.condition
        assert "test_flow.py" in below.where
        assert ir.post_dominates(below.no.target, above.block)
    assert read(clipped, float, float, float).branches()[0].test.types == (float, float)


def test_an_edge_controls_what_runs_only_along_it():
    for ir in both(summed):
        looped, positive = ir.branches()
        assert looped.test is None
        (added,) = ir.calls(operator.iadd)[:1]
        (stored,) = [s for s in ir.statements() if s.operation == "store"]
        (adding,) = [s for s in ir.statements() if s.call == added]
        assert ir.controls(adding) == (positive.yes,)
        assert ir.controls(stored) == (positive.no,)
        assert looped.yes in ir.controls(positive.block)
        assert ir.edges_to(stored) == (looped.yes, positive.no)
        assert ir.edges_to(ir.blocks()[0]) == ()
        assert added.edges == (looped.yes, positive.yes)


def test_stores_are_those_of_the_source():
    class Holder:
        pass

    def stores(x, xs, holder):
        y = x
        xs[0] = y
        xs[y] = x
        holder.name = y
        del xs[y]

    found = read(stores).stores()
    assert [(s.kind, s.target.name) for s in found] == [
        ("variable", "y"),
        ("item", "xs"),
        ("item", "xs"),
        ("attribute", "holder"),
        ("item", "xs"),
    ]
    assert (found[0].value, found[2].key, found[3].key) == (Variable("x"), Variable("y"), "name")
    assert found[-1].value is None
    assert all("test_flow.py" in store.where for store in found)


def test_chains_lead_from_definitions_to_uses_and_back():
    for ir in both(summed):
        for statement in ir.statements():
            for variable in statement.reads:
                assert statement in ir.uses(variable)
                assert ir.definitions(variable)
            if statement.result is not None:
                assert statement in ir.definitions(statement.result)
    ir = read(summed)
    assert {s.operation for s in ir.definitions(Variable("last"))} == {"constant", "copy"}
    (zero,) = [s for s in ir.definitions(Variable("last")) if s.operation == "constant"]
    assert zero.constant == 0
    assert isinstance(zero, IRStatement)


def test_statements_are_removed_at_once_or_not_at_all():
    def counted(xs):
        count = 0
        for _ in xs:
            count += 2
        return xs

    ir = read(counted)
    chain = [
        s
        for s in ir.statements()
        if s.operation == "update" or (s.result and s.result.name == "count")
    ]
    before = str(ir)
    with pytest.raises(OverlayError, match=r"cannot remove the assignment of .*, which is read"):
        ir.remove(*(s for s in chain if s.operation == "update"))
    with pytest.raises(OverlayError, match="cannot remove a return"):
        ir.remove(next(s for s in ir.statements() if s.operation == "return"))
    assert str(ir) == before
    ir.remove(*chain)
    assert ir.definitions(Variable("count")) == ()
    assert ir.calls() == ()


def test_a_branch_becomes_a_jump():
    class Positive(Plugin):
        """Takes x to be positive."""

        def __init__(self, stage):
            setattr(self, stage, self.edit)

        def edit(self, ir):
            for branch in ir.branches():
                if branch.test is not None and branch.test.target is operator.gt:
                    ir.jump(branch, branch.yes.target)

    class Early(Positive):
        def before_inference(self, ir):
            self.edit(ir)

    class Late(Positive):
        def after_inference(self, ir):
            self.edit(ir)

    def half(x):
        return math.sqrt(x) if x > 0.0 else -1.0

    for kind in (Early, Late):
        hot = Context(plugins=(kind("edited"),)).jit(half)
        assert hot(4.0) == 2.0
        assert math.isnan(hot(-4.0))
    ir = read(clipped)
    first, second = ir.branches()
    ir.jump(first, first.yes.target)
    assert ir.branches() == ()
    with pytest.raises(OverlayError, match="is not in the function, or no longer"):
        ir.jump(second, second.no.target)


def power(x, n):
    return x**n


def powers(x, n):
    if n == 2:
        return power(x, n)
    return power(x, n) + 1


def test_a_call_is_inferred_by_the_edges_that_lead_to_it():
    class Knows(Plugin):
        def __init__(self):
            self.seen = {}

        def infer(self, call):
            if call.target is not power:
                return None
            (edge,) = call.edges
            self.seen[edge.truth] = (edge.test.target, edge.test.constants)
            return int if edge.truth else None

    knows = Knows()
    hot = Context(plugins=(knows,)).jit(powers)
    assert hot(1.5, 2) == 2
    assert hot(1.5, 3) == 1.5**3 + 1
    assert knows.seen == dict.fromkeys((True, False), (operator.eq, (UNKNOWN, 2)))


def test_a_domain_refines_the_state_on_each_edge_of_a_branch():
    found = {}

    def half(n):
        if n < 10:
            return n + 1
        return n

    class Looks(Plugin):
        domain = Intervals()

        def interpreter(self, current):
            return self.domain

        def before_inference(self, ir):
            (branch,) = ir.branches()
            (n,) = ir.arguments
            found.update({e.truth: ir.analysed_on(e, n) for e in (branch.yes, branch.no)})

    assert Context(plugins=(Looks(),)).jit(half)(3) == 4
    assert Looks.domain.is_below(found[True], integers(-(2**63), 9))
    assert Looks.domain.is_below(found[False], integers(10, 2**63 - 1))
    assert read(half).analysed_on(read(half).branches()[0].yes, Variable("n")) is None
