"""How steep: the best points under a slope budget, the gentlest budget that loses little, and bounds on both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenodds.geometry.pieces import Floats
from evenodds.geometry.roots import bracketed_root
from evenodds.model.goals import Constraint, Objective
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution
from evenodds.model.mixes import Steps, best_points, gentlest_steps, steps_of
from evenodds.model.pooling import pool_together, pooled_slope_bound, upper_bound
from evenodds.model.regions import ON_CURVE, Arcs, above_diagonal, arcs_of
from evenodds.model.roc import LargeRoc, Point, roc_of
from evenodds.model.target import best_common, best_reachable

__all__ = ["best_under", "best_within", "gain_bound", "is_small", "least_slope", "slope_bound"]

SMALL_TABLE = 5000
"""Up to this many scores in all, bounds come from the linear program; beyond, from the pooled ROC."""
_FLAT = 1e-6  # a slope that changes the odds by less than this over the whole score range is none
_ENOUGH_SUPPORTS = 60
_ROUGH = 3e-3  # how well the first search knows a slope
_SPARE = 1e-12  # a gain this little above what is needed is what is needed
_SETTLED = 0.01  # a closer look that closes less than this share of the gap is the last
_MISSED = 1e-7  # a gain so little above what is reached is not looked for
_GENTLER = 0.8  # of a slope: the next gentler one that is looked at
_GENTLER_LOOKS = 14  # down to a twentieth of the budget
_LOOKS = 2  # times that smooth arcs are looked at more closely


def best_under(
    joint: JointDistribution,
    family: str,
    slope: float,
    objective: Objective,
    constraint: Constraint,
    *,
    roughly: bool = False,
    near: list[Point] | None = None,
) -> list[Point]:
    """The best points that curves of a family reach with slopes of at most `slope`; roughly for a first search.

    `near` are those under a similar slope, where many scores are looked at first.
    """
    if family == "optimal":
        found = _best_mixes(joint, [steps_of(member, slope) for member in joint.members], objective, constraint)
        # The program's rounding must not put a point outside.
        return [
            Point(min(p.fpr, 1.0), min(p.tpr, roc_of(member).hull_height(min(p.fpr, 1.0))))
            for member, p in zip(joint.members, found, strict=True)
        ]
    if family == "fixed":
        return best_reachable(joint, [roc_of(member).hull for member in joint.members], objective, constraint)
    rocs = [roc_of(member) for member in joint.members]
    if np.isinf(slope) and constraint.one_point and any(isinstance(roc, LargeRoc) for roc in rocs):
        lines = [roc if isinstance(roc, LargeRoc) else above_diagonal((roc.fpr, roc.tpr)) for roc in rocs]
        return [best_common(lines, objective)] * len(lines)
    arcs = [arcs_of(member, family, slope) for member in joint.members]
    exact = all(arc.is_exact for arc in arcs)
    if exact or roughly or near is None:
        points = best_reachable(joint, [above_diagonal(arc.polyline) for arc in arcs], objective, constraint)
    else:
        points = near
    if exact or roughly:
        return points
    # Arcs are straightened between vertices: look again with more of them around the points found.
    for _ in range(_LOOKS):
        arcs = [arc.finer(point) for arc, point in zip(arcs, points, strict=True)]
        points = best_reachable(joint, [above_diagonal(arc.polyline) for arc in arcs], objective, constraint)
    return points if family == "linear" else _onto_arcs(joint, arcs, constraint, points)


def best_within(
    joint: JointDistribution, family: str, slope: float, objective: Objective, constraint: Constraint
) -> tuple[float, list[Point]]:
    """The best points found with slopes of at most `slope`, and the slope that reaches them.

    Where a ROC has dents a wider ramp fills them, and may reach more than the steepest one allowed; a concave ROC has
    none, and then nothing is gained. Smooth families, which cost more to look at, are looked at once.
    """
    points = best_under(joint, family, slope, objective, constraint)
    if family != "linear" or not np.isfinite(slope) or not is_small(joint):
        return slope, points
    achieved = objective.gain(points)
    if _pooled_gain(joint, slope, objective, constraint, achieved) <= achieved + _MISSED:
        return slope, points  # proven: there is nothing to look for
    gentler = [slope * _GENTLER**k for k in range(1, _GENTLER_LOOKS)]
    looks = [(slope, points), *((one, best_under(joint, family, one, objective, constraint)) for one in gentler)]
    return max(looks, key=lambda look: objective.gain(look[1]))


def _onto_arcs(joint: JointDistribution, arcs: list[Arcs], constraint: Constraint, points: list[Point]) -> list[Point]:
    """Move points from the straightened arcs onto the arcs themselves, so that the constraint still holds.

    The constrained rate stays (under equalised odds the FPR), and with it the curve's position is a root.
    """
    rate = constraint.rates[0]
    exact = []
    for arc, point, by in zip(arcs, points, constraint.coefficients(joint, rate), strict=True):
        if arc.is_exact or point.tpr - point.fpr <= ON_CURVE:  # on the diagonal, which needs no arc
            exact.append(point)
            continue
        above = arc.highest(by, float(by @ (point.fpr, point.tpr)))
        exact.append(point if above.tpr - above.fpr >= point.tpr - point.fpr else above)
    if constraint.name == "equalized_odds":
        lowest = min(point.tpr for point in exact) + constraint.tolerance
        return [Point(asked.fpr, min(point.tpr, lowest)) for asked, point in zip(points, exact, strict=True)]
    return exact


def least_slope(
    joint: JointDistribution, family: str, objective: Objective, constraint: Constraint, needed: float
) -> tuple[float, list[Point]]:
    """The least slope budget with which curves of a family gain what is needed, and the best points under it.

    What is needed must be less than what there is to gain without a budget.
    """
    rough: dict[float, float] = {}
    close: dict[float, list[Point]] = {}

    def rough_excess(log_slope: float) -> float:
        found = best_under(joint, family, float(np.exp(log_slope)), objective, constraint, roughly=True)
        rough[log_slope] = needed - objective.gain(found)
        return rough[log_slope]

    def excess(log_slope: float) -> float:
        near = list(close.values())[-1] if close else None
        close[log_slope] = best_under(joint, family, float(np.exp(log_slope)), objective, constraint, near=near)
        return needed - objective.gain(close[log_slope])

    lo, hi = joint.score_range
    if hi == lo:
        return float("inf"), best_under(joint, family, np.inf, objective, constraint)
    flat, steep = float(np.log(_FLAT / (hi - lo))), float(np.log(4 / (hi - lo)))
    gentle = flat
    # A curve narrower than every gap between scores traces the ROC itself, so this ends.
    while rough_excess(steep) > 0:
        gentle, steep = steep, steep + float(np.log(4))
    if gentle != flat or rough_excess(flat) > 0:
        gentle, steep = bracketed_root(rough_excess, (gentle, rough[gentle]), (steep, rough[steep]), _ROUGH)
        rate = (rough[gentle] - rough[steep]) / (steep - gentle)
    else:
        steep, rate = flat, 0.0
    # Then closely, from where the rough answer says that the root is, and a little beyond to have it in a bracket.
    at, value = steep, excess(steep)
    reach = max(1.25 * abs(value) / rate, _SPARE) if rate > 0 else _ROUGH
    ends = {value > 0: (at, value)}
    while len(ends) < 2 and not (-_SPARE <= value <= 0 or (value <= 0 and at <= flat)):  # noqa: PLR2004 both ends
        at += reach if value > 0 else -reach
        value = excess(at)
        ends[value > 0] = (at, value)
        reach *= 4
    if len(ends) == 2:  # noqa: PLR2004 both ends
        _, at = bracketed_root(excess, ends[True], ends[False], 1e-10, enough=_SPARE)
    return float(np.exp(at)), close[at]


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
    if bound > achieved + 1e-9 and is_small(joint):  # the program's own precision
        steps = [steps_of(member, slope) for member in joint.members]
        exact = objective.gain(_best_mixes(joint, steps, objective, constraint))
        bound, by = min(bound, exact), "linear program"
    return max(bound, achieved), by


def slope_bound(group: Group, point: Point, *, achieved: float, small: bool) -> float:
    """What the slope of no rising curve of this group through this point can fall below.

    The pooled ROC gives a bound in O(n); where it does not prove the achieved slope least, and the table is small, the
    linear program gives the least slope itself.
    """
    bound = pooled_slope_bound(group, point, achieved)
    if small and not achieved <= bound * (1 + 1e-9):
        bound = max(bound, gentlest_steps(group, point)[1])
    return min(bound, achieved)


def _pooled_gain(
    joint: JointDistribution, slope: float, objective: Objective, constraint: Constraint, achieved: float
) -> float:
    """What curves below the pooled ROCs gain at most; smooth bounds are drawn closer around the best points."""
    pool_together(joint.members)
    lines = [upper_bound(member, slope) for member in joint.members]
    before = np.inf
    for look in range(_LOOKS + 1):
        points = best_reachable(joint, [line.polyline for line in lines], objective, constraint)
        bound = objective.gain(points)
        # Where the gap has other reasons than how closely the bound is drawn, it will not close.
        settled = before - bound <= _SETTLED * (bound - achieved)
        if bound <= achieved or settled or look == _LOOKS or not any(line.can_come_closer for line in lines):
            break
        before = bound
        lines = [line.closer(point) for line, point in zip(lines, points, strict=True)]
    return bound


def _best_mixes(
    joint: JointDistribution, steps: list[Steps], objective: Objective, constraint: Constraint
) -> list[Point]:
    """The best points of the linear program; the nearest to (0, 1) if the objective is that distance."""
    if not objective.is_distance:
        return best_points(joint, steps, objective, constraint)[0]

    def farthest(direction: Floats) -> Floats:
        by_rate = np.zeros((len(steps), 2))
        by_rate[0] = direction  # all groups share the point, so that of the first will do
        point = best_points(joint, steps, replace(objective, by_rate=by_rate, is_distance=False), constraint)[0][0]
        return np.array([point.fpr, point.tpr])

    # The foot of (0, 1) on a convex set, from its farthest points in the directions that matter.
    corners = [farthest(np.array([-1.0, 1.0]))]
    foot = corners[0]
    for _ in range(_ENOUGH_SUPPORTS):
        direction = np.array([0.0, 1.0]) - foot
        corner = farthest(direction)
        if direction @ (corner - foot) <= 1e-11:  # noqa: PLR2004 no corner is nearer
            break
        corners.append(corner)
        foot = _foot(corners)
    return [Point(float(foot[0]), float(foot[1]))] * len(steps)


def _foot(corners: list[Floats]) -> Floats:
    """The point nearest to (0, 1) on the segments between corners."""
    best = corners[0]
    perfect = np.array([0.0, 1.0])
    for i, a in enumerate(corners):
        for b in corners[:i]:
            along = b - a
            length = along @ along
            share = np.clip((perfect - a) @ along / length, 0, 1) if length > 0 else 0.0
            foot = a + share * along
            if np.linalg.norm(perfect - foot) < np.linalg.norm(perfect - best):
                best = foot
    return best
