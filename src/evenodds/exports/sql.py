"""A policy as SQL: odds, draws and decisions where the people are. What may be asked for is checked here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from evenodds.decisions.draw import check_round
from evenodds.errors import OptionError, did_you_mean, one_of
from evenodds.exports.dialects import Dialect, check_text, dialect_of
from evenodds.exports.statement import Group, Statement
from evenodds.model.cells import names_of
from evenodds.model.keys import key_of, parts_of
from evenodds.model.policy import Policy, check_policy

__all__ = ["KINDS", "to_sql"]

KINDS = ("text", "boolean", "float")
_PADS = "evenodds_pads"
_MOST_PARTS = 3  # a catalog, a schema and a table


def to_sql(
    policy: Policy,
    *,
    dialect: str,
    table: str | Sequence[str],
    score: str,
    group: str | Sequence[str],
    id: str | None = None,  # noqa: A002 the word for it
    round: str = "",  # noqa: A002 the word for a repeated lottery
    kinds: Mapping[str, str] | None = None,
    into: str = "odds",
    draw: str = "draw",
    decision: str = "decision",
    pads: str | Sequence[str] = _PADS,
) -> str:
    """A policy as a SELECT of everybody in a table with their odds, and with `id` also their draw and decision.

    Odds, draws and decisions are bit for bit those of `apply` and `decide`. DuckDB, PostgreSQL and Spark were put to
    the test; the text for Snowflake and BigQuery follows their documentation, and was parsed but never run. A score
    that is missing, NaN or infinite, and a group that is missing or not known, have no odds (NULL); a missing or empty
    id has no draw. Whether ids come twice, and whether they are NFC-normalised, is not looked at.

    Parameters
    ----------
    policy : Policy
        What is written.
    dialect : "duckdb", "postgres" (or "postgresql"), "spark", "snowflake" or "bigquery"
        The engine that will run it.
    table : str
        Its name, with dots between a schema and a table; a sequence of names where they have dots themselves.
    score, group : str
        Columns, as for `apply`. All names are written in quotes, so upper and lower case count as the engine keeps
        them: in Snowflake names that were made without quotes are upper case.
    id : str, optional
        The column that says who a row is: text or whole numbers, as for `decide`.
    round : str
        As for `draw`. The key is no part of the text: see `pads`.
    kinds : mapping of column names to "text", "boolean" or "float", optional
        What group columns hold. "text", also for whole numbers, is compared as text. Engines write truth values and
        floats in other ways than Python: those columns must be named. Where the groups of the policy look so, an error
        asks.
    into, draw, decision : str
        The names of the new columns, which the table must not have; with reviews there is one more, `into` with
        "_review" after it. A decision is 1 or 0, and "yes", "review" or "no" where there are reviews.
    pads : str
        The table of one row that the draws read, named as `table`: columns i and o of bytes, the two pads of the key.
        docs/sql.md says how to fill it so that no log tells the key.

    Returns
    -------
    str
        The text, without a semicolon, so that it can be a query, a view or part of another query.

    See Also
    --------
    apply, decide : The same for data frames, among them lazy ones of DuckDB, Spark and PostgreSQL.
    to_python : The same for Python without any package.

    Examples
    --------
    >>> import evenodds as eo
    >>> policy = eo.fit(eo.datasets.credit_risk())
    >>> text = eo.to_sql(policy, dialect="postgres", table="loans.applicants", score="points", group="race")
    >>> print(text[text.index("evenodds_odds AS") :])
    evenodds_odds AS (
      SELECT
        p.*,
        k.c1 * ((CAST(p."points" AS DOUBLE PRECISION) - k.origin) * k.rate) + k.c0 AS "odds"
      FROM "loans"."applicants" AS p
      LEFT JOIN evenodds_pieces AS k
        ON CAST(p."race" AS TEXT) COLLATE "C" = k.grp
        AND CAST(p."points" AS DOUBLE PRECISION) >= k.low
        AND CAST(p."points" AS DOUBLE PRECISION) < k.high
    )
    SELECT
      *
    FROM evenodds_odds
    <BLANKLINE>
    """
    check_policy(policy)
    target, groups = dialect_of(dialect), names_of(group)
    statement = Statement(
        policy=policy,
        dialect=target,
        table=_path("table", table, target),
        score=target.check_name("score", score),
        groups=_groups(policy, [target.check_name("group", name) for name in groups], kinds or {}),
        id=None if id is None else target.check_name("id", id),
        round=check_round(round),
        into=target.check_name("into", into),
        review=target.check_name("into", f"{into}_review"),
        draw=target.check_name("draw", draw),
        decision=target.check_name("decision", decision),
        pads=_path("pads", pads, target),
    )
    _check_together(statement)
    for key in policy.groups:
        check_text(f"The group {key!r}", key)
    return statement.text


def _path(what: str, given: object, dialect: Dialect) -> tuple[str, ...]:
    """The parts of a table's name."""
    if isinstance(given, str):
        parts = tuple(given.split("."))
    elif isinstance(given, (list, tuple)) and given:
        parts = tuple(given)
    else:
        msg = f"{what}={given!r} is not allowed. Allowed: a name, with dots between its parts, or a sequence of these."
        raise OptionError(msg)
    if len(parts) > _MOST_PARTS:
        msg = (
            f"{what}={given!r} has {len(parts)} parts. Allowed: a table, with or without a schema and a catalog. "
            "Hint: a sequence of names, where they have dots themselves."
        )
        raise OptionError(msg)
    return tuple(dialect.check_name(what, part) for part in parts)


def _check_together(statement: Statement) -> None:
    """Refuse what does not go together."""
    drawn = statement.id is not None
    if not drawn and (statement.round or statement.pads != (_PADS,)):
        what = "round" if statement.round else "pads"
        msg = f"{what} is for draws, and these need an id. Hint: id names the column that says who a row is."
        raise OptionError(msg)
    read = [statement.score, *(group.name for group in statement.groups), *([statement.id] if statement.id else [])]
    taken = {name.lower() for name in read}  # which most engines do not tell from upper case
    for name in statement.new_columns:
        if name.lower() in taken:
            msg = f"The new column {name!r} has the name of another one. Hint: into, draw and decision rename them."
            raise OptionError(msg)
        taken.add(name.lower())


# -- what group columns hold -------------------------------------------------------------------------------------------


def _groups(policy: Policy, names: Sequence[str], kinds: object) -> tuple[Group, ...]:
    """The group columns, with what they hold."""
    if not isinstance(kinds, Mapping):
        msg = f"kinds={kinds!r} is not allowed. Allowed: names of group columns, with a kind for each."
        raise OptionError(msg)
    for name, kind in kinds.items():
        if name not in names:
            hint = did_you_mean(name, names)
            msg = f"kinds names {name!r}, which is no group column. Allowed: {', '.join(names)}.{hint}"
            raise OptionError(msg)
        one_of(f"kinds[{name!r}]", kind, KINDS)
    by_key = [parts_of(key, len(names)) for key in policy.groups]
    if not any(by_key):
        msg = f"No group of the policy can be made of {len(names)} columns. The policy knows: {policy.known}."
        raise OptionError(msg)
    groups = []
    for i, name in enumerate(names):
        ways = [[parts[i] for parts in readings] for readings in by_key if readings]
        groups.append(_group(name, tuple(dict.fromkeys(text for way in ways for text in way)), kinds.get(name), ways))
    return tuple(groups)


def _group(name: str, texts: tuple[str, ...], kind: str | None, ways: Sequence[Sequence[str]]) -> Group:
    """A group column; where its values look like others than text, or unlike those that it is said to hold, ask.

    A key may be read in several ways, where values hold the joiner: `ways` has the value of each way, for each key.
    """
    looks = {"boolean": _is_boolean, "float": _is_float}
    if kind is None:
        for other, is_other in looks.items():
            if all(any(map(is_other, way)) for way in ways):
                alike = [text for text in texts if is_other(text)]
                shown = ", ".join(map(repr, alike[:3])) + (", ..." if len(alike) > 3 else "")  # noqa: PLR2004
                msg = (
                    f"The groups {shown} in {name!r} look like {other} values, which engines write in other ways than "
                    f"Python. Hint: say what the column holds, kinds={{{name!r}: {other!r}}}, or 'text' if it is text."
                )
                raise OptionError(msg)
        return Group(name, "text", texts)
    known = texts if kind == "text" else tuple(text for text in texts if looks[kind](text))
    if not known:
        msg = f"kinds says that {name!r} holds {kind} values, and none of the policy's groups has one there."
        raise OptionError(msg)
    return Group(name, kind, known)


def _is_boolean(text: str) -> bool:
    return text in {"True", "False"}


def _is_float(text: str) -> bool:
    """Whether it is how Python writes some float, and no whole number."""
    try:
        value = float(text)
    except ValueError:
        return False
    return math.isfinite(value) and key_of(value) == text
