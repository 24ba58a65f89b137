"""Decisions for each row of a file."""

from __future__ import annotations

from typing import Any

import click

from evenodds.fronts.cli.options import columns, data, delimiter, file_format, policy_file

__all__ = ["decide"]


@click.command(short_help="Decide for each row, by its odds and the person's draw.")
@policy_file
@data
@columns
@click.option("--id", "who", required=True, metavar="COLUMN", help="Who a row is: the same person, the same draw.")
@click.option(
    "--key-file",
    type=click.Path(dir_okay=False),
    required=True,
    help="A file with the secret key (draw-key makes one).",
)
@click.option("--round", "round_", default="", help="Tells repeated lotteries for the same people apart.")
@click.option(
    "--places",
    is_flag=True,
    help="One draw for the whole file: the yeses of each group and of all are within one of what is expected.",
)
@click.option(
    "--places-count", type=click.IntRange(min=0), metavar="K", help="The same, and refuse odds that do not sum to K."
)
@click.option("-o", "--output", default="-", help="Where to write; standard output without it.")
@file_format
@delimiter
def decide(
    *,
    policy: str,
    who: str,
    key_file: str,
    round_: str,
    places: bool,
    places_count: int | None,
    output: str,
    **given: Any,
) -> None:
    """Decide for each row: odds, the person's draw, and 1 if it is below them; with reviews yes, review or no.

    An id that comes twice is an error: nothing is written to -o, while rows may have gone to standard output.
    With --places the draw is one for all: DATA must be the whole cohort with different ids, and is read into memory.

    \b
    Example:
      evenodds draw-key -o key.txt
      evenodds decide policy.json new.csv --score points --group race --id name --key-file key.txt -o decided.csv
      evenodds decide policy.json new.csv --score points --group race --id name --key-file key.txt --places > out.csv
    """
    from evenodds.decisions.decide import decide as decided
    from evenodds.fronts.cli.outputs import check_outputs, read_secret_key
    from evenodds.fronts.cli.streams import streamed
    from evenodds.model.policy import Policy

    check_outputs({"-o": output}, policy, key_file)
    asked = places if places_count is None else places_count
    read, key = Policy.load(policy), read_secret_key(key_file)

    def treated(people: Any, score: str, group: list[str]) -> Any:
        return decided(read, people, score=score, group=group, id=who, key=key, round=round_, places=asked)

    if asked is not False:
        streamed(treated, ["odds", "decision"], given, output, policy=read, who=who, at_once=True)
    else:
        reviews = ["odds_review"] if read.review else []
        streamed(treated, ["odds", *reviews, "draw", "decision"], given, output, policy=read, who=who)
