"""Polar coordinates: the products of a radius with the cosine and the sine of one angle."""

from __future__ import annotations

import math
from math import acos, asin, atan2, cos, hypot, pi, sin

from primitives.domains import Integer, Real
from primitives.errors import NoSolution
from primitives.floats.tolerance import finite, matches
from primitives.relation import parametric, relation

__all__ = ["from_polar", "polar", "to_polar", "unpolar"]

ROUNDED = 1e-10  # relative tolerance between two coordinates of one point
NOT_ON_THE_RAY = "the angle does not lead to this point"
NOT_ON_THE_CIRCLE = "the point is not on this circle"


def from_polar(r: float, a: float) -> tuple[float, float]:
    """The point at distance ``r`` from the origin and angle ``a`` in radians; a negative distance
    is in the opposite direction.
    """
    return r * cos(a), r * sin(a)


def radius(x: float, y: float, a: float) -> float:
    """The signed distance of a point at this angle."""
    r = x * cos(a) + y * sin(a)
    size = hypot(x, y)
    if not abs(x * sin(a) - y * cos(a)) <= ROUNDED * size:
        raise NoSolution(NOT_ON_THE_RAY)
    return r


def turned(x: float, y: float, r: float, k: int, angle: float) -> float:
    """The angle of a point, plus k full turns; any angle for the origin."""
    if not abs(hypot(x, y) - abs(r)) <= ROUNDED * abs(r):
        raise NoSolution(NOT_ON_THE_CIRCLE)
    if r == 0:
        return angle
    return (atan2(y, x) if r > 0 else atan2(-y, -x)) + 2 * pi * k


def turns(x: float, y: float, r: float, a: float) -> tuple[int, float]:
    first = atan2(y, x) if r > 0 else atan2(-y, -x)
    return (0 if r == 0 else math.floor((a - first) / (2 * pi) + 0.5)), a


def radius_and_angle(x: float, y: float, k: int, angle: float) -> tuple[float, float]:
    """The coordinates of a point, with k half turns added; the origin has any angle."""
    r = hypot(x, y)
    if r == 0:
        return r, angle
    return (r if k % 2 == 0 else -r), atan2(y, x) + k * pi


def half_turns(x: float, y: float, a: float) -> tuple[int, float]:
    return (0 if hypot(x, y) == 0 else math.floor((a - atan2(y, x)) / pi + 0.5)), a


def width_and_half_turns(x: float, y: float, a: float) -> tuple[float, int, float]:
    return x, *half_turns(x, y, a)


def height_and_half_turns(x: float, y: float, a: float) -> tuple[float, int, float]:
    return y, *half_turns(x, y, a)


def by_height(y: float, r: float, near: float) -> float:
    """The angle at which a circle has this height, on the branch of ``near``."""
    if matches(r * sin(near), y):
        return near
    if not abs(y) <= abs(r):
        raise NoSolution(NOT_ON_THE_CIRCLE)
    k = math.floor(near / pi + 0.5)
    found = asin(y / r)
    return k * pi + (found if k % 2 == 0 else -found)


def by_width(x: float, r: float, near: float) -> float:
    """The angle at which a circle has this width, on the branch of ``near``."""
    if matches(r * cos(near), x):
        return near
    if not abs(x) <= abs(r):
        raise NoSolution(NOT_ON_THE_CIRCLE)
    k = math.floor(near / pi)
    found = acos(x / r)
    return 2 * pi * ((k + 1) // 2) + (found if k % 2 == 0 else -found)


def along(part: float, direction: float, free: float) -> float:
    """The distance with this component in a direction; any distance if the component is
    always 0.
    """
    if direction == 0:
        if part != 0:
            raise NoSolution(NOT_ON_THE_RAY)
        return free
    return finite(part / direction)


def width_agreeing(y: float, r: float, a: float) -> float:
    if not abs(r * sin(a) - y) <= ROUNDED * abs(r):
        raise NoSolution(NOT_ON_THE_RAY)
    return r * cos(a)


def height_agreeing(x: float, r: float, a: float) -> float:
    if not abs(r * cos(a) - x) <= ROUNDED * abs(r):
        raise NoSolution(NOT_ON_THE_RAY)
    return r * sin(a)


def width_and_angle(y: float, r: float, near: float) -> tuple[float, float]:
    a = by_height(y, r, near)
    return r * cos(a), a


def height_and_angle(x: float, r: float, near: float) -> tuple[float, float]:
    a = by_width(x, r, near)
    return r * sin(a), a


def width_and_radius(y: float, a: float, free: float) -> tuple[float, float]:
    r = along(y, sin(a), free)
    return r * cos(a), r


def height_and_radius(x: float, a: float, free: float) -> tuple[float, float]:
    r = along(x, cos(a), free)
    return r * sin(a), r


def with_angle(r: float, v: float) -> tuple[float, float, float]:
    return r * cos(v), r * sin(v), v


def with_radius(a: float, v: float) -> tuple[float, float, float]:
    return v * cos(a), v * sin(a), v


def with_width(y: float, v: float, k: int, angle: float) -> tuple[float, float, float]:
    return v, *radius_and_angle(v, y, k, angle)


def with_height(x: float, v: float, k: int, angle: float) -> tuple[float, float, float]:
    return v, *radius_and_angle(x, v, k, angle)


polar = relation(
    from_polar, float, float, "x, y = polar(r, a)",
    returns=(float, float), independent=True,
    edges="the origin has any angle; digits of a are lost if it is large, or if x or y is extreme",
    ret=from_polar,
    x=width_agreeing,
    y=height_agreeing,
    r=radius,
    a=parametric(turned, k=Integer, angle=Real, recover=turns, all_or_nothing=True),
    ra=parametric(
        radius_and_angle, k=Integer, angle=Real, recover=half_turns, all_or_nothing=True
    ),
    xa=parametric(width_and_angle, near=Real, recover=lambda a: (a,)),
    ya=parametric(height_and_angle, near=Real, recover=lambda a: (a,)),
    xr=parametric(width_and_radius, free=Real, recover=lambda r: (r,)),
    yr=parametric(height_and_radius, free=Real, recover=lambda r: (r,)),
    xya=parametric(with_angle, v=Real, recover=lambda a: (a,)),
    xyr=parametric(with_radius, v=Real, recover=lambda r: (r,)),
    xra=parametric(
        with_width,
        v=Real, k=Integer, angle=Real,
        recover=width_and_half_turns,
    ),
    yra=parametric(
        with_height,
        v=Real, k=Integer, angle=Real,
        recover=height_and_half_turns,
    ),
)  # fmt: skip


# ---- inverse of polar ---------------------------------------------------------------------


def to_polar(x: float, y: float) -> tuple[float, float]:
    """The distance of a point from the origin, and its angle, from -pi to pi."""
    return hypot(x, y), atan2(y, x)


def point(r: float, a: float) -> tuple[float, float]:
    """The point with these coordinates, whose angle must be in the principal range."""
    if not (r >= 0 and abs(a) <= pi and (r > 0 or a == 0 or abs(a) == pi)):
        raise NoSolution("no point has these coordinates")
    return r * cos(a), r * sin(a)


def width_of(r: float, a: float, y: float) -> float:
    x, height = point(r, a)
    if not abs(height - y) <= ROUNDED * r:
        raise NoSolution(NOT_ON_THE_RAY)
    return x


def height_of(r: float, a: float, x: float) -> float:
    width, y = point(r, a)
    if not abs(width - x) <= ROUNDED * r:
        raise NoSolution(NOT_ON_THE_RAY)
    return y


unpolar = relation(
    to_polar, float, float, "r, a = to_polar(x, y)",
    returns=(float, float), independent=True,
    edges="the origin has the angle 0",
    ret=to_polar,
    x=width_of,
    y=height_of,
    xy=point,
)  # fmt: skip
