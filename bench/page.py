"""Write the tables of docs/performance.md, and its picture, from bench/results.json.

Usage: python bench/page.py
"""

from __future__ import annotations

import json
from pathlib import Path

from chart import chart

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "performance.md"
START, END = "<!-- results -->", "<!-- end of results -->"


def _rows(results: list[dict], cases: tuple[str, ...], columns: dict[str, str]) -> list[str]:
    lines = [f"| {' | '.join(['', 'rows', 'scores', 'groups', 'seconds', 'extra MB', *columns.values()])} |"]
    lines.append("|---|" + "---:|" * (5 + len(columns)))
    for r in results:
        if r["case"] in cases:
            ratios = [f"{r['ratios'][key]:.1f}" if key in r["ratios"] else "" for key in columns]
            extra = "" if r["extra_mb"] is None else f"{r['extra_mb']:.0f}"
            name = r["case"].replace("_", " ")
            cells = [name, f"{r['rows']:.0e}", r["kind"], str(r["groups"]), f"{r['seconds']:.3f}", extra, *ratios]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _imports(seconds: dict[str, float]) -> str:
    ours, numpys = seconds["evenodds"], seconds["numpy"]
    return (
        f"A process that imports numpy and ends takes {numpys:.3f} s, one that imports evenodds and asks for `fit` "
        f"{ours:.3f} s: {ours / numpys:.2f} times as long. The import alone loads nothing else, not even numpy."
    )


def tables(found: dict) -> str:
    """Fits, then odds, then imports."""
    results, machine, imports = found["results"], found["machine"], found["imports"]
    peers = {"fairlearn": "fairlearn, times ours", "error_parity": "error-parity, times ours"}
    odds = tuple(sorted({r["case"] for r in results if r["case"].startswith(("odds", "apply", "decide"))}))
    return "\n".join(
        [
            f"{machine['cores']} cores, Python {machine['python']}.",
            "",
            "## Fit: from arrays to a policy with its certificate, at the defaults",
            "",
            *_rows(results, ("fit",), {"sort": "of np.sort", "argsort": "of np.argsort", **peers}),
            "",
            "## Odds and decisions",
            "",
            *_rows(results, odds, peers),
            "",
            "## Audit: every figure with its interval, and 200 draws of a bootstrap",
            "",
            *_rows(results, ("audit",), {}),
            "",
            "## Import",
            "",
            _imports(imports),
        ]
    )


def main() -> None:
    found = json.loads((HERE / "results.json").read_text())
    before, rest = PAGE.read_text().split(START)
    PAGE.write_text(f"{before}{START}\n{tables(found)}\n{END}{rest.split(END)[1]}")
    (PAGE.parent / "performance.svg").write_text(chart(found["results"]))


if __name__ == "__main__":
    main()
