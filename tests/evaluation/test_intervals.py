from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import studentized_range

import evenodds as eo
from evenodds.evaluation.intervals import (
    Sample,
    critical_value,
    difference,
    largest,
    mean_interval,
    ratio,
    simultaneous_value,
    smallest,
)

Z = 1.959963984540054
rates = st.floats(0, 1)


@st.composite
def samples(draw):
    values = np.array(draw(st.lists(rates, min_size=1, max_size=30)))
    times = draw(st.integers(1, 50))
    return Sample.of(values, np.full(values.size, float(times)), float(values.size * times))


def wilson(yes, n):
    p = yes / n
    middle, half = (
        (p + Z**2 / 2 / n) / (1 + Z**2 / n),
        Z / (1 + Z**2 / n) * math.sqrt(p * (1 - p) / n + Z**2 / 4 / n**2),
    )
    return eo.Estimate(p, middle - half, middle + half)


def test_yes_and_no_of_many_have_wilsons_interval():
    found = mean_interval(Sample.of(np.array([0.0, 1.0]), np.array([6000.0, 4000.0]), 10000), Z)
    known = wilson(4000, 10000)
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=2e-6)  # t for z is all that differs


def test_differences_are_newcombes():
    """56 of 70 less 48 of 80: method 10 of Newcombe (Statistics in Medicine 17, 1998) gives 0.0524 to 0.3339."""
    found = difference(wilson(56, 70), wilson(48, 80))
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@given(samples())
def test_an_interval_has_its_figure_and_stays_in_range(sample):
    found = mean_interval(sample, Z)
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1
    assert found.low < found.high or sample.lo == sample.hi


@given(samples())
def test_noes_are_as_good_as_yeses(sample):
    found = mean_interval(sample, Z)
    mirrored = mean_interval(Sample(1 - sample.mean, sample.variance, sample.n_effective), Z)
    assert (mirrored.low, mirrored.high) == pytest.approx((found.complement.low, found.complement.high), abs=1e-9)


@given(samples(), st.floats(2, 100))
def test_more_people_know_more(sample, times):
    few = mean_interval(sample, Z)
    many = mean_interval(Sample(sample.mean, sample.variance, sample.n_effective * times), Z)
    assert many.high - many.low <= few.high - few.low + 1e-12


@given(samples(), st.floats(-50, 50), st.floats(0.01, 100))
def test_a_change_of_scale_changes_nothing(sample, lo, width):
    plain = mean_interval(sample, Z)
    moved = Sample(lo + width * sample.mean, width**2 * sample.variance, sample.n_effective, lo, lo + width)
    found = mean_interval(moved, Z)
    assert (found.low, found.high) == pytest.approx((lo + width * plain.low, lo + width * plain.high), abs=1e-6)


def test_nobody_tells_nothing():
    found = mean_interval(Sample.of(np.zeros(0), np.zeros(0), 0.0), Z)
    assert math.isnan(found.value)
    assert (found.low, found.high) == (0.0, 1.0)
    assert "not defined" in str(found)
    assert difference(found, wilson(3, 10)).high == 1.0


@pytest.mark.parametrize("groups", [2, 3, 4, 10, 50])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_simultaneous_values_are_those_of_the_studentized_range(groups, confidence):
    known = studentized_range.ppf(confidence, groups, np.inf) / math.sqrt(2)
    assert simultaneous_value(confidence, groups) == pytest.approx(known, rel=1e-5)
    assert simultaneous_value(confidence, 1) == critical_value(confidence)


@given(samples(), samples())
def test_a_ratio_and_its_inverse_agree(one, other):
    a, b = (mean_interval(sample, Z) for sample in (one, other))
    found, back = ratio(a, b), ratio(b, a)
    if min(a.value, b.value) > 1e-9:
        assert found.low <= found.value <= found.high
        assert found.value * back.value == pytest.approx(1)
        if found.low > 1e-6:  # below, an end is a difference of numbers that are almost equal
            assert back.high == pytest.approx(1 / found.low, rel=1e-6)


def test_the_largest_difference_may_be_zero_and_the_smallest_ratio_one():
    level = [eo.Estimate(0.01, -0.02, 0.04), eo.Estimate(-0.01, -0.05, 0.03)]
    assert largest(level) == eo.Estimate(0.01, 0.0, 0.05)
    assert largest([*level, eo.Estimate(-0.3, -0.4, -0.2)]) == eo.Estimate(0.3, 0.2, 0.4)
    assert largest([]) == eo.Estimate(0.0, 0.0, 0.0)
    assert smallest([eo.Estimate(1.25, 1.0, 1.6)]) == eo.Estimate(0.8, 1 / 1.6, 1.0)
    assert smallest([]) == eo.Estimate(1.0, 1.0, 1.0)
