"""Options that are one of some words: listed in help, completed by shells, answered with the nearest where misspelt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from evenodds.errors import OptionError, one_of

__all__ = ["Word", "WordOption"]

_SHORT = 40  # characters of words that are shown in place of a value


class Word(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """One of some words, which are looked up when they are needed: modules that know them may be heavy."""

    name = "word"

    def __init__(
        self,
        words: Sequence[str] | Callable[[], Iterable[str]],
        elsewhere: Mapping[str, str] | None = None,
        same: Mapping[str, str] | None = None,
    ) -> None:
        self._given, self._elsewhere, self._same = words, elsewhere or {}, same or {}

    @property
    def words(self) -> tuple[str, ...]:
        """What is allowed."""
        return tuple(self._given() if callable(self._given) else self._given)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        """The word, or an error that offers the nearest."""
        if value is None:
            return None
        value, name = self._same.get(value, value), param.opts[-1] if param else "value"
        try:
            return one_of(name, value, self.words, self._elsewhere)
        except OptionError as error:
            raise OptionError(str(error).replace(f"{name}={value!r}", f"{name} {value or repr(value)}")) from None

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 click gives both
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """The words that begin so."""
        return [CompletionItem(word) for word in self.words if word.startswith(incomplete)]


class WordOption(click.Option):
    """An option whose help lists its words: in place of the value where they are few, else after its sentence."""

    def __init__(
        self,
        names: Sequence[str],
        *,
        words: Sequence[str] | Callable[[], Iterable[str]],
        elsewhere: Mapping[str, str] | None = None,
        same: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(names, type=Word(words, elsewhere, same), **more)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """As click's, with the words."""
        record = super().get_help_record(ctx)
        if record is None or not isinstance(self.type, Word):
            return record
        usage, told = record
        words = self.type.words
        if len(shown := "|".join(words)) <= _SHORT:
            return usage.replace("WORD", f"[{shown}]"), told
        sentence, bracket, extra = told.partition("  [")
        return usage, f"{sentence} One of: {', '.join(words)}.{bracket}{extra}"
