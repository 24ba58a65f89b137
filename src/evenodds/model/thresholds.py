"""Hard thresholds: one for each group, nobody decided by chance, the best objective within a tolerance.

A threshold is a vertex of a group's ROC. If v is the least value of a constrained rate over the groups, all of them lie
in a window [v, v + tolerance]. Rates rise along a ROC, so a window is an interval of its vertices, in which the best is
the maximum of a range. So the best thresholds are found by searching for the window: boxes of windows are split, best
first, and dropped where even the best vertices that any window of the box allows gain no more than what is known.

Where a group has very many scores its vertices stand in blocks. A block counts as a whole where more is allowed than
there is, and not at all where less is, so that what is found is within the tolerance and what is proven holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats
from evenodds.model.goals import Constraint, Objective, coefficients
from evenodds.model.joint import JointDistribution
from evenodds.model.roc import Point
from evenodds.values import rounded_up

__all__ = ["Thresholds", "about_constants", "best_thresholds"]

_BLOCKS = 2048  # of a group's vertices: up to so many are looked at one by one
_SAME = 1e-12  # rates of other people that differ by no more are equal: 3 / 10 and 30 / 100
_TIE = 1e-13  # a gain that is more by no more is not
_AT_ONCE = 512  # boxes that are split together
_ROUNDS = 4000  # of that, which only groups of very many scores ever need
_LOOKED_INTO = 8  # windows of a round that are looked at vertex by vertex where there are blocks
_CLOSE = 1e-6  # a gap of blocks that is not worth more rounds
_FINEST = 1e-9  # of a tolerance that is searched for

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Thresholds:
    """A vertex of each group's ROC, and what no other choice of vertices within the tolerance can exceed."""

    scores: tuple[float, ...]
    """Yes from this score on, the lowest or beyond the highest score where the group is decided all alike."""
    points: tuple[Point, ...]
    gain: float
    bound: float
    rates: Floats
    """The constrained rates, a row a rate and a column a group."""
    constant: Literal["yes", "no", ""]
    """What everybody is told, where that is the same for all of them."""

    @property
    def spread(self) -> float:
        """The largest difference between two groups in a constrained rate."""
        return float(np.ptp(self.rates, axis=1).max())

    @property
    def farthest_pair(self) -> tuple[int, int]:
        """The two groups that differ most, the lower rate first."""
        row = self.rates[int(np.argmax(np.ptp(self.rates, axis=1)))]
        return int(np.argmin(row)), int(np.argmax(row))


class _Vertices:
    """One group's thresholds: rates and gains, in blocks."""

    def __init__(self, rates: Floats, gains: Floats) -> None:
        self.rates, self.gains = rates, gains
        size = max(1, math.ceil(gains.size / _BLOCKS))
        first = np.arange(0, gains.size, size)
        last = np.append(first[1:], gains.size) - 1
        self.low, self.high = rates[:, first], rates[:, last]
        self.is_exact = size == 1
        highest = [np.maximum.reduceat(gains, first)]
        while 2 << (len(highest) - 1) <= first.size:  # a sparse table: the maxima of 1, 2, 4, ... blocks
            half, before = 1 << (len(highest) - 1), highest[-1]
            highest.append(np.append(np.maximum(before[:-half], before[half:]), np.full(half, -np.inf)))
        self._highest = np.stack(highest)

    def at_most(self, lo: Floats, hi: Floats) -> Floats:
        """The best gain of each window, or more: blocks that reach into it count."""
        first = np.max([np.searchsorted(own, at) for own, at in zip(self.high, lo, strict=True)], axis=0)
        last = np.min([np.searchsorted(own, at, "right") for own, at in zip(self.low, hi, strict=True)], axis=0)
        return self._best(first, last)

    def at_least(self, lo: Floats, hi: Floats) -> Floats:
        """The best gain of each window, or less: only blocks inside it count."""
        first = np.max([np.searchsorted(own, at) for own, at in zip(self.low, lo, strict=True)], axis=0)
        last = np.min([np.searchsorted(own, at, "right") for own, at in zip(self.high, hi, strict=True)], axis=0)
        return self._best(first, last)

    def _best(self, first: Indices, stop: Indices) -> Floats:
        count = stop - first
        inside = count > 0
        level = np.where(inside, np.frexp(np.maximum(count, 1))[1] - 1, 0)
        first = np.where(inside, first, 0)
        other = np.where(inside, stop - (1 << level), 0)
        return np.where(inside, np.maximum(self._highest[level, first], self._highest[level, other]), -np.inf)

    def best_in(self, lo: Floats, hi: Floats) -> int | None:
        """The best vertex of one window; None where there is none."""
        first = max(int(np.searchsorted(own, at)) for own, at in zip(self.rates, lo, strict=True))
        stop = min(int(np.searchsorted(own, at, "right")) for own, at in zip(self.rates, hi, strict=True))
        return first + int(np.argmax(self.gains[first:stop])) if first < stop else None


class _Windows:
    """The windows of all groups, and the search among them."""

    def __init__(self, joint: JointDistribution, objective: Objective, constraint: Constraint) -> None:
        self._joint, self._objective, self._constraint = joint, objective, constraint
        by = [coefficients(joint, rate) for rate in constraint.rates]
        self._groups = []
        for i, member in enumerate(joint.members):
            both = np.stack([member.roc.fpr, member.roc.tpr])
            if objective.is_distance:  # of a point that all groups share
                gains = -np.hypot(both[0], 1 - both[1]) / len(joint.members)
            else:
                gains = objective.by_rate[i] @ both
            self._groups.append(_Vertices(np.stack([rows[i] @ both for rows in by]), gains))
        # A window begins at a rate of some vertex; where there are blocks, between two of these.
        self._starts = [
            np.unique(np.concatenate([group.low[rate] for group in self._groups])) for rate in range(len(by))
        ]
        self._is_exact = all(group.is_exact for group in self._groups)

    def search(self, tolerance: float, *, better_than: float | None = None) -> Thresholds | None:
        """The best thresholds within a tolerance; or the first that are better than a gain, None where there are none.

        Each box of windows is a row of first and last starts, a column for each rate.
        """
        tolerance += _SAME
        known, window = -np.inf if better_than is None else better_than, None
        if better_than is None:  # a no and a yes for everybody are within every tolerance
            ends = [np.full(len(self._starts), end) for end in (0.0, 1.0)]
            known, window = max(((self._gain(end, tolerance), end) for end in ends), key=lambda pair: pair[0])
        first = np.zeros((1, len(self._starts)), np.intp)
        last = np.array([[starts.size - 1 for starts in self._starts]])
        most = self._most(first, last, tolerance)
        left = -np.inf  # what windows of blocks that cannot be split further may gain
        for _ in range(_ROUNDS):
            if not most.size or (not self._is_exact and most.max() <= max(known + _CLOSE, left)):
                break
            top = np.argsort(-most, kind="stable")[:_AT_ONCE]
            lows = np.stack([starts[own] for starts, own in zip(self._starts, first[top].T, strict=True)])
            found, at = self._best_of(lows, tolerance)
            if found > known + _TIE:
                known, window = found, at
                if better_than is not None:
                    break
            halves = self._split(first[top], last[top])
            if not self._is_exact:
                single = (first[top] == last[top]).all(axis=1)
                left = max(left, float(most[top][single].max(initial=-np.inf)))
            rest = np.ones(most.size, bool)
            rest[top] = False
            most = np.concatenate([most[rest], self._most(*halves, tolerance)])
            kept = most > known + _TIE
            first, last = (np.concatenate([z[rest], half])[kept] for z, half in zip((first, last), halves, strict=True))
            most = most[kept]
        if window is None:
            return None
        return self._thresholds(window, tolerance, max(known, left, float(most.max(initial=-np.inf))))

    def _best_of(self, windows: Floats, tolerance: float) -> tuple[float, Floats]:
        """The window with the greatest gain, where there are blocks one of those that seem best, and its gain."""
        gains = np.sum([group.at_least(windows, windows + tolerance) for group in self._groups], axis=0)
        best = int(np.argmax(gains))
        if self._is_exact:
            return float(gains[best]), windows[:, best]
        some = [windows[:, i] for i in {best, *range(min(_LOOKED_INTO, gains.size))}]
        return max(((self._gain(window, tolerance), window) for window in some), key=lambda pair: pair[0])

    def _gain(self, window: Floats, tolerance: float) -> float:
        """Of the best vertices in one window."""
        chosen = [group.best_in(window, window + tolerance) for group in self._groups]
        return sum(
            -np.inf if i is None else float(group.gains[i]) for group, i in zip(self._groups, chosen, strict=True)
        )

    def _most(self, first: Indices, last: Indices, tolerance: float) -> Floats:
        """What the windows of each box gain at most."""
        if not first.size:
            return np.zeros(0)
        every = list(zip(self._starts, first.T, last.T, strict=True))
        lows = np.stack([starts[i] for starts, i, _ in every])
        highs = np.stack([starts[j] if self._is_exact else np.append(starts, 1.0)[j + 1] for starts, _, j in every])
        return np.asarray(np.sum([group.at_most(lows, highs + tolerance) for group in self._groups], axis=0))

    @staticmethod
    def _split(first: Indices, last: Indices) -> tuple[Indices, Indices]:
        """Each box in two, across its longer side; a box of one window was looked at."""
        rows, side = np.arange(first.shape[0]), np.argmax(last - first, axis=1)
        several = last[rows, side] > first[rows, side]
        rows, side = rows[several], side[several]
        middle = (first[rows, side] + last[rows, side]) // 2
        lower, upper = last[rows].copy(), first[rows].copy()
        own = np.arange(rows.size)
        lower[own, side], upper[own, side] = middle, middle + 1
        return np.concatenate([first[rows], upper]), np.concatenate([lower, last[rows]])

    def _thresholds(self, window: Floats, tolerance: float, bound: float) -> Thresholds:
        chosen = [group.best_in(window, window + tolerance) or 0 for group in self._groups]  # there are some
        rocs = [member.roc for member in self._joint.members]
        points = tuple(Point(float(roc.fpr[i]), float(roc.tpr[i])) for roc, i in zip(rocs, chosen, strict=True))
        gain = self._objective.gain(points)
        rates = np.stack([group.rates[:, i] for group, i in zip(self._groups, chosen, strict=True)], axis=1)
        scores = tuple(roc.threshold(i) for roc, i in zip(rocs, chosen, strict=True))
        nobody, everybody = not any(chosen), all(i == roc.scores.size for i, roc in zip(chosen, rocs, strict=True))
        bound = max(gain, bound + self._objective.constant)  # which the search left out
        return Thresholds(scores, points, gain, bound, rates, "no" if nobody else "yes" if everybody else "")


def best_thresholds(joint: JointDistribution, objective: Objective, constraint: Constraint) -> Thresholds:
    """The thresholds with the greatest gain within the constraint's tolerance.

    A yes for everybody and a no for everybody are within every tolerance, so there always are some.
    """
    found = _Windows(joint, objective, constraint).search(constraint.tolerance)
    if found is None:
        msg = "a yes for everybody is within every tolerance"
        raise AssertionError(msg)
    return found


def about_constants(
    joint: JointDistribution, objective: Objective, constraint: Constraint, gain: float, *, proven: bool
) -> str:
    """What to say where thresholds gain no more within the tolerance than deciding everybody alike: from where on."""
    no, yes = (objective.gain([Point(rate, rate)] * len(joint.members)) for rate in (0.0, 1.0))
    alike = "yes" if yes > no else "no"
    no_better = "no thresholds do better" if proven else "no thresholds were found that do better"
    told = f"Within tolerance={constraint.tolerance:g} {no_better} than a {alike} for everybody"
    better = _first_better(_Windows(joint, objective, constraint), constraint.tolerance, gain - objective.constant)
    if better is None:
        return f"{told}, nor do they within any other."
    low, high = (joint.groups[i] for i in better.farthest_pair)
    least = rounded_up(better.spread)
    return (
        f"{told}. They do from tolerance={least:g} on, where groups {low!r} and {high!r} are the farthest apart. "
        f"Hint: tolerance={least:g}, or curve='linear', which decides some people by chance."
    )


def _first_better(windows: _Windows, tolerance: float, gain: float) -> Thresholds | None:
    """Thresholds with a greater gain within the least tolerance that allows any."""
    best = windows.search(1.0, better_than=gain)
    if best is None:
        return None
    least, most = tolerance, best.spread
    while most - least > _FINEST:
        middle = (least + most) / 2
        found = windows.search(middle, better_than=gain)
        if found is None:
            least = middle
        else:
            best, most = found, min(found.spread, middle)
    return best
