"""Fixed randomisation (Hardt et al., 2016), exactly: one lottery between two thresholds, and odds at the lower one."""

from __future__ import annotations

import numpy as np

from evenodds.geometry.pieces import Floats
from evenodds.model.reach import ON_CURVE
from evenodds.model.roc import Point, Roc

__all__ = ["fixed"]


def fixed(roc: Roc, point: Point) -> tuple[float, float, float, float | None]:
    """t0, t1, p and `at_t0` of fixed randomisation: of all chords through the point the one with p nearest to 1/2.

    With odds `at_t0` at t0 and p between t0 and t1 the point is q V + p E: V is the ROC vertex of the threshold
    t1, and E lies on the polyline between the vertices just above t0 and at t0. So a chord from a vertex V on the
    lower left, through the point, to its first meeting E with the polyline beyond it fixes t1, t0, p and at_t0.
    """
    f, t = point.fpr, point.tpr
    fpr, tpr, scores = roc.fpr, roc.tpr, roc.scores
    gap = roc.height(f) - t
    if abs(gap) <= ON_CURVE:
        return _on_edge(point, fpr, tpr, np.append(roc.beyond, scores))
    if gap < 0 and abs(roc.hull_height(f) - t) <= ON_CURVE:
        return _on_edge(point, *roc.hull, roc.hull_thresholds)
    # This vertex and those after it lie to the right of the point and, unless it is in a dent, above it.
    beyond = max(int(np.searchsorted(fpr, f)), 0 if gap < 0 else int(np.searchsorted(tpr, t)))
    starts = slice(0, min(int(np.searchsorted(fpr, f, "right")), int(np.searchsorted(tpr, t, "right")), beyond))
    angle = _direction(fpr[beyond:] - f, tpr[beyond:] - t)
    chord = _direction(f - fpr[starts], t - tpr[starts])
    # Seen from the point, the polyline beyond turns down from the vertical, and the chord meets it where its
    # direction is first passed; in a dent, above the polyline, it turns up to the hull instead.
    if gap > 0:
        met = np.searchsorted(-np.minimum.accumulate(angle), -chord)
    else:
        met = np.searchsorted(np.maximum.accumulate(angle), chord)
    meets = beyond + met < fpr.size
    v, end = np.flatnonzero(meets), beyond + met[meets]
    # E = vertex before + share * edge, from the cross products of the chord with both ends of the edge.
    cx, cy = f - fpr[v], t - tpr[v]
    before, after = (cx * (tpr[i] - tpr[v]) - cy * (fpr[i] - fpr[v]) for i in (end - 1, end))
    share = np.clip(np.divide(before, before - after, out=np.ones(v.size), where=before != after), 0, 1)
    share[v == end - 1] = 1.0
    ex = fpr[end - 1] + share * (fpr[end] - fpr[end - 1]) - fpr[v]
    ey = tpr[end - 1] + share * (tpr[end] - tpr[end - 1]) - tpr[v]
    p = (cx + cy) / (ex + ey)
    i = int(np.argmin(np.abs(p - 0.5)))
    return float(scores[end[i] - 1]), roc.threshold(int(v[i])), float(p[i]), float(share[i] * p[i])


def _direction(x: Floats, y: Floats) -> Floats:
    """What rises with the angle of directions to the right: quicker than the angle itself."""
    length = np.abs(x) + np.abs(y)
    return np.asarray(np.divide(y, length, out=np.zeros(length.shape), where=length > 0))


def _on_edge(point: Point, fpr: Floats, tpr: Floats, thresholds: Floats) -> tuple[float, float, float, None]:
    """The point on an edge of the ROC, or of its hull over a dent: a mix of the two thresholds at its ends."""
    along = fpr + tpr
    at = point.fpr + point.tpr
    i = int(np.clip(np.searchsorted(along, at), 1, along.size - 1))
    p = float(np.clip((at - along[i - 1]) / (along[i] - along[i - 1]), 0, 1))
    return float(thresholds[i]), float(thresholds[i - 1]), p, None
