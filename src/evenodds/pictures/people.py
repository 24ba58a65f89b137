"""Figures of people: how they score, and how many of those with a score are positive."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.evaluation.intervals import Sample, critical_value, interval_confidence, mean_interval
from evenodds.geometry.pieces import Floats
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution, check_is_joint
from evenodds.model.policy import Policy
from evenodds.pictures.figure import Figure, check_fits, groups_by_colour
from evenodds.pictures.scene import Kind, Series

__all__ = ["densities_figure", "score_rates_figure"]

_BINS = 40  # of a density
_COARSE_BINS = 20  # of a rate by score, at most
_IN_A_BIN = 40  # people who make a rate worth drawing


def score_rates_figure(joint: JointDistribution, *, confidence: float = 0.95) -> Figure:
    """The share of positives by score, with intervals and how many people it is of.

    Parameters
    ----------
    joint, confidence
        As for `plot.score_rates`.

    Returns
    -------
    Figure
        Its numbers are `.frame()`; `.plot(ax)` and `.svg()` draw it.

    See Also
    --------
    plot.score_rates : Draws it at once.

    Examples
    --------
    >>> import evenodds as eo
    >>> frame = eo.plot.score_rates_figure(eo.datasets.compas()).frame()
    >>> frame[frame["group"] == "Caucasian, Male"][["x", "y", "low", "high", "people"]].round(3).iloc[0].tolist()
    [1.0, 0.206, 0.173, 0.242, 530.0]
    """
    check_is_joint(joint, "The first argument")
    critical = critical_value(interval_confidence(confidence))
    series = []
    for member in joint.members:
        scores, negatives, positives = _own_scale(joint, member)
        people = negatives + positives
        bins = _bins(people, int(np.clip(_number_of(member) / _IN_A_BIN, 3, _COARSE_BINS)))
        count, yes = (np.bincount(bins, side).astype(np.float64) for side in (people, positives))
        middle = np.bincount(bins, people * scores) / count
        shrink = _number_of(member) / member.total
        rate = yes / count
        ends = [
            mean_interval(Sample(r, r * (1 - r), n * shrink), critical)
            for r, n in zip(rate.tolist(), count.tolist(), strict=True)
        ]
        low, high = np.array([e.low for e in ends]), np.array([e.high for e in ends])
        label = f"{member.key} ({member.total:,.0f})"
        kind: Kind = "line" if middle.size > 1 else "dots"
        series.append(
            Series(member.key, middle, rate, kind, group=member.key, low=low, high=high, people=count, label=label)
        )
    meaning = "people around this score"
    title = "Who is positive, of how many"
    return Figure(title, "score", "share of positives", tuple(series), joint.groups, people=meaning)


def densities_figure(joint: JointDistribution, policy: Policy | None = None) -> Figure:
    """How the scores of each group fall, and over which of them a policy decides by chance.

    Parameters
    ----------
    joint, policy
        As for `plot.densities`.

    Returns
    -------
    Figure
        Its numbers are `.frame()`; `.plot(ax)` and `.svg()` draw it.

    See Also
    --------
    plot.densities : Draws it at once.

    Examples
    --------
    >>> import evenodds as eo
    >>> joint = eo.datasets.compas()
    >>> figure = eo.plot.densities_figure(joint, eo.fit(joint))
    >>> figure.series[-1].name
    'Caucasian, Male: decided by chance'
    """
    check_is_joint(joint, "The first argument")
    if policy is not None:
        check_fits(policy, joint)
    lo, hi = joint.score_range
    edges, middle = _density_bins(joint)
    width = np.diff(edges)
    series, top = [], 0.0
    for member in joint.members:
        scores, negatives, positives = _own_scale(joint, member)
        count = np.asarray(np.histogram(scores, edges, weights=negatives + positives)[0], dtype=np.float64)
        density = count / member.total / width
        top = max(top, float(density.max()))
        kind: Kind = "line" if middle.size > 1 else "dots"
        series.append(Series(member.key, middle, density, kind, group=member.key, people=count))
    for place, (key, curve) in enumerate(policy.curves.items() if policy else ()):
        level = -top * 0.06 * (place + 1)
        for border in (curve, *([policy.review_curves[key]] if policy and policy.review else [])):
            ends = np.clip(sorted((border.t0, border.t1)), lo, hi)
            series.append(Series(f"{key}: decided by chance", ends, np.full(2, level), "zone", group=key))
    title = "Where people score" + (", and where chance decides" if policy else "")
    meaning = f"people within {width.max() / 2:.3g} of this score"
    return Figure(
        title,
        "score",
        "share of people for 1 of score",
        tuple(series),
        groups_by_colour(joint, policy),
        floor=0.0,
        people=meaning,
    )


def _density_bins(joint: JointDistribution) -> tuple[Floats, Floats]:
    """Edges and middles: each score by itself where there are few, else bins of one width."""
    lo, hi = joint.score_range
    few = [member.scores for member in joint.members if member.score_count <= _BINS]
    scores = np.unique(np.concatenate(few)) if len(few) == len(joint.members) else np.zeros(0)
    if 1 < scores.size <= _BINS:
        scores = np.sort(joint.scale.own(scores))
        between = (scores[1:] + scores[:-1]) / 2
        ends = (2 * scores[0] - between[0], 2 * scores[-1] - between[-1])
        return np.concatenate([ends[:1], between, ends[1:]]), scores
    fewest = min(_number_of(member) for member in joint.members)
    bins = int(np.clip(np.sqrt(fewest), 8, _BINS))  # a small group's density would be all noise in more
    edges = np.linspace(lo, hi, bins + 1) if hi > lo else np.array([lo - 0.5, lo + 0.5])
    return edges, (edges[1:] + edges[:-1]) / 2


def _own_scale(joint: JointDistribution, member: Group) -> tuple[Floats, Floats, Floats]:
    """Scores as the user has them, ascending, with negatives and positives."""
    own = joint.scale.own(member.scores)
    ascending = np.argsort(own)
    return own[ascending], member.negatives[ascending], member.positives[ascending]


def _number_of(group: Group) -> float:
    """How many people a group has, by label; weights are not people."""
    return sum(side.n_effective for side in group.by_label)


def _bins(people: Floats, count: int) -> Any:
    """Neighbouring scores together, about as many people in each bin, numbered from 0 without a gap."""
    place = np.minimum((np.cumsum(people) - people / 2) / people.sum() * count, count - 1).astype(int)
    return np.unique(place, return_inverse=True)[1]
