"""The one file that knows HiGHS: a linear program and its answer as plain values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.errors import EvenoddsError
from evenodds.geometry.pieces import Floats

__all__ = ["Answer", "LinearProgram", "SolverError", "columns_of"]

_INFEASIBLE = 2  # scipy's number for it
_TROUBLE = (1, 4)  # scipy's numbers for a limit that was reached, and for numerical trouble
_SECONDS, _SECONDS_A_COLUMN = 2.0, 1e-3  # what a program may take: on some the simplex method cycles for minutes
_TOLERANCE = 1e-10  # the tightest that HiGHS takes, for violated rows and for reduced costs
_BINDS = 1e-9  # a gain by which a bound or a row is known to bind, and which is more than rounding
# Where one way has trouble the next is tried, the last with HiGHS's own tolerance. The simplex method alone: the
# interior point method has been seen not to end.
_WAYS = ((True, _TOLERANCE), (False, _TOLERANCE), (True, 1e-7))


class SolverError(EvenoddsError):
    """HiGHS gave no optimum; the message has its own words."""

    is_infeasible = False
    """Whether HiGHS proved that no point satisfies the rows; else it only found no optimum."""


@dataclass(frozen=True)
class Answer:
    """An optimum: the point, and the objective there."""

    x: Floats
    value: float
    by_column: Floats
    """What the objective gains, per unit, as the bound of a column gives way; 0 where no bound binds."""
    by_row: Floats
    """The same for the right-hand side of each row that must not be exceeded."""


@dataclass
class LinearProgram:
    """Maximise objective @ x, subject to lo <= x <= hi and rows @ x <= or = a right-hand side.

    Each row is scaled to a largest entry of 1, since HiGHS measures violations row by row: unscaled it has been seen to
    answer points 3.6e-5 outside.

    Examples
    --------
    >>> program = LinearProgram(np.array([1.0, 1.0]), np.zeros(2), np.ones(2))
    >>> program.at_most([[0, 1]], [[1.0, 2.0]], [2.0])
    >>> program.solve().x
    array([1. , 0.5])
    """

    objective: Floats
    lo: Floats
    hi: Floats
    _blocks: dict[str, list[tuple[NDArray[np.intp], Floats, Floats]]] = field(
        default_factory=lambda: {"at_most": [], "equal": []}
    )

    def at_most(self, columns: ArrayLike, values: ArrayLike, right: ArrayLike) -> None:
        """Rows that must not exceed `right`; columns and values have one line for each row."""
        self._add("at_most", columns, values, right)

    def equal(self, columns: ArrayLike, values: ArrayLike, right: ArrayLike) -> None:
        """Rows that must equal `right`."""
        self._add("equal", columns, values, right)

    def level(self, columns: ArrayLike, values: ArrayLike, column: int, slack: float) -> None:
        """One row that must equal another column, or be below that by the slack at most.

        Several such rows of one column are within the slack of each other.

        >>> program = LinearProgram(np.array([1.0, -1.0, 0.0]), np.zeros(3), np.ones(3))
        >>> for own in (0, 1):
        ...     program.level([own], [1.0], 2, slack=0.25)
        >>> program.solve().value
        0.25
        """
        row, entries = [np.append(columns, column)], np.append(values, -1.0)
        if slack == 0:
            self.equal(row, [entries], [0.0])
        else:
            self.at_most(row, [entries], [0.0])
            self.at_most(row, [-entries], [slack])

    def rising(self, *parts: NDArray[np.intp], steps: Floats | None = None) -> None:
        """Sums of one column of each part that rise from each to the next; by these steps at most, where there are any.

        >>> program = LinearProgram(np.array([-1.0, 1.0]), np.zeros(2), np.ones(2))
        >>> program.rising(np.arange(2), steps=np.array([0.25]))
        >>> program.solve().value
        0.25
        """
        count = parts[0].size - 1
        if not count:
            return
        columns = np.column_stack([ends for own in parts for ends in (own[:-1], own[1:])])
        falls = np.tile([1.0, -1.0], (count, len(parts)))
        self.at_most(columns, falls, np.zeros(count))
        if steps is not None:
            self.at_most(columns, -falls, steps)

    def _add(self, kind: str, columns: ArrayLike, values: ArrayLike, right: ArrayLike) -> None:
        entries = np.asarray(values, dtype=np.float64)
        size = np.abs(entries).max(axis=1)
        size[size == 0] = 1.0
        self._blocks[kind].append((np.asarray(columns), entries / size[:, None], np.asarray(right) / size))

    def solve(self) -> Answer:
        """The optimum, or a `SolverError`."""
        from scipy.optimize import linprog  # noqa: PLC0415  0.5 s that importing us must not cost

        rows = {kind: self._matrix(kind) for kind in self._blocks}
        for presolve, tolerance in _WAYS:
            result = linprog(
                -self.objective,
                A_ub=rows["at_most"][0],
                b_ub=rows["at_most"][1],
                A_eq=rows["equal"][0],
                b_eq=rows["equal"][1],
                bounds=np.column_stack([self.lo, self.hi]),
                method="highs-ds",
                options={
                    "primal_feasibility_tolerance": tolerance,
                    "dual_feasibility_tolerance": tolerance,
                    "presolve": presolve,
                    "time_limit": _SECONDS + _SECONDS_A_COLUMN * self.objective.size,
                },
            )
            if result.status not in _TROUBLE:
                break
        if result.status != 0:
            msg = f"HiGHS found no optimum (status {result.status}): {result.message}"
            trouble = SolverError(msg)
            trouble.is_infeasible = result.status == _INFEASIBLE
            raise trouble
        by_column = np.asarray(result.lower.marginals) + np.asarray(result.upper.marginals)
        by_row = result.ineqlin.marginals if rows["at_most"][0] is not None else np.zeros(0)
        return Answer(np.asarray(result.x), -float(result.fun), by_column, np.asarray(by_row))

    def among_best(self, best: Answer, objective: Floats) -> LinearProgram:
        """Another objective over the answers that are as good as this optimum, and no others.

        Whatever is worth something stays as it is in every optimum: a column at a bound that binds, a row that is used
        up (complementary slackness). So the optimum is kept exactly, and not to within some slack, which the second
        objective would use.

        >>> program = LinearProgram(np.array([1.0, 1.0]), np.zeros(2), np.ones(2))
        >>> program.at_most([[0, 1]], [[1.0, 1.0]], [1.5])
        >>> program.among_best(program.solve(), np.array([1.0, 0.0])).solve().x
        array([1. , 0.5])
        """
        at_bound = np.abs(best.by_column) > _BINDS
        held = np.where(best.x - self.lo <= self.hi - best.x, self.lo, self.hi)
        lo, hi = np.where(at_bound, held, self.lo), np.where(at_bound, held, self.hi)
        used = np.split(np.abs(best.by_row) > _BINDS, np.cumsum([b[0].shape[0] for b in self._blocks["at_most"]])[:-1])
        every = list(zip(self._blocks["at_most"], used, strict=True)) if self._blocks["at_most"] else []
        blocks = {
            "at_most": [tuple(part[~own] for part in block) for block, own in every if not own.all()],
            "equal": self._blocks["equal"] + [tuple(part[own] for part in block) for block, own in every if own.any()],
        }
        return LinearProgram(objective, lo, hi, blocks)  # type: ignore[arg-type]  # three parts each

    def _matrix(self, kind: str) -> tuple[object | None, Floats | None]:
        """All rows of a kind as a sparse matrix, and their right-hand sides; None where there is no row."""
        from scipy.sparse import csr_array  # noqa: PLC0415  as above

        blocks = self._blocks[kind]
        if not blocks:
            return None, None
        numbers, start = [], 0
        for columns, _, _ in blocks:
            numbers.append(np.repeat(np.arange(start, start + columns.shape[0]), columns.shape[1]))
            start += columns.shape[0]
        matrix = csr_array(
            (
                np.concatenate([values.ravel() for _, values, _ in blocks]),
                (np.concatenate(numbers), np.concatenate([columns.ravel() for columns, _, _ in blocks])),
            ),
            shape=(start, self.objective.size),
        )
        return matrix, np.concatenate([right for _, _, right in blocks])


def columns_of(sizes: Iterable[int]) -> list[NDArray[np.intp]]:
    """The columns of some blocks of so many variables each, one block after the other.

    >>> columns_of([2, 1])
    [array([0, 1]), array([2])]
    """
    ends = np.cumsum([0, *sizes]).tolist()
    return [np.arange(start, end) for start, end in pairwise(ends)]
