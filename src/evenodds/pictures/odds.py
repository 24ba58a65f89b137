"""Figures of odds by score: the curves of a policy, of several families, through one point, and of a mix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenodds.errors import one_of
from evenodds.evaluation.deciders import named_policies
from evenodds.geometry.pieces import Floats
from evenodds.model.curves import Curve
from evenodds.model.families import FAMILIES
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution
from evenodds.model.policy import Policy, check_policy
from evenodds.model.scale import UPWARD
from evenodds.model.solutions import Solutions
from evenodds.pictures.figure import Figure
from evenodds.pictures.rates import shares_below
from evenodds.pictures.scene import Series, Style
from evenodds.values import check_made_by

__all__ = ["curves_figure", "families_figure", "mix_figure", "solutions_figure"]

_GRID = 200  # scores at which every curve is drawn
_BEND = 60  # more of them where one bends
_THIN = 100  # of one curve among many
_MANY_BREAKS = 200  # pieces of a curve beyond which its jumps are too many to be seen
_NEAR = 0.005  # of the score range: to each side of a score, whose people are counted with it
_ONCE = 1e-9  # relative: how near to a jump both of its sides are drawn


def curves_figure(
    policy: Policy, *, joint: JointDistribution | None = None, against: Mapping[str, Policy] | None = None
) -> Figure:
    """Each group's odds by score, and those of other policies for comparison; with people, how many have each score.

    Where there are reviews a dashed line is the odds of a yes or a review: who is in the band between is reviewed.

    Parameters
    ----------
    policy, joint, against
        As for `plot.curves`.

    Returns
    -------
    Figure
        Its numbers are `.frame()`; `.plot(ax)` and `.svg()` draw it.

    See Also
    --------
    plot.curves : Draws it at once.

    Examples
    --------
    >>> import evenodds as eo
    >>> figure = eo.plot.curves_figure(eo.fit(eo.datasets.compas()))
    >>> [series.name for series in figure.series]
    ['African-American, Female', 'African-American, Male', 'Caucasian, Female', 'Caucasian, Male']
    """
    check_policy(policy)
    others = named_policies("against", against)
    every = [policy, *others.values()]
    drawn = [curve for one in every for curve in (*one.group_curves, *one.group_review_curves)]
    span = _span(drawn, policy.score_range)
    near = _Near(joint, policy.score_range)
    at = _points(drawn, span)
    series = [near.series(key, key, at, curve(at)) for key, curve in policy.curves.items()]
    for key, upper in policy.review_curves.items():
        line = near.series(f"{key}, yes or review", key, at, upper(at), style="dashed")
        series.append(replace(line, shaded_to=policy.curves[key](at)))
    for name, other in others.items():
        series += [
            near.series(f"{key}, {name}", key, at, curve(at), style="dashed") for key, curve in other.curves.items()
        ]
    title = "Odds of a yes" if policy.review is None else "Odds of an automatic yes, and of a yes or a review"
    return _odds_figure(title, series, policy.groups, near.meaning)


def families_figure(title: str, curves: Mapping[str, Curve], score_range: tuple[float, float]) -> Figure:
    """One group's odds under several families of curves; a family has the same colour in every such figure."""
    lo, hi = score_range
    ends = [float(np.clip(end, lo, hi)) for curve in curves.values() for end in (curve.t0, curve.t1)]
    room = 0.1 * (max(ends) - min(ends)) or 0.5 * (hi - lo) or 1.0
    span = (min(ends) - room, max(ends) + room)  # where the odds change, and a little to both sides
    at = _points(list(curves.values()), span)
    series = [Series(family, at, curve(at), group=family) for family, curve in curves.items()]
    return _odds_figure(title, series, FAMILIES)


def solutions_figure(
    solutions: Solutions, group: str, *, chosen: Curve | None = None, joint: JointDistribution | None = None
) -> Figure:
    """All curves of a family that meet one point for a group, and the one that was chosen.

    Parameters
    ----------
    solutions, group, chosen
        As for `plot.solutions`.
    joint : JointDistribution, optional
        People: scores far beyond theirs are not drawn, and `.frame()` has how many of them are near each score.

    Returns
    -------
    Figure
        Its numbers are `.frame()`; `.plot(ax)` and `.svg()` draw it.

    See Also
    --------
    plot.solutions : Draws it at once.

    Examples
    --------
    >>> import evenodds as eo
    >>> solutions = eo.solutions(eo.datasets.credit_risk(), target=(0.2, 0.8))
    >>> figure = eo.plot.solutions_figure(solutions, "white")
    >>> figure.series[0].name, len(figure.series)
    ('p = 0.05', 37)
    """
    check_made_by(solutions, Solutions, "evenodds.solutions")
    path = list(solutions.paths[one_of("group", group, solutions.groups)])
    ends = [end for curve in path for end in (curve.t0, curve.t1) if np.isfinite(end)]
    middle = np.median(ends) if ends else 0.0
    width = np.median([curve.width for curve in path if np.isfinite(curve.width)] or [1.0]) or 1.0
    span = (float(middle - 1.5 * width), float(middle + 1.5 * width))
    near = _Near(joint, joint.score_range if joint else span)
    if joint is not None:  # no score is far beyond those that people have
        room = 0.1 * (joint.score_range[1] - joint.score_range[0])
        span = (max(span[0], joint.score_range[0] - room), min(span[1], joint.score_range[1] + room))
    series = []
    for curve in path:
        at = _points([curve], span, _THIN)
        series.append(Series(f"p = {curve.p:.2f}", at, curve(at), style="thin", group=group))
    if chosen is not None:
        at = _points([chosen], span)
        series.append(near.series("chosen", group, at, chosen(at)))
    point = f"FPR {solutions.target.fpr:.3f}, TPR {solutions.target.tpr:.3f}"
    title = f"Curves of {group} that meet {point}"
    return Figure(
        title, "score", "odds of a yes", tuple(series), solutions.groups, from_0_to_1=True, people=near.meaning
    )


def mix_figure(policy: Policy, group: str, *, joint: JointDistribution | None = None) -> Figure:
    """A group's mix, and the two curves whose odds it sums, each times its share."""
    mix = policy.curves[group]
    ends = np.clip([mix.t0, mix.t1], *_span([mix], policy.score_range))
    room = 0.1 * float(np.ptp(ends)) or 1.0
    at = _points([mix], (float(ends.min()) - room, float(ends.max()) + room))
    near = _Near(joint, policy.score_range)
    parts = [
        Series(f"part {place}, {100 * share:.3g} %", at, part(at), style="dashed", group=group)
        for place, (share, part) in enumerate(mix.parts, 1)
    ]
    series = [*parts, near.series("mix", group, at, mix(at))]
    return _odds_figure(f"The mix of {group}, and its two parts", series, policy.groups, near.meaning)


def _odds_figure(title: str, series: Sequence[Series], groups: tuple[str, ...], people: str = "people") -> Figure:
    return Figure(title, "score", "odds of a yes", tuple(series), groups, from_0_to_1=True, people=people)


class _Near:
    """People whose score is near to a drawn one: how many are affected by the odds there."""

    def __init__(self, joint: JointDistribution | None, score_range: tuple[float, float]) -> None:
        self._members = {member.key: member for member in joint.members} if joint else {}
        self._scale = joint.scale if joint else UPWARD
        self._reach = _NEAR * (score_range[1] - score_range[0])
        self.meaning = f"people within {self._reach:.3g} of this score" if self._reach else "people with this score"

    def series(self, name: str, group: str, x: Floats, y: Floats, style: Style = "solid") -> Series:
        member = self._members.get(group)
        people = None if member is None else self._count(member, x)
        return Series(name, x, y, style=style, group=group, people=people)

    def _count(self, member: Group, x: Floats) -> Floats:
        upward = self._scale.upward(x)
        more = np.nextafter(upward + self._reach, np.inf)  # those at the end count too
        negatives, positives = shares_below(member, more) - shares_below(member, upward - self._reach)
        return np.asarray(negatives * member.negative_total + positives * member.positive_total)


def _span(curves: Sequence[Curve], score_range: tuple[float, float]) -> tuple[float, float]:
    """The scores that are drawn: where people are, and a little more where thresholds lie beyond."""
    lo, hi = score_range
    room = 0.25 * (hi - lo) or 1.0
    ends = [end for curve in curves for end in (curve.t0, curve.t1) if np.isfinite(end)]
    if lo == hi:
        return lo - room, hi + room
    return max(min([lo, *ends]), lo - room), min(max([hi, *ends]), hi + room)


def _points(curves: Sequence[Curve], span: tuple[float, float], count: int = _GRID) -> Floats:
    """Scores at which curves are drawn: where they bend, and both sides of jumps unless these are too many to see."""
    beside = _ONCE * max(span[1] - span[0], 1e-300)
    at = [np.linspace(*span, count)]
    for curve in curves:
        breaks = curve.pieces.breaks
        inside = breaks[(breaks > span[0]) & (breaks < span[1])]
        if inside.size <= _MANY_BREAKS:
            at += [inside, inside - beside, inside + beside]
        if curve.pieces.coefficients.shape[-1] > 2:  # noqa: PLR2004 more than a straight line
            for part in [part for _, part in curve.parts] or [curve]:
                start, stop = (float(end) for end in np.clip(sorted((part.t0, part.t1)), *span))
                at.append(np.linspace(start, stop, _BEND))
    return np.unique(np.concatenate(at))
