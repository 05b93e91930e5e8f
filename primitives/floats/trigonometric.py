"""Trigonometric functions and angles.

Sine, cosine and tangent have one solution on every monotone branch, which ``k`` numbers.
"""

from __future__ import annotations

import math
from math import acos, asin, atan, atan2, copysign, cos, pi, sin, tan

from primitives.domains import Bool, Integer, NonNegative, Real, Reals
from primitives.errors import NoSolution
from primitives.floats.tolerance import LARGEST, agrees, finite, matches
from primitives.relation import parametric, relation

__all__ = [
    "acosine",
    "angle",
    "asine",
    "atangent",
    "cosine",
    "degrees",
    "hypotenuse",
    "radians",
    "sine",
    "tangent",
]

sine = relation(
    math.sin, float, "return = sin(a)", codomain=Reals(-1, 1),
    edges="digits of a are lost where sin is flat, and for large a",
    ret=lambda a: sin(a),
    a=parametric(  # k numbers the monotone branches of sin
        lambda ret, k: k * pi + (asin(ret) if k % 2 == 0 else -asin(ret)),
        k=Integer,
        recover=lambda a: (math.floor(a / pi + 0.5),),
    ),
)  # fmt: skip
cosine = relation(
    math.cos, float, "return = cos(a)", codomain=Reals(-1, 1),
    edges="digits of a are lost where cos is flat, and for large a",
    ret=lambda a: cos(a),
    a=parametric(  # k numbers the monotone branches of cos
        lambda ret, k: 2 * pi * ((k + 1) // 2) + (acos(ret) if k % 2 == 0 else -acos(ret)),
        k=Integer,
        recover=lambda a: (math.floor(a / pi),),
    ),
)  # fmt: skip
tangent = relation(
    math.tan, float, "return = tan(a)",
    edges="a float is never a pole; a lies on the branch between the poles around it",
    ret=lambda a: tan(a),
    a=parametric(  # k numbers the branches between the poles
        lambda ret, k: atan(ret) + k * pi,
        k=Integer,
        recover=lambda ret, a: (math.floor((a - atan(ret)) / pi + 0.5),),
    ),
)  # fmt: skip
asine = relation(
    math.asin, float, "return = asin(a)",
    domain=Reals(-1, 1), codomain=Reals(-pi / 2, pi / 2),
    ret=lambda a: asin(a),
    a=lambda ret: sin(ret),
)  # fmt: skip
acosine = relation(
    math.acos, float, "return = acos(a)", domain=Reals(-1, 1), codomain=Reals(0, pi),
    ret=lambda a: acos(a),
    a=lambda ret: cos(ret),
)  # fmt: skip
atangent = relation(
    math.atan, float, "return = atan(a)", codomain=Reals(-pi / 2, pi / 2),
    incomplete="beyond 10**8 several arguments round to one result; only one of them is returned",
    edges="for the largest result, pi/2 rounded down, a is 1.6e16",
    ret=lambda a: atan(a),
    a=lambda ret: tan(ret),
)  # fmt: skip

# ---- coordinates of the plane -------------------------------------------------------------


def point(ret: float, size: float) -> tuple[float, float]:
    """The (y, x) in this direction whose larger coordinate has this size."""
    if size > 0:
        y, x = sin(ret), cos(ret)
        larger = max(abs(y), abs(x))
        return size * (y / larger), size * (x / larger)
    if ret == 0:
        return ret, 0.0
    if abs(ret) != pi:
        raise NoSolution("the origin has the angle 0, or pi where x is -0.0")
    return copysign(0.0, ret), -0.0


def opposite(ret: float, x: float, near: float) -> float:
    """The y of a point with this angle and this x."""
    if matches(atan2(near, x), ret):
        return near
    if x == 0:
        if ret == 0 and copysign(1.0, x) > 0:
            return ret
        if abs(ret) == pi and copysign(1.0, x) < 0:
            return copysign(0.0, ret)
        if near == 0 or not agrees(abs(ret), pi / 2):
            raise NoSolution("the y axis has the angles pi/2 and -pi/2")
        return copysign(near, ret)
    if (x > 0 and abs(ret) > pi / 2) or (x < 0 and abs(ret) < pi / 2):
        raise NoSolution("the angle lies on the other side of the y axis")
    return finite(copysign(abs(x * tan(ret)), ret))


def adjacent(ret: float, y: float, near: float) -> float:
    """The x of a point with this angle and this y."""
    if matches(atan2(y, near), ret):
        return near
    if y == 0:
        if ret == 0:
            return abs(near)
        if abs(ret) != pi or copysign(1.0, y) != copysign(1.0, ret):
            raise NoSolution("the x axis has the angles 0 and pi, and -pi where y is -0.0")
        return -abs(near)
    if ret == 0 or (ret > 0) != (y > 0):
        raise NoSolution("the angle lies on the other side of the x axis")
    return finite(y / tan(ret))


angle = relation(
    math.atan2, float, float, "return = atan2(y, x)", codomain=Reals(-pi, pi),
    edges="on an axis the other coordinate is near, with the sign that the angle requires; "
    "the origin has the angle 0, or pi if x is -0.0",
    ret=lambda y, x: atan2(y, x),
    y=parametric(
        opposite, near=Real, recover=lambda y: (y,), determined_if=lambda x: x != 0,
    ),
    x=parametric(
        adjacent, near=Real, recover=lambda x: (x,), determined_if=lambda y: y != 0,
    ),
    yx=parametric(  # the radius of a point may be larger than any float
        point, size=NonNegative, recover=lambda y, x: (max(abs(y), abs(x)),),
    ),
)  # fmt: skip


def leg(ret: float, other: float, negative: bool) -> float:
    """The other leg of a right triangle with this hypotenuse."""
    known = abs(other)
    if known > ret:
        if not agrees(known, ret):
            raise NoSolution("a leg is longer than the hypotenuse")
        return 0.0
    size = math.sqrt(2.0) * math.sqrt(ret - known) * math.sqrt(ret / 2 + known / 2)
    if size > LARGEST:
        size = ret
    return -size if negative else size


hypotenuse = relation(
    math.hypot, float, float, "return = hypot(a, b)", codomain=NonNegative,
    edges="the absolute value of the known leg is at most ret; digits of the shorter leg are lost",
    ret=lambda a, b: math.hypot(a, b),
    a=parametric(
        lambda ret, b, negative: leg(ret, b, negative), negative=Bool, recover=lambda a: (a < 0,),
    ),
    b=parametric(
        lambda ret, a, negative: leg(ret, a, negative), negative=Bool, recover=lambda b: (b < 0,),
    ),
    ab=parametric(
        lambda ret, angle: (ret * cos(angle), ret * sin(angle)), angle=Reals(-pi, pi),
        recover=lambda a, b: (atan2(b, a),),
    ),
)  # fmt: skip

# ---- units --------------------------------------------------------------------------------

degrees = relation(
    math.degrees, float, "return = degrees(a)",
    ret=lambda a: math.degrees(a),
    a=lambda ret: math.radians(ret),
)  # fmt: skip
radians = relation(
    math.radians, float, "return = radians(a)",
    edges="above 3e306 ret is not the radian measure of a float, and is refused",
    ret=lambda a: math.radians(a),
    a=lambda ret: finite(math.degrees(ret)),
)  # fmt: skip
