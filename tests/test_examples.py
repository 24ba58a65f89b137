"""Every example runs offline, writes nowhere but into a temporary folder, and says what it promises to show."""

from __future__ import annotations

import csv
import gzip
import re
import runpy
import socket
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import evenodds as eo
from engines import needed
from evenodds.decisions.keys import commitment

EXAMPLES = Path(__file__).parents[1] / "examples"
NEEDS = {
    "compas": ["pandas"],
    "credit": [],
    "end_to_end": ["pandas", "sklearn"],
    "from_fairlearn": ["pandas", "sklearn", "fairlearn"],
    "month_by_month": ["pandas"],
}

OPTIONAL = {"fairlearn", "matplotlib", "pandas", "sklearn"}

pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="the examples are not part of a source distribution")


def _no_network(*_):
    msg = "an example asks for the network"
    raise AssertionError(msg)


@pytest.fixture
def run(monkeypatch, tmp_path, capsys, record_property):
    """Run an example in a folder of its own; what it printed, and the names that it leaves."""

    def running(name):
        for package in NEEDS[name]:
            needed(package)
        for package in OPTIONAL - set(NEEDS[name]):
            monkeypatch.setitem(sys.modules, package, None)  # who has only what the header names can run it
        here, temporary = tmp_path / "here", tmp_path / "temporary"
        here.mkdir()
        temporary.mkdir()
        monkeypatch.chdir(here)
        monkeypatch.setattr(tempfile, "tempdir", str(temporary))
        monkeypatch.setattr(socket.socket, "connect", _no_network)
        start = time.perf_counter()
        names = runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        record_property("seconds", round(time.perf_counter() - start, 2))
        assert not list(here.iterdir())
        return capsys.readouterr().out, names

    return running


def _numbers(text, start):
    """The numbers in the first line that begins so, without this beginning."""
    line = next(line for line in text.splitlines() if line.startswith(start)).removeprefix(start)
    return [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\.?\d*", line)]


def _rates(odds, label):
    """The mean odds of negatives and of positives, by numpy alone."""
    return np.array([odds[label == 0].mean(), odds[label == 1].mean()])


def test_there_is_a_test_for_every_example():
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == sorted(NEEDS)
    told = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for name in NEEDS:
        assert f"[{name}.py]({name}.py)" in told
        assert "For whom: " in (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").split('"""')[1]


def test_the_people_are_those_that_the_source_counts():
    """adult.names, beside the census files, tells how many there are and that 23.93 % of them earn more."""
    with gzip.open(EXAMPLES / "data" / "adult.csv.gz", "rt", encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    assert list(rows[0]) == [
        "age", "education_num", "hours_per_week", "marital_status", "occupation", "race", "sex", "over_50k",
    ]  # fmt: skip
    assert len(rows) == 48_842
    assert round(sum(row["over_50k"] == "1" for row in rows) / len(rows), 4) == 0.2393
    assert {row["sex"] for row in rows} == {"Female", "Male"}


def test_credit(run):
    text, names = run("credit")
    fixed, linear = (_numbers(text, f"{name:6} half a point more is worth up to ")[0] for name in ("fixed", "linear"))
    assert fixed > 10 * linear > 0
    assert linear <= max(names["linear"].certificate.slopes) / 2 + 5e-4  # half a point, and three digits are printed
    gentle = names["price"].objectives
    assert list(gentle) == sorted(gentle)  # the gentler, the less accurate
    assert gentle[0] < gentle[-1]
    at_27 = _numbers(text, "One threshold for everybody, at a score of ")
    assert at_27 == [27, 0.8765]
    page = (names["folder"] / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "An example" in page
    assert eo.Policy.load(names["folder"] / "policy.json") == names["linear"]


def test_compas(run):
    text, names = run("compas")
    assert len(names["everybody"]) == 7214
    for falling in names["odds"].values():
        assert np.all(np.diff(falling) <= 0)
    assert names["off"] < 1e-12
    assert "Warning: 5 groups are very small: 'Asian, Female' with 1 negatives" in text
    assert names["twelve"].certificate.objective < names["policy"].certificate.objective
    assert "tolerance=0.05: There are too few people to promise" in text
    assert "tolerance=0.1: held for new people" in text
    assert names["sure"].certificate.population_bound(confidence=0.95) <= 0.1
    assert (names["now"].verdict, names["audit"].verdict) == ("fail", "undecided")
    assert names["audit"].equalized_odds_difference < names["audit"].before.equalized_odds_difference.low
    by_race = names["people"].assign(released=names["people"]["decile"] <= names["today"]).groupby("race")
    rates = [_rates(own["released"].to_numpy(), own["stayed_clear"].to_numpy()) for _, own in by_race]
    assert _numbers(text, "  by race alone, groups differ by ")[0] == round(np.abs(rates[0] - rates[1]).max(), 4)


def test_end_to_end(run):
    text, names = run("end_to_end")
    people, few, kept = _numbers(text, "calibration ")
    more_people, many, more_kept = _numbers(text, "cross-fitting ")
    assert people < more_people
    assert few < many
    assert kept < more_kept < 0.05  # more people leave more of the tolerance for use
    audit, decided, label = names["audit"], names["decided"], names["test"]["over_50k"]
    for sex, figures in audit.groups.items():
        own = (decided["sex"] == sex).to_numpy()
        rates = _rates(decided["odds"].to_numpy()[own], label.to_numpy()[own])
        assert [figures.fpr.value, figures.tpr.value] == pytest.approx(rates, abs=1e-12)
    assert names["today"].verdict == "fail"
    assert audit.passed(tolerance=0.1)
    assert audit.equalized_odds_difference.high < audit.before.equalized_odds_difference.low
    assert audit.before.accuracy - audit.accuracy < 0.01
    assert "Passed: odds, draws and decisions of all 14,653 rows are right." in text
    assert sorted(path.name for path in names["folder"].iterdir()) == ["odds.sql", "policy.json", "report.html"]


def test_from_fairlearn(run):
    text, names = run("from_fairlearn")
    label = names["fresh"]["over_50k"].to_numpy()
    theirs = names["odds_of"](names["before"], names["fresh"])
    accuracy, *_, on_fresh, _, _, _ = _numbers(text, "fairlearn  ")
    assert on_fresh == round(np.where(label == 1, theirs, 1 - theirs).mean(), 4)
    assert _numbers(text, "evenodds fixed ")[0] >= accuracy  # a grid of thresholds is not better than all of them
    jumps = {name: names["largest_jump"](optimizer)[0] for name, optimizer in names["optimizers"].items()}
    assert jumps["fairlearn"] > 0.5 > 10 * jumps["evenodds"]
    scores = names["model"].predict_proba(names["fresh"])[:, 1]
    gaps = max(np.diff(np.sort(scores[names["fresh"]["sex"] == sex])).max() for sex in ("Female", "Male"))
    assert jumps["evenodds"] <= gaps * max(names["after"].policy_.certificate.slopes)
    assert names["moved"]["fairlearn"] > 0
    assert names["moved"]["evenodds, id="] == 0
    assert "gives a stranger's group the odds 0, without a word" in text
    assert "The policy does not know the group 'Unknown'." in text
    assert "grid_size=1000 is fairlearn's, and not needed" in text


def test_month_by_month(run):
    text, names = run("month_by_month")
    keys = names["keys"]
    assert f"the commitment {commitment(keys[0])}" in text
    assert [commitment(key) for key in keys[1:]] == keys[:-1]
    assert text.count("Verification(passed, 20,000 rows)") == 6
    assert "Verification(failed, 1 of 20,000 rows wrong); row 7" in text
    verdicts = re.findall(r"^  groups differ by .*: (\w+)$", text, re.MULTILINE)
    assert len(verdicts) == 6
    assert [verdict == "fail" for verdict in verdicts] == [False, False, False, True, False, False]
    assert "hispanic: scores differ beyond chance" in text.split("2026-04:")[1].split("2026-05:")[0]
    saved = [eo.Policy.load(path) for path in sorted(names["folder"].glob("*.json"))]
    assert len(saved) == 2
    scores = np.linspace(0, 100, 5001)
    for group in saved[0].groups:
        both = [policy.odds(scores, [group] * scores.size) for policy in saved]
        assert np.abs(both[0] - both[1]).max() <= 0.2
