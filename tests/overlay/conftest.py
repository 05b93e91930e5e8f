"""What tests of the Python engine ask for."""

import gc

import pytest

from overlay.python import interception


@pytest.fixture(scope="module")
def no_target_of_a_living_context():
    """Contexts that other tests keep leave their targets to the tests of a module."""
    gc.collect()
    held = [record.interception for record in interception._records.values()]
    for each in held:
        each.remove()
    yield
    for each in held:
        each.install()
