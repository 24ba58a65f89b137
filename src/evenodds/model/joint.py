"""The joint distribution of score, group, label and weight: checked once, sorted once, never changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.errors import DataError, one_of
from evenodds.geometry.moments import Moments
from evenodds.geometry.pieces import Floats
from evenodds.model.keys import GroupLike, encode, owners

__all__ = ["Group", "JointDistribution", "Orientation"]

Orientation = Literal["positive", "negative"]
ORIENTATIONS = ("positive", "negative")
_HUGE = 1e150


@dataclass(frozen=True, eq=False)
class Group:
    """One group's people: distinct scores, ascending, with the weight of negatives and positives at each.

    Scores are on the *upward* scale: the user's own for positive orientation, mirrored for negative, so that a
    higher score always speaks for a yes.
    """

    key: str
    scores: Floats
    negatives: Floats
    positives: Floats
    people: tuple[float, float]
    """How many people stand behind the negatives and the positives (Kish's effective number under weights)."""

    @cached_property
    def negative_total(self) -> float:
        return float(self.negatives.sum())

    @cached_property
    def positive_total(self) -> float:
        return float(self.positives.sum())

    @property
    def total(self) -> float:
        """The group's whole weight."""
        return self.negative_total + self.positive_total

    @property
    def base_rate(self) -> float:
        """The share of positives."""
        return self.positive_total / self.total

    @property
    def _totals(self) -> Floats:
        return np.array([self.negative_total, self.positive_total])

    @cached_property
    def shares(self) -> Floats:
        """Row 0: shares of the negatives at each score; row 1: of the positives. Each row sums to 1."""
        return _locked(np.stack([self.negatives / self.negative_total, self.positives / self.positive_total]))

    @cached_property
    def prefix(self) -> tuple[float, Floats, Floats]:
        """The middle of the scores; sums of the shares, and of the shares times (score - middle), before each score."""
        middle = float(self.scores[0] + (self.scores[-1] - self.scores[0]) / 2)
        counts = np.stack([self.negatives, self.positives])
        sums = [np.cumsum(w, axis=1) / self._totals[:, None] for w in (counts, counts * (self.scores - middle))]
        share, moment = (_locked(np.pad(total, ((0, 0), (1, 0)))) for total in sums)
        return middle, share, moment

    @cached_property
    def moments(self) -> Moments:
        """Ready for (FPR, TPR) of any piecewise polynomial."""
        return Moments(self.scores, np.stack([self.negatives, self.positives]), self._totals)


@dataclass(frozen=True, eq=False)
class JointDistribution:
    """All that is known of the past: how scores and labels fall within each group.

    Make one with `from_arrays` or `from_counts`.

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

    @classmethod
    def from_arrays(
        cls,
        score: ArrayLike,
        group: GroupLike,
        label: ArrayLike,
        *,
        weight: ArrayLike | None = None,
        orientation: Orientation = "positive",
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
            0 or 1 (booleans too).
        weight : array of shape (n,), optional
            Finite and not negative; a weight of k counts as k people.
        orientation : "positive" or "negative"
            Whether a higher score speaks for label 1 or against it.
        """
        sign = _sign(orientation)
        scores = _numbers("score", score)
        labels = _labels(label)
        codes, keys = encode(group)
        weights = np.ones(scores.size) if weight is None else _numbers("weight", weight)
        lengths = {"score": scores.size, "group": codes.size, "label": labels.size, "weight": weights.size}
        if len(set(lengths.values())) > 1:
            told = ", ".join(
                f"{name} {size}" for name, size in lengths.items() if name != "weight" or weight is not None
            )
            msg = f"The columns have different lengths: {told}."
            raise DataError(msg)
        if scores.size == 0:
            msg = "The table is empty. Hint: at least one negative and one positive person in each group are needed."
            raise DataError(msg)
        _check_amounts("weight", weights)
        kept = weights > 0
        members = []
        for code, key in enumerate(keys):
            rows = np.flatnonzero((codes == code) & kept)
            yes = labels[rows]
            people = tuple(_kish(weights[rows[yes == side]]) for side in (False, True))
            members.append(
                _group(key, sign * scores[rows], weights[rows] * ~yes, weights[rows] * yes, (people[0], people[1]))
            )
        return cls._checked(members, orientation)

    @classmethod
    def from_counts(
        cls,
        counts: Any,
        *,
        orientation: Orientation = "positive",
    ) -> JointDistribution:
        """Make the joint distribution of people who were counted already.

        Parameters
        ----------
        counts : mapping of group -> (scores, negatives, positives)
            For each group its scores and how many people with label 0 and label 1 have them; counts may be
            fractional. A key that is a tuple stands for several columns.

        Examples
        --------
        >>> JointDistribution.from_counts({"a": ([0, 1], [6, 2], [3, 9]), "b": ([0, 1], [5, 1], [2, 2])})
        JointDistribution(2 groups, 4 scores, weight 30, score range 0 to 1, positive orientation)
        """
        sign = _sign(orientation)
        if not isinstance(counts, Mapping):
            msg = f"The counts must map groups to (scores, negatives, positives), got {type(counts).__name__}."
            raise DataError(msg)
        if not counts:
            msg = "The table is empty: no group was given."
            raise DataError(msg)
        owner = owners(counts)
        members = []
        for key in sorted(owner):
            entry = counts[owner[key]]
            if not isinstance(entry, (Sequence, np.ndarray)) or len(entry) != 3:  # noqa: PLR2004 the three columns
                msg = f"Group {key!r} must be given as (scores, negatives, positives), got {_size(entry)}."
                raise DataError(msg)
            names = [f"{column} of group {key!r}" for column in ("score", "negatives", "positives")]
            scores, negatives, positives = (_numbers(n, column) for n, column in zip(names, entry, strict=True))
            if not scores.size == negatives.size == positives.size:
                msg = (
                    f"The columns of group {key!r} have different lengths: "
                    f"scores {scores.size}, negatives {negatives.size}, positives {positives.size}."
                )
                raise DataError(msg)
            _check_amounts(names[1], negatives)
            _check_amounts(names[2], positives)
            people = (float(negatives.sum()), float(positives.sum()))
            members.append(_group(key, sign * scores, negatives, positives, people))
        return cls._checked(members, orientation)

    @classmethod
    def _checked(cls, members: Sequence[Group], orientation: Orientation) -> JointDistribution:
        joint = cls(tuple(members), orientation)
        lo, hi = joint.score_range
        if max(abs(lo), abs(hi)) > _HUGE or 0 < hi - lo < 1 / _HUGE:
            msg = f"The scores run from {lo:g} to {hi:g}, beyond what floating-point numbers can square. Hint: rescale."
            raise DataError(msg)
        return joint

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups' keys, sorted."""
        return tuple(member.key for member in self.members)

    @property
    def total(self) -> float:
        """The weight of everybody."""
        return sum(member.total for member in self.members)

    @cached_property
    def score_range(self) -> tuple[float, float]:
        """The least and the greatest score of all groups, on the user's own scale."""
        lo = min(float(member.scores[0]) for member in self.members)
        hi = max(float(member.scores[-1]) for member in self.members)
        return (lo, hi) if self.orientation == "positive" else (-hi, -lo)

    def __repr__(self) -> str:
        lo, hi = self.score_range
        scores = sum(member.scores.size for member in self.members)
        n = len(self.members)
        return (
            f"JointDistribution({n} group{'s' * (n > 1)}, {scores} scores, weight {self.total:g}, "
            f"score range {lo:g} to {hi:g}, {self.orientation} orientation)"
        )


def _size(entry: object) -> str:
    return f"{len(entry)} columns" if isinstance(entry, (Sequence, np.ndarray)) else type(entry).__name__


def _sign(orientation: Orientation) -> float:
    return 1.0 if one_of("orientation", orientation, ORIENTATIONS) == "positive" else -1.0


def _kish(weights: Floats) -> float:
    """The number of equally weighted people who would tell as much."""
    if not weights.size:
        return 0.0
    scaled = weights / weights.max()
    return float(scaled.sum() ** 2 / (scaled**2).sum())


def _group(key: str, scores: Floats, negatives: Floats, positives: Floats, people: tuple[float, float]) -> Group:
    """Merge ties, drop scores that nobody has, and refuse a group without positives or without negatives."""
    sums = {"positive": float(positives.sum()), "negative": float(negatives.sum())}
    for side, total in sums.items():
        if total <= 0:
            other = "negative" if side == "positive" else "positive"
            have = f"weight {sums[other]:g} of {other}s, none of {side}s"
            rate = "true" if side == "positive" else "false"
            msg = (
                f"Group {key!r} has {have}, so its {rate} positive rate is not defined. Hint: merge or drop the group."
            )
            raise DataError(msg)
    seen = negatives + positives > 0
    distinct, tie = np.unique(scores[seen], return_inverse=True)
    sides = [
        np.bincount(tie, side[seen], minlength=distinct.size).astype(np.float64) for side in (negatives, positives)
    ]
    return Group(key, _locked(distinct), _locked(sides[0]), _locked(sides[1]), people)


def _locked(array: Floats) -> Floats:
    array.setflags(write=False)
    return array


def _numbers(name: str, values: ArrayLike) -> Floats:
    """A 1-D float64 array of finite numbers, or an error that says where it is not."""
    given = _column(name, values)
    if given.dtype.kind not in "biufO":
        msg = f"{name} must be numbers, got {given.dtype}{_first(given)}."
        raise DataError(msg)
    try:
        numbers = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        msg = f"{name} must be numbers, got {_offender(given)}."
        raise DataError(msg) from None
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        kind = "NaN or infinite" if given.dtype != object else "missing, NaN or infinite"
        msg = (
            f"{name} has {bad.size} {kind} value{'s' * (bad.size > 1)} "
            f"(first at position {bad[0]}: {given[bad[0]]}). Hint: drop or repair these rows first."
        )
        raise DataError(msg)
    return numbers


def _column(name: str, values: Any) -> NDArray[Any]:
    """A 1-D array without masked values."""
    if np.ma.is_masked(values):
        msg = f"{name} has {int(np.ma.getmaskarray(values).sum())} masked values. Hint: drop or fill these rows first."
        raise DataError(msg)
    try:
        given = np.asarray(values)
    except ValueError:
        msg = f"{name} must be one column, got rows of different lengths."
        raise DataError(msg) from None
    if given.ndim != 1:
        msg = f"{name} must be one column, got an array of shape {given.shape}."
        raise DataError(msg)
    return given


def _first(given: NDArray[np.generic]) -> str:
    return f" (first value {given[0].item()!r})" if given.size else ""


def _offender(given: NDArray[np.generic]) -> str:
    """The first value that is not a number, with its position."""
    for i, value in enumerate(given.tolist()):
        try:
            float(value)
        except (TypeError, ValueError, OverflowError):
            return f"{value!r} at position {i}"
    return "values of mixed kinds"  # pragma: no cover  numpy and float agree on what a number is


def _check_amounts(name: str, values: Floats) -> None:
    bad = np.flatnonzero(values < 0)
    if bad.size:
        first = f"first at position {bad[0]}: {values[bad[0]]:g}"
        msg = f"{name} has {bad.size} negative value{'s' * (bad.size > 1)} ({first})."
        raise DataError(msg)
    if values.size and values.max() > _HUGE:
        msg = f"{name} has values up to {values.max():g}, too large to add up. Hint: rescale."
        raise DataError(msg)


def _equals(given: NDArray[Any], number: int) -> NDArray[np.bool_]:
    """Where a column equals a number; an object that will not say, as pandas' NA, does not."""
    if given.dtype != object:
        return np.asarray(given == number)
    return np.array([isinstance(x, (int, float, np.generic)) and bool(x == number) for x in given], dtype=bool)


def _labels(values: ArrayLike) -> NDArray[np.bool_]:
    """Booleans from 0/1, or an error that shows what else was there."""
    given = _column("label", values)
    if given.dtype == bool:
        return given
    zero, one = _equals(given, 0), _equals(given, 1)
    bad = np.flatnonzero(~(zero | one))
    if bad.size:
        others = sorted({repr(value) for value in given[bad[:1000]].tolist()})
        shown = ", ".join(others[:5]) + (", ..." if len(others) > 5 else "")  # noqa: PLR2004 enough to see the pattern
        msg = (
            f"label must be 0 or 1, got {shown} in {bad.size} row{'s' * (bad.size > 1)} (first at position {bad[0]}). "
            "Hint: compare with the value that counts as a yes, for example label == 'repaid'."
        )
        raise DataError(msg)
    return np.asarray(one, dtype=bool)
