"""Results that show themselves: a table as text, a small page in a notebook, a picture. How is not their affair.

A result says what its table is; `evenodds.pictures.shown`, which knows all results, draws them, and is loaded when
somebody looks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from evenodds.frames import frame_of_rows
from evenodds.visible import visible

__all__ = ["Shown", "aligned", "cell_text", "people_text", "round_number", "text_table"]

_MANY = 1000  # numbers from here on are shown without decimals
_MILLION = 10**6
_PICTURES = "evenodds.pictures.shown"


class Shown:
    """A result with a table: `.frame()`, `.plot()`, and its own page in a notebook."""

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """The names of its columns, and its rows."""
        raise NotImplementedError

    def frame(self) -> Any:
        """The table as a data frame of pandas, or of polars or pyarrow where pandas is not installed."""
        return frame_of_rows(*self.table())

    def plot(self, ax: Any = None) -> Any:
        """Draw it by matplotlib.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; new ones without it.

        Returns
        -------
        Axes
            Those that were drawn on.
        """
        return import_module(_PICTURES).figure_of(self).plot(ax)

    def _repr_html_(self) -> str:
        return str(import_module(_PICTURES).html_of(self))


def text_table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table as text: words to the left, numbers to the right.

    >>> print(text_table(["policy", "slope"], [["fixed", float("inf")], ["linear", 0.125]]))
      policy  slope
      fixed     inf
      linear  0.125
    """
    cells = [list(names), *([cell_text(value) for value in row] for row in rows)]
    return "\n".join(aligned(cells, [all(isinstance(row[i], str) for row in rows) for i in range(len(names))]))


def aligned(cells: Sequence[Sequence[str]], left: Sequence[bool]) -> list[str]:
    """Lines of cells below each other, columns to the left or to the right."""
    cells = [[visible(cell) for cell in row] for row in cells]
    widths = [max(len(row[i]) for row in cells) for i in range(len(left))]
    lines = ([c.ljust(w) if to else c.rjust(w) for c, w, to in zip(row, widths, left, strict=True)] for row in cells)
    return [f"  {'  '.join(line)}".rstrip() for line in lines]


def cell_text(value: Any) -> str:
    """A value as a person reads it."""
    if isinstance(value, str) or value is None:
        return value or ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if math.isnan(value):
        return "not defined"
    return f"{value:,.0f}" if _MANY <= abs(value) < math.inf else f"{value:.4g}"


def people_text(people: float) -> str:
    """A number of people, or their weight.

    >>> people_text(18842.0), people_text(0.25), people_text(5712694000.5)
    ('18,842', '0.25', '5,712,694,000')
    """
    return f"{people:,.0f}" if _MILLION <= abs(people) < math.inf else f"{people:,.6g}"


def round_number(least: float) -> float:
    """The first of 1, 2 and 5 times a power of ten that is no less.

    >>> round_number(0.7), round_number(3.1)
    (1.0, 5.0)
    """
    unit = 10.0 ** math.floor(math.log10(least))
    return next(unit * m for m in (1, 2, 5, 10) if unit * m >= least)
