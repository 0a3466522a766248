"""The optimizer: ask for a trial, tell its outcome, get a recommendation; the only place that knows of directions."""

from __future__ import annotations

from quadrat.optimizer.advice import Advice
from quadrat.optimizer.level_sets import CellReport, LevelSetReport
from quadrat.optimizer.method_choice import DEFAULT_METHOD
from quadrat.optimizer.optimizer import Optimizer
from quadrat.optimizer.outcome import FAILED, Estimate, Measured, Outcome
from quadrat.optimizer.reports import CertificateReport, Recommendation, WorstCase
from quadrat.optimizer.safe_region import SafeCell, SafeRegionReport
from quadrat.optimizer.trial import BestSeen, Trial, TrialRecord

__all__ = [
    "DEFAULT_METHOD",
    "FAILED",
    "Advice",
    "BestSeen",
    "CellReport",
    "CertificateReport",
    "Estimate",
    "LevelSetReport",
    "Measured",
    "Optimizer",
    "Outcome",
    "Recommendation",
    "SafeCell",
    "SafeRegionReport",
    "Trial",
    "TrialRecord",
    "WorstCase",
]
