"""Every curve of a family that meets a target: the whole path, for each group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from evenodds.errors import OptionError, one_of
from evenodds.geometry.pieces import Floats
from evenodds.model.families import PUBLISHED, Family, family_of
from evenodds.model.joint import JointDistribution, check_joint
from evenodds.model.path import Path
from evenodds.model.request import TargetLike
from evenodds.model.roc import Point
from evenodds.model.search import CurveSearch
from evenodds.model.target import check_reach, chosen_target

__all__ = ["Solutions", "solutions"]


@dataclass(frozen=True, eq=False)
class Solutions:
    """For each group the whole path of curves through one point.

    See Also
    --------
    solutions : Finds them.
    plot.solutions : Draws them for one group.

    Examples
    --------
    >>> import evenodds as eo
    >>> found = eo.solutions(eo.datasets.credit_risk(), target=(0.2, 0.8), p=[0.4, 0.5, 0.6])
    >>> [(round(curve.t0, 2), round(curve.t1, 2)) for curve in found.paths["white"]]
    [(6.88, 60.69), (11.53, 66.92), (14.94, 75.93)]
    """

    target: Point
    """The point that they meet."""
    groups: tuple[str, ...]
    """The groups' keys, sorted."""
    group_paths: tuple[Path, ...]
    """The path of each of `groups`; `paths` has them by key."""

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
        How scores and labels fall within each group.
    target : (fpr, tpr) or "baseline"
        The point; "baseline" is the paper's rule, as for `fit`.
    curve : str
        One of the paper's families: "fixed", "linear", "quadratic", "cubic", "quartic".
    p : array, optional
        The mean odds between the thresholds at which the path is wanted; 37 values over the family's range without
        it. A group whose target is a vertex of its ROC, or on the diagonal, has one curve only.

    Returns
    -------
    Solutions
        Its `paths` has each group's curves.

    See Also
    --------
    plot.solutions : Draws them for one group.
    fit : Takes one of them, by a criterion.

    Examples
    --------
    >>> import evenodds as eo
    >>> found = eo.solutions(eo.datasets.credit_risk(), target="baseline", curve="cubic")
    >>> found
    Solutions(fpr 0.192685, tpr 0.829732; curves: asian 37, black 37, hispanic 1, white 37)
    >>> [round(curve.width, 1) for curve in found.paths["white"]][::9]
    [812.3, 47.0, 45.5, 60.2, 718.8]
    """
    check_joint(joint)
    family = family_of(one_of("curve", curve, PUBLISHED))
    if not family.has_path and p is not None:
        msg = f"p cannot be chosen for {family.with_article}: of all its solutions the one with p nearest 1/2 is given."
        raise OptionError(msg)
    at = family.p_grid() if p is None else _checked_p(p, family)
    point = chosen_target(joint, target)
    near, scale = joint.searched
    paths = []
    for member in near.members:
        check_reach(member.key, member.roc, point)
    search = CurveSearch(near, family, [point] * len(near.members))
    many = search.paths({i: at for i, single in enumerate(search.singles) if single is None})
    for i, single in enumerate(search.singles):
        path = single or many[i]
        paths.append(replace(path, t0=path.t0 + scale.origin, t1=path.t1 + scale.origin, scale=joint.scale))
    return Solutions(point, joint.groups, tuple(paths))


def _checked_p(p: ArrayLike, family: Family) -> Floats:
    lo, hi = family.search_limits
    try:
        at = np.unique(np.asarray(p, dtype=np.float64))
    except (TypeError, ValueError):
        at = np.zeros(0)
    if not at.size or not ((at >= lo) & (at <= hi)).all():
        msg = f"p must be between {lo:g} and {hi:g} for {family.with_article}, got {np.asarray(p)!r}."
        raise OptionError(msg)
    return at
