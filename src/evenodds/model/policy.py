"""The answer: a curve for each group, and what is known about them. Immutable and comparable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from evenodds.errors import DataError, OptionError, UnknownGroupError
from evenodds.geometry.pieces import Floats
from evenodds.model.certificate import Certificate
from evenodds.model.curves import Curve
from evenodds.model.joint import Group, Orientation
from evenodds.model.keys import Codes, GroupLike, encode, key_of
from evenodds.model.regions import Point

__all__ = ["Policy", "describe", "odds_of", "rates_of"]


_MANY = 20  # groups that are listed one by one


def odds_of(curve: Curve, group: Group) -> Floats:
    """The odds at a group's scores, in the group's own order."""
    return curve(group.scores if curve.orientation == "positive" else -group.scores)


def rates_of(curve: Curve, group: Group) -> Point:
    """(FPR, TPR) of a curve for a group, summed directly over the group's scores."""
    fpr, tpr = group.shares @ odds_of(curve, group)
    return Point(float(fpr), float(tpr))


@dataclass(frozen=True)
class Policy:
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

    @property
    def curves(self) -> Mapping[str, Curve]:
        """Each group's curve."""
        return MappingProxyType(dict(zip(self.groups, self.group_curves, strict=True)))

    @property
    def steepest(self) -> str:
        """The group with the largest L_R."""
        return max(self.groups, key=lambda group: self.curves[group].lipschitz)

    def odds(self, score: ArrayLike, group: GroupLike | None = None, *, codes: ArrayLike | None = None) -> Floats:
        """The odds of a yes.

        Parameters
        ----------
        score : array
            Finite scores, on the scale of the data that the policy was fitted on.
        group : one value for all scores, an array of as many values, or several columns
            Known groups only: an unknown one is an error, never odds of 0.
        codes : array of integers, instead of `group`
            Positions in `policy.groups`; faster.
        """
        try:
            scores = np.asarray(score, dtype=np.float64)
        except (TypeError, ValueError):
            msg = "score must be numbers."
            raise DataError(msg) from None
        if not np.isfinite(scores).all():
            bad = np.flatnonzero(~np.isfinite(scores))
            msg = f"score has {bad.size} NaN or infinite value{'s' * (bad.size > 1)} (first at position {bad[0]})."
            raise DataError(msg)
        if (group is None) == (codes is None):
            msg = f"Give group or codes, one of them; got {'neither' if group is None else 'both'}."
            raise OptionError(msg)
        numbers = self._codes_of(group) if group is not None else self._checked_codes(codes)
        try:
            scores, numbers = np.broadcast_arrays(scores, numbers)
        except ValueError:
            msg = f"score and group have different lengths: {np.shape(score)} and {numbers.shape}."
            raise DataError(msg) from None
        odds = np.empty(scores.shape)
        for number, curve in enumerate(self.group_curves):
            own = numbers == number
            odds[own] = curve(scores[own])
        return odds

    def _codes_of(self, group: GroupLike) -> Codes:
        if isinstance(group, tuple) and key_of(group) in self.groups:
            group = key_of(group)  # one group of several columns
        scalar = isinstance(group, (str, bytes)) or np.ndim(group) == 0
        codes, keys = encode([group] if scalar else group)
        position = {key: i for i, key in enumerate(self.groups)}
        unknown = [key for key in keys if key not in position]
        if unknown:
            shown = ", ".join(repr(key) for key in unknown[:5]) + (", ..." if len(unknown) > 5 else "")  # noqa: PLR2004
            msg = f"The policy does not know the group {shown}. Known: {_listed(self.groups)}."
            raise UnknownGroupError(msg)
        known = np.array([position[key] for key in keys], dtype=np.intp)[codes]
        return known[0] if scalar else known

    def _checked_codes(self, codes: ArrayLike | None) -> Codes:
        numbers = np.asarray(codes)
        if numbers.dtype.kind not in "iu" and numbers.size:
            msg = f"codes must be integers, positions in policy.groups; got {numbers.dtype}."
            raise DataError(msg)
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < len(self.groups)):
            bad = numbers[(numbers < 0) | (numbers >= len(self.groups))].flat[0]
            msg = f"The policy does not know the group with code {bad}. Known: 0 to {len(self.groups) - 1}."
            raise UnknownGroupError(msg)
        return numbers.astype(np.intp, copy=False)

    def __repr__(self) -> str:
        n, steep = len(self.groups), self.steepest
        families = ", ".join(dict.fromkeys(curve.family for curve in self.group_curves))
        return (
            f"Policy({n} group{'s' * (n > 1)}, {families}, loss {self.certificate.loss:.3g}, "
            f"largest slope {self.curves[steep].lipschitz:.4g} ({steep}))"
        )

    def __str__(self) -> str:
        lines = [repr(self), str(self.certificate)]
        lines += [f"  {group}: {describe(curve)}" for group, curve in list(self.curves.items())[:_MANY]]
        if len(self.groups) > _MANY:
            lines.append(f"  ... and {len(self.groups) - _MANY} groups more")
        return "\n".join(lines)


def _listed(groups: tuple[str, ...]) -> str:
    """Keys in quotes, since they may contain commas; not more than a person reads."""
    shown = ", ".join(repr(group) for group in groups[:_MANY])
    return shown + (f", ... ({len(groups)} in all)" if len(groups) > _MANY else "")


def describe(curve: Curve) -> str:
    """A curve in words.

    >>> describe(Curve("linear", 20, 60, 0.5)), describe(Curve("fixed", 30, 30, 0))
    ('linear from 20 to 60, p 0.5, slope at most 0.025', 'single threshold at 30: the odds jump from 0 to 1')
    """
    if curve.is_constant:
        return f"odds {curve.p:.4g} for everybody"
    if curve.is_threshold:
        return f"single threshold at {curve.t0:g}: the odds jump from 0 to 1"
    if curve.nodes is not None:
        ends = f"from {curve.nodes[0][1]:.4g} at {curve.t0:.6g} to {curve.nodes[-1][1]:.4g} at {curve.t1:.6g}"
        return f"{len(curve.nodes) - 1} straight lines {ends}, slope at most {curve.lipschitz:.4g}"
    slope = "the odds jump" if np.isinf(curve.lipschitz) else f"slope at most {curve.lipschitz:.4g}"
    return f"{curve.family} from {curve.t0:.6g} to {curve.t1:.6g}, p {curve.p:.4g}, {slope}"
