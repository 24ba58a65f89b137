from __future__ import annotations

import json
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from evenodds.fronts.cli import commands


def _walk(command, path=()):
    yield path, command
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            yield from _walk(child, (*path, name))


ALL = list(_walk(commands))


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) or "evenodds" for path, _ in ALL])
def test_every_command_has_help_and_an_example(path, command):
    result = CliRunner().invoke(commands, [*path, "--help"])
    assert result.exit_code == 0
    assert command.help
    if not isinstance(command, click.Group):
        assert "Example:" in result.output
    for option in command.params:
        assert isinstance(option, click.Argument) or option.help, option


def test_the_study_as_tables():
    result = CliRunner().invoke(commands, ["study", "credit"])
    assert result.exit_code == 0
    assert "0.023160" in result.output
    assert "single hard threshold at 30: its L_R is infinite" in " ".join(result.output.split())


def test_the_study_as_json_in_a_fresh_process():
    done = subprocess.run(
        [sys.executable, "-m", "evenodds", "study", "credit", "--json"], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    assert {"target", "published", "exact", "individual_odds"} <= set(told)
    assert done.stderr == ""


def test_an_unknown_command_is_one_message_and_exit_code_2():
    done = subprocess.run(
        [sys.executable, "-m", "evenodds", "study", "credits"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "credits" in done.stderr
