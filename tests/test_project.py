"""What the distribution promises as a whole."""

import ast
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from scripts import site_links
from scripts.try_distributions import published
from tests.public_objects import modules

ROOT = Path(__file__).parents[1]
PACKAGES = ("overlay", "primitives", "inversion")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONSTRAINTS = [
    line
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


def name_of(requirement: str) -> str:
    """``Pyright[nodejs]>=1.1`` → ``pyright``"""
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


def imported_with(package: str, *options: str) -> set[str]:
    """The modules, by their first names, that a fresh Python has after an import."""
    code = f"import sys, {package}; print(*{{name.split('.')[0] for name in sys.modules}})"
    command = [sys.executable, *options, "-c", code]
    done = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True)
    return set(done.stdout.split())


def test_importing_overlay_imports_little_and_nothing_of_other_distributions():
    found = imported_with("overlay", "-S")  # without what installed packages have run at the start
    assert found - sys.stdlib_module_names == {"overlay", "__main__"} - sys.stdlib_module_names
    slow = {"code", "difflib", "hashlib", "pickle", "random", "tempfile", "traceback", "uuid"}
    assert found & slow == set()


REPOSITORY, SITE = GIVEN = ("OVERLAY_DISPATCH_REPOSITORY", "OVERLAY_DISPATCH_DOCUMENTATION")
ADDRESS = "https://example.org/overlay"


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The wheel, built without an address from the sdist; and the sdist, built with one."""
    folder = tmp_path_factory.mktemp("built")
    build = [sys.executable, "-m", "build", "--no-isolation", "-o", folder]
    plain = {name: value for name, value in os.environ.items() if name not in GIVEN}
    given = {**plain, REPOSITORY: f"{ADDRESS}/", SITE: "https://docs.example.org"}
    subprocess.run([*build, "-s"], check=True, cwd=ROOT, capture_output=True, env=given)
    (sdist,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(sdist, folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    subprocess.run([*build, "-w", source], check=True, capture_output=True, env=plain)
    (wheel,) = folder.glob("*.whl")
    return wheel, sdist


@pytest.fixture(scope="module")
def built(distributions):
    """The names in the wheel, and those in the sdist without its folder."""
    wheel, sdist = distributions
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    return zipfile.ZipFile(wheel).namelist(), names


SOURCES = "\n".join(p.read_text() for name in PACKAGES for p in (ROOT / name).rglob("*.py"))


def test_the_version_is_that_of_the_project_wherever_it_stands():
    version = PROJECT["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert version in (ROOT / "CHANGELOG.md").read_text().partition("## [Unreleased]")[2][:300]


def files_of(*folders: str) -> set[str]:
    paths = [p for folder in folders for p in (ROOT / folder).rglob("*") if p.is_file()]
    made = ("__pycache__", ".so")  # by Python and by the compiler
    return {str(p.relative_to(ROOT)) for p in paths if not {*p.parts, p.suffix} & {*made}}


def test_wheel_holds_the_three_packages_with_their_type_markers_and_nothing_else(built):
    names = set(built[0])
    assert {f"{package}/py.typed" for package in PACKAGES} <= names
    metadata = f"overlay_dispatch-{PROJECT['version']}.dist-info"
    ours = {name for name in names if not name.startswith(f"{metadata}/")}
    written = {name for name in ours if not name.endswith(".so")}
    source = {name for name in files_of(*PACKAGES) if not name.endswith((".c", ".h"))}
    assert written == source | {"overlay_dispatch.py", "pytest_overlay.py"}
    compiled = f"overlay/_native/intercept{sysconfig.get_config_var('EXT_SUFFIX')}"
    assert ours - written == {compiled}


def test_sdist_holds_what_the_tests_and_the_targets_of_make_need(built):
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]
    asked = configured["ini_options"]
    folders = {path.partition("/")[0] for path in (*asked["testpaths"], "notebooks", "scripts")}
    there = (folder for folder in folders if (ROOT / folder).is_dir())
    needed = files_of(*there, *PACKAGES, "bench")
    files = {"Makefile", "pyproject.toml", "constraints.txt", "conftest.py", "demo.py", "README.md"}
    assert needed | files <= set(built[1])


def test_a_release_has_the_urls_of_the_project_and_no_relative_link(distributions):
    wheel, sdist = distributions
    description, urls = published(wheel)
    assert (description, urls) == published(sdist)
    tag = f"v{PROJECT['version']}"
    assert dict(url.split(", ") for url in urls) == {
        "Homepage": ADDRESS,
        "Documentation": "https://docs.example.org",
        "Source": ADDRESS,
        "Issues": f"{ADDRESS}/issues",
        "Changelog": f"{ADDRESS}/blob/{tag}/CHANGELOG.md",
    }
    page = MarkdownIt().enable("table").parse(description)
    links = [
        str(part.attrs.get("href") or part.attrs["src"])
        for token in page
        for part in token.children or ()
        if part.type in ("link_open", "image")
    ]
    assert len(links) > 20
    pages, pictures = f"{ADDRESS}/blob/{tag}/", f"{ADDRESS}/raw/{tag}/"
    assert [link for link in links if not link.startswith((pages, pictures))] == []
    files = [re.sub(r".*/v[\d.]+/|#.*", "", link) for link in links]
    assert [file for file in files if not (ROOT / file).is_file()] == []
    readme = (ROOT / "README.md").read_text()
    assert description.replace(pages, "").replace(pictures, "").rstrip() == readme.rstrip()


def metadata_made_with(monkeypatch, **given):
    """The keywords that setup.py hands to setuptools."""
    made = {}
    for name in GIVEN:
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("setuptools.setup", made.update)
    runpy.run_path(str(ROOT / "setup.py"))
    return made


def test_without_an_address_for_make_the_readme_is_the_description(monkeypatch):
    made = metadata_made_with(monkeypatch, REPOSITORY="an address of something else")
    assert made["long_description"] == (ROOT / "README.md").read_text()
    assert made["project_urls"] == {}


@pytest.mark.parametrize(
    "wrong", ["example.org/overlay", "http://example.org/overlay", "https://example.org/a b", "x"]
)
def test_what_is_no_address_is_refused_with_what_to_give(monkeypatch, wrong):
    with pytest.raises(SystemExit) as refused:
        metadata_made_with(monkeypatch, **{REPOSITORY: wrong})
    assert str(refused.value) == (f"REPOSITORY={wrong} is not an address: give https://HOST/PATH")


def test_the_citation_has_the_version_of_the_project():
    cited = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited == [PROJECT["version"]]


def test_every_extra_that_is_told_of_exists():
    told = re.compile(r"overlay-dispatch\[(\w+)\]")
    files = [*files_of("docs", "notebooks", *PACKAGES), "README.md", "Makefile"]
    named = {extra for file in files for extra in told.findall((ROOT / file).read_text())}
    assert {"cluster", "cuda", "notebooks", "progress"} <= named
    assert named <= set(PROJECT["optional-dependencies"])


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_every_file_of_the_repository_is_text_that_someone_wrote():
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], check=True, cwd=ROOT, capture_output=True, text=True
    )
    files = [ROOT / name for name in tracked.stdout.split("\0") if name]
    assert files
    binary = [file.name for file in files if file.exists() and b"\0" in file.read_bytes()]
    assert binary == []


def test_constraints_are_exact_versions_without_addresses():
    exact = re.compile(r"[\w.-]+==[\w.]+( ; [\w\s.<>='\"]+)?")
    assert [line for line in CONSTRAINTS if not exact.fullmatch(line)] == []


def test_every_requirement_of_make_is_pinned():
    extras = PROJECT["optional-dependencies"]
    chosen = ("dev", "demo", "docs", "bench", "cuda", "published")
    required = [*PROJECT["dependencies"], *(r for name in chosen for r in extras[name])]
    assert {name_of(r) for r in required} <= {name_of(line) for line in CONSTRAINTS}


def test_one_folder_knows_numba_cuda():
    imports = re.compile(
        r"^\s*(from numba[._]cuda|import numba[._]cuda|from numba import cuda)", re.M
    )
    knowing = [p for p in (ROOT / "overlay").rglob("*.py") if imports.search(p.read_text())]
    assert knowing
    assert {p.parent for p in knowing} == {ROOT / "overlay" / "compiled" / "cuda"}


def test_the_map_has_every_folder_and_names_what_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    guide = text[text.index("## Map") : text.index("## Measures")]
    paths = set(re.findall(r"`((?:overlay|primitives|inversion)(?:/[\w.]+)*)`", guide))
    assert sorted(path for path in paths if not (ROOT / path).exists()) == []
    parts = {
        p.parent for name in ("overlay", "inversion") for p in (ROOT / name).glob("*/__init__.py")
    }
    assert {str(part.relative_to(ROOT)) for part in parts} <= paths
    modules = re.findall(r"`(\w+\.py)`", guide)
    assert modules
    assert [name for name in modules if not any(ROOT.glob(f"*/**/{name}"))] == []
    for owner, method in re.findall(r"`([A-Z]\w+)\.(\w+)`", guide):
        assert re.search(rf"class {owner}\b[\s\S]*def {method}\b", SOURCES), (owner, method)


CONF = runpy.run_path(str(ROOT / "docs" / "conf.py"))
LISTED = [page for pages in CONF["PAGES"].values() for page in pages]


def test_every_page_of_the_documentation_has_its_place_in_the_site():
    listed = [re.sub(r".*<(.*)>", r"\1", page) for page in (*LISTED, *CONF["NOTEBOOKS"])]
    pages = {
        str(p.relative_to(ROOT / "docs").with_suffix("")) for p in (ROOT / "docs").rglob("*.md")
    }
    notebooks = {f"notebooks/{p.stem}" for p in (ROOT / "notebooks").glob("*.ipynb")}
    project = {"project/CONTRIBUTING", "project/CHANGELOG", "project/README"}
    assert sorted(listed) == sorted((pages | project | notebooks) - {"index"})


def test_the_index_has_the_groups_of_the_sidebar_and_calls_pages_by_their_titles():
    text = (ROOT / "docs" / "index.md").read_text()
    assert list(CONF["PAGES"]) == re.findall(r"^## (.+)$", text, re.MULTILINE)[1:]
    assert list(CONF["PAGES"])[:4] == ["Tutorial", "How-to guides", "Explanation", "Reference"]
    links = re.findall(r"\[([^\]]+)\]\(([\w/.]+\.md)\)", text)
    titles = [(ROOT / "docs" / path).read_text().partition("\n")[0][2:] for _, path in links]
    said = [(text, title) for (text, _), title in zip(links, titles, strict=True)]
    assert [pair for pair in said if pair[0] != pair[1]] == [("README", PROJECT["name"])]


def test_every_picture_of_a_page_has_an_alternative_text():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    said = [text for p in pages for text in re.findall(r"!\[([^\]]*)\]\(", p.read_text())]
    assert len(said) > 20
    assert [text for text in said if len(text) < 20] == []


def test_pictures_with_colours_that_mean_something_are_not_inverted_in_dark_themes():
    of_colours = set()
    for path in (ROOT / "scripts").glob("*_pictures.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and re.search("imshow|cmap", ast.unparse(node)):
                of_colours.add(node.name)
    style = (ROOT / "docs" / "static" / "site.css").read_text()
    inverted = re.findall(r"img\[src\$=\"\.svg\"\]:not\((.*?)\) ?[,{]", style)
    assert len(inverted) == 2
    for excepted in inverted:
        names = set(re.findall(r'"(\w+)"', excepted))
        assert names == of_colours | {"how_it_works"}


def test_links_of_a_site_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.html").write_text('<h1 id="top-of-b">B</h1><a href="../c.html#x">c</a>')
    (tmp_path / "c.html").write_text(
        '<a id="x" href="a/b.html#top-of-b"></a><a href="https://example.org/none">out</a>'
        '<a href="a/b.html#none">anchor</a><a href="gone.html">file</a><a href="#y">here</a>'
        '<img src="p.png" alt="_images/p.png"><img src="p.png" alt=""><img src="p.png" alt="A dot">'
    )
    (tmp_path / "p.png").touch()
    assert list(site_links.faults(tmp_path)) == [
        "c.html: no anchor for the link a/b.html#none",
        "c.html: no file for the link gone.html",
        "c.html: no anchor for the link #y",
        *["c.html: no alternative text of p.png"] * 2,
    ]


@pytest.mark.parametrize(
    ("page", "least"), [("gallery", 30), ("guarantees", 25), ("comparison", 45)]
)
def test_every_line_of_a_page_names_tests_that_exist(page, least):
    text = (ROOT / "docs" / f"{page}.md").read_text()
    tables = re.findall(r"^\| .* \| Tests (.*)\|\n\|[ |-]+\|\n((?:\| .*\n)+)", text, re.MULTILINE)
    rows = [
        row.strip("| ").split(" | ")[-1 - after.count("|")]
        for after, table in tables
        for row in table.splitlines()
    ]
    assert len(rows) > least
    for row in rows:
        links = re.findall(r"\[(\w+)\]\(\.\./(tests/[\w/]+\.py)\)", row)
        assert links, row
        for name, path in links:
            assert re.search(rf"^def {name}\(", (ROOT / path).read_text(), re.MULTILINE), row


def test_every_interpretation_is_in_the_reference():
    folder = ROOT / "overlay" / "interpretations"
    names = {path.stem for path in folder.iterdir() if path.stem[0] != "_"}
    text = (ROOT / "docs" / "reference" / "interpretations.md").read_text()
    shown = set(re.findall(r"automodule:: overlay\.interpretations\.(\w+)", text))
    assert shown == names


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.__name__)
def test_constants_of_packages_are_in_the_reference(module):
    """Classes and functions are in it by themselves, and constants where they are defined."""
    text = "\n".join(p.read_text() for p in (ROOT / "docs" / "reference").glob("*.md"))
    assert f"automodule:: {module.__name__}\n" in text
    for name in module.__all__ if hasattr(module, "__path__") else ():
        value = getattr(module, name)
        if not callable(value):
            assert f"autodata:: {module.__name__}.{name}\n" in text
            assert CONF["string_below"](f"{module.__name__}.{name}", value).strip()


# ---- other packages of these names ----------------------------------------------------------


def python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


@pytest.mark.parametrize(
    ("taken", "code"),
    [
        ("overlay.py", "import primitives"),
        ("overlay.py", "import inversion"),
        ("overlay/__init__.py", "import inversion"),
        ("primitives.py", "import inversion"),
        ("primitives/__init__.py", "import overlay, inversion"),
    ],
)
def test_a_package_of_ours_that_another_hides_is_named_with_a_remedy(tmp_path, taken, code):
    file = tmp_path / taken
    file.parent.mkdir(exist_ok=True)
    file.write_text("")
    done = python("-c", code, cwd=tmp_path)
    assert done.returncode == 1
    message = done.stderr.splitlines()[-3:]
    name = taken.partition("/")[0].removesuffix(".py")
    assert message[0].startswith(f"ImportError: the package {name!r} is imported from {file}")
    assert f"a file of yours named {name}.py" in message[1]
    assert python("-c", code, cwd=ROOT).returncode == 0


def test_the_distribution_lists_where_its_packages_are(tmp_path):
    done = python("-m", "overlay_dispatch", cwd=tmp_path)
    places = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert (done.returncode, set(places)) == (0, set(PACKAGES))
    (tmp_path / "overlay.py").write_text("MethodTable = 3")
    done = python("-m", "overlay_dispatch", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("overlay: the package 'overlay' is imported from")


def test_a_package_that_another_wrote_over_is_found_out(tmp_path):
    for name in ("overlay", "primitives"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    (tmp_path / "overlay_dispatch.py").write_text((ROOT / "overlay_dispatch.py").read_text())
    done = python("-c", "import overlay_dispatch; overlay_dispatch.check('overlay')", cwd=tmp_path)
    assert "which another wrote over" in done.stderr


INITS = [init for name in PACKAGES for init in (ROOT / name).rglob("__init__.py")]
FOLDERS = [init for init in INITS if init.parent != ROOT / "overlay"]  # CONTRIBUTING.md says those


@pytest.mark.parametrize("init", FOLDERS, ids=lambda p: str(p.parent.relative_to(ROOT)))
def test_a_folder_says_which_of_its_modules_holds_what(init):
    said = set(re.findall(r"\w+", ast.get_docstring(ast.parse(init.read_text())) or ""))
    modules = {p.stem for p in init.parent.glob("*.py")} - {"__init__", "__main__"}
    assert modules | {p.parent.name for p in init.parent.glob("*/__init__.py")} <= said


@pytest.mark.parametrize("folder", [*PACKAGES, "bench", "scripts"])
def test_a_docstring_begins_with_what_the_thing_is_or_does(folder):
    """So do the strings below constants."""
    vague = re.compile(r"\s*(What|How|Which|The same)\b")
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        and vague.match(node.value.value)
    ]
    assert found == []
