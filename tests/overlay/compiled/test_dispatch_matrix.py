"""Functions out of containers: each container, form of access and kind of callee gives in compiled
code what it gives when interpreted, or is refused by name."""

import re
from pathlib import Path

import pytest

from overlay import Context, NotCompilable
from tests.overlay.chosen_programs import down, halved
from tests.overlay.dispatch_matrix import (
    ACCESSES,
    CELLS,
    CONTAINERS,
    KINDS,
    Cell,
    overlaid,
    table,
)

# each form, with the containers that have it in turn, and each kind at least once
QUICK = {
    *(
        Cell(form.containers[i % len(form.containers)], access, "both")
        for i, (access, form) in enumerate(ACCESSES.items())
    ),
    *(Cell("list", "`c[k]`", kind) for kind in KINDS),
}
PARAMETERS = [
    pytest.param(cell, id="-".join(cell), marks=[] if cell in QUICK else pytest.mark.long)
    for cell in CELLS
]


@pytest.mark.filterwarnings("ignore:.*First-class.*")
@pytest.mark.parametrize("cell", PARAMETERS)
def test_each_cell_is_the_same_in_both_engines_or_refused_by_name(cell):
    program, _ = cell.program()
    contexts = (overlaid(),) if cell in QUICK else (overlaid(), Context())
    for context in contexts:
        hot = (
            context.jit(program, parallel=True) if "prange" in cell.access else context.jit(program)
        )
        wanted = [context(program, k, 0.7) for k in (0, 1)]
        if cell.refused is None:
            assert [hot(k, 0.7) for k in (0, 1)] == pytest.approx(wanted, rel=1e-15)
            continue
        with pytest.raises(NotCompilable, match=re.escape(cell.refused)) as found:
            hot(0, 0.7)
        assert found.value.help
        assert ":" in str(found.value.where)


# ---- changes ----------------------------------------------------------------------------------


def changed(container):
    """Put another function in place of one, in the innermost container that can be changed."""
    items = container if isinstance(container, (list, tuple)) else None
    if isinstance(container, dict):
        items = list(container.values())
    if items is not None and isinstance(items[-1], (list, dict)):
        items[-1][0] = down
    elif isinstance(container, (list, dict)):
        both = isinstance(items[-1], tuple)
        container[1] = (down, halved) if both else down
    else:
        container.first = down


MUTABLE = [
    Cell(container, access, "both")
    for access in ("`c[k]`", "`for f in c`", "`c.values()`", "`c.get(k)`", "`c.first`", "`c[i][j]`")
    for container in CONTAINERS
    if container not in ("tuple", "named tuple", "frozen dataclass", "tuple of tuples")
    and Cell(container, access, "both") in CELLS
]


@pytest.mark.parametrize(
    "cell",
    [
        pytest.param(cell, id="-".join(cell), marks=[] if i % 5 == 0 else pytest.mark.long)
        for i, cell in enumerate(MUTABLE)
    ],
)
def test_a_change_of_what_is_held_is_seen(cell):
    program, container = cell.program()
    context = overlaid()
    hot = context.jit(program)
    before = [hot(k, 0.7) for k in (0, 1)]
    changed(container)
    after = [hot(k, 0.7) for k in (0, 1)]
    assert after == pytest.approx([context(program, k, 0.7) for k in (0, 1)], rel=1e-15)
    assert after != before


def test_the_documents_table_is_that_of_the_matrix():
    text = Path("docs/compiled_engine.md").read_text()
    for line in table():
        assert line in text
