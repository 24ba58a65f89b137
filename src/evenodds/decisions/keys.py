"""Secret keys of draws, what is published of them beforehand, and chains of keys for round after round.

A key is 64 lower-case hexadecimal digits, and its ASCII bytes are what is hashed. Its commitment, the SHA-256 of these
bytes, can be published before anybody is drawn for: once the key is revealed, everybody can check that it was not
chosen to suit. In a chain each key is the commitment of the next round's, so that one commitment, that of the first
key, binds all rounds.
"""

from __future__ import annotations

import hashlib
import secrets

from evenodds.errors import OptionError
from evenodds.values import whole_number_of

__all__ = ["chain", "check_commitment", "check_key", "commitment", "new_key", "pads"]

_LENGTH = 64
_DIGITS = frozenset("0123456789abcdef")
_HINT = "Hint: give the key itself, all of it; evenodds draw-key makes a new one, and so does secrets.token_hex(32)."


def new_key() -> str:
    """A key that nobody can foretell.

    >>> len(new_key())
    64
    """
    return secrets.token_hex(_LENGTH // 2)


def check_key(key: object) -> str:
    """A key that is one; an error says what is wrong with any other, and never shows it, since it may be a secret.

    >>> check_key("AB" * 32)
    Traceback (most recent call last):
    ...
    evenodds.errors.OptionError: key must be a string of 64 lower-case hexadecimal digits, got one with upper-case ...
    """
    if isinstance(key, str) and _is_key(key):
        return key
    if not isinstance(key, str):
        got, hint = f"{type(key).__name__}", _HINT
    elif _is_key(key.strip()):
        got, hint = "one with spaces or a line end around it", "Hint: key.strip() takes these away."
    elif len(key) != _LENGTH:
        got, hint = f"{len(key):,} characters", _HINT
    elif _DIGITS.issuperset(key.lower()) and key.isascii():
        got = "one with upper-case letters, which reads as the same key and would draw differently under one commitment"
        hint = "Hint: draw with the key as it was made, in lower case."
    else:
        got, hint = "one with other characters", _HINT
    msg = f"key must be a string of 64 lower-case hexadecimal digits, got {got}. {hint}"
    raise OptionError(msg)


def _is_key(text: str) -> bool:
    return len(text) == _LENGTH and _DIGITS.issuperset(text)


def check_commitment(given: object) -> str:
    """A commitment that can be one; capital letters say the same."""
    text = given.strip().lower() if isinstance(given, str) else ""
    if not _is_key(text):
        got = f"{len(text):,} characters" if isinstance(given, str) and len(text) != _LENGTH else repr(given)
        msg = f"commitment must be 64 hexadecimal digits, the SHA-256 of a key's digits; got {got:.80}."
        raise OptionError(msg)
    return text


def commitment(key: str) -> str:
    """What is published of a key before it is used: the SHA-256 of its ASCII bytes, as 64 lower-case digits.

    >>> commitment("00" * 32)
    '60e05bd1b195af2f94112fa7197a5c88289058840ce7c6df9693756bc6250f55'
    """
    return hashlib.sha256(check_key(key).encode("ascii")).hexdigest()


def chain(rounds: int, *, last: str | None = None) -> list[str]:
    """A key for each of several rounds, first round first: each is the commitment of the one after it.

    They are made from the last one backwards, so a key that is revealed tells every key before it and none after it:
    reveal them in order, each once its round is over. What is published beforehand is `commitment(keys[0])`.

    Parameters
    ----------
    rounds : int
        How many.
    last : str, optional
        The last round's key; a new one without it.

    Examples
    --------
    >>> keys = chain(3)
    >>> [commitment(key) for key in keys[1:]] == keys[:-1]
    True
    """
    number = whole_number_of("rounds", rounds, least=1)
    keys = [new_key() if last is None else check_key(last)]
    for _ in range(number - 1):
        keys.append(commitment(keys[-1]))
    return keys[::-1]


def pads(key: str) -> tuple[bytes, bytes]:
    """The two blocks that make an HMAC of two nested hashes, H(outer + H(inner + message)); they tell the key."""
    secret = check_key(key).encode("ascii")  # as long as a block of SHA-256, so that nothing is filled up
    return bytes(byte ^ 0x36 for byte in secret), bytes(byte ^ 0x5C for byte in secret)
