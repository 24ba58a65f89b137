"""How people's own scores relate to those that are searched, on which a higher score speaks for a yes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar

from evenodds.geometry.pieces import Floats

__all__ = ["ORIENTATIONS", "UPWARD", "Orientation", "Scale"]

Orientation = Literal["positive", "negative"]
ORIENTATIONS = ("positive", "negative")

T = TypeVar("T", float, Floats)


@dataclass(frozen=True)
class Scale:
    """Where scores come in they are turned upward and moved towards 0; where curves go out that is undone.

    >>> scale = Scale("negative", origin=-100.0)
    >>> scale.upward(70.0), scale.own(30.0)
    (30.0, 70.0)
    """

    orientation: Orientation = "positive"
    origin: float = 0.0
    """The upward score that became 0."""

    @property
    def sign(self) -> float:
        """1, or -1 where a lower score speaks for a yes."""
        return 1.0 if self.orientation == "positive" else -1.0

    def upward(self, own: T) -> T:
        """Scores as they are searched, from people's own."""
        turned = own if self.orientation == "positive" else -own
        return turned - self.origin if self.origin else turned

    def own(self, upward: T) -> T:
        """People's own scores, from those that are searched."""
        moved = upward + self.origin if self.origin else upward
        return moved if self.orientation == "positive" else -moved


UPWARD = Scale()
"""That of the scores that are searched."""
