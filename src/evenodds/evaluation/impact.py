"""Impact ratios of decisions: how often people of each category are selected, by the most often selected category.

The table that New York City's Local Law 144 of 2021 asks of automated employment decision tools (Rules of the City of
New York, title 6, section 5-301): by each protected characteristic and by their intersections the number of people, the
selection rate and the impact ratio; who is of an unknown category is counted apart, and categories of less than 2 % of
the people may be left out of the ratios.
"""

from __future__ import annotations

import csv
import html
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.errors import DataError
from evenodds.frames import array_of, columns_of, frame_of_rows, is_missing
from evenodds.model.columns import check_amounts, check_lengths, numbers_of
from evenodds.showing import people_text
from evenodds.values import names_of

__all__ = ["SMALL_SHARE", "Impact", "ImpactRatios", "check_odds", "impact_ratios"]

SMALL_SHARE = 0.02
"""Of the people: a category with fewer may be left out."""
UNKNOWN = ("", "unknown", "n/a", "na", "null", "none", "not specified", "prefer not to say")


def _number(people: float) -> float:
    """A number of people, which is whole but for weights."""
    return int(people) if float(people).is_integer() else people


@dataclass(frozen=True)
class Impact:
    """One category: how many people, how often selected, and the ratio to the most often selected category."""

    by: str
    """Which characteristic, or characteristics, the category is of."""
    category: str
    people: float
    share: float
    """Of the people whose category is known."""
    selected: float
    selection_rate: float
    impact_ratio: float
    """NaN where nobody of any category is selected."""
    small: bool
    """Whether the category has less than 2 % of the people; it then does not count as the most often selected."""


@dataclass(frozen=True)
class ImpactRatios:
    """All categories, by characteristic and by intersection; and who is of no known category.

    See Also
    --------
    impact_ratios : Makes one.

    Examples
    --------
    >>> table = impact_ratios([1, 0, 1, 0, 0, 1], ["f", "f", "m", "m", "m", None], columns=["sex"])
    >>> print(table)
    Impact ratios of 6 people: selection rates divided by that of the most often selected.
    By sex:
      f           2 people  rate 0.500  ratio 1.000
      m           3 people  rate 0.333  ratio 0.667
      1 people of unknown sex are not counted.
    """

    rows: tuple[Impact, ...]
    """One for each category: how many people, how often selected, the ratio, and whether the category is small."""
    people: float
    """How many there are, with those of unknown category."""
    unknown: tuple[tuple[str, float], ...]
    """By characteristic or intersection: how many people have no category there, and are in none of its figures."""

    def frame(self) -> Any:
        """The same as a data frame."""
        return frame_of_rows([field.name for field in fields(Impact)], [astuple(row) for row in self.rows])

    def csv(self) -> str:
        """The same as text for a spreadsheet; people of unknown category in rows of their own."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([field.name for field in fields(Impact)])
        for row in self.rows:
            counted = replace(row, people=_number(row.people), selected=_number(row.selected))
            writer.writerow([*astuple(counted)[:-1], "yes" if row.small else "no"])
        writer.writerows([by, "unknown", _number(people), "", "", "", "", ""] for by, people in self.unknown)
        return text.getvalue()

    def html(self) -> str:
        """The same as a page of its own, without a script."""
        return _PAGE.format(people=f"{self.people:,.10g}", tables=self._repr_html_())

    def _repr_html_(self) -> str:
        return "\n".join(_table(by, self._of(by), unknown) for by, unknown in self.unknown)

    def _of(self, by: str) -> list[Impact]:
        """The categories of one characteristic, or intersection."""
        return [row for row in self.rows if row.by == by]

    def __str__(self) -> str:
        lines = [
            f"Impact ratios of {self.people:,.10g} people: selection rates divided by that of the most often selected."
        ]
        for by, unknown in self.unknown:
            own = self._of(by)
            lines.append(f"By {by}:")
            width = max((len(row.category) for row in own), default=0)
            lines += [
                f"  {row.category.ljust(width)}  {row.people:>10,.10g} people  rate {row.selection_rate:.3f}  "
                f"ratio {_ratio(row)}{'  (under 2 % of the people)' if row.small else ''}"
                for row in own
            ]
            if any(row.small for row in own):
                lines.append(
                    "  Others are not compared with categories under 2 % of the people: their ratio may be above 1."
                )
            if unknown:
                lines.append(f"  {unknown:,.10g} people of unknown {by} are not counted.")
        return "\n".join(lines)


def impact_ratios(
    decision_or_odds: ArrayLike, group: Any, *, weight: ArrayLike | None = None, columns: Sequence[str] = ()
) -> ImpactRatios:
    """How often people of each category, and of each intersection, are selected: the table of Local Law 144.

    Parameters
    ----------
    decision_or_odds : array of shape (n,)
        1 for a yes and 0 for a no, or the odds of a yes.
    group : a column or several
        The characteristics, such as sex and race. Missing values and words such as "unknown" are of no category.
    weight : array of shape (n,), optional
        How many people a row counts for.
    columns : sequence of str, optional
        What the characteristics are called; the names of a data frame's columns without it.

    Returns
    -------
    ImpactRatios
        The table: `.rows`, `.frame()`, `.csv()`, `.html()`.

    See Also
    --------
    audit : With labels, also rates of errors, and intervals.
    Audit.of_decisions : The same of decisions.

    Examples
    --------
    >>> table = impact_ratios([1, 0, 1, 0, 0, 1], ["f", "f", "m", "m", "m", None], columns=["sex"])
    >>> [(row.category, row.people, round(row.impact_ratio, 3)) for row in table.rows], table.unknown
    ([('f', 2.0, 1.0), ('m', 3.0, 0.667)], (('sex', 1.0),))
    """
    odds = check_odds(decision_or_odds)
    values, names = _characteristics(group, columns)
    if odds.size == 0:
        msg = "There is nobody: the column of decisions is empty."
        raise DataError(msg)
    if len(set(names)) < len(names):
        msg = f"columns={names!r} has a name twice: every characteristic needs one of its own."
        raise DataError(msg)
    weights = np.ones(odds.size) if weight is None else numbers_of("weight", weight)
    check_amounts("weight", weights)
    lengths = {"decision": odds.size, "weight": weights.size, **dict(zip(names, (v.size for v in values), strict=True))}
    check_lengths(lengths)
    rows: list[Impact] = []
    unknown = []
    for count in dict.fromkeys((1, len(values))):
        for which in combinations(range(len(values)), count):
            by = " x ".join(names[i] for i in which)
            gone = np.any([values[i] == "" for i in which], axis=0)
            unknown.append((by, float(weights[gone].sum())))
            keys = list(zip(*(values[i][~gone].tolist() for i in which), strict=True))
            rows += _impacts(by, keys, odds[~gone], weights[~gone])
    return ImpactRatios(tuple(rows), float(weights.sum()), tuple(unknown))


def check_odds(decision_or_odds: ArrayLike) -> NDArray[np.float64]:
    """Decisions or odds as numbers; refuse those outside 0 to 1."""
    odds = numbers_of("decision", decision_or_odds)
    wrong = np.flatnonzero(~((odds >= 0) & (odds <= 1)))
    if wrong.size:
        msg = (
            f"decision has {wrong.size} value{'s' * (wrong.size > 1)} outside 0 to 1 (first at position {wrong[0]}: "
            f"{odds[wrong[0]]:g}). Allowed: 1 for a yes, 0 for a no, or the odds of a yes."
        )
        raise DataError(msg)
    return odds


def _characteristics(group: Any, columns: Sequence[str]) -> tuple[list[NDArray[Any]], list[str]]:
    """The characteristics as text, "" where they are not known, and their names."""
    asked = names_of("columns", columns)
    several = columns_of(group)
    if several is not None:
        values, names = [column.to_numpy() for column in several], [str(column.name or "group") for column in several]
    else:
        values = _plain_columns(group)
        names = ["group"] if len(values) == 1 else [f"column {i + 1}" for i in range(len(values))]
    if asked and len(asked) != len(values):
        msg = f"columns={asked!r} names {len(asked)} columns, and there are {len(values)}."
        raise DataError(msg)
    if not values:
        msg = "group has no column."
        raise DataError(msg)
    return [np.array([_category(value) for value in column], dtype=object) for column in values], asked or names


def _plain_columns(group: Any) -> list[NDArray[Any]]:
    """The columns of an array, of a list of values, or of a list of columns."""
    if isinstance(group, (list, tuple)) and group and np.ndim(group[0]) > 0:
        return [array_of(column) for column in group]
    is_none = isinstance(group, (str, bytes, Mapping)) or not hasattr(group, "__len__")
    array = np.zeros(0) if is_none else array_of(group)
    if array.ndim not in (1, 2) or not len(array):
        msg = f"group must be a column or several, with a value for each decision; got {type(group).__name__}."
        raise DataError(msg)
    return [array] if array.ndim == 1 else list(array.T)


def _category(value: Any) -> str:
    text = "" if is_missing(value) else str(value).strip()
    return "" if text.lower() in UNKNOWN else text


def _impacts(
    by: str, keys: Sequence[tuple[str, ...]], odds: NDArray[np.float64], weights: NDArray[np.float64]
) -> list[Impact]:
    categories = sorted(set(keys))
    place = {category: i for i, category in enumerate(categories)}
    codes = np.array([place[key] for key in keys], dtype=np.intp)
    people = np.bincount(codes, weights, minlength=len(categories))
    selected = np.bincount(codes, weights * odds, minlength=len(categories))
    total = float(people.sum())
    small = people < SMALL_SHARE * total
    with np.errstate(invalid="ignore", divide="ignore"):
        rates, shares = selected / people, people / total
    # Where all are small one of them is what the others are compared with.
    most = float(np.nanmax(rates[~small] if (~small).any() else rates, initial=0.0))
    return [
        Impact(
            by,
            " x ".join(category),
            float(people[i]),
            float(shares[i]),
            float(selected[i]),
            float(rates[i]),
            float(rates[i]) / most if most > 0 else math.nan,
            bool(small[i]),
        )
        for i, category in enumerate(categories)
    ]


def _ratio(row: Impact) -> str:
    return "not defined" if math.isnan(row.impact_ratio) else f"{row.impact_ratio:.3f}"


def _table(by: str, rows: Sequence[Impact], unknown: float) -> str:
    cells = "\n".join(
        f"<tr><td>{html.escape(row.category)}{' *' if row.small else ''}</td><td>{row.people:,.10g}</td>"
        f"<td>{people_text(row.selected)}</td><td>{row.selection_rate:.3f}</td><td>{_ratio(row)}</td></tr>"
        for row in rows
    )
    note = f"<p>{unknown:,.10g} people of unknown {html.escape(by)} are not counted.</p>" if unknown else ""
    star = (
        "<p>* under 2 % of the people: others are not compared with it, and its ratio may be above 1</p>"
        if any(row.small for row in rows)
        else ""
    )
    return (
        f"<table><caption>{html.escape(by)}</caption><thead><tr><th>Category</th><th>People</th><th>Selected</th>"
        f"<th>Selection rate</th><th>Impact ratio</th></tr></thead><tbody>\n{cells}\n</tbody></table>{star}{note}"
    )


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Impact ratios</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 52rem; padding: 0 1rem; color: #1b1f24; }}
table {{ border-collapse: collapse; margin: 1.5rem 0 .5rem; width: 100%; }}
caption {{ font-weight: 600; text-align: left; padding-bottom: .3rem; }}
th, td {{ border-bottom: 1px solid #d5dae0; padding: .3rem .6rem; text-align: right; }}
th:first-child, td:first-child {{ text-align: left; }}
p {{ margin: .3rem 0; color: #57606a; }}
</style></head><body>
<h1>Impact ratios</h1>
<p>{people} people. The impact ratio of a category is its selection rate divided by that of the category that is
selected most often. As New York City's Local Law 144 of 2021 asks for.</p>
{tables}
</body></html>
"""
