"""The joint distribution of score, group, label and weight: checked once, sorted once, never changed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from numpy.typing import ArrayLike

from evenodds.errors import DataError, OptionError, one_of
from evenodds.frames import is_lazy, opened
from evenodds.geometry.stack import Stack
from evenodds.model.cells import Columns, check_group_kinds, check_numeric, counted
from evenodds.model.columns import HUGE, check_resolution
from evenodds.model.groups import Group, check_labels, together
from evenodds.model.intake import groups_of_cells, groups_of_counts, groups_of_people
from evenodds.model.keys import GroupLike, check_keys
from evenodds.model.pooling import Pooled
from evenodds.model.scale import ORIENTATIONS, Orientation, Scale
from evenodds.values import PickledByFields

__all__ = ["Group", "JointDistribution", "check_is_joint", "check_joint"]

_FAR = 16.0  # times the score range: scores farther from 0 are moved for searches
OneSided = Literal["refuse", "keep"]


@dataclass(frozen=True, eq=False)
class JointDistribution(PickledByFields):
    """All that is known of the past: how scores and labels fall within each group.

    Make one with `from_arrays`, `from_frame` or `from_counts`: the scores that any model gave people, the group that
    each of them belongs to, and what came true, label 1 or 0. A yes to label 0 is then a false positive. Two add up:
    `old + new` are the people of both.

    See Also
    --------
    fit : Find a curve for each group.
    audit : Measure a policy, or a threshold, on people.
    plot.roc, plot.densities, plot.score_rates : Look at the people first.
    datasets.credit_risk, datasets.compas : Two that are bundled.

    Examples
    --------
    >>> joint = JointDistribution.from_arrays([10, 20, 30, 10, 20, 30], list("aaabbb"), [0, 0, 1, 0, 1, 1])
    >>> joint.groups
    ('a', 'b')
    >>> joint
    JointDistribution(2 groups, 6 scores, weight 6, score range 10 to 30, positive orientation)
    """

    members: tuple[Group, ...]
    """The groups with their people, by key."""
    orientation: Orientation
    """"positive" where a higher score speaks for label 1, else "negative"."""
    resolution: float = 0.0
    """What the scores were rounded to; 0 where they are as given."""
    one_sided: tuple[Group, ...] = ()
    """Groups with people of one label only, or none: kept for an audit, and nothing else takes them."""

    @classmethod
    def from_arrays(
        cls,
        score: ArrayLike,
        group: GroupLike,
        label: ArrayLike,
        *,
        weight: ArrayLike | None = None,
        orientation: Orientation = "positive",
        resolution: float | None = None,
        positive_label: object = None,
        one_sided: OneSided = "refuse",
    ) -> JointDistribution:
        """Make the joint distribution of people given one by one.

        Parameters
        ----------
        score : array of shape (n,)
            Finite scores of any scale.
        group : array of shape (n,), or several columns
            Several columns are a list of arrays or a 2-D array with a row for each person; a group is then each
            combination that occurs. A group's key is str(value), several joined by ", ".
        label : array of shape (n,)
            0 or 1 (booleans too); any other values with `positive_label`.
        weight : array of shape (n,), optional
            Finite and not negative; a weight of k counts as k people.
        orientation : "positive" or "negative"
            Whether a higher score speaks for label 1 or against it.
        resolution : float, optional
            Round the scores to multiples of it. A policy then knows its rates to within half its slope times this.
        positive_label : value of `label`, optional
            The one that counts as a yes; every other value is a no.
        one_sided : "refuse" or "keep"
            What becomes of a group without positives or without negatives: an error, or it is kept apart in
            `joint.one_sided`, so that an audit can name it. Only audits take such a joint distribution.

        Returns
        -------
        JointDistribution
            The people, checked and sorted once.

        See Also
        --------
        JointDistribution.from_frame : Of people in a data frame.
        fit : Find a curve for each group.

        Examples
        --------
        >>> score, race, sex, repaid = [700, 640, 710, 610], list("wwbb"), list("fffm"), [1, 0, 1, 0]
        >>> JointDistribution.from_arrays(score, race, repaid)
        JointDistribution(2 groups, 4 scores, weight 4, score range 610 to 710, positive orientation)
        >>> JointDistribution.from_arrays(score, [race, sex], repaid, one_sided="keep").groups
        ('w, f',)
        """
        names = ("score", "label", "weight")
        return cls._of_people(names, score, group, label, weight, orientation, resolution, positive_label, one_sided)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        score: str,
        group: str | Sequence[str],
        label: str,
        weight: str | None = None,
        orientation: Orientation = "positive",
        resolution: float | None = None,
        positive_label: object = None,
        one_sided: OneSided = "refuse",
    ) -> JointDistribution:
        """Make the joint distribution of the people in a data frame of any library.

        A lazy frame (polars lazy, DuckDB, PySpark, Dask, Ibis) counts its people itself, in one aggregation by group
        and score; only that table is fetched. With continuous scores it is as long as the data, unless a `resolution`
        is given.

        Parameters
        ----------
        frame : pandas, polars (eager or lazy), pyarrow, DuckDB, PySpark, Dask or Ibis table
            It is not changed.
        score : str
            The name of the column of scores.
        group : str or several
            The name of the column of groups, or of several: strings, whole numbers, booleans or categories.
        label : str
            The name of the column of what came true: 0 and 1, or any other values with `positive_label`.
        weight : str, optional
            The name of the column of how many people a row counts for; without it one each.
        orientation, resolution, positive_label, one_sided
            As for `JointDistribution.from_arrays`.

        Returns
        -------
        JointDistribution
            The people, checked and sorted once.

        See Also
        --------
        JointDistribution.from_arrays : Of people in arrays.
        fit : Find a curve for each group.
        apply : The way back: odds for each row of a data frame.

        Examples
        --------
        >>> import pandas as pd
        >>> people = pd.DataFrame({"points": [1.2, 2.9, 3.1, 1.4], "sex": list("ffmm"), "repaid": list("nyyn")})
        >>> JointDistribution.from_frame(people, score="points", group="sex", label="repaid", positive_label="y")
        JointDistribution(2 groups, 4 scores, weight 4, score range 1.2 to 3.1, positive orientation)
        """
        columns = Columns.named(score, group, label, weight)
        table = opened(frame, columns.all)
        check_group_kinds(table, columns.group)
        check_numeric(table, "score", score)
        if is_lazy(table):
            sign, width, keep = _sign(orientation), check_resolution(resolution), _keeps(one_sided)
            cells = counted(table, columns, width, positive_label)
            return cls._checked(groups_of_cells(cells, sign=sign), orientation, width, one_sided=keep)
        names = (f"score column {score!r}", f"label column {label!r}", f"weight column {weight!r}")
        native = table.to_native()
        people = (native[score], [native[name] for name in columns.group], native[label])
        weights = None if weight is None else native[weight]
        return cls._of_people(names, *people, weights, orientation, resolution, positive_label, one_sided)

    @classmethod
    def _of_people(
        cls,
        names: tuple[str, str, str],
        score: ArrayLike,
        group: GroupLike,
        label: ArrayLike,
        weight: ArrayLike | None,
        orientation: Orientation,
        resolution: float | None,
        positive_label: object,
        one_sided: OneSided,
    ) -> JointDistribution:
        sign, width, keep = _sign(orientation), check_resolution(resolution), _keeps(one_sided)
        columns = (score, group, label, weight)
        groups = groups_of_people(names, *columns, width=width, positive_label=positive_label, sign=sign)
        return cls._checked(groups, orientation, width, one_sided=keep)

    @classmethod
    def from_counts(
        cls,
        counts: Any,
        *,
        orientation: Orientation = "positive",
        one_sided: OneSided = "refuse",
    ) -> JointDistribution:
        """Make the joint distribution of people who were counted already.

        Parameters
        ----------
        counts : mapping of group -> (scores, negatives, positives)
            For each group its scores and how many people with label 0 and label 1 have them; counts may be
            fractional. A key that is a tuple stands for several columns.
        orientation, one_sided
            As for `JointDistribution.from_arrays`.

        Returns
        -------
        JointDistribution
            The people, checked and sorted once.

        See Also
        --------
        JointDistribution.from_arrays : Of people one by one.
        fit : Find a curve for each group.

        Examples
        --------
        >>> JointDistribution.from_counts({"a": ([0, 1], [6, 2], [3, 9]), "b": ([0, 1], [5, 1], [2, 2])})
        JointDistribution(2 groups, 4 scores, weight 30, score range 0 to 1, positive orientation)
        """
        keep = _keeps(one_sided)
        groups = groups_of_counts(counts, sign=_sign(orientation))
        return cls._checked(groups, orientation, one_sided=keep)

    @classmethod
    def _checked(
        cls, groups: Sequence[Group], orientation: Orientation, resolution: float = 0.0, *, one_sided: bool
    ) -> JointDistribution:
        check_keys(group.key for group in groups)
        whole = tuple(group for group in groups if not group.is_one_sided)
        rest = tuple(group for group in groups if group.is_one_sided)
        for group in () if one_sided else rest:
            check_labels(group.key, group.negative_total, group.positive_total)
        if not whole:
            counts = "; ".join(f"{g.key!r} {g.negative_total:g} and {g.positive_total:g}" for g in rest)
            msg = f"No group has both negatives and positives: {counts}."
            raise DataError(msg)
        joint = cls(whole, orientation, resolution, rest)
        lo, hi = joint.score_range
        if max(abs(lo), abs(hi)) > HUGE or 0 < hi - lo < 1 / HUGE:
            msg = f"The scores run from {lo:g} to {hi:g}, beyond what floating-point numbers can square. Hint: rescale."
            raise DataError(msg)
        return joint

    def __add__(self, other: JointDistribution) -> JointDistribution:
        """These people and others together; scores must point the same way.

        >>> one = JointDistribution.from_counts({"a": ([0, 1], [6, 2], [3, 9])})
        >>> one + one
        JointDistribution(1 group, 2 scores, weight 40, score range 0 to 1, positive orientation)
        """
        check_is_joint(other, "What is added")
        if self.orientation != other.orientation:
            msg = f"The people have scores of {self.orientation} and of {other.orientation} orientation."
            raise DataError(msg)
        groups = together(*((*joint.members, *joint.one_sided) for joint in (self, other)))
        width, keep = max(self.resolution, other.resolution), bool(self.one_sided or other.one_sided)
        return self._checked(groups, self.orientation, width, one_sided=keep)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups' keys, sorted."""
        return tuple(member.key for member in self.members)

    @property
    def scale(self) -> Scale:
        """How the scores of `members` relate to people's own."""
        return Scale(self.orientation)

    @property
    def total(self) -> float:
        """The weight of everybody."""
        return sum(member.total for member in self.members)

    @property
    def is_counted(self) -> bool:
        """Whether people count once each, and not by weights."""
        return all(side.counted for member in self.members for side in member.by_label)

    @cached_property
    def score_range(self) -> tuple[float, float]:
        """The least and the greatest score of all groups, on the user's own scale."""
        ends = [self.scale.own(end) for member in self.members for end in member.ends]
        return min(ends), max(ends)

    def figures_of(self, group: Group) -> tuple[float, float, float, float]:
        """The weights of a group's negatives and positives, and their mean scores on the user's own scale.

        Parameters
        ----------
        group : Group
            One of `members`.

        Returns
        -------
        (float, float, float, float)
            Negatives, positives, mean score of the negatives, mean score of the positives.
        """
        negatives, positives = group.by_label
        return negatives.total, positives.total, self.scale.own(negatives.mean), self.scale.own(positives.mean)

    @cached_property
    def searched(self) -> tuple[JointDistribution, Scale]:
        """The same people on the scale that is searched, and how to come back from it.

        There a higher score speaks for a yes; and scores that vary little for their size are near 0, where
        floating-point numbers tell thresholds apart best. Where all scores are within a factor of two of each other
        (Sterbenz), subtracting one of them from the others is exact.
        """
        upward = self if self.orientation == "positive" else replace(self, orientation="positive", one_sided=())
        lo, hi = self.score_range
        if max(abs(lo), abs(hi)) <= _FAR * (hi - lo) or hi == lo:
            return upward, self.scale
        origin = self.members[0].ends[0]
        moved = tuple(member.moved(-origin) for member in self.members)
        return replace(upward, members=moved, one_sided=()), replace(self.scale, origin=origin)

    @cached_property
    def stack(self) -> Stack:
        """The groups' negatives and positives side by side."""
        return Stack([member.by_label for member in self.members])

    @cached_property
    def pooled(self) -> Pooled:
        """The groups with their labels pooled."""
        return Pooled(self.members, self.stack)

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the people as counts by group, score and label: in whatever order they came, it is the same.

        Sums of weights that are not whole numbers may differ in their last bit with the order, and it with them.

        >>> JointDistribution.from_counts({"a": ([1, 2], [3, 1], [1, 2])}).fingerprint[:16]
        '0e73cf9ed8c3bb2a'
        """
        digest = hashlib.sha256(f"{self.orientation}|{self.resolution!r}".encode())
        for member in sorted((*self.members, *self.one_sided), key=lambda group: group.key):
            digest.update(member.as_bytes(self.scale.upward(0.0)))  # 0.0 and -0.0 are one score
        return digest.hexdigest()

    def __repr__(self) -> str:
        lo, hi = self.score_range
        scores, n = sum(member.score_count for member in self.members), len(self.members)
        return (
            f"JointDistribution({n} group{'s' * (n > 1)}, {scores} scores, weight {self.total:g}, "
            f"score range {lo:g} to {hi:g}, {self.orientation} orientation"
            f"{f', rounded to {self.resolution:g}' if self.resolution else ''}"
            f"{f', {len(self.one_sided)} one-sided besides' if self.one_sided else ''})"
        )


def check_is_joint(joint: object, where: str) -> None:
    """Refuse what is no joint distribution."""
    if not isinstance(joint, JointDistribution):
        msg = (
            f"{where} must be a JointDistribution, got {type(joint).__name__}. "
            "Hint: evenodds.JointDistribution.from_frame(frame, score=, group=, label=), or from_arrays."
        )
        raise OptionError(msg)


def check_joint(joint: JointDistribution, where: str = "The first argument") -> None:
    """Refuse what is no joint distribution, or one with groups whose rates are not defined."""
    check_is_joint(joint, where)
    for member in joint.one_sided:
        check_labels(member.key, member.negative_total, member.positive_total)


def _sign(orientation: Orientation) -> float:
    one_of("orientation", orientation, ORIENTATIONS)
    return Scale(orientation).sign


def _keeps(one_sided: OneSided) -> bool:
    return one_of("one_sided", one_sided, ("refuse", "keep")) == "keep"
