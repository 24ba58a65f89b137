"""The peers, each in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ENVIRONMENTS = Path(__file__).parent / ".environments"
PEERS = {"fairlearn": ["fairlearn"], "error_parity": ["error-parity", "ecos"], "aif360": ["aif360"]}


def peer_of(case: str) -> str | None:
    """Whose environment a case needs; None is ours."""
    return next((peer for peer in PEERS if case.startswith(peer)), None)


def python_of(peer: str | None) -> str:
    """The interpreter that has evenodds, or one that has the peer: made when it is first needed."""
    if peer is None:
        return sys.executable
    home = ENVIRONMENTS / peer
    python = str(home / "bin" / "python")
    if not (home / "ready").exists():
        print(f"setting up {peer} ...", file=sys.stderr)
        venv.create(home, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS[peer]], check=True)
        (home / "ready").touch()
    return python
