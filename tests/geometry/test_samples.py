from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenodds.geometry.pieces import Pieces
from evenodds.geometry.samples import Sample
from evenodds.geometry.stack import Stack
from evenodds.model.families import CONTINUOUS, family_of


@pytest.mark.parametrize("family", CONTINUOUS)
@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 513, 5000, 33333, 70_001])
def test_agrees_with_a_plain_sum(family, n):
    """Heavy tails and widths from a ten-thousandth to ten times the range: nothing may cancel."""
    rng = np.random.default_rng(n)
    points = np.sort(1000 + 10 * rng.lognormal(sigma=2, size=n))
    weights = rng.random(n)
    span = points[-1] - points[0] + 1
    t0 = rng.uniform(points[0] - span, points[-1], 40)
    width = span * 10.0 ** rng.uniform(-4, 1, 40)
    p = rng.uniform(0.4, 0.6, 40)
    fast = Sample(points, weights).expectation(family_of(family).layout(t0, t0 + width, p))
    shares = weights / weights.sum()
    plain = [shares @ family_of(family).layout(a, a + w, x)(points) for a, w, x in zip(t0, width, p, strict=True)]
    assert np.abs(fast - plain).max() < 1e-13


@given(st.integers(0, 2**32 - 1), st.integers(1, 2000))
def test_many_equal_points(seed, n):
    rng = np.random.default_rng(seed)
    points = np.sort(rng.integers(0, 3, n).astype(float))
    weights = rng.random(n)
    pieces = family_of("cubic").layout([-1.0, 0.0, 1.5], [1.0, 2.0, 1.6], [0.3, 0.5, 0.7])
    one = [family_of("cubic").layout(a, b, p)(points) for a, b, p in [(-1, 1, 0.3), (0, 2, 0.5), (1.5, 1.6, 0.7)]]
    assert Sample(points, weights).expectation(pieces) == pytest.approx(
        np.array(one) @ weights / weights.sum(), abs=1e-12
    )


def test_an_empty_batch():
    nothing = family_of("linear").layout(np.zeros(0), np.ones(0), np.full(0, 0.5))
    assert Sample(np.array([0.0, 1.0])).expectation(nothing).shape == (0,)


def test_the_closed_end_decides_who_counts():
    points = np.array([0.0, 1.0])
    step = Pieces.joined([1.0], origin=[0, 0], scale=[1, 1], coefficients=[[0], [1]])
    assert Sample(points).expectation(step) == 0.5
    assert Sample(-points[::-1]).expectation(step.mirrored()) == 0.5


@pytest.mark.parametrize("family", CONTINUOUS)
@pytest.mark.parametrize("n", [1, 300, 70_001])
def test_points_of_weight_one_need_no_weights(family, n):
    rng = np.random.default_rng(n)
    samples = [np.sort(rng.normal(0, 1, n)), np.sort(rng.normal(1, 1, 2 * n))]
    t0, width = rng.uniform(-4, 4, 20), 10.0 ** rng.uniform(-3, 1, 20)
    pieces = family_of(family).layout(t0, t0 + width, 0.5)
    stack = Stack([(Sample(samples[0]), Sample(samples[1]))])
    for quick in (False, True):
        local = stack.local(pieces, np.array([0, 20]), quick=quick)
        fast = np.einsum("nbk,lnbk->nl", pieces.coefficients, local)
        plain = [
            [family_of(family).layout(a, a + w, 0.5)(points).mean() for points in samples]
            for a, w in zip(t0, width, strict=True)
        ]
        assert np.abs(fast - plain).max() < 1e-13


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 17, 5000, 70_001])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_ramps_from_prefix_sums(n, weighted, offset):
    rng = np.random.default_rng(n)
    points = offset + np.sort(rng.normal(0, 1, n))
    weights = rng.random(n) if weighted else None
    t0 = offset + rng.uniform(-3, 3, 30)
    sample = Sample(points, weights)
    fast = Stack([(sample, sample)]).ramps(t0, t0 + 0.7, np.array([0, 30]))
    shares = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    plain = [np.clip((points - a) / 0.7, 0, 1) @ shares for a in t0]
    assert np.abs(fast - plain).max() < 1e-13 * max(1.0, offset / 1e3)
