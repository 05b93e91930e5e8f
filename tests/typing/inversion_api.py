"""What a type checker knows of ``inversion``. Nothing here runs: ``make check`` reads it."""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true

from typing import Any, assert_type

import numpy as np

from inversion import Inverse, Parameter, ParameterSpace, choose, invert


def line(x: float, y: float) -> float:
    return 2 * x + y


inverse = invert(line, float, float)
assert_type(inverse, Inverse)
assert_type(choose(line, known=("return", "x")), Inverse)
assert_type(inverse(1.0, (2.0,)), tuple[Any, ...])
assert_type(inverse.parameters, ParameterSpace)
assert_type(list(inverse.parameters), list[Parameter])
assert_type(inverse.source, str)
assert_type(inverse.log_abs_det(1.0, (2.0,)), float)
assert_type(inverse.nearest(1.0, (0.0, 0.0)), tuple[Any, ...])
assert_type(len(inverse.parameters), int)
assert_type(inverse.batch(np.zeros(3), on_error="nan"), tuple[Any, ...])
inverse.batch(np.zeros(3), on_error="ignore")  # pyright: ignore[reportArgumentType]
choose(line, know=("return",))  # pyright: ignore[reportCallIssue]
