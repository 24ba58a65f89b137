"""Draws that depend on who is drawn for, never on when or in which order.

    message = "evenodds/draw/v1|" + round + "|" + id        in UTF-8
    u = (first 56 bits of HMAC-SHA256(key, message) >> 3) / 2^53

so that u is uniform on [0, 1), and the decision is u < odds.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.decisions.keys import check_key, pads
from evenodds.errors import DataError, OptionError
from evenodds.frames import is_missing
from evenodds.geometry.pieces import Floats

__all__ = [
    "PREFIX",
    "check_distinct",
    "check_round",
    "draw",
    "first_bits",
    "hmac_hashes",
    "ids_of",
    "texts_of",
    "uniforms",
]

PREFIX = "evenodds/draw/v1|"
_BITS = 53
_BATCH = 1 << 16  # ids whose hashes are in memory at a time
_SHOWN = 5  # rows of one id
_KINDS = "OUiu"  # arrays of which tolist makes what they hold, and not numbers of dates


def draw(ids: Iterable[object], *, key: str, round: str = "") -> Floats:  # noqa: A002 the word for a repeated lottery
    """A uniform number on [0, 1) for each id: the same for the same id, key and round.

    Parameters
    ----------
    ids : iterable of strings or whole numbers
        Who is drawn for; a whole number is drawn for as its decimal digits. An id must be NFC-normalised, without
        spaces at its ends, since not every engine could tell such ids apart from their twins. Refused are floats and
        booleans, which each program writes in its own way, missing and empty ids, the character U+0000 and halves of
        characters.
    key : str
        64 lower-case hexadecimal digits, such as secrets.token_hex(32) makes, kept secret: who knows it can foretell
        every draw.
    round : str
        Tells repeated lotteries for the same people apart; without "|".

    Returns
    -------
    array
        Numbers from 0 to below 1, one for each id.

    See Also
    --------
    decide : Draws and decisions of a whole data frame.
    verify : Check published draws and decisions.

    Examples
    --------
    >>> draw(["a", "b", "a"], key="00" * 32).round(6)
    array([0.028248, 0.146339, 0.028248])
    """
    check_key(key)
    check_round(round)
    return uniforms(texts_of(ids), key=key, round=round)


def uniforms(texts: Sequence[str], *, key: str, round: str = "") -> Floats:  # noqa: A002 as above
    """The draws of ids that `texts_of` has checked."""
    inner, outer = hmac_hashes(PREFIX, key=key, round=round)
    inner.update(b"|")
    draws = np.empty(len(texts), dtype=np.float64)
    for first in range(0, len(texts), _BATCH):
        batch = texts[first : first + _BATCH]
        draws[first : first + _BATCH] = _first_bits(inner, outer, [text.encode() for text in batch])
    return np.ldexp(draws, -_BITS)


def _first_bits(inner: Any, outer: Any, messages: Iterable[bytes]) -> NDArray[np.uint64]:
    """The first 53 bits of each HMAC: hashes that have read the pads are copied, which halves the work of hmac."""
    digests, from_inner, from_outer = bytearray(), inner.copy, outer.copy
    for message in messages:
        within = from_inner()
        within.update(message)
        around = from_outer()
        around.update(within.digest())
        digests += around.digest()
    return np.frombuffer(digests, ">u8")[::4].astype(np.uint64) >> np.uint64(64 - _BITS)


def hmac_hashes(prefix: str, *, key: str, round: str) -> tuple[Any, Any]:  # noqa: A002 as above
    """Both hashes of an HMAC; the inner one has read the prefix and the round. Refuse a key or a round that is none."""
    inner, outer = pads(key)
    return hashlib.sha256(inner + f"{prefix}{check_round(round)}".encode()), hashlib.sha256(outer)


def check_round(round: object) -> str:  # noqa: A002 as above
    """A round that is one."""
    if not isinstance(round, str) or "|" in round or "\0" in round or _is_broken(round):
        msg = f"round={round!r} is not allowed. Allowed: a string without '|', U+0000 and lone surrogates."
        raise OptionError(msg)
    return round


def first_bits(hashes: tuple[Any, Any]) -> int:
    """The first 53 bits of an HMAC whose hashes have read the whole message, as a whole number."""
    return int(_first_bits(*hashes, [b""])[0])


# -- ids ---------------------------------------------------------------------------------------------------------------


def ids_of(column: Any) -> list[object]:
    """The ids of a column, as `texts_of` takes them; what is not UTF-8 text, which pyarrow holds unseen, as bytes."""
    try:
        return list(column.to_list())
    except UnicodeDecodeError:
        return [_id_or_bytes(column, place) for place in range(len(column))]


def _id_or_bytes(column: Any, place: int) -> object:
    try:
        return column[place]
    except UnicodeDecodeError as reason:
        return reason.object


def texts_of(ids: Iterable[object]) -> list[str]:
    """Ids as the texts that are drawn for; refuse one that is missing, broken, or easily taken for another.

    >>> texts_of(["a", 7, np.int64(-8)])
    ['a', '7', '-8']
    """
    if isinstance(ids, (str, bytes, Mapping)) or not isinstance(ids, Iterable) or getattr(ids, "ndim", 1) != 1:
        msg = f"ids must be a list, an array or a column of ids, got {type(ids).__name__}. Hint: a list, even of one."
        raise DataError(msg)
    if isinstance(ids, np.ndarray):
        held = ids.tolist() if ids.dtype.kind in _KINDS else list(ids)
    else:
        held = ids if isinstance(ids, list) else list(ids)
    if set(map(type, held)) == {int}:
        try:
            return list(map(str, held))
        except ValueError:  # one has more digits than Python writes, and is named below
            pass
    return held if _are_plain(held) else [_checked(one, place) for place, one in enumerate(held)]


def _are_plain(held: list[Any]) -> bool:
    """Whether all ids are ASCII texts with nothing wrong, looked at together: ten times as fast as one by one."""
    if set(map(type, held)) != {str}:
        return False
    whole = "".join(held)
    return whole.isascii() and "\0" not in whole and all(held) and list(map(str.strip, held)) == held


def _checked(given: object, place: int) -> str:
    text, why = "", ""
    if isinstance(given, str):
        text = str.__str__(given)  # an Enum of strings would write its own name
        why = _trouble(text)
    elif isinstance(given, (bool, np.bool_)):
        why = "it is a boolean, which programs write in different ways (True, true, 1). Hint: name a column of ids"
    elif is_missing(given):
        why = "it is missing. Hint: everybody who is drawn for needs an id"
    elif isinstance(given, (int, np.integer)):
        try:
            text = str(int(given))
        except ValueError:  # Python writes no more than some thousand digits
            why, given = "it has thousands of digits. Hint: give it as a string", "(a number)"
    elif isinstance(given, (float, np.floating)):
        why = (
            "it is a float, which programs write in different ways (7.0, 7, 7e0). "
            "Hint: make whole numbers or strings of the ids"
        )
    elif isinstance(given, bytes) and not _is_utf8(given):
        why = "it is not UTF-8 text"
    else:
        why = f"it is of type {type(given).__name__}. Allowed: strings and whole numbers. Hint: make strings of the ids"
    if why:
        msg = f"id {given!r:.80} cannot be drawn for (position {place}): {why}."
        raise DataError(msg)
    return text


def _trouble(text: str) -> str:
    """What is wrong with a text as an id, if anything is."""
    if not text:
        return "it is empty. Hint: everybody who is drawn for needs an id"
    if "\0" in text:
        return "it has the character U+0000, which not every engine can hold. Hint: take it out"
    if _is_broken(text):
        return "it has half a character, a lone surrogate. Hint: read the ids with the encoding that they have"
    if text != text.strip() or not unicodedata.is_normalized("NFC", text):
        return (
            "an id must be without spaces at its ends and NFC-normalised. "
            "Hint: unicodedata.normalize('NFC', id.strip()) repairs it"
        )
    return ""


def _is_broken(text: str) -> bool:
    """Whether a text has half a character, which cannot be written in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _is_utf8(given: bytes) -> bool:
    try:
        given.decode()
    except UnicodeDecodeError:
        return False
    return True


def check_distinct(texts: Sequence[str], why: str) -> None:
    """Refuse ids that come more than once: the first such is named, how often and where, and how many others."""
    if len(set(texts)) == len(texts):
        return
    several = {text: count for text, count in Counter(texts).items() if count > 1}
    first, count = next(iter(several.items()))
    positions = [position for position, text in enumerate(texts) if text == first]
    where = ", ".join(f"position {position}" for position in positions[:_SHOWN])
    others = len(several) - 1
    also = f"; so do{'es' * (others == 1)} {others:,} other id{'s' * (others > 1)}" if others else ""
    msg = (
        f"id {first!r:.80} comes {count:,} times ({where}{', ...' * (count > _SHOWN)}){also}. {why} "
        "Hint: drop rows that are there twice, or name a column whose values differ."
    )
    raise DataError(msg)
