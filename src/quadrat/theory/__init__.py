"""Rates: how regret depends on the budget n for each method, kernel and dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadrat._core.moved import AS_PRINTED, refuse_those_that_left
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
from quadrat.theory.rate import Bound, Certainty, Method, Power, Rate
from quadrat.theory.survey import rates
from quadrat.theory.table import RateTable
from quadrat.theory.theorem import TheoremExponents, theorem_exponents

_LEFT = "covering_radius deviation_sum_bound evaluations_per_cell_bound splits_bound uncovered_probability"
if not TYPE_CHECKING:  # so that type checkers know a misspelt name
    __getattr__ = refuse_those_that_left(__name__, {AS_PRINTED: _LEFT})

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
