"""The Python engine against native Python, on the kernels."""

import math
import time

from common.kernels import KERNELS, sines
from common.timing import interleaved, machine, ratio, spread, table

from overlay import Context, MethodTable

never = MethodTable("never")
never.overlay(math.gamma)(lambda x: x)

cubic = MethodTable("cubic")


@cubic.overlay(math.sin)
def cubic_sine(x: float):
    return x - x * x * x / 6


def by_hand(n):
    """The sines kernel with its call replaced by hand: the floor for an overlaid call."""
    total = 0.0
    for _ in range(n):
        total = total + cubic_sine(0.5)
    return total


def first_use(kernel, size):
    """Seconds that the first call in a new context takes beyond the second."""
    context = Context(never)
    start = time.perf_counter()
    context(kernel, size)
    middle = time.perf_counter()
    context(kernel, size)
    return (middle - start) - (time.perf_counter() - middle)


def main():
    print(machine())
    rows = [("kernel", "native ms", "never reached", "math.sin overlaid", "spread", "first use ms")]
    ratios = []
    for kernel, size in KERNELS.items():
        untouched, reached = Context(never).wrap(kernel), Context(cubic).wrap(kernel)
        assert untouched(size) == kernel(size)
        times = interleaved(
            {
                "native": lambda kernel=kernel, size=size: kernel(size),
                "never": lambda untouched=untouched, size=size: untouched(size),
                "reached": lambda reached=reached, size=size: reached(size),
            }
        )
        ratios.append(ratio(times, "never", "native"))
        rows.append(
            (
                kernel.__name__,
                f"{min(times['native']) * 1e3:.2f}",
                f"{ratios[-1]:.2f}",
                f"{ratio(times, 'reached', 'native'):.2f}",
                f"{max(map(spread, times.values())):.0%}",
                f"{first_use(kernel, size) * 1e3:.1f}",
            )
        )
    print(table(rows))
    print(f"geometric mean, never reached: {math.prod(ratios) ** (1 / len(ratios)):.2f}")
    times = interleaved({"native": lambda: sines(20_000), "by hand": lambda: by_hand(20_000)})
    print(f"the call of sines replaced by hand: {ratio(times, 'by hand', 'native'):.2f}")


if __name__ == "__main__":
    main()
