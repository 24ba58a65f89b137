from __future__ import annotations

import io
import sys

import pytest

from evenodds import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("watched", "long"), [(True, True), (True, False), (False, True)])
def test_a_bar_shows_only_on_long_work_that_is_watched(monkeypatch, capsys, watched, long):
    screen = Terminal() if watched else io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "_PATIENCE", -1.0 if long else 60.0)
    assert list(progress.tracked(range(5), "Counting")) == [0, 1, 2, 3, 4]
    assert ("Counting" in screen.getvalue()) == (watched and long)
    assert not capsys.readouterr().out
