"""Figures of prices: the best objective against a budget on slopes, or on people decided by chance."""

from __future__ import annotations

import numpy as np

from evenodds.evaluation.frontier import Frontier
from evenodds.model.policy import Policy, check_policy
from evenodds.pictures.figure import Figure
from evenodds.pictures.scene import Series
from evenodds.values import check_made_by, number_of

__all__ = ["frontier_figure"]

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
    check_made_by(frontier, Frontier, "evenodds.frontier")
    if chosen is not None:
        check_policy(chosen, "chosen=")
    if people is not None:
        people = number_of("people", people, "a number from 0 on", low=0)
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
