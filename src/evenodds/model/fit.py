"""The stages in order: joint -> target -> curves through it -> policy. A newcomer reads this first."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from evenodds.errors import EvenoddsWarning, OptionError, one_of
from evenodds.model.criteria import CRITERIA, gentlest
from evenodds.model.curves import FAMILIES
from evenodds.model.joint import Group, JointDistribution
from evenodds.model.policy import Certificate, Policy, rates_of
from evenodds.model.regions import Point, Roc, roc_of
from evenodds.model.solutions import Meeting, Path, p_grid, search_limits
from evenodds.model.target import TargetLike, check_reach, chosen_target

__all__ = ["Solutions", "fit", "solutions"]

_SMALL = 30  # fewer positives or negatives than this leave rates uncertain by 10 points or more


def fit(
    joint: JointDistribution,
    *,
    curve: str = "linear",
    criterion: str = "gentlest",
    target: TargetLike = "baseline",
) -> Policy:
    """Find a curve for each group so that all groups have the same false and true positive rate.

    Parameters
    ----------
    joint : JointDistribution
        How scores and labels fall within each group.
    curve : "fixed", "linear", "quadratic", "cubic" or "quartic"
        The family of curves. All but "fixed" are continuous.
    criterion : "gentlest"
        Which of the curves through the target to take: the one with the least slope.
    target : (fpr, tpr) or "baseline"
        The point that every group meets; "baseline" is the best single threshold of the group whose best single
        threshold lies farthest from (0, 1). That group keeps its hard threshold.

    Returns
    -------
    Policy

    Examples
    --------
    >>> import evenodds as eo
    >>> policy = eo.fit(eo.datasets.credit_risk(), target=(0.2, 0.8))
    >>> print(policy.certificate)
    Every group meets fpr 0.200000, tpr 0.800000 on the data it was fitted on, to within ... (recomputed ...).
    >>> {group: round(curve.lipschitz, 4) for group, curve in policy.curves.items()}
    {'asian': 0.0281, 'black': 0.0395, 'hispanic': 0.0416, 'white': 0.0181}
    """
    _check_joint(joint)
    family = one_of("curve", curve, FAMILIES)
    one_of("criterion", criterion, CRITERIA)
    rocs = [roc_of(member) for member in joint.members]
    _warn_of_weak_groups(joint, rocs)
    point = chosen_target(joint, target)
    curves = [gentlest(meeting).curve(0) for meeting in _meetings(joint, rocs, family, point)]
    reached = tuple(rates_of(c, member) for c, member in zip(curves, joint.members, strict=True))
    certificate = Certificate(target=point, groups=joint.groups, reached=reached)
    return Policy(joint.groups, tuple(curves), joint.score_range, joint.orientation, certificate)


@dataclass(frozen=True, eq=False)
class Solutions:
    """For each group the whole path of curves through one point."""

    target: Point
    groups: tuple[str, ...]
    group_paths: tuple[Path, ...]

    @property
    def paths(self) -> Mapping[str, Path]:
        """Each group's path."""
        return MappingProxyType(dict(zip(self.groups, self.group_paths, strict=True)))

    def __repr__(self) -> str:
        lengths = ", ".join(f"{group} {len(path)}" for group, path in self.paths.items())
        return f"Solutions(fpr {self.target.fpr:.6g}, tpr {self.target.tpr:.6g}; curves: {lengths})"


def solutions(
    joint: JointDistribution, *, target: TargetLike, curve: str = "linear", p: ArrayLike | None = None
) -> Solutions:
    """Every curve of a family that meets the target, for each group.

    Parameters
    ----------
    joint : JointDistribution
    target : (fpr, tpr) or "baseline"
    curve : str
        The family, as for `fit`.
    p : array, optional
        The mean odds between the thresholds at which the path is wanted; 37 values over the family's range without
        it. A group whose target is a vertex of its ROC, or on the diagonal, has one curve only.

    Examples
    --------
    >>> import evenodds as eo
    >>> found = eo.solutions(eo.datasets.credit_risk(), target="baseline", curve="cubic")
    >>> found
    Solutions(fpr 0.192685, tpr 0.829732; curves: asian 37, black 37, hispanic 1, white 37)
    >>> [round(curve.width, 1) for curve in found.paths["white"]][::9]
    [812.3, 47.0, 45.5, 60.2, 718.8]
    """
    _check_joint(joint)
    family = one_of("curve", curve, FAMILIES)
    at = p_grid(family) if p is None else _checked_p(p, family)
    rocs = [roc_of(member) for member in joint.members]
    point = chosen_target(joint, target)
    paths = [meeting.single() or meeting.path(at) for meeting in _meetings(joint, rocs, family, point)]
    return Solutions(point, joint.groups, tuple(paths))


def _check_joint(joint: object) -> None:
    if not isinstance(joint, JointDistribution):
        msg = (
            f"The first argument must be a JointDistribution, got {type(joint).__name__}. "
            "Hint: evenodds.JointDistribution.from_arrays(score, group, label)."
        )
        raise OptionError(msg)


def _meetings(joint: JointDistribution, rocs: list[Roc], family: str, point: Point) -> list[Meeting]:
    for member, roc in zip(joint.members, rocs, strict=True):
        check_reach(member.key, roc, point)
    return [Meeting(m, family, point, joint.orientation, roc) for m, roc in zip(joint.members, rocs, strict=True)]


def _checked_p(p: ArrayLike, family: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    lo, hi = search_limits(family)
    at = np.unique(np.asarray(p, dtype=np.float64))
    if not at.size or not ((at >= lo) & (at <= hi)).all():
        msg = f"p must be between {lo:g} and {hi:g} for a {family} curve, got {np.asarray(p)!r}."
        raise OptionError(msg)
    return at


def _warn_of_weak_groups(joint: JointDistribution, rocs: list[Roc]) -> None:
    for member, roc in zip(joint.members, rocs, strict=True):
        for text in _weaknesses(member, roc):
            warnings.warn(text, EvenoddsWarning, stacklevel=3)


def _weaknesses(member: Group, roc: Roc) -> list[str]:
    found = []
    negatives, positives = member.people
    if min(negatives, positives) < _SMALL:
        found.append(
            f"Group {member.key!r} is very small: {negatives:g} negatives and {positives:g} positives. "
            "Its rates on other people may differ a lot from those it was fitted on."
        )
    if roc.auc < 0.5:  # noqa: PLR2004 a coin
        found.append(
            f"The score ranks group {member.key!r} backwards: its AUC is {roc.auc:.4f}, below 1/2. "
            "Little but the diagonal is in its reach, and in that of every policy that treats all groups alike. "
            "Hint: check orientation=, or the score itself."
        )
    return found
