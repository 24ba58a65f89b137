"""What (FPR, TPR) each group can reach: its ROC polyline, the concave hull of it, and the region below all hulls.

A vertex of the ROC is a single threshold: "yes from this score on". A point between two neighbouring vertices gives
the people at one score odds of their own. Whatever a non-decreasing curve can reach lies between the diagonal and the
hull (method of Hardt et al., 2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenodds.geometry.hull import concave_hull, height, lower_envelope
from evenodds.geometry.pieces import Floats
from evenodds.model.joint import Group, JointDistribution

__all__ = ["ON_CURVE", "Point", "Roc", "common_region", "roc_of"]

ON_CURVE = 1e-12
"""Rates nearer than this are the same point: the error of summing them in another order."""


@dataclass(frozen=True)
class Point:
    """A point of the ROC plane.

    >>> Point(0.2, 0.8).distance_to_perfect.__round__(6)
    0.282843
    """

    fpr: float
    tpr: float

    @property
    def distance_to_perfect(self) -> float:
        """Distance from (0, 1)."""
        return float(np.hypot(self.fpr, 1 - self.tpr))


@dataclass(frozen=True, eq=False)
class Roc:
    """One group's ROC polyline.

    Vertex i says yes from `scores[i - 1]` *downwards in rank*: vertex 0 is (0, 0), nobody; vertex i takes the i
    highest scores; the last is (1, 1), everybody.
    """

    scores: Floats
    """Distinct scores, highest first (upward scale)."""
    fpr: Floats
    tpr: Floats

    @cached_property
    def hull(self) -> tuple[Floats, Floats]:
        """FPR and TPR of the vertices of the concave hull."""
        kept = concave_hull(self.fpr, self.tpr)
        return self.fpr[kept], self.tpr[kept]

    @cached_property
    def auc(self) -> float:
        """The area under the polyline: the chance that a positive outranks a negative, ties counted half."""
        return float(np.sum(np.diff(self.fpr) * (self.tpr[1:] + self.tpr[:-1])) / 2)

    def height(self, fpr: float) -> float:
        """The highest TPR of the polyline at this FPR."""
        return float(height(self.fpr, self.tpr, fpr))

    def hull_height(self, fpr: float) -> float:
        """The highest TPR that any non-decreasing curve reaches at this FPR."""
        return float(height(*self.hull, fpr))

    def nearest_to_perfect(self) -> tuple[float, Point]:
        """The single threshold nearest to (0, 1), and where it lies; of several, the highest score."""
        i = int(np.argmin(np.hypot(self.fpr, 1 - self.tpr)))
        # Vertex 0, "nobody", has no score of its own: the threshold is just above the highest score.
        threshold = float(self.scores[i - 1]) if i else float(np.nextafter(self.scores[0], np.inf))
        return threshold, Point(float(self.fpr[i]), float(self.tpr[i]))


def roc_of(group: Group) -> Roc:
    """The ROC polyline of a group.

    >>> joint = JointDistribution.from_counts({"a": ([1, 2, 3], [4, 3, 1], [1, 3, 4])})
    >>> roc = roc_of(joint.members[0])
    >>> roc.fpr, roc.tpr, round(roc.auc, 6)
    (array([0.   , 0.125, 0.5  , 1.   ]), array([0.   , 0.5  , 0.875, 1.   ]), 0.757812)
    """
    rates = np.zeros((2, group.scores.size + 1))
    rates[:, 1:] = np.cumsum(group.shares[:, ::-1], axis=1)
    rates[:, -1] = 1.0
    fpr, tpr = np.minimum(rates, 1.0)
    return Roc(group.scores[::-1], fpr, tpr)


def common_region(joint: JointDistribution) -> tuple[Floats, Floats]:
    """Upper border of the region that every group can reach: the lowest of the hulls, vertex by vertex."""
    return lower_envelope([roc_of(member).hull for member in joint.members])
