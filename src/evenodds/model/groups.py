"""One group: its negatives and its positives, each sorted by score.

Where ties are many the distinct scores are kept with their counts as weights, so that whole counts stay exact; else the
scores of everybody, eight bytes each. A table of counts by score is a view that is made for those who ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError
from evenodds.geometry import samples
from evenodds.geometry.pieces import Floats, Pieces
from evenodds.geometry.samples import Sample, locked
from evenodds.model.roc import Roc
from evenodds.values import PickledByFields

__all__ = ["Group", "Table", "check_labels", "sample_of_sorted", "together"]

_TIED = 4  # times as many people as scores make counts worth it where people are many


@dataclass(frozen=True, eq=False)
class Table:
    """Distinct scores, ascending, with the weight of negatives and positives at each."""

    scores: Floats
    negatives: Floats
    positives: Floats


@dataclass(frozen=True, eq=False)
class Group(PickledByFields):
    """One group's negatives and positives.

    Scores are on the *upward* scale: the user's own for positive orientation, mirrored for negative, so that a
    higher score always speaks for a yes.

    >>> group = Group.of_counts("a", np.array([1.0, 2.0]), np.array([3.0, 1.0]), np.array([0.0, 2.0]))
    >>> group.scores, group.negatives, group.positives, group.base_rate
    (array([1., 2.]), array([3., 1.]), array([0., 2.]), 0.3333333333333333)
    """

    key: str
    by_label: tuple[Sample, Sample]
    """The negatives, and the positives."""

    @classmethod
    def of_counts(
        cls,
        key: str,
        scores: Floats,
        negatives: Floats,
        positives: Floats,
        squares: Sequence[Floats] | None = None,
    ) -> Group:
        """The group of people who were counted by score; scores may repeat, in any order.

        `squares` are the sums of squared weights of the negatives and of the positives, where these are weighted.
        """
        order = np.argsort(scores, kind="stable")
        both = (None, None) if squares is None else squares
        no, yes = (_merged(scores, *side, order) for side in zip((negatives, positives), both, strict=True))
        return cls(key, (no, yes))

    def moved(self, by: float) -> Group:
        """The same people with every score moved."""
        return Group(self.key, (self.by_label[0].moved(by), self.by_label[1].moved(by)))

    def with_more(self, other: Group) -> Group:
        """These people and others together."""
        negatives, positives = (_joined(*sides) for sides in zip(self.by_label, other.by_label, strict=True))
        return Group(self.key, (negatives, positives))

    # -- how many they are ---------------------------------------------------------------------------------------------

    @property
    def negative_total(self) -> float:
        """The weight of the negatives."""
        return self.by_label[0].total

    @property
    def positive_total(self) -> float:
        """The weight of the positives."""
        return self.by_label[1].total

    @property
    def total(self) -> float:
        """The group's whole weight."""
        return self.negative_total + self.positive_total

    @property
    def base_rate(self) -> float:
        """The share of positives."""
        return self.positive_total / self.total

    @property
    def is_one_sided(self) -> bool:
        """Whether there are no negatives or no positives, so that a rate is not defined."""
        return not (self.negative_total > 0 and self.positive_total > 0)

    @property
    def n_effective(self) -> float:
        """Kish's number of the whole group from those of its negatives and its positives."""
        if not self.total > 0:
            return 0.0
        return 1 / sum((side.total / self.total) ** 2 / side.n_effective for side in self.by_label if side.total > 0)

    # -- scores --------------------------------------------------------------------------------------------------------

    @cached_property
    def is_large(self) -> bool:
        """Whether the scores are too many to look at each."""
        return sum(side.size for side in self.by_label) > samples.FEW

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        sides = [side.points for side in self.by_label if side.size]
        return float(min(points[0] for points in sides)), float(max(points[-1] for points in sides))

    @cached_property
    def score_count(self) -> int:
        """How many scores there are: distinct ones, or at most so many where they are too many to look at each."""
        return sum(side.size for side in self.by_label) if self.is_large else self.scores.size

    @cached_property
    def least_gap(self) -> float:
        """The narrowest gap between two scores; where they are many none is known."""
        return 0.0 if self.is_large else float(np.min(np.diff(self.scores), initial=np.inf))

    @cached_property
    def scores(self) -> Floats:
        """Distinct scores, ascending."""
        return locked(np.union1d(self.by_label[0].points, self.by_label[1].points))

    @property
    def score_lists(self) -> list[Floats]:
        """The scores in order: the distinct ones, or where they are many those of each label."""
        return [side.points for side in self.by_label] if self.is_large else [self.scores]

    @cached_property
    def table(self) -> Table:
        """The distinct scores with their weights."""
        sides = (
            np.bincount(np.searchsorted(self.scores, side.points), side.given, minlength=self.scores.size)
            for side in self.by_label
        )
        return Table(self.scores, *(locked(side.astype(np.float64)) for side in sides))

    @cached_property
    def everybody(self) -> Sample:
        """Both labels together, by distinct score."""
        return Sample(self.scores, self.table.negatives + self.table.positives)

    @property
    def negatives(self) -> Floats:
        """Weight of the negatives at each distinct score."""
        return self.table.negatives

    @property
    def positives(self) -> Floats:
        """Weight of the positives at each distinct score."""
        return self.table.positives

    @cached_property
    def class_conditional(self) -> Floats:
        """Row 0: shares of the negatives at each score; row 1: of the positives. Each row sums to 1."""
        return locked(np.stack([self.negatives / self.negative_total, self.positives / self.positive_total]))

    def as_bytes(self, zero: float) -> bytes:
        """Key, scores and weights, however they are kept; a score of 0 is written as this zero, with its sign."""
        key = self.key.encode()
        numbers = (np.where(self.scores == 0, zero, self.scores), self.negatives, self.positives)
        columns = [np.ascontiguousarray(column, dtype="<f8").tobytes() for column in numbers]
        return b"".join([f"|{len(key)}|{self.scores.size}|".encode(), key, *columns])

    # -- rates ---------------------------------------------------------------------------------------------------------

    @cached_property
    def roc(self) -> Roc:
        """The group's ROC."""
        return Roc(*self.by_label)

    def rates(self, pieces: Pieces) -> Floats:
        """(FPR, TPR) of piecewise polynomials, of shape (..., 2)."""
        return np.stack([side.expectation(pieces) for side in self.by_label], axis=-1)


def sample_of_sorted(scores: Floats, weights: Floats | None) -> Sample:
    """Sorted people as a sample: as they are, or counted where ties are many."""
    first = _distinct(scores)
    if first.size == scores.size or (scores.size > samples.FEW and first.size * _TIED > scores.size):
        return Sample(scores, weights)
    if weights is None:
        return Sample(scores[first], np.diff(np.append(first, scores.size)).astype(np.float64), counted=True)
    squares = np.add.reduceat(weights**2, first)
    return Sample(scores[first], np.add.reduceat(weights, first), squares=squares)


def _merged(scores: Floats, weights: Floats, squares: Floats | None, order: NDArray[np.intp]) -> Sample:
    """People who were counted, with ties merged and without scores that nobody has."""
    order = order[weights[order] > 0]
    points = scores[order]
    first = _distinct(points)
    if not first.size:
        return Sample(points, np.zeros(0), counted=True)
    more = None if squares is None else np.add.reduceat(squares[order], first)
    return Sample(points[first], np.add.reduceat(weights[order], first), squares=more, counted=squares is None)


def together(some: Sequence[Group], others: Sequence[Group]) -> list[Group]:
    """The groups of two tables of people, by key."""
    mine, theirs = ({group.key: group for group in groups} for groups in (some, others))
    return [
        mine[key].with_more(theirs[key]) if key in mine and key in theirs else (mine | theirs)[key]
        for key in sorted(mine | theirs)
    ]


def _joined(one: Sample, other: Sample) -> Sample:
    """The people of two samples."""
    points = np.concatenate([one.points, other.points])
    if one.given is None and other.given is None:
        return sample_of_sorted(np.sort(points, kind="stable"), None)
    weights = np.concatenate([one.weights, other.weights])
    squares = None
    if not (one.counted and other.counted):
        squares = np.concatenate([one.square_sums, other.square_sums])
    return _merged(points, weights, squares, np.argsort(points, kind="stable"))


def _distinct(scores: Floats) -> NDArray[np.intp]:
    """Where each distinct one of sorted scores begins."""
    return np.flatnonzero(np.append(np.ones(min(scores.size, 1), bool), scores[1:] != scores[:-1]))


def check_labels(key: str, negatives: float, positives: float) -> None:
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
