"""Rates: how regret depends on the budget n for each method, kernel and dimension, and the lemmas behind them."""

from __future__ import annotations

from quadrat.theory.catalogue import CATALOGUE
from quadrat.theory.exponents import (
    Exponents,
    adapted_regularisation,
    hierarchical_gain_power,
    information_type,
    matern_lower_bound,
    order_optimal,
    partitioned_gp_ucb,
    srinivas_gain_power,
)
from quadrat.theory.lemmas import (
    covering_radius,
    deviation_sum_bound,
    evaluations_per_cell_bound,
    splits_bound,
    uncovered_probability,
)
from quadrat.theory.ranges import MaternRange, crossover, matern_range, matern_ranges
from quadrat.theory.rate import Bound, Certainty, Method, Power, Rate
from quadrat.theory.table import RateTable, rates
from quadrat.theory.theorem import TheoremExponents, theorem_exponents

__all__ = [
    "CATALOGUE",
    "Bound",
    "Certainty",
    "Exponents",
    "MaternRange",
    "Method",
    "Power",
    "Rate",
    "RateTable",
    "TheoremExponents",
    "adapted_regularisation",
    "covering_radius",
    "crossover",
    "deviation_sum_bound",
    "evaluations_per_cell_bound",
    "hierarchical_gain_power",
    "information_type",
    "matern_lower_bound",
    "matern_range",
    "matern_ranges",
    "order_optimal",
    "partitioned_gp_ucb",
    "rates",
    "splits_bound",
    "srinivas_gain_power",
    "theorem_exponents",
    "uncovered_probability",
]
