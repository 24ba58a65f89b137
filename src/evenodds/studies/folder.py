"""A study as a folder: its tables as CSV, its figures as PNG and SVG."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from evenodds.progress import tracked
from evenodds.uses.figures import Figure
from evenodds.uses.plot import draw_figure

__all__ = ["write_study"]

_DOTS_PER_INCH = 150


def write_study(
    tables: Mapping[str, Sequence[Mapping[str, Any]]], figures: Mapping[str, Figure], folder: str | PathLike[str]
) -> list[Path]:
    """Write every table and every figure; the files that were written."""
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    written = []
    for name, rows in tables.items():
        file = home / f"{name}.csv"
        with file.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        written.append(file)
    for name, figure in tracked(list(figures.items()), "Drawing"):
        canvas = draw_figure(figure).figure
        canvas.draw_without_rendering()
        canvas.set_layout_engine("none")  # it is laid out, and need not be for each file
        for ending in ("png", "svg"):
            file = home / f"{name}.{ending}"
            canvas.savefig(file, dpi=_DOTS_PER_INCH)
            written.append(file)
    return written
