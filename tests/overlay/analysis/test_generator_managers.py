"""Context managers that ``contextlib.contextmanager`` makes, in the checker."""

from __future__ import annotations

import contextlib

import pytest

from overlay.analysis import check


class Part:
    def __init__(self):
        self.size = 1


@contextlib.contextmanager
def opened(part=None):
    yield Part()


@contextlib.contextmanager
def other():
    yield "text"


@contextlib.contextmanager
def closed():
    made = Part()
    try:
        yield made
    finally:
        made.size = 0


@contextlib.contextmanager
def suppressed():
    try:
        yield Part()
    except Exception:
        print("seen")


@contextlib.contextmanager
def inside():
    with contextlib.suppress(AttributeError):
        yield Part()


class Owner:
    @contextlib.contextmanager
    def opened(self):
        yield self.missing


def by_as():
    with opened() as part:
        return part.siez


def of_two():
    with opened() as part, other() as text:
        return part.size, text.uper()


def after_finally():
    with closed() as part:
        return part.siez


def too_many():
    with opened(1, 2) as part:
        return part.size


def in_the_generator():
    with Owner().opened() as found:
        return found


def undefined_inside():
    with other():
        return not_there  # noqa: F821


def of_the_manager():
    return opened().siez


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (by_as, "class Part has no attribute 'siez'"),
        (of_two, "class str has no attribute 'uper'"),
        (after_finally, "class Part has no attribute 'siez'"),
        (too_many, "too many positional arguments"),
        (in_the_generator, "class Owner has no attribute 'missing'"),
        (undefined_inside, "'not_there' is not defined"),
        (of_the_manager, "no attribute 'siez'"),
    ],
)
def test_errors_with_managers_of_generators_are_found(function, message):
    (finding,) = check(function)
    assert message in finding.message


def is_suppressed():
    with suppressed() as part:
        return part.siez


def is_suppressed_inside():
    with inside() as part:
        return part.siez


def set_in_the_block():
    with opened() as part:
        part.colour = "red"
        return part.colour.upper(), part.size


def changed_after():
    with closed() as part:
        size = part.size
    return size + part.size


def handed_out(take):
    manager = opened()
    take(manager)
    with manager as part:
        return part.size


@pytest.mark.parametrize(
    "function", [is_suppressed, is_suppressed_inside, set_in_the_block, changed_after, handed_out]
)
def test_nothing_is_found_where_a_manager_may_end_the_error(function):
    assert check(function, *[object] * function.__code__.co_argcount) == ()


def test_what_an_asynchronous_generator_gives_may_change():
    async def parts():
        held = ["a"]
        yield held
        return

    async def user(take):
        async for each in parts():
            each.append(1)

    assert check(user, object) == ()
