"""Which of the many curves through a point to take."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenodds.errors import UnreachableError
from evenodds.geometry.pieces import Floats
from evenodds.model.solutions import Meeting, Path, p_grid, search_limits

__all__ = ["CRITERIA", "gentlest", "least"]

CRITERIA = ("gentlest",)

_TIE = 1e-12  # measures this close (relative) are equal
_FIRST_LOOK = 9  # steps of the first grid to each side of p = 1/2
_VALLEYS = 3  # how many local minima of the first look are followed to their bottom
_FINEST = 1e-8  # the step in p at which the search ends
_SETTLED = 4  # rounds without a better p after which it is at a kink


def gentlest(meeting: Meeting) -> Path:
    """The curve with the least L_R."""
    return least(meeting, lambda path: path.lipschitz)


def least(meeting: Meeting, measure: Callable[[Path], Floats]) -> Path:
    """The curve of a path, one entry long, at which a measure is least; ties go to the p nearest 1/2.

    A first look over the whole range of p finds the valleys, and the deepest are followed to their bottom by ever
    smaller steps. The bottom is searched for once more from the widest curve down, so that no wider solution at the
    same p is missed.
    """
    single = meeting.single()
    if single is not None:
        return single
    path = meeting.path(p_grid(meeting.family, _FIRST_LOOK))
    if not len(path):
        raise UnreachableError(_dent(meeting))
    value = np.where(path.found, measure(path), np.inf)
    padded = np.concatenate([[np.inf], value, [np.inf]])
    valleys = np.flatnonzero((value <= padded[:-2]) & (value <= padded[2:]) & np.isfinite(value))
    if not valleys.size:  # every curve found has an infinite measure
        return path.at(_best(path, value))
    deepest = valleys[np.argsort(value[valleys], kind="stable")][:_VALLEYS]
    bottoms = [_bottom(meeting, measure, path, int(valley)) for valley in deepest]
    found = meeting.path(np.concatenate([bottom.p for bottom in bottoms]))
    for bottom in bottoms:
        found = found.joined(bottom)
    return found.at(_best(found, np.where(found.found, measure(found), np.inf)))


def _bottom(meeting: Meeting, measure: Callable[[Path], Floats], path: Path, valley: int) -> Path:
    """Follow a valley down from its lowest point on the first grid."""
    lo, hi = search_limits(meeting.family)
    step = float(path.p[1] - path.p[0])
    best = path.at(valley)
    known = path
    unchanged = 0
    while step > _FINEST and unchanged < _SETTLED:
        centre = float(best.p[0])
        p = centre + step * np.array([-0.75, -0.5, -0.25, 0.25, 0.5, 0.75])
        near = meeting.follow(known, p[(p >= lo) & (p <= hi)])
        known = known.joined(near.where_found())
        around = best.joined(near)
        best = around.at(_best(around, np.where(around.found, measure(around), np.inf)))
        unchanged = unchanged + 1 if best.p[0] == centre else 0
        step /= 4
    return best


def _best(path: Path, value: Floats) -> int:
    """Position of the least value; of ties the p nearest 1/2."""
    low = value.min()
    ties = np.flatnonzero(value <= low + _TIE * abs(low)) if np.isfinite(low) else np.flatnonzero(value == low)
    return int(ties[np.argmin(np.abs(path.p[ties] - 0.5))])


def _dent(meeting: Meeting) -> str:
    point, roc = meeting.point, meeting.roc
    return (
        f"Group {meeting.group.key!r} cannot reach the target (fpr={point.fpr:.6g}, tpr={point.tpr:.6g}) with a "
        f"{meeting.family} curve: it lies {point.tpr - roc.height(point.fpr):.3g} above the group's ROC, in a dent "
        "that only a mix of two thresholds bridges. Hint: curve='fixed' reaches it."
    )
