"""How each dialect of SQL writes names, texts, types and tables of constants; sqlglot knows most of it.

What it does not know is what depends on a setting of the engine, or is read differently by its versions. Such texts are
written in a way that all of them read alike, and names that cannot be are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from evenodds.errors import MissingPackageError, OptionError, one_of

__all__ = ["DIALECTS", "Dialect", "check_text", "dialect_of"]

_LONGEST_NAME = 63  # bytes, in PostgreSQL, which cuts longer ones
_SPARKS_OWN = frozenset("'\\$")  # read by its version, by a setting, and as a variable
_ESCAPES = {"'": "\\'", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_FOUR_DIGITS = 0x10000


@dataclass(frozen=True)
class Dialect:
    """What is particular about a dialect; `name` is sqlglot's for it, too."""

    name: str
    title: str
    table: str = "(VALUES\n{rows}\n  ) AS {alias}({columns})"
    materialized: bool = False
    """Whether a table of constants must be told to be read from text once, and not for each person."""
    hides_twins: bool = False
    """Whether two columns of one name are no error, but one of them gets another name."""
    refuses_underflow: bool = False
    """Whether a product that is 0 though its factors are not is an error."""
    exact: str = ""
    """What makes a comparison of texts one of bytes, where a column may ask for another."""
    escapes: bool = False
    """Whether a backslash begins an escape in a literal, whatever the settings."""
    forbidden: Mapping[str, str] = field(default_factory=dict)
    """What no name may hold there, and why, beside what none may anywhere."""

    def _sql(self, expression: Any) -> str:
        return str(expression.sql(dialect=self.name))

    def quoted(self, *parts: str) -> str:
        """A name of one part or several, in quotes, so that it is read as it stands."""
        return ".".join(self._sql(_sqlglot().Identifier(this=part, quoted=True)) for part in parts)

    def cast(self, sql: str, kind: str) -> str:
        """An expression as another type: "double", "int" or "text"."""
        return self._sql(_sqlglot().cast(_sqlglot().Var(this=sql), kind))

    def number(self, value: float) -> str:
        """A float64, from text: all engines read that to the last bit, and some of them no decimals."""
        return self.cast(self.text(repr(value)), "double")

    def text(self, words: str) -> str:
        """A text as a literal."""
        if self.name == "postgres" and "\\" in words:  # which is an escape in '' by a setting, and in E'' always
            return "E" + self._literal(words).replace("\\", "\\\\")
        if self.name == "spark" and not (words.isprintable() and _SPARKS_OWN.isdisjoint(words)):
            return f"CAST(X'{words.encode().hex().upper()}' AS STRING)"
        if self.escapes:
            return f"'{''.join(map(_escaped, words))}'"
        return self._literal(words)

    def _literal(self, words: str) -> str:
        return self._sql(_sqlglot().Literal.string(words))

    def rows(self, alias: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """A table of texts, of which each row is a line."""
        lines = ",\n".join(f"    ({', '.join(row)})" for row in rows)
        typed = ", ".join(f"{column} STRING" for column in columns)
        return self.table.format(rows=lines, alias=alias, columns=", ".join(columns), typed=typed)

    def check_name(self, what: str, name: object) -> str:
        """A name that can be written; `what` it names is said where it cannot."""
        if not isinstance(name, str) or not name:
            msg = f"{what}={name!r} is not a name. Allowed: a string that is not empty."
            raise OptionError(msg)
        check_text(f"The name {what}={name!r}", name)
        for part, why in self.forbidden.items():
            if part in name:
                msg = f"The name {what}={name!r} cannot be written for {self.title}: {why}. Hint: rename it in a view."
                raise OptionError(msg)
        if self.name == "postgres" and len(name.encode()) > _LONGEST_NAME:
            msg = (
                f"The name {what}={name!r} is of {len(name.encode())} bytes, and PostgreSQL cuts names after "
                f"{_LONGEST_NAME}. Hint: choose a shorter one."
            )
            raise OptionError(msg)
        return name


def _escaped(character: str) -> str:
    """What both Snowflake and BigQuery read as this character; sqlglot's escapes differ from version to version."""
    if character.isprintable() or ord(character) >= _FOUR_DIGITS:
        return _ESCAPES.get(character, character)
    return _ESCAPES.get(character, f"\\u{ord(character):04x}")


def _sqlglot() -> Any:
    try:
        return import_module("sqlglot.expressions")
    except ImportError:
        msg = "SQL needs sqlglot. Hint: pip install 'evenodds[sql]'."
        raise MissingPackageError(msg) from None


def check_text(what: str, text: str) -> None:
    """Refuse a text that not every engine can hold."""
    if "\0" in text:
        msg = f"{what} has the character U+0000, which not every engine can hold. Hint: take it out."
        raise OptionError(msg)
    try:
        text.encode()
    except UnicodeEncodeError:
        msg = f"{what} has half a character, a lone surrogate. Hint: read it with the encoding that it has."
        raise OptionError(msg) from None


_UNWRITTEN = "BigQuery has no names with backticks, backslashes, tabs or line breaks"
_ALL = (
    Dialect("duckdb", "DuckDB", exact="COLLATE C", hides_twins=True),
    Dialect("postgres", "PostgreSQL", materialized=True, refuses_underflow=True, exact='COLLATE "C"'),
    Dialect("spark", "Spark", forbidden={"${": "Spark puts the values of variables in place of ${...}"}),
    Dialect("snowflake", "Snowflake", escapes=True),
    Dialect(
        "bigquery",
        "BigQuery",
        table="UNNEST(ARRAY<STRUCT<{typed}>>[\n{rows}\n  ]) AS {alias}",
        escapes=True,
        forbidden=dict.fromkeys("`\\\t\r\n", _UNWRITTEN),
    ),
)
DIALECTS = tuple(dialect.name for dialect in _ALL)
_OTHER_NAMES = {"postgresql": "postgres"}


def dialect_of(name: object) -> Dialect:
    """The dialect of this name."""
    known = _OTHER_NAMES.get(name, name) if isinstance(name, str) else name
    return _ALL[DIALECTS.index(one_of("dialect", known, DIALECTS))]
