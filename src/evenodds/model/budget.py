"""How steep: the best points under a slope budget, the gentlest budget that loses little, and bounds on both."""

from __future__ import annotations

from collections.abc import Sequence
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
from evenodds.model.reach import Reach, least_width, reaches_inside, reaches_of, refined
from evenodds.model.roc import Point
from evenodds.model.target import best_below_lines, best_points

__all__ = ["Chosen", "best_under", "gain_bound", "least_slope", "slope_bounds"]

SMALL_TABLE = 5000
"""Up to this many scores in all, bounds come from the linear program; beyond, from the pooled ROC."""
_FLAT = 1e-6  # a slope that changes the odds by less than this over the whole score range is none
_ROUGH = 3e-3  # how well the first search knows a slope
_SPARE = 1e-12  # a gain this little above what is needed is what is needed
_SETTLED = 0.01  # a closer look that closes less than this share of the gap is the last
_LOOKS = 2  # times that a sparse reach is looked at more closely
_STEEPER = float(np.log(4))
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
    near: Sequence[Point] | None = None,
    inside: Inside = None,
) -> Chosen:
    """The best points that mixes of curves of a family reach with slopes of at most `slope`; roughly for a search.

    Without a budget that is the hull of the ROC, for all families. `near` are the best points under a similar slope,
    where a sparse reach is looked at first. `inside` binds all thresholds.
    """
    if not family.has_path and np.isfinite(slope):
        steps = [steps_of(member, slope) for member in joint.members]
        found = best_mixed(joint, steps, objective, constraint)
        return Chosen(slope, [_within(member, point) for member, point in zip(joint.members, found, strict=True)])
    if inside is None:
        reaches = reaches_of(joint.members, joint.stack, family, slope, roughly=roughly)
    else:
        reaches = reaches_inside(joint.members, joint.stack, family, slope, inside)
    exact = roughly or all(reach.is_exact for reach in reaches)
    points = best_points(joint, reaches, objective, constraint) if exact or near is None else near
    for _ in range(0 if exact else _LOOKS):
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
    needed: float,
    *,
    inside: Inside = None,
) -> Chosen | None:
    """The least slope budget found with which mixes of curves gain what is needed, and the best points under it.

    None where no slope that floating-point numbers can place is enough, as for a loss of next to nothing.
    """
    lo, hi = joint.score_range
    if hi == lo:
        return None
    shortfall = _Shortfall(joint, family, objective, constraint, needed, inside)
    # Steeper curves than these are no nearer to thresholds.
    steepest = float(np.log(2 / min(_narrowest(member, family) for member in joint.members)))
    flat, steep = float(np.log(_FLAT / (hi - lo))), float(np.log(4 / (hi - lo)))
    gentle, rough = flat, shortfall.rough
    while rough(steep) > 0:
        if steep > steepest:
            return None
        gentle, steep = steep, steep + _STEEPER
    if gentle != flat or rough(flat) > 0:
        gentle, steep = bracketed_root(rough, (gentle, rough(gentle)), (steep, rough(steep)), _ROUGH)
        rate = (rough(gentle) - rough(steep)) / (steep - gentle)
    else:
        steep, rate = flat, 0.0
    # Then closely, from where the rough answer says that the root is, and a little beyond to have it in a bracket.
    at, value = steep, shortfall.close(steep)
    reach = min(max(1.25 * abs(value) / rate, _SPARE), _STEEPER) if rate > 0 else _ROUGH
    ends = {value > 0: (at, value)}
    while len(ends) < 2 and not (-_SPARE <= value <= 0 or (value <= 0 and at <= flat)):  # noqa: PLR2004 both ends
        if at > steepest + _STEEPER:
            return None
        at += reach if value > 0 else -reach
        value = shortfall.close(at)
        ends[value > 0] = (at, value)
        reach = min(4 * reach, _STEEPER)
    if len(ends) == 2:  # noqa: PLR2004 both ends
        _, at = bracketed_root(shortfall.close, ends[True], ends[False], 1e-10, enough=_SPARE)
    return shortfall.chosen[at]


class _Shortfall:
    """What is missing of a gain that is needed, under budgets that are given by their logarithms."""

    def __init__(
        self,
        joint: JointDistribution,
        family: Family,
        objective: Objective,
        constraint: Constraint,
        needed: float,
        inside: Inside,
    ) -> None:
        self.needed, self.objective = needed, objective
        self._best = partial(best_under, joint, family, objective=objective, constraint=constraint, inside=inside)
        self._rough: dict[float, float] = {}
        self.chosen: dict[float, Chosen] = {}

    def rough(self, log_slope: float) -> float:
        """Roughly, for a first search."""
        if log_slope not in self._rough:
            try:
                points = self._best(float(np.exp(log_slope)), roughly=True).points
                self._rough[log_slope] = self.needed - self.objective.gain(points)
            except SolverError:  # the groups have no point in common
                self._rough[log_slope] = _NOTHING
        return self._rough[log_slope]

    def close(self, log_slope: float) -> float:
        """Closely, looking first where the last best points were; these are kept."""
        near = list(self.chosen.values())[-1].points if self.chosen else None
        try:
            chosen = self._best(float(np.exp(log_slope)), near=near)
        except SolverError:
            return _NOTHING
        self.chosen[log_slope] = chosen
        return self.needed - self.objective.gain(chosen.points)


def _narrowest(group: Group, family: Family) -> float:
    """The width below which a curve gains nothing by being narrower."""
    return least_width(group, family, np.inf) if family.has_path else min(group.least_gap, 1.0)


def is_small(joint: JointDistribution) -> bool:
    """Whether the linear program is quick enough to prove bounds with."""
    return sum(member.score_count for member in joint.members) <= SMALL_TABLE


def gain_bound(
    joint: JointDistribution, slope: float, objective: Objective, constraint: Constraint, *, achieved: float
) -> tuple[float, str]:
    """What no rising curves with slopes of at most `slope` can exceed, and what proves it.

    The pooled ROC gives a bound in O(n); where it does not prove the achieved gain best, and the table is small, the
    linear program gives the best gain itself.
    """
    bound, by = _pooled_gain(joint, slope, objective, constraint, achieved), "pooled ROC"
    if bound > achieved + 1e-9 and np.isfinite(slope) and is_small(joint):  # the program's own precision
        steps = [steps_of(member, slope) for member in joint.members]
        with suppress(SolverError):  # scores or weights that differ by many powers of ten; the pooled ROC will do
            exact = objective.gain(best_mixed(joint, steps, objective, constraint)) + _PRECISE
            bound, by = (exact, "linear program") if exact < bound else (bound, by)
    return max(bound, achieved), by


def slope_bounds(joint: JointDistribution, points: Sequence[Point], *, achieved: Sequence[float]) -> list[float]:
    """For each group what the slope of no rising curve through its point can fall below.

    The pooled ROC gives a bound in O(n); where it does not prove the achieved slope least, and the table is small, the
    linear program gives the least slope itself.
    """
    bounds = joint.pooled.slope_bounds(points, achieved)
    if is_small(joint):
        for i, (group, point, slope) in enumerate(zip(joint.members, points, achieved, strict=True)):
            if not slope <= bounds[i] * (1 + 1e-9):
                bounds[i] = _least_of_all(group, point, slope, bounds[i])
    return [min(bound, slope) for bound, slope in zip(bounds, achieved, strict=True)]


def _least_of_all(group: Group, point: Point, achieved: float, bound: float) -> float:
    with suppress(SolverError):  # scores or weights that differ by many powers of ten; the pooled ROC will do
        about = achieved if 0 < achieved < np.inf else None
        return max(bound, gentlest_steps(group, point, at_least=bound, about=about)[1])
    return bound


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
