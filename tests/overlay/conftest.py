"""Fixtures of the tests of the Python engine."""

import gc

import pytest

from overlay.python import interception, sites


@pytest.fixture(scope="module")
def no_target_of_a_living_context():
    """Contexts that other tests keep leave their targets to the tests of a module."""
    gc.collect()
    held = dict(interception._records)
    interception._records.clear()
    for record in held.values():
        record.interception.remove()
        if id(record.function) in sites.NUMBERS:
            sites.leave(record.function)
    with_plugins = sites._stacks_with_plugins
    for _ in range(with_plugins):
        sites.leave_calls()
    yield
    gc.collect()
    for key, record in held.items():
        if key in interception._records:  # of a context that this module keeps
            continue
        interception._records[key] = record
        if id(record.function) in sites.NUMBERS:
            sites.want(record.function, record.interception)
        record.interception.install()
    for _ in range(with_plugins):
        sites.want_calls()
