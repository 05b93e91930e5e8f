"""The public names of the packages, what is said of each, and what their objects look like."""

import ast
import inspect
import re
import sys
import textwrap
from html.parser import HTMLParser
from pathlib import Path

import pytest

import overlay
from tests import public_objects
from tests.public_objects import classes, modules, objects

LISTED = Path(__file__).with_name("public_names.txt")
OURS = public_objects.PACKAGES
PYTHONS = (object, Exception, ImportError, OSError, tuple, dict, list, type)
MODULES = [module.__name__ for module in modules()]
CLASSES = classes()


def shown(cls):
    """The names of a class that are in no class of Python's own."""
    hidden = getattr(cls, "__hidden__", ())
    return sorted(
        name
        for name in dir(cls)
        if not name.startswith("_")
        and name not in hidden
        and not any(hasattr(base, name) for base in PYTHONS if issubclass(cls, base))
    )


def public_names():
    for module in modules():
        yield from (f"{module.__name__}.{name}" for name in sorted(module.__all__))
    for name, cls in CLASSES.items():
        yield from (f"{name}.{each}" for each in shown(cls))


def test_what_is_public_is_meant_to_be():
    """A name that comes or goes is written into the list, and into the changelog."""
    found, listed = set(public_names()), set(LISTED.read_text().split())
    assert (sorted(found - listed), sorted(listed - found)) == ([], [])


# ---- docstrings ----------------------------------------------------------------------------------


def documented_attributes(cls):
    """The names of attributes that a docstring follows in the source of a class."""
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] in OURS:
            (node,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            for one, other in zip(node.body, node.body[1:], strict=False):
                if isinstance(one, (ast.Assign, ast.AnnAssign)) and isinstance(other, ast.Expr):
                    target = one.targets[0] if isinstance(one, ast.Assign) else one.target
                    yield target.id


def says(cls, name):
    """Whether the docstring of a class, or of one above it, tells of an attribute."""
    docs = (inspect.getdoc(base) or "" for base in cls.__mro__ if base not in PYTHONS)
    return any(re.search(rf"\b{name}\b", text) for text in docs)


def fault(text):
    """The fault in the first sentence of a docstring, or None."""
    first = " ".join((text or "").partition("\n\n")[0].split())
    if len(first) < 10:
        return f"too short: {first!r}"
    if re.match(r"(What|Which|How|The same)\b", first):
        return f"does not say what it is: {first!r}"
    if not re.match(r"[A-Z`θ\d\"%]|[a-z_]+\b[ ,(:]", first) or first[-1] not in ".:…)":
        return f"is no sentence: {first!r}"
    return None


@pytest.mark.parametrize("name", MODULES)
def test_each_public_name_has_a_docstring(name):
    module = sys.modules[name]
    values = {each: getattr(module, each) for each in module.__all__}
    callables = {each: value for each, value in values.items() if callable(value)}
    assert {e: why for e, v in callables.items() if (why := fault(inspect.getdoc(v)))} == {}


@pytest.mark.parametrize("name", CLASSES)
def test_each_public_attribute_is_documented(name):
    cls, faults = CLASSES[name], {}
    attributes = set(documented_attributes(cls))
    for each in shown(cls):
        held = inspect.getattr_static(cls, each)
        if inspect.isroutine(getattr(cls, each)) or isinstance(held, property):
            why = fault(inspect.getdoc(held if isinstance(held, property) else getattr(cls, each)))
        else:
            why = None if each in attributes or says(cls, each) else "is told nowhere"
        if why:
            faults[each] = why
    assert faults == {}


def test_each_public_function_with_parameters_has_a_section_on_them():
    functions = {f"{m.__name__}.{name}": getattr(m, name) for m in modules() for name in m.__all__}
    for path, cls in CLASSES.items():
        functions |= {f"{path}.{name}": getattr(cls, name) for name in shown(cls)}
    silent = []
    for path, f in functions.items():
        if inspect.isfunction(f) or inspect.ismethod(f):
            given = set(inspect.signature(f).parameters) - {"self"}
            if given and "Parameters\n---" not in (inspect.getdoc(f) or ""):
                silent.append(path)
    assert silent == []


@pytest.mark.parametrize("name", MODULES)
def test_signatures_show_no_object_that_stands_for_nothing_given(name):
    module = sys.modules[name]
    values = [getattr(module, each) for each in module.__all__]
    held = [value for value in values if inspect.isclass(value)]
    values += [getattr(cls, each) for cls in held for each in (*shown(cls), "__init__", "__call__")]
    for value in filter(inspect.isfunction, values):
        assert "<object object" not in str(inspect.signature(value)), value


# ---- completion ----------------------------------------------------------------------------------


def test_hidden_names_are_there_and_are_not_completed():
    for cls in CLASSES.values():
        for name in getattr(cls, "__hidden__", ()):
            assert name not in shown(cls)
    context = overlay.Context()
    assert "stacks" not in dir(context)
    assert context.stacks is not None
    assert "jit" in dir(context)


OBJECTS = {cls: name for name, cls in CLASSES.items() if not issubclass(cls, BaseException)}
MADE_BY_SUBCLASSES = {
    name
    for name, cls in CLASSES.items()
    if inspect.isabstract(cls) or getattr(cls, "_is_protocol", False)
}


def made(name):
    """An object of a public class; of an abstract one, one of a class below it."""
    cls = CLASSES[name]
    found = objects()
    if cls in found:
        return found[cls]
    below = [thing for thing in found.values() if isinstance(thing, cls)]
    assert below, f"tests/public_objects.py makes no {name}"
    return below[0]


@pytest.mark.parametrize("name", sorted(set(OBJECTS.values()) - MADE_BY_SUBCLASSES))
def test_what_is_completed_is_told_in_the_reference(name):
    thing = made(name)
    cls = type(thing)
    attributes = {n for n in dir(thing) if not n.startswith("_")} - set(dir(cls))
    untold = [n for n in sorted(attributes) if not says(cls, n)]
    fields = getattr(cls, "__dataclass_fields__", {})
    assert [n for n in untold if n not in fields] == []


# ---- what objects look like ----------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(OBJECTS.values()))
def test_representations_are_one_short_line_with_the_class_and_run_no_code_of_the_user(name):
    thing, ran = made(name), []

    def noted(frame, event, _):
        if event == "call" and frame.f_code.co_filename == public_objects.__file__:
            ran.append(frame.f_code.co_name)

    sys.setprofile(noted)
    try:
        text = repr(thing)
    finally:
        sys.setprofile(None)
    assert ran == []
    assert "\n" not in text
    assert len(text) <= 160
    assert " at 0x" not in text


class Page(HTMLParser):
    """The tags, the attributes and the text of a piece of HTML, and whether it is well formed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], set(), [], ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes += attrs

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


WITH_HTML = [name for name in sorted(OBJECTS.values()) if hasattr(CLASSES[name], "_repr_html_")]
VARIABLES = re.compile(r"--o-[\w-]+:#[0-9a-f]{6};")
COLOURS = re.compile(r"#[0-9a-f]{3,8}\b|\b(white|black|rgb)\b(?!-)", re.I)


@pytest.mark.parametrize("name", WITH_HTML)
def test_views_escape_text_have_no_script_and_no_colours_of_one_theme(name):
    html = made(name)._repr_html_()
    page = Page(html)
    assert "script" not in page.tags
    assert not [key for key, _ in page.attributes if key.startswith("on")]
    styles = "".join(re.findall(r"<style>(.*?)</style>", html, re.S))
    assert COLOURS.search(VARIABLES.sub("", styles)) is None
    colours = [value for key, value in page.attributes if key in ("style", "fill", "stroke")]
    assert [value for value in colours if COLOURS.search(value or "")] == []
    assert "prefers-color-scheme:dark" in styles


def test_text_of_users_is_escaped():
    page = Page(made("overlay.Context")._repr_html_())
    assert "<b>waves" in page.text
    assert "'<m>'" in page.text


if __name__ == "__main__":
    LISTED.write_text("\n".join(public_names()) + "\n")
