"""A mix of two curves of one family: what its parts may be, and what their sum is by them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from evenodds.errors import OptionError
from evenodds.model.families import CONTINUOUS, family_of
from evenodds.values import number_or_infinity

if TYPE_CHECKING:
    from evenodds.model.curves import Curve

__all__ = ["Parts", "are_the_same", "check_sum", "checked", "ends_and_mean"]

_SAME = 1e-9  # sums and means nearer than this say the same
_MIXED = ", ".join(CONTINUOUS[:-1]) + " or " + CONTINUOUS[-1]
_HINT = " Hint: Curve.mixed(((share, curve), (share, curve))) makes a mix."

Parts: TypeAlias = "tuple[tuple[float, Curve], tuple[float, Curve]]"


def checked(given: object, kind: type[Curve]) -> Parts:
    """Two shares and the curves they are of, if these can be mixed."""
    if not _are_pairs(given, kind):
        msg = f"parts={given!r} is not allowed. Allowed: two pairs of a share and a curve.{_HINT}"
        raise OptionError(msg)
    (first, one), (second, other) = given
    first, second = number_or_infinity("A share", first), number_or_infinity("A share", second)
    if not (0 <= first <= 1 and 0 <= second <= 1 and abs(first + second - 1) <= _SAME):
        msg = f"The shares of a mix must be from 0 to 1, and sum to 1; got {first!r} and {second!r}."
        raise OptionError(msg)
    for part in (one, other):
        if part.parts or part.is_constant or not family_of(part.family).has_path:
            got = "a mix" if part.parts else "constant" if part.is_constant else part.family
            msg = f"The parts of a mix must be single {_MIXED} curves or thresholds of such a family, got {got}."
            raise OptionError(msg)
    if (one.family, one.orientation) != (other.family, other.orientation):
        got = " and ".join(f"{part.family} ({part.orientation})" for part in (one, other))
        msg = f"The parts of a mix must be of one family and orientation, got {got}."
        raise OptionError(msg)
    return (first, one), (second, other)


def _are_pairs(given: object, kind: type[Curve]) -> TypeGuard[Sequence[tuple[object, Curve]]]:
    return (
        isinstance(given, Sequence)
        and [len(part) if isinstance(part, Sequence) else 0 for part in given] == [2, 2]
        and all(isinstance(curve, kind) for _, curve in given)
    )


def are_the_same(one: Curve, other: Curve) -> bool:
    """Whether two curves give the same odds; a threshold's p says nothing."""
    return one == other or (one.is_threshold and other.is_threshold and one.t0 == other.t0)


def ends_and_mean(parts: Parts) -> tuple[float, float, float]:
    """A mix's t0, t1 and p."""
    ends = [part.upward for _, part in parts]
    start, stop = min(t0 for t0, _ in ends), max(t1 for _, t1 in ends)
    # Beyond its own t1 a part has odds of 1.
    area = sum(share * (part.area + (stop - t1)) for (share, part), (_, t1) in zip(parts, ends, strict=True))
    own = parts[0][1].scale.own
    return own(start), own(stop), min(1.0, area / (stop - start)) if math.isfinite(stop - start) else 0.0


def check_sum(mix: Curve) -> None:
    """Refuse a mix that is not the sum of its parts."""
    if not mix.parts:
        return
    (first, one), (second, other) = mix.parts
    if not 0 < first < 1 or second != 1 - first:
        msg = f"The shares of a mix must be above 0, and sum to exactly 1; got {first!r} and {second!r}.{_HINT}"
        raise OptionError(msg)
    if (one.family, one.orientation) != (mix.family, mix.orientation) or are_the_same(one, other):
        msg = f"The parts of this mix must be two different {mix.family} curves ({mix.orientation}).{_HINT}"
        raise OptionError(msg)
    t0, t1, p = ends_and_mean(mix.parts)
    if (t0, t1) != (mix.t0, mix.t1) or abs(p - mix.p) > _SAME:
        got = f"t0={mix.t0!r}, t1={mix.t1!r} and p={mix.p:g}"
        msg = f"The parts of this mix run from {t0!r} to {t1!r} with mean odds of {p:g}, got {got}.{_HINT}"
        raise OptionError(msg)
