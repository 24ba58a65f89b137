"""The benchmark runs at a tiny size and writes its page; how fast anything is, no test asserts."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import evenodds as eo
from engines import needed

BENCH = Path(__file__).parents[1] / "bench"

pytestmark = pytest.mark.skipif(not BENCH.exists(), reason="the benchmark is not part of a source distribution")


@pytest.fixture
def bench(monkeypatch):
    """Modules of the benchmark by name, as its scripts import them."""
    monkeypatch.syspath_prepend(str(BENCH))
    return import_module


def _run(script, *options):
    command = [sys.executable, str(BENCH / script), *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _table(page, title):
    """The rows of a section's table, by their first cell."""
    section = page.split(f"## {title}")[1].split("## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("|")]
    return {row[0]: dict(zip(rows[0], row, strict=True)) for row in rows[2:]}


def test_a_small_run_writes_its_page(tmp_path):
    results = tmp_path / "results.json"
    _run("run.py", "--part", "draws", "--most", 300, "--results", results)
    _run("run.py", "--part", "optimal", "--full", "--most", 300, "--limit", 0.01, "--results", results)
    _run("page.py", "--results", results, "--into", tmp_path)
    page = (tmp_path / "performance.md").read_text(encoding="utf-8")
    draws = _table(page, "Draws")
    assert list(draws) == ["draw by position", "draw by id", "decide by id"]
    for row in draws.values():
        assert float(row["wall s"]) > 0
        assert float(row["CPU s per million"]) > 0
    assert draws["draw by position"]["of draw by position, CPU"] == "1"
    assert _table(page, 'curve="optimal"')["fit, curve=optimal"]["CPU s"] == "over 0.01 s"
    assert page.startswith("# How fast")
    assert "## What the time is spent on" in page


def test_every_part_has_its_table(bench, tmp_path):
    jobs = bench("plan").plan(full=True)
    times = {"wall": 2.0, "cpu": 3.0, "extra_mb": 1.0, "note": ""}
    parts = {
        part: [[job.record(**{**times, "cpu": 3.0 * (place + 1)}) for place, job in enumerate(some)] for some in every]
        for part, every in jobs.items()
    }
    machine = {"cores": 1, "python": "3"}
    found = {"machine": machine, "imports": {"numpy": 0.1, "evenodds": 0.2}, "parts": parts}
    bench("page").write(found, tmp_path)
    page = (tmp_path / "performance.md").read_text(encoding="utf-8")
    assert page.count("\n## ") == len(jobs) + 2  # imports, and what the time is spent on
    fits = _table(page, "Fit")["fit"]
    assert (fits["rows"], fits["error-parity, times ours, CPU"], fits["of np.sort, wall"]) == ("10,000,000", "", "1")
    assert _table(page, "Families")["fit, curve=fixed"]["of the defaults, CPU"] == "2"
    picture = ET.parse(tmp_path / "performance.svg")  # noqa: S314 our own
    assert {"fairlearn", "error-parity", "evenodds", "np.sort"} <= {
        (text.text or "").split(",")[0] for text in picture.iter("{http://www.w3.org/2000/svg}text")
    }


def test_a_case_that_fails_is_told(bench):
    job = bench("job")
    (record,) = job.compared([job.Job("fit", rows=1)], limit=60)
    assert (record["note"], record["wall"]) == ("failed", None)


def test_facts_are_measured_and_written(bench, tmp_path):
    """With what needs no environment of its own; the others run likewise by `make bench`."""
    results = tmp_path / "facts.json"
    only = ("--only", "one_threshold", "--only", "evenodds", "--halves", 1)
    _run("facts.py", *only, "--results", results, "--into", tmp_path)
    page = (tmp_path / "beside-others.md").read_text(encoding="utf-8")
    found = json.loads(results.read_text(encoding="utf-8"))["tables"]["compas"]
    facts = bench("facts")
    people, groups = facts.people_of(eo.datasets.compas(), lambda key: key.split(", ")[0], 1)
    assert found["groups"] == {"African-American": 3696, "Caucasian": 2454}
    assert dict(zip(groups, np.bincount(people["group"]).tolist(), strict=True)) == found["groups"]
    # One threshold is judged as fairlearn judges it, and our policy as its certificate does.
    threshold = bench("decider").best_threshold(people["score"], people["label"])
    difference = needed("fairlearn.metrics").equalized_odds_difference(
        people["label"], people["score"] >= threshold, sensitive_features=people["group"]
    )
    assert found["methods"]["one_threshold"]["difference"] == pytest.approx(difference, abs=1e-12)
    certificate = eo.fit(
        eo.JointDistribution.from_arrays(people["score"], people["group"], people["label"])
    ).certificate
    ours = found["methods"]["evenodds"]
    assert ours["accuracy"] == pytest.approx(certificate.objective, abs=1e-12)
    assert ours["difference"] < 1e-12 < ours["fresh_difference"]
    # Neighbours are a decile apart; two odds, each rounded to 2^-53, are subtracted.
    assert 0 < ours["jump"] <= max(certificate.slopes) + 2**-52
    shares = np.array(certificate.randomized) * np.bincount(people["group"]) / people["group"].size
    assert ours["by_chance"] == pytest.approx(shares.sum(), abs=1e-12)
    assert ours["unlikely"] < ours["by_chance"] / 2
    assert ours["changed"] == 0
    assert f"| accuracy | {found['methods']['one_threshold']['accuracy']:.4f} | {ours['accuracy']:.4f} |" in page
    assert page.startswith("# Beside others")
    assert "## How to read it" in page


def test_odds_of_a_peer_that_were_misread_are_refused(bench):
    half = np.arange(8) % 2 == 0
    people = {"score": np.arange(8.0), "group": np.arange(8) // 4, "label": np.arange(8) // 2 % 2, "halves": half[None]}
    same = {"odds": np.zeros(8), "fresh": np.zeros(4), "cell_odds": np.zeros(8), "changed": 0, "seconds": 1}
    facts = bench("facts")
    assert facts.measured(people, same | {"drawn": 0.0, "version": "1"})["accuracy"] == 0.5
    with pytest.raises(ValueError, match="the odds were misread"):
        facts.measured(people, same | {"drawn": 1.0, "version": "1"})
