"""Records in and out, known parts of tuples and records, arguments by keyword only."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

from inversion import NotInvertible, WrongArguments, choose, invert
from overlay import NotCompilable
from primitives import Reals


class Option(NamedTuple):
    spot: float
    strike: float
    years: float
    rate: float
    volatility: float


@dataclass(frozen=True)
class Pose:
    x: float
    y: float
    heading: float = 0.0


def normal(x):
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def price(o: Option):
    spread = o.volatility * math.sqrt(o.years)
    d1 = (math.log(o.spot / o.strike) + (o.rate + 0.5 * o.volatility**2) * o.years) / spread
    discount = math.exp(-o.rate * o.years)
    return o.spot * normal(d1) - o.strike * discount * normal(d1 - spread)


KNOWN = ("return", "o.spot", "o.strike", "o.years", "o.rate")


def test_the_implied_volatility_of_an_option():
    option = Option(100.0, 95.0, 0.5, 0.02, 0.3)
    implied = choose(price, known=KNOWN, domain={"o.volatility": Reals(0.01, 3.0)})
    theta = implied.recover(option)
    spare = (theta,) if len(theta) else ()
    (found,) = implied(price(option), *option[:4], *spare)
    assert isinstance(found, Option)
    assert found == pytest.approx(option)
    assert found[:4] == option[:4]


def step(pose: Pose, ahead: float):
    return Pose(
        pose.x + ahead * math.cos(pose.heading), pose.y + ahead * math.sin(pose.heading),
        pose.heading,
    )  # fmt: skip


def test_dataclasses_come_back_as_what_they_were():
    back = choose(step, known=("return", "ahead"))
    (pose,) = back(step(Pose(1.0, 2.0, 0.5), 0.25), 0.25)
    assert isinstance(pose, Pose)
    assert (pose.x, pose.y, pose.heading) == pytest.approx((1.0, 2.0, 0.5))
    forward = choose(step, known=("pose", "ahead"))
    assert forward(Pose(1.0, 2.0), 3.0) == (Pose(4.0, 2.0),)


def test_a_part_of_an_argument_or_of_a_result_is_known():
    turned = choose(step, known=("pose.x", "pose.heading", "return.y", "ahead"))
    pose, result = turned(1.0, 0.5, 7.0, 2.0)
    assert result == step(pose, 2.0)
    assert result.y == pytest.approx(7.0)
    assert (pose.x, pose.heading) == (1.0, 0.5)

    def both(p: tuple[float, float]):
        return p[0] + p[1], p[0] * 3

    half = choose(both, known=("return[0]", "p[1]"))
    assert half(5.0, 2.0) == ((3.0, 2.0), (5.0, 9.0))


def test_parts_are_solutions_and_in_the_source_too():
    def both(p: tuple[float, float]):
        return p[0] ** 2 + p[1], p[0]

    half = choose(both, known=("return[0]", "p[1]"))
    module = {}
    exec(half.source, module)
    theta = half.recover((3.0, 2.0))
    assert (
        module["inverse"](11.0, 2.0, theta) == half(11.0, 2.0, theta) == ((3.0, 2.0), (11.0, 3.0))
    )
    assert half.batch(np.array([11.0, 6.0]), np.array([2.0, 2.0]), theta=theta)[0][0] == (
        pytest.approx([3.0, 2.0])
    )


def test_what_is_no_part_or_known_twice_is_refused():
    for known in (("return", "pose.z"), ("return[0]",), ("return", "pose.x.real")):
        with pytest.raises(WrongArguments, match="has no axis"):
            choose(step, known=known)
    with pytest.raises(WrongArguments, match="twice"):
        choose(step, known=("return", "pose", "pose.x"))


@pytest.mark.parametrize("given", [(3.0, 1.0), [3.0, 1.0], np.array([3.0, 1.0])])
def test_a_tuple_may_be_given_as_a_list_or_as_an_array(given):
    both = invert(lambda x, y: (x + y, x - y), float, float)
    assert both(given) == (2.0, 1.0)
    with pytest.raises(WrongArguments, match="does not have the structure"):
        both([*given, 1.0])


def test_a_dataclass_is_given_as_one():
    with pytest.raises(WrongArguments, match="Pose"):
        choose(step, known=("return", "ahead"))((1.0, 2.0, 0.5), 0.25)


def test_dataclasses_are_not_compiled():
    with pytest.raises(NotCompilable, match="Pose is a dataclass"):
        choose(step, known=("return", "ahead")).compile()


def test_the_source_makes_a_dataclass():
    back, module = choose(step, known=("return", "ahead")), {}
    exec(back.source, module)
    cls = type(module["forward"](module["Pose"](1.0, 2.0, 0.5), 0.25))
    (pose,) = module["inverse"](cls(1.0, 2.0, 0.0), 0.25)
    assert (pose.x, pose.y, pose.heading) == (0.75, 2.0, 0.0)


@dataclass
class Checked:
    x: float

    def __post_init__(self):
        self.x = abs(self.x)


@dataclass
class Counted:
    x: float
    seen: list = field(default_factory=list)


def test_dataclasses_that_do_more_are_refused():
    def of(value: Checked):
        return value.x

    def counted(value: Counted):
        return value.x

    with pytest.raises(WrongArguments, match="Checked"):
        invert(of)
    with pytest.raises(NotInvertible, match="value_seen"):
        invert(counted)


def test_arguments_by_keyword_only():
    def scaled(x: float, *, by: float, plus: float = 1.0):
        return x * by + plus

    inverse = choose(scaled, known=("return", "by"))
    assert inverse(7.0, 2.0, (0.0,)) == (3.0,)
    assert choose(scaled, known=("return", "x"))(7.0, 3.0, (0.0,)) == (2.0,)
    assert inverse(7.0, 2.0, inverse.recover(3.0, 2.0)) == (3.0,)
    full = choose(scaled, float, float, float, known=("return", "x", "by"))
    assert full(7.0, 3.0, 2.0) == (1.0,)
    assert inverse.batch(np.array([7.0, 9.0]), 2.0, theta=(0.0,))[0].tolist() == [3.0, 4.0]
    assert inverse.compile()(7.0, 2.0, (0.0,)) == (3.0,)
    module = {}
    exec(inverse.source, module)
    assert module["inverse"](7.0, 2.0, (0.0,)) == (3.0,)
    assert module["forward"](3.0, 2.0) == 7.0


def test_a_default_between_is_kept():
    def scaled(x: float, plus: float = 1.0, *, by: float):
        return x * by + plus

    assert choose(scaled, known=("return", "by"))(7.0, 2.0, (0.0,)) == (3.0,)
    assert choose(scaled, float, float, known=("return", "by"))(7.0, 2.0, (0.0,)) == (3.0,)
