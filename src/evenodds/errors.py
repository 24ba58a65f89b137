"""Every exception and warning of evenodds.

::

    ValueError
    └── EvenoddsError            whatever evenodds refuses
        ├── DataError            the table: scores, groups, labels, weights, lengths
        ├── MissingPackageError  an optional package that is not installed (also an ImportError)
        ├── OptionError          an option's name or value, or two options that conflict
        ├── UnknownGroupError    a group that the policy does not know
        └── UnreachableError     a target that a group cannot reach

    UserWarning
    └── EvenoddsWarning          an answer was given, but look at it twice

A message says what is wrong, the value that was got, what is allowed, and ends in a hint where there is one to give.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

__all__ = [
    "DataError",
    "EvenoddsError",
    "EvenoddsWarning",
    "MissingPackageError",
    "OptionError",
    "UnknownGroupError",
    "UnreachableError",
    "did_you_mean",
    "one_of",
]


_ALIKE = 0.6  # of difflib's ratio: letters that two words have in common


class EvenoddsError(ValueError):
    """The base of every error that evenodds raises on purpose.

    It is also a ValueError. Its message says what is wrong, the value got, what is allowed, and often a hint.

    >>> import evenodds as eo
    >>> try:
    ...     eo.fit(eo.datasets.credit_risk(), tolerance=2)
    ... except eo.EvenoddsError as error:
    ...     print(error)
    tolerance=2 is not allowed. Allowed: from 0 to 1, the largest difference between two groups.
    """


class DataError(EvenoddsError):
    """The data cannot be used as they are."""


class MissingPackageError(EvenoddsError, ImportError):
    """A package that only some uses need is not installed; the message has the command that installs it."""


class OptionError(EvenoddsError):
    """An option has a value that is not allowed, or conflicts with another option."""


class UnknownGroupError(EvenoddsError):
    """A group was asked for that the policy was not fitted on."""


class UnreachableError(EvenoddsError):
    """A group cannot reach the point asked for with the curve asked for."""


class EvenoddsWarning(UserWarning):
    """An answer was given, but the data behind it deserve a second look."""


def one_of(name: str, value: object, allowed: Iterable[str], elsewhere: Mapping[str, str] | None = None) -> str:
    """Return `value` if it is one of the `allowed` words, else raise an error that offers the nearest one.

    `elsewhere` has words of other packages, and what is nearest to them here; nothing where nothing is.

    >>> one_of("curve", "linaer", ["fixed", "linear"])
    Traceback (most recent call last):
    ...
    evenodds.errors.OptionError: curve='linaer' is not known. Allowed: fixed, linear. Hint: did you mean 'linear'?
    """
    words = list(allowed)
    if isinstance(value, str) and value in words:
        return value
    other = (elsewhere or {}).get(str(value).lower())
    hint = did_you_mean(value, words) if other is None else f" Hint: the nearest here is {other!r}." if other else ""
    msg = f"{name}={value!r} is not known. Allowed: {', '.join(words)}.{hint}"
    raise OptionError(msg)


def did_you_mean(values: object, words: Iterable[str], *, alike: float = _ALIKE) -> str:
    """A hint that offers the word nearest to a value, or to each of a list, whatever its case; empty if none is near.

    >>> did_you_mean("Race", ["race", "sex"])
    " Hint: did you mean 'race'?"
    >>> did_you_mean(["Race", "age", "sexx"], ["race", "sex"])
    " Hint: did you mean 'race' and 'sex'?"
    """
    by_lower = {str(word).lower(): word for word in words}
    every = values if isinstance(values, list) else [values]
    nearest = [difflib.get_close_matches(str(value).lower(), by_lower, n=1, cutoff=alike) for value in every]
    meant = list(dict.fromkeys(repr(by_lower[one[0]]) for one in nearest if one))
    return f" Hint: did you mean {' and '.join(meant)}?" if meant else ""
