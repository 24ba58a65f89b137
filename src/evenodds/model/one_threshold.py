"""The rule that people know: one threshold for everybody. Where it keeps a tolerance already, users should be told."""

from __future__ import annotations

import numpy as np

from evenodds.geometry.pieces import Floats
from evenodds.model.comparisons import Before, OneThreshold
from evenodds.model.curves import Curve
from evenodds.model.goals import Objective, coefficients
from evenodds.model.joint import JointDistribution
from evenodds.model.request import Request
from evenodds.model.roc import Point
from evenodds.model.solve import population_of

__all__ = ["best_for_everybody", "one_threshold_within"]

_LOOKED_AT = 20_000  # thresholds, evenly by rank
_JUDGED = 40  # of them by what they promise of new people, the best first


def one_threshold_within(joint: JointDistribution, request: Request, goal: Objective) -> OneThreshold | None:
    """The best single threshold within the tolerance asked for, and with the confidence; None where there is none.

    A yes or a no for everybody is within every tolerance, and no threshold.
    """
    constraint, assurance = request.constraint, request.assurance
    if constraint.tolerance == 0 or goal.is_distance or constraint.selection_rate is not None:
        return None
    scores = np.unique(np.concatenate([points for member in joint.members for points in member.score_lists]))
    if scores.size == 1:
        return None
    scores = _some(scores[1:])  # from the lowest on everybody is told yes
    rates = np.array([member.roc.rates_from(scores) for member in joint.members])  # group, label, threshold
    differences = np.max(
        [np.ptp(np.einsum("gl,gls->gs", coefficients(joint, rate), rates), axis=0) for rate in constraint.rates],
        axis=0,
    )
    gains = goal.constant + np.einsum("gl,gls->s", goal.by_rate, rates)
    everybody = np.array([[[0.0, 1.0], [0.0, 1.0]]] * len(joint.members))
    trivial = goal.constant + np.einsum("gl,gls->s", goal.by_rate, everybody).max()
    within = np.flatnonzero((differences <= constraint.tolerance) & (gains > trivial))
    for i in within[np.argsort(-gains[within], kind="stable")][:_JUDGED].tolist():
        own = joint.scale.own(float(scores[i]))
        curves = [Curve.threshold(own, orientation=joint.orientation)] * len(joint.members)
        if assurance is not None and not population_of(joint, curves, constraint.rates).is_within(
            constraint.tolerance, assurance.confidence, assurance.guarantee
        ):
            continue
        points = [Point(float(fpr), float(tpr)) for fpr, tpr in rates[:, :, i]]
        return OneThreshold(own, goal.reported(goal.gain(points)), float(differences[i]))
    return None


def best_for_everybody(joint: JointDistribution, goal: Objective, selection_rate: float | None = None) -> Before:
    """The single threshold for everybody with the greatest gain, of very many some, whatever the groups get.

    Where a share of yeses is asked for, the one that comes nearest to it.
    """
    scores = _some(np.unique(np.concatenate([points for member in joint.members for points in member.score_lists])))
    scores = np.append(scores, np.nextafter(scores[-1], np.inf))
    rates = np.array([member.roc.rates_from(scores) for member in joint.members])
    if goal.is_distance:  # of all people together
        shares = goal.shares / goal.shares.sum(axis=0)
        fpr, tpr = np.einsum("gl,gls->ls", shares, rates)
        gains = -np.hypot(fpr, 1 - tpr)
    else:
        gains = goal.constant + np.einsum("gl,gls->s", goal.by_rate, rates)
    if selection_rate is None:
        best = int(np.argmax(gains))
    else:
        best = int(np.argmin(np.abs(np.einsum("gl,gls->s", goal.shares, rates) - selection_rate)))
    points = tuple(Point(float(fpr), float(tpr)) for fpr, tpr in rates[:, :, best])
    return Before(joint.scale.own(float(scores[best])), goal.reported(float(gains[best])), points)


def _some(scores: Floats) -> Floats:
    """Some of very many scores, evenly by rank."""
    return scores[np.unique(np.linspace(0, scores.size - 1, min(scores.size, _LOOKED_AT)).astype(np.intp))]
