"""The best policy with reviews: a yes, a no, or somebody looks at it.

Each group has two rising curves u <= w: u is the odds of an automatic yes, w - u those of a review, 1 - w those of an
automatic no. A reviewer says yes to label y with the chance h_y, so that the final rate of label y in group a is
E[u + h_y (w - u) | a, y], and the share reviewed is E[w - u]. All of it is linear in the odds at the scores: one linear
program, over the odds u and the reviews w - u.

Optima are not unique, so two more programs choose among the best. The first takes the least harm if reviewers are off:
where the chance of a yes to label y is really h_y + d, in every group alike, the final rates of two groups come to
differ by |d (rho_a - rho_b)|, rho being the shares reviewed; the largest such difference is made as small as it can be,
which is the same whatever d is. The second leaves few people to a coin, as well as linear programs can: odds are drawn
towards the certain answer (0 or 1) that each is nearest to. At last each curve is replaced by one with the same rates
that leaves the fewest people to chance, where it may be as steep as it likes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import UnreachableError
from evenodds.geometry.pieces import Floats
from evenodds.geometry.program import Answer, LinearProgram, SolverError, columns_of
from evenodds.model.band import gentlest_in, gentlest_pair_in
from evenodds.model.curves import Curve, is_random
from evenodds.model.gaps import Gaps
from evenodds.model.goals import Objective, coefficients, objective_of
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution
from evenodds.model.lottery import Band, least_band
from evenodds.model.nodes import apart_enough, shares_by_label, within_slope
from evenodds.model.rates import randomized_share, rates_of
from evenodds.model.request import Request, SlopeBudget
from evenodds.model.reviewer import Review
from evenodds.model.roc import Point
from evenodds.model.traces import some_scores

__all__ = ["Reviews", "solved_with_review"]

_MOST = 200  # scores of each label in a group at which odds are looked for, evenly by rank
_LOOKS = 6  # times that more scores are looked at where a bound's curves rise
_MORE = 150  # scores of a group each time
_PROVEN = 1e-9  # an optimum that is nearer than this to its bound is proven
_ROOM = (1.0, 0.1, 0.03, 0.01, 0.01, 0.01)  # from sums of odds to numbers of people, step by step
_NOISE = 1e-11  # odds so near 0, 1 or each other are rounding of the program
_LABELS = 2


@dataclass(frozen=True, eq=False)
class Reviews:
    """Two curves a group, with what a certificate needs to judge them."""

    request: Request
    review: Review
    goal: Objective
    slope: float
    points: Sequence[Point]
    """The final rates that the program found."""
    curves: tuple[Curve, ...]
    upper: tuple[Curve, ...]
    bound: float
    """What no rising curves gain more than."""
    unlimited: float
    """The same without a slope budget."""
    has_every_score: bool
    """Whether odds were looked for at every score, and not at some of many."""


def solved_with_review(joint: JointDistribution, request: Request, review: Review) -> Reviews:
    """From a request to the two curves of each group."""
    people, scale = joint.searched
    slope = request.budget.slope if isinstance(request.budget, SlopeBudget) else np.inf
    try:
        program, bound = _searched(people, request, review, slope)
        odds, best = program.solved()
        bound = best if program.has_every_score else max(bound, best)
        unlimited = best if np.isinf(slope) else program.optimum(np.inf)
    except SolverError as reason:
        msg = (
            f"The best policy with reviews was not found: {reason} "
            "Hint: a tolerance, or scores without values that stand for something else, such as -999."
        )
        raise UnreachableError(msg) from None
    pairs = [(Curve.through(at, u), Curve.through(at, w)) for at, u, w in zip(program.nodes, *odds, strict=True)]
    if np.isinf(slope):  # gentle curves leave to chance whom they must
        every = zip(people.members, program.goal.shares, pairs, strict=True)
        pairs = [_with_fewer_coins(member, shares, *pair) for member, shares, pair in every]
    curves = [tuple(curve.on(scale) for curve in side) for side in zip(*pairs, strict=True)]
    points = [Point(*rates) for rates in program.final_rates(*odds)]
    found = (program.goal, slope, points, curves[0], curves[1], bound, unlimited, program.has_every_score)
    return Reviews(request, review, *found)


def _searched(people: JointDistribution, request: Request, review: Review, slope: float) -> tuple[_Program, float]:
    """The program, and what no rising curves gain more than.

    Of many scores those are looked at where a bound's curves rise. Gentle curves rise everywhere, and a straight line
    between two nodes is hardly worse than any of them: there the bound is all that is asked for.
    """
    nodes = [apart_enough(some_scores(member, _MOST), slope) for member in people.members]
    program, bound = _Program(people, request, review, slope, nodes), np.inf
    if program.has_every_score:
        return program, bound
    looks = 0 if np.isfinite(slope) else _LOOKS
    bound = program.most
    with suppress(SolverError):  # what was found before is as true
        best = program.optimum(slope)
        for look in range(looks + 1):
            least, rises = _Program(people, request, review, slope, nodes, loose=True).bound()
            bound = min(bound, least)
            if look == looks or bound <= best + _PROVEN:
                break
            nodes = [_refined(*own, slope) for own in zip(people.members, nodes, rises, strict=True)]
            closer = _Program(people, request, review, slope, nodes)
            best, program = closer.optimum(slope), closer
            if bound <= best + _PROVEN:
                break
    return program, bound


def _refined(group: Group, nodes: Floats, rises: Floats, slope: float) -> Floats:
    """Nodes with those scores between them at which a bound's curves rise most."""
    inner = np.setdiff1d(group.scores, nodes)
    rise = rises[np.searchsorted(nodes, inner) - 1]
    most = np.argsort(-rise, kind="stable")[:_MORE]
    return apart_enough(np.union1d(nodes, inner[most[rise[most] > _NOISE]]), slope)


def _with_fewer_coins(member: Group, shares: Floats, u: Curve, w: Curve) -> tuple[Curve, Curve]:
    """Curves with the same rates that leave fewer people of a group to chance, one or both, where there are any.

    Each curve's rates need a band of scores in which chance decides, and the least band is known. Within it the
    gentlest curve is taken, if a yes is still never likelier than a yes or a review.
    """
    points = rates_of(u, member), rates_of(w, member)
    bands = [least_band(member, shares, point) for point in points]
    if not all(np.isfinite(band.share) for band in bands):
        return u, w
    own = [gentlest_in(member, point, band, band) for point, band in zip(points, bands, strict=True)]
    pairs = [(u, w), (u, own[1]), (own[0], w), (own[0], own[1])]
    both = Band(min(band.first for band in bands), max(band.last for band in bands), 0.0)
    together = gentlest_pair_in(member, points, both)
    pairs += [together] if together is not None else []
    at = member.scores
    allowed = [pair for pair in pairs if (pair[0](at) <= pair[1](at) + _NOISE).all()]
    best = min(allowed, key=lambda pair: randomized_share(member, *pair))
    return best if randomized_share(member, *best) < randomized_share(member, u, w) - _NOISE else (u, w)


class _Program:
    """The linear program. Columns: u of every group, v = w - u of every group, then levels that groups share.

    Of many scores only some, the nodes, get odds of their own, and curves are straight between them. A *loose* program
    bounds what curves gain that need not be: between two nodes the mean odds of each label are anything that rising
    curves may have, and more, since the labels' means are free of each other but for the largest difference of theirs.
    """

    def __init__(
        self,
        people: JointDistribution,
        request: Request,
        review: Review,
        slope: float,
        nodes: Sequence[Floats],
        *,
        loose: bool = False,
    ) -> None:
        self.goal = objective_of(request.objective, people)
        self._constraint, self._review, self._slope = request.constraint, review, slope
        self._chances = np.array(review.chances)
        self.nodes = nodes
        every = list(zip(people.members, nodes, strict=True))
        self.has_every_score = all(at.size == member.score_count for member, at in every)
        self._gaps = [Gaps.of(member, at) for member, at in every] if loose else []
        # Who is between two nodes counts for both, as odds on a straight line do: rates are those of everybody.
        self._shares = [gaps.shares for gaps in self._gaps] or [shares_by_label(member, at) for member, at in every]
        self._weights = self.goal.shares
        self._coefficients = [coefficients(people, rate) for rate in request.constraint.rates]
        sizes = [shares.shape[1] for shares in self._shares]
        size = sum(sizes)
        self._u = columns_of(sizes)
        self._v = [own + size for own in self._u]
        rates = len(request.constraint.rates)
        levels = np.arange(2 * size, 2 * size + rates * (2 + 2 * _LABELS) + 2)
        self._harm, self._even = int(levels[-1]), int(levels[-2])
        self._level = levels[: 2 * rates].reshape(rates, 2)  # a rate's largest value: of yes or of the end, of v
        self._reviews = levels[2 * rates : -2].reshape(rates, _LABELS, 2)  # the largest and the least share reviewed
        self._count = 2 * size + levels.size

    # -- what is asked of it -----------------------------------------------------------------------------------------

    def solved(self) -> tuple[tuple[list[Floats], list[Floats]], float]:
        """The odds u and w at the nodes of each group, and the optimum."""
        program = self._program(self._gain(), self._slope)
        first = program.solve()
        x = first.x
        try:
            among_best = program.among_best(first, self._less_harm())
            least_harm = among_best.solve()
            x = least_harm.x
            x = self._with_few_coins(among_best, least_harm)
        except SolverError:
            pass  # what was found before is as good: less choice was made among the best
        return self._odds(x), first.value + self.goal.constant

    def _with_few_coins(self, program: LinearProgram, least_harm: Answer) -> Floats:
        """Of the least harmful answers one that leaves few people to chance.

        How many is not linear. Odds are drawn towards the certain answer that each is nearest to, and again, more the
        nearer they came, while that leaves fewer people to chance.
        """
        best, fewest = least_harm.x, self._coins(least_harm.x)
        x = least_harm.x
        for room in _ROOM:
            x = program.among_best(least_harm, self._towards_certainty(x, room)).solve().x
            coins = self._coins(x)
            if coins < fewest:
                best, fewest = x, coins
        return best

    def optimum(self, slope: float) -> float:
        """The optimum under a slope budget."""
        return self._program(self._gain(), slope).solve().value + self.goal.constant

    @property
    def most(self) -> float:
        """What rates gain at most, whether curves have them or not."""
        return self.goal.constant + float(np.maximum(self.goal.by_rate, 0.0).sum())

    def bound(self) -> tuple[float, list[Floats]]:
        """The optimum of a loose program, and how much its two curves rise in each gap of each group."""
        answer = self._program(self._gain(), self._slope).solve()
        x = answer.x
        ends = [(x[u[: at.size]], x[v[: at.size]]) for u, v, at in zip(self._u, self._v, self.nodes, strict=True)]
        return answer.value + self.goal.constant, [np.diff(u) + np.diff(u + v) for u, v in ends]

    def final_rates(self, yes: Sequence[Floats], upper: Sequence[Floats]) -> list[tuple[float, float]]:
        """Each group's (FPR, TPR) in the end."""
        by_group = []
        for shares, u, w in zip(self._shares, yes, upper, strict=True):
            rates = [float(row @ (u + h * (w - u))) for row, h in zip(shares, self._chances, strict=True)]
            by_group.append((rates[0], rates[1]))
        return by_group

    # -- what is made as large as it can be ----------------------------------------------------------------------------

    def _gain(self) -> Floats:
        row = np.zeros(self._count)
        for u, v, shares, by in zip(self._u, self._v, self._shares, self.goal.by_rate, strict=True):
            row[u] = by @ shares
            row[v] = (by * self._chances) @ shares
        return row

    def _less_harm(self) -> Floats:
        row = np.zeros(self._count)
        row[self._harm] = -1.0
        return row

    def _towards_certainty(self, x: Floats, room: float) -> Floats:
        """The gradient of how near u and w are to 0 or 1, with more weight on those that are nearly there."""
        row = np.zeros(self._count)
        for u, v, shares, weights in zip(self._u, self._v, self._shares, self._weights, strict=True):
            people = weights @ shares
            toward_u, toward_w = (
                np.where(odds >= 1 / 2, people, -people) / (room + np.minimum(odds, 1 - odds).clip(0.0))
                for odds in (x[u], x[u] + x[v])
            )
            row[u], row[v] = toward_u + toward_w, toward_w
        return np.asarray(row / np.abs(row).max())

    def _coins(self, x: Floats) -> float:
        """The share of people whom chance gives one answer or another."""
        every = zip(self._shares, self._weights, *self._odds(x), strict=True)
        return float(sum(((weights @ shares) * (is_random(u) | is_random(w))).sum() for shares, weights, u, w in every))

    # -- rows --------------------------------------------------------------------------------------------------------

    def _program(self, objective: Floats, slope: float) -> LinearProgram:
        most = np.ones(self._count)
        most[self._harm] = 2.0 * _LABELS
        program = LinearProgram(objective, np.zeros(self._count), most)
        for i, (u, v, at) in enumerate(zip(self._u, self._v, self.nodes, strict=True)):
            steps = slope * np.diff(at) if np.isfinite(slope) else None
            _rise(program, u[: at.size], v[: at.size], steps)
            if self._gaps:
                for parts in ((u,), (u, v)):
                    self._gaps[i].bound(program, *parts)
                    if np.isfinite(slope):
                        self._gaps[i].bound_slope(program, slope, *parts)
        every = zip(self._shares, self._weights, strict=True)
        program.at_most(
            [np.concatenate(self._v)],
            [np.concatenate([weights @ shares for shares, weights in every])],
            [self._review.capacity],
        )
        for k in range(len(self._coefficients)):
            self._share_rate(program, k)
            self._bound_harm(program, k)
        if self._review.equal == "share":
            for v, shares, weights in zip(self._v, self._shares, self._weights, strict=True):
                program.level(v, weights @ shares / weights.sum(), self._even, slack=0.0)
        return program

    def _share_rate(self, program: LinearProgram, k: int) -> None:
        """The groups share a rate: in the end, or an automatic yes and anything but an automatic no each."""
        threeway, tolerance = self._review.equal == "threeway", self._constraint.tolerance
        for u, v, shares, by in zip(self._u, self._v, self._shares, self._coefficients[k], strict=True):
            of_u = by @ shares
            of_v = of_u if threeway else (by * self._chances) @ shares
            program.level(np.append(u, v), np.append(of_u, of_v), int(self._level[k, 0]), tolerance)
            if threeway:
                program.level(u, of_u, int(self._level[k, 1]), tolerance)

    def _bound_harm(self, program: LinearProgram, k: int) -> None:
        """The harm is at least how much a rate's shares reviewed differ between groups, label by label."""
        for y in range(_LABELS):
            most, least = self._reviews[k, y].tolist()
            for v, shares, by in zip(self._v, self._shares, self._coefficients[k], strict=True):
                values = by[y] * shares[y]
                if values.any():
                    program.at_most([np.append(v, most)], [np.append(values, -1.0)], [0.0])
                    program.at_most([np.append(v, least)], [np.append(-values, 1.0)], [0.0])
                else:  # the rate is not about this label
                    program.equal([[most, least]], [[1.0, -1.0]], [0.0])
        ends = [*self._reviews[k, :, 0].tolist(), *self._reviews[k, :, 1].tolist(), self._harm]
        program.at_most([ends], [[*[1.0] * _LABELS, *[-1.0] * _LABELS, -1.0]], [0.0])

    def _odds(self, x: Floats) -> tuple[list[Floats], list[Floats]]:
        """The odds u and w at the nodes, without what rounding left."""
        yes, upper = [], []
        for u, v, at in zip(self._u, self._v, self.nodes, strict=True):
            own = within_slope(at, _certain(x[u]), self._slope)
            reviewed = np.zeros(at.size) if self._review.capacity == 0 else np.where(x[v] > _NOISE, x[v], 0.0)
            yes.append(own)
            upper.append(np.maximum(within_slope(at, _certain(own + reviewed), self._slope), own))
        return yes, upper


def _rise(program: LinearProgram, u: NDArray[np.intp], v: NDArray[np.intp], steps: Floats | None) -> None:
    """Both curves rise, within the slope budget, and end at 1 at most."""
    program.at_most([[u[-1], v[-1]]], [[1.0, 1.0]], [1.0])
    program.rising(u, steps=steps)
    program.rising(u, v, steps=steps)


def _certain(odds: Floats) -> Floats:
    """Odds that are 0 or 1 where only rounding keeps them from it."""
    return np.where(odds < _NOISE, 0.0, np.where(odds > 1 - _NOISE, 1.0, odds))
