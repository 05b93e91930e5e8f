"""SCARA arm: every pose that reaches a point.

Field: kinematics
Shows: all solutions, with a branch for each elbow
Source: J. J. Craig, Introduction to Robotics, 3rd ed., ch. 4 (inverse manipulator kinematics)
Question: Which angles and which stroke move the tool to x = 0.45, y = 0.2, z = 0.1?
"""

import math
from typing import Annotated

from inversion import invert
from primitives import Reals

Turn = Annotated[float, Reals(-math.pi, math.pi)]


def tool(shoulder: Turn, elbow: Turn, stroke: float):
    x = 0.4 * math.cos(shoulder) + 0.3 * math.cos(shoulder + elbow)
    y = 0.4 * math.sin(shoulder) + 0.3 * math.sin(shoulder + elbow)
    return x, y, 0.5 - stroke


# ---- the question
point = (0.45, 0.2, 0.1)
answers = [branch.point for branch in invert(tool).solutions(point)]

# ---- the check
for shoulder, elbow, stroke in answers:
    print(f"shoulder {shoulder:9.6f}, elbow {elbow:9.6f}, stroke {stroke:.6f}")


def holds(*answer):
    return all(math.isclose(a, b, abs_tol=1e-9) for a, b in zip(tool(*answer), point, strict=True))
