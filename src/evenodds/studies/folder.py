"""A study as a folder: its tables as CSV, its figures as SVG and PNG, and all of it as a page."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from evenodds.errors import EvenoddsWarning, MissingPackageError
from evenodds.files import path_text
from evenodds.pictures.figures import Figure
from evenodds.progress import tracked
from evenodds.report.html import html_of
from evenodds.studies.stories import Study, check_study, document_of_study

__all__ = ["write_study"]

_DOTS_PER_INCH = 150


def write_study(study: Study, folder: str | PathLike[str]) -> list[Path]:
    """Write every table and every figure of a study, and report.html, into a folder.

    All are made before the first is written. Without matplotlib the figures are SVG only, and a warning says so.

    Parameters
    ----------
    study : CreditRiskStudy or CompasStudy
        What is written.
    folder : str or path
        Where to; it is made if it is not there.

    Returns
    -------
    list of path
        The files that were written.

    See Also
    --------
    studies.credit_risk, studies.compas : The studies.
    report : A report on a policy of your own.

    Examples
    --------
    >>> import evenodds as eo, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = eo.studies.write_study(eo.studies.compas(), folder)
    >>> [file.name for file in files][:6]
    ['base_rates.csv', 'published.csv', 'results.csv', 'budgets.csv', 'criteria.csv', 'report.html']
    """
    check_study(study)
    home = Path(path_text(folder))
    figures = study.figures
    files = {f"{name}.csv": _csv(rows) for name, rows in study.tables.items()}
    files["report.html"] = html_of(document_of_study(study, figures)).encode()
    files |= {f"{name}.svg": figure.svg(name=name).encode() for name, figure in figures.items()}
    try:
        files |= {f"{name}.png": _png(figure) for name, figure in tracked(list(figures.items()), "Drawing")}
    except MissingPackageError:
        msg = (
            "The figures are written as SVG, and not as PNG, since matplotlib is not installed. "
            "Hint: pip install 'evenodds[plot]'."
        )
        warnings.warn(msg, EvenoddsWarning, stacklevel=2)
    home.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (home / name).write_bytes(content)
    return [home / name for name in files]


def _csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode()


def _png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    figure.plot().figure.savefig(stream, format="png", dpi=_DOTS_PER_INCH)
    return stream.getvalue()
