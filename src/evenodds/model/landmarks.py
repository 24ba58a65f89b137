"""Where a point of the ROC plane lies among a group's scores."""

from __future__ import annotations

import numpy as np

from evenodds.model.groups import Group
from evenodds.model.reach import ON_CURVE
from evenodds.model.roc import Point

__all__ = ["between_negatives", "score_apart"]

_SLACK = 1e-14  # rates are compared up to this; summing them in another order changes as much


def score_apart(group: Group, point: Point) -> tuple[float, float, float, float] | None:
    """If a point is on the polyline: the score that is treated apart, its people's odds, and the gaps beside it."""
    f, t = point.fpr, point.tpr
    if abs(group.roc.height(f) - t) > ON_CURVE:
        return None
    along = group.roc.fpr + group.roc.tpr
    edge = int(np.searchsorted(along, f + t))  # the first vertex beyond the point
    share = float((f + t - along[edge - 1]) / (along[edge] - along[edge - 1]))
    i = group.scores.size - edge  # the score whose people have odds `share`
    below = float(group.scores[i] - group.scores[i - 1]) if i > 0 else np.inf
    above = float(group.scores[i + 1] - group.scores[i]) if edge > 1 else np.inf
    return float(group.scores[i]), share, below, above


def between_negatives(group: Group, point: Point) -> tuple[float, float, float, float]:
    """Where the FPR passes f*: scores of two neighbouring negatives, and start and width of a gap between them.

    A yes from the first on has an FPR above f*, beyond the second not, so that every curve with FPR f* ends after the
    first and begins before the second. If f* is the share of negatives above a gap in their scores, any curve inside
    the gap has that FPR; where there is none its width is negative.
    """
    negatives, (lowest, highest) = group.by_label[0], group.ends
    scores, total = negatives.points, negatives.total
    first = negatives.position_of((1 - (point.fpr + _SLACK)) * total)
    above = float(scores[first]) if first < scores.size else highest
    below = float(scores[first - 1]) if first > 0 else lowest
    hit = negatives.position_of((1 - point.fpr - _SLACK) * total)
    off = abs(float(negatives.below(np.asarray(hit))) - (1 - point.fpr))
    if hit == 0 or off > _SLACK * 2:
        return below, above, 0.0, -1.0
    upper = float(scores[hit]) if hit < scores.size else np.inf
    width = upper - float(scores[hit - 1])
    return below, above, float(scores[hit - 1]), width if width > 0 else -1.0
