"""Programs to be inverted, as a physicist, a quant and a signal engineer write them.

They stand as they were written, imports and habits included: nothing in them is fitted to what
can be inverted. ``P`` has each one's name, function, types, arguments, and what is known.
"""
import math, cmath, datetime
from dataclasses import dataclass
from typing import NamedTuple, Annotated
from collections import namedtuple
import numpy as np
from numpy.typing import NDArray
from primitives import Reals, Integers, Shape, array_of
P = []
def prog(*types, args, persona, **opts):
    def deco(f):
        P.append(dict(name=f.__name__, f=f, types=types, args=args, persona=persona, **opts))
        return f
    return deco

# ------------------------------------------------------------ physicist
MU = 398600.4418
@prog(args=[(8000.0, 0.1, 0.5, 0.3, 1.0, 0.7)], persona="physics")
def elements_to_state(a: float, e: float, i: float, node: float, peri: float, nu: float):
    p = a * (1 - e * e)
    r = p / (1 + e * math.cos(nu))
    xp, yp = r * math.cos(nu), r * math.sin(nu)
    k = math.sqrt(MU / p)
    vxp, vyp = -k * math.sin(nu), k * (e + math.cos(nu))
    cO, sO, cw, sw, ci, si = math.cos(node), math.sin(node), math.cos(peri), math.sin(peri), math.cos(i), math.sin(i)
    r11, r12 = cO * cw - sO * sw * ci, -cO * sw - sO * cw * ci
    r21, r22 = sO * cw + cO * sw * ci, -sO * sw + cO * cw * ci
    r31, r32 = sw * si, cw * si
    return (r11 * xp + r12 * yp, r21 * xp + r22 * yp, r31 * xp + r32 * yp,
            r11 * vxp + r12 * vyp, r21 * vxp + r22 * vyp, r31 * vxp + r32 * vyp)

@prog(args=[(1.3, 0.2), (-4.0, 0.6)], persona="physics")
def true_anomaly(mean: float, e: Annotated[float, Reals(0, 0.9)]):
    """solves Kepler by Newton's iteration, inside the program"""
    E = mean
    for _ in range(10):
        E = E - (E - e * math.sin(E) - mean) / (1 - e * math.cos(E))
    return 2 * math.atan2(math.sqrt(1 + e) * math.sin(E / 2), math.sqrt(1 - e) * math.cos(E / 2)), e

@prog(args=[(1.0, 0.0), (0.3, -0.5)], persona="physics")
def leapfrog(q: float, p: float):
    """a pendulum, 50 steps: symplectic, so invertible"""
    dt = 0.05
    for _ in range(50):
        p = p - 0.5 * dt * math.sin(q)
        q = q + dt * p
        p = p - 0.5 * dt * math.sin(q)
    return q, p

@prog(args=[(1.0, 0.0), (0.3, -0.5)], persona="physics")
def rk4_pendulum(q: float, p: float):
    def rhs(q, p):
        return p, -math.sin(q)
    dt = 0.1
    for _ in range(5):
        a1, b1 = p, -math.sin(q)
        a2, b2 = p + dt/2*b1, -math.sin(q + dt/2*a1)
        a3, b3 = p + dt/2*b2, -math.sin(q + dt/2*a2)
        a4, b4 = p + dt*b3, -math.sin(q + dt*a3)
        q, p = q + dt/6*(a1 + 2*a2 + 2*a3 + a4), p + dt/6*(b1 + 2*b2 + 2*b3 + b4)
    return q, p

def deriv(q, p):
    return p, -math.sin(q)

@prog(args=[(1.0, 0.0), (0.3, -0.5)], persona="physics")
def rk4_one(q: float, p: float):
    dt = 0.1
    a1, b1 = deriv(q, p)
    a2, b2 = deriv(q + dt/2*a1, p + dt/2*b1)
    a3, b3 = deriv(q + dt/2*a2, p + dt/2*b2)
    a4, b4 = deriv(q + dt*a3, p + dt*b3)
    return q + dt/6*(a1 + 2*a2 + 2*a3 + a4), p + dt/6*(b1 + 2*b2 + 2*b3 + b4)

@prog(args=[(1.0, 2.0, 0.3), (3.0, 4.0, -0.9)], persona="physics")
def collide(m1: float, v1: float, v2: float):
    m2 = 2.0
    a = ((m1 - m2) * v1 + 2 * m2 * v2) / (m1 + m2)
    b = ((m2 - m1) * v2 + 2 * m1 * v1) / (m1 + m2)
    return a, b, m1

@prog(args=[(0.5, 0.3, 0.1)], persona="physics")
def boost(vx: float, vy: float, vz: float):
    """relativistic velocity addition with 0.6 c along x"""
    b = 0.6
    g = 1 / math.sqrt(1 - b * b)
    d = 1 + b * vx
    return (vx + b) / d, vy / (g * d), vz / (g * d)

@prog(args=[(5778.0,), (300.0,)], persona="physics")
def planck(temperature: Annotated[float, Reals(1, 1e5)]):
    h, c, k, lam = 6.62607015e-34, 2.99792458e8, 1.380649e-23, 10e-6
    return 2 * h * c**2 / lam**5 / math.expm1(h * c / (lam * k * temperature))

@prog(args=[(1.0, 2.0)], persona="physics")
def fresnel(theta: Annotated[float, Reals(0, 1.5)], n: Annotated[float, Reals(1, 3)]):
    ct = math.cos(theta)
    st = math.sin(theta) / n
    cr = math.sqrt(1 - st * st)
    rs = ((ct - n * cr) / (ct + n * cr)) ** 2
    rp = ((cr - n * ct) / (cr + n * ct)) ** 2
    return rs, rp

@prog(args=[(3.0, 40.0)], persona="physics")
def series_rlc(r: float, x: float):
    """impedance in parallel with a capacitor: complex numbers"""
    z = complex(r, x)
    zc = -50j
    zt = z * zc / (z + zc)
    return abs(zt), cmath.phase(zt)

@prog(complex, args=[(0.3 + 0.4j,), (-1.2 + 0.1j,)], persona="physics")
def mobius(z):
    return (z * (2 + 1j) - 1) / (z + 3j)

@prog(args=[(1013.0, 20.0, 0.6)], persona="physics")
def dew(p: float, t: float, rh: Annotated[float, Reals(0, 1)]):
    es = 6.112 * math.exp(17.67 * t / (t + 243.5))
    g = math.log(rh * es / 6.112)
    return p, t, 243.5 * g / (17.67 - g)

# ------------------------------------------------------------ quant
def phi(x):
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

class Option(NamedTuple):
    spot: float
    strike: float
    t: float
    r: float
    vol: float

@prog(args=[(Option(100.0, 95.0, 0.5, 0.02, 0.3),)], persona="quant", known=("return", "o.spot", "o.strike", "o.t", "o.r"))
def bs(o: Option):
    d1 = (math.log(o.spot / o.strike) + (o.r + 0.5 * o.vol ** 2) * o.t) / (o.vol * math.sqrt(o.t))
    d2 = d1 - o.vol * math.sqrt(o.t)
    return o.spot * phi(d1) - o.strike * math.exp(-o.r * o.t) * phi(d2)

@prog(args=[(0.05,), (0.001,)], persona="quant")
def bond_price(y: Annotated[float, Reals(-0.5, 1.0)]):
    price, c = 0.0, 4.5
    for k in range(1, 21):
        price += c / 2 / (1 + y / 2) ** k
    return price + 100 / (1 + y / 2) ** 20

FLOWS = [(-1000.0, 0.0), (300.0, 1.0), (420.0, 2.0), (680.0, 3.0)]
@prog(args=[(0.1,), (0.16,)], persona="quant")
def npv(rate: Annotated[float, Reals(-0.9, 10)]):
    return sum(c / (1 + rate) ** t for c, t in FLOWS)

@prog(args=[(0.1,), (0.16,)], persona="quant")
def npv_loop(rate: Annotated[float, Reals(-0.9, 10)]):
    total = 0.0
    for c, t in ((-1000.0, 0.0), (300.0, 1.0), (420.0, 2.0), (680.0, 3.0)):
        total += c / (1 + rate) ** t
    return total

@prog(args=[(250000.0, 0.04, 30), (1000.0, 0.1, 2)], persona="quant", known=("return", "principal", "years"))
def mortgage(principal: float, rate: Annotated[float, Reals(1e-6, 1)], years: int):
    n = years * 12
    i = rate / 12
    return principal * i / (1 - (1 + i) ** -n)

@prog(args=[(50000.0,), (9000.0,), (150000.0,)], persona="quant")
def income_tax(income: float):
    brackets = ((11000.0, 0.10), (44725.0, 0.12), (95375.0, 0.22), (182100.0, 0.24))
    tax, lower = 0.0, 0.0
    for upper, rate in brackets:
        if income > lower:
            tax += (min(income, upper) - lower) * rate
        lower = upper
    return tax

@prog(args=[(0.02, 0.3, 0.05)], persona="quant")
def nelson_siegel(b0: float, b1: float, b2: float):
    def y(t):
        x = t / 1.5
        l = (1 - math.exp(-x)) / x
        return b0 + b1 * l + b2 * (l - math.exp(-x))
    return y(1.0), y(5.0), y(10.0)

@prog(args=[(0.01, 0.012, 0.02)], persona="quant")
def bootstrap_swaps(z1: float, z2: float, z3: float):
    """par swap rates out of zero rates"""
    d1, d2, d3 = math.exp(-z1), math.exp(-2 * z2), math.exp(-3 * z3)
    return (1 - d1) / d1, (1 - d2) / (d1 + d2), (1 - d3) / (d1 + d2 + d3)

# ------------------------------------------------------------ signal
@prog(np.zeros(8), args=[(np.array([1., 2, -1, 0.5, 3, 0, 1, 2]),)], persona="signal")
def dft_power_phase(x):
    X = np.fft.fft(x)
    return X

@prog(np.zeros(8), args=[(np.array([1., 2, -1, 0.5, 3, 0, 1, 2]),)], persona="signal")
def rfft_filter(x):
    X = np.fft.rfft(x)
    return np.fft.irfft(X * np.array([1.0, 0.9, 0.5, 0.2, 0.1]))

W8 = np.exp(-2j * np.pi * np.outer(np.arange(8), np.arange(8)) / 8)
@prog(np.zeros(8, complex), args=[(np.arange(8) * (1 + 0.5j),)], persona="signal")
def dft_matrix(x):
    return W8 @ x

@prog(np.zeros(8), args=[(np.array([1., 2, -1, 0.5, 3, 0, 1, 2]),)], persona="signal")
def dft_real(x):
    X = W8 @ x
    return X.real, X.imag

@prog(list[float], args=[([1.0, 2.0, 0.5, -1.0],)], persona="signal")
def iir(xs):
    ys = []
    y = 0.0
    for x in xs:
        y = 0.9 * y + 0.1 * x
        ys.append(y)
    return ys

@prog(np.zeros(6), args=[(np.array([1., 2, -1, 0.5, 3, 0]),)], persona="signal")
def fir(x):
    y = np.convolve(x, np.array([0.25, 0.5, 0.25]), mode="full")
    return y

@prog(np.zeros(6), args=[(np.array([1., 2, -1, 0.5, 3, 0]),)], persona="signal")
def preemphasis(x):
    y = np.zeros(6)
    y[0] = x[0]
    for n in range(1, 6):
        y[n] = x[n] - 0.97 * x[n - 1]
    return y

@prog(args=[(0.3,), (-0.7,)], persona="signal")
def mu_law(x: Annotated[float, Reals(-1, 1)]):
    mu = 255
    return math.copysign(math.log(1 + mu * abs(x)) / math.log(1 + mu), x)

@prog(args=[(0.3,), (-0.7,)], persona="signal")
def mu_law_quantised(x: Annotated[float, Reals(-1, 1)]):
    y = math.copysign(math.log1p(255 * abs(x)) / math.log1p(255), x)
    return int((y + 1) / 2 * 255 + 0.5)

@prog(args=[(440.0,), (27.5,)], persona="signal")
def midi(freq: float):
    return round(69 + 12 * math.log2(freq / 440.0))

@prog(np.zeros(4), args=[(np.array([1., 5, 2, 8]),)], persona="signal")
def haar(x):
    a, d = (x[0::2] + x[1::2]) / np.sqrt(2), (x[0::2] - x[1::2]) / np.sqrt(2)
    aa, dd = (a[:1] + a[1:]) / np.sqrt(2), (a[:1] - a[1:]) / np.sqrt(2)
    return np.concatenate([aa, dd, d])

@prog(np.zeros(5), args=[(np.array([1., 5, 2, 8, -3]),)], persona="signal")
def zscore(x):
    return (x - x.mean()) / x.std()
