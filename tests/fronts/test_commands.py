"""Every command: what it reads, writes, prints and refuses."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import evenodds as eo

SOURCE = Path(__file__).parents[2] / "src" / "evenodds"
COLUMNS = ["--score", "points", "--group", "race"]
PEOPLE = [*COLUMNS, "--label", "repaid"]


@pytest.mark.usefixtures("past", "fresh")
def test_the_wheel_alone_runs_commands_and_finds_its_data(environment, installed, tmp_path):
    code = "import evenodds, sys; sys.exit(not evenodds.__file__.startswith(sys.argv[1]))"
    subprocess.run(
        [sys.executable, "-c", code, installed], env={"PYTHONPATH": str(installed)}, check=True, cwd=tmp_path
    )
    tracked = subprocess.run(["git", "ls-files", "."], cwd=SOURCE, capture_output=True, text=True, check=True)  # noqa: S607
    assert all((installed / "evenodds" / file).is_file() for file in tracked.stdout.splitlines())
    for words in (
        ["--version"],
        ["fit", "past.csv", *PEOPLE, "-o", "policy.json"],
        ["apply", "policy.json", "fresh.csv", *COLUMNS, "-o", "odds.csv"],
        ["report", "policy.json", "fresh.csv", *PEOPLE, "-o", "report.html"],
        ["guide", "lender"],
    ):
        subprocess.run(
            [sys.executable, "-m", "evenodds", *words], env=environment, check=True, capture_output=True, cwd=tmp_path
        )
    assert (tmp_path / "odds.csv").read_text().count("\n") == (tmp_path / "fresh.csv").read_text().count("\n")
    assert "</html>" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
@pytest.mark.usefixtures("past")
def test_fit_reads_every_format_and_writes_the_policy(run, policy, ending, tmp_path):
    run("fit", f"past.{ending}", *PEOPLE, "-o", "made.json")
    assert eo.Policy.load(tmp_path / "made.json") == policy
    assert json.loads(run("fit", f"past.{ending}", *PEOPLE, "--json"))["fingerprint"] == policy.document["fingerprint"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
@pytest.mark.usefixtures("past")
def test_standard_input_and_output(run, policy, ending, tmp_path):
    given = (tmp_path / f"past.{ending}").read_bytes()
    fitted = run("fit", "-", *PEOPLE, "--format", ending, "--json", stdin=given)
    assert json.loads(fitted)["fingerprint"] == policy.document["fingerprint"]


def test_fit_takes_every_option_of_python(run, past, tmp_path):
    run(
        "fit", "past.csv", *PEOPLE, "--constraints", "demographic_parity", "--cost", 2, 1, "--curve", "cubic",
        "--criterion", "smoothest", "--max-slope", 0.2, "--tolerance", 0.01, "-o", "p.json",
    )  # fmt: skip
    joint = eo.JointDistribution.from_frame(past, score="points", group="race", label="repaid")
    known = eo.fit(
        joint,
        constraints="demographic_parity",
        objective=eo.Cost(2, 1),
        curve="cubic",
        criterion="smoothest",
        max_slope=0.2,
        tolerance=0.01,
    )
    assert eo.Policy.load(tmp_path / "p.json") == known
    run("fit", "past.csv", *PEOPLE, "--target", "0.3,0.6", "-o", "t.json")
    assert eo.Policy.load(tmp_path / "t.json").certificate.target == eo.Point(0.3, 0.6)


def test_words_for_labels(run, tmp_path):
    rows = "points,race,repaid\n" + "".join(f"{i},w,{'yes' if i % 3 else 'no'}\n" for i in range(90))
    (tmp_path / "words.csv").write_text(rows)
    told = run("fit", "words.csv", *PEOPLE, exit_code=2)
    assert "column 'repaid' has the values 'no', 'yes'. Hint: --positive-label" in told
    run("fit", "words.csv", *PEOPLE, "--positive-label", "yes")
    (tmp_path / "truth.csv").write_text(rows.replace("yes", "True").replace("no", "false"))
    run("fit", "truth.csv", *PEOPLE)


def test_frontier(run, past):
    rows = json.loads(run("frontier", "past.csv", *PEOPLE, "--max-slopes", "0.01,0.1,inf", "--json"))
    joint = eo.JointDistribution.from_frame(past, score="points", group="race", label="repaid")
    known = eo.frontier(joint, max_slopes=[0.01, 0.1, float("inf")])
    assert [row["accuracy_score"] for row in rows] == list(known.objectives)
    assert rows[-1]["max_slope"] == "inf"
    assert "loss" in run("frontier", "past.csv", *PEOPLE, "--max-slopes", "0.1")


@pytest.mark.usefixtures("policy")
def test_audit_says_its_verdict_by_the_exit_code(run, past, tmp_path):
    told = run("audit", "policy.json", "past.csv", *PEOPLE, "--tolerance", 0.5, "--before", 55)
    assert "Verdict: pass" in told
    assert "before" in told
    assert "Verdict: undecided" in run("audit", "policy.json", "past.csv", *PEOPLE, "--tolerance", 0.001)
    moved = past.set_column(
        1, "points", pa.array(past["points"].to_numpy() + 20 * (past["race"].to_numpy() == "white"))
    )
    pa.csv.write_csv(moved, tmp_path / "moved.csv")
    assert "Verdict: fail" in run("audit", "policy.json", "moved.csv", *PEOPLE, "--tolerance", 0.02, exit_code=1)
    plain = json.loads(run("audit", "policy.json", "moved.csv", *PEOPLE, "--tolerance", 0.02, "--json", exit_code=1))
    assert plain["verdict"]["outcome"] == "fail"
    assert {"figure", "value", "low", "high"} <= set(plain["figures"][0])


def test_update(run, policy, fresh, tmp_path):
    told = run("update", "policy.json", "fresh.csv", *PEOPLE, "--max-change", 0.3, "-o", "next.json")
    joint = eo.JointDistribution.from_frame(fresh, score="points", group="race", label="repaid")
    known = eo.update(policy, joint, max_change=0.3)
    assert eo.Policy.load(tmp_path / "next.json") == known
    assert told == f"{known}\n"
    change = known.certificate.change
    assert str(change) in told
    plain = json.loads(run("update", "policy.json", "fresh.csv", *PEOPLE, "--max-change", 0.3, "--json"))
    for name in ("previous", "allowed", "most", "least", "before", "tolerance", "by_chance", "is_warranted"):
        assert plain[name] == getattr(change, name)
    assert plain["constraints"] == "equalized_odds"
    assert plain["fingerprint"] == known.document["fingerprint"]
    assert sorted(path.name for path in tmp_path.glob("*.json")) == ["next.json", "policy.json"]


@pytest.mark.usefixtures("fresh")
def test_updates_that_cannot_be_write_nothing(run, policy, past, tmp_path):
    race = past["race"].to_numpy()
    changed = {"fewer": np.full(race.size, "white"), "other": np.where(race == "white", "white", "green")}
    for name, groups in changed.items():
        pa.csv.write_csv(past.set_column(2, "race", pa.array(groups)), tmp_path / f"{name}.csv")
    joint = eo.JointDistribution.from_frame(past, score="points", group="race", label="repaid")
    eo.fit(joint, curve="fixed").save(tmp_path / "jumps.json")
    some = ["--max-change", 0.3]
    for words, text in (
        (["policy.json", "fewer.csv", *some], "Of the policy's groups these are not among the people: 'black'."),
        (["policy.json", "other.csv", *some], "'green'"),
        (["jumps.json", "past.csv", *some], "The policy's odds jump"),
        (["policy.json", "past.csv", "--max-change", 0], "--max-change 0.0 is not allowed"),
        (["policy.json", "past.csv", "--max-change", 1.5], "--max-change 1.5 is not allowed"),
        (["policy.json", "past.csv", "--max-change", "nan"], "--max-change nan is not allowed"),
        (["policy.json", "fresh.csv", "--max-change", 1e-5], "No change of odds by up to --max-change 1e-05 keeps the"),
        (["past.csv", "past.csv", *some], "past.csv"),
        (["gone.json", "past.csv", *some], "There is no file gone.json."),
    ):
        told = run("update", *words, *PEOPLE, "-o", "next.json", exit_code=2)
        lines = [line for line in told.splitlines() if not line.startswith("evenodds: warning: ")]
        assert len(lines) == 1
        assert text in lines[0]
        assert not (tmp_path / "next.json").exists()
    assert "Missing option '--max-change'" in run("update", "policy.json", "past.csv", *PEOPLE, exit_code=2)
    before = (tmp_path / "policy.json").read_bytes()
    told = run("update", "policy.json", "past.csv", *PEOPLE, *some, "-o", "policy.json", exit_code=2)
    assert "policy.json is what is read. Hint: choose another file for -o." in told
    assert (tmp_path / "policy.json").read_bytes() == before
    assert eo.Policy.load(tmp_path / "policy.json") == policy


@pytest.mark.usefixtures("policy")
def test_audits_of_decisions_and_thresholds(run, past, tmp_path):
    score, race, repaid = (past[name].to_numpy() for name in ("points", "race", "repaid"))
    decided = past.append_column("approved", pa.array((score > 55).astype(int)))
    sexes = np.array(["f", "m", ""])[np.arange(score.size) % 3]
    pa.csv.write_csv(decided.append_column("sex", pa.array(sexes)), tmp_path / "decided.csv")
    words = ("--decision", "approved", "--group", "race", "--label", "repaid")
    figures = json.loads(run("audit", "decided.csv", *words, "--format", "json"))["figures"]
    known = eo.Audit.of_decisions(score > 55, race, repaid)
    assert [row["value"] for row in figures if row["figure"] == "precision"] == [
        group.precision.value for group in known.by_group
    ]
    assert "Verdict: " in run("audit", "decided.csv", *words, "--tolerance", 0.9)
    told = run("audit", "past.csv", "--threshold", 55, *PEOPLE, "--tolerance", 0.9, "--reference", "past.csv")
    assert "Verdict: pass" in told
    assert "cannot exceed" not in told  # a threshold promised nothing
    assert "difference cannot exceed" in run("audit", "policy.json", "past.csv", *PEOPLE, "--reference", "past.csv")
    table = run("audit", "decided.csv", "--decision", "approved", "--group", "sex,race", "--format", "ll144")
    assert table.startswith("by,category,people,share,selected,selection_rate,impact_ratio,small\nsex,f,")
    assert f"sex,unknown,{(sexes == '').sum()}" in table
    page = ("--format", "ll144", "-o", "impact.html")
    assert not run("audit", "decided.csv", "--decision", "approved", "--group", "race", *page)
    assert "Impact ratio" in (tmp_path / "impact.html").read_text()
    for bad, text in (
        (["decided.csv", *words, "--threshold", 5], "--decision and --threshold both say what decides"),
        (["policy.json", "decided.csv", *words], "2 files were given: policy.json, decided.csv. Allowed: DATA."),
        (["decided.csv", "--group", "race"], "Allowed: POLICY DATA, or DATA with --decision or --threshold."),
        (["decided.csv", *words[:4]], "Missing option --label."),
        (["decided.csv", *words, "--score", "points"], "--score is about scores, and --decision needs none"),
        (["decided.csv", *words, "-o", "x.csv"], "-o is where --format ll144 is written"),
        (["decided.csv", *words, "--format", "ll144", "-o", "x.pdf"], "Allowed: .csv, .html."),
        (["decided.csv", "--decision", "points", *words[2:]], "outside 0 to 1 (first at row"),
        (["past.csv", "--threshold", 5, "--group", "race", "--label", "repaid"], "Missing option --score."),
    ):
        assert text in run("audit", *bad, exit_code=2)


@pytest.mark.usefixtures("past")
def test_a_fit_that_holds_for_new_people(run):
    told = run("fit", "past.csv", *PEOPLE, "--tolerance", 0.6, "--confidence", 0.9)
    assert "with confidence 0.9 the groups of the population differ by at most 0.6" in told
    few = run(
        "fit", "past.csv", *PEOPLE, "--tolerance", 0.001, "--confidence", 0.9, "--guarantee", "finite", exit_code=2
    )
    assert "There are too few people to promise --tolerance 0.001" in few
    assert "--confidence 2.0 is not allowed" in run("fit", "past.csv", *PEOPLE, "--confidence", 2, exit_code=2)


@pytest.mark.usefixtures("policy")
def test_report_in_every_format(run, past, tmp_path):
    told = run(
        "report", "policy.json", "past.csv", *PEOPLE, "-o", "r.html", "--about", "Owner=The bank", "--title", "Ours"
    )
    assert told == ""
    page = (tmp_path / "r.html").read_text()
    assert "<h1>Ours</h1>" in page
    assert "The bank" in page
    joint = eo.JointDistribution.from_frame(past, score="points", group="race", label="repaid")
    known = eo.Policy.load(tmp_path / "policy.json")
    eo.report(
        known,
        joint,
        tmp_path / "known.html",
        title="Ours",
        about={"Columns": "score: points; group: race; label: repaid", "Owner": "The bank"},
    )
    assert page == (tmp_path / "known.html").read_text()
    markdown = run("report", "policy.json", "past.parquet", *PEOPLE, "--format", "markdown", "--tolerance", 0.3)
    assert markdown.startswith("# Fair odds: a report on a policy")
    assert "Verdict at a tolerance of 0.3" in markdown
    assert run("report", "policy.json", "past.csv", *PEOPLE, "-o", "-").startswith("<!DOCTYPE html>")
    given = (tmp_path / "past.parquet").read_bytes()
    run("report", "policy.json", "-", *PEOPLE, "--data-format", "parquet", "-o", "r.md", stdin=given)
    assert (tmp_path / "r.md").read_text().startswith("# Fair odds")
    plain = json.loads(run("report", "policy.json", "past.csv", *PEOPLE, "--json", "--before", 50))
    assert plain["sections"][0]["title"] == "In short"


@pytest.mark.usefixtures("past")
def test_a_fit_with_its_report(run, tmp_path):
    run("fit", "past.csv", *PEOPLE, "-o", "p.json", "--report", "r.html")
    assert eo.Policy.load(tmp_path / "p.json").document["fingerprint"] in (tmp_path / "r.html").read_text()


@pytest.mark.usefixtures("past")
def test_policies_that_are_not_there(run):
    for name, expected in (("nowhere.json", "There is no file nowhere.json."), (".", ". is a folder, and not a file.")):
        told = run("explain", name, "--score", 1, "--group", "white", exit_code=2)
        assert told == f"evenodds: {expected}\n"


def test_what_is_read_is_not_written_over(run, past, tmp_path):
    before = (tmp_path / "past.csv").read_bytes()
    for words in (["-o", "past.csv"], ["-o", "p.json", "--report", "./past.csv"]):
        told = run("fit", "past.csv", *PEOPLE, *words, exit_code=2)
        assert "past.csv is what is read. Hint: choose another file for -" in told
    run("fit", "past.csv", *PEOPLE, "-o", "p.json")
    for name in ("past.csv", "p.json"):
        assert f"{name} is what is read" in run("report", "p.json", "past.csv", *PEOPLE, "-o", name, exit_code=2)
    assert "p.json is what is read" in run("apply", "p.json", "past.csv", *COLUMNS, "-o", "p.json", exit_code=2)
    (tmp_path / "key.txt").write_text("ab" * 32)
    words = ["decide", "p.json", "past.csv", *COLUMNS, "--id", "name", "--key-file", "key.txt", "-o", "key.txt"]
    assert "key.txt is what is read" in run(*words, exit_code=2)
    assert (tmp_path / "past.csv").read_bytes() == before
    assert past.num_rows == 1200


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-o", "r.pdf"], "A PDF is made by a browser: write r.html and print it"),
        (["-o", "r.doc"], "The format of r.doc cannot be told from its name. Allowed endings: .html"),
        (["-o", "nowhere/r.html"], "There is no folder nowhere."),
        (["--format", "htlm"], "Hint: did you mean 'html'?"),
        (["--about", "Owner"], "Owner is not a field and its text, such as Owner=Credit team"),
        (["--tolerance", "7"], "--tolerance 7.0 is not allowed"),
    ],
)
@pytest.mark.usefixtures("policy")
def test_bad_reports_are_refused(run, words, expected):
    told = run("report", "policy.json", "past.csv", *PEOPLE, *words, exit_code=2)
    assert expected in told
    assert told.strip().splitlines()[-1].count(expected.split()[0]) >= 1


def test_explain(run, policy):
    assert (
        run("explain", "policy.json", "--score", 55, "--group", "white")
        == f"{eo.explain(policy, score=55, group='white')}\n"
    )
    plain = json.loads(run("explain", "policy.json", "--score", 55, "--group", "white", "--odds", 0.3, "--json"))
    assert plain["odds"] == float(policy.odds(55, "white"))
    assert "0.3" in plain["needed"]


def test_apply_keeps_every_other_column_as_it_stands(run, past, policy, tmp_path):
    (tmp_path / "new.csv").write_text('id,points,race,note\n007, 50.10 ,white,"a, ""b"""\n008,60,black ,\n')
    rows = list(csv.DictReader(run("apply", "policy.json", "new.csv", *COLUMNS).splitlines()))
    assert [row["id"] for row in rows] == ["007", "008"]
    assert rows[0]["note"] == 'a, "b"'
    assert rows[0]["points"] == " 50.10 "
    assert [float(row["odds"]) for row in rows] == policy.odds([50.1, 60], ["white", "black"]).tolist()
    for ending in ("csv", "parquet", "arrow"):
        run("apply", "policy.json", f"past.{ending}", *COLUMNS, "--into", "chance", "-o", f"out.{ending}")
    known = policy.odds(past["points"].to_numpy(), past["race"].to_pylist())
    written = pa.parquet.read_table(tmp_path / "out.parquet")
    np.testing.assert_array_equal(written["chance"].to_numpy(), known)
    assert written.column_names == [*past.column_names, "chance"]
    np.testing.assert_array_equal(pa.ipc.open_file(tmp_path / "out.arrow").read_all()["chance"].to_numpy(), known)
    np.testing.assert_array_equal(pa.csv.read_csv(tmp_path / "out.csv")["chance"].to_numpy(), known)


@pytest.mark.usefixtures("policy")
def test_apply_says_which_rows_it_cannot_use(run, tmp_path):
    (tmp_path / "new.csv").write_text("points,race\n50,white\n60,purple\n,white\n")
    told = run("apply", "policy.json", "new.csv", *COLUMNS, exit_code=2)
    assert "new.csv: 2 of 3 rows cannot be given odds" in told
    assert "row 2: score 60, group 'purple'" in told  # as the file has them, counted from 1
    assert "apply --on-invalid null" in told
    rows = list(csv.DictReader(run("apply", "policy.json", "new.csv", *COLUMNS, "--on-invalid", "null").splitlines()))
    assert [bool(row["odds"]) for row in rows] == [True, False, False]


@pytest.mark.usefixtures("policy")
def test_a_file_may_be_written_onto_itself(run, tmp_path):
    """More rows than are read ahead: what is read must not be cut off by what is written."""
    rows = 2_000_000
    with (tmp_path / "huge.csv").open("w") as file:
        file.write("name,points,race,filler\n")
        for start in range(0, rows, 10_000):
            file.write("".join(f"p{i},50,white,{'x' * 60}\n" for i in range(start, start + 10_000)))
    run("apply", "policy.json", "huge.csv", *COLUMNS, "-o", "huge.csv")
    with (tmp_path / "huge.csv").open() as file:
        assert next(file).endswith(",odds\n")
        assert sum(1 for _ in file) == rows
    assert {file.name for file in tmp_path.iterdir()} == {
        "huge.csv", "policy.json", "past.csv", "past.parquet", "past.arrow",
    }  # fmt: skip


@pytest.mark.usefixtures("policy")
def test_an_error_leaves_nothing_half_done(run, tmp_path):
    with (tmp_path / "late.csv").open("w") as file:
        file.write("points,race\n" + "50,white\n" * 700_000 + "oops,white\n")
    (tmp_path / "out.csv").write_text("as it was")
    told = run("apply", "policy.json", "late.csv", *COLUMNS, "-o", "out.csv", exit_code=2)
    assert "row 700001: 'oops' in column 'points' is not a number." in told
    assert (tmp_path / "out.csv").read_text() == "as it was"
    assert not list(tmp_path.glob(".*"))


@pytest.mark.usefixtures("policy")
def test_the_output_has_the_format_of_its_own_name(run, tmp_path):
    (tmp_path / "past.csv").rename(tmp_path / "past.weird")
    run("apply", "policy.json", "past.weird", "--format", "csv", *COLUMNS, "-o", "out.parquet")
    assert pa.parquet.read_table(tmp_path / "out.parquet").num_rows == 1200
    run("apply", "policy.json", "past.parquet", "--format", "parquet", *COLUMNS, "-o", "out.csv")
    assert (tmp_path / "out.csv").read_text().startswith("name,points,race,repaid,odds\n")
    run("apply", "policy.json", "past.parquet", *COLUMNS, "-o", "/dev/null")


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.usefixtures("policy")
def test_tables_without_rows_or_with_odd_columns(run, past, tmp_path, ending):
    def written(table, name):
        if ending == "parquet":
            pa.parquet.write_table(table, tmp_path / name)
        else:
            with pa.ipc.new_file(tmp_path / name, table.schema) as file:
                file.write_table(table)

    written(past.slice(0, 0), f"none.{ending}")
    for words in (["audit", "policy.json"], ["fit"], ["report", "policy.json"]):
        told = run(*words, f"none.{ending}", *PEOPLE, exit_code=2)
        assert told == f"evenodds: none.{ending} has columns, and no rows.\n"
    told = run("apply", "policy.json", f"none.{ending}", *COLUMNS, "-o", f"out.{ending}", exit_code=2)
    assert "no rows" in told
    assert not (tmp_path / f"out.{ending}").exists()
    listed = past.append_column("list", pa.array([[1]] * past.num_rows))
    written(listed, f"list.{ending}")
    told = run("apply", "policy.json", f"list.{ending}", *COLUMNS, "-o", "out.csv", exit_code=2)
    assert "Column 'list' holds list<" in told
    run("apply", "policy.json", f"list.{ending}", *COLUMNS, "-o", f"out.{ending}")
    words = past.set_column(3, "repaid", past["repaid"].cast(pa.string()).cast(pa.large_string()).dictionary_encode())
    written(words, f"words.{ending}")
    run("fit", f"words.{ending}", *PEOPLE, "-o", "w.json")
    assert eo.Policy.load(tmp_path / "w.json") == eo.Policy.load(tmp_path / "policy.json")
    whole = (tmp_path / f"words.{ending}").read_bytes()
    (tmp_path / f"cut.{ending}").write_bytes(whole[: len(whole) // 2])
    told = run("fit", f"cut.{ending}", *PEOPLE, exit_code=2)
    assert f"cut.{ending} cannot be read as {ending}" in told
    assert len(told.strip().splitlines()) == 1


def test_reviews_from_fit_to_decisions(run, past, tmp_path):
    words = ["--review-capacity", "0.1", "--review-tpr", "0.9", "--review-fpr", "0.2", "--review-equal", "final"]
    told = run("fit", "past.parquet", *COLUMNS, "--label", "repaid", *words, "-o", "looked.json")
    assert "Reviewed: 0.1 of everybody" in told or "0.1 reviewed" in told
    policy = eo.Policy.load(tmp_path / "looked.json")
    assert policy.review == eo.Review(capacity=0.1, tpr=0.9, fpr=0.2, equal="final")
    run("apply", "looked.json", "past.parquet", *COLUMNS, "-o", "odds.parquet")
    assert pa.parquet.read_table(tmp_path / "odds.parquet").column_names[-2:] == ["odds", "odds_review"]
    (tmp_path / "key.txt").write_text("ab" * 32)
    run("decide", "looked.json", "past.parquet", *COLUMNS, "--id", "name", "--key-file", "key.txt", "-o", "out.csv")
    decided = pa.csv.read_csv(tmp_path / "out.csv")
    assert decided.column_names[-4:] == ["odds", "odds_review", "draw", "decision"]
    assert set(decided["decision"].to_pylist()) == {"yes", "review", "no"}
    assert decided.num_rows == past.num_rows
    told = run("fit", "past.parquet", *COLUMNS, "--label", "repaid", *words[:2], "-o", "no.json", exit_code=2)
    assert "--review-tpr and --review-fpr are not given" in told


@pytest.mark.usefixtures("policy")
def test_decide_draws_the_same_for_the_same_person(run, past, tmp_path):
    key = run("draw-key")
    assert len(key.strip()) == 64
    (tmp_path / "key.txt").write_text(key)
    words = ["decide", "policy.json", "past.parquet", *COLUMNS, "--id", "name", "--key-file", "key.txt"]
    run(*words, "-o", "out.parquet")
    written = pa.parquet.read_table(tmp_path / "out.parquet")
    known = eo.draw(past["name"].to_pylist(), key=key.strip())
    np.testing.assert_array_equal(written["draw"].to_numpy(), known)
    np.testing.assert_array_equal(written["decision"].to_numpy(), known < written["odds"].to_numpy())
    run(*words, "--round", "second", "-o", "again.parquet")
    assert (pa.parquet.read_table(tmp_path / "again.parquet")["draw"].to_numpy() != known).all()


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        ("", "an id cannot be drawn for (row 2): it is missing. Hint: everybody who is drawn for needs an id."),
        ('""', "id '' cannot be drawn for (row 2): it is empty. Hint: everybody who is drawn for needs an id."),
        (
            '" b"',
            "id ' b' cannot be drawn for (row 2): an id must be without spaces at its ends and NFC-normalised. {}",
        ),
    ],
)
@pytest.mark.usefixtures("policy")
def test_decide_names_the_row_of_a_bad_id(run, tmp_path, who, expected):
    (tmp_path / "new.csv").write_text(f"name,points,race\na,50,white\n{who},60,white\n")
    (tmp_path / "key.txt").write_text("ab" * 32)
    (tmp_path / "key.txt").chmod(0o600)
    words = ["decide", "policy.json", "new.csv", *COLUMNS, "--id", "name", "--key-file", "key.txt"]
    assert run(*words, "-o", "out.csv", exit_code=2) == (
        f"evenodds: new.csv: {expected.format('Hint: repair it in the file.')}\n"
    )
    assert not (tmp_path / "out.csv").exists()
    told = run(*words, "--round", b"\xff", exit_code=2)
    assert "--round '\\udcff' is not allowed. Allowed: a string without '|', U+0000 and lone surrogates." in told


@pytest.mark.usefixtures("policy")
def test_decide_refuses_who_stands_twice_however_far_apart(run, tmp_path):
    """In one block, and in two, of which the first is written by then: the file does not take its place."""
    (tmp_path / "key.txt").write_text("ab" * 32)
    words = ["decide", "policy.json", "new.csv", *COLUMNS, "--id", "name", "--key-file", "key.txt", "-o", "out.csv"]
    (tmp_path / "new.csv").write_text("name,points,race\na,50,white\nb,60,white\na,50,white\n")
    told = run(*words, exit_code=2)
    assert "id 'a' comes 2 times (row 1, row 3). In a round everybody is decided for once. Hint: drop rows" in told
    rows = "".join(f"p{i},50,white,{'x' * 900}\n" for i in range(10_000))
    (tmp_path / "new.csv").write_text(f"name,points,race,filler\n{rows}p7,50,white,\n")
    told = run(*words, exit_code=2)
    assert "new.csv: row 10001 has the id of row 8. In a round everybody is decided for once. Hint: drop rows" in told
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.usefixtures("policy")
def test_a_key_that_others_can_read_is_warned_of(command_line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.csv").write_text("name,points,race\na,50,white\n")
    words = ["decide", "policy.json", "new.csv", *COLUMNS, "--id", "name", "--key-file", "key.txt"]
    (tmp_path / "key.txt").write_text("ab" * 32)
    for mode, warned in ((0o600, False), (0o400, False), (0o640, True), (0o604, True), (0o622, False)):
        (tmp_path / "key.txt").chmod(mode)
        done = command_line(*words)
        assert done.code == 0
        told = (
            f"evenodds: warning: key.txt can be read by others than its owner (mode {mode:04o}), and who knows the key"
        )
        assert done.told.startswith(told) if warned else done.told == ""
        assert done.printed.count("\n") == 2


@pytest.mark.parametrize(
    ("key", "got"),
    [
        ("AB" * 32, "one with upper-case letters, which reads as the same key and would draw differently"),
        (
            "ab" * 31,
            "got 62 characters. Hint: give the key itself, all of it; evenodds draw-key makes a new one.",
        ),
        ("ab" * 33, "got 66 characters"),
        ("xy" * 32, "got one with other characters"),
        ("", "got 0 characters"),
    ],
)
@pytest.mark.usefixtures("policy")
def test_a_key_that_is_none_is_refused_and_not_shown(run, tmp_path, key, got):
    (tmp_path / "new.csv").write_text("name,points,race\na,50,white\n")
    (tmp_path / "key.txt").write_text(key)
    (tmp_path / "key.txt").chmod(0o600)
    words = ["decide", "policy.json", "new.csv", *COLUMNS, "--id", "name", "--key-file", "key.txt"]
    told = run(*words, "-o", "out.csv", exit_code=2)
    assert told.startswith("evenodds: key.txt: key must be a string of 64 lower-case hexadecimal digits, got ")
    assert got in told
    assert not key or key not in told
    assert not (tmp_path / "out.csv").exists()


def test_draw_key_writes_a_file_for_its_owner_and_tells_the_commitment(command_line, run, tmp_path):
    printed, written = command_line("draw-key"), command_line("draw-key", "-o", "key.txt")
    key = (tmp_path / "key.txt").read_text()
    assert (printed.code, written.code) == (0, 0)
    assert written.printed == "Written to key.txt.\n"
    assert key != printed.printed
    for text, told in ((printed.printed, printed.told), (key, written.told)):
        assert re.fullmatch("[0-9a-f]{64}\n", text)
        assert told == f"Commitment: {hashlib.sha256(text.strip().encode()).hexdigest()}\n"
    assert (tmp_path / "key.txt").stat().st_mode & 0o777 == 0o600
    assert "key.txt holds a key, which would be lost" in run("draw-key", "-o", "key.txt", exit_code=2)
    assert (tmp_path / "key.txt").read_text() == key
    assert "There is no folder nowhere." in run("draw-key", "-o", "nowhere/key.txt", exit_code=2)
    assert "-o names no file" in run("draw-key", "-o", "", exit_code=2)


def test_draw_chain_binds_every_round_by_one_commitment(run, tmp_path):
    published = run("draw-chain", 12, "-o", "keys").strip()
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700
    files = sorted((tmp_path / "keys").iterdir())
    assert [file.name for file in files] == [f"{i:02}.txt" for i in range(1, 13)]
    for file in files:
        assert file.stat().st_mode & 0o777 == 0o600
        assert hashlib.sha256(file.read_text().strip().encode()).hexdigest() == published
        published = file.read_text().strip()
    assert "keys is there already, and keys that are written over are lost" in run(
        "draw-chain", 2, "-o", "keys", exit_code=2
    )
    assert "There is no folder nowhere" in run("draw-chain", 2, "-o", "nowhere/keys", exit_code=2)
    assert "Invalid value for 'ROUNDS'" in run("draw-chain", 0, "-o", "none", exit_code=2)
    assert "-o names no folder" in run("draw-chain", 1, "-o", "", exit_code=2)
    assert [file.name for file in tmp_path.iterdir()] == ["keys"]


def test_decide_hands_out_places_over_the_whole_file(run, past, policy, tmp_path):
    (tmp_path / "key.txt").write_text(f"{'ab' * 32}\n")
    (tmp_path / "key.txt").chmod(0o600)
    known = eo.decide(policy, past, score="points", group="race", id="name", key="ab" * 32, places=True)
    words = [*COLUMNS, "--id", "name", "--key-file", "key.txt"]
    run("decide", "policy.json", "past.parquet", *words, "--places", "-o", "out.parquet")
    assert pa.parquet.read_table(tmp_path / "out.parquet").equals(known)
    expected = sum(known["odds"].to_pylist())
    count = ["--places-count", int(expected)]
    text = run("decide", "policy.json", "-", *words, *count, stdin=(tmp_path / "past.csv").read_bytes())
    assert [line.rsplit(",", 1)[1] for line in text.split()[1:]] == [str(one) for one in known["decision"].to_pylist()]
    told = run("decide", "policy.json", "past.csv", *words, "--places-count", 120, exit_code=2)
    assert told == (
        "evenodds: past.csv: --places-count 120 is not what the odds of these 1,200 people sum to, which is "
        f"{expected:.6g}. Allowed: {int(expected)} or {int(expected) + 1}, or --places for as many as the odds sum to. "
        "Hint: fit the policy with --selection-rate 0.1 for 120 of 1,200 people.\n"
    )
    assert "Invalid value for '--places-count'" in run(
        "decide", "policy.json", "-", *words, *count[:1], -1, exit_code=2
    )
    (tmp_path / "new.csv").write_text("name,points,race\na,50,white\nb,60,white\na,50,white\n")
    told = run("decide", "policy.json", "new.csv", *words, "--places", exit_code=2)
    assert "id 'a' comes 2 times (row 1, row 3)" in told


LIMIT = 500_000_000  # bytes


@pytest.mark.usefixtures("policy")
def test_files_larger_than_memory_stream_through(installed, tmp_path):
    """600,000 rows, more text than the process may have memory; and what it takes hardly depends on their number."""
    (tmp_path / "key.txt").write_text("ab" * 32)
    (tmp_path / "key.txt").chmod(0o600)
    filler = "x" * 900
    peaks = []
    for blocks in (20, 60):  # the smaller one fills what is read ahead too
        with (tmp_path / "big.csv").open("w") as file:
            file.write("name,points,race,filler\n")
            for block in range(blocks):
                file.write("".join(f"p{block}-{i},{i % 100},white,{filler}\n" for i in range(10_000)))
        words = ["decide", "policy.json", "big.csv", *COLUMNS, "--id", "name", "--key-file", "key.txt", "-o", "out.csv"]
        peaks.append(_peak_of(words, installed, tmp_path))
        with (tmp_path / "out.csv").open() as file:
            assert sum(1 for _ in file) == 10_000 * blocks + 1
    assert (tmp_path / "big.csv").stat().st_size > LIMIT
    assert peaks[1] < LIMIT / 1000
    assert peaks[1] < peaks[0] + 60_000, "memory grows with the rows"
    for name in ("big.csv", "out.csv"):
        (tmp_path / name).unlink()


def _peak_of(words, installed, folder):
    """The most memory that a command ever held, in kilobytes; it is not given more than the limit."""
    code = (
        "import sys, re, resource\n"
        f"resource.setrlimit(resource.RLIMIT_DATA, ({LIMIT}, {LIMIT}))\n"
        "from evenodds.fronts.cli import commands\n"
        "commands([*sys.argv[1:], '--quiet'], standalone_mode=False)\n"
        "sys.stderr.write(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return int(done.stderr)


@pytest.mark.parametrize("name", ["credit", "compas"])
def test_studies_print_tables_and_write_a_folder(run, command_line, tmp_path, monkeypatch, name):
    text = run("study", name, "-o", "whole")
    assert "A slope budget for every group" in " ".join(text.split())
    files = {file.name for file in (tmp_path / "whole").iterdir()}
    assert {"published.csv", "budgets.csv", "criteria.csv", "roc.png", "curves.svg", "report.html"} <= files
    assert json.loads(run("study", name, "--json"))["budgets"][0]["loss"] == 0
    for module in ["matplotlib", *(name for name in sys.modules if name.startswith("matplotlib."))]:
        monkeypatch.setitem(sys.modules, module, None)
    done = command_line("study", name, "-o", "folder")
    assert done.code == 0
    known = {file.name: file.stat().st_size for file in (tmp_path / "whole").iterdir()}
    files = {file.name: file.stat().st_size for file in (tmp_path / "folder").iterdir()}
    assert {file for file in known if file.endswith(".png")}
    assert set(files) == {file for file in known if not file.endswith(".png")}
    assert all(files.values())
    assert done.told == (
        "evenodds: warning: The figures are written as SVG, and not as PNG, since matplotlib is not installed. "
        f"Hint: pip install 'evenodds[plot]'.\n{len(files)} files written to folder; report.html has it all.\n"
    )


@pytest.mark.parametrize(
    ("words", "file", "expected"),
    [
        (["nowhere.csv"], None, "There is no file nowhere.csv."),
        (["."], None, ". is a folder, and not a file."),
        (["bad.csv"], "", "bad.csv is empty."),
        (["bad.csv"], "points,race,repaid\n", "has columns, and no rows"),
        (["bad.csv"], "points;race;repaid\n1;w;0\n", "Hint: --delimiter ';'"),
        (["bad.csv"], "pionts,race,repaid\n1,w,0\n", "Its columns: pionts, race, repaid. Hint: did you mean 'pionts'?"),
        (["bad.csv"], "points,race,repaid\n1,w,0\nabc,w,1\n", "row 2: 'abc' in column 'points' is not a number."),
        (["bad.csv"], "points,race,repaid\n1,w,0\n2,w\n", "cannot be read as csv"),
        (["bad.csv"], "points,points,race,repaid\n1,1,w,0\n", "more than one column 'points'"),
        (["bad.csv"], "points,race,repaid\n1,w,0\n,w,1\n", "1 without a finite score in 'points' (the first is row 2)"),
        (["bad.csv"], "points,race,repaid\n1,w,0\n2,w,5\n", "label column 'repaid'"),
        (["bad.parquet"], "no parquet at all", "bad.parquet cannot be read as parquet"),
        (["bad.arrow"], "no arrow at all", "bad.arrow cannot be read as arrow"),
        (["bad.dat"], "x", "cannot be told from its name. Hint: --format"),
        (["bad.xls"], "x", "cannot be told from its name. Hint: save it as CSV"),
        (["bad.csv", "--curve", "linaer"], "points,race,repaid\n1,w,0\n2,w,1\n", "did you mean 'linear'?"),
        (["bad.csv"], "points,race,repaid\r1,w,0\r2,w,1\r", "cannot be read as csv"),
        pytest.param(
            ["bad.csv"],
            f"{'x' * 140_000},points,race,repaid\n1,1,w,0\n",
            "cannot be read as csv",
            id="a long name",  # pytest puts ids into the environment, where a text has 128 kB at the most
        ),
        (["bad.csv"], '"na\nme",pionts,race,repaid\n1,1,w,0\n', "Its columns: na me, pionts, race, repaid."),
        (["bad.csv"], "points,race,repaid\n1,w,0\n2,\x00,1\n3,\udcff,1\n", "bad.csv"),
        (["bad.csv", "--delimiter", "ab"], "points,race,repaid\n1,w,0\n", "--delimiter 'ab' is not allowed"),
        (["bad.csv", "--label", "points"], "points,race,repaid\n1,w,0\n", "cannot be --score and --label at once"),
        (["bad.csv", "--group", "sex"], "points,race,repaid\n1,w,0\n", "--group is given twice."),
        (["bad.csv", "--target", "0.3"], "points,race,repaid\n1,w,0\n2,w,1\n", "--target 0.3 is not allowed"),
    ],
)  # fmt: skip
def test_bad_data_is_one_clear_line(run, tmp_path, words, file, expected):
    if file is not None:
        (tmp_path / words[0]).write_text(file, errors="surrogateescape", newline="")
    told = run("fit", *PEOPLE, *words, exit_code=2)
    assert expected in told
    assert len(told.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda text: text[: len(text) // 2], "is not JSON, or was cut off"),
        (lambda text: text.replace('"p": 0.5', '"p": 0.4', 1), "was changed since it was saved"),
        (lambda text: text.replace('"version": 4', '"version": 5'), "has version 5; this evenodds reads up to 4"),
        (lambda text: text.replace("evenodds/policy", "else"), "is not a policy"),
        (lambda _: "[]", "is not a policy"),
        (lambda _: "\udcff", "is not JSON"),
        (lambda _: "", "is not JSON"),
        (lambda text: text.replace('"tolerance": 0.0', '"tolerance": NaN'), "NaN is no number"),
        (lambda _: "[" * 200_000, "is not JSON, or was cut off"),
        (lambda text: text.replace('"version": 4', f'"version": {"9" * 5000}'), "is not JSON, or was cut off"),
        (lambda text: text.replace('"group": "white"', r'"group": "\ud800"'), "is not JSON, or was cut off"),
    ],
)
@pytest.mark.usefixtures("policy")
def test_bad_policies_are_one_clear_line(run, tmp_path, change, expected):
    file = tmp_path / "policy.json"
    file.write_text(change(file.read_text()), errors="surrogateescape")
    told = run("explain", "policy.json", "--score", 1, "--group", "white", exit_code=2)
    assert expected in told
    assert len(told.strip().splitlines()) == 1
    file.unlink()
    assert "policy.json" in run("explain", "policy.json", "--score", 1, "--group", "white", exit_code=2)


def test_help_loads_nothing_heavy(installed):
    code = (
        "import sys; from evenodds.fronts.cli import commands\n"
        "commands(['--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'scipy', 'rich', 'pyarrow', 'narwhals', 'pandas'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(installed)}, check=True, capture_output=True)


def test_a_shell_can_complete_commands_and_words(installed):
    environment = {**os.environ, "PYTHONPATH": str(installed), "_EVENODDS_COMPLETE": "bash_complete"}

    def completed(words, position):
        told = subprocess.run(
            [sys.executable, "-m", "evenodds"],
            env={**environment, "COMP_WORDS": words, "COMP_CWORD": str(position)},
            capture_output=True,
            text=True,
            check=False,
        )
        return told.stdout

    assert "audit" in completed("evenodds a", 1)
    assert "quartic" in completed("evenodds fit --curve qu", 3)
