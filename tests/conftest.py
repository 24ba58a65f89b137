from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from engines import Engines

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


@pytest.hookimpl(tryfirst=True)  # before xdist writes groups into the names of tests
def pytest_collection_modifyitems(items):
    """What needs Spark or PostgreSQL runs in one process, so that each is started once."""
    for item in items:
        if "engines" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("engines"))
