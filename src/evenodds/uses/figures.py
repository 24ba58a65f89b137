"""Figures as data: what is drawn, and not how. One description serves matplotlib, the report and `.frame()`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenodds.frames import frame_of
from evenodds.geometry.pieces import Floats
from evenodds.model.curves import Curve
from evenodds.model.fit import Solutions
from evenodds.model.groups import Group, locked
from evenodds.model.joint import JointDistribution
from evenodds.model.policy import Policy
from evenodds.model.regions import arcs_of, some_scores
from evenodds.uses.audit import Audit
from evenodds.uses.frontier import Frontier
from evenodds.uses.intervals import Sample, critical_value, mean_interval

__all__ = [
    "Figure",
    "Series",
    "audit_figure",
    "curves_figure",
    "densities_figure",
    "frontier_figure",
    "roc_figure",
    "score_rates_figure",
    "solutions_figure",
]

Kind = Literal["line", "dots", "intervals"]
Style = Literal["solid", "dashed", "dotted", "thin"]

_POINTS = 400  # of a curve
_BINS = 40  # of a density
_COARSE_BINS = 20  # of a rate by score
_ZOOM = 0.08  # to each side of a target
_ONCE = 1e-9  # relative: how near to a jump both of its sides are drawn


@dataclass(frozen=True, eq=False)
class Series:
    """Points that belong together: a line, dots, or intervals."""

    name: str
    x: Floats
    y: Floats
    kind: Kind = "line"
    style: Style = "solid"
    group: str | None = None
    """Whose colour it has; None for what belongs to nobody."""
    low: Floats | None = None
    high: Floats | None = None
    """The ends of intervals: along x in figures whose y are names, along y in all others."""
    people: Floats | None = None
    """How many people stand behind each point."""

    def __post_init__(self) -> None:
        for name in ("x", "y", "low", "high", "people"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, locked(np.array(value, dtype=np.float64)))


@dataclass(frozen=True, eq=False)
class Figure:
    """What one picture shows."""

    title: str
    x: str
    y: str
    series: tuple[Series, ...]
    groups: tuple[str, ...]
    """All groups in order, by which colours are given: a group has the same one in every figure."""
    y_names: tuple[str, ...] | None = None
    """Names of y = 0, 1, ... where it is no number."""
    square: bool = False
    log_x: bool = False
    floor: float | None = None
    """Where y begins to mean something; below it there is room for zones."""
    zoom: tuple[float, float, float, float] | None = None
    """The part that deserves a closer look: x from, x to, y from, y to."""

    def frame(self) -> Any:
        """The figure's numbers, one row for each point."""
        rows = [
            (s.name, s.group or "", x, y, low, high, people)
            for s in self.series
            for x, y, low, high, people in zip(
                s.x,
                s.y,
                *(np.full(s.x.size, np.nan) if a is None else a for a in (s.low, s.high, s.people)),
                strict=True,
            )
        ]
        names = ("series", "group", "x", "y", "low", "high", "people")
        return frame_of({name: [row[i] for row in rows] for i, name in enumerate(names)})


# -- ROC ---------------------------------------------------------------------------------------------------------------


def roc_figure(joint: JointDistribution, policy: Policy | None = None) -> Figure:
    """Each group's ROC; with a policy also what its slope budget leaves in reach, and the points chosen."""
    diagonal = np.array([0.0, 1.0])
    series = [Series("a lottery for everybody", diagonal, diagonal, style="dotted")]
    zoom = None
    for member in joint.members:
        fpr, tpr = _roc(member)
        series.append(Series(member.key, fpr, tpr, group=member.key))
    if policy is not None:
        slope = policy.certificate.max_slope
        for member in joint.members if np.isfinite(slope) else ():
            x, y = arcs_of(member, "linear", slope).polyline
            some = _thinned(x.size)
            series.append(
                Series(f"{member.key}, slope at most {slope:.3g}", x[some], y[some], style="dashed", group=member.key)
            )
        points = policy.certificate.points
        series += [
            Series(f"{key}, chosen", np.array([p.fpr]), np.array([p.tpr]), kind="dots", group=key)
            for key, p in points.items()
        ]
        middle = np.mean([[p.fpr, p.tpr] for p in points.values()], axis=0)
        zoom = _window(*middle)
    return Figure(
        "What each group can reach", "false positive rate", "true positive rate", tuple(series), joint.groups,
        square=True, zoom=zoom,
    )  # fmt: skip


def _window(fpr: float, tpr: float) -> tuple[float, float, float, float]:
    x, y = (float(np.clip(at, _ZOOM, 1 - _ZOOM)) for at in (fpr, tpr))
    return x - _ZOOM, x + _ZOOM, y - _ZOOM, y + _ZOOM


def _roc(member: Group) -> tuple[Floats, Floats]:
    """(FPR, TPR) of thresholds at some of the scores, from (0, 0) to (1, 1)."""
    at = some_scores(member, _POINTS)
    below = np.concatenate([sample.sums_below(at)[0] for sample in member.moments.samples])
    fpr, tpr = (np.append(0.0, (1 - side)[::-1]) for side in below)
    return fpr, tpr


def _thinned(size: int) -> Any:
    return np.unique(np.linspace(0, size - 1, min(size, _POINTS)).astype(int))


# -- curves ------------------------------------------------------------------------------------------------------------


def curves_figure(policy: Policy, *, against: Mapping[str, Policy] | None = None) -> Figure:
    """Each group's odds by score, and those of other policies for comparison."""
    every = [policy, *(against or {}).values()]
    span = _span([curve for one in every for curve in one.group_curves], policy.score_range)
    series = [Series(key, *_drawn(curve, span), group=key) for key, curve in policy.curves.items()]
    for name, other in (against or {}).items():
        series += [
            Series(f"{key}, {name}", *_drawn(curve, span), style="dashed", group=key)
            for key, curve in other.curves.items()
        ]
    return Figure("Odds of a yes", "score", "odds of a yes", tuple(series), policy.groups)


def solutions_figure(found: Solutions, group: str, *, chosen: Curve | None = None) -> Figure:
    """All curves of a family that meet one point for a group, and the one that was chosen."""
    path = list(found.paths[group])
    ends = [end for curve in path for end in (curve.t0, curve.t1) if np.isfinite(end)]
    middle = np.median(ends) if ends else 0.0
    width = np.median([curve.width for curve in path if np.isfinite(curve.width)] or [1.0]) or 1.0
    span = (float(middle - 1.5 * width), float(middle + 1.5 * width))
    series = [Series(f"p = {curve.p:.2f}", *_drawn(curve, span), style="thin", group=group) for curve in path]
    if chosen is not None:
        series.append(Series("chosen", *_drawn(chosen, span), group=group))
    point = f"FPR {found.target.fpr:.3f}, TPR {found.target.tpr:.3f}"
    return Figure(f"Every curve of {group} that meets {point}", "score", "odds of a yes", tuple(series), found.groups)


def _span(curves: Sequence[Curve], score_range: tuple[float, float]) -> tuple[float, float]:
    """The scores that are drawn: where people are, and a little more where thresholds lie beyond."""
    lo, hi = score_range
    room = 0.25 * (hi - lo) or 1.0
    ends = [end for curve in curves for end in (curve.t0, curve.t1) if np.isfinite(end)]
    return max(min([lo, *ends]), lo - room), min(max([hi, *ends]), hi + room)


def _drawn(curve: Curve, span: tuple[float, float]) -> tuple[Floats, Floats]:
    """Points of a curve, both sides of a jump among them."""
    breaks = curve.pieces.breaks
    beside = _ONCE * max(span[1] - span[0], 1e-300)
    inside = breaks[(breaks > span[0]) & (breaks < span[1])]
    x = np.unique(np.concatenate([np.linspace(*span, _POINTS), inside, inside - beside, inside + beside]))
    return x, curve(x)


def frontier_figure(found: Frontier) -> Figure:
    """The best objective against the slope budget."""
    slopes, values = np.array(found.max_slopes), np.array(found.objectives)
    finite = np.isfinite(slopes)
    series = [Series(found.objective_name, slopes[finite], values[finite])]
    if (~finite).any() and finite.any():
        level = values[~finite][0]
        ends = np.array([slopes[finite].min(), slopes[finite].max()])
        series.append(Series("without a budget", ends, np.full(2, level), style="dotted"))
    title = "What gentleness costs"
    return Figure(title, "largest slope of any group", found.objective_name, tuple(series), (), log_x=True)


# -- people ------------------------------------------------------------------------------------------------------------


def score_rates_figure(joint: JointDistribution, *, confidence: float = 0.95) -> Figure:
    """The share of positives by score, with intervals and how many people it is of."""
    series = []
    for member in joint.members:
        scores, negatives, positives = _own_scale(joint, member)
        people = negatives + positives
        bins = _bins(people, _COARSE_BINS)
        count, yes = (np.bincount(bins, side).astype(np.float64) for side in (people, positives))
        middle = np.bincount(bins, people * scores) / count
        shrink = sum(member.people) / member.total  # weights are not people
        rate = yes / count
        ends = [
            mean_interval(Sample(r, r * (1 - r), n * shrink), critical_value(confidence))
            for r, n in zip(rate.tolist(), count.tolist(), strict=True)
        ]
        low, high = np.array([e.low for e in ends]), np.array([e.high for e in ends])
        series.append(Series(member.key, middle, rate, group=member.key, low=low, high=high, people=count))
    return Figure("Who is positive", "score", "share of positives", tuple(series), joint.groups)


def densities_figure(joint: JointDistribution, policy: Policy | None = None) -> Figure:
    """How the scores of each group fall, and over which of them a policy decides by chance."""
    lo, hi = joint.score_range
    edges = np.linspace(lo, hi, _BINS + 1) if hi > lo else np.array([lo - 0.5, lo + 0.5])
    middle, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    series, top = [], 0.0
    for member in joint.members:
        scores, negatives, positives = _own_scale(joint, member)
        count = np.asarray(np.histogram(scores, edges, weights=negatives + positives)[0], dtype=np.float64)
        density = count / member.total / width
        top = max(top, float(density.max()))
        series.append(Series(member.key, middle, density, group=member.key, people=count))
    for place, (key, curve) in enumerate(policy.curves.items() if policy else ()):
        ends = np.clip(sorted((curve.t0, curve.t1)), lo, hi)
        level = -top * 0.06 * (place + 1)
        series.append(Series(f"{key}: decided by chance", ends, np.full(2, level), group=key, style="solid"))
    title = "Where people score" + (", and where chance decides" if policy else "")
    return Figure(title, "score", "share of people a point", tuple(series), joint.groups, floor=0.0)


def _own_scale(joint: JointDistribution, member: Group) -> tuple[Floats, Floats, Floats]:
    """Scores as the user has them, ascending, with negatives and positives."""
    if joint.orientation == "positive":
        return member.scores, member.negatives, member.positives
    return -member.scores[::-1], member.negatives[::-1], member.positives[::-1]


def _bins(people: Floats, count: int) -> Any:
    """Neighbouring scores together, about as many people in each bin, numbered from 0 without a gap."""
    place = np.minimum((np.cumsum(people) - people / 2) / people.sum() * count, count - 1).astype(int)
    return np.unique(place, return_inverse=True)[1]


def audit_figure(audit: Audit, *, rates: Sequence[str] = ("fpr", "tpr")) -> Figure:
    """Each group's rates with their intervals, and where they would be if all were equal."""
    groups = tuple(g.group for g in audit.by_group)
    series = []
    for rate in rates:
        for place, g in enumerate(audit.by_group):
            estimate = getattr(g, rate)
            ends = (np.array([value]) for value in (estimate.value, place, estimate.low, estimate.high))
            x, y, low, high = ends
            series.append(
                Series(f"{g.group}, {rate}", x, y, kind="intervals", group=g.group, low=low, high=high,
                       people=np.array([g.people]))
            )  # fmt: skip
    title = f"Rates on {sum(g.people for g in audit.by_group):,.0f} people, intervals of {audit.confidence:g}"
    return Figure(title, " and ".join(rates), "", tuple(series), groups, y_names=groups)
