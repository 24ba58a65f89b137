"""What came of a verification: whether published decisions are those that the policy and the key give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenodds.decisions.dice import Dice
from evenodds.showing import Shown, text_table

__all__ = ["Difference", "Verification", "WrongRow"]

_NAMED = 5  # ids that are told


@dataclass(frozen=True)
class Difference:
    """One value of a row that is not as published."""

    column: str
    published: Any
    """None where nothing is published."""
    right: Any
    """None where nothing should be: the row has no score, group or id that could be decided for."""

    def __str__(self) -> str:
        was = f"no {self.column}" if self.published is None else f"{self.column} {self.published!r}"
        return f"{was} is published, and {'there should be none' if self.right is None else f'{self.right!r} is right'}"


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

    Made by `verify`.

    See Also
    --------
    verify : Where verifications come from.
    Dice : What is said of a group's rate.

    Examples
    --------
    >>> import pandas as pd
    >>> import evenodds as eo
    >>> policy = eo.fit(eo.datasets.credit_risk())
    >>> people = pd.DataFrame({"who": ["a", "b"], "points": [25, 31], "race": ["white", "white"]})
    >>> words = {"score": "points", "group": "race", "id": "who", "key": "00" * 32}
    >>> verification = eo.verify(policy, eo.decide(policy, people, **words), **words)
    >>> verification.passed, verification.rows, verification.wrong, verification.suspicious
    (True, 2, 0, ())
    """

    rows: int
    """How many were looked at."""
    wrong: int
    """Rows with anything wrong in them."""
    wrong_odds: int
    """Rows with other odds than the policy gives."""
    wrong_draws: int
    """Rows with another draw than the key gives."""
    wrong_decisions: int
    """Rows with another decision than odds and draw give."""
    wrong_rows: tuple[WrongRow, ...]
    """The first hundred wrong rows."""
    unjudged: int
    """Rows without a finite score, a group, or an id that can be drawn for. Nothing may be published for them."""
    first_unjudged: str
    """The first of them, and why."""
    doubled: int
    """Rows whose id was there before in the round."""
    doubled_ids: tuple[str, ...]
    """The first few of these ids."""
    dice: tuple[Dice, ...]
    """How often each group got an answer, beside how often its odds say."""
    confidence: float
    """With which no honest dice are called into question, all groups together."""
    places: bool
    """Whether places were handed out, in place of a draw for each person."""
    digits: int | None
    """Decimal places to which odds and draws were compared; None if exactly."""
    largest_error: float
    """The largest difference between odds or draws as published and as they should be."""
    fingerprint: str
    """Of the policy."""
    round: str
    """Of the decisions."""
    commitment: str
    """Of the key."""
    committed: str | None = None
    """The commitment that was published, if it was given; it should be the key's."""
    committed_to_file: bool = False
    """Whether it is that of a file that has the key and a line end."""
    places_given: int | None = None
    """How many people got one of the places."""
    places_asked: int | None = None
    """How many there were, if that was given."""
    reason: str = ""
    """What may be behind errors that are many, such as rounding."""

    @property
    def first(self) -> WrongRow | None:
        """The first wrong row."""
        return self.wrong_rows[0] if self.wrong_rows else None

    @property
    def passed(self) -> bool:
        """Whether every row is right, nobody stands there twice, and key and places are as they were announced.

        The dice have no part in it: honest ones are called into question now and then, by chance.
        """
        return not (self.wrong or self.doubled or self._not_as_announced)

    @property
    def _not_as_announced(self) -> list[str]:
        """What is not as it was announced."""
        said = []
        if self.committed not in (None, self.commitment):
            of_file = ", which is the SHA-256 of a file with this key and a line end; the key alone has another"
            said.append(
                f"The key is not the one that was committed to: {self.committed} was published"
                f"{of_file if self.committed_to_file else ''}."
            )
        if self.places_asked not in (None, self.places_given):
            said.append(f"There were {self.places_asked:,} places, and {self.places_given:,} people got one.")
        return said

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
        wrong_rows = [
            {"row": row.position, "id": row.id, "differences": [vars(one) for one in row.differences]}
            for row in self.wrong_rows
        ]
        names, rows = self.table()
        counts = ("rows", "wrong", "wrong_odds", "wrong_draws", "wrong_decisions", "unjudged", "doubled")
        return {
            "passed": self.passed,
            **{name: getattr(self, name) for name in counts},
            "doubled_ids": list(self.doubled_ids),
            "first": wrong_rows[0] if wrong_rows else None,
            "wrong_rows": wrong_rows,
            "first_unjudged": self.first_unjudged or None,
            "reason": self.reason or None,
            "largest_error": self.largest_error,
            "digits": self.digits,
            "places": self.places,
            "places_given": self.places_given,
            "policy": self.fingerprint,
            "round": self.round,
            "commitment": self.commitment,
            "committed": self.committed,
            "confidence": self.confidence,
            "dice": [dict(zip(names, row, strict=True)) for row in rows],
        }

    def __repr__(self) -> str:
        wrong = f"{self.wrong:,} of {self.rows:,} rows wrong" if self.wrong else f"{self.rows:,} rows"
        doubled = f", {self.doubled:,} doubled" if self.doubled else ""
        return f"Verification({'passed' if self.passed else 'failed'}, {wrong}{doubled})"

    def __str__(self) -> str:
        return "\n".join([*self._about_rows(), self._about_what(), *self._about_dice()])

    def _about_what(self) -> str:
        committed = ", as committed" if self.committed == self.commitment else ""
        return (
            f"Policy of fingerprint {self.fingerprint}, round {self.round!r}, key of commitment {self.commitment}"
            f"{committed}."
        )

    def _about_rows(self) -> list[str]:
        values = "odds and decisions" if self.places else "odds, draws and decisions"
        to = (
            ""
            if self.digits is None
            else f" (odds{'' if self.places else ' and draws'} to {self.digits} decimal places)"
        )
        said = []
        if self.first is None:
            verdict = "Passed: " if self.passed else "Failed, though "
            judged = (
                f"the {self.rows - self.unjudged:,} rows that can be judged"
                if self.unjudged
                else f"all {self.rows:,} rows"
                if self.rows > 1
                else "the one row"
            )
            said.append(f"{verdict}{values} of {judged} are right{to}.")
        else:
            draws = "" if self.places else f"draws of {self.wrong_draws:,}, "
            counts = f"odds of {self.wrong_odds:,}, {draws}decisions of {self.wrong_decisions:,}"
            said += [
                f"Failed: {self.wrong:,} of {self.rows:,} rows are wrong{to}: {counts}.",
                f"The first is {self.first}.",
                *self._others(),
                *([self.reason] if self.reason else []),
            ]
        said += self._not_as_announced
        if self.doubled:
            named = ", ".join(f"{one!r:.80}" for one in self.doubled_ids[:_NAMED])
            more = ", ..." if self.doubled > min(_NAMED, len(self.doubled_ids)) else ""
            rows = "1 row has an id that was" if self.doubled == 1 else f"{self.doubled:,} rows have ids that were"
            said.append(f"{rows} there before: {named}{more}. In a round everybody stands once.")
        if self.unjudged:
            rows = "1 row" if self.unjudged == 1 else f"{self.unjudged:,} rows"
            said.append(f"{rows} cannot be judged, and should have no decision; the first is {self.first_unjudged}.")
        return said

    def _others(self) -> list[str]:
        """Wrong rows after the first, by number."""
        others = self.wrong_rows[1 : _NAMED + 1]
        if not others:
            return []
        named = ", ".join(f"{row.position} (id {row.id!r:.40})" for row in others)
        return [f"Others are {named}{', ...' * (self.wrong > len(others) + 1)}."]

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
