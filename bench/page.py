"""Write the tables of docs/performance.md, and its picture, from bench/results.json.

Usage: python bench/page.py [--results FILE] [--into FOLDER]
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chart import chart
from marks import filled

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
PAGE = HERE.parent / "docs" / "performance.md"
CLOCKS = {"wall": "wall", "cpu": "CPU"}
ABOUT = {"rows": "rows", "kind": "scores", "groups": "groups"}

Record = dict[str, Any]


@dataclass(frozen=True)
class Ratio:
    """Columns that compare a record with another one of the same comparison."""

    heading: str
    other: str = ""
    """A case, which then has no row of its own; the first record if empty."""
    clocks: tuple[str, ...] = tuple(CLOCKS)
    times_ours: bool = False
    """Whether the other one is divided by ours, and not ours by the other one."""

    @property
    def headings(self) -> list[str]:
        return [f"{self.heading}, {CLOCKS[clock]}" for clock in self.clocks]

    def cells(self, own: Record, comparison: list[Record]) -> list[str]:
        other = next((r for r in comparison if self.other in ("", r["case"])), None)
        if other is None or own["note"]:
            return [""] * len(self.clocks)
        if other["note"]:
            return [other["note"]] * len(self.clocks)
        above, below = (other, own) if self.times_ours else (own, other)
        return [_figure(above[clock] / below[clock]) for clock in self.clocks]


@dataclass(frozen=True)
class Section:
    """A part as a table."""

    title: str
    note: str
    ratios: tuple[Ratio, ...] = ()
    about: tuple[str, ...] = ("rows",)
    """Which of the data's properties are told."""
    per_million: bool = False
    """Whether seconds are told per million rows too."""

    def lines(self, comparisons: list[list[Record]]) -> list[str]:
        heads = ["", *(ABOUT[key] for key in self.about), "wall s", "CPU s"]
        heads += ["wall s per million", "CPU s per million"] * self.per_million
        heads += ["extra MB", *(heading for ratio in self.ratios for heading in ratio.headings)]
        others = {ratio.other for ratio in self.ratios}
        rows = [self._row(r, records) for records in comparisons for r in records if r["case"] not in others]
        table = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
        return [f"## {self.title}", "", self.note, "", *(f"| {' | '.join(cells)} |" for cells in table), ""]

    def _row(self, own: Record, comparison: list[Record]) -> list[str]:
        cells = [own["name"], *(f"{own[key]:,}" if key != "kind" else own[key] for key in self.about)]
        cells += [own["note"] or _figure(own[clock]) for clock in CLOCKS]
        if self.per_million:
            cells += ["" if own["note"] else _figure(own[clock] / own["rows"] * 1e6) for clock in CLOCKS]
        cells.append("" if own["extra_mb"] is None else f"{own['extra_mb']:.0f}")
        return cells + [cell for ratio in self.ratios for cell in ratio.cells(own, comparison)]


def _peers(use: str) -> tuple[Ratio, ...]:
    return tuple(
        Ratio(f"{name}, times ours", f"{peer}_{use}", times_ours=True)
        for peer, name in (("fairlearn", "fairlearn"), ("error_parity", "error-parity"))
    )


SECTIONS = {
    "fit": Section(
        "Fit: from arrays to a policy with its certificate, at the defaults",
        "How many times as long as ours the peers take, and how many times as long as a sort of all scores ours takes.",
        (*_peers("fit"), *(Ratio(f"of np.{limit}", limit, ("wall",)) for limit in ("sort", "argsort"))),
        ("rows", "kind"),
    ),
    "options": Section(
        "Families, tolerance, criteria",
        "The same fit, from arrays, of float scores in 4 groups. The defaults, in the first row, are linear, gentlest.",
        (Ratio("of the defaults"),),
    ),
    "groups": Section(
        "Many groups",
        "Float scores of as many people in more groups, or fewer.",
        (Ratio("of 4 groups at the defaults"),),
        ("rows", "groups"),
    ),
    "optimal": Section(
        'curve="optimal"',
        "The farthest points of all rising odds, over all scores; the defaults look at some places among them.",
        (Ratio("of the defaults"),),
        ("rows", "groups"),
    ),
    "resolve": Section(
        "The same people once more",
        "`credit_risk()` (174,047 people at 789 scores) is solved again, warm: all that a joint distribution keeps is "
        "there, from a fit at the defaults and from one with the same options.",
        (Ratio("of the defaults"),),
        (),
    ),
    "stability": Section(
        "Stability",
        "Fits to people drawn again from `compas()`, beside one warm fit to the people themselves.",
        (Ratio("of one fit"),),
        (),
    ),
    "odds": Section(
        "Odds",
        "Draw by position is odds, and draws in the order of the rows.",
        _peers("odds"),
    ),
    "draws": Section(
        "Draws",
        "By position, draws come in the order of the rows, and odds are in the time. Draw by id is an HMAC for each "
        "person, whatever the order, without odds; decide by id is odds, draws and decisions of a data frame.",
        (Ratio("of draw by position"),),
        per_million=True,
    ),
    "audit": Section(
        "Audit: every figure with its interval, and 200 draws of a bootstrap", "Of people sorted already."
    ),
}


def _figure(value: float) -> str:
    """Three digits that count."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _imports(seconds: dict[str, float]) -> list[str]:
    ours, numpys = seconds["evenodds"], seconds["numpy"]
    told = (
        f"A process that imports numpy and ends takes {numpys:.3f} s, one that imports evenodds and asks for `fit` "
        f"{ours:.3f} s: {ours / numpys:.2f} times as long. The import alone loads nothing else, not even numpy."
    )
    return ["## Import", "", told]


def tables(results: dict[str, Any]) -> str:
    """A section for every part that was measured, then imports."""
    machine, imports, parts = results["machine"], results["imports"], results["parts"]
    lines = [f"{machine['cores']} cores, Python {machine['python']}.", ""]
    for part, section in SECTIONS.items():
        if part in parts:
            lines += section.lines(parts[part])
    return "\n".join(lines + _imports(imports) if imports else lines[:-1])


def write(results: dict[str, Any], into: Path) -> None:
    """The page, with its own words around the tables, and its picture if fits were measured."""
    page = PAGE.read_text(encoding="utf-8")
    (into / PAGE.name).write_text(filled(page, "results", tables(results)), encoding="utf-8")
    if "fit" in results["parts"]:
        fits = [record for comparison in results["parts"]["fit"] for record in comparison]
        (into / "performance.svg").write_text(chart(fits))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--into", type=Path, default=PAGE.parent, help="the folder of the page")
    given = parser.parse_args()
    write(json.loads(given.results.read_text()), given.into)


if __name__ == "__main__":
    main()
