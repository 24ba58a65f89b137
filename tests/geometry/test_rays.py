from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenodds.geometry.rays import runs_beyond


@given(
    ends=st.lists(st.tuples(st.integers(-6, 6), st.integers(-6, 6)), min_size=2, max_size=40),
    points=st.lists(st.tuples(st.integers(-6, 6), st.integers(-6, 6)), min_size=1, max_size=20),
    scale=st.sampled_from([1.0, 1e-3, 0.1]),
)
def test_no_run_beyond_the_point_is_overlooked(ends, points, scale):
    """Every pair is looked at here; whole numbers make many ties."""
    other, one = np.array(ends).T * scale, np.array(points).T * scale
    expected = set()
    for i, (x, y) in enumerate(one.T):
        side = x * other[1] - y * other[0]
        for k in np.flatnonzero(side[:-1] * side[1:] <= 0):
            gap = side[k] - side[k + 1]
            there = other[:, k] + (side[k] / gap if gap else 0.0) * (other[:, k + 1] - other[:, k])
            if (x, y) @ there < 0:
                expected.add((i, int(k)))
    pairs = list(zip(*map(np.ndarray.tolist, runs_beyond(one, other)), strict=True))
    assert pairs == sorted(set(pairs))
    assert expected <= set(pairs)
