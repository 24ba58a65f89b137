"""What people install: wheel and sdist, in clean environments, with each extra, and with the oldest packages it allows.

These take minutes and fetch packages, so `make guarantees` runs them.
"""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from engines import missing

ROOT = Path(__file__).parents[1]
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = WHOLE["project"]
EXTRAS = {
    "mlflow": "eo.to_mlflow(policy, 'model')",
    "onnx": "eo.to_onnx(policy, 'policy.onnx')",
    "plot": "eo.plot.curves(policy)",
    "sklearn": "eo.CurveOptimizer(max_slope=1).fit([0, 1] * 4, [0, 1, 1, 0] * 2, sensitive_features=list('aabb') * 2)",
    "spark": "import pyspark.sql",
    "sql": "eo.to_sql(policy, dialect='duckdb', table='people', score='points', group='race')",
}
OLD = (
    "onnx",
    "plot",
    "sklearn",
    "sql",
)  # extras whose oldest packages are tried; those of MLflow and Spark bring hundreds of MB
TESTED_BY = (
    *WHOLE["build-system"]["requires"],
    "pytest>=8.2",
    "pytest-xdist>=3.6",
    "fairlearn>=0.13",
    "gower",
    "hypothesis>=6.100",
    "joblib",
    "jsonschema",
    "pandas==2.2.*",
    "polars==1.20.*",
    "rfc8785",
)
ROOMS = ("geometry", "model", "evaluation", "pictures", "fronts")  # of the tests, which are run on them

OURS = (
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "PIP_CONSTRAINT",
    "EVENODDS_REQUIRE_ALL",
    "HYPOTHESIS_PROFILE",
    "PYTEST_CURRENT_TEST",
)

pytestmark = [pytest.mark.guarantee, pytest.mark.xdist_group("packages")]  # what is built serves them all


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the sdist, built from what git tracks."""
    folder = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


class Environment:
    """A clean virtual environment, of the newest packages that there are unless versions are named."""

    def __init__(self, folder, *packages):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        self.folder = folder / "bin"
        self("python", "-m", "pip", "install", "--quiet", *map(str, packages))

    def __call__(self, command, *words, cwd=None):
        kept = {name: value for name, value in os.environ.items() if name not in OURS}
        path = f"{self.folder}{os.pathsep}{kept['PATH']}"
        done = subprocess.run(
            [str(self.folder / command), *words],
            cwd=cwd,
            capture_output=True,
            text=True,
            env=kept | {"PATH": path},
            check=False,
        )
        assert done.returncode == 0, done.stdout[-9000:] + done.stderr
        return done.stdout


def run_the_readme(environment, folder):
    """Every evenodds command of the README, on people that are made up, and what it does in Python by itself."""
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
    assert len(commands) >= 5
    for line in commands:
        words = line.replace("white,f", "a,f").split()
        environment(words[0], *words[1:], cwd=folder)
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")
    assert len((folder / "odds.csv").read_text().splitlines()) == 901
    (block,) = (
        one
        for one in re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
        if "sklearn" not in one and "eo.fit(" in one
    )
    (folder / "readme.txt").write_text(f">>> import evenodds as eo\n{block}")
    told = environment(
        "python", "-m", "doctest", "-o", "ELLIPSIS", "-o", "NORMALIZE_WHITESPACE", "readme.txt", cwd=folder
    )
    assert told == ""


def test_the_wheel_alone_runs_every_command_of_the_readme(built, tmp_path):
    environment = Environment(tmp_path / "venv", built[0])
    assert PROJECT["name"] in environment("evenodds", "--version")
    run_the_readme(environment, tmp_path)


def test_the_project_page_has_no_link_that_leads_nowhere(built):
    with zipfile.ZipFile(built[0]) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        told = email.message_from_bytes(archive.read(name))
    version = told["Version"]
    links = re.findall(r"\]\(([^)]+)\)", told.get_payload())
    assert len(links) > 20
    for link in links:
        path = re.fullmatch(rf"https://[a-z.]+/evenodds/evenodds/(?:blob/)?v{re.escape(version)}/(.+)", link)
        assert path, link
        assert (ROOT / path[1]).is_file(), link


def test_the_sdist_builds_the_same_wheel(built, tmp_path):
    wheel, sdist = built
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    inside = {name.split("/", 1)[1] for name in names}
    assert {"src/evenodds/__init__.py", "docs/index.md", "examples/README.md", "CITATION.cff", "SECURITY.md"} <= inside
    environment = Environment(tmp_path / "venv", sdist)
    assert wheel.name.split("-")[1] in environment("evenodds", "--version")


def test_every_extra_is_tried():
    assert set(PROJECT["optional-dependencies"]) == {*EXTRAS, "all"}


@pytest.mark.parametrize("extra", EXTRAS)
def test_each_extra_brings_what_it_is_for(built, tmp_path, extra):
    environment = Environment(tmp_path / "venv", f"{built[0]}[{extra}]")
    code = f"import evenodds as eo; policy = eo.fit(eo.datasets.credit_risk()); {EXTRAS[extra]}"
    environment("python", "-c", code, cwd=tmp_path)


def oldest(requirements):
    """The oldest version that is allowed of each, in its newest repair."""
    return [re.sub(r">=([\d.]+).*", r"==\1.*", one) for one in requirements]


@pytest.fixture(scope="module")
def old(built, tmp_path_factory):
    """The wheel with the oldest packages that are allowed, and with what the tests need."""
    if sys.version_info >= (3, 12):
        missing("the oldest packages that are allowed have no wheels for this Python; 3.11 has them")
    extras = PROJECT["optional-dependencies"]
    packages = oldest([*PROJECT["dependencies"], *(one for name in OLD for one in extras[name])])
    return Environment(tmp_path_factory.mktemp("old") / "venv", built[0], *packages, *TESTED_BY)


def test_the_oldest_packages_run_every_command_of_the_readme(old, tmp_path):
    run_the_readme(old, tmp_path)


def test_the_oldest_packages_pass_the_tests_of_what_they_do(old):
    words = ["-q", "-o", "filterwarnings=", "-p", "no:cacheprovider", "-n", "2", *(f"tests/{room}" for room in ROOMS)]
    words += ["--ignore", "tests/fronts/test_estimator.py"]  # which needs fairlearn, and that the newest scikit-learn
    old("python", "-m", "pytest", *words, cwd=ROOT)
