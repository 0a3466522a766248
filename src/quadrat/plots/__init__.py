"""Figures of a run: from an optimizer, a result of `maximize` or `minimize`, or an Optuna study.

Each function returns a plotly figure (`pip install 'quadrat[plots]'`). They show the answers of the optimizer, and
compute no models of their own. To draw several of one run, make `RunView.of(run)` once and pass that: it keeps slow
results.
"""

from __future__ import annotations

from quadrat.plots.active_bounds_figure import active_bounds
from quadrat.plots.cells_figure import cells
from quadrat.plots.compare_figure import compare
from quadrat.plots.importance_figure import importance
from quadrat.plots.leave_one_out_figures import calibration, predicted_vs_observed
from quadrat.plots.level_set_figure import level_set
from quadrat.plots.parallel_figure import parallel_coordinates
from quadrat.plots.prior_functions_figure import prior_functions
from quadrat.plots.progress_figure import progress
from quadrat.plots.run_view import RunView, Source
from quadrat.plots.slices_figure import slices

__all__ = [
    "RunView",
    "Source",
    "active_bounds",
    "calibration",
    "cells",
    "compare",
    "importance",
    "level_set",
    "parallel_coordinates",
    "predicted_vs_observed",
    "prior_functions",
    "progress",
    "slices",
]
