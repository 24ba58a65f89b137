"""A secret key for draws."""

from __future__ import annotations

import click

from evenodds.fronts.cli.notes import is_quiet

__all__ = ["draw_key"]


@click.command("draw-key")
@click.option("-o", "--output", metavar="FILE", help="Write the key here, for its owner only; without it, print it.")
def draw_key(*, output: str | None) -> None:
    """Make a new secret key for draws: 64 hexadecimal digits. Who knows it can foretell every draw.

    Its commitment, the SHA-256 of these digits, goes to standard error: publish it before the draw, and the key after
    it, and everybody can check that the key was not chosen to suit. A file that is there already is not written over.

    \b
    Example:
      evenodds draw-key -o key.txt
    """
    from evenodds.decisions.keys import commitment, new_key
    from evenodds.fronts.cli.outputs import check_outputs, write_secret

    check_outputs({"-o": output})
    key = new_key()
    if output in (None, "-"):
        click.echo(key)
    else:
        write_secret(str(output), f"{key}\n")
        if not is_quiet():  # here, since standard error has the commitment alone, for a file of its own
            click.echo(f"Written to {output}.")
    click.echo(f"Commitment: {commitment(key)}", err=True)
