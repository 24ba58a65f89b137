"""What a policy is compared with: the one that was in use before it, and one threshold for everybody."""

from __future__ import annotations

from dataclasses import dataclass

from evenodds.model.roc import Point

__all__ = ["SEARCH", "Before", "Change", "OneThreshold"]

_ROUNDING = 1e-9  # of rates
SEARCH = "branch and bound"
"""By what bounds are proven of those who are not all rising curves."""


@dataclass(frozen=True)
class Change:
    """What an update changed, what it had to, and whether there was a reason to.

    See Also
    --------
    update : Makes a policy whose `certificate.change` is one.

    Examples
    --------
    >>> import evenodds as eo
    >>> people = eo.datasets.compas()
    >>> change = eo.update(eo.fit(people), people, max_change=0.05).certificate.change
    >>> change.allowed, change.is_warranted
    (0.05, False)
    """

    previous: str
    """The fingerprint of the policy that was in use."""
    allowed: float
    """The largest change of anybody's odds that was allowed."""
    most: float
    """The largest change of anybody's odds, at any score."""
    least: float
    """The least change with which the promise is kept on the new people."""
    before: float
    """By how much the new people's groups differ under the policy that was in use."""
    tolerance: float
    """By how much they may."""
    by_chance: float
    """By how much more they may by chance alone (with a confidence of 0.95) if it keeps its promise."""

    @property
    def is_warranted(self) -> bool:
        """Whether the policy in use broke its promise by more than chance explains."""
        return self.before > self.tolerance + self.by_chance + _ROUNDING

    def __str__(self) -> str:
        reason = (
            "more than chance alone explains: there was a reason to change"
            if self.is_warranted
            else "no more than chance alone explains: nothing shows that there was a reason to change"
        )
        return (
            f"Updated: nobody's odds differ by more than {self.most:.4g} from the policy in use before (allowed: "
            f"{self.allowed:g}); {self.least:.4g} is the least that keeps the promise on these people. Under the one "
            f"before, their groups differ by {self.before:.4g}, {reason} (up to {self.tolerance + self.by_chance:.4g})."
        )


@dataclass(frozen=True)
class Before:
    """What a policy is compared with: one threshold for everybody, the best whatever the groups get, or one in use."""

    score: float | None
    """The threshold on people's own scale; None where it is the policy that was in use."""
    objective: float
    points: tuple[Point, ...]
    """Each group's (fpr, tpr)."""


@dataclass(frozen=True)
class OneThreshold:
    """One threshold for everybody that is within the tolerance asked for."""

    score: float
    """On people's own scale."""
    objective: float
    difference: float
    """The largest difference between two groups in a constrained rate."""
