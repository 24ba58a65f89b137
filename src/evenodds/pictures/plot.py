"""Figures by matplotlib: Axes in, Axes out. What a function draws, its namesake `..._figure` returns as a value.

Such a `Figure` has the numbers as `.frame()`, and draws itself by `.plot(ax)` and `.svg()`. Colours are told apart by
the colour-blind (Okabe and Ito's palette); a group has the same one in every figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenodds.evaluation.audit import Audit
from evenodds.evaluation.frontier import Frontier
from evenodds.model.curves import Curve
from evenodds.model.joint import JointDistribution
from evenodds.model.policy import Policy
from evenodds.model.solutions import Solutions
from evenodds.pictures.figures import (
    Figure,
    audit_figure,
    curves_figure,
    densities_figure,
    frontier_figure,
    roc_figure,
    score_rates_figure,
    solutions_figure,
)

__all__ = [
    "Figure",
    "audit",
    "audit_figure",
    "curves",
    "curves_figure",
    "densities",
    "densities_figure",
    "frontier",
    "frontier_figure",
    "roc",
    "roc_figure",
    "score_rates",
    "score_rates_figure",
    "solutions",
    "solutions_figure",
]


def roc(joint: JointDistribution, policy: Policy | None = None, *, ax: Any = None) -> Any:
    """Each group's ROC; with a policy also what its slope budget leaves in reach, the points chosen, and a closer look.

    Parameters
    ----------
    joint : JointDistribution
        The people.
    policy : Policy, optional
        What was chosen for them.
    ax : Axes, optional
        Where to draw; new ones without it.

    Returns
    -------
    Axes
        Of matplotlib: those that were drawn on.

    See Also
    --------
    plot.roc_figure : The same as data and as SVG.
    plot.curves : Each group's odds by score.

    Examples
    --------
    >>> import evenodds as eo
    >>> joint = eo.datasets.credit_risk()
    >>> axes = eo.plot.roc(joint, eo.fit(joint))
    >>> sorted(set(eo.plot.roc_figure(joint).frame()["group"]))
    ['', 'asian', 'black', 'hispanic', 'white']
    """
    return roc_figure(joint, policy).plot(ax)


def curves(
    policy: Policy,
    *,
    joint: JointDistribution | None = None,
    against: Mapping[str, Policy] | None = None,
    ax: Any = None,
) -> Any:
    """Each group's odds by score; other policies, such as the fixed one, dashed beside them.

    Parameters
    ----------
    policy : Policy
        Whose curves are drawn.
    joint : JointDistribution, optional
        People: the figure's `.frame()` then also has how many of them are near each score.
    against : {str: Policy}, optional
        Other policies, by the names that stand beside their curves.
    ax : Axes, optional
        Where to draw; new ones without it.

    Returns
    -------
    Axes
        Of matplotlib: those that were drawn on.

    See Also
    --------
    plot.curves_figure : The same as data and as SVG.
    plot.densities : Over which scores chance decides, and how many people that is.

    Examples
    --------
    >>> import evenodds as eo
    >>> joint = eo.datasets.credit_risk()
    >>> axes = eo.plot.curves(eo.fit(joint), against={"fixed": eo.fit(joint, curve="fixed")})
    >>> axes.get_ylabel()
    'odds of a yes'
    """
    return curves_figure(policy, joint=joint, against=against).plot(ax)


def solutions(solutions: Solutions, group: str, *, chosen: Curve | None = None, ax: Any = None) -> Any:
    """All curves of a family that meet one point for a group, and the one that was chosen.

    Parameters
    ----------
    solutions : Solutions
        What `solutions` found.
    group : str
        The group's key.
    chosen : Curve, optional
        One of them that stands out, such as `policy.curves[group]`.
    ax : Axes, optional
        Where to draw; new ones without it.

    Returns
    -------
    Axes
        Of matplotlib: those that were drawn on.

    See Also
    --------
    solutions : Finds the curves.
    plot.solutions_figure : The same as data and as SVG.

    Examples
    --------
    >>> import evenodds as eo
    >>> solutions = eo.solutions(eo.datasets.credit_risk(), target=(0.2, 0.8))
    >>> axes = eo.plot.solutions(solutions, "white")
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('score', 'odds of a yes')
    """
    return solutions_figure(solutions, group, chosen=chosen).plot(ax)


def frontier(frontier: Frontier, *, ax: Any = None) -> Any:
    """The best objective against the budget: on the largest slope, or on the share of people decided by chance.

    Parameters
    ----------
    frontier : Frontier
        What `frontier` found.
    ax : Axes, optional
        Where to draw; new ones without it.

    Returns
    -------
    Axes
        Of matplotlib: those that were drawn on.

    See Also
    --------
    frontier : Finds what each budget reaches.
    plot.frontier_figure : The same as data and as SVG, also with a policy and numbers of people.

    Examples
    --------
    >>> import evenodds as eo
    >>> axes = eo.plot.frontier(eo.frontier(eo.datasets.compas()))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('largest slope of any group', 'accuracy_score')
    """
    return frontier_figure(frontier).plot(ax)


def score_rates(joint: JointDistribution, *, confidence: float = 0.95, ax: Any = None) -> Any:
    """The share of positives by score, with intervals.

    Parameters
    ----------
    joint : JointDistribution
        The people.
    confidence : float
        How often an interval shall contain the truth.
    ax : Axes, optional
        Where to draw; new ones without it.

    Returns
    -------
    Axes
        Of matplotlib: those that were drawn on.

    See Also
    --------
    plot.score_rates_figure : The same as data and as SVG.
    plot.densities : How many people have each score.

    Examples
    --------
    >>> import evenodds as eo
    >>> axes = eo.plot.score_rates(eo.datasets.compas())
    >>> axes.get_ylabel()
    'share of positives'
    """
    return score_rates_figure(joint, confidence=confidence).plot(ax)


def densities(joint: JointDistribution, policy: Policy | None = None, *, ax: Any = None) -> Any:
    """How the scores of each group fall, and over which of them a policy decides by chance.

    Parameters
    ----------
    joint : JointDistribution
        The people.
    policy : Policy, optional
        What decides.
    ax : Axes, optional
        Where to draw; new ones without it.

    Returns
    -------
    Axes
        Of matplotlib: those that were drawn on.

    See Also
    --------
    plot.densities_figure : The same as data and as SVG.
    plot.score_rates : How many of them are positive.

    Examples
    --------
    >>> import evenodds as eo
    >>> joint = eo.datasets.compas()
    >>> axes = eo.plot.densities(joint, eo.fit(joint))
    >>> axes.get_ylabel()
    'share of people for 1 of score'
    """
    return densities_figure(joint, policy).plot(ax)


def audit(audit: Audit, *, rates: Sequence[str] = ("fpr", "tpr"), ax: Any = None) -> Any:
    """Each group's rates with their intervals.

    Parameters
    ----------
    audit : Audit
        What `audit` found.
    rates : sequence of str
        Which figures of a group: fields of `GroupAudit`.
    ax : Axes, optional
        Where to draw; new ones without it.

    Returns
    -------
    Axes
        Of matplotlib: those that were drawn on.

    See Also
    --------
    audit : Measures them.
    plot.audit_figure : The same as data and as SVG.

    Examples
    --------
    >>> import evenodds as eo
    >>> joint = eo.datasets.compas()
    >>> axes = eo.plot.audit(eo.audit(eo.fit(joint), joint), rates=["tpr"])
    >>> axes.get_xlabel()
    'TPR'
    """
    return audit_figure(audit, rates=rates).plot(ax)
