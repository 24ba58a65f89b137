"""The rule that people know: one threshold for everybody. Where it keeps a tolerance already, users should be told."""

from __future__ import annotations

import numpy as np

from evenodds.geometry.pieces import Floats
from evenodds.model.comparisons import Before, OneThreshold
from evenodds.model.curves import Curve
from evenodds.model.goals import Objective, coefficients
from evenodds.model.joint import JointDistribution
from evenodds.model.population import population_of
from evenodds.model.request import Request
from evenodds.model.roc import Point

__all__ = ["best_for_everybody", "best_threshold", "one_threshold_within"]

_LOOKED_AT = 20_000  # thresholds, evenly by rank
_CUTS = 16  # parts of each gap between two of them in which a better one may be
_JUDGED = 40  # of those within a tolerance by what they promise of new people, the best first


def one_threshold_within(joint: JointDistribution, request: Request, goal: Objective) -> OneThreshold | None:
    """The best single threshold within the tolerance asked for, and with the confidence; None where there is none.

    A yes or a no for everybody is within every tolerance, and no threshold. Of very many scores only some are looked
    at, since no bound tells where between two of them the groups differ less.
    """
    constraint, assurance = request.constraint, request.assurance
    if constraint.tolerance == 0 or goal.is_distance or constraint.selection_rate is not None:
        return None
    scores = _scores_of(joint)[1:]  # from the lowest on everybody is told yes
    if not scores.size:
        return None
    scores = scores[np.unique(np.linspace(0, scores.size - 1, min(scores.size, _LOOKED_AT)).astype(np.intp))]
    rates = _rates_from(joint, scores)
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
    """The single threshold for everybody with the greatest gain, whatever the groups get.

    Where a share of yeses is asked for, the one that comes nearest to it.
    """
    score, gain, rates = _best_single(joint, goal, selection_rate)
    points = tuple(Point(fpr, tpr) for fpr, tpr in rates.tolist())
    return Before(joint.scale.own(score), goal.reported(gain), points)


def best_threshold(joint: JointDistribution, goal: Objective) -> float:
    """The score of the same threshold, on the upward scale."""
    return _best_single(joint, goal, None)[0]


def _best_single(
    joint: JointDistribution, goal: Objective, selection_rate: float | None
) -> tuple[float, float, Floats]:
    """The score of the best single threshold, its gain, and its rates by group and label.

    Of very many scores some are looked at first, and of the gaps between them those are opened that may hold a better
    threshold.
    """
    scores = _scores_of(joint)
    scores = np.append(scores, np.nextafter(scores[-1], np.inf))

    def worth(above: Floats, below: Floats) -> Floats:
        """What thresholds are worth at most whose rates lie between those of two others."""
        if selection_rate is None:
            return _gains(goal, above, below)
        fewest, most = (np.einsum("gl,gl...->...", goal.shares, rates) for rates in (below, above))
        return np.asarray(-np.abs(np.clip(selection_rate, fewest, most) - selection_rate))

    low, high, parts = np.array([0]), np.array([scores.size - 1]), min(_LOOKED_AT, scores.size - 1)
    greatest, best = -np.inf, (np.nan, np.nan, np.zeros(0))
    while low.size:
        cuts = low[:, None] + (high - low)[:, None] * np.arange(parts + 1) // parts
        rates = _rates_from(joint, scores[cuts])
        own = worth(rates, rates)
        if own.max() > greatest:
            gap, cut = np.unravel_index(np.argmax(own), own.shape)
            greatest, gain = float(own[gap, cut]), float(_gains(goal, rates, rates)[gap, cut])
            best = float(scores[cuts[gap, cut]]), gain, rates[:, :, gap, cut]
        low, high = cuts[:, :-1], cuts[:, 1:]
        opened = (high - low > 1) & (worth(rates[..., :-1], rates[..., 1:]) > greatest)
        low, high, parts = low[opened], high[opened], _CUTS
    return best


def _gains(goal: Objective, above: Floats, below: Floats) -> Floats:
    """What thresholds gain at most whose rates (group, label, ...) lie between those of two others."""
    by_rate = np.tile([-1.0, 1.0], (above.shape[0], 1)) if goal.is_distance else goal.by_rate
    rates = np.where(by_rate.reshape(*by_rate.shape, *[1] * (above.ndim - 2)) > 0, above, below)
    if goal.is_distance:  # of all people together
        fpr, tpr = np.einsum("gl,gl...->l...", goal.shares / goal.shares.sum(axis=0), rates)
        return np.asarray(-np.hypot(fpr, 1 - tpr))
    return np.asarray(goal.constant + np.einsum("gl,gl...->...", goal.by_rate, rates))


def _scores_of(joint: JointDistribution) -> Floats:
    """Everybody's distinct scores, ascending."""
    return np.unique(np.concatenate([scores for member in joint.members for scores in member.score_lists]))


def _rates_from(joint: JointDistribution, scores: Floats) -> Floats:
    """The rates of single thresholds, by group, label and threshold."""
    return np.array([member.roc.rates_from(scores) for member in joint.members])
