"""Which points of the ROC plane the groups shall meet.

A group's reach is convex: every point between the diagonal and its concave border can be met. Points are chosen on it
exactly: never from a grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import UnreachableError
from evenodds.geometry.envelope import Polyline, best_below
from evenodds.geometry.hull import height, height_before
from evenodds.geometry.pieces import Floats
from evenodds.geometry.program import SolverError
from evenodds.model.goals import Constraint, Objective, Rate, coefficients
from evenodds.model.joint import JointDistribution
from evenodds.model.lp import best_mixed
from evenodds.model.reach import ON_CURVE, Reach
from evenodds.model.request import TargetLike, target_of
from evenodds.model.roc import Point, Roc

__all__ = ["Baseline", "baseline", "best_below_lines", "best_points", "check_reach", "chosen_target"]

_COARSE, _FINE = 3, 24  # vertices that a linear program is given first, with nearly best points and without
_BESIDE = 4  # vertices to each side of a point


@dataclass(frozen=True)
class Baseline:
    """The paper's target: the best single threshold of the group that is hardest to serve."""

    group: str
    threshold: float
    """On the user's own scale."""
    point: Point


def baseline(joint: JointDistribution) -> Baseline:
    """The group whose best single threshold lies farthest from (0, 1), at that threshold (paper, Section 5.1).

    >>> counts = {"a": ([1, 2, 3], [8, 1, 1], [1, 1, 8]), "b": ([1, 2, 3], [5, 3, 2], [2, 3, 5])}
    >>> baseline(JointDistribution.from_counts(counts))
    Baseline(group='b', threshold=3.0, point=Point(fpr=0.2, tpr=0.5))
    """
    best = {member.key: member.roc.nearest_to_perfect() for member in joint.members}
    group = max(best, key=lambda key: best[key][1].distance_to_perfect)
    threshold, point = best[group]
    return Baseline(group, joint.scale.own(threshold), point)


def chosen_target(joint: JointDistribution, target: TargetLike) -> Point:
    """The point that `target` names: "baseline", or an explicit (fpr, tpr)."""
    named = target_of(target)
    return named if isinstance(named, Point) else baseline(joint).point


def check_reach(group: str, roc: Roc, point: Point) -> None:
    """Refuse a point that no non-decreasing curve of this group reaches, and say by how much."""
    where = f"Group {group!r} cannot reach the target (fpr={point.fpr:.6g}, tpr={point.tpr:.6g})"
    below = point.fpr - point.tpr
    if below > ON_CURVE:
        msg = (
            f"{where}: it lies {below / np.sqrt(2):.3g} below the diagonal, where no odds that rise with the score "
            "lead. Hint: a true positive rate below the false positive rate is worse than a lottery."
        )
        raise UnreachableError(msg)
    if point.tpr <= roc.height(point.fpr):
        return
    top = roc.hull_height(point.fpr)
    if point.tpr - top > ON_CURVE:
        msg = (
            f"{where}: at this false positive rate its scores allow a true positive rate of at most {top:.6g}, "
            f"{point.tpr - top:.3g} less. Hint: leave out target=, and the best point that all groups reach is chosen."
        )
        raise UnreachableError(msg)


def best_points(
    joint: JointDistribution,
    reaches: Sequence[Reach],
    objective: Objective,
    constraint: Constraint,
    near: Sequence[Point] | None = None,
) -> list[Point]:
    """The points with the greatest gain that lie in the groups' reach and satisfy the constraint: exactly.

    `near` are points that are nearly best, which a linear program is glad to know.
    """
    if not all(reach.has_diagonal for reach in reaches):
        if not all(reach.traces.size for reach in reaches):
            msg = "no curve is in reach"
            raise SolverError(msg)
        corners = [(reach.rates[0, reach.vertices], reach.rates[1, reach.vertices]) for reach in reaches]
        return best_mixed(joint, corners, objective, constraint)
    return best_below_lines(joint, [reach.upper for reach in reaches], objective, constraint, near)


def best_below_lines(
    joint: JointDistribution,
    lines: Sequence[Polyline],
    objective: Objective,
    constraint: Constraint,
    near: Sequence[Point] | None = None,
    *,
    settled: bool = True,
) -> list[Point]:
    """The same below concave polylines that rise from (0, 0) to (1, 1).

    Points that are not settled may differ by a linear program's precision more than allowed: they lose nothing, which
    is what a bound must not.
    """
    if constraint.one_point and constraint.selection_rate is not None:
        return [_highest_with(objective, lines, constraint.selection_rate)] * len(lines)
    if constraint.one_point:
        nearest = (0.0, 1.0) if objective.is_distance else None
        return [Point(*best_below(lines, objective.common_gain, nearest))] * len(lines)
    if constraint.selection_rate == 1 or (objective.name == "selection_rate" and constraint.selection_rate is None):
        return [Point(1.0, 1.0)] * len(lines)  # a yes for everybody satisfies every constraint
    if not constraint.takes_a_program:
        return _within_one_rate(joint, lines, objective, constraint)
    points = _within_two_rates(joint, lines, objective, constraint, near)
    return _settled(lines, points, constraint) if settled else points


def _highest_with(objective: Objective, lines: Sequence[Polyline], selection_rate: float) -> Point:
    """The best common point at which a share of everybody is told yes: the lowest of those on each polyline.

    All such points are on a falling line. Higher up on it the FPR is less and the TPR more, so that every objective
    gains, or does not care.
    """
    by = objective.shares.sum(axis=0)  # of all groups, of which some may be left out here
    each = [_at_rate(line, "selection_rate", by, np.array([selection_rate])) for line in lines]
    fpr, tpr = max(each, key=lambda point: float(point[0][0] - point[1][0]))
    return Point(float(fpr[0]), float(tpr[0]))


def _within_two_rates(
    joint: JointDistribution,
    lines: Sequence[Polyline],
    objective: Objective,
    constraint: Constraint,
    near: Sequence[Point] | None,
) -> list[Point]:
    """The best points by a linear program over some vertices of each polyline.

    The regions are convex, so the best among some vertices are the best of all if those around them are among these.
    """
    some = [np.unique(np.linspace(0, x.size - 1, _COARSE if near else _FINE).astype(np.intp)) for x, _ in lines]
    points = near
    while True:
        if points is not None:
            around = [_around(line, p, 1) for line, p in zip(lines, points, strict=True)]
            if points is not near and all(np.isin(own, known).all() for own, known in zip(around, some, strict=True)):
                return list(points)
            around = [_around(line, p, _BESIDE) for line, p in zip(lines, points, strict=True)]
            some = [np.union1d(known, own) for known, own in zip(some, around, strict=True)]
        corners = [(x[own], y[own]) for (x, y), own in zip(lines, some, strict=True)]
        points = best_mixed(joint, corners, objective, constraint)


def _around(line: Polyline, point: Point, count: int) -> NDArray[np.intp]:
    """So many vertices to each side of a point, which may lie below the polyline: above it, and beside it."""
    x, y = line
    at = int(np.searchsorted(x, point.fpr)), int(np.searchsorted(y, point.tpr))
    return np.unique(np.concatenate([np.arange(max(i - count - 1, 0), min(i + count + 1, x.size)) for i in at]))


def _within_one_rate(
    joint: JointDistribution, lines: Sequence[Polyline], objective: Objective, constraint: Constraint
) -> list[Point]:
    """The best points at which one rate differs by no more than the tolerance.

    For each value of the rate a group's best point is where its polyline has that rate; the gain there is concave in
    the rate, and piecewise linear. If the least rate of all groups is v, each takes its own best rate, or the end of
    [v, v + tolerance] that is nearest to it. So the total is concave and piecewise linear in v, and greatest where v or
    v + tolerance is the rate of some vertex.
    """
    (rate,) = constraint.rates
    by = coefficients(joint, rate)
    vertices = [x * b[0] + y * b[1] for (x, y), b in zip(lines, by, strict=True)]
    own = [
        v[int(np.argmax(weight[0] * x + weight[1] * y))]
        for v, (x, y), weight in zip(vertices, lines, objective.by_rate, strict=True)
    ]
    every = np.concatenate(vertices)
    least = np.unique(np.clip(np.concatenate([every, every - constraint.tolerance]), 0.0, 1.0))
    gain = np.zeros(least.size)
    for line, b, weight, best in zip(lines, by, objective.by_rate, own, strict=True):
        fpr, tpr = _at_rate(line, rate, b, np.clip(best, least, least + constraint.tolerance))
        gain += weight[0] * fpr + weight[1] * tpr
    lowest = least[int(np.argmax(gain))]
    values = [np.clip([best], lowest, lowest + constraint.tolerance) for best in own]
    points = [_at_rate(line, rate, b, value) for line, b, value in zip(lines, by, values, strict=True)]
    return [Point(float(fpr[0]), float(tpr[0])) for fpr, tpr in points]


def _at_rate(line: Polyline, rate: Rate, by: Floats, value: Floats) -> tuple[Floats, Floats]:
    """The best points of a polyline that have a rate: the top of a vertical run, the left end of a level one."""
    x, y = line
    if rate == "fpr":
        return np.minimum(value, 1.0), height(x, y, np.minimum(value, 1.0))
    if rate == "tpr":
        return height_before(y, x, np.minimum(value, 1.0)), np.minimum(value, 1.0)
    selected = x * by[0] + y * by[1]
    return np.interp(value, selected, x), np.interp(value, selected, y)


def _settled(lines: Sequence[Polyline], points: Sequence[Point], constraint: Constraint) -> list[Point]:
    """What a linear program's rounding left over is removed: each point in reach, no two farther apart than allowed."""
    x, y = np.clip([[p.fpr, p.tpr] for p in points], 0.0, 1.0).T
    if "fpr" in constraint.rates:
        x = np.minimum(x, x.min() + constraint.tolerance)
    y = np.minimum(y, [float(height(*line, f)) for line, f in zip(lines, x, strict=True)])
    if "tpr" in constraint.rates:
        y = np.minimum(y, y.min() + constraint.tolerance)
    x = np.minimum(x, y)  # on the diagonal
    return [Point(float(f), float(t)) for f, t in zip(x, y, strict=True)]
