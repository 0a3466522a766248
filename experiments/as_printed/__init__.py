"""The paper as it is printed: its algorithm, estimators, settings and lemmas, for comparison with what holds.

docs/errata.md says where print and truth differ. The package `quadrat` has the forms that hold.
"""

from __future__ import annotations

from as_printed.grids import printed_partition
from as_printed.lemmas import (
    covering_radius,
    deviation_sum_bound,
    evaluations_per_cell_bound,
    splits_bound,
    uncovered_probability,
)
from as_printed.method import PrintedLPGPUCB, PrintedSearch
from as_printed.polynomials import interpolation_weights, local_poly, max_err
from as_printed.preset import PAPER_METHODS, paper_preset

__all__ = [
    "PAPER_METHODS",
    "PrintedLPGPUCB",
    "PrintedSearch",
    "covering_radius",
    "deviation_sum_bound",
    "evaluations_per_cell_bound",
    "interpolation_weights",
    "local_poly",
    "max_err",
    "paper_preset",
    "printed_partition",
    "splits_bound",
    "uncovered_probability",
]
