"""Values that are checked when they come in, and cannot be changed once they are out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, TypeVar

from evenodds.errors import OptionError

__all__ = [
    "Frozen",
    "PickledByFields",
    "check_made_by",
    "confidence_of",
    "flag_of",
    "names_of",
    "number_of",
    "number_or_infinity",
    "rounded_up",
    "whole_number_of",
]

_ROUNDING = 1e-9  # of a unit in the last digit
_NUMPYS_BOOLEANS = {("numpy", "bool"), ("numpy", "bool_")}  # told by name, since numpy is not loaded here

K = TypeVar("K")
V = TypeVar("V")


class Frozen(Mapping[K, V]):
    """A dictionary that cannot be changed, and can be compared, copied and pickled.

    >>> Frozen({"a": 1})
    {'a': 1}
    """

    __slots__ = ("_held",)

    def __init__(self, items: Mapping[K, V]) -> None:
        self._held = dict(items)

    def __getitem__(self, key: K) -> V:
        return self._held[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return repr(self._held)

    def __hash__(self) -> int:
        return hash(tuple(self._held.items()))


class PickledByFields:
    """A dataclass that is pickled as what it was made of; all else is computed again where it is asked for."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


def number_of(
    name: str, value: object, allowed: str, *, low: float = -math.inf, high: float = math.inf, above: bool = False
) -> float:
    """A finite number from `low` (or only above it) to `high`, of Python or numpy, but no truth value.

    >>> number_of("tolerance", 2, "from 0 to 1", low=0, high=1)
    Traceback (most recent call last):
    ...
    evenodds.errors.OptionError: tolerance=2 is not allowed. Allowed: from 0 to 1.
    """
    try:
        number = float(value) if not isinstance(value, bool) and isinstance(value, (Real, Decimal)) else math.nan
    except (OverflowError, TypeError, ValueError):  # too large; numpy's spans of time; a NaN that signals
        number = math.nan
    if not math.isfinite(number) or not low <= number <= high or (above and number == low):
        msg = f"{name}={_shown(value)} is not allowed. Allowed: {allowed}."
        raise OptionError(msg)
    return number


def number_or_infinity(name: str, value: object) -> float:
    """A number of Python or numpy that may be infinite, but not NaN, and no truth value.

    >>> number_or_infinity("t0", float("-inf"))
    -inf
    """
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    except OverflowError:
        msg = f"{name} is too large for floating-point numbers."
        raise OptionError(msg) from None
    if math.isnan(number):
        msg = f"{name} must be a number, got {value!r}."
        raise OptionError(msg)
    return number


def confidence_of(value: object) -> float:
    """A confidence in a promise, checked."""
    allowed = "a number above 0.5 and below 1, such as 0.95"
    confidence = number_of("confidence", value, allowed, low=0.5, high=1.0, above=True)
    if confidence == 1:
        msg = f"confidence=1 is not allowed. Allowed: {allowed}."
        raise OptionError(msg)
    return confidence


def whole_number_of(name: str, value: object, *, least: int = 0) -> int:
    """A whole number from `least` on."""
    if not isinstance(value, bool) and isinstance(value, Integral) and hasattr(value, "__index__"):  # no span of time
        number = int(value)
        if number >= least:
            return number
    msg = f"{name}={_shown(value)} is not allowed. Allowed: a whole number from {least} on."
    raise OptionError(msg)


def check_made_by(value: object, kind: type | tuple[type, ...], maker: str) -> None:
    """Refuse a first argument that is not what a function of ours returns.

    >>> check_made_by(0.5, Frozen, "evenodds.audit")
    Traceback (most recent call last):
    ...
    evenodds.errors.OptionError: The first argument must be what evenodds.audit returns, got float.
    """
    if not isinstance(value, kind):
        msg = f"The first argument must be what {maker} returns, got {type(value).__name__}."
        raise OptionError(msg)


def names_of(name: str, value: object) -> list[str]:
    """Names in their order; a text is one of them, and not its letters.

    >>> names_of("columns", ("race", "sex")), names_of("columns", "race")
    (['race', 'sex'], ['race'])
    """
    if isinstance(value, str):
        return [value]
    if isinstance(value, (bytes, Mapping)) or not isinstance(value, Iterable):
        msg = f"{name}={_shown(value)} is not allowed. Allowed: a sequence of names."
        raise OptionError(msg)
    return [str(item) for item in value]


def flag_of(name: str, value: object) -> bool:
    """A truth value of Python or numpy, and nothing that might be taken for one.

    >>> flag_of("keep_individual_odds", "no")
    Traceback (most recent call last):
    ...
    evenodds.errors.OptionError: keep_individual_odds='no' is not allowed. Allowed: True or False.
    """
    kind = type(value)
    if kind is not bool and (kind.__module__, kind.__name__) not in _NUMPYS_BOOLEANS:
        msg = f"{name}={_shown(value)} is not allowed. Allowed: True or False."
        raise OptionError(msg)
    return bool(value)


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # a number of more digits than Python prints
        return "a number of thousands of digits"
    return text if len(text) <= 80 else f"{text[:77]}..."  # noqa: PLR2004 a line


def rounded_up(value: float) -> float:
    """A number to four digits, and no less: what is enough.

    >>> rounded_up(0.0123411), rounded_up(0.25), rounded_up(0.0)
    (0.01235, 0.25, 0.0)
    """
    if value <= 0:
        return 0.0
    digits = 3 - math.floor(math.log10(value))
    return float(f"{math.ceil(value * 10.0**digits - _ROUNDING) / 10.0**digits:.4g}")
