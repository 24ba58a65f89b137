"""Where files are written: links stay links, places that are none are named, and nothing is left half done."""

from __future__ import annotations

from pathlib import Path

import pytest

import evenodds as eo
from evenodds.files import placed

COLUMNS = ["--score", "points", "--group", "race"]
PEOPLE = [*COLUMNS, "--label", "repaid"]
WRITERS = {
    "fit": (["fit", "past.csv", *PEOPLE, "-o"], "p.json"),
    "report of a fit": (["fit", "past.csv", *PEOPLE, "--report"], "r.html"),
    "report": (["report", "policy.json", "past.csv", *PEOPLE, "-o"], "r.md"),
    "apply to a CSV": (["apply", "policy.json", "past.csv", *COLUMNS, "-o"], "odds.csv"),
    "apply to Parquet": (["apply", "policy.json", "past.csv", *COLUMNS, "-o"], "odds.parquet"),
    "apply to Arrow": (["apply", "policy.json", "past.csv", *COLUMNS, "-o"], "odds.arrow"),
    "decide": (
        ["decide", "policy.json", "past.csv", *COLUMNS, "--id", "name", "--key-file", "key.txt", "-o"],
        "decided.csv",
    ),
    "onnx": (["onnx", "policy.json", "-o"], "policy.onnx"),
}


@pytest.fixture(params=WRITERS.values(), ids=WRITERS)
def writer(request, policy, tmp_path):
    """A command that lacks only the file it is to write, and a name for that."""
    assert policy.groups
    (tmp_path / "key.txt").write_text("ab" * 32)
    return request.param


def test_a_link_stays_a_link(run, writer, tmp_path):
    words, name = writer
    run(*words, name)
    known = (tmp_path / name).read_bytes()
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / name).write_text("as it was")
    (kept / name).chmod(0o640)
    (tmp_path / "links").mkdir()
    first, second = tmp_path / "links" / f"second-{name}", tmp_path / "links" / f"first-{name}"
    first.symlink_to(f"../kept/{name}")
    second.symlink_to(first.name)
    new = tmp_path / "links" / f"new-{name}"
    new.symlink_to(kept / f"new-{name}")  # which is not there yet
    for link in (second, new):
        run(*words, f"links/{link.name}", *(["--force"] if words[0] == "fit" else []))
    for link in (first, second, new):
        assert link.is_symlink()
        assert link.read_bytes() == known
    assert (kept / name).stat().st_mode & 0o777 == 0o640
    assert {file.name for file in kept.iterdir()} == {name, f"new-{name}"}
    assert {file.name for file in first.parent.iterdir()} == {first.name, second.name, new.name}


def test_places_that_are_none_are_named_as_they_were_given(run, writer, tmp_path):
    words, name = writer
    (tmp_path / f"lost-{name}").symlink_to(f"gone/{name}")
    (tmp_path / f"loop-{name}").symlink_to(f"loop-{name}")
    (tmp_path / f"folder-{name}").mkdir()
    before = {file.name for file in tmp_path.iterdir()}
    for place, expected in {
        f"nowhere/{name}": "There is no folder nowhere. Hint: make it first.",
        f"nowhere/deep/{name}": "There is no folder nowhere/deep. Hint: make it first.",
        f"past.csv/{name}": "past.csv is a file, and not a folder.",
        f"lost-{name}": (
            f"lost-{name} is a link into {tmp_path}/gone, and there is no such folder. Hint: make it first."
        ),
        f"loop-{name}": f"loop-{name}: Too many levels of symbolic links.",
    }.items():
        assert run(*words, place, exit_code=2) == f"evenodds: {expected}\n"
    assert "folder" in run(*words, f"folder-{name}", exit_code=2)
    assert {file.name for file in tmp_path.iterdir()} == before


def test_what_cannot_be_written_is_said_before_the_work_is_done(run, past, tmp_path):
    assert past.num_rows
    (tmp_path / "broken.csv").write_text("this is never read")
    told = run("fit", "broken.csv", *PEOPLE, "-o", "nowhere/p.json", exit_code=2)
    assert told == "evenodds: There is no folder nowhere. Hint: make it first.\n"
    told = run("fit", "past.csv", *PEOPLE, "-o", "both.html", "--report", "./both.html", exit_code=2)
    assert told == "evenodds: both.html is what -o writes. Hint: choose another file for --report.\n"
    assert run("study", "credit", "-o", "past.csv", exit_code=2) == "evenodds: past.csv is a file, and not a folder.\n"
    assert not (tmp_path / "both.html").exists()


def test_a_policy_behind_a_link_is_not_written_over(run, policy, tmp_path):
    (tmp_path / "link.json").symlink_to("policy.json")
    told = run("apply", "policy.json", "past.csv", *COLUMNS, "-o", "link.json", exit_code=2)
    assert told == "evenodds: policy.json is what is read. Hint: choose another file for -o.\n"
    assert eo.Policy.load(tmp_path / "policy.json") == policy


@pytest.mark.parametrize("device", ["/dev/null", "/dev/stdout", "/proc/self/fd/1"])
def test_a_device_is_written_as_it_is(device):
    """/dev/stdout is a link, and may lead to a file; whoever may write to /dev must not put another in its place."""
    with placed(device) as part:
        assert part == Path(device)


def test_a_study_is_written_through_a_link(run, tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "link").symlink_to("kept")
    run("study", "credit", "-o", "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "kept" / "report.html").is_file()
