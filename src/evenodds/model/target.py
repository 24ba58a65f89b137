"""Which point of the ROC plane all groups shall meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenodds.errors import OptionError, UnreachableError
from evenodds.model.joint import JointDistribution
from evenodds.model.regions import ON_CURVE, Point, Roc, roc_of

__all__ = ["Baseline", "TargetLike", "baseline", "check_reach", "chosen_target"]

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
    top = roc.hull_height(point.fpr)
    if point.tpr - top > ON_CURVE:
        msg = (
            f"{where}: at this false positive rate its scores allow a true positive rate of at most {top:.6g}, "
            f"{point.tpr - top:.3g} less. Hint: target='baseline' takes the point of the group hardest to serve."
        )
        raise UnreachableError(msg)
