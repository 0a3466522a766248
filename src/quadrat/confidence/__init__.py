"""Confidence: bounds that hold with a stated probability, where geometry meets statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadrat._core.lazy_names import lazy_names
from quadrat.confidence.assumptions import Assumptions, UserHolder
from quadrat.confidence.averages import CellAverage, average_half_width, cell_average
from quadrat.confidence.bands import AdaptiveBand, Band, ChowdhuryGopalanBand, SimpleBand
from quadrat.confidence.budget import DeltaBudget
from quadrat.confidence.certificate import Certificate, certify, remaining_regret
from quadrat.confidence.curve import CertificateCurve, certificate_curve, certificate_curves
from quadrat.confidence.interval import Interval
from quadrat.confidence.legendre import LegendreBasis
from quadrat.confidence.local_band import LocalBand
from quadrat.confidence.maximum import CertifiedGap, CertifiedMaximum, certified_gap, certified_maximum
from quadrat.confidence.mixture import SimultaneousBands
from quadrat.confidence.polynomials import LocalPolynomial
from quadrat.confidence.sketched_band import SketchedBand

if not TYPE_CHECKING:  # names that left the package say where they are
    _, __getattr__, _ = lazy_names(__name__, {})

__all__ = [
    "AdaptiveBand",
    "Assumptions",
    "Band",
    "CellAverage",
    "Certificate",
    "CertificateCurve",
    "CertifiedGap",
    "CertifiedMaximum",
    "ChowdhuryGopalanBand",
    "DeltaBudget",
    "Interval",
    "LegendreBasis",
    "LocalBand",
    "LocalPolynomial",
    "SimpleBand",
    "SimultaneousBands",
    "SketchedBand",
    "UserHolder",
    "average_half_width",
    "cell_average",
    "certificate_curve",
    "certificate_curves",
    "certified_gap",
    "certified_maximum",
    "certify",
    "remaining_regret",
]
