"""Random numeric programs: plain Python, and both engines, with tables and without."""

from collections import Counter
from dataclasses import asdict

from overlay import Context
from tests.fuzz.drawing import example
from tests.overlay.numeric_programs import METADATA, Body, Method, Program, programs

ARGUMENTS = [(x, n) for x in (0.5, -1.75, 3.0) for n in (0, 1, 5)]


def draw(seed):
    """A program with its methods, and arguments."""
    program = asdict(example(_strategy, seed))
    return {"program": program, "args": list(ARGUMENTS[seed % len(ARGUMENTS)])}


def _strategy(_batch):
    return programs()


def check(case):
    """Raises AssertionError if an engine returns another result than plain Python."""
    program, args = _program(case["program"]), case["args"]
    by_hand = repr(program.by_hand()(*args))
    main, tables = program.in_context()
    ctx = Context(*tables, metadata=METADATA)
    found = {"tables": by_hand, "interpreted": repr(ctx(main, *args))}
    found["compiled"] = repr(ctx.jit(main)(*args))
    assert len(set(found.values())) == 1, found
    plain = _program({**case["program"], "methods": []})
    by_hand = repr(plain.by_hand()(*args))
    main, _ = plain.in_context()
    without = Context(metadata=METADATA)
    found = {"no tables": by_hand, "interpreted": repr(without(main, *args))}
    found["compiled"] = repr(without.jit(main)(*args))
    assert len(set(found.values())) == 1, found
    return Counter({"programs": 1, "methods called": len(program.picked)})


def _program(data):
    methods = [
        Method(m["table"], m["target"], tuple(m["hints"]), Body(**m["body"]))
        for m in data["methods"]
    ]
    return Program(data["tables"], methods, Body(**data["source"]))
