"""Every command that the documentation shows is run, in the order in which it stands there.

Those of the README are run by a shell, as a reader would; on the other pages only what needs a shell is.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = {page.name: re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL) for page in PAGES}


def _people(file, n, seed):
    rng = np.random.default_rng(seed)
    rows = ["name,points,race,sex,repaid,approved"]
    for i in range(n):
        race, sex, label = rng.choice(["white", "black"]), rng.choice(["f", "m"]), rng.integers(0, 2)
        points = rng.normal(50 + 12 * label, 10)
        rows.append(f"p{seed}-{i},{points:.2f},{race},{sex},{label},{int(points > 54 + rng.normal())}")
    file.write_text("\n".join(rows) + "\n")


@pytest.fixture
def shell(tmp_path):
    """Run a line by a shell that finds evenodds."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def call(line):
        done = subprocess.run(
            ["/bin/sh", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"

    return call


@pytest.mark.parametrize("page", [name for name, blocks in BLOCKS.items() if blocks])
def test_commands_run(page, shell, command_line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("past", "fresh", "new")):
        _people(tmp_path / f"{name}.csv", 800, seed)
    for block in BLOCKS[page]:
        lines = [line.split("  # ")[0].strip() for line in block.splitlines() if line.strip()]
        for line in lines:
            if line.startswith("make "):
                continue  # these set up, and run this very test
            if page == "README.md" or not line.startswith("evenodds ") or set(line) & set("|<>&;$*`\\"):
                shell(line)
            else:
                ended = command_line(*shlex.split(line)[1:])
                assert ended.code == 0, f"{line}\n{ended.told}"
