"""What is written: a file takes its place when it is whole, and a link stays a link."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EISDIR, ELOOP
from os import PathLike
from pathlib import Path

from evenodds.errors import OptionError

__all__ = ["path_text", "place_of", "placed", "placed_folder"]


def place_of(path: str) -> Path | None:
    """Where a file is to stand, with links followed to their end; None for a pipe or a device, which has no place."""
    place = Path(os.path.realpath(path))
    if str(Path(path).absolute()).startswith(("/dev/", "/proc/")):  # /dev/stdout may well lead to a file
        return None
    for refused, code in ((place.is_dir(), EISDIR), (place.is_symlink(), ELOOP)):
        if refused:
            raise OSError(code, os.strerror(code), path)
    _check_parent(path, place)
    return place if place.is_file() or not place.exists() else None


@contextmanager
def placed(path: str | PathLike[str]) -> Iterator[Path]:
    """Where to write so that the file takes its place when it is whole; an error leaves what was there before."""
    given = path_text(path)
    place = place_of(given)
    part = Path(given) if place is None else _beside(place)
    try:
        if place is None:
            yield part
            return
        part.touch()
        if place.exists():
            shutil.copymode(place, part)  # first, so that nobody reads what they may not
            with place.open("ab"):
                pass  # a file that may not be written is not replaced either
        yield part
        part.replace(place)
    except OSError as error:
        if error.errno is None or str(error.filename) not in {"None", str(part), str(place)}:
            raise
        raise OSError(error.errno, os.strerror(error.errno), given) from None  # the name that was given, not ours
    finally:
        if place is not None:
            part.unlink(missing_ok=True)


@contextmanager
def placed_folder(path: str | PathLike[str]) -> Iterator[Path]:
    """Where to write so that a new folder takes its place when it is whole; an empty one may be there already."""
    given = path_text(path)
    place = Path(os.path.realpath(given))
    if place.exists() and not place.is_dir():
        msg = f"{given} is a file, and not a folder."
        raise OptionError(msg)
    if place.is_dir() and any(place.iterdir()):
        msg = f"{given} is a folder that holds something already. Hint: choose another name, or empty it first."
        raise OptionError(msg)
    _check_parent(given, place)
    part = _beside(place)
    try:
        yield part
        if place.is_dir():
            place.rmdir()  # which some systems would not replace
        part.rename(place)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _check_parent(path: str, place: Path) -> None:
    """Refuse a place in a folder that is not there."""
    if place.parent.is_dir():
        return
    given, folder = Path(path).parent, place.parent
    if given.is_dir():
        msg = f"{path} is a link into {folder}, and there is no such folder. Hint: make it first."
    elif given.exists():
        msg = f"{given} is a file, and not a folder."
    else:
        msg = f"There is no folder {given}. Hint: make it first."
    raise OptionError(msg)


def _beside(place: Path) -> Path:
    """A new name beside a place, from where it is moved in one step."""
    # By chance, since containers that share a folder may share the numbers of their processes.
    return place.with_name(f".evenodds.{os.urandom(8).hex()}.part")


def path_text(path: object) -> str:
    """A path as text; refuse what is none."""
    text = os.fspath(path) if isinstance(path, (str, PathLike)) else None
    if not isinstance(text, str) or not text or "\0" in text:
        msg = f"path={path!r} is not allowed. Allowed: the name of a file or folder, as text or pathlib.Path."
        raise OptionError(msg)
    return text
