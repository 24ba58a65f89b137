"""Folds that give each row one score from a model that has not seen it: what was asked, and checked splits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError, OptionError

__all__ = ["FOLDS", "check_enough_for", "checked_splits", "folds_of", "is_word"]

Rows = NDArray[np.integer[Any]]
FOLDS = 5  # unless another number is asked for
_FEWEST = 2
_PAIR = 2
_ONCE = "Each row must be tested once, by a model that was fitted without it. Hint: KFold's kind does that."


def is_word(given: Any, word: str) -> bool:
    """Whether an option is a word; it may be an array, which compares element by element."""
    return isinstance(given, str) and given == word


def folds_of(cv: Any, *, has_estimator: bool, prefit: bool, prefit_asked: bool) -> Any:
    """What splits the rows, or None where nothing does; refuse what contradicts itself.

    `prefit` says whether the estimator is fitted already, and `prefit_asked` whether the option of that name says so.
    """
    asked = not (cv is None or is_word(cv, "prefit") or (isinstance(cv, int) and cv == FOLDS))
    if not has_estimator and (prefit or asked):
        word = _shown(cv) if asked or not prefit_asked else "prefit=True"
        msg = f"{word} is about an estimator, got None. Hint: with estimator=None X is the score; drop it."
        raise OptionError(msg)
    if prefit and asked:
        msg = f"{_shown(cv)} fits the estimator, which is fitted already. Hint: drop cv, or prefit."
        raise OptionError(msg)
    is_number = isinstance(cv, (int, np.integer))
    known = cv is None or is_number or hasattr(cv, "split")
    if not (known or isinstance(cv, Iterable)) or (isinstance(cv, str) and cv != "prefit"):
        msg = f"cv={cv!r} is not allowed. Allowed: a number of folds, a splitter, splits, 'prefit', or None."
        raise OptionError(msg)
    if isinstance(cv, bool) or (is_number and cv < _FEWEST):
        msg = f"cv={cv!r} is not allowed. Allowed: 2 folds or more, a splitter, splits, 'prefit', or None."
        raise OptionError(msg)
    return cv if has_estimator and not prefit else None


def _shown(cv: Any) -> str:
    """What was given as cv, for a message: splits are whole arrays, which nobody reads."""
    words = repr(cv)
    return f"cv={words}" if hasattr(cv, "split") or isinstance(cv, (str, int, float)) else f"cv=<{type(cv).__name__}>"


def check_enough_for(folds: int, strata: NDArray[Any], keys: Sequence[str]) -> None:
    """Refuse groups of which there are fewer negatives or positives than folds."""
    strata, counts = np.unique(strata, return_counts=True)
    least = int(np.argmin(counts))
    people = int(counts[least])
    if people < folds:
        who = f"{'positive' if strata[least] % 2 else 'negative'}{'s' * (people > 1)}"
        fewer = f"cv={people}, or " if people > 1 else ""
        msg = (
            f"Group {keys[strata[least] // 2]!r} has {people} {who}, fewer than the {folds} folds of cv={folds}. "
            f"Hint: {fewer}merge the group with another, or scores from a model that was fitted on other rows "
            "(prefit=True)."
        )
        raise DataError(msg)


def checked_splits(cv: Any, X: Any, y: NDArray[Any], labels: NDArray[np.bool_]) -> list[tuple[Rows, Rows]]:  # noqa: N803
    """Splits into rows to fit on and rows to score; refuse those that leave a row out or score one twice."""
    splits = [_split(split, i, labels.size, cv) for i, split in enumerate(_given_splits(cv, X, y), 1)]
    if not splits:
        hint = "an iterator has its splits once only: give list(...) of it" if hasattr(cv, "__next__") else "cv=5"
        msg = f"{_shown(cv)} has no splits. Hint: {hint}."
        raise OptionError(msg)
    times = np.bincount(np.concatenate([test for _, test in splits]), minlength=labels.size)
    for wrong, how in ((times == 0, "in no split"), (times > 1, "in more than one split")):
        if wrong.any():
            msg = (
                f"{_shown(cv)} does not test every row once: {int(wrong.sum()):,} of {labels.size:,} rows are tested "
                f"{how} (first at position {int(wrong.argmax())}). {_ONCE}"
            )
            raise OptionError(msg)
    for i, (train, test) in enumerate(splits, 1):
        both = np.intersect1d(train, test)
        if both.size:
            msg = f"Split {i} of {_shown(cv)} tests {both.size:,} rows that it fits on. {_ONCE}"
            raise OptionError(msg)
        if not 0 < labels[train].sum() < train.size:
            fits = "1 class only" if train.size else "no rows"
            msg = f"Split {i} of {_shown(cv)} fits on {fits}. Hint: shuffle=True, or cv=5, which is by label and group."
            raise OptionError(msg)
    return splits


def _given_splits(cv: Any, X: Any, y: NDArray[Any]) -> list[Any]:  # noqa: N803 scikit-learn's name
    """What a splitter makes of the rows, or the splits themselves."""
    try:
        return list(cv.split(X, y) if hasattr(cv, "split") else cv)
    except (TypeError, ValueError) as reason:
        hint = ""
        if "groups" in str(reason):
            name = type(cv).__name__
            hint = f" Hint: cv=list({name}(...).split(X, y, groups)), with whatever these folds shall keep together."
        msg = f"{_shown(cv)} does not split these rows: {str(reason).rstrip('.')}.{hint}"
        raise OptionError(msg) from reason


def _split(split: Any, i: int, rows: int, cv: Any) -> tuple[Rows, Rows]:
    """One split as arrays of positions."""
    try:
        parts = [np.asarray(part) for part in split]
    except (TypeError, ValueError):
        parts = []
    parts = [part.astype(np.intp) if not part.size else part for part in parts]
    if len(parts) != _PAIR or any(part.ndim != 1 or part.dtype.kind not in "iu" for part in parts):
        msg = (
            f"Split {i} of {_shown(cv)} is {split!r:.60}. Allowed: two arrays of whole numbers, the positions of the "
            "rows to fit on and of those to test. Hint: np.flatnonzero makes positions of a mask."
        )
        raise OptionError(msg)
    for part in parts:
        outside = part[(part < 0) | (part >= rows)]
        if outside.size:
            msg = f"Split {i} of {_shown(cv)} has position {int(outside[0])}. Allowed: 0 to {rows - 1}, the rows of X."
            raise OptionError(msg)
    return parts[0], parts[1]
