"""The documentation's site, built by ``make docs`` from a copy of this folder in which the README,
CONTRIBUTING and the CHANGELOG stand in ``project``, and the notebooks in ``notebooks``."""

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
napoleon_use_ivar = True  # attributes of named tuples are members already
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

NOTEBOOKS = (
    *("first_overlay", "composing_overlays", "running_a_program_backwards", "inverse_problems"),
    *("derivatives_in_compiled_code", "write_your_own_interpretation", "inside_the_compiler"),
    "from_nothing",
)
PAGES = {
    "Start": (
        *(
            "README <project/README>",
            "tutorial",
            "cheat_sheet",
            "migration",
            "faq",
            "troubleshooting",
        ),
        "glossary",
    ),
    "Notebooks": ("notebooks", *(f"notebooks/{name}" for name in NOTEBOOKS)),
    "How to": (
        *("choosing", "programs", "looking", "generic", "write_an_interpretation"),
        *("composition", "plugins", "analysis", "kernels", "scaling"),
    ),
    "Inversion": (
        *("inversion", "inverse_problems", "constraints", "arrays", "relations"),
        "potential_and_limits",
    ),
    "Interpretations": (
        *(
            "autodiff",
            "batching",
            "intervals",
            "probabilistic",
            "parallel",
            "tagging",
            "tools",
            "gallery",
        ),
    ),
    "Explanation": (
        *("guarantees", "python_engine", "routes", "compiled_engine", "inversion_internals"),
        *("types", "comparison"),
        *("conformance", "report", "versions", "roadmap", "proof", "security"),
    ),
    "Reference": (
        *("reference/overlay", "reference/ir", "reference/analysis", "reference/interpretations"),
        *("reference/primitives", "reference/inversion"),
    ),
    "Project": ("project/CONTRIBUTING", "project/CHANGELOG"),
}
_TREE = "```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{pages}\n```\n"
_PICTURE = re.compile(r"(!\[[^\]]*\]\()docs/")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!\w+://)([^)#\s]+)(#[^)\s]*)?\)")


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
        notebook = json.loads(source[0].replace("](../docs/", "](../"))
        text = f"{{download}}`Download this notebook <{page.removeprefix('notebooks/')}.ipynb>`"
        cell = {"cell_type": "markdown", "metadata": {}, "source": [text], "id": "download"}
        source[0] = json.dumps({**notebook, "cells": [*notebook["cells"], cell]})
        return
    if of_project:
        source[0] = _PICTURE.sub(r"\1../", source[0])
    source[0] = _LINK.sub(there, source[0])
    if page == "index":
        trees = (_TREE.format(caption=c, pages="\n".join(p)) for c, p in PAGES.items())
        source[0] += "\n" + "\n".join(trees)


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


def _skipped(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out of the reference what tab completion leaves out."""
    documented = app.env.temp_data
    module = sys.modules.get(documented.get("autodoc:module") or "")
    owner = getattr(module, (documented.get("autodoc:class") or "").rpartition(".")[2], None)
    return True if what == "class" and name in hidden_names(owner) else None


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", _skipped)
    app.connect("source-read", _linked)
    app.connect("doctree-read", _anchored)
    app.connect("doctree-read", _types)
