"""Every figure by its name: of rates, of odds by score, of prices and of people."""

from evenodds.pictures.figure import Figure
from evenodds.pictures.odds import curves_figure, families_figure, mix_figure, solutions_figure
from evenodds.pictures.people import densities_figure, score_rates_figure
from evenodds.pictures.prices import frontier_figure
from evenodds.pictures.rates import audit_figure, roc_figure

__all__ = [
    "Figure",
    "audit_figure",
    "curves_figure",
    "densities_figure",
    "families_figure",
    "frontier_figure",
    "mix_figure",
    "roc_figure",
    "score_rates_figure",
    "solutions_figure",
]
