"""The answer: a curve for each group, and what is known about them. Immutable and comparable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.errors import DataError, OptionError, UnknownGroupError, did_you_mean, one_of
from evenodds.files import placed
from evenodds.frames import array_of
from evenodds.geometry.pieces import Floats
from evenodds.geometry.piecewise import PiecewiseStack
from evenodds.model.certificate import Certificate
from evenodds.model.columns import floats_of
from evenodds.model.curves import Curve
from evenodds.model.description import describe, kind_of
from evenodds.model.keys import Codes, GroupLike, encode, get_indexer, key_of, other_columns
from evenodds.model.reviewed import Reviewing, Treatment, reviewed_share
from evenodds.model.reviewer import Review
from evenodds.model.scale import Orientation
from evenodds.model.storage import document_of, parts_of_policy, read_document, written
from evenodds.showing import Shown
from evenodds.values import Frozen, PickledByFields

__all__ = [
    "OUTCOMES",
    "Outcome",
    "Policy",
    "check_no_review",
    "check_policy",
]

Outcome = Literal["yes", "review", "no"]
OUTCOMES = ("yes", "review", "no")
_MANY = 20  # groups that are listed one by one


@dataclass(frozen=True)
class Policy(Shown, PickledByFields):
    """A curve for each group that turns a score into odds: the chance of a yes, from 0 to 1.

    Made by `fit`, or read from a file by `Policy.load`; it never changes. `print` shows what it does to each group and
    what is proven about it.

    See Also
    --------
    fit : Where policies come from.
    apply, decide : The odds of a data frame, and decisions for its rows.
    audit, report, explain : What it does to groups and to one person.
    plot.curves : A picture of it.
    to_python : The same as code without dependencies.

    Examples
    --------
    >>> import evenodds as eo
    >>> policy = eo.fit(eo.datasets.credit_risk())
    >>> policy.odds([25, 49.5], "white").round(3)
    array([0.359, 0.934])
    >>> policy
    Policy(4 groups, linear, loss 0.005, largest slope 0.1062 (black))
    >>> round(policy.curves["white"].lipschitz, 4)
    0.0235
    """

    groups: tuple[str, ...]
    """The groups' keys, sorted."""
    group_curves: tuple[Curve, ...]
    """The curve of each of `groups`; `curves` has them by key."""
    score_range: tuple[float, float]
    """The lowest and the highest score of the fit, of any group."""
    orientation: Orientation
    """"positive" where a higher score speaks for a yes, else "negative"."""
    certificate: Certificate
    """What was asked, what the curves do to the people of the fit, and what is proven about that."""
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
        score : number or array
            Finite scores, on the scale of the data that the policy was fitted on.
        group : one value for all scores, an array of as many values, or several columns
            Known groups only: an unknown one is an error, never odds of 0.
        codes : array of integers, instead of `group`
            Positions in `policy.groups`; faster.
        outcome : "yes", "review" or "no"
            With reviews "yes" and "no" are the automatic ones; nobody is reviewed by a policy without.

        Returns
        -------
        array
            Numbers from 0 to 1, one for each score.

        See Also
        --------
        apply : The same for a data frame, of any library.
        explain : One person's odds in words.

        Examples
        --------
        >>> import evenodds as eo
        >>> policy = eo.fit(eo.datasets.credit_risk())
        >>> policy.odds([25, 49.5, 25], ["white", "white", "black"]).round(3)
        array([0.359, 0.934, 1.   ])
        >>> policy.odds([25], "white", outcome="no").round(3)
        array([0.641])
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
        """The odds, and NaN where a code is negative or a score not finite: for those who count these rows.

        Parameters
        ----------
        score : array of floats
            Scores as they are.
        codes : array of integers
            Positions in `groups`; a negative one stands for no group, or for one that is not known.
        outcome : "yes", "review" or "no"
            As for `Policy.odds`.

        Returns
        -------
        array
            Numbers from 0 to 1, or NaN.
        """
        yes = self._stack.values(score, codes)
        if outcome == "yes":
            return yes
        if self.review is None:
            return np.asarray(0.0 * yes if outcome == "review" else 1 - yes)
        upper = self._review_stack.values(score, codes)
        review = np.where(np.isnan(yes), yes, reviewed_share(yes, upper))
        return review if outcome == "review" else np.asarray(1 - (yes + review))

    def codes_of(self, group: GroupLike) -> Codes:
        """Positions of groups in `groups`; an unknown one is an error.

        Parameters
        ----------
        group : one value, an array of values, or several columns
            As for `Policy.odds`.

        Returns
        -------
        array of integers
            To be given as `codes` to `odds`, where the same people are asked for again and again.
        """
        if isinstance(group, tuple) and key_of(group) in self.groups:
            group = key_of(group)  # one group of several columns
        scalar = isinstance(group, (str, bytes)) or (not hasattr(group, "__len__") and np.ndim(group) == 0)
        if scalar:
            group = [group]
        codes = get_indexer(group, self.groups)
        if codes.size and codes.min() < 0:
            _, keys = encode(group)  # refuses missing values
            self.check_knows(keys)
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
        """Write the policy to a file, as JSON; `Policy.load` gives it back to the last bit.

        A file that is there already stays until the new one is whole.

        Parameters
        ----------
        path : str or path
            Where to write, such as "policy.json". docs/policy-format.md says what is in it.

        See Also
        --------
        Policy.load : Read it again.
        to_python : The same as code without dependencies.
        """
        text = written(self.document)
        with placed(path) as file:
            file.write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Policy:
        """Read a policy from a file; a file that is cut off, changed or of a newer version is refused.

        Parameters
        ----------
        path : str or path
            A file that `Policy.save` or the command line wrote.

        Returns
        -------
        Policy
            Equal to the one that was saved.

        See Also
        --------
        Policy.save : Write one.

        Examples
        --------
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
        more = f", ... ({len(self.groups)} in all)" if len(self.groups) > _MANY else ""
        return ", ".join(map(repr, self.groups[:_MANY])) + more

    def check_orientation(self, orientation: Orientation) -> None:
        """Refuse data whose scores point the other way.

        Parameters
        ----------
        orientation : "positive" or "negative"
            That of the data.
        """
        if orientation != self.orientation:
            msg = f"The policy has {self.orientation} orientation, the data {orientation}."
            raise DataError(msg)

    def check_knows(self, groups: Sequence[str]) -> None:
        """Refuse groups that the policy does not know.

        Parameters
        ----------
        groups : sequence of str
            Keys as in `groups`.
        """
        unknown = [group for group in groups if group not in self.curves]
        if unknown:
            told = self.unknown(unknown)
            raise UnknownGroupError(told if "Hint: " in told else told + did_you_mean(unknown[0], self.curves))

    def unknown(self, groups: Sequence[str]) -> str:
        """What to say of groups that the policy does not know.

        Parameters
        ----------
        groups : sequence of str
            Their keys.

        Returns
        -------
        str
            A sentence that names them, and one that names those it knows.
        """
        shown = ", ".join(repr(key) for key in groups[:5]) + (", ..." if len(groups) > 5 else "")  # noqa: PLR2004
        hint = other_columns(groups, self.curves)
        return f"The policy does not know the group{'s' * (len(groups) > 1)} {shown}. Known: {self.known}.{hint}"

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
        reviewed = f", {self.certificate.reviewed.everybody:.4g} reviewed" if self.certificate.reviewed else ""
        families = ", ".join(dict.fromkeys("threshold" if hard else curve.family for curve in self.group_curves))
        return (
            f"Policy({n} group{'s' * (n > 1)}, {families}, loss {self.certificate.loss:.3g}, "
            f"largest slope {self.treatments[steep].lipschitz:.4g} ({steep}){reviewed})"
        )

    def __str__(self) -> str:
        lines = [repr(self), self.certificate.summary, str(self.certificate)]
        for group, curve in list(self.curves.items())[:_MANY]:
            upper = self.review_curves.get(group)
            shape = describe(curve) if upper is None else f"yes {describe(curve)}; yes or review {describe(upper)}"
            lines.append(f"  {group}: {shape}")
        if len(self.groups) > _MANY:
            lines.append(f"  ... and {len(self.groups) - _MANY} groups more")
        return "\n".join(lines)


def check_policy(policy: object, where: str = "The first argument") -> None:
    """Refuse what is no policy."""
    if not isinstance(policy, Policy):
        msg = f"{where} must be a Policy, got {type(policy).__name__}. Hint: evenodds.fit(joint) makes one."
        raise OptionError(msg)


def check_no_review(policy: Policy, what: str, hint: str) -> None:
    """Refuse a policy with reviews where only the odds of a yes would be looked at."""
    if policy.review is not None:
        msg = f"{what} is about one curve a group, and this policy has reviews between two. Hint: {hint}."
        raise OptionError(msg)
