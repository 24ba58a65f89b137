"""Draws that depend on who is drawn for, never on when or in which order.

    message = "evenodds/draw/v1|" + round + "|" + id        in UTF-8
    u = (first 56 bits of HMAC-SHA256(key, message) >> 3) / 2^53

so that u is uniform on [0, 1), and the decision is u < odds.
"""

from __future__ import annotations

import hmac
import unicodedata
from collections.abc import Iterable

import numpy as np

from evenodds.errors import DataError, OptionError
from evenodds.frames import is_missing
from evenodds.geometry.pieces import Floats

__all__ = ["begun", "checked", "draw", "whole_number"]

_KEY_LENGTH = 64
_PREFIX = "evenodds/draw/v1|"


def draw(ids: Iterable[object], *, key: str, round: str = "") -> Floats:  # noqa: A002 the word for a repeated lottery
    """A uniform number on [0, 1) for each id: the same for the same id, key and round.

    Parameters
    ----------
    ids : iterable
        Who is drawn for, as strings (numbers are turned into text). None may be missing or empty. An id must be
        NFC-normalised, without spaces at its ends, since not every engine could tell such ids apart from their twins.
    key : str
        64 hexadecimal digits, kept secret: who knows it can foretell every draw.
    round : str
        Tells repeated lotteries for the same people apart.

    Examples
    --------
    >>> draw(["a", "b", "a"], key="00" * 32).round(6)
    array([0.028248, 0.146339, 0.028248])
    """
    start = begun(_PREFIX, key=key, round=round)
    start.update(b"|")
    return np.fromiter((_uniform(start, checked(one, place)) for place, one in enumerate(ids)), np.float64)


def _uniform(start: hmac.HMAC, text: str) -> float:
    each = start.copy()
    each.update(text.encode())
    return whole_number(each) / 2**53


def begun(prefix: str, *, key: str, round: str) -> hmac.HMAC:  # noqa: A002 the word for a repeated lottery
    """An HMAC that has read the prefix and the round; refuse a key or a round that is none."""
    if not (isinstance(key, str) and len(key) == _KEY_LENGTH and set(key) <= set("0123456789abcdefABCDEF")):
        hint = "secrets.token_hex(32) makes one, and so does evenodds draw-key"
        msg = f"key must be a string of 64 hexadecimal digits. Hint: {hint}."
        raise OptionError(msg)
    if not isinstance(round, str) or "|" in round or _is_broken(round):
        msg = f"round={round!r} is not allowed. Allowed: a string of whole characters, without '|'."
        raise OptionError(msg)
    return hmac.new(key.encode("ascii"), f"{prefix}{round}".encode(), "sha256")


def whole_number(code: hmac.HMAC) -> int:
    """What an HMAC says, as a whole number below 2^53."""
    return int.from_bytes(code.digest()[:7]) >> 3


def checked(given: object, place: int) -> str:
    """An id as the text that is drawn for; refuse one that is missing, broken, or easily taken for another."""
    text = given if isinstance(given, str) else "" if is_missing(given) else str(given)
    if not text:
        why = "it is missing. Hint: everybody who is drawn for needs an id"
    elif _is_broken(text):
        why = "it has half a character, a lone surrogate. Hint: read the ids with the encoding that they have"
    elif text != text.strip() or not unicodedata.is_normalized("NFC", text):
        why = (
            "an id must be without spaces at its ends and NFC-normalised. "
            "Hint: unicodedata.normalize('NFC', id.strip()) repairs it"
        )
    else:
        return text
    msg = f"id {given!r:.80} cannot be drawn for (position {place}): {why}."
    raise DataError(msg)


def _is_broken(text: str) -> bool:
    """Whether a text has half a character, which cannot be written in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
