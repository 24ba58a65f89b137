"""A study as a folder: its tables as CSV, its figures as PNG and SVG, and all of it as a page."""

from __future__ import annotations

import csv
from os import PathLike
from pathlib import Path

from evenodds.progress import tracked
from evenodds.studies.stories import Study, document_of_study
from evenodds.uses.plot import draw_figure
from evenodds.uses.report.html import html_of
from evenodds.uses.svg import svg_of

__all__ = ["write_study"]

_DOTS_PER_INCH = 150


def write_study(study: Study, folder: str | PathLike[str]) -> list[Path]:
    """Write every table and every figure, and report.html; the files that were written."""
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    written = []
    for name, rows in study.tables.items():
        file = home / f"{name}.csv"
        with file.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        written.append(file)
    figures = study.figures
    report = home / "report.html"
    report.write_text(html_of(document_of_study(study, figures)), encoding="utf-8")
    written.append(report)
    for name, figure in tracked(list(figures.items()), "Drawing"):
        drawing, picture = home / f"{name}.svg", home / f"{name}.png"
        drawing.write_text(svg_of(figure, name=name), encoding="utf-8")
        draw_figure(figure).figure.savefig(picture, dpi=_DOTS_PER_INCH)
        written += [drawing, picture]
    return written
