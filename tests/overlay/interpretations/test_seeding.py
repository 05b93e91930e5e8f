import itertools
import random

import numpy as np
import pytest
from scipy import stats

from overlay.interpretations.seeding import seeded


class Loaded(random.Random):
    """A generator of a program's own."""


PROGRAMS = {
    "random": lambda: [random.random(), random.randint(1, 10**9), random.gauss(0, 1)],
    "choice": lambda: (random.choice(range(10**9)), random.sample(range(10**9), 3)),
    "shuffle": lambda: [xs := list(range(50)), random.shuffle(xs)],
    "bound": lambda draw=random.uniform: draw(0, 1),
    "Random()": lambda: [random.Random().random() for _ in range(2)],
    "subclass": lambda: Loaded().random(),
    "seed()": lambda: [random.seed(), random.random(), np.random.seed(), np.random.rand()],
    "legacy": lambda: [np.random.rand(), np.random.normal(size=3).tolist(), np.random.ranf()],
    "RandomState()": lambda: np.random.RandomState().rand(),
    "default_rng()": lambda: [np.random.default_rng().random() for _ in range(2)],
    "Generator": lambda: np.random.Generator(np.random.PCG64()).random(),
    "SeedSequence": lambda: np.random.default_rng(np.random.SeedSequence()).random(),
    "scipy": lambda: stats.norm.rvs(size=3).tolist(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_is_decided_by_its_seed(name):
    program = PROGRAMS[name]
    assert program() != program()
    run = seeded(1)
    first = run(program)
    assert run(program) == first
    assert seeded(1).wrap(program)() == first
    assert seeded(2)(program) != first


def test_the_global_generators_are_left_alone():
    random.seed(3)
    np.random.seed(3)
    before = random.getstate(), np.random.get_state()[1].tolist()

    def program():
        random.seed(5)
        np.random.seed(5)
        random.gauss(0, 1)
        random.shuffle(list(range(9)))
        np.random.normal()
        return random.random(), np.random.rand()

    assert seeded(1)(program) == seeded(2)(program)  # the program's own seeds
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


def test_seeds_that_the_program_gives_are_kept():
    def program():
        made = random.Random(7), np.random.default_rng(7), np.random.RandomState(seed=7)
        return [generator.random() for generator in made]

    assert seeded(1)(program) == program()


def test_generators_that_are_made_differ():
    def program():
        return [np.random.default_rng().random() for _ in range(5)] + [
            random.Random().random() for _ in range(5)
        ]

    assert all(a != b for a, b in itertools.combinations(seeded(1)(program), 2))


def test_states_are_those_of_the_run():
    def program():
        state = random.getstate()
        first = random.random()
        random.setstate(state)
        return first == random.random()

    assert seeded(1)(program)


def test_what_is_meant_to_be_secret_stays_random():
    assert seeded(1)(lambda: random.SystemRandom().random()) != seeded(1)(
        lambda: random.SystemRandom().random()
    )


def test_what_the_interpreter_calls_draws_from_the_run():
    class Throws:
        def __init__(self):
            self.left = 3

        def __iter__(self):
            return self

        def __next__(self):
            self.left -= 1
            if self.left < 0:
                raise StopIteration
            return random.random()

    def run():
        return list(Throws())

    assert seeded(0)(run) == seeded(0)(run) != seeded(1)(run)
