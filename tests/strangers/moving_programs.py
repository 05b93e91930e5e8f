"""Programs to be inverted, as a roboticist and a graphics programmer write them.

They stand as they were written, imports and habits included: nothing in them is fitted to what
can be inverted. ``P`` has each one's name, function, types, arguments, and what is known.
"""
import math, cmath, datetime, struct, binascii, random
from dataclasses import dataclass
from typing import NamedTuple, Annotated
from collections import namedtuple
import numpy as np
from numpy.typing import NDArray
from primitives import Reals, Integers, Shape, array_of

P = []  # (name, f, types, [args], opts)
def prog(*types, args, persona, **opts):
    def deco(f):
        P.append(dict(name=f.__name__, f=f, types=types, args=args, persona=persona, **opts))
        return f
    return deco

# ------------------------------------------------------------ roboticist
def rotz(t):
    c, s = math.cos(t), math.sin(t)
    return ((c, -s), (s, c))

@prog(args=[(0.3, 0.7, 0.4), (-1.0, 2.0, 0.1)], persona="robot")
def scara(t1: float, t2: float, d3: float):
    """SCARA arm: x, y, z of the tool."""
    a1, a2 = 0.4, 0.3
    x = a1 * math.cos(t1) + a2 * math.cos(t1 + t2)
    y = a1 * math.sin(t1) + a2 * math.sin(t1 + t2)
    return x, y, 0.5 - d3

def dh(theta, d, a, alpha):
    ct, st, ca, sa = math.cos(theta), math.sin(theta), math.cos(alpha), math.sin(alpha)
    return ((ct, -st * ca, st * sa, a * ct),
            (st, ct * ca, -ct * sa, a * st),
            (0.0, sa, ca, d),
            (0.0, 0.0, 0.0, 1.0))

def mm(A, B):
    return tuple(tuple(A[i][0]*B[0][j] + A[i][1]*B[1][j] + A[i][2]*B[2][j] + A[i][3]*B[3][j] for j in range(4)) for i in range(4))

@prog(args=[(0.3, 0.7, 0.4)], persona="robot")
def dh_arm(q1: float, q2: float, q3: float):
    """anthropomorphic 3R arm, with the comprehension as everybody writes it"""
    T = mm(mm(dh(q1, 0.4, 0.0, math.pi / 2), dh(q2, 0.0, 0.5, 0.0)), dh(q3, 0.0, 0.3, 0.0))
    return T[0][3], T[1][3], T[2][3]

def dh_np(theta, d, a, alpha):
    ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1.0]])

@prog(args=[(0.3, 0.7, 0.4)], persona="robot")
def dh_arm_numpy(q1: float, q2: float, q3: float):
    T = dh_np(q1, 0.4, 0.0, np.pi / 2) @ dh_np(q2, 0.0, 0.5, 0.0) @ dh_np(q3, 0.0, 0.3, 0.0)
    return T[0, 3], T[1, 3], T[2, 3]

@prog(args=[(0.3, 0.7, 0.4), (-2.0, 0.4, 0.9)], persona="robot")
def anthropomorphic(q1: float, q2: float, q3: float):
    """the same arm worked out by hand"""
    r = 0.5 * math.cos(q2) + 0.3 * math.cos(q2 + q3)
    z = 0.4 + 0.5 * math.sin(q2) + 0.3 * math.sin(q2 + q3)
    return r * math.cos(q1), r * math.sin(q1), z

@dataclass
class Pose:
    x: float
    y: float
    heading: float

@prog(args=[(0.5, 0.2, 1.0)], persona="robot")
def odometry(x: float, y: float, heading: float):
    """differential drive: one step of a pose"""
    left, right, base = 0.11, 0.13, 0.3
    pose = Pose(x, y, heading)
    ds, dth = (left + right) / 2, (right - left) / base
    nx = pose.x + ds * math.cos(pose.heading + dth / 2)
    ny = pose.y + ds * math.sin(pose.heading + dth / 2)
    return nx, ny, pose.heading + dth

@prog(args=[(Pose(0.5, 0.2, 1.0),)], persona="robot")
def odometry_dc(pose: Pose):
    return pose.x + 0.12 * math.cos(pose.heading), pose.y + 0.12 * math.sin(pose.heading), pose.heading + 0.05

@prog(args=[(0.11, 0.13), (0.2, -0.2)], persona="robot")
def wheels(left: float, right: float):
    """wheel travel to pose change, with the straight special case"""
    base = 0.3
    ds, dth = (left + right) / 2, (right - left) / base
    if abs(dth) < 1e-9:
        return ds, 0.0, dth
    radius = ds / dth
    return radius * math.sin(dth), radius * (1 - math.cos(dth)), dth

@prog(args=[(0.7071, 0.1, 0.2, 0.67)], persona="robot")
def quat_to_euler(w: float, x: float, y: float, z: float):
    n = math.sqrt(w*w + x*x + y*y + z*z)
    w, x, y, z = w/n, x/n, y/n, z/n
    roll = math.atan2(2*(w*x + y*z), 1 - 2*(x*x + y*y))
    pitch = math.asin(2*(w*y - z*x))
    yaw = math.atan2(2*(w*z + x*y), 1 - 2*(y*y + z*z))
    return roll, pitch, yaw

class Quat(NamedTuple):
    w: float
    x: float
    y: float
    z: float

def qmul(a, b):
    return Quat(a.w*b.w - a.x*b.x - a.y*b.y - a.z*b.z,
                a.w*b.x + a.x*b.w + a.y*b.z - a.z*b.y,
                a.w*b.y - a.x*b.z + a.y*b.w + a.z*b.x,
                a.w*b.z + a.x*b.y - a.y*b.x + a.z*b.w)

@prog(args=[(Quat(0.5, 0.5, -0.5, 0.5),), (Quat(1.0, 2.0, 3.0, 4.0),)], persona="robot")
def left_multiply(q: Quat):
    return qmul(Quat(0.9, 0.1, -0.2, 0.3), q)

# ------------------------------------------------------------ graphics
@prog(args=[(0.2, 0.5, 0.9), (0.01, 0.002, 1.0)], persona="graphics")
def srgb_encode(r: float, g: float, b: float):
    def_ = (r, g, b)
    out = []
    for c in def_:
        out.append(12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055)
    return out[0], out[1], out[2]

def gamma(c):
    if c <= 0.0031308:
        return 12.92 * c
    return 1.055 * c ** (1 / 2.4) - 0.055

@prog(args=[(0.2, 0.5, 0.9), (0.01, 0.002, 1.0)], persona="graphics")
def srgb_tuple(r: float, g: float, b: float):
    return gamma(r), gamma(g), gamma(b)

def lab_f(t):
    d = 6 / 29
    return t ** (1 / 3) if t > d ** 3 else t / (3 * d * d) + 4 / 29

@prog(args=[(0.2, 0.5, 0.9), (0.01, 0.9, 0.3)], persona="graphics")
def rgb_to_lab(r: float, g: float, b: float):
    x = 0.4124564 * r + 0.3575761 * g + 0.1804375 * b
    y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b
    z = 0.0193339 * r + 0.1191920 * g + 0.9503041 * b
    fx, fy, fz = lab_f(x / 0.95047), lab_f(y), lab_f(z / 1.08883)
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)

M = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
@prog(np.zeros(3), args=[(np.array([0.2, 0.5, 0.9]),), (np.array([0.0, 0.001, 0.0]),)], persona="graphics")
def rgb_to_lab_np(rgb):
    xyz = M @ rgb / np.array([0.95047, 1.0, 1.08883])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])

@prog(args=[(1.0, 2.0, 5.0)], persona="graphics")
def project(x: float, y: float, z: float):
    """look-at camera, perspective, viewport; depth kept"""
    # rotate about y then x
    cy, sy = math.cos(0.4), math.sin(0.4)
    x, z = cy * x + sy * z, -sy * x + cy * z
    cx, sx = math.cos(-0.2), math.sin(-0.2)
    y, z = cx * y - sx * z, sx * y + cx * z
    f = 1 / math.tan(math.radians(60) / 2)
    return 640 + 360 * f * x / z, 360 - 360 * f * y / z, z

@prog(args=[(0.1, 0.2)], persona="graphics")
def brown_conrady(x: float, y: float):
    """radial and tangential lens distortion"""
    k1, k2, p1, p2 = -0.28, 0.07, 1e-3, -5e-4
    r2 = x * x + y * y
    radial = 1 + k1 * r2 + k2 * r2 * r2
    return x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * x * x), y * radial + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y

@prog(args=[(18, 52, 86), (255, 0, 1)], persona="graphics")
def pack_rgb565(r: int, g: int, b: int):
    return (r >> 3) << 11 | (g >> 2) << 5 | b >> 3

@prog(args=[(18, 52, 86), (255, 0, 1)], persona="graphics")
def hex_colour(r: int, g: int, b: int):
    return "#%02x%02x%02x" % (r, g, b)

@prog(args=[(18, 52, 86)], persona="graphics")
def hex_colour_f(r: int, g: int, b: int):
    return f"#{r:02x}{g:02x}{b:02x}"

@prog(args=[(0.3, 0.8), (0.9, 0.1)], persona="graphics")
def smoothstep_blend(t: float, k: float):
    t = min(max(t, 0.0), 1.0)
    s = t * t * (3 - 2 * t)
    return s, (1 - s) * 0.2 + s * k

@prog(args=[(0.3,), (0.75,)], persona="graphics")
def bezier(t: Annotated[float, Reals(0, 1)]):
    p = ((0.0, 0.0), (0.2, 1.0), (0.7, 0.9), (1.0, 0.0))
    for _ in range(3):
        p = tuple((a[0] + (b[0]-a[0])*t, a[1] + (b[1]-a[1])*t) for a, b in zip(p, p[1:]))
    return p[0]

@prog(args=[(0.3,), (0.75,)], persona="graphics")
def bezier_plain(t: Annotated[float, Reals(0, 1)]):
    u = 1 - t
    return 3*u*u*t*0.2 + 3*u*t*t*0.7 + t**3, 3*u*u*t*1.0 + 3*u*t*t*0.9

@prog(args=[(0.4, 0.3), (1.0, 0.1)], persona="graphics")
def hit_sphere(dx: float, dy: float):
    """depth along a ray and shade of a sphere at (0, 0, 5), of radius 2; -1 where it is missed"""
    n = math.sqrt(dx*dx + dy*dy + 1)
    dx, dy, dz = dx/n, dy/n, 1/n
    b = 5 * dz
    disc = b*b - (25 - 4)
    if disc < 0:
        return -1.0, 0.0
    t = b - math.sqrt(disc)
    nx, ny, nz = t*dx/2, t*dy/2, (t*dz - 5)/2
    return t, max(0.0, (nx + ny - nz) / math.sqrt(3))
