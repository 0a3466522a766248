"""Rates: how regret depends on the budget n for each method, kernel and dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadrat._core.lazy_names import lazy_names
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
from quadrat.theory.ranges import MaternRange, crossover, matern_range, matern_ranges
from quadrat.theory.rate import Algorithm, Bound, Certainty, Power, Rate
from quadrat.theory.table import RateTable, rates
from quadrat.theory.theorem import TheoremExponents, theorem_exponents

if not TYPE_CHECKING:  # names that left the package say where they are
    _, __getattr__, _ = lazy_names(__name__, {}, former={"rate": "Method=Algorithm"})

__all__ = [
    "CATALOGUE",
    "Algorithm",
    "Bound",
    "Certainty",
    "Exponents",
    "MaternRange",
    "Power",
    "Rate",
    "RateTable",
    "TheoremExponents",
    "adapted_regularisation",
    "crossover",
    "hierarchical_gain_power",
    "information_type",
    "matern_lower_bound",
    "matern_range",
    "matern_ranges",
    "order_optimal",
    "partitioned_gp_ucb",
    "rates",
    "srinivas_gain_power",
    "theorem_exponents",
]
