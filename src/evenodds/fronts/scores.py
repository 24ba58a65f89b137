"""Scores for an estimator's people: X itself, or what another estimator says of it, higher for the positive class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError, OptionError
from evenodds.frames import array_of, columns_of
from evenodds.geometry.pieces import Floats
from evenodds.model.columns import numbers_of

__all__ = ["METHODS", "method_of", "only_column", "scores_of"]

METHODS = ("predict_proba", "decision_function", "predict")  # in the order in which "auto" tries them


def method_of(estimator: Any, predict_method: str) -> str:
    """What to ask the estimator for."""
    wanted = METHODS if predict_method == "auto" else (predict_method,)
    method = next((name for name in wanted if hasattr(estimator, name)), None)
    if method is None:
        msg = f"{type(estimator).__name__} has no {' and no '.join(wanted)}."
        raise OptionError(msg)
    return method


def scores_of(answers: NDArray[Any], method: str, classes: Any, positive: object, *, predicts_classes: bool) -> Floats:
    """What an estimator of some classes answered to a method, as numbers that are higher for the positive class."""
    column = int(np.flatnonzero(np.asarray(classes) == positive)[0])
    if method == "predict_proba":
        return np.asarray(answers[:, column], dtype=np.float64)
    if method == "predict" and predicts_classes:
        return np.asarray(answers == positive, dtype=np.float64)
    return np.asarray(answers if column == 1 else -answers, dtype=np.float64)


def only_column(X: Any) -> Floats:  # noqa: N803 scikit-learn's name
    """X as the score itself."""
    columns = columns_of(X)
    table = array_of(X) if columns is None else columns[0] if len(columns) == 1 else None
    if isinstance(table, np.ndarray) and table.ndim == 2 and table.shape[1] == 1:  # noqa: PLR2004 a matrix
        table = table[:, 0]
    if table is None or (isinstance(table, np.ndarray) and table.ndim != 1):
        shape = (len(X), len(columns)) if columns else np.shape(X)
        msg = f"Without an estimator X is the score, one column; got shape {shape}. Hint: estimator= makes scores of X."
        raise DataError(msg)
    return numbers_of("score", table if isinstance(table, np.ndarray) else table.to_native())
