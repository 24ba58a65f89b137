"""The odds of a whole data frame: by group code for frames in memory, as one expression for engines beyond it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError, EvenoddsWarning, OptionError, UnknownGroupError, one_of
from evenodds.frames import Frame, array_of, constant, is_lazy, narwhals, opened, with_column
from evenodds.geometry.pieces import Pieces
from evenodds.geometry.underflow import without_underflow
from evenodds.model.cells import check_group_kinds, check_numeric, names_of, plain
from evenodds.model.columns import floats_of
from evenodds.model.curves import CERTAIN
from evenodds.model.keys import MISSING, UNKNOWN, Codes, get_indexer, key_of, other_columns, parts_of
from evenodds.model.policy import Outcome, Policy, check_policy
from evenodds.model.weaknesses import Whereabouts, elsewhere

__all__ = ["ON_INVALID", "OnInvalid", "apply", "group_number", "is_taken"]

OnInvalid = Literal["raise", "null"]
ON_INVALID = ("raise", "null")
_ROWS = 5  # that are shown of those that cannot be used


def apply(
    policy: Policy,
    frame: Any,
    *,
    score: str,
    group: str | Sequence[str],
    into: str = "odds",
    on_invalid: OnInvalid | None = None,
) -> Any:
    """Give each row of a data frame its odds: the chance of a yes, from 0 to 1.

    Of a policy with reviews, also the odds of a review. Nothing is decided here: `decide` draws by these odds.

    Parameters
    ----------
    policy : Policy
        What gives the odds.
    frame : pandas, polars (eager or lazy), pyarrow, DuckDB, PySpark, Dask or Ibis table
        It is not changed; its rows and its index keep their order.
    score : str
        The name of the column of scores.
    group : str or several
        The name of the column of groups; of several, in the order of the fit, where groups are combinations.
    into : str
        The name of the new column. That of the odds of a review is the same with "_review" after it; the odds of an
        automatic no are what is left to 1.
    on_invalid : "raise" or "null"
        What to do about a score that is missing, NaN or infinite, and a group that is missing or not known: an error
        that counts and shows them, or a missing value as odds. Frames in memory raise unless told otherwise; lazy
        ones cannot look at their rows beforehand, and give missing values.

    Returns
    -------
    data frame
        Of the same kind, lazy if the frame was, with one column more, or two where there are reviews.

    See Also
    --------
    decide : Also draw, and decide by the odds.
    Policy.odds : The odds of arrays.
    to_python : The same as code without dependencies.

    Examples
    --------
    >>> import pandas as pd
    >>> import evenodds as eo
    >>> policy = eo.fit(eo.datasets.credit_risk())
    >>> people = pd.DataFrame({"points": [25, 49.5, 25], "race": ["white", "white", "black"]})
    >>> eo.apply(policy, people, score="points", group="race").round(3)
       points   race   odds
    0    25.0  white  0.359
    1    49.5  white  0.934
    2    25.0  black  1.000
    """
    check_policy(policy)
    groups = names_of(group)
    table = opened(frame, (score, *groups))
    check_group_kinds(table, groups)
    check_numeric(table, "score", score)
    columns = _new_columns(policy, table, into)
    if on_invalid is not None:
        one_of("on_invalid", on_invalid, ON_INVALID)
    if is_lazy(table):
        if on_invalid == "raise":
            msg = (
                f"on_invalid='raise' is not possible for a lazy frame ({type(frame).__name__}): its rows are not there "
                "yet. Hint: leave it out, and count the missing odds afterwards."
            )
            raise OptionError(msg)
        odds_of = {name: _expression(policy, table, score, groups, outcome) for name, outcome in columns.items()}
        return table.with_columns(*(odds.alias(name) for name, odds in odds_of.items())).to_native()
    native = table.to_native()
    scores = floats_of(f"score column {score!r}", array_of(native[score]))
    codes = get_indexer([native[name] for name in groups], policy.groups)
    for name, outcome in columns.items():
        odds = policy.odds_or_nan(scores, codes, outcome=outcome)
        if outcome == "yes":
            for text in elsewhere(policy.score_range, Whereabouts.of(policy.score_range, scores)):
                warnings.warn(text, EvenoddsWarning, stacklevel=2)
        if on_invalid != "null":
            _refuse_invalid(policy, odds, scores, codes, [array_of(native[name]) for name in groups])
        native = with_column(opened(native, []), name, odds)
    return native


def _new_columns(policy: Policy, table: Frame, into: Any) -> dict[str, Outcome]:
    """The names of the new columns, and what each holds."""
    if not (isinstance(into, str) or (table.implementation.is_pandas() and isinstance(into, Hashable))):
        msg = f"into={into!r} is not allowed. Allowed: the name of a column: text, in pandas also a number."
        raise OptionError(msg)
    columns: dict[Any, Outcome] = {into: "yes"}
    if policy.review is not None:
        columns[f"{into}_review"] = "review"
    for name in columns:
        if is_taken(table, name):
            msg = f"The frame has a column {name!r} already. Hint: into= takes another name."
            raise OptionError(msg)
    return columns


def is_taken(table: Frame, name: str) -> bool:
    """Whether a column has this name already; SQL engines do not tell upper from lower case."""
    names = table.collect_schema().names()
    exact = not is_lazy(table) or table.implementation.is_polars() or table.implementation.is_dask()
    return name in names if exact else name.lower() in {other.lower() for other in names}


def _refuse_invalid(
    policy: Policy, odds: NDArray[np.float64], scores: NDArray[Any], codes: Codes, columns: Sequence[Any]
) -> None:
    rows = np.flatnonzero(np.isnan(odds))
    if not rows.size:
        return
    bad_scores = int((~np.isfinite(scores[rows])).sum())
    missing, unknown = (int((codes[rows] == code).sum()) for code in (MISSING, UNKNOWN))
    reasons = [
        f"{count:,} with {what}"
        for count, what in (
            (bad_scores, "a score that is missing, NaN or infinite"),
            (missing, "no group"),
            (unknown, "a group that the policy does not know"),
        )
        if count
    ]
    keys = {row: key_of(tuple(column[row] for column in columns)) for row in rows[:_ROWS].tolist()}
    named = {row: "no group" if codes[row] == MISSING else f"group {key!r}" for row, key in keys.items()}
    shown = "; ".join(f"row {row}: score {scores[row]:g}, {group}" for row, group in named.items())
    more = "; ..." if rows.size > _ROWS else ""
    msg = (
        f"{rows.size:,} of {odds.size:,} rows cannot be given odds: {', '.join(reasons)}"
        f"{', some of them both' * (bad_scores + missing + unknown > rows.size)} ({shown}{more}). "
        f"The policy knows: {policy.known}."
    )
    hint = other_columns([key for row, key in keys.items() if codes[row] == UNKNOWN], policy.curves)
    msg += hint or " Hint: repair these rows, or on_invalid='null' leaves their odds missing."
    raise (UnknownGroupError if unknown else DataError)(msg)


# -- one expression for every lazy engine ------------------------------------------------------------------------------


def _expression(policy: Policy, frame: Frame, score: str, groups: Sequence[str], outcome: Outcome) -> Any:
    """The odds as an expression; missing for every row that no group's condition takes.

    A score that is not a finite number must be caught first: comparisons with NaN come out differently in each engine,
    and would make a yes of it in some.
    """
    nw = narwhals()
    r = nw.col(score).cast(nw.Float64)
    branches = []
    for key, curve in policy.curves.items():
        is_group = _is_group(frame, groups, key)
        if is_group is not None:
            odds = _value(frame, curve.pieces, r)
            if outcome == "review":
                odds = _reviewed(frame, odds, _value(frame, policy.review_curves[key].pieces, r))
            branches.append(nw.when(is_group & r.is_finite()).then(odds))
    return nw.coalesce(*branches) if branches else nw.lit(None, nw.Float64)


def group_number(policy: Policy, frame: Frame, groups: Sequence[str]) -> Any:
    """The place of a row's group among the keys, sorted, as an expression."""
    nw = narwhals()
    branches = []
    for number, key in enumerate(sorted(policy.groups)):
        is_group = _is_group(frame, groups, key)
        if is_group is not None:
            branches.append(nw.when(is_group).then(nw.lit(number)))
    return nw.coalesce(*branches) if branches else nw.lit(None, nw.Int64)


def _reviewed(frame: Frame, yes: Any, upper: Any) -> Any:
    """The odds of a review, as `reviewed_share` has them."""
    nw = narwhals()
    return nw.when(upper - yes > constant(frame, CERTAIN)).then(upper - yes).otherwise(constant(frame, 0.0))


def _is_group(frame: Frame, groups: Sequence[str], key: str) -> Any:
    """The condition that the group columns hold values of this key; None where their kinds cannot."""
    ways = [_holds(frame, groups, parts) for parts in parts_of(key, len(groups))]
    possible = [condition for condition in ways if condition is not None]
    return reduce(or_, possible) if possible else None


def _holds(frame: Frame, groups: Sequence[str], parts: Sequence[str]) -> Any:
    """The condition that the group columns hold these parts of a key; None where their kinds cannot."""
    schema = frame.collect_schema()
    conditions = []
    for name, part in zip(groups, parts, strict=True):
        values = _typed(frame, schema[name], part)
        if not values:
            return None
        conditions.append(reduce(or_, [plain(frame, name) == value for value in values]))
    return reduce(and_, conditions)


def _typed(frame: Frame, kind: Any, part: str) -> list[Any]:
    """The values of the column's own kind whose key is this part: one, or none, or for pandas' objects a few."""
    nw = narwhals()
    number, whole, truth = _parsed(float, part), _parsed(int, part), {"True": [True], "False": [False]}.get(part, [])
    if kind == nw.Boolean:
        return truth
    if kind.is_numeric():
        return whole if kind.is_integer() else number
    if kind == nw.Object or (kind == nw.Categorical and frame.implementation.is_dask()):
        return [part, *number, *whole, *truth]
    return [part]


def _parsed(kind: Callable[[str], Any], part: str) -> list[Any]:
    """The number that a key is the key of, if it is one and not NaN."""
    try:
        value = kind(part)
    except ValueError:
        return []
    return [value] if key_of(value) == part and value == value else []  # noqa: PLR0124


def _value(frame: Frame, pieces: Pieces, r: Any) -> Any:
    """The piecewise polynomial as nested choices, halved each time so that many pieces do not nest deeply."""
    nw = narwhals()
    if frame.implementation.is_ibis():  # it may speak to PostgreSQL, which refuses products that underflow
        pieces = without_underflow(pieces)

    def between(first: int, last: int) -> Any:
        if first == last:
            return _polynomial(frame, pieces, first, r)
        middle = (first + last + 1) // 2
        edge = constant(frame, float(pieces.lo[middle]))
        below = r < edge if pieces.closed == "left" else r <= edge
        return nw.when(below).then(between(first, middle - 1)).otherwise(between(middle, last))

    return between(0, pieces.lo.size - 1)


def _polynomial(frame: Frame, pieces: Pieces, piece: int, r: Any) -> Any:
    """By Horner's rule, in the same order of operations as numpy's, so that every bit agrees."""
    first, *others = [constant(frame, c) for c in reversed(pieces.polynomial(piece))]
    u = (r - constant(frame, float(pieces.origin[piece]))) * constant(frame, float(pieces.rate[piece]))
    return reduce(lambda value, coefficient: value * u + coefficient, others, first)
