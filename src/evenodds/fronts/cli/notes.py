"""What is said: the answer in words and, on standard error, warnings, what was written, and what is being done."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any

import click

from evenodds.errors import EvenoddsWarning
from evenodds.fronts.cli.spellings import WORDS, as_typed
from evenodds.progress import without_bars
from evenodds.visible import visible

__all__ = ["answer", "is_quiet", "tell", "tell_warnings", "tell_written", "typed", "with_quiet_and_verbose"]

_QUIET = "evenodds.quiet"  # among what a run's contexts share


def with_quiet_and_verbose(command: click.Command) -> click.Command:
    """The command with the options --quiet and --verbose; of a group, all that are in it."""
    if isinstance(command, click.Group):
        for one in command.commands.values():
            with_quiet_and_verbose(one)
        return command
    command.params += [
        _flag(["-q", "--quiet"], _be_quiet, "Say nothing but errors and what was asked for."),
        _flag(["-v", "--verbose"], _be_verbose, "Say what is being done: the log of evenodds, on standard error."),
    ]
    return command


def _flag(names: list[str], callback: Callable[..., None], told: str) -> click.Option:
    """An option that does something by itself, before the command runs, and is no argument of it."""
    return click.Option(names, is_flag=True, is_eager=True, expose_value=False, callback=callback, help=told)


def is_quiet() -> bool:
    """Whether nothing shall be said that was not asked for."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_QUIET))


def answer(result: object) -> None:
    """What was asked for, in words, whatever names they hold."""
    click.echo(visible(str(result), lines=True))


def typed(words: str) -> str:
    """The words with options as they are typed for the command that runs, if there is one."""
    context = click.get_current_context(silent=True)
    return words if context is None else as_typed(words, context.command, context.meta[WORDS])


def tell(words: str) -> None:
    """A line for whoever watches."""
    if not is_quiet():
        click.echo(words, err=True)


def tell_written(path: str | None, *, rows: int | None = None) -> None:
    """What was written where, if that was a file."""
    if path not in (None, "-"):
        count = "" if rows is None else f" ({rows:,} row{'s' * (rows != 1)})"
        tell(f"Written to {path}{count}.")


def tell_warnings() -> None:
    """Show warnings of ours in one line each; others are for those who work on the code."""
    warnings.simplefilter("always", EvenoddsWarning)
    warnings.showwarning = _warn


def _warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    if issubclass(category, EvenoddsWarning):
        tell(f"evenodds: warning: {typed(str(message))}")


def _be_quiet(context: click.Context, _: click.Parameter, given: bool) -> None:  # noqa: FBT001 click calls it so
    if given:
        context.meta[_QUIET] = True
        context.call_on_close(without_bars())


def _be_verbose(context: click.Context, _: click.Parameter, given: bool) -> None:  # noqa: FBT001 as above
    if given:
        context.call_on_close(_logged())


def _logged() -> Callable[[], None]:
    """Send the log of evenodds to standard error; what is returned ends that."""
    log, handler = logging.getLogger("evenodds"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("evenodds: %(message)s"))
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)

    def end() -> None:
        log.removeHandler(handler)
        log.setLevel(before)

    return end
