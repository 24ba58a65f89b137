"""The target of an estimator: its two classes, which of them is the yes, and how much each row counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.errors import DataError, OptionError
from evenodds.geometry.pieces import Floats
from evenodds.model.columns import check_amounts, numbers_of

__all__ = ["check_known_classes", "classes_of", "weights_of"]

_CLASSES = 2


def classes_of(
    y: NDArray[np.generic], sample_weight: ArrayLike | None, positive_label: object, *, has_estimator: bool
) -> tuple[NDArray[np.generic], int]:
    """The classes, sorted, and the place of the positive one; two of them must be in rows that count."""
    classes = np.unique(y)
    if classes.size > _CLASSES:
        msg = (
            "Only binary classification is supported. The type of the target is multiclass: "
            f"{classes.size} classes, such as {', '.join(repr(c) for c in classes[:3].tolist())}."
        )
        raise DataError(msg)
    counted = classes if sample_weight is None else np.unique(y[weights_of(sample_weight, y.size) > 0])
    if counted.size < _CLASSES:
        msg = f"y has 1 class only, {counted.tolist()!r}, in rows that count; two are needed."
        raise DataError(msg)
    words = " and ".join(repr(c) for c in classes.tolist())
    if positive_label is not None:
        if positive_label not in classes.tolist():
            msg = f"positive_label={positive_label!r} does not occur in y, which has {words}."
            raise OptionError(msg)
        return classes, classes.tolist().index(positive_label)
    if not has_estimator and classes.dtype.kind not in "biuf":
        msg = f"y has the classes {words}, and nothing says which is the yes. Hint: positive_label= names it."
        raise OptionError(msg)
    return classes, 1


def check_known_classes(known: ArrayLike | None, classes: NDArray[np.generic]) -> None:
    """Refuse an estimator that was fitted on other classes than those of y, since its scores speak for its own."""
    if known is not None and set(np.asarray(known).tolist()) != set(classes.tolist()):
        msg = (
            f"The estimator knows the classes {np.asarray(known).tolist()}, and y has {classes.tolist()}. "
            "Hint: give y in the estimator's own words."
        )
        raise OptionError(msg)


def weights_of(sample_weight: ArrayLike, rows: int) -> Floats:
    """The weights of as many rows, none of them negative, and not all of them zero."""
    weights = numbers_of("sample_weight", sample_weight)
    if weights.size != rows:
        msg = f"y and sample_weight have different lengths: {rows} and {weights.size}."
        raise DataError(msg)
    check_amounts("sample_weight", weights)
    if not weights.any():
        msg = "sample_weight is zero for every row, so nobody counts."
        raise DataError(msg)
    return weights
