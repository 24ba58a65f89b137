"""Every figure: what it shows of people, policies, audits and frontiers, and the ways to see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenodds.evaluation.audit import Audit
from evenodds.evaluation.frontier import Frontier
from evenodds.evaluation.intervals import Sample, critical_value, mean_interval
from evenodds.evaluation.outcomes import RATE_NAMES
from evenodds.geometry.pieces import Floats
from evenodds.model.curves import Curve
from evenodds.model.families import FAMILIES, family_of
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution
from evenodds.model.policy import Policy
from evenodds.model.rates import rates_of
from evenodds.model.reach import reach_of
from evenodds.model.scale import UPWARD
from evenodds.model.solutions import Solutions
from evenodds.model.traces import some_scores
from evenodds.pictures.axes import draw
from evenodds.pictures.scene import Kind, Scene, Series, Style
from evenodds.pictures.svg import svg_of

__all__ = [
    "Figure",
    "audit_figure",
    "curves_figure",
    "densities_figure",
    "families_figure",
    "frontier_figure",
    "mix_figure",
    "roc_figure",
    "score_rates_figure",
    "solutions_figure",
]

_POINTS = 400  # of a ROC
_GRID = 200  # scores at which curves are drawn, and besides
_BEND = 60  # where a curve bends
_THIN = 100  # of one curve among many
_MANY_BREAKS = 200  # pieces of a curve beyond which its jumps are too many to be seen
_NEAR = 0.005  # of the score range: to each side of a score, whose people are counted with it
_BINS = 40  # of a density
_COARSE_BINS = 20  # of a rate by score, at most
_IN_A_BIN = 40  # people who make a rate worth drawing
_ZOOM = 0.08  # to each side of a target
_TOGETHER = 1e-3  # points nearer than this are one dot
_ONCE = 1e-9  # relative: how near to a jump both of its sides are drawn


@dataclass(frozen=True, eq=False)
class Figure(Scene):
    """What one picture shows; `.frame()` has its numbers, `.plot()` and `.svg()` draw it.

    See Also
    --------
    plot.roc_figure, plot.curves_figure, plot.audit_figure : Make one.

    Examples
    --------
    >>> import evenodds as eo
    >>> figure = roc_figure(eo.datasets.compas())
    >>> figure.title, figure.x, figure.y
    ('What each group can reach', 'false positive rate', 'true positive rate')
    >>> list(figure.frame())
    ['series', 'group', 'x', 'y', 'low', 'high', 'people', 'score']
    """

    def plot(self, ax: Any = None) -> Any:
        """Draw it by matplotlib.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; new ones without it.

        Returns
        -------
        Axes
            Those that were drawn on.
        """
        return draw(self, ax)

    def svg(self, *, name: str = "figure", titled: bool = True) -> str:
        """Draw it as an SVG element.

        Parameters
        ----------
        name : str
            Tells its parts from those of others on the same page.
        titled : bool
            Whether its title stands above it.

        Returns
        -------
        str
            To be put into a page, or into a file of its own.

        Examples
        --------
        >>> import evenodds as eo
        >>> curves_figure(eo.fit(eo.datasets.credit_risk())).svg()[:61]
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 346"'
        """
        return svg_of(self, name=name, titled=titled)


# -- ROC ---------------------------------------------------------------------------------------------------------------


def roc_figure(joint: JointDistribution, policy: Policy | None = None) -> Figure:
    """Each group's ROC; with a policy also what its slope budget leaves in reach, and where its curves come to lie.

    Parameters
    ----------
    joint, policy
        As for `plot.roc`.

    Returns
    -------
    Figure
        Its numbers are `.frame()`; `.plot(ax)` and `.svg()` draw it.

    See Also
    --------
    plot.roc : Draws it at once.

    Examples
    --------
    >>> import evenodds as eo
    >>> figure = eo.plot.roc_figure(eo.datasets.compas())
    >>> figure.groups
    ('African-American, Female', 'African-American, Male', 'Caucasian, Female', 'Caucasian, Male')
    """
    diagonal = np.array([0.0, 1.0])
    series = [Series("a lottery for everybody", diagonal, diagonal, style="dotted")]
    zoom = None
    for member in joint.members:
        fpr, tpr, upward = _roc(member)
        series.append(
            Series(member.key, fpr, tpr, group=member.key, people=_selected(member, fpr, tpr),
                   score=joint.scale.own(upward), shaded_to=np.minimum(fpr, tpr))
        )  # fmt: skip
    if policy is not None:
        reached = [_in_reach(member, policy) for member in joint.members if member.key in policy.curves]
        series += [one for one in reached if one is not None]
        chosen = _chosen(joint, policy)
        series += chosen
        if chosen:
            zoom = _window(float(np.mean([dot.x[0] for dot in chosen])), float(np.mean([dot.y[0] for dot in chosen])))
    return Figure(
        "What each group can reach", "false positive rate", "true positive rate", tuple(series), joint.groups,
        square=True, zoom=zoom, people="people who get a yes",
    )  # fmt: skip


def _in_reach(member: Group, policy: Policy) -> Series | None:
    """What curves of the budget's slope and their mixes reach; without a budget only where a mix lies above the ROC."""
    slope = policy.certificate.max_slope
    if np.isinf(slope) and not policy.curves[member.key].parts:
        return None
    x, y = reach_of(member, family_of("linear"), slope).upper
    some = _thinned(x.size)
    fpr, tpr = x[some], y[some]
    what = "mixes of two thresholds" if np.isinf(slope) else f"slope at most {slope:.3g}"
    people = _selected(member, fpr, tpr)
    return Series(f"{member.key}, {what}", fpr, tpr, style="dashed", group=member.key, people=people)


def _chosen(joint: JointDistribution, policy: Policy) -> list[Series]:
    """Where the curves lie on these people: one dot where all groups meet, else one each, and what was promised."""
    known = [member for member in joint.members if member.key in policy.curves]
    points = [rates_of(policy.treatments[member.key], member) for member in known]
    fpr, tpr = (np.array(rates) for rates in zip(*((point.fpr, point.tpr) for point in points), strict=True))
    people = np.array([_selected(m, x, y) for m, x, y in zip(known, fpr, tpr, strict=True)])
    if len(known) > 1 and max(np.ptp(fpr), np.ptp(tpr)) < _TOGETHER:
        return [Series("all groups, chosen", fpr[:1], tpr[:1], "dots", people=people.sum(keepdims=True))]
    dots = [
        Series(f"{member.key}, chosen", fpr[[i]], tpr[[i]], "dots", group=member.key, people=people[[i]])
        for i, member in enumerate(known)
    ]
    target = policy.certificate.target
    if target is not None and len(known) > 1:
        dots.append(Series("promised to all", np.array([target.fpr]), np.array([target.tpr]), "dots"))
    return dots


def _selected(member: Group, fpr: Floats, tpr: Floats) -> Floats:
    """How many of a group get a yes at these rates."""
    return member.negative_total * fpr + member.positive_total * tpr


def _window(fpr: float, tpr: float) -> tuple[float, float, float, float]:
    x, y = (float(np.clip(at, _ZOOM, 1 - _ZOOM)) for at in (fpr, tpr))
    return x - _ZOOM, x + _ZOOM, y - _ZOOM, y + _ZOOM


def _roc(member: Group) -> tuple[Floats, Floats, Floats]:
    """(FPR, TPR) of thresholds at some of the scores, from (0, 0), which none makes, to (1, 1), and these scores."""
    at = some_scores(member, _POINTS)
    fpr, tpr = (np.append(0.0, (1 - side)[::-1]) for side in _below(member, at))
    return fpr, tpr, np.append(np.nan, at[::-1])


def _below(member: Group, at: Floats) -> Floats:
    """The shares of negatives and of positives below each score, upward."""
    return np.stack([side.sums_below(at)[0] for side in member.by_label])


def _thinned(size: int) -> Any:
    return np.unique(np.linspace(0, size - 1, min(size, _POINTS)).astype(int))


# -- curves ------------------------------------------------------------------------------------------------------------


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
    every = [policy, *(against or {}).values()]
    drawn = [curve for one in every for curve in (*one.group_curves, *one.group_review_curves)]
    span = _span(drawn, policy.score_range)
    near = _Near(joint, policy.score_range)
    at = _points(drawn, span)
    series = [near.series(key, key, at, curve(at)) for key, curve in policy.curves.items()]
    for key, upper in policy.review_curves.items():
        line = near.series(f"{key}, yes or review", key, at, upper(at), style="dashed")
        series.append(replace(line, shaded_to=policy.curves[key](at)))
    for name, other in (against or {}).items():
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
    >>> found = eo.solutions(eo.datasets.credit_risk(), target=(0.2, 0.8))
    >>> figure = eo.plot.solutions_figure(found, "white")
    >>> figure.series[0].name, len(figure.series)
    ('p = 0.05', 37)
    """
    path = list(solutions.paths[group])
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
        negatives, positives = _below(member, more) - _below(member, upward - self._reach)
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


_WRONGLY = "people more decided wrongly than without a budget"
_SHOWN = 1e-4  # of the objective: a bound that is nearer looks the same


def frontier_figure(frontier: Frontier, *, chosen: Policy | None = None, people: float | None = None) -> Figure:
    """The best objective against the budget, where a policy lies, and how many of the people that costs.

    Parameters
    ----------
    frontier : Frontier
        As for `plot.frontier`.
    chosen : Policy, optional
        A dot at this policy's largest slope and objective.
    people : float, optional
        How many people there are: a loss of accuracy is then also told as a number of them.

    Returns
    -------
    Figure
        Its numbers are `.frame()`; `.plot(ax)` and `.svg()` draw it.

    See Also
    --------
    plot.frontier : Draws it at once.

    Examples
    --------
    >>> import evenodds as eo
    >>> joint = eo.datasets.compas()
    >>> figure = eo.plot.frontier_figure(eo.frontier(joint), chosen=eo.fit(joint), people=joint.total)
    >>> [series.name for series in figure.series]
    ['accuracy_score', 'without a budget', 'this policy']
    """
    if frontier.against == "randomized":
        return _chance_figure(frontier, people)
    slopes, values, losses = (np.array(a) for a in (frontier.max_slopes, frontier.objectives, frontier.losses))
    finite = np.isfinite(slopes)
    costs = people if frontier.objective_name == "accuracy_score" else None  # a loss of accuracy is a number of people
    series = [
        Series(frontier.objective_name, slopes[finite], values[finite],
               people=None if costs is None else costs * losses[finite])
    ]  # fmt: skip
    if (~finite).any() and finite.any():
        level = values[~finite][0]
        ends = np.array([slopes[finite].min(), slopes[finite].max()])
        series.append(Series("without a budget", ends, np.full(2, level), style="dotted"))
    slope = np.inf if chosen is None else max(chosen.certificate.slopes)
    if chosen is not None and np.isfinite(slope) and slope > 0:
        lost = None if costs is None else np.array([costs * chosen.certificate.loss])
        series.append(
            Series("this policy", np.array([slope]), np.array([chosen.certificate.objective]), kind="dots", people=lost)
        )
    title = "What gentleness costs"
    return Figure(
        title, "largest slope of any group", frontier.objective_name, tuple(series), (), log_x=True, people=_WRONGLY
    )


def _chance_figure(frontier: Frontier, people: float | None) -> Figure:
    """The best objective against the share of people who are decided by chance."""
    shares, values, losses, bounds = (
        np.array(a) for a in (frontier.max_randomized, frontier.objectives, frontier.losses, frontier.bounds)
    )
    costs = people if frontier.objective_name == "accuracy_score" else None
    series = [Series(frontier.objective_name, shares, values, people=None if costs is None else costs * losses)]
    if np.abs(bounds - values).max() > _SHOWN:
        series.append(Series("what nobody can better", shares, bounds, style="dotted"))
    title, x = "What less chance costs", "largest share of people decided by chance"
    return Figure(title, x, frontier.objective_name, tuple(series), (), people=_WRONGLY)


# -- people ------------------------------------------------------------------------------------------------------------


def _number_of(group: Group) -> float:
    """How many people a group has, by label; weights are not people."""
    return sum(side.n_effective for side in group.by_label)


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
            mean_interval(Sample(r, r * (1 - r), n * shrink), critical_value(confidence))
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
        for one in (curve, *([policy.review_curves[key]] if policy and policy.review else [])):
            ends = np.clip(sorted((one.t0, one.t1)), lo, hi)
            series.append(Series(f"{key}: decided by chance", ends, np.full(2, level), "zone", group=key))
    title = "Where people score" + (", and where chance decides" if policy else "")
    meaning = f"people within {width.max() / 2:.3g} of this score"
    return Figure(
        title, "score", "share of people for 1 of score", tuple(series), joint.groups, floor=0.0, people=meaning
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


def _bins(people: Floats, count: int) -> Any:
    """Neighbouring scores together, about as many people in each bin, numbered from 0 without a gap."""
    place = np.minimum((np.cumsum(people) - people / 2) / people.sum() * count, count - 1).astype(int)
    return np.unique(place, return_inverse=True)[1]


def audit_figure(audit: Audit, *, rates: Sequence[str] = ("fpr", "tpr")) -> Figure:
    """Each group's rates with their intervals, a row for each; all groups of one rate together.

    Parameters
    ----------
    audit, rates
        As for `plot.audit`.

    Returns
    -------
    Figure
        Its numbers are `.frame()`; `.plot(ax)` and `.svg()` draw it.

    See Also
    --------
    plot.audit : Draws it at once.

    Examples
    --------
    >>> import evenodds as eo
    >>> joint = eo.datasets.compas()
    >>> figure = eo.plot.audit_figure(eo.audit(eo.fit(joint), joint), rates=["tpr"])
    >>> figure.y_names
    ('African-American, Female', 'African-American, Male', 'Caucasian, Female', 'Caucasian, Male')
    """
    groups = tuple(g.group for g in audit.by_group)
    series: list[Series] = []
    rows: list[str] = []
    for rate in rates:
        for g in audit.by_group:
            estimate = getattr(g, rate)
            x, y, low, high, people = (
                np.array([value]) for value in (estimate.value, len(rows), estimate.low, estimate.high, g.people)
            )
            rows.append(g.group if len(rates) == 1 else f"{RATE_NAMES[rate]}: {g.group}")
            series.append(Series(rows[-1], x, y, kind="intervals", group=g.group, low=low, high=high, people=people))
    title = f"Rates on {sum(g.people for g in audit.by_group):,.0f} people, intervals of {audit.confidence:g}"
    shown = " and ".join(RATE_NAMES[rate] for rate in rates)
    return Figure(title, shown, "", tuple(series), groups, y_names=tuple(rows), people="people in the group")
