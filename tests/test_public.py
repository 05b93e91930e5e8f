"""The public names of the packages, what is said of each, and what their objects look like."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
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


VERSIONS = (Path(__file__).parents[1] / "docs" / "versions.md").read_text()
RENAMED = re.findall(
    r"^\| `([\w.]+)(?:\((\w+)=\))?` \| `([\w.]+)(?:\((\w+)=\))?` \|$", VERSIONS, re.M
)


def is_there(name, parameter):
    """Whether a module, its attribute, or a parameter of what it holds is there."""
    path, _, last = name.rpartition(".")
    try:
        found = getattr(pkgutil.resolve_name(path), last)
    except AttributeError:
        try:
            found = importlib.import_module(name)
        except ImportError:
            return False
    return not parameter or parameter in inspect.signature(found).parameters


@pytest.mark.parametrize(("old", "old_parameter", "new", "new_parameter"), RENAMED)
def test_the_table_of_renamed_names_leads_to_what_is_there(old, old_parameter, new, new_parameter):
    assert is_there(new, new_parameter)
    assert not is_there(old, old_parameter)


def test_no_renamed_name_is_missed():
    rows = VERSIONS[VERSIONS.index("| Old name | New name |") :].partition("\n\n")[0]
    assert len(RENAMED) == len(rows.splitlines()) - 2 > 15


SHARED = {
    "Call": "of a function's IR, and of a run that is traced",
    "Domain": "of abstract values, and of the values that an axis takes",
    "RULES": "of each interpretation",
    "Site": "of a proof, and of a random choice",
    "replay": "of a random choice, and of a recorded run",
    "rule": "of each interpretation",
}
"""Names of several objects, which no program needs together."""


def test_one_name_is_one_object():
    found = {}
    for module in modules():
        for name in module.__all__:
            found.setdefault(name, set()).add(id(getattr(module, name)))
    assert {name for name, objects in found.items() if len(objects) > 1} == {*SHARED}


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


PACKAGES = public_objects.packages()


@pytest.mark.parametrize("module", PACKAGES, ids=lambda module: module.__name__)
def test_a_public_module_completes_its_public_names_and_modules_alone(module):
    assert dir(module) == sorted({*getattr(module, "__all__", ()), *PACKAGES[module]})
    assert [name for name in dir(module) if not hasattr(module, name)] == []


def test_the_modules_that_are_completed_can_be_used_without_an_import():
    code = "import overlay; print(overlay.interpretations.seeding.seeded, overlay.ir.read)"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "function seeded" in done.stdout, done.stderr


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


@pytest.mark.parametrize("name", sorted(MADE_BY_SUBCLASSES & {*OBJECTS.values()}))
def test_an_object_of_a_class_below_a_public_one_completes_public_names_alone(name):
    thing = made(name)
    public = [cls for cls in type(thing).__mro__ if cls in OBJECTS]
    told = {each for cls in (*public, *PYTHONS[4:7]) for each in dir(cls)}
    names = {each for each in dir(thing) if not each.startswith("_")} - told
    assert [each for each in names if not any(says(cls, each) for cls in public)] == []


# ---- what objects look like ----------------------------------------------------------------------


def shown_alone(show, thing):
    """The text and HTML of an object, which no code of the user that made it gives."""
    ran = []

    def noted(frame, event, _):
        if event == "call" and frame.f_code.co_filename == public_objects.__file__:
            ran.append(frame.f_code.co_name)

    sys.setprofile(noted)
    try:
        text = show(thing)
    finally:
        sys.setprofile(None)
    assert ran == []
    return text


@pytest.mark.parametrize("name", sorted(OBJECTS.values()))
def test_representations_are_one_short_line_with_the_class_and_run_no_code_of_the_user(name):
    text = shown_alone(repr, made(name))
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
def test_views_escape_text_have_no_script_no_colours_of_one_theme_and_run_no_code(name):
    html = shown_alone(type(made(name))._repr_html_, made(name))
    page = Page(html)
    assert "script" not in page.tags
    assert not [key for key, _ in page.attributes if key.startswith("on")]
    styles = "".join(re.findall(r"<style>(.*?)</style>", html, re.S))
    assert COLOURS.search(VARIABLES.sub("", styles)) is None
    colours = [value for key, value in page.attributes if key in ("style", "fill", "stroke")]
    assert [value for value in colours if COLOURS.search(value or "")] == []
    assert "prefers-color-scheme:dark" in styles


def test_each_class_has_a_view_or_is_listed_with_the_reason():
    listed = [name for names in public_objects.WITHOUT_HTML.values() for name in names.split()]
    assert len(listed) == len(set(listed))
    assert sorted({*listed, *WITH_HTML}) == sorted(OBJECTS.values())
    assert [name for name in listed if name in WITH_HTML] == []


def test_text_of_users_is_escaped():
    page = Page(made("overlay.Context")._repr_html_())
    assert "<b>waves" in page.text
    assert "'<m>'" in page.text


if __name__ == "__main__":
    LISTED.write_text("\n".join(public_names()) + "\n")
