"""Ids of people to try draws on."""

from __future__ import annotations

import numpy as np

__all__ = ["awkward"]


def awkward(n=1000):
    """Ids that are easily broken on their way: marks of SQL and of Spark, every plane of Unicode, long ones."""
    rng = np.random.default_rng(5)
    known = [
        "O'Neil", '"quoted"', "back\\slash", "\\", "'", "''", "\\'", "$1", "$$", "%s", "%(id)s", "{0}", "{people}", "?",
        ":id", "a|b", "|", "`tick`", "--", "/* x */", ";DROP TABLE people", "\\x00", "\\N", "\\u0041", "a\tb", "a\nb",
        "a\r\nb", "a\u00a0b", "NULL", "null", "nan", "None", "true", "0", "007", "-7", "+7", "7.0", "1e5", "0x1f",
        "é", "Å", "ǅ", "ß", "ſ", "한", "日本語", "עברית", "العربية", "\U0001f600", "👩‍👩‍👧", "🏳️‍🌈", "\U0010ffff",
        "\ufffd", "\uffff", "a\u200db", "\u0001", "a\u007fb", "x" * 10_000, "é" * 5_000, "\U0001f600" * 2_500,
        *("x" * length for length in range(30, 130)),
    ]  # fmt: skip
    pieces = ["'", '"', "\\", "|", "é", "ü", "\U0001f680", "日", "a", "Z", "0", "%", "$", "{", "}", "`", "_", "\u2028"]
    while len(set(known)) < n:
        known.append("x" + "".join(rng.choice(pieces, rng.integers(1, 40))) + "y")
    return list(dict.fromkeys(known))[:n]
