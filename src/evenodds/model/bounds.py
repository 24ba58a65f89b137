"""What no rising curves can do: bounds on the gain under a slope budget, and on the slope through each point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenodds.model.goals import Constraint, Objective
from evenodds.model.joint import JointDistribution
from evenodds.model.reach import ON_CURVE
from evenodds.model.roc import Point
from evenodds.model.supports import best_of_all, gentlest_of_all
from evenodds.model.target import best_below_lines

__all__ = ["POOLED", "Bounds"]

_SMALL = 20_000  # scores in all, up to which bounds are the tightest there are; beyond, they come from the pooled ROC
POOLED = "pooled ROC"
"""By what most bounds are proven."""
_SETTLED = 1e-9  # a closer look that closes less of the gap than this is the last
_LOOKS = 2  # times that a sparse bound is drawn more closely
_ROUNDING = 1e-9  # a gain or a slope, relative, that differs by no more is proven best
_PRECISE, _CAUTION = 1e-10, 1e-9  # by how much rounding may have lowered a gain, and raised a slope


@dataclass(frozen=True, eq=False)
class Bounds:
    """What no rising curves within a slope budget can exceed, or fall below.

    The pooled ROC proves bounds in O(n). Where these leave a gap, a search in it proves more, and where the scores are
    few the farthest points of all rising odds prove the tightest there are.
    """

    joint: JointDistribution
    objective: Objective
    constraint: Constraint
    slope: float
    points: Sequence[Point]
    """What was asked of each group."""
    reached: Sequence[Point]
    """What its curve achieves."""
    slopes: Sequence[float]
    """The largest slope of each of these curves."""
    unlimited: float
    """What there is to gain without a slope budget."""

    @cached_property
    def gain(self) -> float:
        """What was achieved."""
        return self.objective.gain(self.reached)

    def pooled(self) -> tuple[float, list[float]]:
        """A bound on the gain, and for each group one on the slope of every rising curve through its point.

        Where more is proven later, the first is only what there is to gain without a slope budget.
        """
        later = self._is_small or self.constraint.takes_a_program
        gain = max(self.unlimited, self.gain) if later else self._pooled_gain(0)
        return gain, self.joint.pooled.slope_bounds(self._met, self.slopes)

    @cached_property
    def _met(self) -> list[Point]:
        """The points that slopes are judged at: whoever comes as near to them as this policy does meets them."""
        pairs = zip(self.points, self.reached, strict=True)
        return [p if _same(p, r) else Point(max(p.fpr, r.fpr), min(p.tpr, r.tpr)) for p, r in pairs]

    def can_be_tightened(self, gain: float, slopes: Sequence[float]) -> bool:
        """Whether more may be proven than this."""
        return self._leaves_a_gap(gain) or any(map(self._is_loose, slopes, self.slopes))

    @property
    def _is_small(self) -> bool:
        """Whether the tightest bounds are quick enough to prove."""
        return sum(member.score_count for member in self.joint.members) <= _SMALL

    def _leaves_a_gap(self, gain: float) -> bool:
        """Whether a bound on the gain is above what was achieved, and a slope budget may be why."""
        return gain > self.gain + _ROUNDING and bool(np.isfinite(self.slope))

    @staticmethod
    def _is_loose(bound: float, achieved: float) -> bool:
        """Whether a bound on a slope is below what was achieved."""
        return not achieved <= bound * (1 + _ROUNDING)

    def _pooled_gain(self, looks: int) -> float:
        """What curves below the pooled ROCs gain at most; sparse bounds are drawn closer around the best points."""
        lines = self.joint.pooled.upper_bounds(self.slope)
        before = np.inf
        for look in range(looks + 1):
            below = [line.polyline for line in lines]
            points = best_below_lines(self.joint, below, self.objective, self.constraint, settled=False)
            bound = self.objective.gain(points) + (_PRECISE if self.constraint.takes_a_program else 0.0)
            if look == looks or before - bound <= _SETTLED or all(line.is_exact for line in lines):
                break
            before = bound
            lines = self.joint.pooled.refined(lines, points)
        return max(bound, self.gain)

    def tightest_gain(self, bound: float) -> tuple[float, str]:
        """The lowest bound on the gain that is known, and how it was proven: by the pooled ROC or a linear program."""
        if not self._leaves_a_gap(bound):
            return bound, POOLED
        bound = min(bound, self._pooled_gain(_LOOKS))
        if self._leaves_a_gap(bound) and self._is_small:
            points, _ = best_of_all(self.joint, self.slope, self.objective, self.constraint)
            best = self.objective.gain(points) + _PRECISE
            if best < bound:
                return max(best, self.gain), "linear program"
        return bound, POOLED

    def tightest_slopes(self, bounds: Sequence[float]) -> list[float]:
        """The least slopes of all rising curves through the points, where the bounds leave a gap."""
        return [self._tightest(i, bound) for i, bound in enumerate(bounds)]

    def _tightest(self, which: int, bound: float) -> float:
        """The same for one group."""
        point, achieved = self._met[which], self.slopes[which]
        if bound == 0 and self._is_loose(bound, achieved):
            bound = self.joint.pooled.searched_bound(which, point, achieved)
        if self._is_small and self._is_loose(bound, achieved):
            # Nearer than rounding can tell is met, too.
            near = Point(min(point.fpr + ON_CURVE, 1.0), max(point.tpr - ON_CURVE, 0.0))
            _, least = gentlest_of_all(self.joint.members[which], near, at_least=bound, at_most=achieved)
            bound = max(bound, least * (1 - _CAUTION))
        return min(bound, achieved)


def _same(one: Point, other: Point) -> bool:
    return max(abs(one.fpr - other.fpr), abs(one.tpr - other.tpr)) <= ON_CURVE
