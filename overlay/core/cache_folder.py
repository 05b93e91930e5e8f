"""Folder of the disk cache of compiled code: its checks, its files, and eviction.

A file holds a manifest, which says when its code is valid, and the code. Both are pickles: anyone
who can write to the folder can run code in the processes that read it. So a folder is used only
if it belongs to the user, and no one else can write to it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from overlay.core.errors import CacheWarning
from overlay.core.location import is_ours
from overlay.core.own_builtins import __builtins__

__all__ = ["CacheEntry", "Folder", "warn"]

PLACE: Final = "OVERLAY_CACHE_DIR"
SIZE: Final = "OVERLAY_CACHE_MEGABYTES"
DEFAULT_MEGABYTES: Final = 1024
MAGIC: Final = b"overlay code 1\n"
SUFFIX: Final = ".code"
TEMPORARY: Final = ".writing-"
KEY: Final = re.compile(r"[0-9a-f]{64}")
# Files for one key: code of one function for the same types, with different helpers or constants.
MOST_FOR_A_KEY: Final = 16
WRITES_BETWEEN_LOOKS: Final = 25
DAY: Final = 86400


@dataclass(frozen=True)
class CacheEntry:
    """Content of one file of the cache. name: of the file, without the suffix."""

    path: str
    name: str
    manifest: bytes
    payload: bytes


class Damaged(Exception):
    """A file's content is invalid: it differs from what was written."""


class Folder:
    """Folder of compiled code. No method raises an OSError: a file that cannot be read or written
    is skipped, with a CacheWarning.
    """

    _writes = 0

    def __init__(self, path: str) -> None:
        self.path = path

    @classmethod
    def of(cls, place: str | os.PathLike[str] | None = None) -> Folder:
        """The folder at a path; by default that of the environment variable, else the user's."""
        asked = place or os.environ.get(PLACE) or _default()
        return cls(os.path.abspath(os.path.expanduser(os.fspath(asked))))

    def is_safe(self) -> bool:
        """Whether the folder exists, or can be made, and only the user can write to it; warns if
        not.
        """
        try:
            os.makedirs(self.path, mode=0o700, exist_ok=True)
            status = os.stat(self.path)
        except OSError as error:
            self._warn(f"cannot be made: {error.strerror}", f"set {PLACE} to a folder of yours")
            return False
        fault = _fault(status)
        if fault is None:
            return True
        self._warn(
            f"{fault}, who could run any code in your processes through it",
            f"set {PLACE} to a folder of yours, or chmod 700 this one",
        )
        return False

    def _warn(self, what: str, help: str) -> None:
        warn(f"the folder for compiled code {self.path} {what}", help)

    # ---- reading ----

    def entries(self, key: str) -> Iterator[CacheEntry]:
        """The entries of a key, most recently used first."""
        folder = os.path.join(self.path, key)
        for path in _by_age(folder)[::-1]:
            try:
                entry = _read(path, key)
            except FileNotFoundError:
                continue  # another process has removed it
            except (OSError, Damaged) as error:
                reason = getattr(error, "strerror", None) or str(error)
                self.refuse(path, reason)
                continue
            yield entry

    def used(self, entry: CacheEntry) -> None:
        """Mark an entry as used now."""
        with contextlib.suppress(OSError):
            os.utime(entry.path)

    def refuse(self, path: str, reason: str) -> None:
        """Remove an unusable file, with a warning."""
        gone = False
        with contextlib.suppress(OSError):
            os.unlink(path)
            gone = True
        help = "it has been removed" if gone else "remove it"
        warn(f"cannot use the compiled code in {path}: {reason}", f"nothing is lost: {help}")

    # ---- writing ----

    def put(self, key: str, name: str, manifest: bytes, payload: bytes) -> None:
        """Store an entry under a key; concurrent writers of one name write equal content."""
        folder = os.path.join(self.path, key)
        path = os.path.join(folder, name + SUFFIX)
        body = b"%b\n%d\n%b%b" % (key.encode(), len(manifest), manifest, payload)
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            _write(folder, path, MAGIC + hashlib.sha256(body).digest() + body)
            for old in _by_age(folder)[:-MOST_FOR_A_KEY]:
                _unlink(old)
            self._keep_small()
        except OSError as error:
            warn(
                f"cannot store compiled code in {path}: {error.strerror or error}",
                f"make room, or set {PLACE} to a folder that you can write to",
            )

    def _keep_small(self) -> None:
        """Evict the least recently used files beyond the maximum size; done in a few writes
        only.
        """
        looks = Folder._writes % WRITES_BETWEEN_LOOKS == 0
        Folder._writes += 1
        if not looks:
            return
        self._remove_leftovers()
        found = sorted(self.files(), key=_age, reverse=True)
        bound = _bound()
        excess = self.size() - bound
        if excess <= 0:
            return
        excess += bound // 4
        for path in found:
            if excess <= 0:
                break
            excess -= _size(path)
            _unlink(path)

    def _remove_leftovers(self) -> None:
        """Remove temporary files of writers that were stopped."""
        for folder in self._folders():
            for name in _names(folder):
                if name.startswith(TEMPORARY) and _age(os.path.join(folder, name)) > DAY:
                    _unlink(os.path.join(folder, name))

    # ---- all of it ----

    def _folders(self) -> list[str]:
        return [os.path.join(self.path, n) for n in _names(self.path) if KEY.fullmatch(n)]

    def files(self) -> list[str]:
        """The files of compiled code."""
        found = [(folder, name) for folder in self._folders() for name in _names(folder)]
        return [os.path.join(*each) for each in found if each[1].endswith(SUFFIX)]

    def size(self) -> int:
        """The total size of the files, in bytes."""
        return sum(map(_size, self.files()))

    def clear(self) -> int:
        """Remove all compiled code, and nothing else. Return the number of files removed."""
        self._remove_leftovers()
        count = sum(map(_unlink, self.files()))
        for folder in self._folders():
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        return count


# ---- files --------------------------------------------------------------------------------


def _read(path: str, key: str) -> CacheEntry:
    with open(path, "rb") as file:
        fault = _fault(os.fstat(file.fileno()))
        if fault is not None:
            raise Damaged(f"it {fault}")
        data = file.read()
    head = len(MAGIC) + hashlib.sha256().digest_size
    checksum, body = data[len(MAGIC) : head], data[head:]
    if not data.startswith(MAGIC):
        raise Damaged("it was written by another version, or is no such file")
    if hashlib.sha256(body).digest() != checksum:
        raise Damaged("it is damaged")
    written, size, rest = body.split(b"\n", 2)
    if written.decode() != key:
        raise Damaged("it belongs to another folder")
    name = os.path.basename(path).removesuffix(SUFFIX)
    return CacheEntry(path, name, rest[: int(size)], rest[int(size) :])


def _write(folder: str, path: str, data: bytes) -> None:
    """Write a file atomically."""
    handle, temporary = tempfile.mkstemp(prefix=TEMPORARY, dir=folder)  # for the user alone
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        _unlink(temporary)
        raise


def _unlink(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _age(path: str) -> float:
    """Seconds since a file was last written or used."""
    try:
        return time.time() - os.stat(path).st_mtime
    except OSError:
        return 0.0


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _by_age(folder: str) -> list[str]:
    """The files of compiled code in a folder, most recently used last."""
    paths = [os.path.join(folder, n) for n in _names(folder) if n.endswith(SUFFIX)]
    return sorted(paths, key=_age, reverse=True)


def _fault(status: os.stat_result) -> str | None:
    """The reason why others may write a folder or file, or None where only the user can."""
    if not hasattr(os, "geteuid"):
        return None  # Windows: the user's profile is the user's own
    if status.st_uid not in (os.geteuid(), *_trusted(status)):
        return f"belongs to another user ({status.st_uid})"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "can be written by other users"
    return None


def _trusted(status: os.stat_result) -> tuple[int, ...]:
    """Other owners that are accepted: for a file the superuser, who can write anywhere."""
    return () if stat.S_ISDIR(status.st_mode) else (0,)


def _default() -> str:
    """The user's cache folder, by the platform's convention."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        return os.path.join(local, "overlay-dispatch", "Cache")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "overlay-dispatch")
    shared = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(shared if os.path.isabs(shared) else f"{home}/.cache", "overlay-dispatch")


def _bound() -> int:
    """The maximum size of the folder, in bytes."""
    asked = os.environ.get(SIZE, "")
    if not asked:
        return DEFAULT_MEGABYTES << 20
    if asked.isdecimal():
        return int(asked) << 20
    warn(f"{SIZE} is {asked!r}, which is no number", f"{DEFAULT_MEGABYTES} megabytes are used")
    return DEFAULT_MEGABYTES << 20


# ---- warnings -----------------------------------------------------------------------------

_warned: dict[Any, Any] = {}


def warn(what: str, help: str) -> None:
    """Issue a CacheWarning at the line of the program that requested compiled code."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_between(frame.f_code.co_filename):
        frame = frame.f_back
    text = f"{what}\n  help: {help}" if help else what
    warnings.warn_explicit(
        text,
        CacheWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        str(frame.f_globals.get("__name__")),
        _warned,
    )


def _is_between(path: str) -> bool:
    """Whether a file belongs to this distribution, or to a library that calls it."""
    numba: Any = sys.modules.get("numba")
    home = os.path.dirname(numba.__file__) + os.sep if numba is not None else None
    if is_ours(path) or path in ("<overlay>", functools.__file__):
        return True
    return home is not None and path.startswith(home)
