"""What becomes of a group's people under a curve: their odds by label, and what every rate is the mean of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenodds.evaluation.intervals import Sample
from evenodds.geometry.pieces import Floats
from evenodds.model.curves import is_random
from evenodds.model.groups import Group
from evenodds.model.reviewed import Reviewing, Treatment

__all__ = ["RATES", "RATE_NAMES", "RATE_WORDS", "Outcomes", "Side", "outcomes_of"]

RATES = ("fpr", "tpr", "accuracy", "selection_rate")
"""Means of odds, so that a change of curves shows in each person."""
RATE_WORDS = {"fpr": "false positive rate", "tpr": "true positive rate", "selection_rate": "selection rate"}
"""Those that a constraint may name."""
RATE_NAMES = {
    "fpr": "FPR",
    "tpr": "TPR",
    "fnr": "FNR",
    "accuracy": "accuracy",
    "selection_rate": "selection rate",
    "precision": "precision",
    "randomized": "share decided by chance",
    "auc": "AUC",
    "base_rate": "share of positives",
}
"""How every figure of a group is called where room is scarce."""
_CELLS = 1024  # odds that are told apart where people are drawn again


@dataclass(frozen=True, eq=False)
class Side:
    """One label's people of a group: scores (upward, in order), odds and weights."""

    scores: Floats
    odds: Floats
    weights: Floats
    n_effective: float
    """How many they are; Kish's effective number under weights."""
    squares: Floats | None = None
    """Sums of their squared weights, where these are not just numbers of people."""
    drawn: NDArray[np.bool_] | None = None
    """For whom chance decides, where that is not told by the odds: reviewers' rates are no chance."""

    def sample(self, values: Floats, *, lo: float = 0.0, hi: float = 1.0) -> Sample:
        """What a mean over them is made of."""
        return Sample.of(values, self.weights, self.n_effective, squares=self.squares, lo=lo, hi=hi)

    @property
    def by_chance(self) -> NDArray[np.bool_]:
        """For whom chance decides."""
        return is_random(self.odds) if self.drawn is None else self.drawn

    @property
    def total(self) -> float:
        """Their weight."""
        return float(self.weights.sum())

    def cells(self) -> tuple[Floats, Floats]:
        """Odds, at most so many that a draw of people is quick, and their weights: a cell has its people's mean."""
        order = np.argsort(self.odds, kind="stable")
        if not order.size:
            return self.odds, self.weights
        odds, weights = self.odds[order], self.weights[order]
        first = np.flatnonzero(np.append(True, np.diff(odds) > 0))
        if first.size > _CELLS:
            cuts = np.searchsorted(odds, np.linspace(0, 1, _CELLS + 1)[1:])
            first = np.unique(np.append(0, cuts[cuts < odds.size]))
        mass, sums = np.add.reduceat(weights, first), np.add.reduceat(weights * odds, first)
        held = mass > 0
        return sums[held] / mass[held], mass[held]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """A group's negatives and positives under a curve."""

    negatives: Side
    positives: Side
    n_effective: float
    """How many they all are; Kish's effective number under weights."""

    @cached_property
    def everybody(self) -> Side:
        """Both labels together, negatives first; their scores are not in order."""
        n, p = self.negatives, self.positives
        squares = None if n.squares is None or p.squares is None else np.concatenate([n.squares, p.squares])
        scores, odds, weights = (
            np.concatenate(pair) for pair in ((n.scores, p.scores), (n.odds, p.odds), (n.weights, p.weights))
        )
        drawn = np.concatenate([n.by_chance, p.by_chance])
        return Side(scores, odds, weights, self.n_effective, squares, drawn)

    @cached_property
    def _labels(self) -> Floats:
        """The label of everybody."""
        return np.repeat([0.0, 1.0], [self.negatives.odds.size, self.positives.odds.size])

    def samples(self, possible: Floats) -> dict[str, Sample]:
        """What each figure is the mean of; `possible` are odds at the ends of the score range."""
        n, p, both = self.negatives, self.positives, self.everybody
        odds = both.odds
        # What odds there can be bounds how far a mean can be off.
        span = np.append(possible, odds)
        lo, hi = float(span.min()), float(span.max())
        labels = self._labels
        return {
            "fpr": n.sample(n.odds, lo=lo, hi=hi),
            "tpr": p.sample(p.odds, lo=lo, hi=hi),
            "accuracy": both.sample(np.where(labels == 1, odds, 1 - odds)),
            "selection_rate": both.sample(odds, lo=lo, hi=hi),
            "precision": self._precision(),
            "randomized": both.sample(both.by_chance.astype(np.float64)),
            "auc": self._auc(),
            "base_rate": both.sample(labels),
        }

    def changes(self, before: Outcomes) -> dict[str, Sample]:
        """What each rate's change is the mean of, from the change of each person's odds."""
        n, p, both = self.negatives, self.positives, self.everybody
        no, yes = n.odds - before.negatives.odds, p.odds - before.positives.odds
        return {
            "fpr": n.sample(no, lo=-1.0),
            "tpr": p.sample(yes, lo=-1.0),
            "accuracy": both.sample(np.concatenate([-no, yes]), lo=-1.0),
            "selection_rate": both.sample(np.concatenate([no, yes]), lo=-1.0),
        }

    def _precision(self) -> Sample:
        """The share of positives among those who get a yes, each counted by odds."""
        both = self.everybody
        squares = (both.weights if both.squares is None else both.squares) * both.odds**2
        yes = both.weights * both.odds
        number = float(yes.sum() ** 2 / squares.sum()) if squares.any() else 0.0
        return Sample.of(self._labels, yes, number, squares=squares)

    def _auc(self) -> Sample:
        """The chance that a positive scores above a negative, ties counting half, with DeLong's variance."""
        number = min(self.negatives.n_effective, self.positives.n_effective)
        if not number > 0:
            return Sample(math.nan, math.nan, 0.0)
        variance, mean = 0.0, math.nan
        for mine, other in ((self.negatives, self.positives), (self.positives, self.negatives)):
            below = np.append(0.0, np.cumsum(other.weights)) / other.total
            worse, no_better = (np.searchsorted(other.scores, mine.scores, side=side) for side in ("left", "right"))
            beaten = mine.sample((below[worse] + below[no_better]) / 2)
            variance += beaten.variance / beaten.n_effective
            mean = beaten.mean  # in the end that of the positives
        return Sample(mean, variance * number, number)


def outcomes_of(member: Group, curve: Treatment) -> Outcomes:
    """A group's people under a curve; with reviews, what becomes of them in the end."""
    sides = []
    for label, side in enumerate(member.by_label):
        at = curve.scale.own(side.points)
        odds, drawn = (
            (curve.final(at, label), curve.is_random(at)) if isinstance(curve, Reviewing) else (curve(at), None)
        )
        sides.append(Side(side.points, odds, side.weights, side.n_effective, side.squares, drawn))
    negatives, positives = sides
    return Outcomes(negatives, positives, member.n_effective)
