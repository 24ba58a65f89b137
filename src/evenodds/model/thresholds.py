"""Hard thresholds: one for each group, nobody decided by chance, the best objective within a tolerance.

A threshold is a vertex of a group's ROC. If v is the least value of a constrained rate over the groups, all of them lie
in a window [v, v + tolerance]. Rates rise along a ROC, so a window is an interval of its vertices, in which the best is
the maximum of a range. So the best thresholds are found by searching for the window: boxes of windows are split, best
first, and dropped where even the best vertices that any window of the box allows gain no more than what is known.
"""

from __future__ import annotations

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

_CHUNK = 16  # vertices whose maxima are kept side by side; a table of all ranges would take 24 times the memory
_SAME = 1e-12  # rates of other people that differ by no more are equal: 3 / 10 and 30 / 100
_TIE = 1e-13  # a gain that is more by no more is not
_AT_ONCE = 512  # boxes that are split together
_ROUNDS = 4000  # of that; few searches take a hundred, and where one ends early the bound says what is left
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


class _RangeMaxima:
    """The greatest of any run of numbers: of parts of chunks, and of runs of whole chunks by a sparse table."""

    def __init__(self, numbers: Floats) -> None:
        short = -numbers.size % _CHUNK
        self._numbers = np.append(numbers, np.full(short + _CHUNK, -np.inf))  # the last chunk is read from, and empty
        chunks = self._numbers.reshape(-1, _CHUNK)
        self._from_first = np.maximum.accumulate(chunks, axis=1).ravel()
        self._to_last = np.maximum.accumulate(chunks[:, ::-1], axis=1)[:, ::-1].ravel()
        highest = [chunks.max(axis=1)]
        while 2 << (len(highest) - 1) <= chunks.shape[0]:  # the maxima of 1, 2, 4, ... chunks
            half, before = 1 << (len(highest) - 1), highest[-1]
            highest.append(np.append(np.maximum(before[:-half], before[half:]), np.full(half, -np.inf)))
        self._highest = np.stack(highest)

    def between(self, first: Indices, stop: Indices) -> Floats:
        """The greatest from `first` to before `stop`; minus infinity of none."""
        some = stop > first
        first, last = np.where(some, first, 0), np.where(some, stop - 1, 0)
        begin, end = first // _CHUNK, last // _CHUNK
        greatest = np.maximum(self._to_last[first], self._from_first[last])
        whole = end - begin - 1
        level = np.frexp(np.maximum(whole, 1))[1] - 1
        left, right = np.where(whole > 0, begin + 1, 0), np.where(whole > 0, end - (1 << level), 0)
        middle = np.maximum(self._highest[level, left], self._highest[level, right])
        greatest = np.where(whole > 0, np.maximum(greatest, middle), greatest)
        own = np.flatnonzero(whole < 0)  # a part of one chunk
        at = first[own, None] + np.arange(_CHUNK)
        greatest[own] = np.where(at <= last[own, None], self._numbers[at], -np.inf).max(axis=1)
        return np.asarray(np.where(some, greatest, -np.inf))


class _Vertices:
    """One group's thresholds: rates and gains."""

    def __init__(self, rates: Floats, gains: Floats) -> None:
        self.rates, self.gains = rates, gains
        self._maxima = _RangeMaxima(gains)

    def greatest(self, lo: Floats, hi: Floats) -> Floats:
        """The best gain of each window; minus infinity where it has no vertex."""
        first = np.max([np.searchsorted(own, at) for own, at in zip(self.rates, lo, strict=True)], axis=0)
        stop = np.min([np.searchsorted(own, at, "right") for own, at in zip(self.rates, hi, strict=True)], axis=0)
        return self._maxima.between(first, stop)

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
        # A window begins at a rate of some vertex.
        self._starts = [
            np.unique(np.concatenate([group.rates[rate] for group in self._groups])) for rate in range(len(by))
        ]

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
        for _ in range(_ROUNDS):
            if not most.size:
                break
            top = np.argsort(-most, kind="stable")[:_AT_ONCE]
            lows = np.stack([starts[own] for starts, own in zip(self._starts, first[top].T, strict=True)])
            gains = self._greatest(lows, lows + tolerance)
            best = int(np.argmax(gains))
            if gains[best] > known + _TIE:
                known, window = float(gains[best]), lows[:, best]
                if better_than is not None:
                    break
            halves = self._split(first[top], last[top])
            rest = np.ones(most.size, bool)
            rest[top] = False
            most = np.concatenate([most[rest], self._most(*halves, tolerance)])
            kept = most > known + _TIE
            first, last = (np.concatenate([z[rest], half])[kept] for z, half in zip((first, last), halves, strict=True))
            most = most[kept]
        if window is None:
            return None
        return self._thresholds(window, tolerance, max(known, float(most.max(initial=-np.inf))))

    def _greatest(self, lo: Floats, hi: Floats) -> Floats:
        """What the best vertices of all groups gain in each window."""
        return np.asarray(np.sum([group.greatest(lo, hi) for group in self._groups], axis=0))

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
        lows, highs = (
            np.stack([starts[i] for starts, i in zip(self._starts, ends.T, strict=True)]) for ends in (first, last)
        )
        return self._greatest(lows, highs + tolerance)

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
    best = _Windows(joint, objective, constraint).search(constraint.tolerance)
    if best is None:
        msg = "a yes for everybody is within every tolerance"
        raise AssertionError(msg)
    return best


def about_constants(
    joint: JointDistribution, objective: Objective, constraint: Constraint, gain: float, *, proven: bool
) -> str:
    """What to say where thresholds gain no more within the tolerance than deciding everybody alike: from where on."""
    no, yes = (objective.gain([Point(rate, rate)] * len(joint.members)) for rate in (0.0, 1.0))
    alike = "yes" if yes > no else "no"
    no_better = "no thresholds do better" if proven else "no thresholds were found that do better"
    sentence = f"Within tolerance={constraint.tolerance:g} {no_better} than a {alike} for everybody"
    better = _first_better(_Windows(joint, objective, constraint), constraint.tolerance, gain - objective.constant)
    if better is None:
        return f"{sentence}, nor do they within any other."
    low, high = (joint.groups[i] for i in better.farthest_pair)
    least = rounded_up(better.spread)
    return (
        f"{sentence}. They do from tolerance={least:g} on, where groups {low!r} and {high!r} are the farthest apart. "
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
        better = windows.search(middle, better_than=gain)
        if better is None:
            least = middle
        else:
            best, most = better, min(better.spread, middle)
    return best
