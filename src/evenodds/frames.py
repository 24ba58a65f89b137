"""Tables for people: columns as a data frame of whichever library is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from evenodds.errors import MissingPackageError

__all__ = ["frame_of"]

_MAKERS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


def frame_of(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A pandas frame; without pandas a polars frame; without both a pyarrow table."""
    for package, maker in _MAKERS.items():
        try:
            return getattr(import_module(package), maker)(dict(columns))
        except ImportError:
            continue
    msg = "frame() needs a data frame library. Hint: pip install pandas (polars and pyarrow serve too)."
    raise MissingPackageError(msg)
