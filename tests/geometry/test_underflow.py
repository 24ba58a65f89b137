"""Pieces without products that underflow: the same bits, and no such product."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenodds.geometry.pieces import Pieces
from evenodds.geometry.underflow import without_underflow


def _everywhere(pieces, cut, seed=0):
    """Scores at and beside all breaks, and of every size."""
    rng = np.random.default_rng(seed)
    breaks = np.concatenate([pieces.breaks, cut.breaks])
    beside = [np.nextafter(breaks, end) for end in (-np.inf, np.inf)]
    sizes = 10.0 ** rng.uniform(-324, 3, 3000)
    return np.concatenate([breaks, *beside, sizes, -sizes, breaks[0] + sizes, [0.0, -0.0]])


def _underflows(pieces, r):
    """Whether any product is 0 though its factors are not, at each r."""
    piece = np.searchsorted(pieces.breaks, r, side="right" if pieces.closed == "left" else "left")
    far = r - pieces.origin[piece]
    u = far * pieces.rate[piece]
    bad = (u == 0) & (far != 0)
    value = pieces.coefficients[piece, -1]
    for power in range(pieces.coefficients.shape[-1] - 2, -1, -1):
        product = value * u
        bad |= (product == 0) & (value != 0) & (u != 0)
        value = product + pieces.coefficients[piece, power]
    return bad


_SIZES = st.sampled_from([0.0, 0.0, 5e-324, 1e-310, -1e-300, 1e-150, -1e-120, 0.3])


@given(
    coefficients=st.lists(st.sampled_from([0.0, 0.0, 0.25, -0.7, 1.0, 3e-17, 4.5]), min_size=2, max_size=5),
    origin=_SIZES,
    scale=st.sampled_from([1.0, -1.0, 1e-3, 1e6, -1e200, 1e300]),
    ends=st.sampled_from([(0.0, 0.9), (-0.5, 0.0), (-0.5, 0.5), (1e-320, 0.9), (-1e-300, 0.9), (0.1, 0.2)]),
    closed=st.sampled_from(["left", "right"]),
)
def test_the_same_bits_and_no_product_that_vanishes(coefficients, origin, scale, ends, closed):
    zeros = [0.0] * (len(coefficients) - 1)
    pieces = Pieces.joined(
        ends,
        origin=[0, origin, 0],
        scale=[1, scale, 1],
        coefficients=[[0.0, *zeros], coefficients, [1.0, *zeros]],
        closed=closed,
    )
    cut = without_underflow(pieces)
    r = _everywhere(pieces, cut)
    assert np.array_equal(cut(r).view(np.int64), pieces(r).view(np.int64))
    assert not _underflows(cut, r).any()
    assert cut.closed == closed
    assert (np.diff(cut.breaks) > 0).all()


def test_a_cube_at_zero_is_cut_where_it_vanishes_and_where_its_square_takes_over():
    coefficients = [[0, 0, 0, 0], [0, 0, 3, -2], [1, 0, 0, 0]]
    pieces = Pieces.joined([0, 1], origin=[0, 0, 0], scale=[1, 1, 1], coefficients=coefficients)
    r = np.array([1e-200, 1e-150])
    assert _underflows(pieces, r).tolist() == [True, False]
    cut = without_underflow(pieces)
    assert [cut.polynomial(i) for i in range(5)] == [[0.0], [0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 3.0, -2.0], [1.0]]
    vanishes, takes_over = cut.breaks[1:3]
    assert pieces(np.nextafter(vanishes, 0)) == 0 < pieces(vanishes)
    assert takes_over == pytest.approx(2.0**-200)


@pytest.mark.parametrize("breaks", [[9.7, 52.3], [-1 / 3, 1 / 3], [1e6, 1e6 + 1e-6]])
def test_pieces_far_from_zero_stay_as_they_are(breaks):
    width = breaks[1] - breaks[0]
    coefficients = [[0, 0, 0], [0, 0, 1], [1, 0, 0]]
    pieces = Pieces.joined(breaks, origin=[0, breaks[0], 0], scale=[1, width, 1], coefficients=coefficients)
    cut = without_underflow(pieces)
    for name in ("lo", "hi", "origin", "scale", "coefficients"):
        assert np.array_equal(getattr(cut, name), getattr(pieces, name))


def test_an_empty_piece_is_left_out():
    pieces = Pieces.joined([1, 1], origin=[0] * 3, scale=[1] * 3, coefficients=[[0], [0.5], [1]])
    cut = without_underflow(pieces)
    assert cut.breaks.tolist() == [1.0]
    assert cut([0, 1, 2]).tolist() == pieces([0, 1, 2]).tolist() == [0, 1, 1]
