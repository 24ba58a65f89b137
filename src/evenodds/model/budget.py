"""How steep: the best points under a slope budget, the gentlest budget that loses little, and bounds on both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from evenodds.geometry.program import SolverError
from evenodds.geometry.roots import bracketed_root
from evenodds.model.families import Family
from evenodds.model.goals import Constraint, Objective
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution
from evenodds.model.mixes import best_mixed, gentlest_steps, steps_of
from evenodds.model.reach import Reach, reaches_inside, reaches_of, refined
from evenodds.model.roc import Point
from evenodds.model.target import best_below_lines, best_points
from evenodds.model.traces import Gentler, has_ladder, least_width

__all__ = ["Bounds", "Chosen", "best_under", "least_slope"]

SMALL_TABLE = 5000
"""Up to this many scores in all, bounds come from the linear program; beyond, from the pooled ROC."""
_FLAT = 1e-6  # a slope that changes the odds by less than this over the whole score range is none
_ROUGH = 1e-2  # how well the first search knows a slope
_FEW = 400  # scores of a group that are looked at at once
_SPARE = 1e-12  # a gain this little above what is needed is what is needed
_SETTLED = 0.01  # a closer look that closes less than this share of the gap is the last
_LOOKS = 2  # times that a sparse reach is looked at more closely
_START = 10.0  # of the score range by the width that is looked at first
_FACTOR = 4.0  # between widths that are looked at first
_ROUNDS = 6  # times that gentler curves may stick out which did not before
_NOTHING = 1.0  # what is missed where nothing is in reach: as much as there is to gain
_PRECISE = 1e-10  # a linear program's own precision

Inside = tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Chosen:
    """A point for each group, under a slope budget; and the groups' reach that was looked at, unless a program was."""

    slope: float
    points: Sequence[Point]
    reaches: Sequence[Reach] | None = None


def best_under(
    joint: JointDistribution,
    family: Family,
    slope: float,
    objective: Objective,
    constraint: Constraint,
    *,
    roughly: bool = False,
    near: Chosen | None = None,
    gentler: Sequence[Gentler] | None = None,
    inside: Inside = None,
) -> Chosen:
    """The best points that mixes of curves of a family reach with slopes of at most `slope`; roughly for a search.

    Without a budget that is the hull of the ROC, for all families. `near` is the best under a similar slope, around
    which a sparse reach is looked at first; for `gentler` see `reaches_of`. `inside` binds all thresholds.
    """
    if not family.has_path and np.isfinite(slope):
        steps = [steps_of(member, slope) for member in joint.members]
        found = best_mixed(joint, steps, objective, constraint)
        return Chosen(slope, [_within(member, point) for member, point in zip(joint.members, found, strict=True)])
    if inside is None:
        reaches = reaches_of(joint.members, joint.stack, family, slope, roughly=roughly, gentler=gentler)
    else:
        reaches = reaches_inside(joint.members, joint.stack, family, slope, inside)
    exact = roughly or all(reach.is_exact for reach in reaches)
    points = best_points(joint, reaches, objective, constraint) if exact or near is None else near.points
    # Polylines are smooth for all that matters: around a point that is nearly best one look is enough.
    for _ in range(0 if exact else 1 if near is not None and family.is_straight else _LOOKS):
        reaches = refined(reaches, joint.stack, points)
        points = best_points(joint, reaches, objective, constraint)
    return Chosen(slope, points, reaches)


def _within(group: Group, point: Point) -> Point:
    """A linear program's rounding must not put a point outside."""
    fpr = min(point.fpr, 1.0)
    return Point(fpr, min(point.tpr, group.roc.hull_height(fpr)))


def least_slope(
    joint: JointDistribution,
    family: Family,
    objective: Objective,
    constraint: Constraint,
    best: float,
    loss: float,
    *,
    inside: Inside = None,
) -> Chosen | None:
    """The least slope budget found with which mixes of curves lose no more than so much of the best gain.

    And the best points under it. None where no slope that floating-point numbers can place is enough, as for a loss of
    next to nothing.
    """
    lo, hi = joint.score_range
    if hi == lo:
        return None
    # Narrower curves than these are no nearer to thresholds; wider ones change the odds by nothing.
    narrowest = min(_narrowest(member, family) for member in joint.members) / 2
    ends = narrowest, (hi - lo) / _FLAT
    excess = _Excess(joint, family, objective, constraint, best, loss, inside)
    width, rate = (hi - lo) / _START, 0.0
    if excess.has_rough:
        bracket = _bracketed(excess.roughly, width, width, ends)
        if bracket is None:
            return None
        wide, narrow = bracketed_root(excess.roughly, *bracket, _ROUGH * bracket[1][0])
        width = narrow
        rate = (excess.roughly(wide) - excess.roughly(narrow)) / (wide - narrow) if wide > narrow else 0.0
    for _ in range(_ROUNDS):
        # Closely, from where the rough answer says that the root is, and a little beyond to have it in a bracket.
        off = abs(excess.closely(width))
        step = max(1.25 * off / rate, 1e-12 * width) if rate > 0 else width
        bracket = _bracketed(excess.closely, width, step, (narrowest / _FACTOR, ends[1]), excess.enough)
        if bracket is None:
            return None
        (wide, high), (narrow, low) = bracket
        rate = (high - low) / (wide - narrow) if wide > narrow else 0.0
        _, width = bracketed_root(excess.closely, *bracket, 1e-10 * narrow, enough=excess.enough)
        if not excess.with_ladder(width):
            break
    return excess.chosen[width]


def _bracketed(
    excess: Callable[[float], float], width: float, step: float, ends: tuple[float, float], enough: float = 0.0
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """A width at which too much is lost and one at which not, with what is lost in excess; None if all lose too much.

    From a first width they are looked for by ever larger steps. The first width is the second too where the loss is
    just what is allowed, and so is the widest of all if it does not lose too much.
    """
    value = excess(width)
    first = value > 0
    while True:
        known = width, value
        if value <= 0 and (value >= -enough or width >= ends[1]):
            return known, known
        if first and width < ends[0]:
            return None
        width = max(width - step, width / _FACTOR) if first else min(width + step, width * _FACTOR, ends[1])
        value = excess(width)
        step *= _FACTOR
        if (value > 0) != first:
            return (known, (width, value)) if first else ((width, value), known)


class _Excess:
    """How much more than allowed curves of a width lose, as a difference of square roots: they are almost straight."""

    def __init__(
        self,
        joint: JointDistribution,
        family: Family,
        objective: Objective,
        constraint: Constraint,
        best: float,
        loss: float,
        inside: Inside,
    ) -> None:
        self._best, self._loss, self._objective = best, loss, objective
        self._under = partial(best_under, joint, family, objective=objective, constraint=constraint, inside=inside)
        self._unit = float(family.unit_slope(0.5)) if family.has_path else 1.0
        self._groups = joint.members
        self._family = family
        self._rough: dict[float, float] = {}
        self._close: dict[float, float] = {}
        self.chosen: dict[float, Chosen] = {}
        # Gentler curves that were seen to stick out; none do where scores are many, or thresholds bound.
        may = family.has_path and inside is None and any(has_ladder(group) for group in joint.members)
        self._gentler = [Gentler.none() for _ in joint.members] if may else None
        self.has_rough = family.has_path and not (
            inside is None and family.is_straight and max(group.score_count for group in joint.members) <= _FEW
        )
        """Whether it is worth while to look roughly first."""
        self.enough = float(np.sqrt(loss) - np.sqrt(max(loss - _SPARE, 0.0)))
        """A loss that is less than allowed by no more is as much as is allowed."""

    def _of(self, points: Sequence[Point]) -> float:
        return float(np.sqrt(max(self._best - self._objective.gain(points), 0.0)) - np.sqrt(self._loss))

    def roughly(self, width: float) -> float:
        """Roughly, for a first search."""
        if width not in self._rough:
            try:
                none = self._gentler
                self._rough[width] = self._of(self._under(self._unit / width, roughly=True, gentler=none).points)
            except SolverError:  # the groups have no point in common
                self._rough[width] = _NOTHING
        return self._rough[width]

    def closely(self, width: float) -> float:
        """Closely, looking first where the last best points were; these are kept."""
        if width not in self._close:
            near = list(self.chosen.values())[-1] if self.chosen else None
            try:
                self.chosen[width] = self._under(self._unit / width, near=near, gentler=self._gentler)
            except SolverError:
                self._close[width] = _NOTHING
            else:
                self._close[width] = self._of(self.chosen[width].points)
        return self._close[width]

    def with_ladder(self, width: float) -> bool:
        """Look at all gentler curves too; whether some of them stick out, so that a wider curve may do."""
        if self._gentler is None:
            return False
        before = self.chosen[width]
        every = self._under(self._unit / width, near=before)
        self.chosen = {width: every}
        self._close = {width: self._of(every.points)}
        if self._objective.gain(every.points) <= self._objective.gain(before.points) + _SPARE or every.reaches is None:
            return False
        widths = [least_width(group, self._family, self._unit / width) for group in self._groups]
        self._gentler = [reach.gentler(own) for reach, own in zip(every.reaches, widths, strict=True)]
        return True


def _narrowest(group: Group, family: Family) -> float:
    """The width below which a curve gains nothing by being narrower."""
    return least_width(group, family, np.inf) if family.has_path else min(group.least_gap, 1.0)


@dataclass(frozen=True, eq=False)
class Bounds:
    """What no rising curves within a slope budget can exceed, or fall below.

    The pooled ROC proves bounds in O(n). Where these leave a gap and the scores are few, linear programs prove the
    tightest there are.
    """

    joint: JointDistribution
    objective: Objective
    constraint: Constraint
    slope: float
    points: Sequence[Point]
    gain: float
    """What was achieved at these points, and with what slopes."""
    slopes: Sequence[float]

    def pooled(self) -> tuple[float, list[float]]:
        """A bound on the gain, and for each group one on the slope of every rising curve through its point."""
        gain = _pooled_gain(self.joint, self.slope, self.objective, self.constraint, self.gain)
        slopes = self.joint.pooled.slope_bounds(self.points, self.slopes)
        return max(gain, self.gain), [min(pair) for pair in zip(slopes, self.slopes, strict=True)]

    def can_be_tightened(self, gain: float, slopes: Sequence[float]) -> bool:
        """Whether linear programs are quick enough, and may prove more than this."""
        few = sum(member.score_count for member in self.joint.members) <= SMALL_TABLE
        return few and (self._leaves_a_gap(gain) or any(map(self._is_loose, slopes, self.slopes)))

    def _leaves_a_gap(self, gain: float) -> bool:
        return gain > self.gain + 1e-9 and bool(np.isfinite(self.slope))  # the program's own precision

    @staticmethod
    def _is_loose(bound: float, achieved: float) -> bool:
        return not achieved <= bound * (1 + 1e-9)

    def tightest_gain(self, bound: float) -> float | None:
        """The best gain itself, where the bound leaves a gap and a program closes some of it."""
        if not self._leaves_a_gap(bound):
            return None
        steps = [steps_of(member, self.slope) for member in self.joint.members]
        with suppress(SolverError):  # scores or weights that differ by many powers of ten; the pooled ROC will do
            best = self.objective.gain(best_mixed(self.joint, steps, self.objective, self.constraint)) + _PRECISE
            return max(best, self.gain) if best < bound else None
        return None

    def tightest_slopes(self, bounds: Sequence[float]) -> list[float]:
        """The least slopes of all rising curves through the points, where the bounds leave a gap."""
        every = zip(self.joint.members, self.points, self.slopes, bounds, strict=True)
        return [_tightest(*one) if self._is_loose(one[3], one[2]) else one[3] for one in every]


def _tightest(group: Group, point: Point, achieved: float, bound: float) -> float:
    with suppress(SolverError):  # as above
        about = achieved if 0 < achieved < np.inf else None
        bound = max(bound, gentlest_steps(group, point, at_least=bound, about=about)[1])
    return min(bound, achieved)


def _pooled_gain(
    joint: JointDistribution, slope: float, objective: Objective, constraint: Constraint, achieved: float
) -> float:
    """What curves below the pooled ROCs gain at most; sparse bounds are drawn closer around the best points."""
    lines = joint.pooled.upper_bounds(slope)
    before = np.inf
    for look in range(_LOOKS + 1):
        points = best_below_lines(joint, [line.polyline for line in lines], objective, constraint)
        bound = objective.gain(points)
        # Where the gap has other reasons than how closely the bound is drawn, it will not close.
        settled = before - bound <= _SETTLED * (bound - achieved)
        if bound <= achieved or settled or look == _LOOKS or all(line.is_exact for line in lines):
            break
        before = bound
        lines = joint.pooled.closer(lines, points)
    return bound
