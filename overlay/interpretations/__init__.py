"""Nonstandard interpretations: small libraries on the public API of ``overlay``.

Each is a module or package of its own and is imported by its name:
``from overlay.interpretations.autodiff import derivative``.

``memoisation``: caches results of functions of a program.
``mocks``: mocks confined to one thread or task.
``profiling``: a call profiler: number and duration of calls, by function and the types of its
arguments.
``sandbox``: refuses chosen calls of a program.
``seeding``: reproducible runs of programs with random numbers.
``tracing``: every call of a run as a tree.
``first_nan``: locates the first NaN or infinity that a program produces, interpreted or compiled.
``intervals``: programs run on intervals, with results that enclose all real results.
``parallel``: automatic parallelism: independent calls of unmodified code run concurrently.
``precision``: code run in single precision, and with random rounding.
``printing``: output of a program: collected, suppressed, or sliced out with the computations only
it needs.
``probabilistic``: choices and observations in plain Python, with interpretations that simulate,
score, condition and infer.
``record_replay``: records the results of chosen calls of a run, and replays the run without
making these calls.
``tagging``: value tagging: values carry metadata through a program that is unaware of it.
``batching``: functions of one sample, run for many samples at once.
"""

from overlay.core.late_binding import lazy_names

__getattr__, __dir__ = lazy_names(
    __name__,
    {},
    modules=(
        *("autodiff", "batching", "first_nan", "intervals", "memoisation", "mocks", "parallel"),
        *("precision", "printing", "probabilistic", "profiling", "record_replay", "sandbox"),
        *("seeding", "tagging", "tracing"),
    ),
)
