"""The optimizer: ask for a trial, tell its outcome, get a recommendation; the only place that knows of directions."""

from __future__ import annotations

from quadrat.optimizer.advice import Advice
from quadrat.optimizer.certification import Certification, CertifiedPoint
from quadrat.optimizer.choosing_assumptions import AssumptionChoice, assumptions_from
from quadrat.optimizer.level_sets import CellReport, LevelSetReport
from quadrat.optimizer.method_choice import DEFAULT_METHOD
from quadrat.optimizer.optimizer import Optimizer
from quadrat.optimizer.outcome import FAILED, Estimate, Measured, Outcome
from quadrat.optimizer.reports import CertificateReport, Recommendation, WorstCase
from quadrat.optimizer.run_assumptions import RunAssumptions
from quadrat.optimizer.safe_region import SafeCell, SafeRegionReport
from quadrat.optimizer.trial import BestSeen, Trial, TrialRecord

__all__ = [
    "DEFAULT_METHOD",
    "FAILED",
    "Advice",
    "AssumptionChoice",
    "BestSeen",
    "CellReport",
    "CertificateReport",
    "Certification",
    "CertifiedPoint",
    "Estimate",
    "LevelSetReport",
    "Measured",
    "Optimizer",
    "Outcome",
    "Recommendation",
    "RunAssumptions",
    "SafeCell",
    "SafeRegionReport",
    "Trial",
    "TrialRecord",
    "WorstCase",
    "assumptions_from",
]
