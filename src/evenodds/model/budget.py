"""How steep: the best points under a slope budget, and the gentlest budget that loses little."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evenodds.geometry.program import SolverError
from evenodds.geometry.roots import bracketed_root
from evenodds.model.families import Family
from evenodds.model.goals import Constraint, Objective
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution
from evenodds.model.reach import Reach, reaches_inside, reaches_of, refined
from evenodds.model.roc import Point
from evenodds.model.supports import Border, best_of_all
from evenodds.model.target import best_points
from evenodds.model.traces import Gentler, has_ladder, least_width

__all__ = ["Chosen", "best_under", "least_slope"]

_FLAT = 1e-6  # a slope that changes the odds by less than this over the whole score range is none
_ROUGH = 1e-2  # how well the first search knows a slope
_SPARE = 1e-12  # gains that differ by no more are equal
_LOOKS = 2  # times that a sparse reach is looked at more closely
_START = 10.0  # of the score range by the width that is looked at first
_FACTOR = 4.0  # between widths that are looked at first
_BEYOND = 1.1  # how far beyond where the root seems to be, to have it in a bracket
_ROUNDS = 6  # times that gentler curves may stick out which did not before
_AMPLE, _CLOSE = 4.0, 1e-3  # a group that reaches this far beyond a point does not bind it
_NOTHING = 1.0  # the excess where the groups have no point in common: no other is more

Inside = tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Chosen:
    """A point for each group, under a slope budget; and the groups' reach that was looked at."""

    slope: float
    points: Sequence[Point]
    reaches: Sequence[Reach | None] | None = None
    borders: Sequence[Border] | None = None
    """What rising odds of any kind reach, where these were asked for."""

    @property
    def known_reaches(self) -> list[Reach]:
        """The reach of each group that was looked at."""
        return [reach for reach in self.reaches or () if reach is not None]


def best_under(
    joint: JointDistribution,
    family: Family,
    slope: float,
    objective: Objective,
    constraint: Constraint,
    *,
    roughly: bool = False,
    near: Chosen | None = None,
    gentler: Sequence[Gentler] | None = None,
    inside: Inside = None,
) -> Chosen:
    """The best points that mixes of curves of a family reach with slopes of at most `slope`; roughly for a search.

    Without a budget that is the hull of the ROC, for all families. `near` is the best under a similar slope, around
    which a sparse reach is looked at first; for `gentler` see `reaches_of`. `inside` binds all thresholds.
    """
    if not family.has_path and np.isfinite(slope):
        best, borders = best_of_all(joint, slope, objective, constraint, near.borders if near is not None else None)
        return Chosen(slope, best, borders=borders)
    if inside is None:
        reaches = reaches_of(joint.members, joint.stack, family, slope, roughly=roughly, gentler=gentler)
    else:
        reaches = reaches_inside(joint.members, joint.stack, family, slope, inside)
    is_enough = roughly or all(reach.is_exact for reach in reaches)
    last = near.points if near is not None else None
    points = best_points(joint, reaches, objective, constraint, last) if is_enough or last is None else last
    # Polylines are smooth for all that matters: around a point that is nearly best one look is enough.
    looks = 1 if near is not None and family.is_straight else _LOOKS
    for _ in range(0 if is_enough else looks):
        reaches = refined(reaches, joint.stack, points)
        points = best_points(joint, reaches, objective, constraint, points)
    return Chosen(slope, points, reaches)


def least_slope(
    joint: JointDistribution,
    family: Family,
    objective: Objective,
    constraint: Constraint,
    best: float,
    loss: float,
    *,
    inside: Inside = None,
) -> Chosen | None:
    """The least slope budget found with which mixes of curves lose no more than so much of the best gain.

    And the best points under it. None where no slope that floating-point numbers can place is enough, as for a loss of
    next to nothing.
    """
    lo, hi = joint.score_range
    if hi == lo:
        return None
    # Curves that are narrower are no nearer to thresholds, and those that are wider do not change the odds.
    narrowest = min(_narrowest(member, family) for member in joint.members) / 2
    ends = narrowest, (hi - lo) / _FLAT
    excess = _Excess(joint, family, objective, constraint, best, loss, inside)
    width, rate = (hi - lo) / _START, 0.0
    has_strict = constraint.takes_a_program and constraint.tolerance > 0 and inside is None
    near = _strictly(joint, family, objective, constraint, loss) if has_strict else None
    if near is not None:
        width = excess.width_of(near.slope)
    elif excess.has_rough:
        bracket = _bracketed(excess.roughly, width, excess.from_nothing, ends)
        if bracket is None:
            return None
        wide, narrow = bracketed_root(excess.roughly, *bracket, _ROUGH * bracket[1][0])
        width = narrow
        rate = (excess.roughly(wide) - excess.roughly(narrow)) / (wide - narrow) if wide > narrow else 0.0
    while True:
        # Closely, from where the rough answer says that the root is, and a little beyond to have it in a bracket.
        step = partial(_by_rate, rate) if rate > 0 else excess.from_nothing
        bracket = _bracketed(excess.closely, width, step, (narrowest / _FACTOR, ends[1]), excess.enough)
        if bracket is None:
            return None
        (wide, high), (narrow, low) = bracket
        rate = (high - low) / (wide - narrow) if wide > narrow else 0.0
        _, width = bracketed_root(excess.closely, *bracket, 1e-10 * narrow, enough=excess.enough)
        if excess.confirm(width):
            return excess.chosen[width]


def _strictly(
    joint: JointDistribution, family: Family, objective: Objective, constraint: Constraint, loss: float
) -> Chosen | None:
    """The least slope without a tolerance: that takes no linear program, and a tolerance changes it little."""
    strict = replace(constraint, tolerance=0.0)
    if not family.has_path:
        return None
    best = objective.gain(best_under(joint, family, np.inf, objective, strict).points)
    return least_slope(joint, family, objective, strict, best, loss)


Step = Callable[[float, float], float]


def _by_rate(rate: float, width: float, value: float) -> float:
    return max(abs(value) / rate, 1e-12 * width)


def _bracketed(
    excess: Callable[[float], float], width: float, step: Step, ends: tuple[float, float], enough: float = 0.0
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """A width at which too much is lost and one at which not, with what is lost in excess; None if all lose too much.

    `step` guesses how far the root is from a width with some excess; each time it was wrong a guess is taken for half
    of that. The first width is the second too where the loss is just what is allowed, and so is the widest of all if
    it does not lose too much.
    """
    value = excess(width)
    first, more = value > 0, _BEYOND
    while True:
        known = width, value
        if value <= 0 and (value >= -enough or width >= ends[1]):
            return known, known
        if first and width < ends[0]:
            return None
        by = more * step(width, value)
        width = max(width - by, width / _FACTOR) if first else min(width + by, width * _FACTOR, ends[1])
        value = excess(width)
        more *= 2
        if (value > 0) != first:
            return (known, (width, value)) if first else ((width, value), known)


class _Excess:
    """How much more than allowed curves of a width lose, as a difference of square roots: they are almost straight.

    Where all groups share a point, those that reach far beyond it need not be looked at while the width is searched
    for; when it is found, all are.
    """

    def __init__(
        self,
        joint: JointDistribution,
        family: Family,
        objective: Objective,
        constraint: Constraint,
        best: float,
        loss: float,
        inside: Inside,
    ) -> None:
        self._joint = joint
        self._some = joint
        """The groups that are looked at while the width is searched for."""
        self._best, self._loss, self._objective = best, loss, objective
        self._under = partial(best_under, family=family, objective=objective, constraint=constraint, inside=inside)
        self._unit = family.symmetric_slope if family.has_path else 1.0
        self._family = family
        self._may_leave_out = constraint.one_point and family.has_path and inside is None
        self._rough: dict[float, float] = {}
        self._last: Chosen | None = None
        self._close: dict[float, float] = {}
        self.chosen: dict[float, Chosen] = {}
        # Gentler curves that were seen to stick out; none do where scores are many, or thresholds bound.
        self._has_ladder = family.has_path and inside is None and any(has_ladder(group) for group in joint.members)
        self._gentler = {group.key: Gentler.none() for group in joint.members}
        self._rounds = _ROUNDS
        self.has_rough = family.has_path and not (
            inside is None and family.is_straight and all(has_ladder(group) for group in joint.members)
        )
        """Whether it is worth while to look roughly first."""
        self.enough = float(np.sqrt(loss) - np.sqrt(max(loss - _SPARE, 0.0)))
        """A loss that is less than allowed by no more is as much as is allowed."""

    def _gain(self, chosen: Chosen) -> float:
        if self._may_leave_out:
            point = chosen.points[0]
            return float(self._objective.common_gain(np.array(point.fpr), np.array(point.tpr)))
        return self._objective.gain(chosen.points)

    def _of(self, chosen: Chosen) -> float:
        return float(np.sqrt(max(self._best - self._gain(chosen), 0.0)) - np.sqrt(self._loss))

    def _look(self, width: float, *, roughly: bool = False, near: Chosen | None = None) -> Chosen:
        """At the groups that matter, and the gentler curves that were seen to stick out."""
        gentler = [self._gentler[group.key] for group in self._some.members] if self._has_ladder else None
        slope = self._unit / width
        chosen = self._under(self._some, slope=slope, roughly=roughly, near=self._at(near), gentler=gentler)
        if self._may_leave_out and self._rounds:
            self._leave_out(chosen)
        return chosen

    def _at(self, near: Chosen | None) -> Chosen | None:
        """For as many groups as are looked at now."""
        if near is None or not self._may_leave_out:
            return near
        return replace(near, points=[near.points[0]] * len(self._some.members))

    def _leave_out(self, chosen: Chosen) -> None:
        """The groups that reach far beyond the point, compared with how far this is from the one that is looked for."""
        off = _AMPLE * abs(self._best - self._gain(chosen) - self._loss) + _CLOSE
        bind = [reach.shortfall(chosen.points[0]) >= -off for reach in chosen.known_reaches]
        if any(bind) and not all(bind):
            self._some = self._among([group for group, does in zip(self._some.members, bind, strict=True) if does])

    def _among(self, groups: Sequence[Group]) -> JointDistribution:
        return replace(self._joint, members=tuple(groups))

    def width_of(self, slope: float) -> float:
        """The width of curves of a slope."""
        return self._unit / slope

    def from_nothing(self, width: float, value: float) -> float:
        """How far the root is from a width with some excess, if the loss grew with its square from nothing on."""
        return width * min(abs(value) / max(value + float(np.sqrt(self._loss)), _SPARE), _FACTOR)

    def roughly(self, width: float) -> float:
        """Roughly, for a first search."""
        if width not in self._rough:
            try:
                self._last = self._look(width, roughly=True, near=self._last)
            except SolverError:  # the groups have no point in common
                self._rough[width] = _NOTHING
            else:
                self._rough[width] = self._of(self._last)
        return self._rough[width]

    def closely(self, width: float) -> float:
        """Closely, looking first where the last best points were; these are kept."""
        if width not in self._close:
            near = list(self.chosen.values())[-1] if self.chosen else None
            try:
                self.chosen[width] = self._look(width, near=near)
            except SolverError:
                self._close[width] = _NOTHING
            else:
                self._close[width] = self._of(self.chosen[width])
        return self._close[width]

    def confirm(self, width: float) -> bool:
        """Look at all groups, and at all gentler curves: whether the width is still the one that is looked for.

        Where it is not, those that matter are looked at in the search from now on.
        """
        before, slope = self.chosen[width], self._unit / width
        after = self._under(self._some, slope=slope, near=self._at(before)) if self._has_ladder else before
        self._close, self.chosen = {width: self._of(after)}, {width: after}
        reaches = {reach.group.key: reach for reach in after.known_reaches}
        if self._has_ladder and self._gain(after) > self._gain(before) + _SPARE and self._rounds:
            self._gentler |= {
                key: reach.gentler(least_width(reach.group, self._family, slope)) for key, reach in reaches.items()
            }
            self._rounds -= 1
            return False
        if not self._may_leave_out:
            return True
        members = self._joint.members
        point = after.points[0]
        binding = self._short_of([group for group in members if group.key not in reaches], point, slope)
        if binding:
            self._some = self._among([*self._some.members, *binding])
            self._rounds = max(self._rounds - 1, 0)
            self._close, self.chosen = {}, {}
            return False
        self.chosen = {width: Chosen(slope, [point] * len(members), [reaches.get(group.key) for group in members])}
        return True

    def _short_of(self, groups: Sequence[Group], point: Point, slope: float) -> list[Group]:
        """The groups that do not reach a point: looked at roughly, which is often enough, and then closely."""
        for roughly in (True, False) if groups else ():
            some = self._among(groups)
            reaches = reaches_of(groups, some.stack, self._family, slope, roughly=roughly)
            if not roughly:
                reaches = refined(reaches, some.stack, [point] * len(groups))
            groups = [reach.group for reach in reaches if reach.shortfall(point) > 0]
            if not groups:
                break
        return list(groups)


def _narrowest(group: Group, family: Family) -> float:
    """The width below which a curve gains nothing by being narrower."""
    return least_width(group, family, np.inf) if family.has_path else min(group.least_gap, 1.0)
