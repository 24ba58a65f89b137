"""Measure what equal error rates by evenodds, fairlearn, error-parity and aif360 come to, on the same people.

Usage: python bench/facts.py [--halves N] [--only METHOD]... [--results FILE] [--into FOLDER]

Everybody is fitted to the same people, and asked for odds and decisions, each in an environment of its own. What
follows from these is computed here, by the same lines for all. Writes bench/facts.json, the tables of
docs/beside-others.md and those of README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from marks import filled
from peer import peer_of, python_of

HERE = Path(__file__).parent
RESULTS = HERE / "facts.json"
ROOT = HERE.parent
PAGE, README = ROOT / "docs" / "beside-others.md", ROOT / "README.md"
HALVES = 20
METHODS = {
    "one_threshold": "one threshold for everybody",
    "evenodds": "evenodds",
    "evenodds_fixed": 'evenodds, `curve="fixed"`',
    "fairlearn": "fairlearn",
    "error_parity": "error-parity",
    "aif360": "aif360",
}
TWO_GROUPS = ("aif360",)  # who knows no more
_NOT_ALONE = ("one_threshold", "evenodds_fixed")  # who have no version of their own
_SURE = 1e-9  # odds this near to 0 or 1 leave nothing to chance
_FAR = 5.0  # standard deviations that draws are off their odds only if these were misread

People = dict[str, np.ndarray]


# -- the people --------------------------------------------------------------------------------------------------------


def people_of(joint: Any, key_of: Any, halves: int) -> tuple[People, list[str]]:
    """The people of a table one by one, the halves of them that are fitted to, and what the groups are called."""
    keys = sorted({key_of(member.key) for member in joint.members})
    columns = []
    for member in joint.members:
        for label, counts in enumerate((member.negatives, member.positives)):
            whole = np.rint(counts).astype(int)  # the credit table has shares, and so no whole people
            scores = np.repeat(member.scores, whole)
            columns.append((scores, np.full(scores.size, keys.index(key_of(member.key))), np.full(scores.size, label)))
    score, group, label = map(np.concatenate, zip(*columns, strict=True))
    rng = np.random.default_rng(20240603)
    members = np.array([rng.permutation(score.size) < score.size // 2 for _ in range(halves)])
    return {"score": score, "group": group, "label": label, "halves": members}, keys


def tables(halves: int) -> dict[str, tuple[str, People, list[str]]]:
    """The people that are measured on, with a sentence on who they are."""
    import evenodds as eo

    credit, credit_groups = people_of(eo.datasets.credit_risk(), str, halves)
    compas, races = people_of(eo.datasets.compas(), lambda key: key.split(", ")[0], halves)
    return {
        "credit": (
            "credit scores from 0 to 100, mostly in half points, their counts rounded to whole people; a yes is a loan",
            credit,
            credit_groups,
        ),
        "compas": ("COMPAS deciles from 1 to 10; a yes says that somebody will be charged again", compas, races),
    }


# -- what is measured --------------------------------------------------------------------------------------------------


def equalized_odds_difference(odds: np.ndarray, group: np.ndarray, label: np.ndarray) -> float:
    """The largest difference of two groups' mean odds, among negatives or among positives."""
    rates = [[odds[(group == code) & (label == side)].mean() for code in np.unique(group)] for side in (0, 1)]
    return max(max(side) - min(side) for side in rates)


def accuracy(odds: np.ndarray, label: np.ndarray) -> float:
    """The expected accuracy."""
    return float(np.where(label == 1, odds, 1 - odds).mean())


def measured(people: People, answers: People) -> dict[str, Any]:
    """The facts about a method, from what it answered."""
    group, label, odds = people["group"], people["label"], answers["odds"]
    cells = np.unique(np.column_stack([group, people["score"]]), axis=0)
    same = np.diff(cells[:, 0]) == 0
    others = [~half for half in people["halves"]]
    ends = np.cumsum([rest.sum() for rest in others])[:-1]
    fresh = [
        (accuracy(part, label[rest]), equalized_odds_difference(part, group[rest], label[rest]))
        for rest, part in zip(others, np.split(answers["fresh"], ends), strict=True)
    ]
    off = abs(float(answers["drawn"]) - odds.mean())
    if off > _FAR * (np.sqrt((odds * (1 - odds)).sum()) + 1) / odds.size:
        msg = (
            f"The share of a yes is {answers['drawn']}, and the mean of the odds {odds.mean()}: the odds were misread."
        )
        raise ValueError(msg)
    return {
        "accuracy": accuracy(odds, label),
        "difference": equalized_odds_difference(odds, group, label),
        "fresh_accuracy": float(np.mean([one for one, _ in fresh])),
        "fresh_difference": float(np.mean([one for _, one in fresh])),
        "jump": float(np.abs(np.diff(answers["cell_odds"]))[same].max()),
        "by_chance": float(np.mean((odds > _SURE) & (odds < 1 - _SURE))),
        "unlikely": float(np.minimum(odds, 1 - odds).mean()),
        "changed": float(answers["changed"]),
        "seconds": float(answers["seconds"]),
        "version": str(answers["version"]),
    }


def asked(method: str, people: People) -> People:
    """What a method answers, in an environment of its own."""
    with tempfile.TemporaryDirectory() as folder:
        there, back = Path(folder) / "people.npz", Path(folder) / "answers.npz"
        np.savez(there, **people)
        command = [python_of(peer_of(method)), "-W", "ignore", str(HERE / "decider.py"), method, str(there), str(back)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{method} failed:\n{done.stderr}")
        with np.load(back) as answers:
            return {name: answers[name] for name in answers.files}


# -- the page ----------------------------------------------------------------------------------------------------------

ROWS = {  # what a row says, its field, and how it is written
    "accuracy": ("accuracy", "{:.4f}"),
    "groups differ by (equalised odds difference)": ("difference", "{:.4f}"),
    "accuracy on fresh people": ("fresh_accuracy", "{:.4f}"),
    "groups differ by, on fresh people": ("fresh_difference", "{:.4f}"),
    "largest jump of the chance of a yes between neighbouring scores": ("jump", "{:.3f}"),
    "people with a chance of a yes that is neither 0 nor 1": ("by_chance", "{:.1%}"),
    "people who get the less likely answer": ("unlikely", "{:.1%}"),
    "people decided otherwise when rows are shuffled": ("changed", "{:.1%}"),
    "CPU seconds of a fit": ("seconds", "{:.3f}"),
}


def table_of(methods: dict[str, dict[str, Any]]) -> str:
    """A column for each method, a row for each fact."""
    lines = [["", *(METHODS[method] for method in methods)], ["---", *["---:"] * len(methods)]]
    for name, (key, form) in ROWS.items():
        fitted = [key != "seconds" or method != "one_threshold" for method in methods]  # that one is looked up
        cells = [form.format(facts[key]) if told else "" for facts, told in zip(methods.values(), fitted, strict=True)]
        lines.append([name, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def caption_of(results: dict[str, Any], table: dict[str, Any]) -> str:
    """On whom, when and with what."""
    groups = ", ".join(f"{count:,} {group}" for group, count in table["groups"].items())
    versions = {METHODS[name]: facts["version"] for name, facts in table["methods"].items() if name not in _NOT_ALONE}
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    people, machine = sum(table["groups"].values()), results["machine"]
    return (
        f"{people:,} people ({groups}): {table['about']}. Fresh people are the other half after a fit to one half, on "
        f"average over {results['halves']} halves. Measured on {results['date']} with Python {machine['python']} on "
        f"{machine['cores']} cores: {told}."
    )


def text_of(results: dict[str, Any]) -> str:
    """The tables, each with its caption."""
    tables = results["tables"].values()
    return "\n\n".join(f"{table_of(table['methods'])}\n\n{caption_of(results, table)}" for table in tables)


def write(results: dict[str, Any], into: Path | None = None) -> None:
    """The page and the README, with their own words around the tables; or both into a folder."""
    for page in (PAGE, README):
        text = filled(page.read_text(encoding="utf-8"), "facts", text_of(results))
        (page if into is None else into / page.name).write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halves", type=int, default=HALVES, help="how many times half of the people are fitted to")
    parser.add_argument("--only", action="append", choices=METHODS, help="this method; may be given several times")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to write what was measured")
    parser.add_argument("--into", type=Path, help="a folder for the pages, in place of where they are")
    given = parser.parse_args()
    results: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": {"python": platform.python_version(), "cores": os.cpu_count()},
        "halves": given.halves,
        "tables": {},
    }
    for key, (about, people, groups) in tables(given.halves).items():
        methods = {}
        for method in given.only or METHODS:
            if method in TWO_GROUPS and len(groups) > 2:
                continue
            print(f"{key}: {METHODS[method]}", file=sys.stderr)
            methods[method] = measured(people, asked(method, people))
        counts = np.bincount(people["group"]).tolist()
        results["tables"][key] = {"about": about, "groups": dict(zip(groups, counts, strict=True)), "methods": methods}
    given.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    write(results, given.into)
    print(text_of(results))


if __name__ == "__main__":
    main()
