"""A few of the fuzzer's cases, and more of them behind the marker (tests/fuzz.py)."""

from __future__ import annotations

import pytest

from fuzz import case_of, outcome_of


def _findings(seed, numbers):
    """What is found, with the command that shows it again."""
    return [
        f"python tests/fuzz.py --seed {seed} --only {number}: {text}"
        for number in numbers
        for text in outcome_of(case_of(seed, number)).findings
    ]


@pytest.mark.parametrize("start", range(20, 60, 10))
def test_odd_people_and_odd_options(start):
    assert not _findings(0, range(start, start + 10))


@pytest.mark.guarantee
@pytest.mark.parametrize("seed", range(1, 41))
def test_guarantee_odd_people_and_odd_options(seed):
    assert not _findings(seed, range(100))
