from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "evenodds",
    deadline=None,  # speed is measured in bench/, never by a timed test
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=40,
)
settings.register_profile("thorough", parent=settings.get_profile("evenodds"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "evenodds"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long guarantees to `make guarantees`, unless they are asked for."""
    if "guarantee" not in config.getoption("-m"):
        skip = pytest.mark.skip(reason="a long guarantee: run `make guarantees`")
        for item in items:
            if item.get_closest_marker("guarantee"):
                item.add_marker(skip)
