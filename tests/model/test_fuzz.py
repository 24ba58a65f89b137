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


@pytest.mark.parametrize(
    ("seed", "number"),
    [
        (20, 44),  # a curve that missed its point
        (32, 13),  # a slope that was judged at another point than the one reached
        (83, 107),  # an arc that bends where curves much wider than the scores were not looked at
        (84, 4402),  # pooled labels of weights that differ by 1e15
        (86, 6751),  # pooled labels where numbers are far apart
        (84, 5198),  # a bound from points that a linear program's precision had moved
    ],
)
def test_what_was_found_stays_mended(seed, number):
    assert not _findings(seed, [number])


@pytest.mark.guarantee
@pytest.mark.parametrize("seed", range(1, 41))
def test_guarantee_odd_people_and_odd_options(seed):
    assert not _findings(seed, range(100))
