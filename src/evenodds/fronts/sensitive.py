"""Where the groups of an estimator's rows come from: given beside X, or columns of X itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenodds.errors import DataError, OptionError
from evenodds.frames import array_of, narwhals, opened
from evenodds.model.keys import GroupLike

__all__ = ["Columns", "groups_in"]

Columns = str | int | Sequence[str | int]
_MATRIX = 2


def groups_in(X: Any, columns: Columns, *, drop: bool) -> tuple[GroupLike, Any]:  # noqa: N803 scikit-learn's name
    """The groups from columns of X, by name or position, and X as the estimator sees it: with or without these."""
    wanted: list[Any] = list(columns) if isinstance(columns, (list, tuple, np.ndarray)) else [columns]
    if not wanted or not all(isinstance(c, (str, int, np.integer)) and not isinstance(c, bool) for c in wanted):
        msg = f"sensitive_columns={columns!r} is not allowed. Allowed: names or positions of columns of X."
        raise OptionError(msg)
    nw = narwhals()
    table = nw.from_native(X, pass_through=True, eager_only=True)
    if isinstance(table, nw.DataFrame):
        names = [c if isinstance(c, str) else _at(table.columns, int(c)) for c in wanted]
        table = opened(X, names)
        return [table[name].to_native() for name in names], table.drop(names).to_native() if drop else X
    if any(isinstance(c, str) for c in wanted):
        named = next(c for c in wanted if isinstance(c, str))
        msg = f"X has no columns with names, so none is {named!r}: it is a {type(X).__name__}. Hint: give its position."
        raise DataError(msg)
    sparse = hasattr(X, "tocsc")
    matrix: Any = X.tocsc() if sparse else array_of(X)
    if matrix.ndim != _MATRIX:
        msg = f"sensitive_columns= are columns of X, which has shape {matrix.shape}. Hint: X needs a row and a column."
        raise DataError(msg)
    at = [_at(range(matrix.shape[1]), int(c)) for c in wanted]
    groups = [matrix[:, [i]].toarray().ravel() if sparse else matrix[:, i] for i in at]
    return groups, matrix[:, [i for i in range(matrix.shape[1]) if i not in at]] if drop else X


def _at(columns: Sequence[Any], position: int) -> Any:
    if not -len(columns) <= position < len(columns):
        msg = f"sensitive_columns has {position}, and X has {len(columns)} columns."
        raise OptionError(msg)
    return columns[position]
