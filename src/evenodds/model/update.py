"""The next policy: the best on new people whose odds are near those of the policy in use, for anybody and at any score.

Rising odds near given ones, with capped slopes and equal rates, are a linear program over the odds at the observed
scores and where the curves in use bend; between these the new curves are straight. The least change that keeps the
promise is the same program with the change as a variable.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial

import numpy as np

from evenodds.errors import EvenoddsWarning, OptionError, UnknownGroupError, UnreachableError
from evenodds.geometry.pieces import Floats
from evenodds.geometry.program import Answer, LinearProgram, SolverError, columns_of
from evenodds.model.budget import best_under
from evenodds.model.comparisons import Before, Change
from evenodds.model.curves import Curve
from evenodds.model.fit import finished
from evenodds.model.goals import Cost, coefficients, objective_of
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution, check_joint
from evenodds.model.lp import nearest_to_perfect
from evenodds.model.nodes import apart_enough, shares_by_label, within_slope
from evenodds.model.policy import Policy, check_no_review, check_policy
from evenodds.model.population import population_of
from evenodds.model.rates import rates_of
from evenodds.model.request import Request
from evenodds.model.scale import Scale
from evenodds.model.solve import Solved
from evenodds.model.traces import some_scores
from evenodds.model.weaknesses import elsewhere_of
from evenodds.values import number_of

__all__ = ["update"]

_MOST = 400  # scores of a group at which odds are looked for, evenly by rank
_MORE = 1.05  # than was seen, the difference may be between the places
_BENDS = 64  # straight lines in place of each piece that is not straight
_LOOKS = 16  # places at which such a line is compared with the piece
_SPARE = 1e-9  # of odds, so that what rounding adds is still within the change
_CONFIDENCE = 0.95  # in what chance alone explains


def update(policy: Policy, joint: JointDistribution, *, max_change: float) -> Policy:
    """Find the best policy on new people whose odds differ little from those of the policy in use.

    What the policy promised (its constraint and tolerance, its objective, its slope budget) is asked of the new people,
    of curves of straight lines that differ from those in use by at most `max_change`, for anybody and at any score. The
    certificate's `change` says how little would keep the promise, and whether the people gave a reason to change at
    all: often the policy in use is as good on them as chance allows. Where a group has more than 400 scores the curves
    bend at 400 of them only; rates are those of everybody all the same.

    Parameters
    ----------
    policy : Policy
        In use; its odds must not jump.
    joint : JointDistribution
        New people of the same groups; `old + new` where both shall count.
    max_change : float
        The largest change of anybody's odds: above 0, up to 1.

    Returns
    -------
    Policy
        The next one; its `certificate.change` says what has changed.

    See Also
    --------
    audit : Whether the policy in use still does, and how far people have drifted (`reference=`).
    fit : Anew, however much the odds change.
    report : Explain the change in one file (`before=`).

    Examples
    --------
    >>> import evenodds as eo
    >>> last_month, this_month = eo.datasets.credit_risk(), eo.datasets.credit_risk()
    >>> policy = eo.fit(last_month, max_slope=0.1)
    >>> change = eo.update(policy, last_month + this_month, max_change=0.05).certificate.change
    >>> change.least < 1e-8, change.is_warranted
    (True, False)
    """
    check_policy(policy)
    check_no_review(policy, "update", "fit anew with the same review=")
    check_joint(joint, "The second argument")
    policy.check_orientation(joint.orientation)
    allowed = "a number above 0, up to 1, the largest change of anybody's odds"
    max_change = number_of("max_change", max_change, allowed, low=0, high=1, above=True)
    _check_people(policy, joint)
    for text in elsewhere_of(policy.score_range, joint):
        warnings.warn(text, EvenoddsWarning, stacklevel=2)
    return _updated(policy, joint, max_change)


def _updated(policy: Policy, joint: JointDistribution, max_change: float) -> Policy:
    """The best policy within a change, with what it changed and why; `finished` warns those who asked for it."""
    near = _Near(policy, joint)
    try:
        least = near.least_change()
    except SolverError as reason:
        msg = f"The least change was not found: {reason} Hint: scores that stand for something else, such as -999, go."
        raise UnreachableError(msg) from None
    if least > max_change:
        msg = (
            f"No change of odds by up to max_change={max_change:g} keeps the promise on these people: {least:.6g} is "
            f"the least. Hint: max_change={least * 1.02:.3g}, or fit anew."
        )
        raise UnreachableError(msg)
    curves = near.best(min(max(max_change - _SPARE, least + _SPARE), max_change))
    certificate = policy.certificate
    before = population_of(joint, policy.group_curves, near.request.constraint.rates)
    change = Change(
        previous=policy.document["fingerprint"],
        allowed=max_change,
        most=near.largest_change(curves),
        least=least,
        before=before.difference,
        tolerance=certificate.fitted_tolerance,
        by_chance=before.margin(_CONFIDENCE),
    )
    points = [rates_of(curve, member) for curve, member in zip(curves, joint.members, strict=True)]
    people, goal = near.people, near.goal
    best = goal.gain(best_under(people, near.request.family, np.inf, goal, near.request.constraint).points)
    solved = Solved(near.request, people, goal, near.slope, points, tuple(curves), best)
    in_use = tuple(rates_of(curve, member) for curve, member in zip(policy.group_curves, joint.members, strict=True))
    replaced = Before(None, goal.reported(goal.gain(in_use)), in_use)
    return finished(joint, solved, near.request, change=change, before=replaced)


def _check_people(policy: Policy, joint: JointDistribution) -> None:
    """Refuse people that a policy cannot be updated to."""
    policy.check_knows(joint.groups)
    missing = [group for group in policy.groups if group not in joint.groups]
    if missing:
        msg = f"Of the policy's groups these are not among the people: {', '.join(map(repr, missing))}."
        raise UnknownGroupError(msg)
    if policy.certificate.curve == "threshold" or any(np.isinf(curve.lipschitz) for curve in policy.group_curves):
        msg = "The policy's odds jump, and odds near a jump jump too. Hint: fit anew, or another curve from the start."
        raise OptionError(msg)
    if policy.certificate.few:
        msg = (
            f"The policy leaves {policy.certificate.few}, which odds near its own need not. "
            "Hint: fit anew with max_randomized."
        )
        raise OptionError(msg)


class _Near:
    """Curves near those of a policy, on new people: the odds at some scores of each group, the nodes."""

    def __init__(self, policy: Policy, joint: JointDistribution) -> None:
        certificate = policy.certificate
        steepest = max(curve.lipschitz for curve in policy.group_curves)
        self.slope = certificate.max_slope if np.isfinite(certificate.max_slope) else steepest or np.inf
        self.request = Request.of(
            constraints=certificate.constraints,
            objective=Cost(*certificate.costs) if certificate.costs else certificate.objective_name,
            tolerance=certificate.fitted_tolerance,
            curve="optimal",
            max_slope=self.slope,
            selection_rate=certificate.selection_rate,
        )
        self.people, self._scale = joint.searched
        self.goal = objective_of(self.request.objective, self.people)
        self._old = policy.group_curves
        pairs = list(zip(self.people.members, self._old, strict=True))
        nodes = [_nodes(member, curve, self._scale, self.slope) for member, curve in pairs]
        self._nodes = nodes
        self._odds = [curve(self._scale.own(at)) for curve, at in zip(self._old, nodes, strict=True)]
        self._bent = [_off_chord(c, at, self._scale) for c, at in zip(self._old, nodes, strict=True)]
        self._columns = columns_of(at.size for at in nodes)
        self._count = sum(at.size for at in nodes)
        self._shares = [shares_by_label(member, at) for member, at in zip(self.people.members, nodes, strict=True)]

    def least_change(self) -> float:
        """The least change with which the promise is kept."""
        change = self._count + len(self.request.constraint.rates)  # the last column
        program = LinearProgram(np.append(np.zeros(change), -1.0), np.zeros(change + 1), np.ones(change + 1))
        self._keep_promise(program)
        old, bent = np.concatenate(self._odds), np.concatenate(self._bent)
        own = np.arange(self._count)
        both = np.column_stack([own, np.full(self._count, change)])
        program.at_most(both, np.tile([1.0, -1.0], (self._count, 1)), old - bent)
        program.at_most(both, np.tile([-1.0, -1.0], (self._count, 1)), -old - bent)
        return max(-program.solve().value, 0.0)

    def best(self, change: float) -> list[Curve]:
        """The curves with the greatest gain within a change, for people's own scores."""
        if self.goal.is_distance:
            answer = self._solved(change, np.zeros(2), nearest_to_perfect(partial(self._farthest, change)))
        else:
            answer = self._solved(change, None)
        every = zip(self._nodes, self._columns, strict=True)
        return [Curve.through(at, within_slope(at, answer.x[own], self.slope)).on(self._scale) for at, own in every]

    def largest_change(self, curves: Sequence[Curve]) -> float:
        """How much anybody's odds differ at most, at any score: at the nodes, and by what lines differ from arcs."""
        every = zip(curves, self._nodes, self._odds, self._bent, strict=True)
        return float(max((np.abs(c(self._scale.own(at)) - y) + bent).max() for c, at, y, bent in every))

    def _farthest(self, change: float, direction: Floats) -> Floats:
        """The farthest common point in a direction: the rates of the first group, which are those of all."""
        odds = self._solved(change, direction).x
        return np.asarray(self._shares[0] @ odds[self._columns[0]])

    def _solved(self, change: float, direction: Floats | None, point: Floats | None = None) -> Answer:
        """The best odds within a change: by the goal, or by the shared rates in a direction; through a point."""
        rates = len(self.request.constraint.rates)
        by = self.goal.by_rate if direction is None else [direction, *np.zeros((len(self._nodes) - 1, 2))]
        weights = [row @ shares for row, shares in zip(by, self._shares, strict=True)]
        old, room = np.concatenate(self._odds), np.maximum(change - np.concatenate(self._bent), 0.0)
        least, most = np.clip([old - room, old + room], 0.0, 1.0)
        ends = [np.zeros(rates), np.ones(rates)] if point is None else [point - _SPARE, point + _SPARE]
        program = LinearProgram(
            np.concatenate([*weights, np.zeros(rates)]), np.append(least, ends[0]), np.append(most, ends[1])
        )
        self._keep_promise(program)
        return program.solve()

    def _keep_promise(self, program: LinearProgram) -> None:
        """Odds rise, within the slope budget, and the groups share what they shall."""
        for own, at in zip(self._columns, self._nodes, strict=True):
            program.rising(own, steps=self.slope * np.diff(at) if np.isfinite(self.slope) else None)
        constraint = self.request.constraint
        if constraint.selection_rate is not None:
            yeses = [by @ shares for by, shares in zip(self.goal.shares, self._shares, strict=True)]
            program.equal([np.arange(self._count)], [np.concatenate(yeses)], [constraint.selection_rate])
        for k, rate in enumerate(constraint.rates):
            for own, shares, by in zip(self._columns, self._shares, coefficients(self.people, rate), strict=True):
                # The last columns are the greatest value of each rate over the groups.
                program.level(own, by @ shares, self._count + k, constraint.tolerance)


def _nodes(member: Group, curve: Curve, scale: Scale, slope: float) -> Floats:
    """The scores at which odds are looked for: those of the people (some of many), and where the old curve bends."""
    pieces = curve.pieces
    inner = np.isfinite(pieces.lo) & np.isfinite(pieces.hi)
    straight = np.abs(pieces.coefficients[:, 2:]).sum(axis=1) == 0
    bends = [
        np.linspace(a, b, 2 if is_straight else _BENDS + 1)
        for a, b, is_straight in zip(pieces.lo[inner], pieces.hi[inner], straight[inner], strict=True)
    ]
    every = np.unique(np.concatenate([some_scores(member, _MOST), *(scale.upward(at) for at in bends)]))
    return apart_enough(every, slope)


def _off_chord(curve: Curve, nodes: Floats, scale: Scale) -> Floats:
    """For each node by how much the curve differs from straight lines beside it."""
    if nodes.size == 1:
        return np.zeros(1)
    share = np.arange(1, _LOOKS) / _LOOKS
    at = nodes[:-1, None] + share * np.diff(nodes)[:, None]
    y = curve(scale.own(nodes))
    off = np.abs(curve(scale.own(at)) - (y[:-1, None] + share * np.diff(y)[:, None])).max(axis=1)
    off = np.where(off < _SPARE, 0.0, off * _MORE)  # rounding is not a difference
    return np.asarray(np.maximum(np.append(off, 0.0), np.append(0.0, off)))
