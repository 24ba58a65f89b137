"""Figures of rates: what each group can reach, where a policy lies, and what an audit says of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenodds.errors import OptionError, one_of
from evenodds.evaluation.audit import Audit
from evenodds.evaluation.outcomes import RATE_NAMES
from evenodds.geometry.pieces import Floats
from evenodds.model.families import family_of
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution, check_is_joint
from evenodds.model.policy import Policy
from evenodds.model.rates import rates_of
from evenodds.model.reach import reach_of
from evenodds.model.traces import some_scores
from evenodds.pictures.figure import Figure, check_fits, groups_by_colour
from evenodds.pictures.scene import Series
from evenodds.values import check_made_by, names_of

__all__ = ["audit_figure", "roc_figure", "shares_below"]

_POINTS = 400  # of a ROC
_ZOOM = 0.08  # to each side of a target
_TOGETHER = 1e-3  # points nearer than this are one dot


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
    check_is_joint(joint, "The first argument")
    if policy is not None:
        check_fits(policy, joint)
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
        series += [line for line in reached if line is not None]
        chosen = _chosen(joint, policy)
        series += chosen
        if chosen:
            zoom = _window(float(np.mean([dot.x[0] for dot in chosen])), float(np.mean([dot.y[0] for dot in chosen])))
    return Figure(
        "What each group can reach", "false positive rate", "true positive rate", tuple(series),
        groups_by_colour(joint, policy),
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
    reach = "mixes of two thresholds" if np.isinf(slope) else f"slope at most {slope:.3g}"
    people = _selected(member, fpr, tpr)
    return Series(f"{member.key}, {reach}", fpr, tpr, style="dashed", group=member.key, people=people)


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
    fpr, tpr = (np.append(0.0, (1 - side)[::-1]) for side in shares_below(member, at))
    return fpr, tpr, np.append(np.nan, at[::-1])


def shares_below(member: Group, at: Floats) -> Floats:
    """The shares of negatives and of positives below each score, upward."""
    return np.stack([side.sums_below(at)[0] for side in member.by_label])


def _thinned(size: int) -> Any:
    return np.unique(np.linspace(0, size - 1, min(size, _POINTS)).astype(int))


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
    check_made_by(audit, Audit, "evenodds.audit")
    rates = [one_of("rates", rate, RATE_NAMES) for rate in names_of("rates", rates)]
    if not rates:
        msg = f"rates=[] is not allowed. Allowed: one or several of {', '.join(RATE_NAMES)}."
        raise OptionError(msg)
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
