"""The answer: a curve for each group, and what is known about them. Immutable and comparable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.errors import DataError, OptionError, UnknownGroupError, one_of
from evenodds.frames import array_of
from evenodds.geometry.pieces import Floats
from evenodds.geometry.piecewise import PiecewiseStack
from evenodds.model.certificate import Certificate
from evenodds.model.columns import floats_of
from evenodds.model.curves import Curve, is_random
from evenodds.model.groups import Group
from evenodds.model.keys import Codes, GroupLike, encode, get_indexer, key_of, reordered
from evenodds.model.reviewed import Reviewing, Treatment, reviewed_share
from evenodds.model.reviewer import Review
from evenodds.model.roc import Point
from evenodds.model.scale import Orientation
from evenodds.model.storage import document_of, parts_of_policy, read_document, written
from evenodds.showing import Shown
from evenodds.values import Frozen

__all__ = [
    "OUTCOMES",
    "Outcome",
    "Policy",
    "check_no_review",
    "check_policy",
    "describe",
    "kind_of",
    "odds_of",
    "randomized_share",
    "rates_of",
]


Outcome = Literal["yes", "review", "no"]
OUTCOMES = ("yes", "review", "no")
_MANY = 20  # groups that are listed one by one


def odds_of(curve: Curve, group: Group) -> Floats:
    """The odds at a group's scores, in the group's own order."""
    return curve(curve.scale.own(group.scores))


def rates_of(curve: Treatment, group: Group) -> Point:
    """(FPR, TPR) of a curve for a group: summed directly over its scores, or if these are many from local moments."""
    if isinstance(curve, Reviewing):
        return curve.rates(group)[0]
    if group.is_large:
        fpr, tpr = group.rates(curve.pieces if curve.orientation == "positive" else curve.pieces.mirrored())
    else:
        fpr, tpr = group.class_conditional @ odds_of(curve, group)
    return Point(*(float(min(max(rate, 0.0), 1.0)) for rate in (fpr, tpr)))  # rounding must not make a rate of 1 more


def randomized_share(group: Group, *curves: Curve) -> float:
    """The share of a group's people for whom chance has a say, by any of some curves."""
    held = 0.0
    for side in group.by_label:
        drawn = [is_random(curve(curve.scale.own(side.points))) for curve in curves]
        held += float(side.weights[np.any(drawn, axis=0)].sum())
    return min(held / group.total, 1.0)


@dataclass(frozen=True)
class Policy(Shown):
    """A curve for each group that turns a score into the odds of a yes.

    Made by `evenodds.fit`.

    Examples
    --------
    >>> import evenodds as eo
    >>> policy = eo.fit(eo.datasets.credit_risk())
    >>> policy.odds([25, 49.5], "white").round(3)
    array([0.359, 0.934])
    >>> policy
    Policy(4 groups, linear, loss 0.005, largest slope 0.1062 (black))
    """

    groups: tuple[str, ...]
    group_curves: tuple[Curve, ...]
    score_range: tuple[float, float]
    orientation: Orientation
    certificate: Certificate
    group_review_curves: tuple[Curve, ...] = ()
    """Of a policy with reviews: the odds of anything but an automatic no. Those of a review are what is between."""

    @property
    def review(self) -> Review | None:
        """Who may be reviewed, and by whom; None where nobody is."""
        return self.certificate.reviewed.review if self.certificate.reviewed else None

    @property
    def review_curves(self) -> Mapping[str, Curve]:
        """Each group's odds of anything but an automatic no, where there are reviews; else nothing."""
        return MappingProxyType(dict(zip(self.groups, self.group_review_curves, strict=False)))

    @property
    def curves(self) -> Mapping[str, Curve]:
        """Each group's curve."""
        return MappingProxyType(dict(zip(self.groups, self.group_curves, strict=True)))

    @property
    def steepest(self) -> str:
        """The group with the largest L_R."""
        return max(self.groups, key=lambda group: self.treatments[group].lipschitz)

    @cached_property
    def treatments(self) -> Mapping[str, Treatment]:
        """What becomes of each group's people in the end: its curve, or with reviews both and the reviewers."""
        review = self.review
        if review is None:
            return Frozen(dict(zip(self.groups, self.group_curves, strict=True)))
        pairs = zip(self.groups, self.group_curves, self.group_review_curves, strict=True)
        return Frozen({group: Reviewing(curve, upper, review) for group, curve, upper in pairs})

    def odds(
        self,
        score: ArrayLike,
        group: GroupLike | None = None,
        *,
        codes: ArrayLike | None = None,
        outcome: Outcome = "yes",
    ) -> Floats:
        """The odds of a yes, or of another outcome.

        Parameters
        ----------
        score : array
            Finite scores, on the scale of the data that the policy was fitted on.
        group : one value for all scores, an array of as many values, or several columns
            Known groups only: an unknown one is an error, never odds of 0.
        codes : array of integers, instead of `group`
            Positions in `policy.groups`; faster.
        outcome : "yes", "review" or "no"
            With reviews "yes" and "no" are the automatic ones; nobody is reviewed by a policy without.
        """
        one_of("outcome", outcome, OUTCOMES)
        scores = floats_of("score", array_of(score))
        if (group is None) == (codes is None):
            msg = f"Give group or codes, one of them; got {'neither' if group is None else 'both'}."
            raise OptionError(msg)
        numbers = self.codes_of(group) if group is not None else self._checked_codes(codes)
        if scores.shape != numbers.shape and scores.ndim and numbers.ndim:
            msg = f"score and group have different lengths: {scores.shape} and {numbers.shape}."
            raise DataError(msg)
        shape = scores.shape or numbers.shape
        rows = tuple(np.broadcast_to(values, shape).reshape(-1) for values in (scores, numbers))
        odds = self.odds_or_nan(*rows, outcome=outcome)
        if np.isnan(odds).any():
            bad = np.flatnonzero(~np.isfinite(scores))
            msg = f"score has {bad.size} NaN or infinite value{'s' * (bad.size > 1)} (first at position {bad[0]})."
            raise DataError(msg)
        return odds.reshape(shape)

    @cached_property
    def _stack(self) -> PiecewiseStack:
        return PiecewiseStack(tuple(curve.pieces for curve in self.group_curves))

    @cached_property
    def _review_stack(self) -> PiecewiseStack:
        return PiecewiseStack(tuple(curve.pieces for curve in self.group_review_curves))

    def odds_or_nan(self, score: NDArray[Any], codes: Codes, *, outcome: Outcome = "yes") -> Floats:
        """The odds, and NaN where a code is negative or a score not finite: for those who count these rows."""
        yes = self._stack.values(score, codes)
        if outcome == "yes":
            return yes
        if self.review is None:
            return np.asarray(0.0 * yes if outcome == "review" else 1 - yes)
        upper = self._review_stack.values(score, codes)
        review = np.where(np.isnan(yes), yes, reviewed_share(yes, upper))
        return review if outcome == "review" else np.asarray(1 - (yes + review))

    def codes_of(self, group: GroupLike) -> Codes:
        """Positions of groups in `groups`; an unknown one is an error."""
        if isinstance(group, tuple) and key_of(group) in self.groups:
            group = key_of(group)  # one group of several columns
        scalar = isinstance(group, (str, bytes)) or (not hasattr(group, "__len__") and np.ndim(group) == 0)
        if scalar:
            group = [group]
        codes = get_indexer(group, self.groups)
        if codes.size and codes.min() < 0:
            _, keys = encode(group)  # refuses missing values
            raise UnknownGroupError(self.unknown([key for key in keys if key not in self.groups]))
        return codes[0] if scalar else codes

    # -- files -------------------------------------------------------------------------------------------------------

    @property
    def document(self) -> dict[str, Any]:
        """The policy as plain data, as it is saved; its "fingerprint" tells one policy from another."""
        return document_of(
            self.groups,
            self.group_curves,
            self.score_range,
            self.orientation,
            self.certificate,
            self.group_review_curves,
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy to a file, as JSON; `Policy.load` gives it back to the last bit."""
        Path(path).write_text(written(self.document), encoding="utf-8")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Policy:
        """Read a policy from a file; a file that is cut off, changed or of a newer version is refused.

        >>> import evenodds as eo, tempfile, pathlib
        >>> policy = eo.fit(eo.datasets.credit_risk())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "policy.json"
        ...     policy.save(file)
        ...     eo.Policy.load(file) == policy
        True
        """
        return cls(**parts_of_policy(read_document(path)))

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """A row for each group: its curve, and what it does on the people of the fit."""
        every = zip(self.groups, self.group_curves, self.certificate.reached, strict=True)
        rows = [(group, kind_of(c), c.t0, c.t1, c.p, c.lipschitz, point.fpr, point.tpr) for group, c, point in every]
        names = ("group", "curve", "t0", "t1", "p", "lipschitz", "fpr", "tpr")
        if self.certificate.reviewed is None:
            return names, rows
        upper = zip(self.group_review_curves, self.certificate.reviewed.by_group.values(), strict=True)
        more = [(*row, w.t0, w.t1, share) for row, (w, share) in zip(rows, upper, strict=True)]
        return (*names, "review_t0", "review_t1", "reviewed"), more

    # -- in words ----------------------------------------------------------------------------------------------------

    @property
    def known(self) -> str:
        """The groups in quotes, since keys may contain commas; not more than a person reads."""
        shown = ", ".join(repr(group) for group in self.groups[:_MANY])
        return shown + (f", ... ({len(self.groups)} in all)" if len(self.groups) > _MANY else "")

    def check_orientation(self, orientation: Orientation) -> None:
        """Refuse data whose scores point the other way."""
        if orientation != self.orientation:
            msg = f"The policy has {self.orientation} orientation, the data {orientation}."
            raise DataError(msg)

    def check_knows(self, groups: Sequence[str]) -> None:
        """Refuse groups that the policy does not know."""
        unknown = [group for group in groups if group not in self.curves]
        if unknown:
            raise UnknownGroupError(self.unknown(unknown))

    def unknown(self, groups: Sequence[str]) -> str:
        """What to say of groups that the policy does not know."""
        shown = ", ".join(repr(key) for key in groups[:5]) + (", ..." if len(groups) > 5 else "")  # noqa: PLR2004
        return f"The policy does not know the group {shown}. Known: {self.known}.{self.in_another_order(groups)}"

    def in_another_order(self, groups: Sequence[str]) -> str:
        """A hint, where groups that are not known would be if their columns came in another order."""
        for group in groups:
            known = reordered(group, self.curves)
            if known is not None:
                return f" Hint: it knows {known!r}; give the group's columns in the order of the fit."
        return ""

    def _checked_codes(self, codes: ArrayLike | None) -> Codes:
        numbers = array_of(codes)
        if numbers.dtype.kind not in "iu" and numbers.size:
            msg = f"codes must be integers, positions in policy.groups; got {numbers.dtype}."
            raise DataError(msg)
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < len(self.groups)):
            bad = numbers[(numbers < 0) | (numbers >= len(self.groups))].flat[0]
            msg = f"The policy does not know the group with code {bad}. Known: 0 to {len(self.groups) - 1}."
            raise UnknownGroupError(msg)
        return numbers

    def __repr__(self) -> str:
        n, steep = len(self.groups), self.steepest
        hard = self.certificate.curve == "threshold"
        families = ", ".join(dict.fromkeys("threshold" if hard else curve.family for curve in self.group_curves))
        return (
            f"Policy({n} group{'s' * (n > 1)}, {families}, loss {self.certificate.loss:.3g}, "
            f"largest slope {self.treatments[steep].lipschitz:.4g} ({steep}){self._reviewed})"
        )

    @property
    def _reviewed(self) -> str:
        reviewed = self.certificate.reviewed
        return f", {reviewed.everybody:.4g} reviewed" if reviewed else ""

    def __str__(self) -> str:
        lines = [repr(self), self.certificate.summary, str(self.certificate)]
        for group, curve in list(self.curves.items())[:_MANY]:
            upper = self.review_curves.get(group)
            told = describe(curve) if upper is None else f"yes {describe(curve)}; yes or review {describe(upper)}"
            lines.append(f"  {group}: {told}")
        if len(self.groups) > _MANY:
            lines.append(f"  ... and {len(self.groups) - _MANY} groups more")
        return "\n".join(lines)


def check_policy(policy: object) -> None:
    """Refuse what is no policy."""
    if not isinstance(policy, Policy):
        msg = f"The first argument must be a Policy, got {type(policy).__name__}. Hint: evenodds.fit(joint) makes one."
        raise OptionError(msg)


def check_no_review(policy: Policy, what: str, hint: str) -> None:
    """Refuse a policy with reviews where only the odds of a yes would be looked at."""
    if policy.review is not None:
        msg = f"{what} is about one curve a group, and this policy has reviews between two. Hint: {hint}."
        raise OptionError(msg)


def describe(curve: Curve) -> str:
    """A curve in words.

    >>> describe(Curve("linear", 20, 60, 0.5)), describe(Curve("fixed", 30, 30, 0))
    ('linear from 20 to 60, p 0.5, slope at most 0.025', 'single threshold at 30: the odds jump from 0 to 1')
    >>> describe(Curve.mixed([(0.25, Curve("cubic", 10, 20, 0.5)), (0.75, Curve("cubic", 20, 40, 0.5))]))
    'mix of two cubic curves: 0.25 from 10 to 20, 0.75 from 20 to 40, slope at most 0.05625'
    """
    if curve.is_constant:
        return f"odds {curve.p:.4g} for everybody"
    if curve.is_threshold:
        return f"single threshold at {curve.t0:g}: the odds jump from 0 to 1"
    if curve.nodes is not None:
        ends = f"from {curve.nodes[0][1]:.4g} at {curve.t0:.6g} to {curve.nodes[-1][1]:.4g} at {curve.t1:.6g}"
        count = len(curve.nodes) - 1
        return f"{count} straight line{'s' * (count > 1)} {ends}, slope at most {curve.lipschitz:.4g}"
    slope = "the odds jump" if np.isinf(curve.lipschitz) else f"slope at most {curve.lipschitz:.4g}"
    if curve.parts:
        told = ", ".join(f"{share:.4g} {_where(part)}" for share, part in curve.parts)
        return f"{kind_of(curve)}: {told}, {slope}"
    return f"{curve.family} from {curve.t0:.6g} to {curve.t1:.6g}, p {curve.p:.4g}, {slope}"


def kind_of(curve: Curve) -> str:
    """What a curve is, in a word or two.

    >>> kind_of(Curve("linear", 20, 60, 0.5))
    'linear'
    """
    if curve.is_threshold:
        return "threshold"
    if not curve.parts:
        return curve.family
    hard = all(part.is_threshold for _, part in curve.parts)
    return "mix of two " + ("thresholds" if hard else f"{curve.family} curves")


def _where(part: Curve) -> str:
    return f"at {part.t0:.6g}" if part.is_threshold else f"from {part.t0:.6g} to {part.t1:.6g}"
