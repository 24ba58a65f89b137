"""How options are spelled: in Python, as messages of the library have them, and as one types them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import click

__all__ = ["WORDS", "as_typed", "outside_quotes"]

WORDS = "evenodds.words"  # among what a run's contexts share: what was typed

_QUOTED = re.compile(r"""(?<![\w=.(])((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w))""")
_NAMED = re.compile(r"(?<![\w.'\"/=-])([a-z_]+)=(?!=)(?:(True)\b|'([\w-]+)')?(?=([\w'\"(\[{+-]?))")
_BARE = re.compile(r"(?<![\w.'\"/=-])max_[a-z_]+(?![\w=])")
_LISTED = re.compile(r"(?<=Allowed with it: )[a-z_]+(?:, [a-z_]+)*")
_OTHERWISE = {"capacity": "review_capacity", "tpr": "review_tpr", "fpr": "review_fpr"}
_PHRASES = {
    "positive_label=": "--positive-label ",
    ", or True for as many": ", or --places for as many",
    "policy with selection_rate=": "policy with --selection-rate ",
    "places= hands": "--places hands",
    "places=": "--places-count ",
    "commitment must": "--commitment must",
    "id None cannot": "an id cannot",
    "unicodedata.normalize('NFC', id.strip()) repairs it": "repair it in the file",
    "on_invalid='null' leaves their odds missing": "apply --on-invalid null leaves their odds empty",
    "or evenodds.Cost(...)": "or --cost",
    "frontier(against='randomized')": "evenodds frontier --against randomized",
    "does not go with review=": "does not go with reviews",
    "with the same review=": "with the same --review-... options",
    "Hint: leave places out.": "Hint: leave --places out.",
    "case=": "CASE ",
    "pads is for draws": "--pads is for draws",
    "round is for draws": "--round is for draws",
    "Hint: id names the column": "Hint: --id names the column",
    "Hint: into, draw and decision rename them": "Hint: --into, --draw and --decision rename them",
    "kinds names ": "--kinds names ",
    ", and so does secrets.token_hex(32)": "",
    "a policy, a score (the single threshold of everybody), or such a score for each group": "a finite number",
}


def outside_quotes(text: str, change: Callable[[str], str]) -> str:
    """A text with what is not quoted changed."""
    parts = _QUOTED.split(text)  # every other one is quoted
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))


def as_typed(text: str, command: click.Command | None, words: Iterable[str] = ()) -> str:
    """A message with the options of a command as they are typed; what is quoted, or was typed, stays as it is.

    >>> fit = click.Command("fit", params=[click.Option(["--tolerance"]), click.Option(["--on-invalid"])])
    >>> as_typed("tolerance=2 is too much. Hint: on_invalid='null', see tolerance=, not cv=3.", fit)
    '--tolerance 2 is too much. Hint: --on-invalid null, see --tolerance, not cv=3.'
    >>> as_typed("There is no file tolerance=2.csv.", fit, ["tolerance=2.csv"])
    'There is no file tolerance=2.csv.'
    >>> as_typed("Hint: evenodds draw-key makes a new one, and so does secrets.token_hex(32).", fit)
    'Hint: evenodds draw-key makes a new one.'
    """
    every = [max(param.opts, key=len) for param in command.params] if command else []
    typed = {name.removeprefix("--").replace("-", "_"): name for name in every if name.startswith("--")}
    if text.startswith(tuple(f"{name}=" for name in _OTHERWISE)):  # a target's rates have these names too
        typed |= {name: typed[option] for name, option in _OTHERWISE.items() if option in typed}

    def spelled(match: re.Match[str]) -> str:
        name, is_true, word, value = match.groups()
        if name not in typed:
            return match[0]
        return typed[name] + (f" {word}" if word else " " if value and not is_true else "")

    def unquoted(part: str) -> str:
        for python, option in _PHRASES.items():
            part = part.replace(python, option)
        if "data_format" in typed:
            part = part.replace("Hint: --format ", "Hint: --data-format ")
        part = _LISTED.sub(lambda match: ", ".join(typed.get(name, name) for name in match[0].split(", ")), part)
        return _BARE.sub(lambda match: typed.get(match[0], match[0]), _NAMED.sub(spelled, part))

    kept = sorted({place for word in words for place in _places_in(word)}, key=len, reverse=True)
    parts = re.split(f"({'|'.join(map(re.escape, kept))})", text) if kept else [text]
    return "".join(part if i % 2 else outside_quotes(part, unquoted) for i, part in enumerate(parts))


def _places_in(word: str) -> set[str]:
    """What a word that was typed may be told as, if that could be taken for an option in Python: a file, its folder."""
    value = word.partition("=")[2] if word.startswith("--") else word
    if "=" not in value or "\0" in value:
        return set()
    path = Path(value)
    places = (value, str(path.with_suffix("")) if path.name else value, str(path.parent))
    return {told for told in places if "=" in told}
