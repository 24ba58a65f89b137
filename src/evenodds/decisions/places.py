"""Places: who gets a yes when they are handed out over a whole cohort, in place of a draw for each person.

Systematic sampling. People stand in one order: groups by the UTF-8 bytes of their keys; within a group from the score
that speaks least for a yes to the one that speaks most, so upward, and downward where a lower score speaks for a yes;
people of one score by the UTF-8 bytes of their ids. Everybody gets a stretch of a line, as long as their odds, one
after another. Marks stand on the line at distances of 1 from one random start on, and whose stretch holds a mark has a
yes:

    message = "evenodds/places/v1|" + round                  in UTF-8
    u = first 56 bits of HMAC-SHA256(key, message) >> 3      a whole number below M = 2^53
    w_i = floor(odds_i M),  C_i = w_1 + ... + w_i,  C_0 = 0
    yes if and only if floor((C_i - u) / M) > floor((C_(i-1) - u) / M)

u is uniform, so person i has a yes with a chance of exactly w_i / M: with odds of 1 always, with odds of 0 never. Any
stretch of the order holds as many marks as it is long, up to less than one: so each group, and all of them together,
have a number of yeses that is within one of its expectation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.decisions.draw import check_distinct, first_bits, hmac_hashes, texts_of
from evenodds.errors import OptionError
from evenodds.geometry.pieces import Floats
from evenodds.model.keys import Codes, GroupLike, get_indexer
from evenodds.model.policy import Policy
from evenodds.model.scale import Scale
from evenodds.values import whole_number_of

__all__ = [
    "check_answers",
    "check_number",
    "handed_out",
    "marked",
    "order_of",
    "places_asked_for",
    "sort_keys",
    "start_of",
]

_PREFIX = "evenodds/places/v1|"
_BITS = 53
_WHOLE = 1e-9  # a sum of odds that is nearer to a whole number than this is one, but for rounding


def places_asked_for(places: object) -> int | None:
    """The number of places that there are; True if it is whatever the odds sum to, None if none are handed out.

    >>> places_asked_for(None), places_asked_for(True), places_asked_for(np.int64(120))
    (None, True, 120)
    """
    if places is None or isinstance(places, (bool, np.bool_)):
        return bool(places) or None
    try:
        return whole_number_of("places", places)
    except OptionError as error:
        hint = "places=True hands out as many as the odds sum to"
        msg = f"{str(error).removesuffix('.')}, True or None. Hint: {hint}."
        raise OptionError(msg) from None


def check_answers(places: int | None, policy: Policy) -> None:
    """Refuse places of a policy that has another answer than yes and no."""
    if places is not None and policy.review is not None:
        msg = "places= hands out a yes or a no, and this policy also says review. Hint: leave places out."
        raise OptionError(msg)


def handed_out(
    odds: Floats,
    ids: Sequence[object],
    groups: Codes,
    upward: Floats,
    *,
    places: int,
    key: str,
    round: str = "",  # noqa: A002 the word for a repeated lottery
    fitted: float | None = None,
) -> NDArray[np.bool_]:
    """Who has a yes, row by row: `places` as `places_asked_for` gives it, all else as for `order_of` and `start_of`.

    >>> two = np.array([0.5, 0.5])
    >>> handed_out(two, ["a", "b"], np.array([0, 0]), np.array([1.0, 2.0]), places=1, key="00" * 32)
    array([ True, False])
    """
    start, order = start_of(key=key, round=round), order_of(ids, groups, upward)
    if places is not True:
        check_number(math.fsum(odds), odds.size, places, fitted)
    yes = np.empty(odds.size, dtype=np.bool_)
    yes[order] = marked(odds[order], start)
    return yes


def sort_keys(policy: Policy, groups: GroupLike, scores: NDArray[Any]) -> tuple[Codes, Floats]:
    """What `order_of` orders people by: their group's place among the keys, sorted, and their score, upward."""
    upward = Scale(policy.orientation).upward(scores.astype(np.float64))  # unsigned numbers have no negatives
    return get_indexer(groups, sorted(policy.groups)), upward


def start_of(*, key: str, round: str = "") -> int:  # noqa: A002 the word for a repeated lottery
    """Where the first mark stands, in parts of 2^-53; the key and the round are those of `draw`.

    >>> start_of(key="00" * 32) / 2**53
    0.3478707849734032
    """
    return first_bits(hmac_hashes(_PREFIX, key=key, round=round))


def order_of(ids: Sequence[object], groups: Codes, upward: Floats) -> NDArray[np.intp]:
    """The order in which people stand: by group, by score, by id; ids that come twice are refused.

    Parameters
    ----------
    ids : sequence
        As for `draw`.
    groups : array of integers
        Each person's group: its place among the keys, sorted.
    upward : array
        Scores, of which a higher one speaks for a yes; `sort_keys` has both.

    Examples
    --------
    >>> order_of(["b", "a", "c"], np.array([0, 0, 0]), np.array([5.0, 5.0, 1.0]))
    array([2, 1, 0])
    """
    texts = texts_of(ids)
    check_distinct(texts, "Places are handed out to a cohort in which everybody stands once.")
    rank = np.empty(len(texts), dtype=np.int64)
    rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))  # by code point is by UTF-8 byte
    return np.lexsort((rank, upward, groups))


def marked(odds: Floats, start: int) -> NDArray[np.bool_]:
    """Who has a yes, of people who stand in order.

    Sums of whole numbers up to 2^53 soon leave 64 bits. They wrap around there, and since 2^53 divides 2^64 they stay
    exact modulo 2^53: a mark is passed where what is left of the sum and the next stretch make 2^53 or more.

    >>> marked(np.array([0.5, 0.25, 0.25, 0.0, 1.0, 0.5]), 3 * 2**51)
    array([False,  True, False, False,  True, False])
    """
    mask = np.uint64(2**_BITS - 1)
    stretches = np.floor(np.ldexp(odds, _BITS)).astype(np.uint64)
    before = (np.cumsum(stretches, dtype=np.uint64) - stretches - np.uint64(start)) & mask
    return (before + stretches) > mask


def check_number(expected: float, people: int, places: int, fitted: float | None) -> None:
    """Refuse a number of places that odds which sum to `expected` do not fill."""
    nearest = round(expected)
    allowed = [nearest] if abs(expected - nearest) <= _WHOLE else [math.floor(expected), math.ceil(expected)]
    if places in allowed:
        return
    if places > people:
        hint = f"there are only {people:,} people"
    elif fitted is None or expected == 0:
        hint = f"fit the policy with selection_rate={places / people:.6g} for {places:,} of {people:,} people"
    else:
        hint = (
            f"the policy's selection_rate={fitted:.6g} is about the people of its fit, and these are others; fit with "
            f"selection_rate={min(fitted * places / expected, 1.0):.9g}, and again until the odds sum to {places:,}"
        )
    msg = (
        f"places={places} is not what the odds of these {people:,} people sum to, which is {expected:.6g}. "
        f"Allowed: {' or '.join(map(str, allowed))}, or True for as many as the odds sum to. Hint: {hint}."
    )
    raise OptionError(msg)
