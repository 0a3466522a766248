"""Gaussian processes: posteriors (exact and growing, sketched, partitioned), fits, information gain."""

from __future__ import annotations

from quadrat.gp.cholesky import GrowingCholesky, JitterPolicy
from quadrat.gp.fit import Bounds, Fit, LogNormal, LogPosterior, Priors, fit_map
from quadrat.gp.hyper_posterior import HyperPosterior, HyperPriors, HyperSamples
from quadrat.gp.information import InformationGain, greedy_gain, realised_gain, set_gain
from quadrat.gp.leave_one_out import LeaveOneOut
from quadrat.gp.observations import Observations
from quadrat.gp.outliers import Outliers, find_outliers
from quadrat.gp.partitioned import PartitionedProcess
from quadrat.gp.posterior import GaussianProcess
from quadrat.gp.prediction import Prediction
from quadrat.gp.sketch import Sketch, SketchedProcess
from quadrat.gp.uneven_noise import UnevenNoise, find_uneven_noise

__all__ = [
    "Bounds",
    "Fit",
    "GaussianProcess",
    "GrowingCholesky",
    "HyperPosterior",
    "HyperPriors",
    "HyperSamples",
    "InformationGain",
    "JitterPolicy",
    "LeaveOneOut",
    "LogNormal",
    "LogPosterior",
    "Observations",
    "Outliers",
    "PartitionedProcess",
    "Prediction",
    "Priors",
    "Sketch",
    "SketchedProcess",
    "UnevenNoise",
    "find_outliers",
    "find_uneven_noise",
    "fit_map",
    "greedy_gain",
    "realised_gain",
    "set_gain",
]
