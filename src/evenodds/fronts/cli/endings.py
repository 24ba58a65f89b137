"""How a run ends: its exit code, and the one line that says what is wrong."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from evenodds.errors import DataError, EvenoddsError, did_you_mean
from evenodds.fronts.cli.spellings import WORDS, as_typed
from evenodds.visible import visible

__all__ = ["Commands", "run"]

_BAD_INPUT = 2  # 1 says that an audit or a verification failed, and nothing else does
_INTERRUPTED = 128 + 2  # what a shell says of a program that Ctrl-C ended
_CLOSED = 128 + 13  # and of one whose output nobody reads any more
_LIKE_AN_OPTION = 0.7  # of difflib's ratio: options are many, and long
_PERCENT = re.compile(r"'\d*(?:[.,]\d+)? ?%' is not a number")
_EXTRA = re.compile(r"unexpected extra arguments? \((\S+)(?: .*)?\)")
_COMMA = re.compile(r"'([-+]?\d*),(\d+)' is not a number")
_OPTIONS_ELSEWHERE = {
    "--sensitive": "--group", "--sensitive-feature": "--group", "--sensitive-features": "--group",
    "--protected": "--group", "--protected-attribute": "--group", "--groups": "--group", "--by": "--group",
    "--y-true": "--label", "--y": "--label", "--labels": "--label", "--outcome": "--label", "--truth": "--label",
    "--y-score": "--score", "--y-prob": "--score", "--scores": "--score", "--prediction": "--score",
    "--sample-weight": "--weight", "--weights": "--weight", "--pos-label": "--positive-label",
    "--overwrite": "--force", "--yes": "--force", "--sep": "--delimiter", "--separator": "--delimiter",
    "--silent": "--quiet", "--debug": "--verbose", "--out": "--output", "--epsilon": "--tolerance",
    "--eps": "--tolerance", "--seed": "--key-file", "--random-state": "--key-file", "--dropna": "--drop-incomplete",
}  # what other programs call them  # fmt: skip


class Commands(click.Group):
    """A group that ends in the exit codes above: click would make 1 of a closed pipe and of Ctrl-C.

    What is wrong with the words of a call is one line, too, and no usage before it.
    """

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """As click's, which also prints the help; the words are kept, since messages name some of them."""
        words = tuple(args)
        with _as_a_shell_says():
            context = super().make_context(info_name, args, parent, **extra)
        context.meta[WORDS] = words
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """As click's, which runs the command; what it says of its options is in their own spelling."""
        with _as_a_shell_says(ctx):
            try:
                return super().invoke(ctx)
            except EvenoddsError as error:
                words = as_typed(str(error), self.commands.get(ctx.invoked_subcommand or ""), ctx.meta[WORDS])
                raise type(error)(words) from error

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """As click's, with the nearest command where there is none of that name, which some of its versions lack."""
        name = args[0]
        if not (ctx.resilient_parsing or name.startswith("-") or name in self.commands):
            msg = f"No such command {name!r}.{did_you_mean(name, self.commands)}"
            raise click.UsageError(msg, ctx)
        return super().resolve_command(ctx, args)


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
        if isinstance(error, click.NoSuchOption):  # each version of click says it otherwise
            words = f"No such option {error.option_name!r}.{_nearest(error)}"
        else:
            words = error.format_message().replace("a valid integer range", "a whole number")
            words = words.replace("a valid float", "a number")
            if _PERCENT.search(words):
                words += " Hint: 5 % is 0.05, with a point."
            elif comma := _COMMA.search(words):
                words += f" Hint: write it with a point, {comma[1]}.{comma[2]}."
            elif _has_a_group_in_parts(error, words):
                words = f"{words.removesuffix('.')}. Hint: several columns are separated by commas, without spaces."
        if "Hint: " not in words:
            words = f"{words.removesuffix('.')}. Hint: {_asked(error, group)} --help."
        super().__init__(f"evenodds: {_one_line(words)}")

    def show(self, file: Any = None) -> None:  # noqa: ARG002 click gives it
        """One line."""
        click.echo(self.message, err=True)


def _nearest(error: click.NoSuchOption) -> str:
    """A hint at the option that was meant."""
    there = _options_of(error)
    if error.option_name == "--drop-incomplete" and "--on-invalid" in there:
        return " Hint: --on-invalid null leaves the odds of incomplete rows empty."
    if error.option_name in {"-q", "--quiet", "-v", "--verbose"}:
        return f" Hint: {error.option_name} comes after the command."
    other = _OPTIONS_ELSEWHERE.get(error.option_name.lower().replace("_", "-"))
    return (
        f" Hint: here it is {other}."
        if other in there
        else did_you_mean(error.option_name, there, alike=_LIKE_AN_OPTION)
    )


def _has_a_group_in_parts(error: click.UsageError, words: str) -> bool:
    """Whether what is too much stands behind --group and a column, as several columns do not."""
    extra = _EXTRA.search(words)
    typed = error.ctx.meta.get(WORDS, ()) if error.ctx else ()
    return extra is not None and any(
        name == "--group" and last == extra[1] for name, last in zip(typed, typed[2:], strict=False)
    )


def _options_of(error: click.UsageError) -> list[str]:
    return [name for param in error.ctx.command.params for name in param.opts] if error.ctx else []


def _asked(error: click.UsageError, group: click.Context | None) -> str:
    """The command whose words they are; click does not say it of an option that lacks its value."""
    if error.ctx is not None:
        return error.ctx.command_path
    command = group.invoked_subcommand if group else None
    return f"evenodds {command}" if command else "evenodds"


def run(commands: Callable[[], None]) -> None:
    """Run the commands, and leave: exit code 2 and one line on bad input, never a traceback."""
    sys.stdout = sys.stdout or io.TextIOWrapper(io.BufferedWriter(_Closed()), write_through=True)
    _end_by_signals()
    try:
        with _as_a_shell_says():
            try:
                _run_and_flush(commands)
            except BrokenPipeError:
                raise
            except (EvenoddsError, OSError) as error:
                words = _of_the_system(error) if isinstance(error, OSError) else str(error)
                _tell(f"evenodds: {_one_line(words)}")
                sys.exit(_BAD_INPUT)
    finally:
        _let_go()


def _tell(words: str) -> None:
    """What is wrong, on standard error, if that is not full or closed itself."""
    try:
        click.echo(words, err=True)
    except BrokenPipeError:
        raise
    except OSError:
        pass


def _run_and_flush(commands: Callable[[], None]) -> None:
    """What cannot be written is found out now, while it can still be said."""
    try:
        commands()
    finally:
        sys.stdout.flush()


class _Closed(io.RawIOBase):
    """Standard output that was closed: an answer is not lost unless it is in a file as well."""

    def writable(self) -> bool:
        """As whoever writes asks."""
        return True

    def write(self, text: Any) -> int:
        """Refuse it."""
        context = click.get_current_context(silent=True)
        if context is None or context.params.get("output") in (None, "-"):
            msg = "Standard output is closed. Hint: -o writes to a file."
            raise DataError(msg)
        return len(text)


def _end_by_signals() -> None:
    """End in order if a scheduler or a closed terminal says so: nothing half-written is left behind then."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    for one in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        with suppress(ValueError):  # not in the main thread
            if signal.getsignal(one) is signal.SIG_DFL:
                signal.signal(one, end)


def _let_go() -> None:
    """Send what nobody takes nowhere: Python would complain of it at its very end, and change the exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except EvenoddsError:
            sys.stdout = None  # which was closed
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _one_line(words: str) -> str:
    """A message in one line, whatever names have in it: also what would steer a terminal."""
    return visible(" ".join(words.split()))


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
