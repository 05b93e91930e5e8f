"""These tests install and release targets by themselves."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def _alone(no_target_of_a_living_context):
    """No context that other tests keep has a target."""
