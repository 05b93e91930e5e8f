"""Measures from the figures of benchmarks: for each case its value and its relative spread."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["MEASURES", "Cases"]

Figures = Mapping[str, Any]
Cases = dict[str, tuple[float, float]]
Measure = Callable[[Figures], Cases]

MEASURES: dict[tuple[str, str], Measure] = {}


def measure(bench: str) -> Callable[[Measure], Measure]:
    """Register a function as a measure of a benchmark, under its name."""

    def register(function: Measure) -> Measure:
        MEASURES[bench, function.__name__] = function
        return function

    return register


def one(value: float) -> Cases:
    return {"": (value, 0.0)}


# ---- Python engine -------------------------------------------------------------------------


def of_kernels(name: str) -> Measure:
    def measured(figures: Figures) -> Cases:
        return {row["kernel"]: (row[name], row["spreads"][name]) for row in figures["kernels"]}

    return measured


MEASURES["python_engine", "never"] = of_kernels("never")
MEASURES["python_engine", "reached"] = of_kernels("reached")


@measure("python_engine")
def each_call(figures: Figures) -> Cases:
    often = [row for row in figures["kernels"] if row["calls"] >= 1000]
    return {row["kernel"]: (row["each"], row["spreads"]["reached"]) for row in often}


@measure("python_engine")
def by_hand(figures: Figures) -> Cases:
    return {row["kernel"]: (row["by_hand"], 0.0) for row in figures["kernels"] if row["by_hand"]}


@measure("python_engine")
def other_calls(figures: Figures) -> Cases:
    counted = [row for row in figures["kernels"] if row["native_calls"] is not None]
    return {row["kernel"]: (float(row["calls"] != row["native_calls"]), 0.0) for row in counted}


@measure("python_engine")
def first_use(figures: Figures) -> Cases:
    uses = figures["first use"]
    lines = sum(use["lines"] for use in uses)
    return one(sum(use["seconds"] for use in uses) / lines * 100)


@measure("python_engine")
def kept(figures: Figures) -> Cases:
    return {what: (float(not gone), 0.0) for what, gone in figures["memory"]["gone"].items()}


@measure("python_engine")
def kept_bytes(figures: Figures) -> Cases:
    return one(figures["memory"]["bytes"])


@measure("python_engine")
def kept_objects(figures: Figures) -> Cases:
    return one(figures["memory"]["objects"])


@measure("python_engine")
def programs(figures: Figures) -> Cases:
    return {row["kernel"]: (1.0, 0.0) for row in figures["kernels"]}


@measure("python_engine")
def entry(figures: Figures) -> Cases:
    found = figures["entry ns"]
    return {
        name: ((found[name] - found["call"]) * 1e-9, found["spread"])
        for name in ("ctx(f)", "ctx.wrap(f)()", "with ctx")
    }


@measure("python_engine")
def new_context(figures: Figures) -> Cases:
    return one(figures["entry ns"]["new context"] * 1e-9)


def of_outside(state: str, python: bool) -> Measure:
    def measured(figures: Figures) -> Cases:
        return {
            each["kind"]: (each[state] * 1e-9, each["spread"])
            for each in figures["outside"]
            if each["python"] == python
        }

    return measured


for state in ("held", "released"):
    MEASURES["python_engine", f"{state}_c"] = of_outside(state, python=False)
    MEASURES["python_engine", f"{state}_python"] = of_outside(state, python=True)
for (bench, name), each in list(MEASURES.items()):
    if bench == "python_engine":
        MEASURES["python_engine_newest", name] = each


def of_operators(name: str) -> Measure:
    def measured(figures: Figures) -> Cases:
        rows = figures["kernels"]
        return {row["kernel"]: (row["ratios"][name], row["spreads"][name]) for row in rows}

    return measured


for table in ("not applied", "applied", "four applied"):
    for bench in ("operators", "operators_newest"):
        MEASURES[bench, table] = of_operators(table)


# ---- generic functions -----------------------------------------------------------------------

NATIVE = "direct call"
IN_CONTEXT = ("ours, ctx", "ours, with")


def is_peer(name: str) -> bool:
    return name != NATIVE and not name.startswith("ours")


def of_calls(
    against: Callable[[Figures], Figures], which: tuple[str, ...], turned: bool = False
) -> Measure:
    """The cost of each of our variants of a call, relative to a selected other one, or the inverse
    ratio."""

    def measured(figures: Figures) -> Cases:
        cases: Cases = {}
        for arity in ("1", "2"):
            to = against(figures[arity])
            for name, ours in figures[arity].items():
                if name.startswith(which):
                    value = to["ns"] / ours["ns"] if turned else ours["ns"] / to["ns"]
                    cases[f"{name}, {arity}"] = value, max(ours["spread"], to["spread"])
        return cases

    return measured


def best_peer(found: Figures) -> Figures:
    return min((each for name, each in found.items() if is_peer(name)), key=lambda each: each["ns"])


MEASURES["dispatch", "to_best_peer"] = of_calls(best_peer, IN_CONTEXT)
MEASURES["dispatch", "plum_to_ours"] = of_calls(lambda found: found["plum"], IN_CONTEXT, True)
MEASURES["dispatch", "to_direct"] = of_calls(lambda found: found[NATIVE], ("ours",))

# ---- compiled engine ---------------------------------------------------------------------------


def ratios(rows: Iterable[Figures], chosen: str = "") -> Cases:
    """The ratios of the rows whose case contains a text."""
    return {
        row["case"]: (row["ratio"], max(row["spread"], row["noise"]))
        for row in rows
        if chosen in row["case"]
    }


def of_rows(key: str, chosen: str = "") -> Measure:
    return lambda figures: ratios(figures[key], chosen)


MEASURES["compiled_engine", "never"] = of_rows("programs", "never reached")
MEASURES["compiled_engine", "overlaid"] = of_rows("programs", "overlaid")
MEASURES["compiled_engine", "entry"] = of_rows("entry")
MEASURES["compiled_engine", "layers"] = of_rows("layers", "running")
MEASURES["compiled_engine", "methods"] = of_rows("methods", "running")
MEASURES["compiled_engine", "nesting"] = of_rows("nesting", "running")


@measure("compiled_engine")
def compiling(figures: Figures) -> Cases:
    rows = (figures[key] for key in ("compiling", "layers", "methods", "nesting"))
    return {case: each for found in rows for case, each in ratios(found, "compiling").items()}


@measure("compiled_engine")
def other_instructions(figures: Figures) -> Cases:
    return {
        row["case"]: (float(row["instructions"][0] != row["instructions"][1]), 0.0)
        for row in figures["programs"]
        if "never reached" in row["case"]
    }


@measure("compiled_engine")
def additional_instructions(figures: Figures) -> Cases:
    return {
        row["case"]: (float(row["additional"] > 0), 0.0)
        for row in figures["programs"]
        if row["additional"] is not None
    }


@measure("compiled_engine")
def context(figures: Figures) -> Cases:
    found = figures["contexts"]
    return one(found["made"] + found["first use beyond njit"])


@measure("compiled_engine")
def graph_cold(figures: Figures) -> Cases:
    return one(figures["graph"]["cold ratio"])


@measure("compiled_engine")
def graph_warm(figures: Figures) -> Cases:
    stages = figures["graph"]["stages"]
    return one(stages["a new context that overlays three"][0] / stages["cold, njit"][0])


@measure("compiled_engine")
def graph_others(figures: Figures) -> Cases:
    return one(figures["graph"]["stages"]["a new context that overlays three"][1])


@measure("compiled_engine")
def graph_needless(figures: Figures) -> Cases:
    return one(figures["graph"]["needless"])


MEASURES["barrier", "seen"] = of_rows("seen")


@measure("barrier")
def first(figures: Figures) -> Cases:
    found = figures["unseen"]
    return one(found["interpreted, first"] / found["found, fourth"])


@measure("barrier")
def from_python(figures: Figures) -> Cases:
    found = figures["from Python"]
    return one(found["changing"] / found["made before"])


@measure("choosing")
def compiled(figures: Figures) -> Cases:
    return {tool: (each["compiled"], each["spread"]) for tool, each in figures["ways"].items()}


# ---- inverses ----------------------------------------------------------------------------------


def of_ways(title: str, one: str, to: str) -> Measure:
    """The ratio of the medians of two variants, for each program."""

    def measured(figures: Figures) -> Cases:
        return {
            program: (
                ways[one]["median"] / ways[to]["median"],
                max(ways[one]["spread"], ways[to]["spread"]),
            )
            for program, ways in figures[title].items()
            if one in ways and to in ways
        }

    return measured


BATCH, CALL, FIRST = "A million elements", "A scalar call", "To the first answer"
MEASURES["inverses", "batch_to_oryx"] = of_ways(BATCH, "ours", "Oryx, jitted")
MEASURES["inverses", "batch_to_hand"] = of_ways(BATCH, "ours", "by hand")
MEASURES["inverses", "oryx_to_call"] = of_ways(CALL, "Oryx, jitted", "compiled")
MEASURES["inverses", "call_to_hand"] = of_ways(CALL, "compiled", "by hand")
MEASURES["inverses", "oryx_to_first"] = of_ways(FIRST, "Oryx, jitted", "interpreted")
MEASURES["inverses", "compiled_to_oryx"] = of_ways(FIRST, "compiled", "Oryx, jitted")


MEASURES["systems", "to_scipy"] = of_ways("systems", "ours", "allowed")


@measure("inverses")
def first_answer(figures: Figures) -> Cases:
    return {
        program: (ways["interpreted"]["median"], ways["interpreted"]["spread"])
        for program, ways in figures[FIRST].items()
    }


@measure("inverses")
def plan(figures: Figures) -> Cases:
    return {shape: (found["1000"], 0.0) for shape, found in figures["Planning"].items()}


@measure("inverses")
def plan_exponent(figures: Figures) -> Cases:
    return {shape: (found["exponent"], 0.0) for shape, found in figures["Planning"].items()}


# ---- derivatives -------------------------------------------------------------------------------

MEASURES["derivatives", "forward"] = of_rows("rows")
MEASURES["derivatives", "reverse"] = of_rows("reverse")


def of_peers(name: str) -> Measure:
    """The ratio of a peer's time to ours for the gradients."""

    def measured(figures: Figures) -> Cases:
        pairs = zip(figures["reverse"], figures["peers"], strict=True)
        return {
            row["case"]: (peers[name] / row["ratio"], row["spread"])
            for row, peers in pairs
            if name in peers
        }

    return measured


MEASURES["derivatives", "jax_to_reverse"] = of_peers("JAX")
MEASURES["derivatives", "autograd_to_reverse"] = of_peers("autograd")
MEASURES["derivatives", "differences_to_reverse"] = of_peers("finite differences")


@measure("derivatives")
def runs(figures: Figures) -> Cases:
    pairs = zip(figures["reverse"], figures["peers"], strict=True)
    return {row["case"]: (peers["function"], row["spread"]) for row, peers in pairs}


@measure("derivatives")
def to_jax(figures: Figures) -> Cases:
    pairs = zip(figures["rows"], figures["jax"], strict=True)
    return {row["case"]: (row["ratio"] / jax, row["spread"]) for row, jax in pairs if jax}


@measure("derivatives")
def jax_to_written(figures: Figures) -> Cases:
    """The ratio of JAX's time to ours for the gradients of programs as they are written."""
    return {
        row["case"]: (row["seconds"]["JAX"] / row["seconds"]["compiled"], row["spread"])
        for row in figures["as written"]
        if "JAX" in row["seconds"]
    }


# ---- compile time ------------------------------------------------------------------------------


def first_answers(title: str, peer: str = "") -> Measure:
    """Seconds from a program to its first compiled answer; to a peer, the ratio to the peer's."""

    def measured(figures: Figures) -> Cases:
        return {
            case: (
                each["ours"]["median"] / (each[peer]["median"] if peer else 1.0),
                each["ours"]["spread"],
            )
            for case, each in figures[title].items()
            if not peer or peer in each
        }

    return measured


MEASURES["compile_time", "gradients"] = first_answers("Gradients")
MEASURES["compile_time", "gradients_to_jax"] = first_answers("Gradients", "JAX")
MEASURES["compile_time", "gradients_to_numba"] = first_answers("Gradients", "numba, the function")
MEASURES["compile_time", "inverses"] = first_answers("Inverses")
MEASURES["compile_time", "from_disk"] = first_answers("Code from disk", "numba, by hand")


# ---- interpretations ---------------------------------------------------------------------------


@measure("parallel")
def loops(figures: Figures) -> Cases:
    return {row["case"]: (row["ratio"], row["spread"]) for row in figures["rows"]}


@measure("parallel")
def to_pool(figures: Figures) -> Cases:
    rows = figures["rows"]
    return {row["case"]: (row["to_pool"], row["spread"]) for row in rows if row["to_pool"]}


@measure("probabilistic")
def full_to_step(figures: Figures) -> Cases:
    return {
        f"{row['case']}, {row['sites']}": (row["ratio"], row["spread"]) for row in figures["rows"]
    }


@measure("probabilistic")
def step_to_full(figures: Figures) -> Cases:
    return {name: (1 / ratio, spread) for name, (ratio, spread) in full_to_step(figures).items()}


@measure("probabilistic")
def step_growth(figures: Figures) -> Cases:
    rows: dict[str, list[Figures]] = {}
    for row in figures["rows"]:
        rows.setdefault(row["case"], []).append(row)
    return {
        case: (each[-1]["ours"] / each[0]["ours"], max(row["spread"] for row in each))
        for case, each in rows.items()
        if len(each) > 1
    }


@measure("probabilistic")
def compiled_step_to_full(figures: Figures) -> Cases:
    return {
        f"{row['sines']} sines for each observation, {row['sites']}": (row["ratio"], row["spread"])
        for row in figures["compiled"]
    }


@measure("growth")
def growth(figures: Figures) -> Cases:
    """The cost at the largest size, relative to the least."""
    cases: Cases = {}
    for row in figures["rows"]:
        sizes = list(row["ours"].values())
        value = sizes[-1]["median"] / sizes[0]["median"]
        cases[f"{row['grows']}: {row['what']}"] = value, max(each["spread"] for each in sizes)
    return cases


@measure("growth")
def largest(figures: Figures) -> Cases:
    """The largest size."""
    rows = figures["rows"]
    return {f"{row['grows']}: {row['what']}": (max(map(int, row["ours"])), 0.0) for row in rows}


# ---- stored figures ----------------------------------------------------------------------------


def of_versions(*names: str, to: str = "") -> Measure:
    """The sum of these totals for each version, or its share of another total."""

    def measured(figures: Figures) -> Cases:
        totals = {python: each["totals"] for python, each in figures["versions"].items()}
        return {
            python: (sum(each[name] for name in names) / (each[to] if to else 1), 0.0)
            for python, each in totals.items()
        }

    return measured


MEASURES["conformance", "modules"] = of_versions("modules")
MEASURES["conformance", "exact"] = of_versions("functions exact (context)")
MEASURES["conformance", "unexplained"] = of_versions("unexplained", "crashes")
MEASURES["conformance", "modules_the_same"] = of_versions("the same (context)", to="modules")


@measure("conformance")
def inexact(figures: Figures) -> Cases:
    exact = of_versions("functions exact (context)")(figures)
    return {
        python: (functions - exact[python][0], 0.0)
        for python, (functions, _) in of_versions("functions")(figures).items()
    }


def of_kinds(name: str) -> Measure:
    return lambda figures: {kind: (row[name], 0.0) for kind, row in figures["kinds"].items()}


def of_times(what: str, which: str) -> Measure:
    return lambda figures: {
        kind: (row[what][which], 0.0) for kind, row in figures["kinds"].items() if what in row
    }


def of_shares(name: str, to: str = "") -> Measure:
    """A share for each kind where it is known, or its ratio to another one."""
    return lambda figures: {
        kind: (row[name] / (row[to] if to else 1), 0.0)
        for kind, row in figures["kinds"].items()
        if name in row
    }


MEASURES["levels", "overlays"] = of_shares("overlays alone")
MEASURES["levels", "relations"] = of_shares("with the relations")
MEASURES["levels", "whole"] = of_shares("whole")
MEASURES["random_programs", "answered"] = of_shares("answered")
MEASURES["random_programs", "recovered"] = of_shares("own arguments found again", to="answered")
MEASURES["random_programs", "theta"] = of_shares("random θ answered")
MEASURES["random_programs", "tried"] = of_kinds("tried")
MEASURES["random_programs", "invert_median"] = of_times("to invert", "median")
MEASURES["random_programs", "invert_longest"] = of_times("to invert", "longest")
MEASURES["random_programs", "compile_longest"] = of_times("to compile", "longest")
MEASURES["random_programs", "wrong"] = of_kinds("wrong")


@measure("imports")
def imported(figures: Figures) -> Cases:
    return {row["module"]: (row["seconds"], row["spread"]) for row in figures["rows"]}


@measure("imports")
def imported_to_numpy(figures: Figures) -> Cases:
    found = imported(figures)
    seconds, spread = found["numpy"]
    return {name: (value / seconds, other + spread) for name, (value, other) in found.items()}


def of_cases(name: str) -> Measure:
    """One ratio for each case of the benchmark of scaling."""

    def measured(figures: Figures) -> Cases:
        return {row["case"]: (row[name], row["spreads"][name]) for row in figures["rows"]}

    return measured


MEASURES["scaling", "gain"] = of_cases("gain")
MEASURES["scaling", "work"] = of_cases("work")


def of_rows_in(key: str, name: str) -> Measure:
    """A count for each row that has it, or the length of a list."""

    def measured(figures: Figures) -> Cases:
        values = {row: each[name] for row, each in figures[key].items() if name in each}
        return {
            row: (float(len(value) if isinstance(value, list) else value), 0.0)
            for row, value in values.items()
        }

    return measured


MEASURES["fuzz", "cases"] = of_rows_in("kinds", "cases")
MEASURES["fuzz", "failed"] = of_rows_in("kinds", "failed")
MEASURES["soak", "contexts"] = of_rows_in("parts", "contexts")
MEASURES["soak", "calls"] = of_rows_in("parts", "calls")
MEASURES["soak", "tasks"] = of_rows_in("parts", "tasks")
MEASURES["soak", "wrong"] = of_rows_in("parts", "wrong")
MEASURES["mutation", "survivors"] = of_rows_in("cores", "survivors")


def of_memory(name: str) -> Measure:
    """The growth from the second to the last sample, after warm-up."""
    return lambda figures: {
        part: (looks[-1][name] - looks[1][name], 0.0)
        for part, each in figures["parts"].items()
        for looks in [each["memory"]]
    }


MEASURES["soak", "growth_in_megabytes"] = of_memory("megabytes")
MEASURES["soak", "growth_in_objects"] = of_memory("objects")


@measure("soak")
def pace(figures: Figures) -> Cases:
    found = figures["parts"]["redefinitions"]
    return one(found["seconds"] / found["redefinitions"])


def of_packages(name: str) -> Measure:
    return lambda figures: {each: (row[name], 0.0) for each, row in figures["packages"].items()}


MEASURES["coverage", "lines"] = of_packages("lines")
MEASURES["coverage", "branches"] = of_packages("branches")


def of_lists(way: str) -> Measure:
    """The share of the functions on a library's list whose derivatives are right in all forms."""

    def measured(figures: Figures) -> Cases:
        return {name: (each[way], 0.0) for name, each in figures["lists"].items()}

    return measured


for _way in ("forward", "reverse", "compiled"):
    MEASURES["derivative_coverage", _way] = of_lists(_way)


@measure("packages")
def the_same(figures: Figures) -> Cases:
    return {
        name: (float(not (row["failed natively"] or row["differ"] or row["other counts"])), 0.0)
        for name, row in figures["packages"].items()
    }


def of_programs(name: str, among: str) -> Measure:
    """The share of programs to be inverted that have this outcome, in the last run."""

    def measured(figures: Figures) -> Cases:
        counts = figures["runs"]["now"]
        return one(counts[name] / counts[among])

    return measured


MEASURES["programs_to_invert", "accepted"] = of_programs("accepted", "programs")
MEASURES["programs_to_invert", "answered"] = of_programs("answered without θ", "accepted")


def wrong(figures: Figures) -> Cases:
    """Programs with a wrong answer, in each run."""
    return {run: (each["wrong"], 0.0) for run, each in figures["runs"].items()}


MEASURES["programs_to_invert", "wrong"] = wrong
MEASURES["derivative_programs", "wrong"] = wrong


@measure("derivative_programs")
def every(figures: Figures) -> Cases:
    """The share of programs whose derivatives are right in every way, in the last run."""
    counts = figures["runs"]["now"]
    return one(counts["in every way"] / counts["programs"])


# ---- runs of the tests -------------------------------------------------------------------------


def minor(version: str) -> int:
    return int(version.split(".")[1])


@measure("tests")
def failed(figures: Figures) -> Cases:
    return {run: (each["failed"], 0.0) for run, each in figures["runs"].items()}


@measure("tests")
def pythons(figures: Figures) -> Cases:
    return one(len({minor(each["python"]) for each in figures["runs"].values()}))


@measure("tests")
def numbas(figures: Figures) -> Cases:
    """The number of minor versions from the oldest to the newest."""
    found = [minor(each["numba"]) for each in figures["runs"].values()]
    return one(max(found) - min(found))


@measure("tests")
def taken_by_tests(figures: Figures) -> Cases:
    """The time of the quick and the long tests and the examples, for each Python and numba
    together."""
    cases: dict[str, float] = {}
    for each in figures["runs"].values():
        versions = f"{each['python']}, {each['numba']}"
        cases[versions] = cases.get(versions, 0.0) + each["seconds"]
    return {versions: (seconds, 0.0) for versions, seconds in cases.items()}


@measure("fresh_clone")
def demo_first(figures: Figures) -> Cases:
    return one(figures["commands"]["make demo"]["seconds"])


@measure("small_costs")
def costs(figures: Figures) -> Cases:
    return {name: (each["value"], each["spread"]) for name, each in figures["costs"].items()}


# ---- counts ------------------------------------------------------------------------------------


def of_counts(key: str) -> Measure:
    return lambda figures: {name: (float(count), 0.0) for name, count in figures[key].items()}


MEASURES["counts", "lines"] = of_counts("lines")
MEASURES["counts", "relations"] = of_counts("relations")


@measure("counts")
def others_failed(figures: Figures) -> Cases:
    found = figures["others"]
    return one(found["failed"] if found["tried"] else 1)


@measure("mutation")
def killed(figures: Figures) -> Cases:
    return {
        core: (row["killed"] / (row["mutants"] - row["equivalent"]), 0.0)
        for core, row in figures["cores"].items()
    }


@measure("notebooks")
def notebooks(figures: Figures) -> Cases:
    return {name: (taken, 0.0) for name, taken in figures["seconds"].items() if name != "demo"}


@measure("notebooks")
def demo(figures: Figures) -> Cases:
    return one(figures["seconds"]["demo"])


def of_kernel(name: str) -> Measure:
    def measured(figures: Figures) -> Cases:
        found = figures["kernels"][name]
        return {"": (found["ratio"], found["spread"])}

    return measured


MEASURES["gpu", "never"] = of_kernel("never reached")
MEASURES["gpu", "derivative"] = of_kernel("a derivative")


@measure("report")
def taken(figures: Figures) -> Cases:
    return one(figures["seconds"])
