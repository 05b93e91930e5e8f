"""Sine and cosine: each has one solution on every monotone branch."""

from __future__ import annotations

import math
from math import acos, asin, pi

from primitives.domains import Integer, Interval
from primitives.relation import parametric, relation

__all__ = ["cos", "sin"]

sin = relation(
    math.sin, float, "return = sin(a)", codomain=Interval(-1, 1),
    ret=lambda a: math.sin(a),
    a=parametric(  # k numbers the monotone branches of sin
        lambda ret, k: k * pi + (asin(ret) if k % 2 == 0 else -asin(ret)),
        k=Integer,
        recover=lambda a: (math.floor(a / pi + 0.5),),
    ),
)  # fmt: skip
cos = relation(
    math.cos, float, "return = cos(a)", codomain=Interval(-1, 1),
    ret=lambda a: math.cos(a),
    a=parametric(  # k numbers the monotone branches of cos
        lambda ret, k: 2 * pi * ((k + 1) // 2) + (acos(ret) if k % 2 == 0 else -acos(ret)),
        k=Integer,
        recover=lambda a: (math.floor(a / pi),),
    ),
)  # fmt: skip
