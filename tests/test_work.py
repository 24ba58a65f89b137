"""How much work a fit does, counted instead of timed: a noisy machine cannot hide a slow-down here.

The numbers are what a fit needs today, with room for chance; raise them only with a reason.
"""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import evenodds as eo
from evenodds.geometry import envelope, samples
from evenodds.geometry.stack import Stack
from evenodds.model import intake


def _people(n):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 4, n)
    label = rng.random(n) < 0.35 + 0.1 * group
    return rng.normal(0, 1, n) + (1 + 0.4 * group) * label, group, label.astype(int)


class _Work:
    """Counts what is asked of sums over people: how often, and at how many places."""

    def __init__(self, monkeypatch):
        self.calls = self.places = self.choices = 0
        plain, best = Stack.positions, envelope.best_below

        def positions(stack, at, bounds, side="left"):
            self.calls += 1
            self.places += at.size
            return plain(stack, at, bounds, side)

        def best_below(*arguments):
            self.choices += 1
            return best(*arguments)

        monkeypatch.setattr(Stack, "positions", positions)
        monkeypatch.setattr("evenodds.model.target.best_below", best_below)


@pytest.mark.parametrize("n", [100_000, 400_000])
def test_a_solve_looks_at_the_people_a_fixed_number_of_times(monkeypatch, n):
    joint = eo.JointDistribution.from_arrays(*_people(n))
    assert all(member.is_large for member in joint.members) == (n > 4 * samples.FEW)
    work = _Work(monkeypatch)
    eo.fit(joint)
    assert work.calls < 1200
    assert work.places < 150_000
    assert work.choices < 40


def test_the_places_looked_at_do_not_grow_with_the_people(monkeypatch):
    places = []
    for n in (400_000, 1_600_000):
        joint = eo.JointDistribution.from_arrays(*_people(n))
        with monkeypatch.context() as patch:
            work = _Work(patch)
            eo.fit(joint)
        places.append(work.places)
    assert places[1] < 1.5 * places[0]


def test_rows_are_read_once_and_sorted_once(monkeypatch):
    n = 400_000
    score, group, label = _people(n)
    sorted_rows, taken = [], []
    plain_sort, plain_blocks = intake._sorted, intake._blocks  # noqa: SLF001

    def sorted_side(columns, sign):
        sorted_rows.append(columns[0].size)
        return plain_sort(columns, sign)

    def blocks(rows, *size):
        taken.append(len(rows))
        return plain_blocks(rows, *size)

    monkeypatch.setattr(intake, "_sorted", sorted_side)
    monkeypatch.setattr(intake, "_blocks", blocks)
    eo.JointDistribution.from_arrays(score, group, label)
    assert sum(sorted_rows) == n
    assert sum(taken) == 2 * n, "once to count the parts, once to copy them"


def test_a_large_group_makes_no_table_of_its_scores():
    joint = eo.JointDistribution.from_arrays(*_people(400_000))
    policy = eo.fit(joint)
    assert policy.certificate.residual <= 1e-9
    for member in joint.members:
        assert "table" not in vars(member), "a table as long as the data was made"


@pytest.mark.parametrize("n", [2_000, 400_000])
def test_people_are_let_go_of_once_nobody_asks_for_them(n):
    joint = eo.JointDistribution.from_arrays(*_people(n))
    policy = eo.fit(joint)
    eo.audit(policy, joint)
    assert policy.certificate.gap >= 0  # the linear program that proves it needs them once
    members = [weakref.ref(member) for member in joint.members]
    del joint
    gc.collect()
    assert not any(member() for member in members)
