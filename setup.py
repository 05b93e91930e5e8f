"""The part in C, which may be left out, and the metadata that depend on the project's address. All
else of the distribution stands in pyproject.toml.

The address is given once, when a release is built: ``make dist REPOSITORY=https://HOST/PATH``, and
``DOCUMENTATION=`` with that of the site. The sdist carries the metadata on to its wheels.
"""

import email
import os
import re
import runpy
import tomllib
from glob import glob
from pathlib import Path

from setuptools import Extension, setup

ROOT = Path(__file__).parent


def address(variable: str) -> str:
    """Return the address that make was given in a variable, or an empty string."""
    given = os.environ.get(f"OVERLAY_DISPATCH_{variable}", "").strip().rstrip("/")
    if given and not re.fullmatch(r"https://[^\s/?#()<>]+(/[^\s?#()<>]+)?", given):
        raise SystemExit(f"{variable}={given} is not an address: give https://HOST/PATH")
    return given


def description_and_urls() -> tuple[str, dict[str, str]]:
    """Return the description and the project's URLs, from the sdist if this is one."""
    carried = ROOT / "PKG-INFO"
    if carried.exists():
        made = email.message_from_string(carried.read_text("utf-8"))
        urls = (each.partition(", ") for each in made.get_all("Project-URL", []))
        return made.get_payload(), {label: url for label, _, url in urls}
    readme = (ROOT / "README.md").read_text("utf-8")
    repository, site = address("REPOSITORY"), address("DOCUMENTATION")
    urls = {"Documentation": site} if site else {}
    if not repository:
        return readme, urls
    tag = f"v{tomllib.loads((ROOT / 'pyproject.toml').read_text('utf-8'))['project']['version']}"
    links = runpy.run_path(str(ROOT / "scripts" / "absolute_links.py"))
    return links["absolute_links"](readme, repository, tag), {
        "Homepage": repository,
        **urls,
        "Source": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
    }


description, urls = description_and_urls()

setup(
    long_description=description,
    long_description_content_type="text/markdown",
    project_urls=urls,
    ext_modules=[
        Extension(
            "overlay._native.intercept",
            ["overlay/_native/intercept.c"],
            depends=glob("overlay/_native/*.h"),
            extra_compile_args=["-pthread"],
            extra_link_args=["-pthread"],
            optional=True,  # without it there is no ctx(f)
        )
    ],
)
