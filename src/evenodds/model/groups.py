"""One group's people: how scores fall among its negatives and its positives.

A group is kept in one of two ways. A *table* has the distinct scores with the weight of negatives and positives at
each. A *large* group, of many distinct scores, has its negatives' and its positives' scores sorted side by side, eight
bytes a person; its table is made only for those who ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from evenodds.errors import DataError
from evenodds.geometry.moments import Moments, SplitMoments
from evenodds.geometry.pieces import Floats

__all__ = ["Group", "Table", "check_sides", "effective_people", "kish", "locked"]


@dataclass(frozen=True, eq=False)
class Table:
    """Distinct scores, ascending, with the weight of negatives and positives at each."""

    scores: Floats
    negatives: Floats
    positives: Floats
    squares: tuple[Floats, Floats] | None = None
    """Sums of squared weights of the negatives and of the positives; None where weights are numbers of people."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Lock what comes out of a pickle, which has no word for locked arrays."""
        self.__dict__.update(state)
        for array in (self.scores, self.negatives, self.positives, *(self.squares or ())):
            locked(array)

    @classmethod
    def merged(
        cls, scores: Floats, negatives: Floats, positives: Floats, squares: tuple[Floats, Floats] | None = None
    ) -> Table:
        """Merge ties, and drop scores that nobody has."""
        seen = negatives + positives > 0
        distinct, tie = np.unique(scores[seen], return_inverse=True)

        def summed(side: Floats) -> Floats:
            return locked(np.bincount(tie, side[seen], minlength=distinct.size).astype(np.float64))

        both = None if squares is None else (summed(squares[0]), summed(squares[1]))
        return cls(locked(distinct), summed(negatives), summed(positives), both)

    @classmethod
    def of_sides(cls, scores: Sequence[Floats], weights: Sequence[Floats]) -> Table:
        """The table of weighted negatives and positives who are listed apart."""
        none = [np.zeros(side.size) for side in weights]
        negatives, positives = np.concatenate([weights[0], none[1]]), np.concatenate([none[0], weights[1]])
        return cls.merged(np.concatenate(scores), negatives, positives, (negatives**2, positives**2))


@dataclass(frozen=True, eq=False)
class Group:
    """One group's people.

    Scores are on the *upward* scale: the user's own for positive orientation, mirrored for negative, so that a
    higher score always speaks for a yes.
    """

    key: str
    people: tuple[float, float]
    """How many people stand behind the negatives and the positives (Kish's effective number under weights)."""
    known_table: Table | None
    sides: tuple[Moments, Moments] | None = None
    """Only of a large group: its negatives and its positives, each sorted, summing to 1."""
    side_totals: tuple[float, float] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What it was made of; all else is computed again where it is asked for."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of_table(cls, key: str, table: Table, people: tuple[float, float], *, one_sided: bool = False) -> Group:
        """Refuse a group without positives or without negatives, unless it may be one-sided."""
        if not one_sided:
            check_sides(key, float(table.negatives.sum()), float(table.positives.sum()))
        return cls(key, people, table)

    def moved(self, by: float) -> Group:
        """The same people with every score moved."""
        table = self.known_table
        if table is not None:
            table = replace(table, scores=locked(table.scores + by))
        sides = None if self.sides is None else (self.sides[0].moved(by), self.sides[1].moved(by))
        return Group(self.key, self.people, table, sides, self.side_totals)

    @property
    def is_one_sided(self) -> bool:
        """Whether there are no negatives or no positives, so that a rate is not defined."""
        return not (self.negative_total > 0 and self.positive_total > 0)

    @property
    def is_large(self) -> bool:
        """Whether the scores are too many for a table."""
        return self.known_table is None

    @cached_property
    def table(self) -> Table:
        """The distinct scores with their weights; of a large group made now."""
        if self.sides is None or self.side_totals is None:
            assert self.known_table is not None  # noqa: S101 a group has either
            return self.known_table
        weights = [np.ones(side.points.size) if side.given is None else side.given[0] for side in self.sides]
        return Table.of_sides([side.points for side in self.sides], weights)

    @property
    def scores(self) -> Floats:
        """Distinct scores, ascending."""
        return self.table.scores

    @property
    def negatives(self) -> Floats:
        return self.table.negatives

    @property
    def positives(self) -> Floats:
        return self.table.positives

    @property
    def score_lists(self) -> list[Floats]:
        """The scores in order, without making a table: the distinct ones, or of a large group each label's."""
        return [self.scores] if self.sides is None else [side.points for side in self.sides]

    @cached_property
    def score_count(self) -> int:
        """How many scores there are: distinct ones of a table, at most so many of a large group."""
        return sum(scores.size for scores in self.score_lists)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        return float(min(s[0] for s in self.score_lists)), float(max(s[-1] for s in self.score_lists))

    @cached_property
    def least_gap(self) -> float:
        """The narrowest gap between two scores; of a large group none is known."""
        return 0.0 if self.is_large else float(np.min(np.diff(self.scores), initial=np.inf))

    @cached_property
    def negative_total(self) -> float:
        return float(self.negatives.sum()) if self.side_totals is None else self.side_totals[0]

    @cached_property
    def positive_total(self) -> float:
        return float(self.positives.sum()) if self.side_totals is None else self.side_totals[1]

    @property
    def total(self) -> float:
        """The group's whole weight."""
        return self.negative_total + self.positive_total

    def figures(self, orientation: str) -> tuple[float, float, float, float]:
        """The weights of negatives and positives, and their mean scores on the user's own scale."""
        sign = 1.0 if orientation == "positive" else -1.0
        means = []
        for sample in self.moments.samples:
            _, sums = sample.sums_below(np.array([np.inf]))
            means += (sign * (sample.centre + sums[:, 0])).tolist()
        return self.negative_total, self.positive_total, means[0], means[1]

    @property
    def base_rate(self) -> float:
        """The share of positives."""
        return self.positive_total / self.total

    @cached_property
    def shares(self) -> Floats:
        """Row 0: shares of the negatives at each score; row 1: of the positives. Each row sums to 1."""
        return locked(np.stack([self.negatives / self.negative_total, self.positives / self.positive_total]))

    @cached_property
    def moments(self) -> Moments | SplitMoments:
        """Ready for (FPR, TPR) of any piecewise polynomial."""
        if self.sides is not None:
            return SplitMoments(self.sides)
        totals = np.array([self.negative_total, self.positive_total])
        return Moments(self.scores, locked(np.stack([self.negatives, self.positives])), totals)


def kish(sums: Floats, squares: Floats) -> Floats:
    """Kish's numbers of equally weighted people who would tell as much, from sums of weights and of their squares."""
    return np.divide(sums**2, squares, out=np.zeros(sums.shape), where=squares > 0)


def effective_people(group: Group) -> float:
    """Kish's number of a whole group from those of its negatives and its positives."""
    if not group.total > 0:
        return 0.0
    shares = (group.negative_total / group.total, group.positive_total / group.total)
    return 1 / sum(share**2 / number for share, number in zip(shares, group.people, strict=True) if number > 0)


def check_sides(key: str, negatives: float, positives: float) -> None:
    """Refuse a group whose rates are not defined."""
    for side, total, other, rest in (
        ("positive", positives, "negative", negatives),
        ("negative", negatives, "positive", positives),
    ):
        if total <= 0:
            have = f"weight {rest:g} of {other}s, none of {side}s"
            rate = "true" if side == "positive" else "false"
            msg = (
                f"Group {key!r} has {have}, so its {rate} positive rate is not defined. Hint: merge or drop the group."
            )
            raise DataError(msg)


def locked(array: Floats) -> Floats:
    """The same array, which can no longer be changed."""
    array.setflags(write=False)
    return array
