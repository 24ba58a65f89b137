"""What came of a verification: whether published decisions are those that the policy and the key give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenodds.decisions.dice import Dice
from evenodds.showing import Shown, text_table

__all__ = ["Difference", "Verification", "WrongRow"]

_NAMED = 5  # ids that are told
_FEWEST, _MOST = 3, 15  # decimal places that somebody may have rounded to


@dataclass(frozen=True)
class Difference:
    """One value of a row that is not as published."""

    column: str
    published: Any
    """None where nothing is published."""
    right: Any
    """None where nothing should be: the row has no score, group or id that could be decided for."""

    def __str__(self) -> str:
        return f"{self.column} {_told(self.published)} is published, and {_told(self.right)} is right"


@dataclass(frozen=True)
class WrongRow:
    """A row with something wrong in it."""

    position: int
    id: str
    differences: tuple[Difference, ...]
    """In the order odds, odds of a review, draw, decision; who has wrong odds may well have a wrong decision too."""

    def __str__(self) -> str:
        return f"row {self.position} (id {self.id!r:.80}): {'; '.join(map(str, self.differences))}"


@dataclass(frozen=True)
class Verification(Shown):
    """Whether published decisions are right, row by row, and whether the dice were honest.

    Made by `evenodds.verify`.
    """

    rows: int
    wrong: int
    """Rows with anything wrong in them."""
    wrong_odds: int
    wrong_draws: int
    wrong_decisions: int
    first: WrongRow | None
    """The first wrong row."""
    unjudged: int
    """Rows without a finite score, a group, or an id that can be drawn for. Nothing may be published for them."""
    first_unjudged: str
    """The first of them, and why."""
    doubled: int
    """Rows whose id was there before in the round."""
    doubled_ids: tuple[str, ...]
    """The first few of these ids."""
    dice: tuple[Dice, ...]
    confidence: float
    """With which no honest dice are called into question, all groups together."""
    places: bool
    digits: int | None
    """Decimal places to which odds and draws were compared; None if exactly."""
    largest_error: float
    """The largest difference between odds or draws as published and as they should be."""

    @property
    def passed(self) -> bool:
        """Whether every row is right and nobody stands there twice.

        The dice have no part in it: honest ones are called into question now and then, by chance.
        """
        return not self.wrong and not self.doubled

    @property
    def suspicious(self) -> tuple[str, ...]:
        """Groups in which a rate is farther from the mean odds than chance explains."""
        return tuple(dict.fromkeys(one.group for one in self.dice if one.is_outside))

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """The dice, group by group."""
        names = ("group", "outcome", "people", "rate", "mean_odds", "low", "high", "z", "outside")
        rows = [
            (d.group, d.outcome, d.people, d.rate, d.mean_odds, d.low, d.high, d.z, d.is_outside) for d in self.dice
        ]
        return names, rows

    def as_json(self) -> dict[str, Any]:
        """All of it as plain data."""
        first = self.first and {
            "row": self.first.position,
            "id": self.first.id,
            "differences": [vars(one) for one in self.first.differences],
        }
        names, rows = self.table()
        counts = ("rows", "wrong", "wrong_odds", "wrong_draws", "wrong_decisions", "unjudged", "doubled")
        return {
            "passed": self.passed,
            **{name: getattr(self, name) for name in counts},
            "doubled_ids": list(self.doubled_ids),
            "first": first,
            "first_unjudged": self.first_unjudged or None,
            "largest_error": self.largest_error,
            "digits": self.digits,
            "places": self.places,
            "confidence": self.confidence,
            "dice": [dict(zip(names, row, strict=True)) for row in rows],
        }

    def __repr__(self) -> str:
        wrong = f"{self.wrong:,} of {self.rows:,} rows wrong" if self.wrong else f"{self.rows:,} rows"
        doubled = f", {self.doubled:,} doubled" if self.doubled else ""
        return f"Verification({'passed' if self.passed else 'failed'}, {wrong}{doubled})"

    def __str__(self) -> str:
        return "\n".join([*self._about_rows(), *self._about_dice()])

    def _about_rows(self) -> list[str]:
        values = "odds and decisions" if self.places else "odds, draws and decisions"
        to = (
            ""
            if self.digits is None
            else f" (odds{'' if self.places else ' and draws'} to {self.digits} decimal places)"
        )
        said = []
        if self.first is None:
            verdict = "Passed" if self.passed else "Failed"
            said.append(f"{verdict}: {values} of all {self.rows:,} rows are right{to}.")
        else:
            draws = "" if self.places else f"draws of {self.wrong_draws:,}, "
            counts = f"odds of {self.wrong_odds:,}, {draws}decisions of {self.wrong_decisions:,}"
            said += [
                f"Failed: {self.wrong:,} of {self.rows:,} rows are wrong{to}: {counts}.",
                f"The first is {self.first}.",
                *self._reasons(),
            ]
        if self.doubled:
            named = ", ".join(f"{one!r:.80}" for one in self.doubled_ids[:_NAMED])
            more = ", ..." if self.doubled > min(_NAMED, len(self.doubled_ids)) else ""
            rows = "1 row has an id that was" if self.doubled == 1 else f"{self.doubled:,} rows have ids that were"
            said.append(f"{rows} there before: {named}{more}. In a round everybody stands once.")
        if self.unjudged:
            rows = "1 row" if self.unjudged == 1 else f"{self.unjudged:,} rows"
            said.append(f"{rows} cannot be judged, and should have no decision; the first is {self.first_unjudged}.")
        return said

    def _reasons(self) -> list[str]:
        """What may be behind errors that are many."""
        decidable = self.rows - self.unjudged
        if self.wrong_draws == decidable and self.largest_error > 10.0**-_FEWEST:
            return ["Every draw is wrong. Hint: is it the key of these decisions, and the round?"]
        if self.digits is None and 2 * max(self.wrong_odds, self.wrong_draws) > decidable and self.largest_error > 0:
            places = math.floor(-math.log10(2 * self.largest_error))
            if _FEWEST <= places <= _MOST:
                off = f"No odds or draw is off by more than {self.largest_error:.1g}"
                return [f"{off}, as if written with {places} decimal places. Hint: digits={places} compares them so."]
        return []

    def _about_dice(self) -> list[str]:
        if not self.dice:
            return []
        names, rows = self.table()
        with_reviews = any(one.outcome != "yes" for one in self.dice)
        kept = [i for i, name in enumerate(names) if not (name == "outcome" and not with_reviews)]
        kept = [i for i in kept if not (names[i] == "z" and self.places)]
        cells = [[row[i] for i in kept] for row in rows]
        bound = "within one yes" if self.places else f"confidence {self.confidence:g}, all of them together"
        if self.suspicious:
            named = ", ".join(map(repr, self.suspicious[:_NAMED])) + ", ..." * (len(self.suspicious) > _NAMED)
            verdict = f"in {named} the rate is farther from the mean odds than chance explains ({bound})"
        else:
            verdict = f"no group's rate is farther from its mean odds than chance explains ({bound})"
        return [f"Were the dice honest? As far as rates tell: {verdict}.", text_table([names[i] for i in kept], cells)]


def _told(value: Any) -> str:
    return "nothing" if value is None else repr(value)
