from __future__ import annotations

import io
import os
import runpy
import sys
import warnings
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, settings

from engines import Engines

# Tests run side by side, one on each core. Linear algebra with threads of its own, which wait for cores in a busy loop,
# then takes four times as long. It reads this when numpy is loaded, and so do processes that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile(
    "evenodds",
    deadline=None,  # speed is measured in bench/, never by a timed test
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
    ],  # half of all random scores are backwards
    max_examples=40,
)
# `make guarantees` sets HYPOTHESIS_PROFILE: every property is then tried ten times as often as by `make test`.
settings.register_profile("thorough", parent=settings.get_profile("evenodds"), max_examples=400)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "evenodds"))


@pytest.fixture(scope="session")
def engines():
    """Every kind of data frame; what was started is stopped."""
    found = Engines()
    yield found
    found.stop()


@dataclass(frozen=True)
class Ended:
    """How the command line ended: its exit code, and what it printed and said."""

    code: int
    printed: str
    told: str


@pytest.fixture
def command_line(capfdbinary, monkeypatch):
    """Run the command line in this process, as `python -m evenodds` does.

    A process of its own would load the same modules again each time, which takes ten times as long as most commands.
    """

    def call(*words, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["evenodds", *(os.fsdecode(word) for word in words)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capfdbinary.readouterr()
        code = 0
        with warnings.catch_warnings():  # it shows them in its own way
            try:
                runpy.run_module("evenodds", run_name="__main__")
            except SystemExit as end:
                code = end.code or 0
        printed, told = capfdbinary.readouterr()
        return Ended(code, printed.decode(), told.decode())

    return call


@pytest.hookimpl(tryfirst=True)  # before xdist writes groups into the names of tests
def pytest_collection_modifyitems(items):
    """What needs Spark or PostgreSQL runs in one process, so that each is started once."""
    for item in items:
        if "engines" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("engines"))
