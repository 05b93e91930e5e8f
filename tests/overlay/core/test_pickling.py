"""Tables, contexts and wrapped functions in other processes."""

import concurrent.futures
import math
import multiprocessing
import operator
import pickle
import sys
import textwrap

import cloudpickle
import pytest

from overlay import Context, MethodTable, OverlayError, call_next, current_context, generic

SHIPPED = textwrap.dedent(
    """
    import math
    import pickle
    from overlay import Context, MethodTable, call_next, generic

    table = MethodTable("shipped")
    private = [MethodTable("private")]

    @generic
    def area(shape): ...

    @area.dispatch
    def area(shape: float):
        return shape

    class Shape:
        def size(self):
            return 1

        @classmethod
        def unit(cls):
            return 2

    @table.overlay(math.sin)
    def sin(x: float):
        return ["overlaid", call_next(x)]

    @table.overlay(area)
    def doubled(shape: float):
        return 2 * call_next(shape)

    def doubled_float(x: float) -> float:
        return 2 * call_next(x)

    def tripled_float(x: float) -> float:
        return 3 * call_next(x)

    def unpickled(data, *args):
        return pickle.loads(data)(*args)

    def call_anything(*args, **kwargs):
        return "anything"

    def base(x):
        return math.sin(x)

    ctx = Context(table)
    wrapped = ctx.wrap(base)

    def work(context, x):
        return context(base, x), context(area, x)
    """
)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """A module that other processes can import too."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "shipped_module.py").write_text(SHIPPED)
    sys.path.insert(0, str(folder))
    import shipped_module

    yield shipped_module
    sys.path.remove(str(folder))
    del sys.modules["shipped_module"]


def again(thing, pickler=pickle):
    return pickle.loads(pickler.dumps(thing))


def elsewhere(shipped, work, *args):
    """What a function gives in a fresh process, twice."""
    data = cloudpickle.dumps(work)
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return [pool.submit(shipped.unpickled, data, *args).result() for _ in range(2)]


# ---- by reference -------------------------------------------------------------------------


@pytest.mark.parametrize("pickler", [pickle, cloudpickle])
def test_what_a_module_holds_is_pickled_by_its_name(shipped, pickler):
    for thing in (shipped.table, shipped.ctx, shipped.wrapped, shipped.area):
        assert again(thing, pickler) is thing
    outer, inner = Context(shipped.table), Context(shipped.table, metadata=("m", 1))
    outer, inner = again((outer, inner), pickler)
    assert outer.tables == inner.tables == (shipped.table,)
    assert inner.metadata == ("m", 1)


def test_a_process_pool_runs_the_same_context(shipped):
    expected = [["overlaid", math.sin(0.5)], 1.0]
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        for ctx in (shipped.ctx, Context(shipped.table)):
            assert list(pool.submit(shipped.work, ctx, 0.5).result()) == expected
        assert pool.submit(shipped.wrapped, 0.5).result() == expected[0]
        assert pool.submit(Context(shipped.table).wrap(shipped.base), 0.5).result() == expected[0]


def test_a_name_that_the_other_side_lacks_says_so(shipped):
    data = pickle.dumps(shipped.table)
    kept = shipped.__dict__.pop("table")
    try:
        with pytest.raises(OverlayError, match="module shipped_module has no 'table'"):
            pickle.loads(data)
    finally:
        shipped.table = kept


# ---- by value -----------------------------------------------------------------------------


def test_a_table_of_a_function_goes_by_value_with_cloudpickle(shipped):
    table = MethodTable("local")

    def program(x):
        return math.sin(x), current_context().metadata

    @table.overlay(math.sin)
    def sin(x: float):
        return ["overlaid", call_next(x)]

    ctx = Context(table, metadata=("m", 1), strict=True)

    def work(x):
        return ctx(program, x), ctx.strict, len(table), ctx.tables[0] is table

    expected = ((["overlaid", math.sin(0.5)], ("m", 1)), True, 1, True)
    assert elsewhere(shipped, work, 0.5) == [expected] * 2


def test_an_unpickled_table_keeps_its_identity(shipped):
    table = MethodTable("local")
    table.overlay(math.sin)(shipped.sin)
    assert again(table) is table
    one, two = again((Context(table), Context(table, check_me := MethodTable("other"))))
    assert one.tables[0] is two.tables[0] is table
    assert two.tables[1] is check_me


def by_value(table):
    """What another process gets: the table is not known there."""
    data = pickle.dumps(table)
    identity, table.identity = table.identity, None
    from overlay.core import pickling

    del pickling._tables[identity]
    return data


def test_what_a_table_holds_comes_back(shipped):
    private = MethodTable("private", check=True)
    for target in (
        *(math.sin, operator.add, list.append, str.upper, dict.fromkeys, int.__add__),
        *(shipped.Shape, shipped.Shape.size, shipped.Shape.unit, shipped.area, shipped.base),
        "not_imported_yet:f",
    ):
        private.overlay(target, precedence=2)(shipped.call_anything)
    private.generated(math.cos)(shipped.sin)
    data = by_value(private)
    copy = pickle.loads(data)
    assert copy is not private
    assert pickle.loads(data) is copy
    assert (copy.name, copy.check, len(copy)) == ("private", True, len(private))
    for method in private.methods():
        (found,) = copy.methods(method.target)
        assert found.function is method.function
        assert (found.precedence, found.generated) == (method.precedence, method.generated)


def test_a_later_state_of_a_table_wins_and_an_earlier_one_does_not(shipped):
    table = MethodTable("changing")
    table.overlay(math.sin)(shipped.sin)
    early = pickle.dumps(table)
    table.overlay(math.cos)(shipped.sin)
    late = by_value(table)
    copy = pickle.loads(early)
    ctx = Context(copy)
    assert (len(copy), ctx(math.cos, 0.0)) == (1, 1.0)
    assert pickle.loads(late) is copy
    assert (len(copy), ctx(math.cos, 0.0)) == (2, ["overlaid", 1.0])
    assert pickle.loads(early) is copy
    assert len(copy) == 2


def test_plain_pickle_says_what_it_cannot_ship():
    table = MethodTable("local")

    @table.overlay(math.sin)
    def sin(x: float):
        return x

    with pytest.raises(OverlayError, match="cannot pickle the method") as caught:
        pickle.dumps(Context(table))
    assert "use cloudpickle" in str(caught.value)
    assert "test_pickling.py:" in str(caught.value)
    assert len(pickle.loads(cloudpickle.dumps(table))) == 1


def test_a_table_that_its_own_methods_mention(shipped):
    table = MethodTable("self")

    @table.overlay(math.sin)
    def sin(x: float):
        return len(table)

    def work():
        return Context(table)(math.sin, 1.0)

    assert elsewhere(shipped, work) == [1, 1]


def test_dask_workers_run_the_same_context(shipped):
    dask = pytest.importorskip("dask")
    pytest.importorskip("dask.multiprocessing")
    jobs = [dask.delayed(shipped.work)(shipped.ctx, x) for x in (0.5, 1.0)]
    (first, second) = dask.compute(*jobs, scheduler="processes", num_workers=1)
    assert first == shipped.work(shipped.ctx, 0.5)
    assert second == shipped.work(shipped.ctx, 1.0)


def test_compiled_code_that_comes_again_is_compiled_once_until_something_changes(shipped):
    tokenize = pytest.importorskip("dask.tokenize").tokenize
    table = MethodTable("local")
    table.overlay(math.sin)(shipped.doubled_float)
    factor = 2.0

    def program(x):
        return factor * math.sin(x)

    def sent():
        return again(hot, cloudpickle), tokenize(hot)

    hot = Context(table).jit(program)
    first, name = sent()
    assert (first(0.5), sent()) == (4 * math.sin(0.5), (first, name))
    table.overlay(math.sin)(shipped.tripled_float)
    second, other = sent()
    assert (second(0.5), second is first, other == name) == (6 * math.sin(0.5), False, False)
    factor = 3.0
    third, other = sent()
    assert (third(0.5), third is second) == (9 * math.sin(0.5), False)
    stateful = Context(table, state=[0]).jit(program)
    assert again(stateful, cloudpickle) is not again(stateful, cloudpickle)


def test_compiled_code_that_mentions_itself_is_sent(shipped):
    def program(x):
        return math.sin(x) if x < 1 else itself

    itself = Context(shipped.table).jit(program)
    assert again(itself, cloudpickle).py_func(0.5) == math.sin(0.5)


def test_what_a_generic_function_resolved_is_not_shipped(shipped):
    @generic
    def local(x): ...

    with shipped_block(shipped):
        assert shipped.area(1.0) == 2.0
        assert again(shipped.area) is shipped.area


def shipped_block(shipped):
    table = MethodTable("block")
    table.overlay(shipped.area)(shipped.doubled)
    return Context(table)
