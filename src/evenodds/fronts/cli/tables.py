"""Tables for a terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from evenodds.studies import CompasStudy, CreditRiskStudy

__all__ = ["print_compas", "print_credit_risk", "print_json", "print_rows"]

_NARROWEST = 120  # columns that the studies' tables need when the output is not a terminal


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
        words = isinstance(rows[0][name], str)
        table.add_column(name.replace("_", " "), justify="left" if words else "right")
    for row in rows:
        table.add_row(*(_cell(value) for value in row.values()))
    _console().print(table)


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.5g}" if isinstance(value, float) else str(value)


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
    _print_choices(console, study)
    print_rows(
        "(f) The introduction's white applicants: odds by policy (default rate 6.23 times as high at 25 as at 49.5)",
        [asdict(row) for row in study.applicants],
    )
    console.print(f"\nComputed in {study.seconds:.2f} s.")


def print_compas(study: CompasStudy) -> None:
    """Print the COMPAS study: published slopes, results on the true records, budgets, criteria."""
    console = _console()
    console.print(
        "The paper's source holds P(Y=0, R>r) where it was read as P(Y=0 | R=r): that implies base rates of 74 to "
        "83 %, and the true records have "
        + ", ".join(f"{group} {100 * rate:.1f} %" for group, rate in study.base_rates.items())
        + ". So only the slopes of the published curves can be checked; all results below are on the true records.\n"
    )
    shown = [{k: v for k, v in asdict(row).items() if k != "p"} for row in study.published if row.curve != "fixed"]
    print_rows("(a) The published curves: largest slope as printed and as it follows from the parameters", shown)
    print_rows("(b) Equalised odds on the true records, at the defaults", [asdict(row) for row in study.results])
    _print_choices(console, study)
    console.print(f"\nComputed in {study.seconds:.2f} s.")


def _print_choices(console: Console, study: CreditRiskStudy | CompasStudy) -> None:
    console.print()
    print_rows("(d) A slope budget for every group, and what it costs", [asdict(row) for row in study.budgets])
    print_rows(
        "(e) Which curve: every criterion for cubic curves through the same point",
        [{k: v for k, v in asdict(row).items() if k != "use_it"} for row in study.criteria],
    )
    for row in study.criteria:
        console.print(f"  {row.criterion}: {row.use_it}.")
