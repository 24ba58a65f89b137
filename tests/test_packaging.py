"""What people install: wheel and sdist, in clean environments, with each extra, and with the oldest packages it allows.

These take minutes and fetch packages, so `make guarantees` runs them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {
    "mlflow": "eo.to_mlflow(policy, 'model')",
    "onnx": "eo.to_onnx(policy, 'policy.onnx')",
    "plot": "eo.plot.curves(policy)",
    "sklearn": "eo.CurveOptimizer(max_slope=1).fit([0, 1] * 4, [0, 1, 1, 0] * 2, sensitive_features=list('aabb') * 2)",
    "spark": "import pyspark.sql",
    "sql": "eo.to_sql(policy, dialect='duckdb', table='people', score='points', group='race')",
}

pytestmark = pytest.mark.guarantee


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the sdist, built from what git tracks."""
    folder = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


class Environment:
    """A clean virtual environment."""

    def __init__(self, folder, *packages):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        self.folder = folder / "bin"
        self("python", "-m", "pip", "install", "--quiet", *map(str, packages))

    def __call__(self, command, *words, cwd=None):
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        path = f"{self.folder}{os.pathsep}{kept['PATH']}"
        done = subprocess.run(
            [str(self.folder / command), *words],
            cwd=cwd,
            capture_output=True,
            text=True,
            env=kept | {"PATH": path},
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def run_the_readme(environment, folder):
    """Every evenodds command of the README, on people that are made up."""
    lines = ["name,points,race,sex,repaid"]
    lines += [f"p{i},{30 + i % 41 + 9 * (i % 2)},{'ab'[i % 3 % 2]},{'fm'[i % 5 % 2]},{i % 2}" for i in range(900)]
    for name in ("past", "fresh", "new"):
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [
        line.split("  # ")[0].strip()
        for block in re.findall(r"```console\n(.*?)```", readme, re.DOTALL)
        for line in block.splitlines()
        if line.startswith("evenodds ")
    ]
    assert len(commands) >= 4
    for line in commands:
        words = line.replace("white,f", "a,f").split()
        environment(words[0], *words[1:], cwd=folder)


def test_the_wheel_alone_runs_every_command_of_the_readme(built, tmp_path):
    environment = Environment(tmp_path / "venv", built[0])
    assert PROJECT["name"] in environment("evenodds", "--version")
    run_the_readme(environment, tmp_path)


def test_the_sdist_builds_the_same_wheel(built, tmp_path):
    wheel, sdist = built
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    assert any(name.endswith("src/evenodds/__init__.py") for name in names)
    environment = Environment(tmp_path / "venv", sdist)
    assert wheel.name.split("-")[1] in environment("evenodds", "--version")


def test_every_extra_is_tried():
    assert set(PROJECT["optional-dependencies"]) == {*EXTRAS, "all"}


@pytest.mark.parametrize("extra", EXTRAS)
def test_each_extra_brings_what_it_is_for(built, tmp_path, extra):
    environment = Environment(tmp_path / "venv", f"{built[0]}[{extra}]")
    code = f"import evenodds as eo; policy = eo.fit(eo.datasets.credit_risk()); {EXTRAS[extra]}"
    environment("python", "-c", code, cwd=tmp_path)


def test_the_oldest_packages_that_are_allowed(built, tmp_path):
    if sys.version_info >= (3, 12):
        pytest.skip("the oldest packages that are allowed have no wheels for this Python; 3.11 has them")
    oldest = [re.sub(r">=([\d.]+).*", r"==\1.*", one) for one in PROJECT["dependencies"]]
    environment = Environment(tmp_path / "venv", built[0], *oldest)
    run_the_readme(environment, tmp_path)
