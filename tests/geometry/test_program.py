from __future__ import annotations

import numpy as np
import pytest

import evenodds as eo
from evenodds.geometry.program import LinearProgram, SolverError


def test_rows_of_every_kind():
    program = LinearProgram(np.array([1.0, 2.0, 0.0]), np.zeros(3), np.full(3, 10.0))
    program.at_most([[0, 1], [1, 2]], [[1.0, 1.0], [1.0, -1.0]], [4.0, 0.0])
    program.equal([[2]], [[2.0]], [6.0])
    answer = program.solve()
    assert answer.x == pytest.approx([1, 3, 3])
    assert answer.value == pytest.approx(7)


def test_no_optimum_is_an_error_with_the_solvers_words():
    program = LinearProgram(np.ones(1), np.zeros(1), np.ones(1))
    program.equal([[0]], [[1.0]], [2.0])
    with pytest.raises(SolverError, match=r"HiGHS found no optimum \(status 2\).*infeasible") as caught:
        program.solve()
    assert isinstance(caught.value, eo.EvenoddsError)
