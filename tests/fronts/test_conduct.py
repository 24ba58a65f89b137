"""How commands behave: what they say beside the answer, what they ask before they write, and how they refuse."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from contextlib import suppress

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import evenodds as eo

COLUMNS = ["--score", "points", "--group", "race"]
PEOPLE = [*COLUMNS, "--label", "repaid"]


@pytest.fixture
def call(command_line, past, tmp_path, monkeypatch):
    """Run the command line in a fresh folder; its exit code, what it printed, and what it said beside that."""
    assert past.num_rows
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def called(*words):
        ended = command_line(*map(str, words))
        return ended.code, ended.printed, ended.told

    return called


# -- what is said ------------------------------------------------------------------------------------------------------


def test_every_command_says_what_it_wrote_and_quiet_ones_do_not(call, policy):
    assert policy.groups
    writers = {
        "p.json": ["fit", "past.csv", *PEOPLE, "-o"],
        "odds.csv": ["apply", "policy.json", "past.csv", *COLUMNS, "-o"],
        "r.html": ["report", "policy.json", "past.csv", *PEOPLE, "-o"],
        "odds.sql": ["sql", "policy.json", "--dialect", "duckdb", "--table", "people", *COLUMNS, "-o"],
        "policy.onnx": ["onnx", "policy.json", "-o"],
    }
    for name, words in writers.items():
        rows = " (1,200 rows)" if name == "odds.csv" else ""
        code, _, told = call(*words, name)
        assert (code, told) == (0, f"Written to {name}{rows}.\n"), name
        assert call(*words, name, "--quiet", *(["--force"] if name == "p.json" else [])) == (0, "", "")
    assert call("draw-key", "-o", "key.txt")[1] == "Written to key.txt.\n"
    assert call("draw-chain", 2, "-o", "keys")[2] == "2 keys written to keys; their commitment is printed.\n"


def test_what_was_asked_for_is_said_even_if_quiet(call):
    code, printed, told = call("fit", "past.csv", *PEOPLE, "-q")
    assert printed.startswith("Policy(2 groups")
    assert (code, told) == (0, "")


def test_people_of_one_group_are_told_to_be_that(call, past, tmp_path):
    group = pa.array(["white"] * past.num_rows)
    pa.csv.write_csv(past.set_column(past.column_names.index("race"), "race", group), tmp_path / "one.csv")
    code, printed, told = call("fit", "one.csv", *PEOPLE)
    assert (code, printed[:15]) == (0, "Policy(1 group,")
    assert told == "evenodds: warning: All are of one group, 'white', so that there is nothing to make equal.\n"


def test_scores_of_another_scale_are_counted_over_the_whole_file(call, policy, tmp_path):
    """Which is read some megabytes at a time."""
    low, high = policy.score_range
    inside, outside = f"{(low + high) / 2:.6f},white\n", f"{high + 100:.6f},white\n"
    for name, few, many in (("few.csv", outside, inside), ("many.csv", inside, outside)):
        (tmp_path / name).write_text("points,race\n" + few * 250_000 + many * 450_000)
        code, _, told = call("apply", "policy.json", name, *COLUMNS, "-o", "odds.csv")
        warned = "evenodds: warning: 450,000 of 700,000 scores lie outside those of the fit" if "many" in name else ""
        assert (code, told.count("warning")) == (0, bool(warned))
        assert told.startswith(warned or "Written to odds.csv (700,000 rows).")


def test_names_cannot_steer_a_terminal(call, past, tmp_path):
    names = {"white": "\x1b[31mred", "black": "two\u202elines"}
    group = pa.array([names[one] for one in past["race"].to_pylist()])
    at = past.column_names.index("race")
    pa.csv.write_csv(past.set_column(at, "race", group), tmp_path / "esc.csv")
    for words in (["fit", "esc.csv", *PEOPLE, "-o", "esc.json"], ["audit", "esc.json", "esc.csv", *PEOPLE]):
        code, printed, _ = call(*words)
        assert code == 0
        assert "\\x1b[31mred" in printed
        assert not {"\x1b", "\u202e"} & set(printed)


def test_half_floats_are_labels_too(call, past, tmp_path):
    labels = past["repaid"].cast(pa.float32()).cast(pa.float16())
    half = past.set_column(past.column_names.index("repaid"), "repaid", labels)
    pa.parquet.write_table(half, tmp_path / "half.parquet")
    assert call("fit", "half.parquet", *PEOPLE)[1] == call("fit", "past.csv", *PEOPLE)[1]


def test_warnings_call_options_as_they_are_typed(call, past, tmp_path):
    other = pa.array(1 - past["repaid"].to_numpy())
    pa.csv.write_csv(past.set_column(past.column_names.index("repaid"), "repaid", other), tmp_path / "other.csv")
    code, _, told = call("fit", "other.csv", *PEOPLE)
    assert code == 0
    assert "Hint: check the orientation, or the score itself." in told


def test_the_log_is_told_if_asked(call):
    code, printed, told = call("fit", "past.csv", *PEOPLE, "--verbose")
    assert (code, printed[:7]) == (0, "Policy(")
    lines = told.splitlines()
    assert lines[0] == "evenodds: Read 1,200 rows of points, race, repaid from past.csv."
    assert lines[1] == "evenodds: Fitting 2 groups."
    assert lines[-1].startswith("evenodds: Fitted in ")
    assert call("fit", "past.csv", *PEOPLE)[2] == ""


def test_no_colours_where_nobody_wants_them(environment, policy, past):
    """A terminal gets them, unless NO_COLOR is set."""
    assert policy.groups
    assert past.num_rows
    words = [sys.executable, "-m", "evenodds", "frontier", "past.csv", *PEOPLE, "--budgets", "0.05,inf"]
    for wanted in (True, False):
        others = {name: value for name, value in environment.items() if name != "NO_COLOR"}
        ours, theirs = pty.openpty()
        own = {**others, "TERM": "xterm-256color", **({} if wanted else {"NO_COLOR": "1"})}
        subprocess.run(words, stdout=theirs, stderr=subprocess.DEVNULL, env=own, check=True)
        os.close(theirs)
        printed = b""
        try:
            while part := os.read(ours, 65536):
                printed += part
        except OSError:
            pass  # the other end is closed
        os.close(ours)
        assert b"accuracy_score" in printed
        assert b"\x1b[3" not in printed.replace(b"\x1b[3m", b"")  # colours are 30 to 39


# -- before a policy is written over -----------------------------------------------------------------------------------


def test_a_policy_is_written_over_only_if_asked(call, tmp_path):
    (tmp_path / "p.json").write_text("mine")
    for words in (["fit", "past.csv", *PEOPLE], ["update", "q.json", "past.csv", *PEOPLE, "--max-change", 0.1]):
        if words[0] == "update":
            call("fit", "past.csv", *PEOPLE, "-o", "q.json")
        code, printed, told = call(*words, "-o", "p.json")
        assert (code, printed, told) == (2, "", "evenodds: p.json is there already. Hint: --force writes over it.\n")
        assert (tmp_path / "p.json").read_text() == "mine"
    assert call("fit", "past.csv", *PEOPLE, "-o", "p.json", "--force")[0] == 0
    assert eo.Policy.load(tmp_path / "p.json").groups == ("black", "white")


def _at_a_terminal():
    """So that Ctrl-C is one, whoever started the tests."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 2), ("\x03", 130), ("\x04", 130)])
def test_somebody_who_is_there_is_asked(environment, past, tmp_path, answer, code):
    assert past.num_rows
    (tmp_path / "p.json").write_text("mine")
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "evenodds", "fit", "past.csv", *PEOPLE, "-o", "p.json"]
    running = subprocess.Popen(
        words, stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs, env=environment, start_new_session=True,
        preexec_fn=_at_a_terminal,  # noqa: PLW1509 there are no threads
    )  # fmt: skip
    os.close(theirs)
    asked = b""
    while b"[y/N]" not in asked:
        asked += os.read(ours, 1024)
    assert b"p.json is there already. Write over it?" in asked
    for _ in range(60):
        os.write(ours, answer.encode())  # again, if it came before it was waited for: Python may overlook a signal then
        with suppress(subprocess.TimeoutExpired):
            running.wait(2)
            break
    assert running.poll() == code
    with suppress(OSError):
        asked += os.read(ours, 1024)
    os.close(ours)
    assert b"Aborted" not in asked
    assert ((tmp_path / "p.json").read_text() == "mine") == (code != 0)


# -- what cannot be used -----------------------------------------------------------------------------------------------

HOLES = """points,race,repaid,weight
1,a,1,1
,a,0,1
3,,1,1
4,b,,1
nan,b,0,inf
6,b,1,1
"""


def test_all_that_is_wrong_is_told_at_once(call, tmp_path):
    (tmp_path / "holes.csv").write_text(HOLES)
    code, _, told = call("fit", "holes.csv", *PEOPLE, "--weight", "weight")
    expected = (
        "evenodds: holes.csv: 4 of 6 rows are incomplete: 2 without a finite score in 'points' (the first is row 2), 1 "
        "without a finite weight in 'weight' (the first is row 5), 1 without a group in 'race' (the first is row 3), 1 "
        "without a label in 'repaid' (the first is row 4). Hint: repair these rows, or --drop-incomplete leaves them "
        "out.\n"
    )
    assert (code, told) == (2, expected)
    (tmp_path / "bad.csv").write_text(HOLES.replace("6,b,1", "six,b,7"))
    _, _, told = call("fit", "bad.csv", *PEOPLE)
    assert "bad.csv, row 6: 'six' in column 'points' is not a number." in told
    assert "label column 'repaid' must be 0 or 1, got 7 in 1 row (first at row 6)" in told
    assert "1 without a group in 'race' (the first is row 3)" in told
    _, _, told = call("fit", "holes.csv", "--score", "pionts", "--group", "rase,sex", "--label", "repaid")
    assert "has no column 'pionts' and no column 'rase' and no column 'sex'" in told
    assert "did you mean 'points' and 'race'?" in told


def test_incomplete_rows_are_left_out_if_asked_and_counted(call, past, tmp_path):
    holes = past.slice(0, 1000)
    nothing = pa.array([None] * 200, pa.float64())
    more = past.slice(1000).set_column(1, "points", nothing)
    pa.csv.write_csv(pa.concat_tables([holes, more]), tmp_path / "holes.csv")
    code, printed, told = call("fit", "holes.csv", *PEOPLE, "--drop-incomplete", "-o", "p.json")
    assert code == 0
    assert told.startswith(
        "holes.csv: 200 of 1,200 rows are incomplete: 200 without a finite score in 'points' (the first is row 1001); "
        "these rows are left out.\n"
    )
    pa.csv.write_csv(holes, tmp_path / "whole.csv")
    assert call("fit", "whole.csv", *PEOPLE)[1] == printed
    (tmp_path / "none.csv").write_text("points,race,repaid\n,a,1\n,b,0\n")
    assert "and nobody is left" in call("fit", "none.csv", *PEOPLE, "--drop-incomplete")[2]


def test_rows_are_those_of_the_file_where_others_were_left_out(call, tmp_path):
    (tmp_path / "holes.csv").write_text("points,race,repaid,n\n,a,1,1\n2,a,0,1\n3,,1,1\n4,b,1,1\n5,b,0,-2\n")
    _, _, told = call("fit", "holes.csv", *PEOPLE, "--weight", "n", "--drop-incomplete")
    assert "weight column 'n' has 1 negative value (first at row 5: -2)" in told
    words = ["--decision", "points", "--group", "race", "--label", "repaid", "--drop-incomplete"]
    assert "decision has 3 values outside 0 to 1 (first at row 2: 2)" in call("audit", "holes.csv", *words)[2]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["fit", "past.csv", *PEOPLE, "--objective", "f1"], "Hint: the nearest here is 'balanced_accuracy_score'."),
        (
            ["fit", "past.csv", *PEOPLE, "--objective", "recall_score"],
            "Hint: the nearest here is 'true_positive_rate'.",
        ),
        (
            ["fit", "past.csv", *PEOPLE, "--constraints", "equal_opportunity"],
            "Hint: the nearest here is 'true_positive_rate_parity'.",
        ),
        (["fit", "past.csv", *PEOPLE, "--curve", "linaer"], "--curve linaer is not known. Allowed: fixed, linear,"),
        (["fit", "past.csv", *PEOPLE, "--format", "xls"], "--format xls is not known. Allowed: csv, parquet, arrow."),
        (["fit", "past.csv", *PEOPLE, "--constraints", "predictive_parity"], "selection_rate_parity.\n"),
        (["fit", "past.csv", "--sensitive_features", "race"], "'--sensitive_features'. Hint: here it is --group."),
        (["fit", "past.csv", "--overwrite"], "No such option '--overwrite'. Hint: here it is --force."),
        (["fit", "past.csv", "--colour", "red"], "No such option '--colour'. Hint: evenodds fit --help."),
        (["fit", "past.csv", *PEOPLE, "--group", "sex"], "--group is given twice. Hint: several columns are separated"),
        (
            ["fit", "past.csv", "--label", "repaid", *PEOPLE[:4], "sex"],
            "argument (sex). Hint: several columns are separated by commas",
        ),
        (["-q", "fit"], "No such option '-q'. Hint: -q comes after the command."),
        (["fit", "past.csv", *PEOPLE, "--guarantee", "finite"], "--guarantee finite is what a confidence rests on"),
        (["fit", "past.csv", *PEOPLE, "--cost", "nan", "1"], "--cost nan 1: false_positive=nan is not allowed."),
        (["guide", "lendr"], "CASE 'lendr' is not known."),
        (["fit", "past.csv", "--lable", "repaid"], "No such option '--lable'. Hint: did you mean '--label'?"),
        (["fit", "past.csv", "--score", "points"], "Missing option '--group'. Hint: evenodds fit --help."),
        (["fti"], "No such command 'fti'. Hint: did you mean 'fit'?"),
        (["frontier", "past.csv", *PEOPLE, "--against", "slop"], "Hint: did you mean 'slope'?"),
    ],
)
def test_words_are_answered_in_one_line_with_the_nearest(call, words, told):
    code, printed, said = call(*words)
    assert (code, printed) == (2, "")
    assert said.startswith("evenodds: ")
    assert said.count("\n") == 1
    assert told in said


def written(past, path, **columns):
    """The people with other columns, each of them text."""
    for name, values in columns.items():
        past = past.set_column(past.column_names.index(name), name, pa.array(values, pa.string()))
    pa.csv.write_csv(past, path, write_options=pa.csv.WriteOptions(quoting_style="needed"))


@pytest.mark.parametrize("word", ["NA", "nan", "N/A", "null", "NULL", "None", "#N/A"])
def test_words_for_nothing_are_missing_labels_and_scores(call, past, tmp_path, word):
    repaid = [word if i % 10 == 0 else str(label) for i, label in enumerate(past["repaid"].to_pylist())]
    points = [word if i % 10 == 1 else str(score) for i, score in enumerate(past["points"].to_pylist())]
    written(past, tmp_path / "words.csv", repaid=repaid, points=points)
    lack = (
        "120 without a finite score in 'points' (the first is row 2), "
        "120 without a label in 'repaid' (the first is row 1)"
    )
    for more in ([], ["--positive-label", "1"]):
        assert lack in call("fit", "words.csv", *PEOPLE, *more)[2]
        code, printed, told = call("fit", "words.csv", *PEOPLE, *more, "--drop-incomplete")
        assert (code, told.count("\n")) == (0, 1)
        assert re.search(r"everybody +960 ", printed)
    call("fit", "past.csv", *PEOPLE, "-o", "p.json")
    assert "120 with a score that is missing" in call("apply", "p.json", "words.csv", *COLUMNS, "-o", "odds.csv")[2]
    code, _, told = call("apply", "p.json", "words.csv", *COLUMNS, "-o", "odds.csv", "--on-invalid", "null")
    assert code == 0
    assert told == (
        "evenodds: warning: 120 of 1,200 rows are left without odds: 120 without a finite score.\n"
        "Written to odds.csv (1,200 rows).\n"
    )


def test_a_word_for_nothing_may_be_the_yes(call, past, tmp_path):
    written(past, tmp_path / "words.csv", repaid=["NA" if label else "there" for label in past["repaid"].to_pylist()])
    assert call("fit", "words.csv", *PEOPLE, "--positive-label", "NA")[:2] == call("fit", "past.csv", *PEOPLE)[:2]


def test_labels_of_more_values_than_two_are_told(call, past, tmp_path):
    words = [("yes" if i % 2 else "Yes") if label else "no" for i, label in enumerate(past["repaid"].to_pylist())]
    written(past, tmp_path / "words.csv", repaid=words)
    code, _, told = call("fit", "words.csv", *PEOPLE, "--positive-label", "yes")
    assert code == 0
    assert "In label column 'repaid' 2 values count as a no beside the yes, 'yes': " in told
    assert "'Yes'" in told


@pytest.mark.parametrize(
    ("score", "hint"),
    [("52.5%", "Hint: write 52.5 or a share of 1, without the sign"), ("52,5", "Hint: write it with a point, 52.5.")],
)
def test_numbers_as_people_write_them_are_answered_with_ours(call, past, tmp_path, score, hint):
    written(past, tmp_path / "words.csv", points=[score] * past.num_rows)
    assert hint in call("fit", "words.csv", *PEOPLE)[2]


def test_rows_of_unknown_groups_are_counted_and_explained(call, past, tmp_path):
    written(past, tmp_path / "others.csv", race=["white" if i % 3 else "green, f" for i in range(past.num_rows)])
    call("fit", "past.csv", *PEOPLE, "-o", "p.json")
    code, _, told = call("apply", "p.json", "others.csv", *COLUMNS, "-o", "odds.csv", "--on-invalid", "null")
    assert code == 0
    assert "400 of 1,200 rows are left without odds: 400 of no group that the policy knows. Hint: the groups of" in told


def test_scores_of_a_narrower_scale_are_told(call, past, tmp_path):
    """Shares in place of points: all of them are within the range of the fit, and all get the same odds."""
    low, high = past["points"].to_pylist()[:2]
    points = [f"{score:.3f}" for score in past["points"].to_pylist()]
    points[0], points[1] = "0", "100"
    written(past, tmp_path / "wide.csv", points=points)
    assert low != high
    call("fit", "wide.csv", *PEOPLE, "-o", "p.json")
    written(past, tmp_path / "shares.csv", points=[f"{float(score) / 100:.4f}" for score in points])
    for words in (
        ["apply", "p.json", "shares.csv", *COLUMNS, "-o", "odds.csv"],
        ["audit", "p.json", "shares.csv", *PEOPLE],
        ["update", "p.json", "shares.csv", *PEOPLE, "--max-change", "1"],
    ):
        told = "".join(call(*words)[1:])
        told = " ".join(told.split())
        assert (
            "All 1,200 scores lie between 0 and 1, next to each other among those of the fit, which go from 0 to 100."
            in told
        )


def test_nothing_else_is_written_over_a_key_or_a_policy(call, policy, tmp_path):
    assert policy.groups
    call("draw-key", "-o", "key.txt")
    call("fit", "past.csv", *PEOPLE, "-o", "other.json")
    before = {name: (tmp_path / name).read_bytes() for name in ("key.txt", "other.json")}
    for name, kind in (("key.txt", "key"), ("other.json", "policy")):
        for words in (
            ["apply", "policy.json", "past.csv", *COLUMNS],
            ["report", "policy.json", "past.csv", *PEOPLE, "--format", "html"],
            ["sql", "policy.json", "--dialect", "duckdb", "--table", "people", *COLUMNS],
        ):
            code, _, told = call(*words, "-o", name)
            assert (code, told) == (
                2,
                f"evenodds: {name} holds a {kind}, which would be lost. Hint: choose another file for -o.\n",
            )
    assert "key.txt holds a key" in call("fit", "past.csv", *PEOPLE, "-o", "key.txt", "--force")[2]
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def test_a_hyphen_is_standard_output_wherever_a_policy_is_written(call, tmp_path):
    code, printed, told = call("fit", "past.csv", *PEOPLE, "-o", "-")
    assert (code, told) == (0, "")
    (tmp_path / "p.json").write_text(printed)
    assert len(eo.Policy.load(tmp_path / "p.json").groups) == 2
    code, printed, told = call("update", "p.json", "past.csv", *PEOPLE, "--max-change", "0.1", "-o", "-")
    assert code == 0
    (tmp_path / "next.json").write_text(printed)
    assert len(eo.Policy.load(tmp_path / "next.json").groups) == 2
    assert not (tmp_path / "-").exists()


def test_a_column_that_comes_twice_matters_only_if_it_is_read(call, past, tmp_path):
    twice = past.append_column("note", pa.array(["x"] * past.num_rows)).append_column("note", past["name"])
    pa.csv.write_csv(twice, tmp_path / "twice.csv")
    assert call("fit", "twice.csv", *PEOPLE)[1] == call("fit", "past.csv", *PEOPLE)[1]
    told = call("fit", "twice.csv", "--score", "points", "--group", "note", "--label", "repaid")[2]
    assert "more than one column 'note'. Hint: rename one of them, or leave it out." in told
    call("fit", "past.csv", *PEOPLE, "-o", "p.json")
    assert "more than one column 'note'" in call("apply", "p.json", "twice.csv", *COLUMNS)[2]


def test_what_is_tabs_stays_tabs_on_standard_output(call, past, tmp_path):
    pa.csv.write_csv(past, tmp_path / "past.tsv", write_options=pa.csv.WriteOptions(delimiter="\t"))
    call("fit", "past.csv", *PEOPLE, "-o", "p.json")
    assert call("apply", "p.json", "past.tsv", *COLUMNS)[1].startswith("name\tpoints\trace\trepaid\todds\n")
    call("apply", "p.json", "past.tsv", *COLUMNS, "-o", "odds.csv")
    assert (tmp_path / "odds.csv").read_text().startswith("name,points,race,repaid,odds\n")


@pytest.mark.parametrize("ending", [".xlsx", ".json", ".gz"])
def test_no_table_is_written_under_the_name_of_something_else(call, policy, tmp_path, ending):
    assert policy.groups
    told = call("apply", "policy.json", "past.csv", *COLUMNS, "-o", f"odds{ending}")[2]
    assert told == f"evenodds: -o odds{ending}: no {ending} is written. Hint: -o odds.csv, .parquet or .arrow.\n"
    assert not (tmp_path / f"odds{ending}").exists()


def test_rows_of_a_file_that_is_read_in_parts_are_not_told_as_all(call, policy, tmp_path):
    assert policy.groups
    with (tmp_path / "long.csv").open("w") as file:
        file.write("points,race,note\n" + f"50,white,{'x' * 60}\n" * 130_000 + ",white,\n")
    told = call("apply", "policy.json", "long.csv", *COLUMNS, "-o", "odds.csv")[2]
    assert "long.csv: 1 of the first 130,001 rows cannot be given odds: 1 with a score that is missing" in told
    assert "(row 130001: score nan, group 'white')" in told


def test_columns_of_the_group_in_another_order_are_told(call, past, tmp_path):
    people = past.append_column("sex", pa.array(["f", "m"] * (past.num_rows // 2)))
    pa.csv.write_csv(people, tmp_path / "people.csv")
    call("fit", "people.csv", "--score", "points", "--group", "race,sex", "--label", "repaid", "-o", "p.json")
    other = ["--score", "points", "--group", "sex,race"]
    hint = "is known: give the group's columns in the order of the fit."
    for words in (
        ["apply", "p.json", "people.csv", *other],
        ["audit", "p.json", "people.csv", *other, "--label", "repaid"],
        ["explain", "p.json", "--score", 50, "--group", "f,white"],
    ):
        code, _, told = call(*words)
        assert code == 2
        assert hint in told, told


def test_text_passes_through_as_it_came(call, policy, tmp_path):
    assert policy.groups
    rows = [
        "name,points,race,note",
        "p1,50.10,white,plain",
        "p2,5e1,black,",
        'p3,+50,white,"a, b"',
        'p4,050,black,""',
        'p5,50,white,"say ""yes"""',
        "p6,50,black, spaced ",
        'p7,50,white,"two\nlines"',
        "p8,50,black,Ærø 女 😀",
    ]
    (tmp_path / "new.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    _, printed, _ = call("apply", "policy.json", "new.csv", *COLUMNS)
    head, *lines = printed.replace("two\nlines", "two lines").splitlines()
    assert head == "name,points,race,note,odds"
    assert [line.rsplit(",", 1)[0] for line in lines] == [row.replace("two\nlines", "two lines") for row in rows[1:]]
