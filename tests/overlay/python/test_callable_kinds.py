"""Callables of every kind, from every holder, in every form of call, are called as natively, while
the callee of a site changes to every other kind."""

import pytest

from tests.overlay.python.callable_programs import (
    CALLEES,
    HOLDERS,
    MODES,
    TARGETS,
    crashes_python,
    same_as_natively,
)

FORMS = ("", "3", "3, y=4", "x=3", "*p", "3, *p", "**k", "*p, **k", "3, *n, y=4")
FORMS_OF_TARGETS = ("3", "x=3", "*p", "3, **k")
# one for each way in which a site may take a callee
NEXT = (
    *("other function", "other closure", "method of another object", "class method"),
    *("unbound method", "one object", "object with a static call", "bound object", "class"),
    *("class of a metaclass", "partial", "builtin", "builtin method", "method descriptor"),
    *("bound slot wrapper", "no callable"),
)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", CALLEES)
def test_a_site_calls_what_it_holds_whatever_it_has_held(kind, mode):
    forms = FORMS if mode == "never reached" else FORMS_OF_TARGETS
    forms = tuple(form for form in forms if not crashes_python(form, kind))
    sites = [(holder, form, "nothing") for holder in HOLDERS for form in forms]
    row = [kind] * 4 + [name for other in NEXT for name in (other, kind)]
    calls = same_as_natively(sites, [row] * len(sites), 1, mode, list(TARGETS))
    assert calls == len(sites) * len(row)
