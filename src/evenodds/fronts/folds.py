"""Folds that give each row one score from a model that has not seen it: checked before anything is fitted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError, OptionError

__all__ = ["check_enough_for", "checked_splits", "told_cv"]

Rows = NDArray[np.integer[Any]]
_PAIR = 2
_ONCE = "Each row must be tested once, by a model that was fitted without it. Hint: KFold's kind does that."


def told_cv(cv: Any) -> str:
    """What was given as cv, for a message: splits are whole arrays, which nobody reads."""
    words = repr(cv)
    return f"cv={words}" if hasattr(cv, "split") or isinstance(cv, (str, int, float)) else f"cv=<{type(cv).__name__}>"


def check_enough_for(folds: int, strata: NDArray[Any], keys: Sequence[str]) -> None:
    """Refuse groups of which there are fewer negatives or positives than folds."""
    found, counts = np.unique(strata, return_counts=True)
    least = int(np.argmin(counts))
    people = int(counts[least])
    if people < folds:
        who = f"{'positive' if found[least] % 2 else 'negative'}{'s' * (people > 1)}"
        fewer = f"cv={people}, or " if people > 1 else ""
        msg = (
            f"Group {keys[found[least] // 2]!r} has {people} {who}, fewer than the {folds} folds of cv={folds}. "
            f"Hint: {fewer}merge the group with another, or scores from a model that was fitted on other rows "
            "(prefit=True)."
        )
        raise DataError(msg)


def checked_splits(given: Iterable[Any], labels: NDArray[np.bool_], cv: Any) -> list[tuple[Rows, Rows]]:
    """Splits into rows to fit on and rows to score; refuse those that leave a row out or score one twice."""
    splits = [_split(split, i, labels.size, cv) for i, split in enumerate(given, 1)]
    if not splits:
        hint = "an iterator has its splits once only: give list(...) of it" if hasattr(cv, "__next__") else "cv=5"
        msg = f"{told_cv(cv)} has no splits. Hint: {hint}."
        raise OptionError(msg)
    times = np.bincount(np.concatenate([test for _, test in splits]), minlength=labels.size)
    for wrong, how in ((times == 0, "in no split"), (times > 1, "in more than one split")):
        if wrong.any():
            msg = (
                f"{told_cv(cv)} does not test every row once: {int(wrong.sum()):,} of {labels.size:,} rows are tested "
                f"{how} (first at position {int(wrong.argmax())}). {_ONCE}"
            )
            raise OptionError(msg)
    for i, (train, test) in enumerate(splits, 1):
        both = np.intersect1d(train, test)
        if both.size:
            msg = f"Split {i} of {told_cv(cv)} tests {both.size:,} rows that it fits on. {_ONCE}"
            raise OptionError(msg)
        if not 0 < labels[train].sum() < train.size:
            fits = "1 class only" if train.size else "no rows"
            msg = (
                f"Split {i} of {told_cv(cv)} fits on {fits}. Hint: shuffle=True, or cv=5, which is by label and group."
            )
            raise OptionError(msg)
    return splits


def _split(split: Any, i: int, rows: int, cv: Any) -> tuple[Rows, Rows]:
    """One split as arrays of positions."""
    try:
        parts = [np.asarray(part) for part in split]
    except (TypeError, ValueError):
        parts = []
    parts = [part.astype(np.intp) if not part.size else part for part in parts]
    if len(parts) != _PAIR or any(part.ndim != 1 or part.dtype.kind not in "iu" for part in parts):
        msg = (
            f"Split {i} of {told_cv(cv)} is {split!r:.60}. Allowed: two arrays of whole numbers, the positions of the "
            "rows to fit on and of those to test. Hint: np.flatnonzero makes positions of a mask."
        )
        raise OptionError(msg)
    for part in parts:
        outside = part[(part < 0) | (part >= rows)]
        if outside.size:
            msg = f"Split {i} of {told_cv(cv)} has position {int(outside[0])}. Allowed: 0 to {rows - 1}, the rows of X."
            raise OptionError(msg)
    return parts[0], parts[1]
