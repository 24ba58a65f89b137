"""How a run ends: its exit code, and the one line that says what is wrong."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from evenodds.errors import EvenoddsError

__all__ = ["Commands", "run"]

_BAD_INPUT = 2  # 1 says that an audit or a verification failed, and nothing else does
_INTERRUPTED = 128 + 2  # what a shell says of a program that Ctrl-C ended
_CLOSED = 128 + 13  # and of one whose output nobody reads any more


class Commands(click.Group):
    """A group that ends in the exit codes above: click would make 1 of a closed pipe and of Ctrl-C.

    What is wrong with the words of a call is one line, too, and no usage before it.
    """

    def make_context(self, *words: Any, **extra: Any) -> click.Context:
        """As click's, which also prints the help."""
        with _as_a_shell_says():
            return super().make_context(*words, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """As click's, which runs the command."""
        with _as_a_shell_says(ctx):
            return super().invoke(ctx)


@contextmanager
def _as_a_shell_says(group: click.Context | None = None) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise SystemExit(_CLOSED) from None
    except KeyboardInterrupt:
        raise SystemExit(_INTERRUPTED) from None
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        raise _Refused(error, group) from None


class _Refused(click.ClickException):
    """Words of a call that cannot be understood."""

    exit_code = _BAD_INPUT

    def __init__(self, error: click.UsageError, group: click.Context | None) -> None:
        words = error.format_message().replace("a valid integer range", "a whole number")
        if "Did you mean" not in words:
            words = f"{words.removesuffix('.')}. Hint: {_asked(error, group)} --help."
        super().__init__(f"evenodds: {_one_line(words)}")

    def show(self, file: Any = None) -> None:  # noqa: ARG002 click gives it
        """One line."""
        click.echo(self.message, err=True)


def _asked(error: click.UsageError, group: click.Context | None) -> str:
    """The command whose words they are; click does not say it of an option that lacks its value."""
    if error.ctx is not None:
        return error.ctx.command_path
    command = group.invoked_subcommand if group else None
    return f"evenodds {command}" if command else "evenodds"


def run(commands: Callable[[], None]) -> None:
    """Run the commands, and leave: exit code 2 and one line on bad input, never a traceback."""
    try:
        with _as_a_shell_says():
            try:
                _run_and_flush(commands)
            except BrokenPipeError:
                raise
            except (EvenoddsError, OSError) as error:
                words = _of_the_system(error) if isinstance(error, OSError) else str(error)
                click.echo(f"evenodds: {_one_line(words)}", err=True)
                sys.exit(_BAD_INPUT)
    finally:
        _let_go()


def _run_and_flush(commands: Callable[[], None]) -> None:
    """What cannot be written is found out now, while it can still be said."""
    try:
        commands()
    finally:
        if sys.stdout is not None:
            sys.stdout.flush()


def _let_go() -> None:
    """Send what nobody takes nowhere: Python would complain of it at its very end, and change the exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _one_line(words: str) -> str:
    """A message in one line, whatever names have in it: also what would steer a terminal."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", lambda match: repr(match[0])[1:-1], " ".join(words.split()))


def _of_the_system(error: OSError) -> str:
    """What the system refused, in our words."""
    if not isinstance(error.filename, str):
        return f"{os.strerror(error.errno) if error.errno else error}."
    path = Path(error.filename)
    if isinstance(error, FileNotFoundError):
        return f"There is no file {path}." if path.parent.is_dir() else f"There is no folder {path.parent}."
    if isinstance(error, IsADirectoryError):
        return f"{path} is a folder, and not a file."
    return f"{path}: {error.strerror}."
