"""The verify command: its exit code is its verdict, and bad input is neither."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

import evenodds as eo
from evenodds.fronts.cli import commands, files

COLUMNS = ["--score", "points", "--group", "race", "--id", "name", "--key-file", "key.txt"]
WORDS = ["--policy", "policy.json", *COLUMNS]
KEY = "ab" * 32


@pytest.fixture
def decided(policy, past, tmp_path, monkeypatch):
    """Decisions in a folder of their own, as lines of a CSV file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "key.txt").write_text(f"{KEY}\n")
    table = eo.decide(policy, past, score="points", group="race", id="name", key=KEY)
    pa.csv.write_csv(table, "decided.csv")
    pa.parquet.write_table(table, "decided.parquet")
    pa.csv.write_csv(
        eo.decide(policy, past, score="points", group="race", id="name", key=KEY, places=True), "placed.csv"
    )
    return (tmp_path / "decided.csv").read_text().splitlines()


@pytest.mark.usefixtures("decided")
def test_honest_files_of_every_kind(run, tmp_path):
    text = run("verify", "decided.csv", *WORDS)
    assert text.startswith("Passed: odds, draws and decisions of all 1,200 rows are right.\nPolicy of fingerprint ")
    assert "\nWere the dice honest?" in text
    agreed = hashlib.sha256(KEY.encode()).hexdigest()
    assert f"key of commitment {agreed}, as committed." in run("verify", "decided.csv", *WORDS, "--commitment", agreed)
    text = run("verify", "decided.csv", *WORDS, "--commitment", "0" * 64, exit_code=1)
    assert "The key is not the one that was committed to" in text
    told = json.loads(run("verify", "-", *WORDS, "--json", stdin=(tmp_path / "decided.csv").read_bytes()))
    assert told["passed"] is True
    assert (told["rows"], told["wrong"], told["first"]) == (1200, 0, None)
    assert [one["group"] for one in told["dice"]] == ["black", "white"]
    assert run("verify", "placed.csv", *WORDS, "--places").startswith("Passed: odds and decisions of all 1,200")
    assert run("verify", "decided.parquet", *WORDS).startswith("Passed")


def test_what_the_command_decides_the_command_verifies(run, tmp_path, decided):
    (tmp_path / "late.csv").write_text("\n".join(line.rsplit(",", 3)[0] for line in decided) + "\n")
    run("decide", "policy.json", "late.csv", *COLUMNS, "--round", "late", "-o", "out.csv")
    run("verify", "out.csv", *WORDS, "--round", "late")
    text = run("verify", "out.csv", *WORDS, exit_code=1)
    assert "Every draw is wrong. Hint: is it the key of these decisions, and the round?" in text


def test_truth_values_as_programs_write_them(decided, tmp_path):
    words = {"0": "False", "1": "true"}
    lines = [decided[0], *(line[:-1] + words[line[-1]] for line in decided[1:])]
    for expected in (0, 1):
        (tmp_path / "truth.csv").write_text("\n".join(lines))
        assert CliRunner().invoke(commands, ["verify", "truth.csv", *WORDS]).exit_code == expected
        lines[7] = lines[7].rsplit(",", 1)[0] + "," + {"F": "true", "t": "False"}[lines[7].rsplit(",", 1)[1][0]]


def test_reviews(run, past, tmp_path):
    joint = eo.JointDistribution.from_frame(past, score="points", group="race", label="repaid")
    made = eo.fit(joint, review=eo.Review(capacity=0.1, tpr=0.9, fpr=0.2))
    made.save(tmp_path / "policy.json")
    (tmp_path / "key.txt").write_text(KEY)
    pa.csv.write_csv(eo.decide(made, past, score="points", group="race", id="name", key=KEY), tmp_path / "looked.csv")
    assert run("verify", "looked.csv", *WORDS).startswith("Passed")
    text = (tmp_path / "looked.csv").read_text()
    (tmp_path / "looked.csv").write_text(text.replace("review\n", "no\n").replace('"review"\n', '"no"\n'))
    assert "decision 'no' is published, and 'review' is right" in run("verify", "looked.csv", *WORDS, exit_code=1)


def test_single_changes_are_found_wherever_blocks_end(decided, tmp_path, monkeypatch):
    """Each in a file that is read in some twenty blocks; the row is named as an editor would count it."""
    monkeypatch.setattr(files, "_BLOCK", 4096)
    rng = np.random.default_rng(0)
    head, rows = decided[0], decided[1:]
    names = [name.strip('"') for name in head.split(",")]
    for _ in range(60):
        at, what = int(rng.integers(len(rows))), str(rng.choice(["name", "odds", "draw", "decision", "doubled"]))
        lines = list(rows)
        if what == "doubled":
            lines.append(rows[at])
        else:
            cells = lines[at].split(",")
            place = names.index(what)
            new = {"name": "somebody", "decision": "0" if cells[place] == "1" else "1"}
            cells[place] = new.get(what, str(rng.random()))
            lines[at] = ",".join(cells)
        (tmp_path / "changed.csv").write_text("\n".join([head, *lines]) + "\n")
        done = CliRunner().invoke(commands, ["verify", "changed.csv", *WORDS, "--json"])
        assert done.exit_code == 1, (what, at, done.output)
        told = json.loads(done.output)
        if what == "doubled":
            assert (told["doubled"], told["doubled_ids"]) == (1, [f"p{at}"])
        else:
            assert (told["wrong"], told["first"]["row"]) == (1, at + 1)
            column = "draw" if what == "name" else what
            assert column in [one["column"] for one in told["first"]["differences"]]


def test_bad_input_is_one_clear_line_and_no_verdict(run, decided, tmp_path):
    def told(*words, file="decided.csv"):
        """Of whatever is refused; `run` says that it ends with exit code 2."""
        done = CliRunner().invoke(commands, ["verify", file, *map(str, words)])
        assert isinstance(done.exception, (eo.EvenoddsError, OSError)), done.output
        assert not done.output
        return str(done.exception)

    (tmp_path / "empty.csv").write_text("")
    assert run("verify", "empty.csv", *WORDS, exit_code=2) == "evenodds: empty.csv is empty.\n"
    (tmp_path / "head.csv").write_text(decided[0] + "\n")
    assert told(*WORDS, file="head.csv") == "head.csv has columns, and no rows."
    assert "decided.csv has no column 'chance'" in told(*WORDS, "--odds", "chance")
    assert "placed.csv has no column 'draw'" in (text := told(*WORDS, file="placed.csv"))
    assert "Hint: --places, if places were handed out" in text
    (tmp_path / "short.txt").write_text("abc")
    assert "verify: key must be a string of 64" in told(*WORDS, "--key-file", "short.txt")
    assert "none.txt" in told(*WORDS, "--key-file", "none.txt")
    assert "--round 'a|b' is not allowed" in told(*WORDS, "--round", "a|b")
    assert "verify: --digits 0 is not allowed" in told(*WORDS, "--digits", 0)
    assert "verify: --commitment must be 64 hexadecimal digits" in told(*WORDS, "--commitment", "00")
    assert "cannot be --id and --odds at once" in told(*WORDS, "--odds", "name")
    (tmp_path / "other.csv").write_text("\n".join(decided).replace("white", "green"))
    text = run("verify", "other.csv", *WORDS, exit_code=2)
    assert len(text.splitlines()) == 1
    assert "rows are of a group that the policy does not know (the first is row " in text
    assert "The policy does not know the group 'green'. Known: 'black', 'white'." in text
    (tmp_path / "words.csv").write_text("\n".join([decided[0], decided[1].rsplit(",", 1)[0] + ",perhaps"]))
    assert "words.csv, row 1: 'perhaps' in column 'decision' is not a number." in told(*WORDS, file="words.csv")


@pytest.mark.usefixtures("decided")
def test_fewer_digits_are_told_with_the_option_for_them(run, tmp_path):
    table = pa.csv.read_csv(tmp_path / "decided.csv").to_pandas().round({"odds": 6, "draw": 6})
    table.to_csv(tmp_path / "round.csv", index=False)
    assert "Hint: --digits 6 compares them so." in run("verify", "round.csv", *WORDS, exit_code=1)
    assert run("verify", "round.csv", *WORDS, "--digits", 6).startswith("Passed")


@pytest.mark.usefixtures("policy")
def test_what_is_quoted_stays_as_it_is(run, tmp_path, past):
    (tmp_path / "key.txt").write_text(KEY)
    who = [f"row {i // 2}" for i in range(past.num_rows)]
    pa.csv.write_csv(past.set_column(0, "name", pa.array(who)), tmp_path / "twice.csv")
    told = run("decide", "policy.json", "twice.csv", *COLUMNS, "-o", "out.csv", exit_code=2)
    assert "id 'row 0' comes 2 times (row 1, row 2)" in told
    assert not (tmp_path / "out.csv").exists()
    (tmp_path / "marked.txt").write_text(KEY, encoding="utf-8-sig")
    told = run("decide", "policy.json", "past.csv", *COLUMNS[:-1], "marked.txt", exit_code=2)
    assert "marked.txt begins with a byte order mark" in told
