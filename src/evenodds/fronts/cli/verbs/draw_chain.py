"""Secret keys for several rounds, bound by one commitment."""

from __future__ import annotations

import shutil

import click

from evenodds.errors import OptionError
from evenodds.fronts.cli.notes import tell

__all__ = ["draw_chain"]


@click.command("draw-chain", short_help="Make a secret key for each of several rounds of draws.")
@click.argument("rounds", type=click.IntRange(1, 10_000))
@click.option("-o", "--output", required=True, metavar="FOLDER", help="Write the keys here: a new folder.")
def draw_chain(*, rounds: int, output: str) -> None:
    """Make a secret key for each of several ROUNDS, bound by one commitment, which is printed: publish it first.

    FOLDER gets a file for each round (1.txt, 2.txt, ...), for its owner only. Each key is the commitment of the next
    round's, so reveal them in order, each once its round is over: a key tells every key before it.

    \b
    Example:
      evenodds draw-chain 4 -o keys
      evenodds decide policy.json new.csv --score points --group race --id name --key-file keys/1.txt -o decided.csv
    """
    from evenodds.decisions.keys import chain, commitment
    from evenodds.fronts.cli.outputs import write_keys

    if not output:
        msg = "-o names no folder. Hint: give it a name."
        raise OptionError(msg)
    keys = chain(rounds)
    write_keys(output, keys)
    try:
        click.echo(commitment(keys[0]))
    except OSError:  # keys whose commitment is lost are of no use
        shutil.rmtree(output)
        raise
    tell(f"{rounds:,} key{'s' * (rounds > 1)} written to {output}; their commitment is printed.")
