"""The command line as its wheel has it, and people to try it on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import evenodds as eo

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A folder with the package as its wheel has it."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheels = tmp_path_factory.mktemp("wheels")
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", wheels, ROOT], check=True)
    (wheel,) = wheels.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", folder, wheel], check=True)
    return folder


@pytest.fixture
def environment(installed, tmp_path, monkeypatch):
    """What a process needs to find the package; it starts in a fresh folder."""
    monkeypatch.chdir(tmp_path)
    return {**os.environ, "PYTHONPATH": str(installed), "NO_COLOR": "1"}


@pytest.fixture
def run(command_line, tmp_path, monkeypatch):
    """Run the command line in a fresh folder; its exit code must be as expected, and an error prints nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def call(*words, exit_code=0, stdin=b""):
        ended = command_line(*(word if isinstance(word, bytes) else str(word) for word in words), stdin=stdin)
        assert ended.code == exit_code, ended
        if exit_code == 2:
            assert ended.printed == ""
        return ended.told if exit_code == 2 else ended.printed

    return call


def people(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    race, label = rng.choice(["white", "black"], n), rng.integers(0, 2, n)
    points = rng.normal(50 + 10 * label * (1 + 0.5 * (race == "black")), 10).round(2)
    return pa.table({"name": [f"p{i}" for i in range(n)], "points": points, "race": race, "repaid": label})


@pytest.fixture
def past(tmp_path):
    """The same people in each format."""
    table = people()
    pa.csv.write_csv(table, tmp_path / "past.csv")
    pa.parquet.write_table(table, tmp_path / "past.parquet")
    with pa.ipc.new_file(tmp_path / "past.arrow", table.schema) as file:
        file.write_table(table)
    return table


@pytest.fixture
def fresh(tmp_path):
    """Others of the same groups."""
    table = people(seed=1)
    pa.csv.write_csv(table, tmp_path / "fresh.csv")
    return table


@pytest.fixture
def policy(past, tmp_path):
    made = eo.fit(eo.JointDistribution.from_frame(past, score="points", group="race", label="repaid"))
    made.save(tmp_path / "policy.json")
    return made
