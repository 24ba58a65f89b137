"""(FPR, TPR) of a curve for its group; of curves of one family for many groups, and how they change with thresholds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats
from evenodds.geometry.samples import expected
from evenodds.geometry.stack import Bounds, Stack
from evenodds.model.curves import Curve, is_random
from evenodds.model.families import Family
from evenodds.model.groups import Group
from evenodds.model.reviewed import Reviewing, Treatment
from evenodds.model.roc import Point

__all__ = ["CurveRates", "odds_of", "randomized_share", "rates_of"]

_QUICK_WIDE, _EXACT_WIDE = 500.0, 8.0  # half the score range by a width, up to which prefix sums err by 1e-13 and 4e-15

Index = NDArray[np.intp]


def odds_of(curve: Curve, group: Group) -> Floats:
    """The odds at a group's scores, in the group's own order."""
    return curve(curve.scale.own(group.scores))


def rates_of(treatment: Treatment, group: Group) -> Point:
    """(FPR, TPR) of a curve for a group: summed directly over its scores, or if these are many from local moments."""
    if isinstance(treatment, Reviewing):
        return treatment.rates(group)[0]
    if group.is_large:
        fpr, tpr = group.rates(treatment.pieces if treatment.orientation == "positive" else treatment.pieces.mirrored())
    else:
        fpr, tpr = group.class_conditional @ odds_of(treatment, group)
    return Point(*(float(min(max(rate, 0.0), 1.0)) for rate in (fpr, tpr)))  # rounding must not make a rate of 1 more


def randomized_share(group: Group, *curves: Curve) -> float:
    """The share of a group's people for whom chance has a say, by any of some curves."""
    weight = 0.0
    for side in group.by_label:
        drawn = [is_random(curve(curve.scale.own(side.points))) for curve in curves]
        weight += float(side.weights[np.any(drawn, axis=0)].sum())
    return min(weight / group.total, 1.0)


@dataclass(frozen=True, eq=False)
class CurveRates:
    """Rates of curves; `owner` says to which group each belongs, in ascending order."""

    family: Family
    stack: Stack

    def __call__(self, owner: Index, t0: Floats, width: Floats, p: Floats, *, quick: bool = False) -> Floats:
        """(FPR, TPR) of curves, of shape (2, n)."""
        bounds = self._bounds(owner)
        if self._is_straight(owner, width, p, quick=quick):
            return self.stack.bent_ramps(t0, t0 + (1 - p) * width, t0 + width, p, bounds)[0]
        pieces = self.family.layout(t0, t0 + width, p)
        return expected(pieces.coefficients, self.stack.local(pieces, bounds, quick=quick))

    def _is_straight(self, owner: Index, width: Floats, p: Floats, *, quick: bool) -> bool:
        """Whether curves are straight ramps, so wide that prefix sums will do."""
        if not self.family.is_straight:
            return False
        narrower = width * np.minimum(p, 1 - p) * (_QUICK_WIDE if quick else _EXACT_WIDE)
        return bool((narrower >= self.stack.half.max(axis=0)[owner]).all())

    def linearized(
        self, owner: Index, t0: Floats, t1: Floats, p: Floats, *, quick: bool
    ) -> tuple[Floats, Floats, Floats]:
        """(FPR, TPR) of curves, and how they change with t0 and with t1, each of shape (2, n)."""
        bounds = self._bounds(owner)
        if self._is_straight(owner, t1 - t0, p, quick=quick):
            return self.stack.bent_ramps(t0, t0 + (1 - p) * (t1 - t0), t1, p, bounds)
        pieces = self.family.layout(t0, t1, p)
        local = self.stack.local(pieces, bounds, quick=quick)
        # d odds / d t1 = -slope x and d odds / d t0 = slope (x - 1), with x = (r - t0) / (t1 - t0).
        slope = pieces.derivative()
        with np.errstate(divide="ignore", invalid="ignore"):  # thresholds that are the same float have no derivative
            by_t1 = -slope.times_affine(-t0 / (t1 - t0), 1 / (t1 - t0)).coefficients
        by_t0 = -by_t1
        by_t0[..., :-1] -= slope.coefficients
        rates, start, end = (expected(c, local) for c in (pieces.coefficients, by_t0, by_t1))
        return rates, start, end

    def _bounds(self, owner: Index) -> Bounds:
        return np.searchsorted(owner, np.arange(len(self.stack.pairs) + 1))
