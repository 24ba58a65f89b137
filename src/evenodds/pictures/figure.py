"""A figure, which is a scene that draws itself; and what every figure of a policy on people asks of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenodds.model.joint import JointDistribution
from evenodds.model.policy import Policy, check_policy
from evenodds.pictures.axes import draw
from evenodds.pictures.scene import Scene
from evenodds.pictures.svg import svg_of

__all__ = ["Figure", "check_fits", "groups_by_colour"]


@dataclass(frozen=True, eq=False)
class Figure(Scene):
    """What one picture shows; `.frame()` has its numbers, `.plot()` and `.svg()` draw it.

    See Also
    --------
    plot.roc_figure, plot.curves_figure, plot.audit_figure : Make one.

    Examples
    --------
    >>> import evenodds as eo
    >>> figure = eo.plot.roc_figure(eo.datasets.compas())
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
        >>> eo.plot.curves_figure(eo.fit(eo.datasets.credit_risk())).svg()[:61]
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 346"'
        """
        return svg_of(self, name=name, titled=titled)


def check_fits(policy: Policy, joint: JointDistribution) -> None:
    """Refuse a policy for other people: one that knows none of their groups, or whose scores point the other way."""
    check_policy(policy, "policy=")
    policy.check_orientation(joint.orientation)
    if not any(group in policy.curves for group in joint.groups):
        policy.check_knows(joint.groups)


def groups_by_colour(joint: JointDistribution, policy: Policy | None) -> tuple[str, ...]:
    """All groups, those of the policy first: so each has the colour that it has in a picture of the policy alone."""
    own = policy.groups if policy is not None else ()
    return (*own, *(group for group in joint.groups if group not in own))
