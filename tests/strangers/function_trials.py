"""The functions that autograd and JAX differentiate, differentiated in every mode, and compared
with finite differences.
"""

import importlib
import json
from collections import Counter
from pathlib import Path

import numpy as np

from tests.strangers.derivative_trials import judged, ways
from tests.strangers.differentiable_functions import ALIASES, AUTOGRAD, FORMS, JAX, WITHOUT

OUTCOMES = Path(__file__).with_name("function_outcomes.json")
COMPILED_OUTCOMES = Path(__file__).with_name("compiled_outcomes.json")
LISTS = {"autograd": AUTOGRAD, "jax": JAX}


def names_of(listed):
    """The names of a list, by the paths of their modules, as importable paths."""
    return [f"{module}.{name}" for module, names in listed.items() for name in names.split()]


def without():
    """The names that are not tried, with the reason."""
    found = {}
    for reason, names in WITHOUT.items():
        module = None
        for word in names.split():
            if word.endswith(":"):
                module = word[:-1]
            else:
                found[f"{module}.{word}"] = reason
    return found


def counted(listed):
    """The functions of a list that are tried, each once."""
    names = {ALIASES.get(name, name) for name in names_of(listed)}
    return [name for name in FORMS if name in names]


def outcomes():
    """The outcomes that the table holds: by function, by way."""
    return json.loads(OUTCOMES.read_text())


def compiled_outcomes():
    """The outcomes in compiled code: by function, for each form; None where numba does not compile
    the call itself."""
    return json.loads(COMPILED_OUTCOMES.read_text())


def compiled_share(found):
    """The number of forms that are right in compiled code, and of those that numba compiles."""
    said = [each for row in found.values() for each in row if each is not None]
    return said.count("right"), len(said)


def exists(path):
    """Whether the installed numpy or scipy has the function at a path."""
    parts = path.split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for name in parts[count:]:
            found = getattr(found, name, None)
        return found is not None
    return False


def program_of(form, args):
    """The function of the arguments that returns one number: the sum of the results of a form, each
    times a weight of its own."""
    shape = np.shape(form(*args))
    weights = 1.3 + np.sin(np.arange(float(np.prod(shape)))).reshape(shape)
    names = ", ".join("abcd"[: len(args)])
    weighed = f"weights * form({names})"
    # written out for each number of arguments: no adjoint can be generated for calls with *args
    space = {"np": np, "form": form, "weights": weights if shape else float(weights)}
    return eval(f"lambda {names}: {f'np.sum({weighed})' if shape else weighed}", space)


def tried(path, way):
    """The outcome of a function in one way: "right" if all its forms are, else the first that is
    not refused, or the refusal; "partly: " and the refusal if other forms are right."""
    said = [judged(program_of(form, args), way, *args) for form, *args in FORMS[path]]
    others = [each for each in said if each != "right"]
    if not others:
        return "right"
    failed = [each for each in others if not each.startswith("refused: ")]
    if failed:
        return failed[0]
    return others[0] if len(others) == len(said) else f"partly: {others[0]}"


def shares(found):
    """The share of functions that are right, in percent: by list, by way; with those of which only
    some forms are right beside it."""
    return {
        name: {way: _share([found[path][way] for path in counted(listed)]) for way in ways}
        for name, listed in LISTS.items()
    }


def _share(said):
    kinds = Counter(each.partition(":")[0] for each in said)
    return tuple(round(100 * kinds[kind] / len(said), 1) for kind in ("right", "partly"))


def table_of(found):
    """The shares as a table, for documents."""
    lines = [f"| List | {' | '.join(ways)} |", f"| --- |{' --- |' * len(ways)}"]
    for name, row in shares(found).items():
        cells = [f"{right} % (+{partly} % in some forms)" for right, partly in row.values()]
        lines.append(f"| {name}, {len(counted(LISTS[name]))} functions | {' | '.join(cells)} |")
    return "\n".join(lines)
