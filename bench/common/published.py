"""The pure-Python kernels of pyperformance, from the installed package, at a small size."""

import importlib.metadata
import importlib.util
import io
import random
import sys
import types
from collections.abc import Callable
from types import ModuleType

from common.kernel import Kernel

__all__ = ["PUBLISHED"]

PUBLISHED: dict[str, Callable[[], Kernel]] = {}


def load(name: str) -> ModuleType:
    """The module of one benchmark, under a private name and separate from any other copy."""
    path = importlib.metadata.distribution("pyperformance").locate_file(
        f"pyperformance/data-files/benchmarks/bm_{name}/run_benchmark.py"
    )
    spec = importlib.util.spec_from_file_location(f"_pyperformance_{name}", str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def published(make):
    """Register a loader of a kernel, which returns its run, the probe, and its arity."""
    PUBLISHED[make.__name__] = lambda: Kernel(make.__name__, *make(load(make.__name__)))
    return make


class Drawn:
    """Replaces the name of a picture's output file, and stores the picture."""

    def __init__(self):
        self.picture = None


@published
def richards(m):
    return lambda: m.Richards().run(1), m.Task.runTask, 1


@published
def deltablue(m):
    def run():
        m.delta_blue(350)
        return m.planner.current_mark

    return run, m.EqualityConstraint.execute, 1


@published
def nbody(m):
    def run():
        bodies = [([*place], [*speed], mass) for place, speed, mass in m.SYSTEM]
        pairs = m.combinations(bodies)
        m.advance(0.01, 3000, bodies, pairs)
        return m.report_energy(bodies, pairs)

    return run, m.report_energy, 2


@published
def fannkuch(m):
    return lambda: m.fannkuch(8), m.fannkuch, 1


class Runner:
    """Takes the function to measure from a benchmark's own main function."""

    def __init__(self):
        self.metadata = {}
        self.function = None

    def bench_func(self, _, function, *args):
        self.function = function, args


@published
def chaos(m):
    runner, drawn = Runner(), Drawn()
    m.write_ppm = lambda image, drawn: setattr(drawn, "picture", image)
    m.main(
        runner,
        types.SimpleNamespace(
            thickness=0.25, width=64, height=64, iterations=800, filename=drawn, rng_seed=1234
        ),
    )
    draw, args = runner.function

    def run():
        draw(*args)
        return drawn.picture

    return run, m.Chaosgame.transform_point, 2


@published
def spectral_norm(m):
    def run():
        u = [1] * 80
        for _ in range(3):
            u = m.eval_AtA_times_u(m.eval_AtA_times_u(u))
        return u

    return run, m.eval_A, 2


@published
def raytrace(m):
    drawn = Drawn()
    m.Canvas.write_ppm = lambda canvas, drawn: setattr(drawn, "picture", canvas.bytes)

    def run():
        m.bench_raytrace(1, 20, 20, drawn)
        return drawn.picture

    return run, m.Sphere.intersectionTime, 2


@published
def pidigits(m):
    return lambda: m.calc_ndigits(500), m.compose, 2


@published
def hexiom(m):
    def run():
        board, _ = m.LEVELS[25]
        output = io.StringIO()
        for _ in range(2):
            m.solve_file(board.strip(), m.Done.FIRST_STRATEGY, m.DESCENDING, output)
        return output.getvalue()

    return run, m.Done.already_done, 2


@published
def go(m):
    m.GAMES = 14

    def run():
        return m.versus_cpu(), random.random()

    return run, m.Square.move, 2


@published
def generators(m):
    def run():
        total = 0
        for value in m.tree(range(10_000)):
            total += value
        return total

    return run, m.tree, 1


@published
def coroutines(m):
    def run():
        coroutine = m.fibonacci(23)
        try:
            coroutine.send(None)
        except StopIteration as stop:
            return stop.value

    return run, m.fibonacci, 1


@published
def unpack_sequence(m):
    def run():
        m.do_unpacking(700, tuple(range(10)))
        m.do_unpacking(700, list(range(10)))

    return run, m.do_unpacking, 2
