"""Pictures of the gallery of inverse problems.

A function for each problem that has a picture, with the problem's name: it draws the problem's
values into axes, and its docstring is the alternative text.
"""

import math
from typing import Any

import matplotlib
import numpy as np

COLOURS = ("#1f6f8b", "#d1603d", "#7a8b3c", "#6a4c93")
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "inverse problems",  # equal pictures are equal files
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": matplotlib.cycler("color", COLOURS),
    "figure.facecolor": "white",
    "legend.frameon": False,
}


def _curve(axes: Any, x: Any, f: Any, level: float, found: Any) -> None:
    """A function, the level that was asked for, and where it is met."""
    axes.plot(x, [f(float(value)) for value in x])
    axes.axhline(level, color="#999999", linewidth=1)
    axes.plot(found, [level] * len(found), "o", color=COLOURS[1])
    for value in found:
        axes.annotate(f"{value:.4g}", (value, level), (4, 6), textcoords="offset points")


def scara_arm(p: dict[str, Any], axes: Any) -> None:
    """An arm of two links from above, in two poses that end in one point: the elbow is below the
    line to the point, or above it."""
    for shoulder, elbow, _ in p["answers"]:
        xs = [0, 0.4 * math.cos(shoulder), p["point"][0]]
        ys = [0, 0.4 * math.sin(shoulder), p["point"][1]]
        axes.plot(xs, ys, "o-", linewidth=3, label=f"elbow {elbow:+.3f}")
    axes.plot(*p["point"][:2], "*", color=COLOURS[3], markersize=13)
    axes.set(aspect="equal", xlabel="x in m", ylabel="y in m")
    axes.legend(bbox_to_anchor=(1.02, 1), loc="upper left")


def kepler(p: dict[str, Any], axes: Any) -> None:
    """The eccentric anomaly over the mean anomaly, for three eccentricities: the more
    eccentric, the steeper the curve is at first. The answer is marked on that for 0.9."""
    for e in (0.1, 0.5, 0.9):
        eccentric = np.linspace(0, 2 * np.pi, 200)
        axes.plot(eccentric - e * np.sin(eccentric), eccentric, label=f"e = {e}")
        axes.plot(p["means"], p["curves"][e], ".", color="#555555", markersize=5)
    axes.plot(0.2, p["answers"][0][0], "*", color=COLOURS[3], markersize=12)
    axes.set(xlabel="mean anomaly", ylabel="eccentric anomaly")
    axes.legend()


def orbit_from_state(p: dict[str, Any], axes: Any) -> None:
    """The ellipse of a satellite around the earth, which is in one focus; the satellite is marked,
    with an arrow for its velocity."""
    q, e, anomaly = p["answers"][0]
    turns = np.linspace(0, 2 * np.pi, 300)
    r = q / (1 + e * np.cos(turns))
    axes.fill(6371 * np.cos(turns), 6371 * np.sin(turns), color="#cfe3ea")
    axes.plot(r * np.cos(turns), r * np.sin(turns))
    x, y = (7000 * f(anomaly) for f in (math.cos, math.sin))
    k = math.sqrt(p["MU"] / q)
    axes.plot(x, y, "o", color=COLOURS[1])
    axes.arrow(
        x, y, -350 * k * math.sin(anomaly), 350 * k * (e + math.cos(anomaly)),
        color=COLOURS[1], width=60, head_width=450,
    )  # fmt: skip
    axes.set(aspect="equal", xlabel="km", ylabel="km")


def thin_lens(p: dict[str, Any], axes: Any) -> None:
    """The curvature of the back over that of the front, for all lenses with this image: a straight
    line, with the four answers on it."""
    fronts = np.linspace(-0.004, 0.015, 50)
    power = (1 / 200 + 1 / 300) / 0.5168
    axes.plot(1000 * fronts, 1000 * (fronts - power), color="#999999")
    for front, back in p["answers"]:
        axes.plot(1000 / front, 1000 / back, "o", label=f"radii {front:.0f} and {back:.0f} mm")
    axes.set(xlabel="curvature of the front in 1/m", ylabel="of the back in 1/m")
    axes.legend()


def snell_prism(p: dict[str, Any], axes: Any) -> None:
    """The deviation over the incidence has a minimum of 37 degrees; the level of 40 degrees is met
    on both sides of it, that of 35 nowhere."""
    x = np.linspace(30, 89, 200)
    _curve(
        axes, x, lambda i: math.degrees(p["deviation"](math.radians(i))), 40,
        [math.degrees(a) for (a,) in p["answers"]],
    )  # fmt: skip
    axes.axhline(35, color="#999999", linewidth=1, linestyle=":")
    axes.set(xlabel="incidence in degrees", ylabel="deviation in degrees")


def camera_distortion(p: dict[str, Any], axes: Any) -> None:
    """A square grid as a photograph shows it, and where its points are without the distortion
    of the lens: further out, the more so at the corners."""
    for y in p["grid"]:
        for x in p["grid"]:
            u, v = p["ideal"]((float(x), float(y)))
            axes.plot([x, u], [y, v], color="#bbbbbb", linewidth=1)
            axes.plot(x, y, "s", color=COLOURS[0], markersize=4)
            axes.plot(u, v, "o", color=COLOURS[1], markersize=4)
    axes.plot([], [], "s", color=COLOURS[0], markersize=4, label="seen")
    axes.plot([], [], "o", color=COLOURS[1], markersize=4, label="ideal")
    axes.set(aspect="equal", xlabel="x", ylabel="y")
    axes.legend(bbox_to_anchor=(1.02, 1), loc="upper left")


def cie_lab(p: dict[str, Any], axes: Any) -> None:
    """The plane of a* and b* at L* = 60, each point in the colour that a display shows there;
    what no display can show is grey. The answer is marked."""
    span = range(-80, 81, 8)
    image = np.full((len(span), len(span), 3), 0.85)
    for row, b in enumerate(span):
        for column, a in enumerate(span):
            rgb = np.array(p["colour"]((60.0, float(a), float(b))))
            if rgb.min() >= 0 and rgb.max() <= 1:
                image[row, column] = 1.055 * np.maximum(rgb, 0.0031308) ** (1 / 2.4) - 0.055
    axes.imshow(image, origin="lower", extent=(-84, 84, -84, 84))
    axes.plot(30, 40, "o", markersize=7, markerfacecolor="none", markeredgecolor="black")
    axes.set(xlabel="a*", ylabel="b*")


def srgb_gamma(p: dict[str, Any], axes: Any) -> None:
    """The light of each number in a file: a curve that starts flat, and passes 0.22 at the
    middle."""
    values = np.linspace(0, 255, 256)
    axes.plot(values, p["linear"].batch(values)[0])
    axes.plot(128, p["answers"][0][0], "o")
    axes.set(xlabel="number in the file", ylabel="light")


def implied_volatility(p: dict[str, Any], axes: Any) -> None:
    """The price of the option over its volatility: almost a straight line; the level of 4.2 is
    met at 0.208."""
    x = np.linspace(0.01, 0.8, 100)
    _curve(axes, x, lambda v: p["call"](100.0, 105.0, 0.5, 0.02, v), 4.2, p["answers"][0])
    axes.set(xlabel="volatility", ylabel="price")


def bond_yield(p: dict[str, Any], axes: Any) -> None:
    """The price of the bond falls as its yield grows; the price of 93.2 is met at 5.39 %."""
    _curve(axes, np.linspace(0, 0.15, 80), p["price"], 93.2, p["answers"][0])
    axes.set(xlabel="yield", ylabel="price")


def buffer_ph(p: dict[str, Any], axes: Any) -> None:
    """A curve of titration: the pH grows slowly, jumps by six where 25 ml have been added, and is
    flat again. The answer is marked on the slow part."""
    ph = np.linspace(2.9, 12.2, 300)
    axes.plot([p["base_added"](float(value)) for value in ph], ph)
    axes.plot(20, p["answers"][0][0], "o")
    axes.set(xlabel="base added in ml", ylabel="pH", xlim=(0, 40))


def oral_dose(p: dict[str, Any], axes: Any) -> None:
    """The level in the blood rises to 8 mg/l in two hours, and falls slowly; 4 mg/l are met on
    both sides of the top."""
    _curve(axes, np.linspace(0, 24, 200), p["level"], 4, [a for (a,) in p["answers"]])
    axes.set(xlabel="hours", ylabel="mg/l")


def normal_quantile(p: dict[str, Any], axes: Any) -> None:
    """A distribution function, an S from 0 to 1; the level of 0.975 is met at 129.4."""
    _curve(axes, np.linspace(50, 150, 100), p["sizes"].cdf, 0.975, p["answers"][0])
    axes.axvspan(p["box"].low, p["box"].high, color="#eeeeee")
    axes.set(xlabel="size", ylabel="share below it")


def gelu(p: dict[str, Any], axes: Any) -> None:
    """The activation dips below 0 left of the origin; the level of -0.1 is met on both sides of the
    dip, that of -0.2 nowhere."""
    _curve(axes, np.linspace(-4, 1, 200), p["gelu"], -0.1, [a for (a,) in p["answers"]])
    axes.axhline(-0.2, color="#999999", linewidth=1, linestyle=":")
    axes.set(xlabel="x", ylabel="gelu(x)", ylim=(-0.3, 0.5))


def normalising_flow(p: dict[str, Any], axes: Any) -> None:
    """The density after the layer, as rings of equal height: a bell that is pulled out sideways,
    with its top left of the middle; the point that was asked for lies above."""
    x = np.linspace(-3.5, 3.5, 36)
    density = [[math.exp(p["log_density"]((float(a), float(b)))) for a in x] for b in x]
    axes.contourf(x, x, density, 10, cmap="viridis")
    axes.plot(0.5, 1.5, "o", color="white")
    axes.set(aspect="equal", xlabel="first", ylabel="second")


def hit_points(p: dict[str, Any], axes: Any) -> None:
    """The pairs of individual value and effort that show 175 hit points: two lines of dots that
    fall, one beside the other."""
    axes.plot(*zip(*p["answers"], strict=True), "o", markersize=4)
    axes.set(xlabel="individual value", ylabel="effort in fours")


def bent_note(p: dict[str, Any], axes: Any) -> None:
    """The frequencies that each key reaches by bending, as bars on a logarithmic scale; four bars
    cross the level of 450 Hz, each at another place."""
    for key in range(65, 75):
        low, high = (p["frequency"](key, bend) for bend in (-2, 2))
        axes.plot([key, key], [low, high], color="#c5d7de", linewidth=7, solid_capstyle="butt")
    axes.axhline(450, color="#999999", linewidth=1)
    for key, bend in p["answers"]:
        axes.plot(key, 450, "o", color=COLOURS[1])
        axes.annotate(
            f"{bend:+.2f}", (key, 450), (0, 7), textcoords="offset points", ha="center", fontsize=7
        )
    axes.set(
        xlabel="key", ylabel="Hz", yscale="log", yticks=[350, 440, 550], yticklabels=[350, 440, 550]
    )
    axes.minorticks_off()
