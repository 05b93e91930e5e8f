import asyncio
import email.utils
import io
import json
import threading
import time
import urllib.error
import urllib.request
import uuid

import pytest

from overlay import NotCompilable, OverlayError, generic
from overlay.interpretations.autodiff import derivative, gradient
from overlay.interpretations.mocks import Mocks


def title_of(address):
    with urllib.request.urlopen(address) as answer:
        return json.load(answer)["title"]


def test_calls_are_replaced_and_counted_where_the_library_makes_them():
    mocks = Mocks()
    clock = mocks.replace(time.time, return_value=0.0)
    assert mocks(email.utils.formatdate, usegmt=True) == "Thu, 01 Jan 1970 00:00:00 GMT"
    assert clock.call_count == 1
    assert time.time() > 0.0
    assert clock.call_count == 1


def test_arguments_are_asserted_on_with_unittests_words():
    mocks = Mocks()
    urlopen = mocks.replace(urllib.request.urlopen, return_value=io.BytesIO(b'{"title": "x"}'))
    assert mocks(title_of, "http://example.org") == "x"
    urlopen.assert_called_once_with("http://example.org")
    with pytest.raises(AssertionError, match="expected call"):
        urlopen.assert_called_with("http://example.com")


def test_the_signature_is_the_targets():
    mocks = Mocks()
    mocks.replace(json.loads, return_value=1)
    with pytest.raises(TypeError, match="missing a required argument: 's'"):
        mocks(lambda: json.loads())


def test_errors_and_implementations():
    mocks = Mocks()
    mocks.replace(urllib.request.urlopen, side_effect=urllib.error.URLError("down"))
    with pytest.raises(urllib.error.URLError, match="down"):
        mocks(title_of, "http://example.org")
    mocks.replace(
        urllib.request.urlopen, lambda url: io.BytesIO(json.dumps({"title": url}).encode())
    )
    assert mocks(title_of, "http://example.org") == "http://example.org"
    mocks.restore(urllib.request.urlopen)
    assert urllib.request.urlopen not in mocks.context.tables[0]


def test_what_cannot_stand_in_is_refused():
    mocks = Mocks()
    with pytest.raises(OverlayError, match="5, which is not callable") as info:
        mocks.replace(json.loads, 5)
    assert "return_value=5" in str(info.value)
    with pytest.raises(OverlayError, match="and by a mock with return_value"):
        mocks.replace(json.loads, lambda text: 1, return_value=2)


def test_a_spy_counts_and_goes_on():
    mocks = Mocks()
    loads = mocks.spy(json.loads)
    assert mocks(title_of.__globals__["json"].load, io.StringIO("[1, 2]")) == [1, 2]
    loads.assert_called_once()


def test_methods_and_names_that_are_not_imported_yet():
    mocks = Mocks()
    text = mocks.replace(io.StringIO.getvalue, return_value="mine")
    stream = io.StringIO("theirs")
    assert mocks(lambda: stream.getvalue()) == "mine"
    text.assert_called_once_with(stream)
    later = mocks.replace("not_imported_anywhere:function", return_value=1)
    assert not later.called


def test_each_thread_has_its_own():
    start = threading.Barrier(3)
    found = {}

    def program(number):
        start.wait()
        found[number] = [str(uuid.uuid4()) for _ in range(20)]

    def run(number):
        mocks = Mocks()
        mocks.replace(uuid.uuid4, return_value=number)
        mocks(program, number)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(2)]
    threads.append(threading.Thread(target=program, args=(2,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [set(found[n]) for n in range(2)] == [{"0"}, {"1"}]
    assert len(set(found[2])) == 20


def test_each_task_has_its_own():
    async def one(number):
        mocks = Mocks()
        mocks.replace(uuid.uuid4, return_value=number)
        await asyncio.sleep(0)
        return await mocks.wrap(reads)()

    async def reads():
        await asyncio.sleep(0)
        return uuid.uuid4()

    async def both():
        return await asyncio.gather(one(1), one(2), reads())

    first, second, third = asyncio.run(both())
    assert (first, second) == (1, 2)
    assert isinstance(third, uuid.UUID)


def test_a_block_sees_the_mocks_as_a_call_does():
    @generic
    def price(item: str) -> int:
        return 5

    mocks = Mocks()
    mock = mocks.replace(price, return_value=7)
    with mocks:
        assert price("tea") == 7
    assert price("tea") == 5
    mock.assert_called_once_with("tea")
    mocks.replace(time.time, return_value=0.0)
    with mocks:
        assert time.time() == 0.0
    assert time.time() > 0


def test_compilation_is_refused():
    mocks = Mocks()
    mocks.replace(time.time, return_value=0.0)
    with pytest.raises(NotCompilable, match="run the program interpreted"):
        mocks.context.jit(lambda: time.time())()


def scaled(x, by=1.0):
    return x


TAKEN = {
    "forward": lambda f: derivative(f)(2.0),
    "second order": lambda f: derivative(f, order=2)(2.0),
    "reverse": lambda f: gradient(f, mode="reverse")(2.0),
}


@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize(
    ("configuration", "slopes"),
    [
        ({"side_effect": lambda x, by: x * x}, (12.0, 12.0)),
        ({"return_value": 5.0}, (5.0, 0.0)),
        ({"side_effect": KeyError}, (1.0, 0.0)),
    ],
)
def test_mocks_record_plain_values_in_a_derivative(taken, configuration, slopes):
    mocks = Mocks()
    mock = mocks.replace(scaled, **configuration)

    def program(x):
        try:
            return x * scaled(x, by={"a": [x, 1.0]})
        except KeyError:
            return x

    assert TAKEN[taken](mocks.wrap(program)) == slopes[taken == "second order"]
    mock.assert_called_once_with(2.0, by={"a": [2.0, 1.0]})
    assert mock.call_args == mock.call_args_list[-1] == mock.mock_calls[-1]
    assert type(mock.call_args.args[0]) is float


def test_an_implementation_and_a_spied_function_are_differentiated():
    mocks = Mocks()
    mock = mocks.replace(scaled, lambda x: x * 3)
    assert derivative(mocks.wrap(lambda x: scaled(x)))(2.0) == 3.0
    assert mocks(derivative(lambda x: scaled(x)), 2.0) == 3.0
    assert mock.call_count == 2
    spied = Mocks()
    seen = spied.spy(scaled)
    assert derivative(spied.wrap(lambda x: scaled(x) * x))(2.0) == 4.0
    seen.assert_called_once_with(2.0)
