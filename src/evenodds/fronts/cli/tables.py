"""Tables for a terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from evenodds.studies import CreditRiskStudy

__all__ = ["print_credit_risk", "print_json", "print_rows"]

_NARROWEST = 100  # columns that the study's tables need when the output is not a terminal


def _console() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=max(console.width, _NARROWEST))


def _table(title: str, columns: list[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i < 2 else "right")  # noqa: PLR2004 curve and group are words
    return table


def _slope(value: float | None, digits: int) -> str:
    if value is None:
        return "-"
    return "inf" if math.isinf(value) else f"{value:.{digits}f}"


def print_rows(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows of one kind as a table."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for name in rows[0]:
        table.add_column(name.replace("_", " "), justify="right")
    for row in rows:
        table.add_row(*(f"{value:.6g}" if isinstance(value, float) else str(value) for value in row.values()))
    _console().print(table)


def print_json(value: Any) -> None:
    """Print plain JSON, which has no infinity and no NaN: "inf", "-inf" and null stand for them."""
    click.echo(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


def print_credit_risk(study: CreditRiskStudy) -> None:
    """Print the CreditRisk study: published, exact, individual odds, time."""
    console = _console()
    base = study.baseline
    console.print(
        f"Target: the {base.group} group's best single threshold, score {base.threshold:g} and above: "
        f"FPR {study.target.fpr:.6f}, TPR {study.target.tpr:.6f}.\n"
    )
    published = _table(
        "(a) The published curves, evaluated on the data; in brackets the figures as printed",
        ["curve", "group", "t0", "t1", "p", "accuracy %", "EO (1e-4)", "L_R"],
    )
    for row in study.published:
        printed = row.printed_accuracy is not None and row.printed_equalized_odds is not None
        published.add_row(
            row.curve,
            row.group,
            f"{row.t0:g}",
            f"{row.t1:g}",
            f"{row.p:.4g}",
            f"{row.accuracy * 100:.3f}" + (f" ({(row.printed_accuracy or 0) * 100:.3f})" if printed else ""),
            f"{row.equalized_odds * 1e4:.3f}"
            + (f" ({(row.printed_equalized_odds or 0) * 1e4:.3f})" if printed else ""),
            _slope(row.lipschitz, 3) + (f" ({_slope(row.printed_lipschitz, 3)})" if printed else ""),
        )
    console.print(published)
    exact = _table(
        "(b) Exact: the gentlest curve of each family through the target",
        ["curve", "group", "t0", "t1", "p", "at t0", "accuracy %", "residual", "L_R", "paper's L_R"],
    )
    for row in study.exact:
        exact.add_row(
            row.curve,
            row.group,
            f"{row.t0:.4f}",
            f"{row.t1:.4f}",
            f"{row.p:.4f}",
            "" if row.at_t0 is None else f"{row.at_t0:.4f}",
            f"{row.accuracy * 100:.3f}",
            f"{row.residual:.1e}",
            _slope(row.lipschitz, 6),
            _slope(row.printed_lipschitz, 3),
        )
    console.print(exact)
    console.print(
        f"The target is a vertex of the {base.group} group's own ROC, so that group keeps a single hard threshold at "
        f"{base.threshold:g}: its L_R is infinite, and it can be given no odds between 0 and 1.\n"
    )
    console.print("(c) Individual odds: can every group get the odds that another group can get?", style="bold")
    for curve, verdict in study.individual_odds.items():
        console.print(f"  {curve}: {verdict}")
    console.print(f"\n(d) Computed in {study.seconds:.2f} s.")
