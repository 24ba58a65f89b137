"""Who is reviewed: how many of each group and label, what becomes of them, and what if reviewers are not as assumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import UnknownGroupError
from evenodds.geometry.pieces import Floats
from evenodds.model.curves import CERTAIN, Curve, is_random
from evenodds.model.groups import Group
from evenodds.model.reviewer import Review
from evenodds.model.roc import Point
from evenodds.model.scale import Scale
from evenodds.values import Frozen, number_of

__all__ = ["SOME_SCORES", "Reviewed", "Reviewing", "Treatment", "final_odds", "final_odds_of", "reviewed_share"]

SOME_SCORES = "linear program over some of the scores"
"""How a bound was found where scores are too many to look at each of them."""
_ERR = 0.1  # of the reviewers, in the example of what if they are off


@dataclass(frozen=True)
class Reviewed:
    """Who of the people of the fit is reviewed, by group and label."""

    review: Review
    groups: tuple[str, ...]
    shares: tuple[tuple[float, float], ...]
    """Of each group: the share of its negatives and of its positives that is reviewed."""
    weights: tuple[tuple[float, float], ...]
    """Of each group: how many negatives and positives there are."""

    @property
    def everybody(self) -> float:
        """The share of everybody that is reviewed."""
        weights = np.array(self.weights)
        return float((weights * np.array(self.shares)).sum() / weights.sum())

    @property
    def by_group(self) -> Mapping[str, float]:
        """The share of each group that is reviewed."""
        weights = np.array(self.weights)
        shares = (weights * np.array(self.shares)).sum(axis=1) / weights.sum(axis=1)
        return Frozen(dict(zip(self.groups, shares.tolist(), strict=True)))

    @property
    def by_label(self) -> Mapping[str, tuple[float, float]]:
        """Of each group, the share of its negatives and of its positives that is reviewed."""
        return Frozen(dict(zip(self.groups, self.shares, strict=True)))

    def points_if(
        self, points: Sequence[Point], tpr: float | Mapping[str, float] | None, fpr: float | Mapping[str, float] | None
    ) -> list[Point]:
        """The groups' final rates with other reviewers: each changes by their difference times the share reviewed."""
        off = [self._off("fpr", fpr), self._off("tpr", tpr)]
        every = zip(points, self.shares, *off, strict=True)
        return [Point(p.fpr + no * share[0], p.tpr + yes * share[1]) for p, share, no, yes in every]

    def _off(self, name: str, given: float | Mapping[str, float] | None) -> list[float]:
        """By how much reviewers differ from those assumed, in each group."""
        assumed = float(getattr(self.review, name))
        allowed = "from 0 to 1, a reviewer's chance of a yes, for all groups or a mapping of groups to it"
        if given is None:
            return [0.0] * len(self.groups)
        if not isinstance(given, Mapping):
            return [number_of(name, given, allowed, low=0.0, high=1.0) - assumed] * len(self.groups)
        unknown = [group for group in given if group not in self.groups]
        if unknown:
            known = ", ".join(map(repr, self.groups))
            msg = f"{name} has the group {unknown[0]!r}, which the policy does not know. Known: {known}."
            raise UnknownGroupError(msg)
        return [
            number_of(f"{name}[{group!r}]", given.get(group, assumed), allowed, low=0.0, high=1.0) - assumed
            for group in self.groups
        ]

    def in_words(self, if_reviewers: Callable[..., float]) -> str:
        """How often people are reviewed, over all and in each group, and what of it is not proven."""
        review, (tpr, fpr) = self.review, self.example
        by_group = ", ".join(f"{group} {share:.4g}" for group, share in self.by_group.items())
        source = "measured on past reviews" if review.past else "assumed"
        return (
            f"Reviewed: {self.everybody:.4g} of everybody (capacity {review.capacity:g}); by group: {by_group}.\n"
            f"Not proven: that reviewers say yes to {review.tpr:.4g} of positives and {review.fpr:.4g} of negatives, "
            f"in every group alike ({source}). If really to {tpr:.4g} and {fpr:.4g}, the groups' final rates differ by "
            f"{if_reviewers(tpr=tpr, fpr=fpr):.4g}."
        )

    def broken(self, by: float) -> list[str]:
        """What was promised of reviews and is missed by more than rounding, in words."""
        missed = []
        if self.everybody > self.review.capacity + by:
            missed.append(f"{self.everybody:.6g} of everybody is reviewed, more than capacity={self.review.capacity:g}")
        shares = list(self.by_group.values())
        if self.review.equal == "share" and max(shares) - min(shares) > by:
            missed.append(f"groups are reviewed unequally often, from {min(shares):.6g} to {max(shares):.6g}")
        return missed

    @property
    def example(self) -> tuple[float, float]:
        """Reviewers that are somewhat worse than those assumed: their tpr and fpr."""
        return max(self.review.tpr - _ERR, 0.0), min(self.review.fpr + _ERR, 1.0)


def reviewed_share(yes: Floats, upper: Floats) -> Floats:
    """The odds of a review, from those of an automatic yes and those of no automatic no."""
    return np.where(upper - yes > CERTAIN, upper - yes, 0.0)


def final_odds(yes: Floats, upper: Floats, chance: float) -> Floats:
    """The odds of a yes in the end, where reviewers say yes with this chance."""
    return np.asarray(yes + chance * reviewed_share(yes, upper))


@dataclass(frozen=True)
class Reviewing:
    """What becomes of a group's people where some are reviewed, by their label: it takes the place of a curve."""

    curve: Curve
    upper: Curve
    review: Review

    @property
    def scale(self) -> Scale:
        """How its scores relate to those on which a higher one speaks for a yes."""
        return self.curve.scale

    @property
    def lipschitz(self) -> float:
        """The largest slope of the odds of a yes, and of a yes or a review."""
        return max(self.curve.lipschitz, self.upper.lipschitz)

    def final(self, score: Floats, label: int) -> Floats:
        """The odds of a yes in the end, of people of one label."""
        return final_odds(self.curve(score), self.upper(score), self.review.chances[label])

    def reviewed(self, score: Floats) -> Floats:
        """The odds of a review."""
        return reviewed_share(self.curve(score), self.upper(score))

    def is_random(self, score: Floats) -> NDArray[np.bool_]:
        """For whom chance decides between two of yes, review and no; what a reviewer says is no chance."""
        return np.asarray(is_random(self.curve(score)) | is_random(self.upper(score)))

    def ends(self, score_range: tuple[float, float]) -> Floats:
        """Odds at the ends of the scores, the least and the greatest there can be among them."""
        at = np.array(score_range)
        return np.concatenate([self.curve(at), self.upper(at)])

    def rates(self, group: Group) -> tuple[Point, tuple[float, float]]:
        """The final rates, and the shares of negatives and positives that are reviewed, summed over people."""
        rates, shares = [], []
        for label, side in enumerate(group.by_label):
            at = self.scale.own(side.points)
            total = float(side.weights.sum())
            rates.append(min(max(float(side.weights @ self.final(at, label)) / total, 0.0), 1.0))
            shares.append(min(max(float(side.weights @ self.reviewed(at)) / total, 0.0), 1.0))
        return Point(rates[0], rates[1]), (shares[0], shares[1])


Treatment = Curve | Reviewing
"""What turns a group's scores into what becomes of its people."""


def final_odds_of(treatment: Treatment, score: Floats, label: int) -> Floats:
    """The odds of a yes in the end, of people of one label: by their label only where some of them are reviewed."""
    return treatment.final(score, label) if isinstance(treatment, Reviewing) else treatment(score)
