"""Text as a terminal shall have it, whatever the names in it hold."""

from __future__ import annotations

import re

__all__ = ["visible"]

_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str, *, lines: bool = False) -> str:
    r"""A text without what would steer a terminal, or turn its words around; line breaks may stay.

    >>> print(visible("red \x1b[31m"), visible("two\nlines"))
    red \x1b[31m two\nlines
    >>> visible("two\nlines", lines=True)
    'two\nlines'
    """
    return _STEERING.sub(lambda match: match[0] if lines and match[0] == "\n" else repr(match[0])[1:-1], text)
