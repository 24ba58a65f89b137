"""Which of the many curves through a point to take."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import UnreachableError
from evenodds.geometry.pieces import Floats
from evenodds.model.solutions import Meeting, Path, p_grid, search_limits

__all__ = ["CRITERIA", "gentlest", "least"]

CRITERIA = ("gentlest",)

_TIE = 1e-9  # measures this close (relative) are equal; where thresholds lie beyond the scores, many p tie
_FIRST_LOOK = 9  # steps of the first grid to each side of p = 1/2
_VALLEYS = 3  # how many local minima of the first look are followed to their bottom
_FINEST = 1e-8  # the step in p at which the search ends
_SETTLED = 3  # rounds without a better p after which it is at a kink


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
    beside = np.concatenate([[np.inf], value, [np.inf]]) * (1 + _TIE)
    valleys = np.flatnonzero((value <= beside[:-2]) & (value <= beside[2:]) & np.isfinite(value))
    if not valleys.size:  # every curve found has an infinite measure
        return path.at(_best(path, value))
    # Of valleys that are equally deep, those nearest to p = 1/2 come first.
    depth = np.where(value <= value.min() * (1 + _TIE), value.min(), value)
    deepest = valleys[np.lexsort((np.abs(path.p - 0.5)[valleys], depth[valleys]))][:_VALLEYS]
    bottoms = _bottoms(meeting, measure, path, deepest)
    found = meeting.path(bottoms.p).joined(bottoms)
    return found.at(_best(found, np.where(found.found, measure(found), np.inf)))


def _bottoms(meeting: Meeting, measure: Callable[[Path], Floats], path: Path, valleys: NDArray[np.intp]) -> Path:
    """Follow valleys down, side by side, from their lowest points on the first grid."""
    lo, hi = search_limits(meeting.family)
    step = float(path.p[1] - path.p[0])
    known = path
    bottoms = [path.at(int(valley)) for valley in valleys]
    unchanged = 0
    flat = False
    while step > _FINEST and unchanged < _SETTLED and not flat:
        centres = np.array([bottom.p[0] for bottom in bottoms])
        p = np.unique(centres[:, None] + step * np.arange(-7, 8) / 8)
        p = np.setdiff1d(p[(p >= lo) & (p <= hi)], centres)
        near = meeting.follow(known, p).where_found()
        known = known.joined(near)
        step /= 8
        flat = True
        for i, centre in enumerate(centres):
            around = bottoms[i].joined(near.among(np.abs(near.p - centre) < 8 * step))
            value = measure(around)
            best = _best(around, value)
            beside = value[np.abs(around.p - around.p[best]) < 1.5 * step]
            flat &= bool(beside.max() <= value[best] * (1 + _TIE))
            bottoms[i] = around.at(best)
        unchanged = unchanged + 1 if all(b.p[0] == c for b, c in zip(bottoms, centres, strict=True)) else 0
    together = bottoms[0]
    for bottom in bottoms[1:]:
        together = together.joined(bottom)
    return together


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
