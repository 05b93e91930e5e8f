"""Programs to be inverted, from the physical sciences and engineering (mechanics to imaging): as
published, rewritten as people of the field write them.

Each names its source. ``P`` has each one's name, function, types, arguments, and what is known.
"""
import cmath
import math
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives import Integers, Reals, array_of

P = []


def prog(*types, args, source, **opts):
    def deco(f):
        P.append(dict(name=f.__name__, f=f, types=types, args=args, source=source, **opts))
        return f
    return deco


# ---------------------------------------------------------------- mechanics

@prog(args=[(300.0, 0.6, 4e-5), (700.0, 0.9, 4e-5)],
      known=("return", "speed", "drag"),
      source="Giordano & Nakanishi, Computational Physics, 2nd ed., sec. 2.2 (cannon shell with "
             "quadratic air drag, Euler steps)")
def cannon_shell(speed: float, elevation: Annotated[float, Reals(0.1, 1.5)], drag: float):
    g, dt = 9.81, 0.25
    x, y = 0.0, 0.0
    vx, vy = speed * math.cos(elevation), speed * math.sin(elevation)
    while True:
        x_old, y_old = x, y
        v = math.hypot(vx, vy)
        x += vx * dt
        y += vy * dt
        vx -= drag * v * vx * dt
        vy -= (g + drag * v * vy) * dt
        if y < 0:
            break
    r = -y_old / y
    return (x_old + r * x) / (r + 1)


class Stress(NamedTuple):
    sx: float
    sy: float
    txy: float


class Principal(NamedTuple):
    s1: float
    s2: float
    tau_max: float
    angle_deg: float


@prog(args=[(Stress(80.0, -40.0, 25.0),), (Stress(-20.0, 90.0, 60.0),)],
      source="Hibbeler, Mechanics of Materials, ch. 9 (plane stress, Mohr's circle)")
def mohr_circle(s: Stress) -> Principal:
    centre = (s.sx + s.sy) / 2
    radius = math.sqrt(((s.sx - s.sy) / 2) ** 2 + s.txy ** 2)
    theta = 0.5 * math.atan2(2 * s.txy, s.sx - s.sy)
    return Principal(centre + radius, centre - radius, radius, math.degrees(theta))


@prog(args=[(1200.0, 1.4, 2.5), (500.0, 3.1, 1.0)], known=("return", "x"),
      source="Gere & Goodno, Mechanics of Materials, app. on beam deflections (simply supported "
             "beam, concentrated load at any point)")
def beam_point_load(load: float, a: Annotated[float, Reals(0.0, 4.0)],
                    x: Annotated[float, Reals(0.0, 4.0)]):
    L, EI = 4.0, 2.0e5
    b = L - a
    if x <= a:
        v = load * b * x * (L ** 2 - b ** 2 - x ** 2) / (6 * L * EI)
    else:
        xr = L - x
        v = load * a * xr * (L ** 2 - a ** 2 - xr ** 2) / (6 * L * EI)
    reactions = (load * b / L, load * a / L)
    return -v, reactions


@dataclass
class Oscillator:
    mass: float
    damping: float
    stiffness: float

    @property
    def omega0(self):
        return math.sqrt(self.stiffness / self.mass)

    def response(self, drive, omega):
        k, c, m = self.stiffness, self.damping, self.mass
        h = 1 / complex(k - m * omega ** 2, c * omega)
        return drive * abs(h), cmath.phase(h)


@prog(args=[(Oscillator(0.5, 0.3, 20.0), 4.0), (Oscillator(1.0, 0.1, 9.0), 3.5)],
      known=("return", "omega"),
      source="Marion & Thornton, Classical Dynamics of Particles and Systems, ch. 3 (driven "
             "damped oscillator)")
def driven_oscillator(osc: Oscillator, omega: float):
    amplitude, phase = osc.response(1.0, omega)
    return amplitude, phase, osc.omega0


# ---------------------------------------------------------------- robotics

@prog(args=[((1.0, 2.0, 0.3), 0.8, 0.4), ((0.0, 0.0, 1.2), 1.5, 0.0)],
      known=("return", "pose"),
      source="Thrun, Burgard & Fox, Probabilistic Robotics, sec. 5.3 (velocity motion model, "
             "without noise)")
def velocity_motion(pose: tuple[float, float, float], v: float, w: float):
    x, y, theta = pose
    dt = 0.5
    if abs(w) < 1e-6:
        return x + v * dt * math.cos(theta), y + v * dt * math.sin(theta), theta
    r = v / w
    x_new = x - r * math.sin(theta) + r * math.sin(theta + w * dt)
    y_new = y + r * math.cos(theta) - r * math.cos(theta + w * dt)
    return x_new, y_new, theta + w * dt


def skew(w):
    return np.array([[0.0, -w[2], w[1]],
                     [w[2], 0.0, -w[0]],
                     [-w[1], w[0], 0.0]])


@prog(array_of(float, (3,)), args=[(np.array([0.3, -0.7, 1.1]),), (np.array([0.0, 0.0, 0.5]),)],
      source="Lynch & Park, Modern Robotics, sec. 3.2.3 (exponential coordinates of rotation)")
def rotation_from_vector(omega):
    theta = np.linalg.norm(omega)
    if theta < 1e-9:
        return np.eye(3)
    K = skew(omega / theta)
    return np.eye(3) + np.sin(theta) * K + (1 - np.cos(theta)) * (K @ K)


@prog(args=[(0.2, 0.3, 0.1), (-0.1, 0.25, -0.4)],
      source="Merlet, Parallel Robots, 2nd ed., ch. 3 (planar 3-RPR platform: leg lengths of a "
             "pose)")
def planar_platform_legs(x: float, y: float, phi: float):
    base = [(0.0, 0.0), (1.0, 0.0), (0.5, 0.9)]
    platform = [(-0.15, -0.1), (0.15, -0.1), (0.0, 0.2)]
    c, s = math.cos(phi), math.sin(phi)
    legs = []
    for (ax, ay), (bx, by) in zip(base, platform):
        px = x + c * bx - s * by
        py = y + s * bx + c * by
        legs.append(math.hypot(px - ax, py - ay))
    return legs


@prog(array_of(float, (3,)), args=[(np.array([0.4, 0.1, -0.5]),), (np.array([1.0, 0.0, 0.0]),)],
      source="Lynch & Park, Modern Robotics, sec. 13.2 (omnidirectional robot with four mecanum "
             "wheels: wheel speeds from the body twist)")
def mecanum_wheel_speeds(twist):
    l, w, r = 0.235, 0.15, 0.0475
    H = np.array([[-l - w, 1, -1],
                  [l + w, 1, 1],
                  [l + w, 1, -1],
                  [-l - w, 1, 1]]) / r
    rpm = H @ twist * 60 / (2 * np.pi)
    return np.clip(rpm, -300.0, 300.0)


# ---------------------------------------------------------------- astronomy and orbits

@prog(args=[(1957, 10, 4.81), (2000, 1, 1.5), (333, 1, 27.5)],
      source="Meeus, Astronomical Algorithms, 2nd ed., ch. 7 (Julian day)")
def julian_day(year: Annotated[int, Integers(0, 3000)], month: Annotated[int, Integers(1, 12)],
               day: Annotated[float, Reals(1.0, 32.0, open_high=True)]):
    gregorian = (year, month, day) >= (1582, 10, 15)
    if month <= 2:
        year -= 1
        month += 12
    b = 0
    if gregorian:
        a = year // 100
        b = 2 - a + a // 4
    return int(365.25 * (year + 4716)) + int(30.6001 * (month + 1)) + day + b - 1524.5


@prog(args=[(347.3193, -6.7199, 51.6715, 38.9214), (100.0, 20.0, 110.0, 52.0)],
      known=("return", "lst", "lat"),
      source="Meeus, Astronomical Algorithms, 2nd ed., ch. 13 (transformation of coordinates: "
             "equatorial to horizontal)")
def equatorial_to_horizontal(ra: Annotated[float, Reals(0.0, 360.0, open_high=True)],
                             dec: Annotated[float, Reals(-90.0, 90.0)],
                             lst: float, lat: float):
    h, d, p = np.radians([(lst - ra) % 360.0, dec, lat])
    az = np.arctan2(np.sin(h), np.cos(h) * np.sin(p) - np.tan(d) * np.cos(p))
    alt = np.arcsin(np.sin(p) * np.sin(d) + np.cos(p) * np.cos(d) * np.cos(h))
    return float((np.degrees(az) + 180.0) % 360.0), float(np.degrees(alt))


@prog(args=[(10.0, 1.2, 0.3, 50.0, -3.0), (55.0, 2.5, 0.1, 120.0, 12.0)],
      source="Murray & Correia, Keplerian Orbits and Dynamics of Exoplanets, in Seager (ed.), "
             "Exoplanets (2010): radial velocity of the star")
def radial_velocity_curve(K: float, w: float, e: Annotated[float, Reals(0.0, 0.9)],
                          period: Annotated[float, Reals(10.0, 1000.0)], gamma: float):
    times = [0.0, 7.0, 19.0, 31.0, 44.0, 58.0]
    curve = []
    for t in times:
        M = 2 * math.pi * ((t / period) % 1.0)
        E = M if e < 0.8 else math.pi
        for _ in range(30):
            step = (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
            E -= step
            if abs(step) < 1e-12:
                break
        nu = 2 * math.atan2(math.sqrt(1 + e) * math.sin(E / 2), math.sqrt(1 - e) * math.cos(E / 2))
        curve.append(gamma + K * (math.cos(w + nu) + e * math.cos(w)))
    return curve


MU_EARTH = 398600.4418      # km3/s2


@prog(args=[(6678.0, 42164.0), (7000.0, 12000.0)],
      source="Vallado, Fundamentals of Astrodynamics and Applications, ch. 6 (Hohmann transfer)")
def hohmann_transfer(r1: float, r2: float) -> dict[str, float]:
    a_t = (r1 + r2) / 2
    visviva = lambda r, a: math.sqrt(MU_EARTH * (2 / r - 1 / a))
    dv1 = visviva(r1, a_t) - visviva(r1, r1)
    dv2 = visviva(r2, r2) - visviva(r2, a_t)
    tof = math.pi * math.sqrt(a_t ** 3 / MU_EARTH)
    return {"dv1": dv1, "dv2": dv2, "total": abs(dv1) + abs(dv2), "hours": tof / 3600}


@prog(args=[(-0.11606e-4,), (3.4123e-5,), (0.0,)],
      source="CelesTrak / NORAD two-line element set format: fields with assumed decimal point "
             "(drag term B*)")
def tle_exponent_field(value: Annotated[float, Reals(-0.9, 0.9)]) -> str:
    if value == 0:
        return " 00000+0"
    sign = "-" if value < 0 else " "
    mantissa, exponent = f"{abs(value):.4e}".split("e")
    digits = mantissa.replace(".", "")
    exp = int(exponent) + 1
    return f"{sign}{digits}{'-' if exp < 0 else '+'}{abs(exp)}"


# ---------------------------------------------------------------- optics

@prog(args=[(50.0, -80.0, 6.0, 1.5168), (35.0, 120.0, 4.0, 1.62)], known=("return", "n"),
      source="Hecht, Optics, 5th ed., sec. 6.2 (matrix methods: thick lens, focal length and "
             "principal planes)")
def thick_lens(R1: float, R2: float, d: float, n: float):
    def refraction(n1, n2, R):
        return np.array([[1.0, 0.0], [(n1 - n2) / (n2 * R), n1 / n2]])

    translation = np.array([[1.0, d], [0.0, 1.0]])
    (A, B), (C, D) = refraction(n, 1.0, R2) @ translation @ refraction(1.0, n, R1)
    f = -1 / C
    return float(f), float((D - 1) / C), float((1 - A) / C)


@prog(args=[(0.55, 1.38, 0.1), (0.633, 2.3, 0.07)], known=("return", "wavelength"),
      source="Hecht, Optics, 5th ed., sec. 9.7 (single-layer film on glass by the characteristic "
             "matrix), normal incidence")
def film_reflectance(wavelength: float, n1: Annotated[float, Reals(1.0, 3.0)],
                     thickness: Annotated[float, Reals(0.0, 0.5)]):
    n0, ns = 1.0, 1.52
    delta = 2 * np.pi * n1 * thickness / wavelength
    M = np.array([[np.cos(delta), 1j * np.sin(delta) / n1],
                  [1j * n1 * np.sin(delta), np.cos(delta)]])
    B, C = M @ np.array([1.0, ns])
    r = (n0 * B - C) / (n0 * B + C)
    return float(abs(r) ** 2), float(np.angle(r))


BK7 = [(1.03961212, 0.00600069867), (0.231792344, 0.0200179144), (1.01046945, 103.560653)]


@prog(args=[(0.5876, 0.9), (0.4861, 0.5)],
      source="Schott N-BK7 data sheet (Sellmeier dispersion formula) with Hecht, Optics, sec. 5.5 "
             "(angular deviation of a 60 degree prism)")
def prism_spectrometer(wavelength: Annotated[float, Reals(0.35, 1.0)],
                       incidence: Annotated[float, Reals(0.6, 1.3)]):
    w2 = wavelength * wavelength
    n = math.sqrt(1 + sum(b * w2 / (w2 - c) for b, c in BK7))
    apex = math.radians(60.0)
    inside = math.asin(math.sin(incidence) / n)
    exit_sine = n * math.sin(apex - inside)
    if exit_sine > 1:
        return n, None
    return n, math.degrees(incidence + math.asin(exit_sine) - apex)


# ---------------------------------------------------------------- geodesy and maps

class Ellipsoid:
    def __init__(self, a, inv_f):
        self.a = a
        self.f = 1 / inv_f
        self.e2 = self.f * (2 - self.f)

    def prime_vertical(self, lat):
        return self.a / math.sqrt(1 - self.e2 * math.sin(lat) ** 2)


WGS84 = Ellipsoid(6378137.0, 298.257223563)


@prog(args=[(48.8583, 2.2945, 330.0), (-33.8568, 151.2153, 25.0)],
      source="NIMA TR8350.2, Department of Defense World Geodetic System 1984, ch. 4 (geodetic to "
             "geocentric Cartesian coordinates)")
def geodetic_to_ecef(lat: Annotated[float, Reals(-90.0, 90.0)],
                     lon: Annotated[float, Reals(-180.0, 180.0)],
                     h: float) -> tuple[float, float, float]:
    phi, lam = math.radians(lat), math.radians(lon)
    N = WGS84.prime_vertical(phi)
    rho = (N + h) * math.cos(phi)
    z = (N * (1 - WGS84.e2) + h) * math.sin(phi)
    return rho * math.cos(lam), rho * math.sin(lam), z


@prog(args=[(35.0, -75.0), (44.5, -101.25)],
      source="Snyder, Map Projections - A Working Manual, USGS PP 1395, ch. 15 (Lambert conformal "
             "conic, ellipsoidal, two standard parallels)")
def lambert_conformal_conic(lat: Annotated[float, Reals(10.0, 70.0)],
                            lon: Annotated[float, Reals(-150.0, -50.0)]):
    a, e = 6378206.4, 0.0822719           # Clarke 1866
    phi1, phi2, phi0, lam0 = (math.radians(v) for v in (33.0, 45.0, 23.0, -96.0))

    def m(phi):
        return math.cos(phi) / math.sqrt(1 - (e * math.sin(phi)) ** 2)

    def t(phi):
        es = e * math.sin(phi)
        return math.tan(math.pi / 4 - phi / 2) / ((1 - es) / (1 + es)) ** (e / 2)

    n = (math.log(m(phi1)) - math.log(m(phi2))) / (math.log(t(phi1)) - math.log(t(phi2)))
    F = m(phi1) / (n * t(phi1) ** n)
    rho, rho0 = (a * F * t(p) ** n for p in (math.radians(lat), phi0))
    theta = n * (math.radians(lon) - lam0)
    return rho * math.sin(theta), rho0 - rho * math.cos(theta)


GEOHASH32 = "0123456789bcdefghjkmnpqrstuvwxyz"


@prog(args=[(57.64911, 10.40744), (-25.38, -49.27)],
      source="Niemeyer's geohash, as in github.com/vinsci/geohash, Geohash/geohash.py (encode)")
def geohash_encode(lat: Annotated[float, Reals(-90.0, 90.0)],
                   lon: Annotated[float, Reals(-180.0, 180.0)]) -> str:
    lat_range, lon_range = [-90.0, 90.0], [-180.0, 180.0]
    code, value, nbits = [], 0, 0
    even = True
    while len(code) < 8:
        rng, coord = (lon_range, lon) if even else (lat_range, lat)
        mid = (rng[0] + rng[1]) / 2
        value <<= 1
        if coord > mid:
            value |= 1
            rng[0] = mid
        else:
            rng[1] = mid
        even = not even
        nbits += 1
        if nbits == 5:
            code.append(GEOHASH32[value])
            value = nbits = 0
    return "".join(code)


@prog(args=[(-9.75, 40.36, 9), (52.52, 13.405, 12)], known=("return", "zoom"),
      source="github.com/mapbox/mercantile, mercantile/__init__.py (tile and quadkey of a "
             "longitude and latitude)")
def tile_quadkey(lat: Annotated[float, Reals(-85.0, 85.0)],
                 lon: Annotated[float, Reals(-180.0, 180.0, open_high=True)],
                 zoom: Annotated[int, Integers(1, 20)]) -> str:
    n = 2 ** zoom
    x = lon / 360 + 0.5
    s = math.sin(math.radians(lat))
    y = 0.5 - 0.25 * math.log((1 + s) / (1 - s)) / math.pi
    col, row = int(math.floor(x * n)), int(math.floor(y * n))
    key = ""
    for level in range(zoom, 0, -1):
        mask = 1 << (level - 1)
        key += str((1 if col & mask else 0) + (2 if row & mask else 0))
    return key


# ---------------------------------------------------------------- thermodynamics

SHOMATE_N2 = [      # T range, then A..G
    ((100.0, 500.0), (28.98641, 1.853978, -9.647459, 16.63537, 0.000117, -8.671914, 226.4168)),
    ((500.0, 2000.0), (19.50583, 19.88705, -8.598535, 1.369784, 0.527601, -4.935202, 212.39)),
]


@prog(args=[(298.15,), (1200.0,)],
      source="NIST Chemistry WebBook, gas phase heat capacity of nitrogen (Shomate equation)")
def shomate_nitrogen(T: Annotated[float, Reals(100.0, 2000.0)]):
    for (low, high), coeffs in SHOMATE_N2:
        if low <= T <= high:
            A, B, C, D, E, F, G = coeffs
            break
    else:
        raise ValueError(f"no data at {T} K")
    t = T / 1000
    cp = A + B * t + C * t ** 2 + D * t ** 3 + E / t ** 2
    h = A * t + B * t ** 2 / 2 + C * t ** 3 / 3 + D * t ** 4 / 4 - E / t + F
    s = A * math.log(t) + B * t + C * t ** 2 / 2 + D * t ** 3 / 3 - E / (2 * t ** 2) + G
    return cp, h, s


@dataclass(frozen=True)
class GasState:
    p: float
    T: float
    v: float


@prog(args=[(8.0, 290.0, 95.0, 800.0), (10.5, 300.0, 100.0, 1200.0)], known=("return", "p1"),
      source="Cengel & Boles, Thermodynamics: An Engineering Approach, ch. 9 (ideal Otto cycle, "
             "cold-air-standard)")
def otto_cycle(r: Annotated[float, Reals(1.0, 20.0, open_low=True)], T1: float, p1: float,
               q_in: float):
    R, cv, k = 0.287, 0.718, 1.4
    s1 = GasState(p1, T1, R * T1 / p1)
    s2 = GasState(p1 * r ** k, T1 * r ** (k - 1), s1.v / r)
    T3 = s2.T + q_in / cv
    s3 = GasState(s2.p * T3 / s2.T, T3, s2.v)
    s4 = GasState(s3.p / r ** k, T3 / r ** (k - 1), s1.v)
    q_out = cv * (s4.T - s1.T)
    w_net = q_in - q_out
    mep = w_net / (s1.v - s2.v)
    return [s2, s3, s4], w_net / q_in, mep


@prog(array_of(float, (6,)), args=[(np.array([20.0, 80.0, 120.0, 95.0, 40.0, 25.0]),)],
      source="Incropera & DeWitt, Fundamentals of Heat and Mass Transfer, sec. 5.10 (explicit "
             "finite differences, one-dimensional transient conduction)")
def wall_temperatures(T0):
    Fo = 0.3
    T = T0.astype(float).copy()
    for _ in range(8):
        T_new = T.copy()
        T_new[1:-1] = T[1:-1] + Fo * (T[2:] - 2 * T[1:-1] + T[:-2])
        T = T_new
    return T


# ---------------------------------------------------------------- fluid mechanics

@prog(args=[(0.02, 0.1, 50.0, 4.6e-5), (0.005, 0.08, 120.0, 1.5e-4), (2e-5, 0.05, 10.0, 4.6e-5)],
      known=("return", "diameter", "length", "roughness"),
      source="White, Fluid Mechanics, ch. 6 (Darcy friction factor, Colebrook formula, laminar "
             "below Re 2300)")
def pipe_pressure_drop(flow: Annotated[float, Reals(1e-6, 0.5)], diameter: float,
                       length: float, roughness: float):
    rho, mu = 998.0, 1.0e-3
    velocity = flow / (math.pi * diameter ** 2 / 4)
    Re = rho * velocity * diameter / mu
    if Re < 2300:
        f = 64 / Re
    else:
        f = 0.02
        while True:
            rhs = -2 * math.log10(roughness / diameter / 3.7 + 2.51 / (Re * math.sqrt(f)))
            f_new = 1 / rhs ** 2
            if abs(f_new - f) < 1e-12:
                break
            f = f_new
    return f * length / diameter * rho * velocity ** 2 / 2


@prog(args=[(2.0, 101.325, 288.0), (3.5, 20.0, 220.0)],
      source="Anderson, Modern Compressible Flow, ch. 3 (normal shock relations; NACA Report 1135)")
def normal_shock(M1: Annotated[float, Reals(1.0, 10.0)], p1: float, T1: float):
    g = 1.4
    M2 = math.sqrt((1 + (g - 1) / 2 * M1 ** 2) / (g * M1 ** 2 - (g - 1) / 2))
    p_ratio = 1 + 2 * g / (g + 1) * (M1 ** 2 - 1)
    rho_ratio = (g + 1) * M1 ** 2 / (2 + (g - 1) * M1 ** 2)
    return dict(M2=M2, p2=p1 * p_ratio, T2=T1 * p_ratio / rho_ratio)


LAYERS = [(0.0, -6.5e-3), (11000.0, 0.0), (20000.0, 1.0e-3), (32000.0, 2.8e-3), (47000.0, 0.0)]


@prog(args=[(8500.0,), (15000.0,), (28000.0,)],
      source="U.S. Standard Atmosphere 1976, part 1 (temperature and pressure below 51 km)")
def standard_atmosphere(h: Annotated[float, Reals(0.0, 51000.0)]):
    g0, R = 9.80665, 287.053
    T, p = 288.15, 101325.0
    for i, (base, lapse) in enumerate(LAYERS):
        top = LAYERS[i + 1][0] if i + 1 < len(LAYERS) else 51000.0
        dh = min(h, top) - base
        if lapse == 0:
            p *= math.exp(-g0 * dh / (R * T))
        else:
            p *= (1 + lapse * dh / T) ** (-g0 / (R * lapse))
            T += lapse * dh
        if h <= top:
            break
    return T, p, p / (R * T)


@prog(args=[("2412",), ("0012",), ("4415",)],
      source="Abbott & von Doenhoff, Theory of Wing Sections, ch. 6 (NACA four-digit sections)")
def naca4_ordinates(code: str):
    m, p, t = int(code[0]) / 100, int(code[1]) / 10, int(code[2:]) / 100
    upper, lower = [], []
    for x in (0.025, 0.1, 0.3, 0.5, 0.7, 0.9):
        yt = 5 * t * (0.2969 * math.sqrt(x) - 0.1260 * x - 0.3516 * x ** 2 + 0.2843 * x ** 3
                      - 0.1015 * x ** 4)
        if x < p:
            yc, slope = m / p ** 2 * (2 * p * x - x ** 2), 2 * m / p ** 2 * (p - x)
        else:
            yc = m / (1 - p) ** 2 * (1 - 2 * p + 2 * p * x - x ** 2)
            slope = 2 * m / (1 - p) ** 2 * (p - x)
        th = math.atan(slope)
        upper.append((x - yt * math.sin(th), yc + yt * math.cos(th)))
        lower.append((x + yt * math.sin(th), yc - yt * math.cos(th)))
    return upper, lower


# ---------------------------------------------------------------- electronics

COLOURS = ["black", "brown", "red", "orange", "yellow", "green", "blue", "violet", "grey", "white"]
TOLERANCE = {"brown": 1, "red": 2, "green": 0.5, "gold": 5, "silver": 10}


@prog(args=[(("yellow", "violet", "red", "gold"),), (("brown", "black", "green", "silver"),)],
      source="IEC 60062 resistor colour code, as in github.com/TheAlgorithms/Python, "
             "electronics/resistor_color_code.py")
def resistor_label(bands: tuple[str, str, str, str]) -> str:
    *digits, multiplier, tol = bands
    value = 0
    for d in digits:
        value = value * 10 + COLOURS.index(d)
    ohms = value * 10 ** COLOURS.index(multiplier)
    for factor, unit in ((10 ** 6, "Mohm"), (10 ** 3, "kohm")):
        if ohms >= factor:
            return f"{ohms / factor:g} {unit} +/-{TOLERANCE[tol]}%"
    return f"{ohms} ohm +/-{TOLERANCE[tol]}%"


@prog(args=[(complex(100.0, 50.0), 0.15), (complex(25.0, -40.0), 0.35)],
      known=("return", "length"),
      source="Pozar, Microwave Engineering, 4th ed., sec. 2.3 (terminated lossless line: input "
             "impedance, reflection coefficient)")
def line_input_impedance(load: complex, length: Annotated[float, Reals(0.0, 0.5)]):
    z0 = 50.0
    gamma = (load - z0) / (load + z0)
    rotated = gamma * cmath.exp(-4j * math.pi * length)      # length in wavelengths
    vswr = (1 + abs(gamma)) / (1 - abs(gamma))
    return z0 * (1 + rotated) / (1 - rotated), vswr


@prog(args=[(350.0, 351.2, 5.0), (120.0, 118.0, 3.3)], known=("return", "supply"),
      source="Nilsson & Riedel, Electric Circuits, ch. 4 (node-voltage method; Wheatstone bridge "
             "with a meter across it)")
def bridge_node_voltages(r_ref: float, r_gauge: float, supply: float):
    R1, R2, R_meter = 350.0, 350.0, 10e3
    g1, g2, gr, gx, gm = (1 / r for r in (R1, R2, r_ref, r_gauge, R_meter))
    G = np.array([[g1 + gr + gm, -gm],
                  [-gm, g2 + gx + gm]])
    rhs = np.array([supply * g1, supply * g2])
    va, vb = np.linalg.solve(G, rhs)
    return float(va), float(vb), float((va - vb) * gm)


CAL = dict(AC1=408, AC2=-72, AC3=-14383, AC4=32741, AC5=32757, AC6=23153, B1=6190, B2=4,
           MC=-8711, MD=2868)


@prog(args=[(27898, 23843), (29000, 30000)],
      source="Bosch BMP180 data sheet, sec. 3.5 (integer compensation of raw temperature and "
             "pressure); also github.com/adafruit/Adafruit_Python_BMP, Adafruit_BMP/BMP085.py")
def bmp180_compensate(ut: Annotated[int, Integers(24000, 34000)],
                      up: Annotated[int, Integers(15000, 45000)]):
    c = CAL
    x1 = (ut - c["AC6"]) * c["AC5"] >> 15
    b5 = x1 + (c["MC"] << 11) // (x1 + c["MD"])
    temperature = (b5 + 8) >> 4                 # tenths of a degree
    b6 = b5 - 4000
    x3 = ((c["B2"] * (b6 * b6 >> 12)) >> 11) + (c["AC2"] * b6 >> 11)
    b3 = (c["AC1"] * 4 + x3 + 2) // 4
    x3 = ((c["AC3"] * b6 >> 13) + ((c["B1"] * (b6 * b6 >> 12)) >> 16) + 2) >> 2
    b4 = c["AC4"] * (x3 + 32768) >> 15
    b7 = (up - b3) * 50000
    p = b7 * 2 // b4 if b7 < 0x80000000 else b7 // b4 * 2
    x1 = ((p >> 8) ** 2 * 3038) >> 16
    x2 = (-7357 * p) >> 16
    return temperature / 10, p + ((x1 + x2 + 3791) >> 4)


# ---------------------------------------------------------------- chemistry

KW = 1.0e-14


@prog(args=[(4.76, 0.1), (3.75, 0.05)],
      source="Harris, Quantitative Chemical Analysis, ch. 11 (titration of a weak acid with strong "
             "base; pH from the charge balance)")
def titration_curve(pKa: Annotated[float, Reals(2.0, 10.0)],
                    acid_molarity: Annotated[float, Reals(0.01, 1.0)]):
    Ka = 10 ** -pKa
    acid_ml, base_molarity = 25.0, 0.1
    curve = []
    for base_ml in (0.0, 5.0, 12.5, 20.0, 30.0):
        total = acid_ml + base_ml
        c_acid = acid_molarity * acid_ml / total
        sodium = base_molarity * base_ml / total
        low, high = 0.0, 14.0
        while high - low > 1e-10:
            pH = (low + high) / 2
            h = 10 ** -pH
            charge = h + sodium - KW / h - c_acid * Ka / (Ka + h)
            if charge > 0:
                low = pH
            else:
                high = pH
        curve.append(pH)
    return curve


@prog(args=[(1.5, 0.4, 0.15), (2.0, 0.25, 0.25)],
      source="Atkins & de Paula, Physical Chemistry, 10th ed., topic 20E (consecutive first-order "
             "reactions A -> I -> P)")
def consecutive_reactions(a0: float, ka: Annotated[float, Reals(0.01, 5.0)],
                          kb: Annotated[float, Reals(0.01, 5.0)]):
    t = np.array([0.5, 2.0, 5.0, 10.0])
    A = a0 * np.exp(-ka * t)
    if math.isclose(ka, kb, rel_tol=1e-9):
        I = a0 * ka * t * np.exp(-ka * t)
    else:
        I = a0 * ka / (kb - ka) * (np.exp(-ka * t) - np.exp(-kb * t))
    product = a0 - A - I
    return np.column_stack([A, I, product])


ATOMIC_MASS = {"H": 1.008, "C": 12.011, "N": 14.007, "O": 15.999, "Na": 22.990, "Mg": 24.305,
               "P": 30.974, "S": 32.06, "Cl": 35.45, "K": 39.098, "Ca": 40.078, "Fe": 55.845}


@prog(args=[("C6H12O6",), ("Ca(OH)2",), ("K4Fe(CN)6",)],
      source="IUPAC standard atomic weights (abridged), with the formula notation of the IUPAC "
             "Red Book 2005, ch. IR-4 (molar mass of a formula)")
def molar_mass(formula: str) -> float:
    stack = [defaultdict(int)]
    for element, paren, count in re.findall(r"([A-Z][a-z]?|(\(|\)))(\d*)", formula):
        n = int(count or 1)
        if element == "(":
            stack.append(defaultdict(int))
        elif paren == ")":
            group = stack.pop()
            for symbol, k in group.items():
                stack[-1][symbol] += k * n
        else:
            stack[-1][element] += n
    return round(sum(ATOMIC_MASS[s] * k for s, k in stack[0].items()), 3)


@prog(args=[(773218,), (5008,), (6417,)],
      source="Chemical Abstracts Service, CAS registry number check digit verification")
def cas_number(body: Annotated[int, Integers(1000, 99999999)]) -> str:
    digits = [int(ch) for ch in reversed(str(body))]
    check = sum(i * d for i, d in enumerate(digits, start=1)) % 10
    return f"{body // 100}-{body % 100:02d}-{check}"


# ---------------------------------------------------------------- acoustics

SEMITONES = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


@prog(args=[("A4",), ("C#5",), ("Bb2",)],
      source="ISO 16 (standard tuning frequency) and ASA octave numbering, as in Rossing, The "
             "Science of Sound, ch. 9 (equal temperament)")
def note_frequency(note: str):
    letter, rest = note[0].upper(), note[1:]
    semitone = SEMITONES[letter]
    while rest and rest[0] in "#b":
        semitone += 1 if rest[0] == "#" else -1
        rest = rest[1:]
    octave = int(rest)
    steps = semitone - 9 + 12 * (octave - 4)
    return 440.0 * 2 ** (steps / 12)


@prog(args=[(10.0, 35.0, 1000.0), (4.5, 34.2, 3500.0)], known=("return", "salinity", "depth"),
      source="Mackenzie, Nine-term equation for sound speed in the oceans, JASA 70 (1981) 807")
def seawater_sound_speed(temperature: Annotated[float, Reals(2.0, 30.0)], salinity: float,
                         depth: float):
    T, S, D = temperature, salinity, depth
    c = 1448.96 + 4.591 * T - 5.304e-2 * T**2 + 2.374e-4 * T**3
    c += 1.340 * (S - 35) + 1.630e-2 * D + 1.675e-7 * D**2
    c -= 1.025e-2 * T * (S - 35) + 7.139e-13 * T * D**3
    return c


KEYPAD = ["123A", "456B", "789C", "*0#D"]
ROW_HZ, COL_HZ = [697, 770, 852, 941], [1209, 1336, 1477, 1633]


@prog(args=[("159#",), ("0800",)],
      source="ITU-T Recommendation Q.23 (push-button telephone sets: signal frequencies), sampled "
             "at 8 kHz")
def dtmf_samples(keys: str) -> NDArray[np.float64]:
    fs, length = 8000, 24
    t = np.arange(length) / fs
    tones = []
    for key in keys:
        for r, row in enumerate(KEYPAD):
            if key in row:
                f1, f2 = ROW_HZ[r], COL_HZ[row.index(key)]
                break
        else:
            raise ValueError(f"not on the keypad: {key!r}")
        tones.append(0.5 * np.sin(2 * np.pi * f1 * t) + 0.5 * np.sin(2 * np.pi * f2 * t))
    return np.concatenate(tones)


# ---------------------------------------------------------------- signals and control

@prog(args=[(1000.0, 0.9, 6.0), (120.0, 2.0, -9.5)],
      source="Bristow-Johnson, Audio EQ Cookbook (W3C note), peaking EQ")
def peaking_eq(f0: Annotated[float, Reals(20.0, 20000.0)],
               q: Annotated[float, Reals(0.1, 20.0)],
               gain_db: Annotated[float, Reals(-24.0, 24.0)]):
    fs = 48000.0
    A = 10 ** (gain_db / 40)
    w0 = 2 * math.pi * f0 / fs
    alpha = math.sin(w0) / (2 * q)
    b = np.array([1 + alpha * A, -2 * math.cos(w0), 1 - alpha * A])
    a = np.array([1 + alpha / A, -2 * math.cos(w0), 1 - alpha / A])
    return b / a[0], a[1:] / a[0]


def fft_radix2(x):
    n = len(x)
    if n == 1:
        return list(x)
    even, odd = fft_radix2(x[0::2]), fft_radix2(x[1::2])
    out = [0j] * n
    for k in range(n // 2):
        t = cmath.exp(-2j * cmath.pi * k / n) * odd[k]
        out[k] = even[k] + t
        out[k + n // 2] = even[k] - t
    return out


@prog(array_of(float, (8,)), args=[(np.array([1.0, 0.5, -0.25, 2.0, 0.0, -1.0, 0.75, 0.1]),)],
      source="Cormen, Leiserson, Rivest & Stein, Introduction to Algorithms, sec. 30.2 (recursive "
             "FFT), after a Hann window (Harris 1978)")
def windowed_spectrum(frame):
    n = len(frame)
    window = [0.5 - 0.5 * math.cos(2 * math.pi * (i + 0.5) / n) for i in range(n)]
    return fft_radix2([s * w for s, w in zip(frame, window)])


class PID:
    def __init__(self, kp, ki, kd, dt, limit):
        self.kp, self.ki, self.kd = kp, ki, kd
        self.dt, self.limit = dt, limit
        self.integral = 0.0
        self.previous = None

    def update(self, setpoint, measured):
        error = setpoint - measured
        derivative = 0.0 if self.previous is None else (measured - self.previous) / self.dt
        self.previous = measured
        u = self.kp * error + self.integral - self.kd * derivative
        saturated = max(-self.limit, min(self.limit, u))
        if u == saturated:
            self.integral += self.ki * error * self.dt
        return saturated


@prog(args=[(2.0, 0.5, 0.1), (0.8, 1.2, 0.0), (9.0, 0.5, 0.3)],
      source="Astrom & Murray, Feedback Systems, sec. 10.5 (discrete PID, derivative on the "
             "measurement, integrator held at saturation), with a first-order plant")
def pid_step_response(kp: Annotated[float, Reals(0.0, 10.0)],
                      ki: Annotated[float, Reals(0.0, 5.0)],
                      kd: Annotated[float, Reals(0.0, 1.0)]):
    pid = PID(kp, ki, kd, dt=0.1, limit=5.0)
    y, log = 0.0, []
    for _ in range(8):
        u = pid.update(1.0, y)
        y += 0.1 * (-y + 0.8 * u)
        log.append(y)
    return log


@prog(array_of(float, (4,)), args=[(np.array([-0.6, 0.35, -0.1, 0.2]),)],
      source="Makhoul, Linear Prediction: A Tutorial Review, Proc. IEEE 63 (1975): predictor from "
             "reflection coefficients (step-up recursion)")
def lpc_from_reflection(k):
    a = [1.0]
    for ki in k:
        padded = a + [0.0]
        a = [p + ki * q for p, q in zip(padded, reversed(padded))]
    return a


@prog(array_of(int, (8,)), args=[(np.array([12, 15, 20, 18, 7, 3, 250, 251]),)],
      source="ISO/IEC 15444-1 (JPEG 2000), annex F (reversible 5-3 wavelet, one level, symmetric "
             "extension)")
def wavelet_53(x):
    s, d = x[0::2].copy(), x[1::2].copy()
    n = len(d)
    for i in range(n):
        right = s[i + 1] if i + 1 < n else s[n - 1]
        d[i] -= (s[i] + right) // 2
    for i in range(n):
        left = d[i - 1] if i > 0 else d[0]
        s[i] += (left + d[i] + 2) // 4
    return s, d


# ---------------------------------------------------------------- colour

Byte = Annotated[int, Integers(0, 255)]
Unit = Annotated[float, Reals(0.0, 1.0)]


@prog(args=[(0.8, 0.3, 0.1), (0.2, 0.6, 0.9), (0.5, 0.5, 0.5)],
      source="W3C CSS Color Module Level 4, sec. 7 (sRGB to HSL); Foley et al., Computer Graphics, "
             "ch. 13")
def rgb_to_hsl_degrees(r: Unit, g: Unit, b: Unit):
    hi, lo = max(r, g, b), min(r, g, b)
    light = (hi + lo) / 2
    d = hi - lo
    if d == 0:
        return 0.0, 0.0, light
    sat = d / (1 - abs(2 * light - 1))
    if hi == r:
        hue = (g - b) / d + (6 if g < b else 0)
    elif hi == g:
        hue = (b - r) / d + 2
    else:
        hue = (r - g) / d + 4
    return hue * 60, sat, light


LMS_FROM_LINEAR = np.array([[0.4122214708, 0.5363325363, 0.0514459929],
                            [0.2119034982, 0.6806995451, 0.1073969566],
                            [0.0883024619, 0.2817188376, 0.6299787005]])
OKLAB_FROM_LMS = np.array([[0.2104542553, 0.7936177850, -0.0040720468],
                           [1.9779984951, -2.4285922050, 0.4505937099],
                           [0.0259040371, 0.7827717662, -0.8086757660]])


@prog(args=[("#1e90ff",), ("#c83c14",)],
      source="Ottosson, A perceptual color space for image processing (2020); Oklab in polar form "
             "(oklch)")
def hex_to_oklch(colour: str):
    channels = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                       for c in channels])
    L, a, b = OKLAB_FROM_LMS @ np.cbrt(LMS_FROM_LINEAR @ linear)
    hue = math.degrees(math.atan2(b, a)) % 360
    return round(float(L), 4), round(math.hypot(a, b), 4), round(hue, 2)


@prog(args=[(200, 120, 30), (16, 255, 128)],
      source="ITU-R Recommendation BT.601 (8-bit luminance and colour-difference signals)")
def bt601_ycbcr(r: Byte, g: Byte, b: Byte) -> tuple[int, int, int]:
    y = 0.299 * r + 0.587 * g + 0.114 * b
    cb = (b - y) / 1.772
    cr = (r - y) / 1.402
    quantise = lambda v, scale, offset: int(math.floor(v * scale / 255 + offset + 0.5))
    return quantise(y, 219, 16), quantise(cb, 224, 128), quantise(cr, 224, 128)


# ---------------------------------------------------------------- computer graphics

def normalised(v):
    return v / np.linalg.norm(v)


@prog(array_of(float, (3,)), array_of(float, (3,)), float,
      args=[(np.array([0.5, 1.0, -0.3]), np.array([4.0, 3.0, 6.0]), 50.0)],
      known=("return", "eye", "fov"),
      source="Akenine-Moller et al., Real-Time Rendering, ch. 4 (view and perspective transforms, "
             "OpenGL conventions)")
def world_to_window(point, eye, fov):
    width, height, near, far = 640, 480, 0.1, 100.0
    forward = normalised(-eye)                     # looking at the origin
    right = normalised(np.cross(forward, np.array([0.0, 1.0, 0.0])))
    up = np.cross(right, forward)
    view = np.eye(4)
    view[:3, :3] = np.stack([right, up, -forward])
    view[:3, 3] = -view[:3, :3] @ eye
    f = 1 / np.tan(np.radians(fov) / 2)
    proj = np.zeros((4, 4))
    proj[0, 0], proj[1, 1] = f * height / width, f
    proj[2, 2], proj[2, 3] = (far + near) / (near - far), 2 * far * near / (near - far)
    proj[3, 2] = -1.0
    clip = proj @ view @ np.append(point, 1.0)
    ndc = clip[:3] / clip[3]
    return (ndc[0] + 1) / 2 * width, (1 - ndc[1]) / 2 * height, (ndc[2] + 1) / 2


@prog(args=[(0.36, 0.48, 0.8), (-0.6, 0.0, -0.8)],
      source="Cigolle et al., A Survey of Efficient Representations for Independent Unit Vectors, "
             "JCGT 3(2) (2014): octahedral encoding, 16 bits in all")
def octahedral_normal(x: float, y: float, z: float):
    norm1 = abs(x) + abs(y) + abs(z)
    u, v = x / norm1, y / norm1
    if z < 0:
        sign = lambda s: 1.0 if s >= 0 else -1.0
        u, v = (1 - abs(v)) * sign(u), (1 - abs(u)) * sign(v)
    pack = lambda s: round((s * 0.5 + 0.5) * 255)
    return pack(u) << 8 | pack(v)


@prog(args=[(0.8, 0.25, 3.5), (120.0, 4000.0, 15.0), (0.0, 0.0, 0.0)],
      source="Ward, Real Pixels, in Graphics Gems II (1991), sec. II.5 (shared-exponent RGBE "
             "pixels)")
def ward_rgbe(r: Annotated[float, Reals(0.0, 1e6)], g: Annotated[float, Reals(0.0, 1e6)],
              b: Annotated[float, Reals(0.0, 1e6)]) -> bytes:
    brightest = max(r, g, b)
    if brightest < 1e-32:
        return bytes(4)
    mantissa, exponent = math.frexp(brightest)
    scale = mantissa * 256 / brightest
    return bytes([int(c * scale) for c in (r, g, b)] + [exponent + 128])


# ---------------------------------------------------------------- medical imaging

@prog(args=[(1000.0, 1200.0), (640.0, 350.0)],
      source="Bernstein, King & Zhou, Handbook of MRI Pulse Sequences, sec. 14.1 (spoiled gradient "
             "echo, variable flip angles)")
def spgr_signals(m0: float, t1: Annotated[float, Reals(100.0, 5000.0)]):
    tr = 15.0                                     # ms
    flip = np.deg2rad([3.0, 10.0, 20.0, 30.0])
    e1 = np.exp(-tr / t1)
    return m0 * np.sin(flip) * (1 - e1) / (1 - np.cos(flip) * e1)


@prog(array_of(float, (3, 3)),
      args=[(np.array([[0.0, 1.0, 0.2], [0.5, 2.0, 0.1], [0.3, 0.0, 0.7]]),)],
      source="Kak & Slaney, Principles of Computerized Tomographic Imaging, ch. 7 (algebraic "
             "reconstruction: ray sums of a pixel grid)")
def ray_sums(image):
    flipped = np.fliplr(image)
    diagonals = [np.trace(image, offset=k) for k in range(-2, 3)]
    antidiagonals = [np.trace(flipped, offset=k) for k in range(-2, 3)]
    return np.concatenate([image.sum(axis=0), image.sum(axis=1), diagonals, antidiagonals])


@prog(args=[(1100, 40.0, 400.0), (500, -600.0, 1500.0), (3000, 40.0, 80.0)],
      known=("return", "centre", "width"),
      source="DICOM PS3.3, C.11.1.1 and C.11.2.1.2 (modality rescale to Hounsfield units, linear "
             "window), 8-bit display")
def ct_display_grey(stored: Annotated[int, Integers(0, 4095)], centre: float,
                    width: Annotated[float, Reals(2.0, 4000.0)]):
    slope, intercept = 1.0, -1024.0
    hu = slope * stored + intercept
    c, w = centre - 0.5, width - 1
    if hu <= c - w / 2:
        return 0
    if hu > c + w / 2:
        return 255
    return int(round(((hu - c) / w + 0.5) * 255))
