"""Figures: what is drawn, as data, and the two ways to draw it."""

from lazy_loader import attach

__getattr__, __dir__, __all__ = attach(__name__, ["plot"])  # the module that is public as eo.plot
