"""Values tagged through objects, arrays, closures and branches.

Kind: numerics
Shows: metadata that stays with values without being passed on; two separate taggings
Tests: tests/overlay/interpretations/tagging/test_tagging.py:
 test_attributes_containers_closures_generators_and_branches,
 tests/overlay/interpretations/tagging/test_tagging.py:
 test_arrays_have_the_metadata_of_what_is_written_to_them,
 tests/overlay/interpretations/tagging/test_tagging.py:
 test_nested_taggings_stay_apart
"""

import dataclasses

import numpy as np

from overlay.interpretations.tagging import Tagging


@dataclasses.dataclass
class Reading:
    value: float
    weight: float


def report(x, y):
    reading = Reading(x * 2, y)
    column = np.zeros(2)
    column[1] = reading.value

    def weighted(number):
        return number * reading.weight if number > 0 else 0.0

    return {"copied": column[1], "weighted": weighted(1.0), "both": weighted(column[1])}


source, unit = Tagging(), Tagging()
found = source(unit, report, source.tag(3.0, "sensor A"), unit.tag(0.5, "kg"))
for name, value in found.items():
    print(f"{name}: from {source.metadata(value)}, in {unit.metadata(value)}")
