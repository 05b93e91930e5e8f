"""The documentation's site, built by ``make docs`` from a copy of this folder in which the README,
CONTRIBUTING and the CHANGELOG stand in ``project``, and the notebooks in ``notebooks``."""

import ast
import inspect
import itertools
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from overlay.core.public_names import hidden_names

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

project = PROJECT["name"]
version = release = PROJECT["version"]
project_copyright = PROJECT["authors"][0]["name"]
extensions = [
    "myst_nb",
    "sphinx_copybutton",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",  # sections of docstrings, in numpydoc style
    "sphinx.ext.viewcode",
]
napoleon_google_docstring = False
napoleon_use_ivar = False  # attributes have anchors
HOMES = ("overlay", "primitives", "inversion", "overlay.ir")
"""Modules in which a class is looked for that a docstring of another module names."""
html_theme = "furo"
html_title = project
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = True  # notebooks may be downloaded
html_show_sourcelink = False
nb_execution_mode = "off"  # what they show is in them
nb_merge_streams = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
pygments_dark_style = "monokai"
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_default_options = {
    "inherited-members": "BaseException, Exception, object, tuple, dict, ABC, Enum, type"
}
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"

_TO_PAGE = re.compile(r"\]\((?:\.\./)?([\w/]+)\.(?:md|ipynb)\)")
_OF_PROJECT = {"README": "README <project/README>"}  # its title is that of the site


def groups(index: str) -> dict[str, list[str]]:
    """The groups of the sidebar, each with its pages: the sections of the index whose tables list
    pages, after the first section, which leads from problems to pages."""
    of_caption = {}
    for section in index.split("\n## ")[2:]:
        caption, _, text = section.partition("\n")
        found = dict.fromkeys(_TO_PAGE.findall("\n".join(re.findall(r"^\| \[.*", text, re.M))))
        of_caption[caption] = [
            _OF_PROJECT.get(page, f"project/{page}" if page.isupper() else page) for page in found
        ]
    return of_caption


PAGES = groups((ROOT / "docs" / "index.md").read_text())
NOTEBOOKS = _TO_PAGE.findall((ROOT / "docs" / "notebooks.md").read_text())
NOTEBOOKS = [page for page in dict.fromkeys(NOTEBOOKS) if page.startswith("notebooks/")]
_TREE = "\n```{{toctree}}\n:hidden:\n{options}\n{pages}\n```\n"
_PICTURE = re.compile(r"(!\[[^\]]*\]\()docs/")
_OUTWARDS = re.compile(r"\[([^\]]*)\]\(\.\./([^)]*)\)")
_LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\((?!\w+://)([^)#\s]+)(#[^)\s]*)?\)")


def _linked(app: Any, page: str, source: list[str]) -> None:
    """Links as one follows them in the repository lead to pages of the site; of what is no page,
    such as code, the name is left."""
    of_project = page.startswith("project/")

    def there(found: re.Match[str]) -> str:
        text, path, anchor = found.groups(default="")
        if of_project and path.startswith("docs/"):
            path = f"../{path.removeprefix('docs/')}"
        elif path.startswith("../notebooks/"):
            path = path.removeprefix("../")
        elif path.startswith("../"):
            path = f"project/{path.removeprefix('../')}"
        exists = (Path(app.srcdir) / page).parent.joinpath(path).is_file()
        is_page = path.endswith((".md", ".ipynb"))
        return f"[{text}]({path}{anchor})" if is_page and exists else text

    if page.startswith("notebooks/"):
        source[0] = _notebook(Path(app.srcdir), page, source[0])
        return
    if of_project:
        source[0] = _PICTURE.sub(r"\1../", source[0])
    source[0] = _LINK.sub(there, source[0])
    if page == "index":
        for caption, pages in PAGES.items():
            source[0] += _TREE.format(options=f":caption: {caption}\n", pages="\n".join(pages))
    elif page == "notebooks":
        source[0] += _TREE.format(options="", pages="\n".join(NOTEBOOKS))


def _notebook(folder: Path, page: str, text: str) -> str:
    """A notebook as a page: it ends with its download, whose links that lead out of its folder
    are the names of files, and with the module that it imports from there."""
    path = folder / f"{page}.ipynb"
    downloads = folder / "downloads"
    downloads.mkdir(exist_ok=True)
    (downloads / path.name).write_text(_OUTWARDS.sub(r"\1 (`\2`)", text))
    said = f"{{download}}`Download this notebook <../downloads/{path.name}>`"
    if path.with_suffix(".py").exists():
        name = f"{path.stem}.py"
        said += f" and {{download}}`{name} <{name}>`, which it imports, into one folder"
    notebook = json.loads(text.replace("](../docs/", "](../"))
    cell = {"cell_type": "markdown", "metadata": {}, "source": [f"{said}."], "id": "download"}
    return json.dumps({**notebook, "cells": [*notebook["cells"], cell]})


_ANCHOR = re.compile(r'<a id="([\w-]+)">')


def _anchored(app: Any, document: Any) -> None:
    """The lines of the report have anchors that links may lead to."""
    if app.env.docname == "report":
        names = _ANCHOR.findall((Path(app.srcdir) / "report.md").read_text())
        slugs = app.env.metadata["report"].setdefault("myst_slugs", {})
        slugs.update({name: (0, name, name) for name in names})


def _types(app: Any, document: Any) -> None:
    """Let the types of parameters refer to the classes that they mean. Words such as "function" and
    "optional" are no references to attributes with these names."""
    from sphinx.addnodes import pending_xref

    for reference in list(document.findall(pending_xref)):
        if (reference.get("refdomain"), reference.get("reftype")) != ("py", "class"):
            continue
        target = reference["reftarget"]
        if target.rpartition(".")[2].islower():
            reference.replace_self(reference.children)
        elif "." not in target:
            for home in (reference.get("py:module"), *HOMES):
                if target in getattr(sys.modules.get(home), "__all__", ()):
                    reference["reftarget"] = f"{home}.{target}"
                    break


_ATTRIBUTES = re.compile(r"^Attributes\n-+\n(.*?)(?=^\S.*\n-+$|\Z)", re.M | re.S)


def _skipped(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out of the reference what tab completion leaves out, and attributes that the docstring
    of their class describes: under "Attributes", or as the fields of a named tuple."""
    documented = app.env.temp_data
    module = sys.modules.get(documented.get("autodoc:module") or "")
    owner = getattr(module, (documented.get("autodoc:class") or "").rpartition(".")[2], None)
    if what != "class" or not isinstance(owner, type):
        return None
    section = _ATTRIBUTES.search(inspect.getdoc(owner) or "")
    said = re.findall(r"^(\w+)\b.*:", section[1] if section else "", re.M)
    field = name in getattr(owner, "_fields", ())
    return True if field or name in said or name in hidden_names(owner) else None


def _described(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Show of a package what it is, without its modules, which are for contributors; and of a
    constant the string that follows it where it is assigned."""
    if what == "module" and hasattr(thing, "__path__") and "" in lines:
        del lines[lines.index("") :]
    elif what == "data":
        lines[:] = string_below(name, thing).splitlines()


def string_below(name: str, thing: Any) -> str:
    """The string that follows a public constant of a package where it is assigned."""
    package, _, name = name.rpartition(".")
    inside = (package.partition(".")[0], package)
    for module in [sys.modules[m] for m in sorted(sys.modules) if m.startswith(inside)]:
        if vars(module).get(name) is not thing:
            continue
        body = ast.parse(inspect.getsource(module)).body
        for one, other in itertools.pairwise(body):
            targets = getattr(one, "targets", [getattr(one, "target", None)])
            assigned = any(isinstance(t, ast.Name) and t.id == name for t in targets)
            if assigned and isinstance(other, ast.Expr) and isinstance(other.value, ast.Constant):
                return str(other.value.value)
    raise LookupError(f"{package}.{name}: no string follows it where it is assigned")


def _without_unread(app: Any, env: Any) -> None:
    """No links to the code of modules that have none, such as builtins."""
    modules = getattr(env, "_viewcode_modules", {})
    for name in [name for name, entry in modules.items() if not entry]:
        del modules[name]


_BACK = re.compile(
    r'(id="([\w.]+)">\n<a class="viewcode-back" href="[^"#]*?([^/"#]+)\.html#)[\w.]+'
)


def _back(app: Any, page: str, template: str, context: dict[str, Any], document: Any) -> None:
    """Lead links from code to the names under which the reference has it: viewcode takes all
    names of a file to be of the package that was read first."""
    if not page.startswith("_modules/"):
        return

    def there(found: re.Match[str]) -> str:
        known = app.env.domains["py"].objects.items()
        of_page = (
            n
            for n, entry in known
            if (entry.docname, entry.objtype != "module") == (f"reference/{found[3]}", True)
        )
        return found[1] + next(name for name in of_page if name.endswith(f".{found[2]}"))

    context["body"] = _BACK.sub(there, context["body"])


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", _skipped)
    app.connect("autodoc-process-docstring", _described, priority=400)  # before its sections
    app.connect("env-updated", _without_unread)
    app.connect("html-page-context", _back)
    app.connect("source-read", _linked)
    app.connect("doctree-read", _anchored)
    app.connect("doctree-read", _types)
