"""What a command writes: checked before any work is done, and secrets for their owner only."""

from __future__ import annotations

import codecs
import os
import re
import shutil
import stat
import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import click

from evenodds.decisions.keys import check_key
from evenodds.errors import DataError, EvenoddsError, EvenoddsWarning, OptionError
from evenodds.files import place_of, placed

__all__ = [
    "check_folder",
    "check_outputs",
    "check_policy_place",
    "read_key",
    "read_secret_key",
    "write_keys",
    "write_secret",
    "write_text",
]

_HEAD = 256  # bytes that tell a file's kind
_KEY = re.compile(rb"\s*[0-9a-f]{64}\s*")
_POLICY = re.compile(rb"\s*\{\s*\"format\"\s*:\s*\"evenodds")
_NO_POLICY = {".arrow", ".csv", ".htm", ".html", ".md", ".onnx", ".parquet", ".sql", ".svg"}  # what others write


def check_outputs(outputs: Mapping[str, str | None], *inputs: str, may_replace: Collection[str] = ()) -> None:
    """Refuse to write over what is read, twice to one file, or where nothing can be, before any work is done.

    Nor over a key, or over a policy but by options that may replace one: these ask.
    """
    taken = {os.path.realpath(read): f"{read} is what is read." for read in inputs if read != "-"}
    for option, output in outputs.items():
        if output == "":
            msg = f"{option} names no file. Hint: give it a name, or leave it out."
            raise OptionError(msg)
        if output is None or output == "-" or place_of(output) is None:
            continue
        place = os.path.realpath(output)
        if place in taken:
            msg = f"{taken[place]} Hint: choose another file for {option}."
            raise OptionError(msg)
        kind = _secret_or_policy(output)
        if kind == "key" or (kind == "policy" and option not in may_replace):
            msg = f"{output} holds a {kind}, which would be lost. Hint: choose another file for {option}."
            raise OptionError(msg)
        taken[place] = f"{output} is what {option} writes."


def _secret_or_policy(path: str) -> str | None:
    """Whether a file that is there holds a key or a policy; None where it cannot be read."""
    if not Path(path).is_file():
        return None
    try:
        with Path(path).open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return None
    return "key" if _KEY.fullmatch(head) else "policy" if _POLICY.match(head) else None


def check_policy_place(output: str | None, *, force: bool) -> None:
    """Ask before a policy takes the place of a file; where nobody can be asked, refuse it."""
    if output and Path(output).suffix.lower() in _NO_POLICY:
        msg = f"-o {output}: a policy is JSON. Hint: -o {Path(output).with_suffix('.json')}."
        raise OptionError(msg)
    if output is None or output == "-" or force or not Path(output).is_file():
        return
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        msg = f"{output} is there already. Hint: --force writes over it."
        raise OptionError(msg)
    try:
        is_wanted = click.confirm(f"{output} is there already. Write over it?", err=True)
    except click.Abort:  # Ctrl-C, or nobody answers
        raise KeyboardInterrupt from None
    if not is_wanted:
        msg = f"{output} is left as it was."
        raise OptionError(msg)


def check_folder(folder: str | None) -> None:
    """Refuse what cannot be a folder to write to, before any work is done; one that is not there yet can be made."""
    if folder is None:
        return
    if not folder:
        msg = "-o names no folder. Hint: give it a name, or leave it out."
        raise OptionError(msg)
    there = next(one for one in (Path(folder), *Path(folder).parents) if os.path.lexists(one))
    if not there.is_dir():
        msg = f"{there} is a {'link that leads to no' if there.is_symlink() else 'file, and not a'} folder."
        raise OptionError(msg)


def write_text(path: str, text: str) -> None:
    """Write a file, which takes its place when it is whole; "-" is standard output."""
    if path == "-":
        click.echo(text, nl=False)
        return
    with placed(path) as part:
        part.write_text(text, encoding="utf-8")


# -- secrets -----------------------------------------------------------------------------------------------------------


def write_secret(path: str, text: str) -> None:
    """Write a file that only its owner can read; one that is there already is never written over."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        msg = f"{path} is there already, and a key that is written over is lost. Hint: choose another name."
        raise OptionError(msg) from None
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(text)
    except OSError:
        Path(path).unlink()
        raise


def write_keys(folder: str, keys: Sequence[str]) -> None:
    """Write each key to a file of its own, 1.txt and so on, in a new folder that only its owner can enter."""
    place = Path(folder)
    width = len(str(len(keys)))
    if place.exists() or place.is_symlink():
        msg = f"{folder} is there already, and keys that are written over are lost. Hint: choose another name."
        raise OptionError(msg)
    place_of(folder)  # refuses what is in no folder
    part = place.with_name(f".evenodds.{os.urandom(8).hex()}.part")
    try:
        part.mkdir(0o700)
        for number, key in enumerate(keys, 1):
            write_secret(str(part / f"{number:0{width}}.txt"), f"{key}\n")
        part.rename(place)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def read_secret_key(path: str) -> str:
    """The key that a file holds; a warning where others than its owner can read it."""
    try:
        key = check_key(read_key(path))  # first, since what is no key is no secret
    except EvenoddsError as error:
        msg = f"{path}: {error}"
        raise type(error)(msg) from None
    file = Path(path)
    mode = file.stat().st_mode
    if os.name == "posix" and stat.S_ISREG(mode) and mode & (stat.S_IRGRP | stat.S_IROTH):
        msg = (
            f"{path} can be read by others than its owner (mode {stat.S_IMODE(mode):04o}), and who knows the key can "
            f"foretell every draw. Hint: chmod 600 {path}, or evenodds draw-key -o, which writes it so."
        )
        warnings.warn(msg, EvenoddsWarning, stacklevel=2)
    return key


def read_key(path: str) -> str:
    """The text of a key file, which need not be a key."""
    written = Path(path).read_bytes()
    if written.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        msg = f"{path} begins with a byte order mark, as some editors write it. Hint: save it as plain ASCII text."
        raise DataError(msg)
    return written.decode("ascii", errors="replace").strip()
