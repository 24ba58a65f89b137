"""A policy as Python that needs nothing else: to be read, and to be put where no package can be installed."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent, indent

from evenodds.geometry.pieces import Pieces
from evenodds.model.curves import CERTAIN, Curve
from evenodds.model.policy import Policy, check_policy
from evenodds.version import __version__

__all__ = ["to_python"]

_FEW = 8  # pieces that are asked one after another; of more, half are left out at each question

_HEAD = '''\
"""Odds of a yes for a score and a group, as text of evenodds {version}. Not to be changed by hand.

Policy: {fingerprint}
Orientation: {orientation} (a {higher} score speaks for a yes).
{about}"""

import hashlib
import hmac
import unicodedata


def odds(score, group):
    """The odds of a yes, from 0 to 1.

    None for a score that is no finite number, and for a group that the policy does not know. Of several columns the
    group is their values with ", " between them.
    """
{odds}

'''
_REVIEW = '''
def review_odds(score, group):
    """The odds of a review, from 0 to 1; None as for odds."""
    yes, either = odds(score, group), _yes_or_review(score, group)
    if yes is None:
        return None
    return either - yes if either - yes > {certain!r} else 0.0


def _yes_or_review(score, group):
{odds}

'''
_TAIL = '''
def draw(key, id, round=""):
    """The draw of a person, from 0 to below 1: the same for the same key, id and round, in every program."""
    if len(key) != 64 or set(key) - set("0123456789abcdef"):
        raise ValueError("The key must be 64 lower-case hexadecimal digits.")
    if "|" in round or "\\0" in round:
        raise ValueError("The round must not hold | or U+0000.")
    if isinstance(id, bool) or not isinstance(id, (int, str)):
        raise ValueError("An id must be a string or a whole number.")
    text = str(id)
    if not text or "\\0" in text or text != text.strip() or text != unicodedata.normalize("NFC", text):
        raise ValueError("An id must be NFC-normalised, not empty, without U+0000 and spaces at its ends.")
    message = ("evenodds/draw/v1|" + round + "|" + text).encode("utf-8")
    code = hmac.new(key.encode("ascii"), message, hashlib.sha256).digest()
    return (int.from_bytes(code[:7], "big") >> 3) / 2**53


'''
_DECIDE = '''\
def decide(score, group, u):
    """What a draw decides: 1 is a yes, 0 a no; None where there are no odds, or no draw."""
    yes = odds(score, group)
    if yes is None or u is None or u != u:
        return None
    return 1 if u < yes else 0
'''
_DECIDE_WITH_REVIEW = '''\
def decide(score, group, u):
    """What a draw decides: "yes", "review" or "no"; None where there are no odds, or no draw."""
    yes, review = odds(score, group), review_odds(score, group)
    if yes is None or u is None or u != u:
        return None
    if u < yes:
        return "yes"
    return "review" if u < yes + review else "no"
'''


def to_python(policy: Policy) -> str:
    """A policy as the text of a Python module without dependencies, for programs that cannot install any.

    It has `odds(score, group)`, `draw(key, id, round="")` and `decide(score, group, u)`, with reviews also
    `review_odds(score, group)`; for one person at a time, bit for bit as the policy's own. The branches are the rule,
    so it can be read, and written again in another language.

    Parameters
    ----------
    policy : Policy
        What is written.

    Returns
    -------
    str
        The module's text, for Python 3.6 and newer.

    See Also
    --------
    to_sql, to_onnx, to_mlflow : The same for databases, for runtimes without Python, and for MLflow.
    Policy.save : Write it to a file that this package reads again.
    apply, decide : The same in data frames, of any library.

    Examples
    --------
    >>> import evenodds as eo
    >>> policy = eo.fit(eo.datasets.credit_risk())
    >>> text = eo.to_python(policy)
    >>> print(text[text.index("    if group == 'white'"):text.index("def draw")].rstrip())
        if group == 'white':
            if score < 9.73...:
                return 0.0
            if score < 31.01...:
                u = (score - 9.73...) * 0.0469...
                return 0.5 * u + 0.0
            if score < 52.29...:
                u = (score - 52.29...) * -0.0469...
                return -0.5 * u + 1.0
            return 1.0
        return None
    >>> rule = {}
    >>> exec(text, rule)
    >>> rule["odds"](49.5, "white") == policy.odds(49.5, "white").item()
    True
    """
    check_policy(policy)
    higher = "higher" if policy.orientation == "positive" else "lower"
    about = "" if policy.review is None else "With reviews: who gets neither a yes nor a no is looked at by people.\n"
    head = _HEAD.format(
        version=__version__,
        fingerprint=policy.document["fingerprint"],
        orientation=policy.orientation,
        higher=higher,
        about=about,
        odds=_body(policy.groups, policy.group_curves),
    )
    if policy.review is None:
        return head + _TAIL + _DECIDE
    review = _REVIEW.format(certain=CERTAIN, odds=_body(policy.groups, policy.group_review_curves))
    return head + review + _TAIL + _DECIDE_WITH_REVIEW


def _body(groups: tuple[str, ...], curves: tuple[Curve, ...]) -> str:
    """The branches of all groups, indented as the body of a function."""
    lines = dedent(
        """\
        try:
            score = float(score)
        except (TypeError, ValueError, OverflowError):
            return None
        if score != score or score in (float("inf"), float("-inf")):
            return None
        """
    ).splitlines()
    for group, curve in zip(groups, curves, strict=True):
        lines += [f"if group == {group!r}:", *_indented(_branches(curve.pieces, 0, curve.pieces.lo.size))]
    return indent("\n".join([*lines, "return None"]), "    ")


def _branches(pieces: Pieces, first: int, end: int) -> Iterator[str]:
    """Some of the pieces: one after another, or halved where they are many."""
    if end - first > _FEW:
        middle = (first + end) // 2
        yield f"if {_is_below(pieces, middle)}:"
        yield from _indented(_branches(pieces, first, middle))
        yield from _branches(pieces, middle, end)
        return
    for piece in range(first, end - 1):
        yield f"if {_is_below(pieces, piece + 1)}:"
        yield from _indented(_polynomial(pieces, piece))
    yield from _polynomial(pieces, end - 1)


def _is_below(pieces: Pieces, piece: int) -> str:
    """The condition that a score is below a piece."""
    return f"score {'<' if pieces.closed == 'left' else '<='} {pieces.lo[piece].item()!r}"


def _polynomial(pieces: Pieces, piece: int) -> Iterator[str]:
    """By Horner's rule, in the same order of operations as numpy's, so that every bit agrees."""
    *others, value = map(repr, pieces.polynomial(piece))
    if others:
        origin, rate = pieces.origin[piece].item(), pieces.rate[piece].item()
        yield f"u = (score - {origin!r}) * {rate!r}"
    for power in reversed(range(len(others))):
        product = f"({value}) * u" if " " in value else f"{value} * u"
        # A zero can be left out but at the end, where it makes 0.0 of -0.0.
        value = product if others[power] == "0.0" and power else f"{product} + {others[power]}"
    yield f"return {value}"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)
