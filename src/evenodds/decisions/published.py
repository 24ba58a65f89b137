"""Decisions as they were published: which columns they stand in, and what these hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.errors import DataError
from evenodds.frames import Frame, array_of, column_of, factorize, is_lazy, is_missing, opened
from evenodds.geometry.pieces import Floats
from evenodds.model.cells import check_group_kinds, check_numeric
from evenodds.model.columns import floats_of

__all__ = ["NOT_WORDS", "WORDS", "Published", "as_it_stands", "rounding_of"]

NOT_WORDS = "Hint: decisions are 0 and 1; words are those of a policy with reviews. Is it the policy of these?"
WORDS = ("no", "review", "yes")
"""Decisions of a policy with reviews, by number."""


@dataclass(frozen=True)
class Published:
    """The names of the columns of published decisions."""

    score: str
    group: tuple[str, ...]
    id: str
    odds: str = "odds"
    draw: str = "draw"
    decision: str = "decision"

    def needed(self, *, review: bool, places: bool) -> list[str]:
        """All of them that must be there."""
        drawn = [] if places else [self.draw]
        return [self.score, *self.group, self.id, *self.values(review=review), *drawn, self.decision]

    def values(self, *, review: bool) -> list[str]:
        """The columns of odds."""
        return [self.odds, *([f"{self.odds}_review"] if review else [])]

    def opened(self, frame: Any, *, review: bool, places: bool) -> Frame:
        """A frame that has all of these columns, each of its kind."""
        try:
            table = opened(frame, self.needed(review=review, places=places))
        except DataError as error:
            if review and f"has no column {self.values(review=review)[-1]!r}" in str(error):
                msg = f"{error} Hint: the policy has reviews. Is it the policy of these decisions?"
            elif f"has no column {self.draw!r}" in str(error):
                msg = f"{error} Hint: places=True, if places were handed out; else draw= names the column of draws."
            else:
                raise
            raise DataError(msg) from None
        if is_lazy(table):
            kind = f"{type(frame).__module__.partition('.')[0]}'s {type(frame).__name__}"
            msg = f"verify takes frames in memory (pandas, polars, pyarrow), got {kind}. Hint: collect it first."
            raise DataError(msg)
        check_group_kinds(table, self.group)
        roles = {self.score: "score", **dict.fromkeys(self.values(review=review), "odds")}
        for name, role in (roles if places else {**roles, self.draw: "draw"}).items():
            check_numeric(table, role, name)
        return table

    def read(self, table: Frame, *, review: bool, places: bool) -> tuple[dict[str, Floats], Any]:
        """Odds, draws and decisions as numbers, NaN where there is nothing; and decisions as they stand."""
        native = table.to_native()
        named = dict(zip(("odds", "odds_review"), self.values(review=review), strict=False))
        if not places:
            named["draw"] = self.draw
        numbers = {
            what: floats_of(f"{what} column {name!r}", array_of(native[name])).astype(np.float64)
            for what, name in named.items()
        }
        column = column_of(table, self.decision)
        if review:
            codes, values = factorize(column)
            places_of = [WORDS.index(value) if value in WORDS else len(WORDS) for value in values]
            numbers["decision"] = np.array([*places_of, np.nan])[codes]
            return numbers, column
        try:
            numbers["decision"] = floats_of(
                f"decision column {self.decision!r}", array_of(native[self.decision])
            ).astype(np.float64)
        except DataError as error:
            msg = f"{error} {NOT_WORDS}"
            raise DataError(msg) from None
        return numbers, column


def rounding_of(digits: Any) -> Any:
    """How far a number may be off that was published with so many decimal places; of one or of several."""
    return 0.5 * 10.0**-digits + 2.0**-52


def as_it_stands(value: Any, *, words: bool) -> Any:
    """A published decision as it is told: words as they are, whole numbers without a point."""
    if is_missing(value):
        return None
    if words:
        return str(value)
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    number = float(value)
    return int(number) if number.is_integer() else number
