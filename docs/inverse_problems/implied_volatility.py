"""Options: the implied volatility of a price.

Field: finance
Shows: one argument of five; a proof that no volatility gives a price
Source: J. C. Hull, Options, Futures, and Other Derivatives, 10th ed., ch. 15 and 20
Question: A call on 100 with strike 105, due in half a year at 2 %, costs 4.2. Which volatility does
    the price imply?
"""

import math
from typing import Annotated

from inversion import NoSolution, choose
from primitives import Reals


def normal_cdf(x):
    return (1 + math.erf(x / math.sqrt(2))) / 2


def call(
    spot: float, strike: float, years: float, rate: float, vol: Annotated[float, Reals(0.01, 5)]
):
    spread = vol * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + vol * vol / 2) * years) / spread
    discounted = strike * math.exp(-rate * years)
    return spot * normal_cdf(d1) - discounted * normal_cdf(d1 - spread)


# ---- the question
implied = choose(call, known=("return", "spot", "strike", "years", "rate"))
answers = [implied(4.2, 100.0, 105.0, 0.5, 0.02)]

# ---- the check
print(f"volatility {answers[0][0]:.8f}")
for strike, price in ((90.0, 12.4), (100.0, 6.4), (110.0, 3.1)):
    print(f"strike {strike:.0f}: {implied(price, 100.0, strike, 0.5, 0.02)[0]:.6f}")
try:
    implied(101.0, 100.0, 105.0, 0.5, 0.02)
except NoSolution as error:
    print("more than the share costs: none,", "proved" if error.proved else "none was found")


def holds(vol):
    return math.isclose(call(100.0, 105.0, 0.5, 0.02, vol), 4.2, rel_tol=1e-8)
