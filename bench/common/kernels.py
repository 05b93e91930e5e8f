"""Small pure-Python programs, each stressing one way of calling."""

import math


def fib(n):
    """Recursion through a global name."""
    return n if n < 2 else fib(n - 1) + fib(n - 2)


BODIES = (
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 39.478),
    (4.841, -1.160, -0.103, 0.606, 2.811, -0.025, 0.0377),
    (8.343, 4.124, -0.403, -1.010, 1.825, 0.008, 0.0113),
    (12.894, -15.111, -0.223, 1.082, 0.868, -0.010, 0.0017),
)


def nbody(steps, dt=0.01):
    """Arithmetic and subscripts, hardly a call."""
    bodies = [list(body) for body in BODIES]
    for _ in range(steps):
        for i, one in enumerate(bodies):
            for other in bodies[i + 1 :]:
                dx, dy, dz = one[0] - other[0], one[1] - other[1], one[2] - other[2]
                pull = dt * (dx * dx + dy * dy + dz * dz) ** -1.5
                to, back = other[6] * pull, one[6] * pull
                one[3], other[3] = one[3] - dx * to, other[3] + dx * back
                one[4], other[4] = one[4] - dy * to, other[4] + dy * back
                one[5], other[5] = one[5] - dz * to, other[5] + dz * back
        for body in bodies:
            for axis in range(3):
                body[axis] += dt * body[axis + 3]
    return bodies[0][0]


def fannkuch(n):
    """Loops over small integers, slices, and methods of lists."""
    order, count, most, r = list(range(n)), [0] * n, 0, n
    while True:
        while r > 1:
            count[r - 1] = r
            r -= 1
        flipped, flips = order[:], 0
        while first := flipped[0]:
            flipped[: first + 1] = flipped[first::-1]
            flips += 1
        most = max(most, flips)
        while r < n:
            order.insert(r, order.pop(0))
            count[r] -= 1
            if count[r] > 0:
                break
            r += 1
        else:
            return most
        r = max(r, 1)


class Task:
    """A queue of numbers that are worked on one at a time."""

    def __init__(self, number):
        self.number = number
        self.queue = []
        self.done = 0

    def push(self, value):
        self.queue.append(value)
        return self

    def step(self):
        if not self.queue:
            return 0
        value = self.queue.pop()
        self.done += value
        return self.work(value)

    def work(self, value):
        return value - 1


class Careful(Task):
    """A task that goes through its parent."""

    def work(self, value):
        return super().work(value) + 0


def tasks(rounds):
    """Methods, inheritance, super()."""
    everyone = [Task(0), Careful(1), Task(2)]
    total = 0
    for value in range(rounds):
        for task in everyone:
            left = task.push(value).step()
            if left > 0:
                everyone[task.number - 1].push(left)
            total += left
    return total


def sines(n):
    """A C function in a loop, as an attribute of its module."""
    total = 0.0
    for _ in range(n):
        total = total + math.sin(0.5)
    return total


def sine_of(x):
    """A helper between the loop and the C function."""
    return math.sin(x) * 2.0


def helped(n):
    """A helper in a loop."""
    total = 0.0
    for _ in range(n):
        total = total + sine_of(0.5)
    return total


def closures(n):
    """A function made and called at every turn."""
    total = 0
    for i in range(n):
        add = lambda x: x + i  # noqa: B023, E731
        total = total + add(1)
    return total


def local_callee(n, function=sine_of):
    """A callee that is known at run time only."""
    total = 0.0
    for _ in range(n):
        total = total + function(0.5)
    return total


def comprehensions(n):
    """Comprehensions and a generator expression with a call in each."""
    squares = [abs(x) for x in range(n)]
    return sum(abs(x) for x in squares), len({abs(x): x for x in squares})


KERNELS = {
    fib: 18,
    nbody: 300,
    fannkuch: 7,
    tasks: 3000,
    sines: 20_000,
    helped: 20_000,
    closures: 10_000,
    local_callee: 20_000,
    comprehensions: 10_000,
}
