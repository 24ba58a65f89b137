"""The guide: every line that it shows runs and does the same in both languages, and every figure is true."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

import evenodds as eo
from evenodds.fronts.cli import commands
from evenodds.model.curves import Curve
from evenodds.studies.cases import CASES

pytestmark = pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")


@pytest.fixture(scope="module")
def guide():
    return eo.studies.guide()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Each bundled table as people in files, of a large one a third: the past, the same as fresh, and some new ones."""
    made = {}
    for people in {case.people for case in CASES.values()}:
        groups, scores, labels = [], [], []
        joint = people.load()
        of = 3 if joint.total > 100_000 else 1
        for member in joint.members:
            for label, weights in enumerate((member.negatives, member.positives)):
                counts = np.round(weights / of).astype(int)
                scores.append(np.repeat(member.scores, counts))
                groups += [member.key.split(", ")] * counts.sum()
                labels += [label] * counts.sum()
        columns = dict(zip(people.group, zip(*groups, strict=True), strict=True))
        columns |= {people.score: np.concatenate(scores), people.label: labels}
        table = pa.table({"name": [f"p{i}" for i in range(len(labels))], **columns})
        folder = made[people] = tmp_path_factory.mktemp("people")
        for name, rows in (("past", table), ("fresh", table), ("new", table.take(np.arange(0, len(labels), 97)))):
            pa.csv.write_csv(rows, folder / f"{name}.csv")
    return made


def _run(line):
    """Run a line of the command line as a shell would."""
    words, _, output = line.partition(" > ")
    program, *arguments = shlex.split(words)
    assert program == "evenodds"
    done = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    if output:
        Path(output).write_text(done.stdout, encoding="ascii")


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_the_command_line_and_the_python_line_give_the_same_policy(case, folders, monkeypatch):
    monkeypatch.chdir(folders[case.people])
    for name in ("key.txt", "policy.json", "merged.json"):
        Path(name).unlink(missing_ok=True)  # of another case: keys are never written over, and policies not unasked
    for line in case.commands:
        _run(line)
    names = {"eo": eo} | {name: pa.csv.read_csv(f"{name}.csv") for name in ("past", "fresh", "new")}
    for line in case.python:
        exec(line, names)  # noqa: S102 our own lines are what is tested
    assert names["policy"] == eo.Policy.load("policy.json")
    if case.name == "small":
        assert names["merged"] == eo.Policy.load("merged.json")
    if case.name == "places":
        yes = pa.csv.read_csv("decided.csv")["decision"].to_numpy()
        assert yes.sum() == pytest.approx(0.3 * yes.size, abs=0.02 * yes.size)  # others than those of the fit


@pytest.mark.parametrize("name", CASES)
def test_the_figures_are_those_of_the_metrics(name, guide):
    one, case = guide[name], CASES[name]
    joint = case.people.load()
    measured = eo.metrics(one.policy, joint)
    assert one.after == pytest.approx(_objective(measured, case, joint), abs=1e-12)
    assert one.difference == pytest.approx(measured.equalized_odds_difference, abs=1e-12)
    assert one.randomized == pytest.approx(measured.randomized, abs=1e-12)
    worst = max(group.randomized for group in measured.by_group)
    assert one.worst_randomized == pytest.approx(worst, abs=1e-12)
    if worst > 0:
        assert measured.groups[one.worst_group].randomized == pytest.approx(worst, abs=1e-12)
    else:
        assert one.worst_group == ""
    assert one.slope == max(group.lipschitz for group in measured.by_group)


@pytest.mark.parametrize("name", CASES)
def test_before_is_one_threshold_for_everybody_measured_apart(name, guide):
    one, case = guide[name], CASES[name]
    joint = case.people.load()
    found = []
    for score in sorted({score for member in joint.members for score in member.scores.tolist()} | {1000.0}):
        measured = _of_threshold(score, joint)
        yes = sum(group.people * group.selection_rate for group in measured.by_group) / joint.total
        found.append((yes, _objective(measured, case, joint), measured))
    if "selection_rate" in case.options:  # about as many yeses
        best = min(found, key=lambda each: abs(each[0] - case.options["selection_rate"]))
    else:
        best = max(found, key=lambda each: -each[1] if "objective" in case.options else each[1])
    assert one.before == pytest.approx(best[1], abs=1e-12)
    assert one.difference_before == pytest.approx(best[2].equalized_odds_difference, abs=1e-12)


def _of_threshold(score, joint):
    from evenodds.evaluation.metrics import metrics_of  # noqa: PLC0415 of curves that are no policy

    return metrics_of(dict.fromkeys(joint.groups, Curve.threshold(score)), joint, joint.score_range)


def _objective(measured, case, joint):
    """The accuracy, or the mean cost by the definition of it."""
    cost = case.options.get("objective")
    if cost is None:
        return measured.accuracy
    wrong_yes = sum(m.negative_total * measured.groups[m.key].fpr for m in joint.members)
    wrong_no = sum(m.positive_total * measured.groups[m.key].fnr for m in joint.members)
    return (cost.false_positive * wrong_yes + cost.false_negative * wrong_no) / joint.total / cost.false_positive


def test_what_the_cases_say_of_their_options_is_so(guide):
    assert guide["lender"].policy.certificate.confidence == 0.95
    assert guide["places"].policy.certificate.selected == pytest.approx(0.3, abs=1e-9)
    assert guide["few"].randomized <= 0.05
    assert guide["few"].policy.certificate.gap < 1e-9
    assert guide["none"].randomized == 0
    assert eo.metrics(guide["court"].policy, eo.datasets.compas()).individual_odds.holds
    assert "'Other, Female' is very small" in guide["small"].warnings[0]
    assert guide["small"].policy.certificate.population_bound(confidence=0.9) <= 0.25
    assert list(guide["review"].policy.certificate.reviewed.by_group.values()) == pytest.approx([0.05] * 4)
    one = guide["already"].policy.certificate.one_threshold
    assert f"--threshold {one.score:g} " in guide["already"].case.commands[1]
    assert one.objective > guide["already"].after
    assert "Already within the tolerance" in str(guide["already"])


def test_the_table_of_all_cases(guide):
    printed = CliRunner().invoke(commands, ["guide"])
    assert printed.exit_code == 0
    for one in guide.cases:
        assert one.case.name in printed.output
        assert f"{one.before:.4f} -> {one.after:.4f}" in printed.output
        for flag in filter(None, one.case.flags.split(" --")):
            assert flag in printed.output
    names, rows = guide.table()
    assert [row[0] for row in rows] == list(CASES)
    assert guide.frame()["after"].tolist() == [row[names.index("after")] for row in rows]


def test_one_case_in_full_and_as_json(guide):
    printed = CliRunner().invoke(commands, ["guide", "few"])
    assert printed.output == f"{guide['few']}\n"
    for line in (*CASES["few"].commands, *CASES["few"].python):
        assert f"  {line}\n" in printed.output
    assert CliRunner().invoke(commands, ["guide", "chance"]).output == printed.output  # another name of it
    plain = json.loads(CliRunner().invoke(commands, ["guide", "none", "--json"]).output)
    assert plain["commands"] == list(CASES["none"].commands)
    assert plain["figures"]["after"] == guide["none"].after
    assert plain["figures"]["slope"] == "inf"
    every = json.loads(CliRunner().invoke(commands, ["guide", "--json"]).output)
    assert [one["case"] for one in every] == list(CASES)
    assert every[0]["figures"]["before"] == guide["default"].before


def test_other_names_are_nobody_elses():
    names = [name for case in CASES.values() for name in (case.name, *case.also)]
    assert len(set(names)) == len(names)


def test_an_unknown_case_is_refused_in_one_line_with_the_nearest(run):
    told = run("guide", "lendr", exit_code=2)
    assert told == (
        "evenodds: CASE 'lendr' is not known. Allowed: default, lender, places, court, few, none, small, review, "
        "already. Hint: did you mean 'lender'?\n"
    )
    assert "Allowed: default, lender" in run("guide", "zzz", exit_code=2)
