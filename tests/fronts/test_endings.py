"""How a run ends: 1 says that an audit failed, and nothing else may say it."""

from __future__ import annotations

import fcntl
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

import pytest

import evenodds as eo

COLUMNS = ["--score", "points", "--group", "race"]
PEOPLE = [*COLUMNS, "--label", "repaid"]
INTERRUPTED, CLOSED = 130, 141
# Signals as a terminal leaves them, whoever started the tests: under nohup, say, SIGHUP is ignored.
START = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    "from evenodds.fronts.cli import main; main()"
)


@pytest.fixture
def started(environment):
    """Start the command line with pipes at its ends; at the end of the test it is gone."""
    running = []

    def start(*words, **streams):
        ends = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        process = subprocess.Popen([sys.executable, "-c", START, *words], env=environment, **ends)
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        process.wait()


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["audit", "--help"],
        ["audit", "policy.json", "past.csv", *PEOPLE, "--tolerance", "0.5"],
        ["audit", "policy.json", "past.csv", *PEOPLE, "--json"],
        ["fit", "past.csv", *PEOPLE],
        ["frontier", "past.csv", *PEOPLE, "--max-slopes", "0.1"],
        ["explain", "policy.json", "--score", "55", "--group", "white"],
        ["update", "policy.json", "past.csv", *PEOPLE, "--max-change", "0.5"],
        ["report", "policy.json", "past.csv", *PEOPLE],
        ["apply", "policy.json", "past.csv", *COLUMNS],
        ["apply", "policy.json", "past.parquet", *COLUMNS, "--format", "parquet"],
        ["decide", "policy.json", "past.csv", *COLUMNS, "--id", "name", "--key-file", "key.txt"],
        ["draw-key"],
        ["study", "credit"],
        ["study", "compas", "--json"],
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("policy")
def test_nobody_reads_the_output(started, tmp_path, words):
    (tmp_path / "key.txt").write_text("ab" * 32)
    (tmp_path / "key.txt").chmod(0o600)
    process = started(*words)
    process.stdout.close()
    assert process.wait(60) == CLOSED
    assert process.stderr.read() == b""


@pytest.mark.parametrize("words", [["audit"], ["audit", "nowhere.json", "past.csv", *PEOPLE], ["--no-such-option"]])
@pytest.mark.usefixtures("policy")
def test_nobody_reads_what_is_wrong(started, words):
    process = started(*words)
    process.stderr.close()
    assert process.wait(60) == CLOSED
    assert process.stdout.read() == b""


@pytest.mark.usefixtures("policy")
def test_the_first_line_is_enough(environment, tmp_path):
    """More than a pipe holds, through a real shell."""
    rows = "".join(f"p{i},{i % 100},white\n" for i in range(200_000))
    (tmp_path / "new.csv").write_text(f"name,points,race\n{rows}")
    line = (
        f"{sys.executable} -m evenodds apply policy.json new.csv {' '.join(COLUMNS)} | head -1; echo ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, text=True, check=True)  # noqa: S607
    assert done.stdout == f"name,points,race,odds\n{CLOSED}\n"
    assert done.stderr == ""


@pytest.mark.usefixtures("policy")
def test_an_output_that_is_full_or_closed_is_said(environment):
    for words in (["audit", "policy.json", "past.csv", *PEOPLE], ["apply", "policy.json", "past.csv", *COLUMNS]):
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                [sys.executable, "-m", "evenodds", *words],
                env=environment,
                stdout=full,
                stderr=subprocess.PIPE,
                check=False,
            )
        assert (done.returncode, done.stderr) == (2, b"evenodds: No space left on device.\n")


def by_bash(line, environment):
    """The exit code and standard error of a line of a shell."""
    line = f"{sys.executable} -m evenodds {line}"
    done = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, text=True, check=False)  # noqa: S607
    return done.returncode, done.stderr


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize(
    "words",
    [
        f"apply policy.json past.csv {' '.join(COLUMNS)}",
        f"fit past.csv {' '.join(PEOPLE)}",
        f"report policy.json past.csv {' '.join(PEOPLE)}",
        f"sql policy.json --dialect duckdb --table people {' '.join(COLUMNS)}",
        "onnx policy.json -o -",
        "draw-key",
        "explain policy.json --score 50 --group white --json",
    ],
)
def test_an_answer_is_not_lost(environment, words):
    told = "evenodds: Standard output is closed. Hint: -o writes to a file.\n"
    assert by_bash(f"{words} >&-", environment) == (2, told)


@pytest.mark.usefixtures("policy")
def test_an_answer_that_is_in_a_file_is_not_lost(environment, tmp_path):
    code, told = by_bash(f"fit past.csv {' '.join(PEOPLE)} -o p.json >&-", environment)
    assert (code, told) == (0, "Written to p.json.\n")
    assert eo.Policy.load(tmp_path / "p.json").groups == ("black", "white")


def test_what_is_wrong_keeps_its_exit_code(environment):
    assert by_bash("fit nowhere.csv --score a --group b --label c 2>/dev/full", environment)[0] == 2
    assert by_bash("fit nowhere.csv --score a --group b --label c 2>&-", environment)[0] == 2


def interrupted(process):
    """What is on standard error after Ctrl-C, with standard input still open."""
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == INTERRUPTED
    return process.stderr.read().decode()


BLOCKS = 3  # of 4 MiB: two may be read ahead
NAMES = b"points,race,repaid\n"
ROW = b"50,white,1\n"


@pytest.mark.parametrize("given", [NAMES, NAMES + ROW * 1000, NAMES + ROW * (BLOCKS * 400_000)], ids=len)
@pytest.mark.usefixtures("policy")
def test_ctrl_c_while_people_are_waited_for(started, given):
    process = started("audit", "policy.json", "-", *PEOPLE, "--tolerance", "0.5")
    process.stdin.write(given)
    process.stdin.flush()
    while fcntl.ioctl(process.stdin, termios.FIONREAD, b"    ") != b"\0\0\0\0":
        time.sleep(0.1)  # until all was read
    time.sleep(0.5)
    assert process.poll() is None
    assert interrupted(process).strip() == ""


@pytest.mark.usefixtures("policy")
def test_an_error_waits_for_nobody(started):
    process = started("apply", "policy.json", "-", *COLUMNS, stdout=subprocess.DEVNULL)
    with suppress(BrokenPipeError):  # it may not even wait for all of this
        process.stdin.write(NAMES + b"many,white,1\n" + ROW * (BLOCKS * 400_000))
        process.stdin.flush()
    assert process.wait(60) == 2  # though more might come
    assert process.stderr.read() == b"evenodds: standard input, row 1: 'many' in column 'points' is not a number.\n"


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_is_stopped_leaves_nothing_half_done(started, tmp_path, number):
    (tmp_path / "odds.csv").write_text("as it was")
    before = {file.name for file in tmp_path.iterdir()}
    process = started("apply", "policy.json", "-", *COLUMNS, "-o", "odds.csv")
    process.stdin.write(b"points,race\n" + b"50,white\n" * (2 * BLOCKS * 500_000))
    process.stdin.flush()
    for _ in range(600):
        if {file.name for file in tmp_path.iterdir()} != before:
            break
        time.sleep(0.1)
    else:
        pytest.fail("nothing is being written")
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    assert process.stderr.read().strip() == b""
    assert {file.name for file in tmp_path.iterdir()} == before
    assert (tmp_path / "odds.csv").read_text() == "as it was"


def test_a_verdict_keeps_its_exit_code(run, policy, past, tmp_path):
    """Where nothing goes wrong, 1 still says that the audit failed."""
    assert eo.Policy.load(tmp_path / "policy.json") == policy
    rows = "".join(
        f"{points + 30 * (race == 'white')},{race},{repaid}\n"
        for points, race, repaid in zip(*(past[name].to_pylist() for name in ("points", "race", "repaid")), strict=True)
    )
    (tmp_path / "moved.csv").write_text(f"points,race,repaid\n{rows}")
    assert "Verdict: fail" in run("audit", "policy.json", "moved.csv", *PEOPLE, "--tolerance", 0.02, exit_code=1)
