"""Which points of the ROC plane the groups shall meet.

A group's reach is a rising polyline: every point between the diagonal and it can be met. Points are chosen on it
exactly: never from a grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenodds.errors import OptionError, UnreachableError
from evenodds.geometry.envelope import Line, Polyline, best_below
from evenodds.geometry.hull import height, height_before
from evenodds.geometry.pieces import Floats
from evenodds.model.goals import Constraint, Objective, Rate
from evenodds.model.joint import JointDistribution
from evenodds.model.mixes import best_points, vertices_of
from evenodds.model.regions import ON_CURVE
from evenodds.model.roc import Point, Roc, roc_of

__all__ = ["Baseline", "TargetLike", "baseline", "best_common", "best_reachable", "check_reach", "chosen_target"]

TargetLike = Point | Sequence[float] | str


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
    best = {member.key: roc_of(member).nearest_to_perfect() for member in joint.members}
    group = max(best, key=lambda key: best[key][1].distance_to_perfect)
    threshold, point = best[group]
    return Baseline(group, threshold if joint.orientation == "positive" else -threshold, point)


def chosen_target(joint: JointDistribution, target: TargetLike) -> Point:
    """The point that `target` names: "baseline", or an explicit (fpr, tpr)."""
    if isinstance(target, Point):
        target = (target.fpr, target.tpr)
    if isinstance(target, str):
        if target != "baseline":
            msg = f"target={target!r} is not known. Allowed: (fpr, tpr), two rates between 0 and 1, or 'baseline'."
            raise OptionError(msg)
        return baseline(joint).point
    try:
        fpr, tpr = (float(rate) for rate in target)
    except (TypeError, ValueError):
        msg = f"target={target!r} is not a point. Allowed: (fpr, tpr), two rates between 0 and 1, or 'baseline'."
        raise OptionError(msg) from None
    if not (0 <= fpr <= 1 and 0 <= tpr <= 1):
        msg = f"target=({fpr:g}, {tpr:g}) is not a pair of rates. Allowed: (fpr, tpr), each between 0 and 1."
        raise OptionError(msg)
    return Point(fpr, tpr)


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
            f"{point.tpr - top:.3g} less. Hint: target='baseline' takes the point of the group hardest to serve."
        )
        raise UnreachableError(msg)


def best_common(reach: Sequence[Polyline | Line], objective: Objective) -> Point:
    """The point with the greatest gain that lies in every group's reach."""
    nearest = (0.0, 1.0) if objective.is_distance else None
    return Point(*best_below(reach, objective.common_gain, nearest))


def best_reachable(
    joint: JointDistribution, reach: Sequence[Polyline], objective: Objective, constraint: Constraint
) -> list[Point]:
    """The points with the greatest gain that lie in the groups' reach and satisfy the constraint."""
    if constraint.one_point:
        return [best_common(reach, objective)] * len(reach)
    if objective.name == "selection_rate":
        return [Point(1.0, 1.0)] * len(reach)  # a yes for everybody satisfies every constraint
    candidates = []
    if constraint.tolerance > 0:
        mixed, _ = best_points(joint, [vertices_of(polyline) for polyline in reach], objective, constraint)
        candidates.append(_within_reach(joint, reach, constraint, mixed))
    if len(constraint.rates) == 1:
        candidates.append(_at_one_rate(joint, reach, objective, constraint))
    else:
        candidates.append([Point(*best_below(reach, objective.common_gain))] * len(reach))
    return max(candidates, key=objective.gain)


def _at_one_rate(
    joint: JointDistribution, reach: Sequence[Polyline], objective: Objective, constraint: Constraint
) -> list[Point]:
    """The best points at which one rate is the same for all groups.

    For each value of the rate a group's best point is where its polyline has that rate: the gain is piecewise linear
    in the rate, so it is greatest at the rate of some vertex.
    """
    (rate,) = constraint.rates
    by = constraint.coefficients(joint, rate)
    values = np.unique(np.concatenate([x * b[0] + y * b[1] for (x, y), b in zip(reach, by, strict=True)]))
    gain = np.zeros(values.size)
    for polyline, b, weight in zip(reach, by, objective.by_rate, strict=True):
        fpr, tpr = _at_rate(polyline, rate, b, values)
        gain += weight[0] * fpr + weight[1] * tpr
    best = values[int(np.argmax(gain))]
    points = [_at_rate(polyline, rate, b, np.array([best])) for polyline, b in zip(reach, by, strict=True)]
    return [Point(float(fpr[0]), float(tpr[0])) for fpr, tpr in points]


def _at_rate(polyline: Polyline, rate: Rate, by: Floats, value: Floats) -> tuple[Floats, Floats]:
    """The best points of a polyline that have a rate: the top of a vertical run, the left end of a level one."""
    x, y = polyline
    if rate == "fpr":
        return value, height(x, y, value)
    if rate == "tpr":
        return height_before(y, x, value), value
    selected = x * by[0] + y * by[1]
    return np.interp(value, selected, x), np.interp(value, selected, y)


def _within_reach(
    joint: JointDistribution, reach: Sequence[Polyline], constraint: Constraint, points: Sequence[Point]
) -> list[Point]:
    """Bring points from the hulls down into the groups' reach, so that the constraint still holds.

    A point in a dent keeps its constrained rate and moves onto the polyline. Under equalised odds it keeps its FPR;
    whoever is then more than the tolerance above the lowest TPR comes down too.
    """
    (x, y), tolerance = np.array([[p.fpr, p.tpr] for p in points]).T, constraint.tolerance
    if constraint.rates != ("fpr", "tpr"):
        (rate,) = constraint.rates
        for i, (polyline, by) in enumerate(zip(reach, constraint.coefficients(joint, rate), strict=True)):
            if y[i] > height(*polyline, x[i]):
                value = np.array([x[i] * by[0] + y[i] * by[1]])
                (x[i],), (y[i],) = _at_rate(polyline, rate, by, value)
    else:
        y = np.minimum(y, [float(height(*polyline, f)) for polyline, f in zip(reach, x, strict=True)])
        y = np.minimum(y, y.min() + tolerance)
    return [Point(float(f), float(t)) for f, t in zip(x, y, strict=True)]
