"""Confidence: bounds that hold with a stated probability, where geometry meets statistics."""

from __future__ import annotations

from quadrat.confidence.assumptions import Assumptions, UserHolder
from quadrat.confidence.averages import CellAverage, average_half_width, cell_average
from quadrat.confidence.bands import AdaptiveBand, Band, ChowdhuryGopalanBand, SimpleBand
from quadrat.confidence.budget import DeltaBudget
from quadrat.confidence.certificate import (
    Certificate,
    CertificateCurve,
    certificate_curve,
    certify,
    remaining_regret,
)
from quadrat.confidence.interval import Interval
from quadrat.confidence.legendre import LegendreBasis
from quadrat.confidence.local_band import LocalBand
from quadrat.confidence.maximum import CertifiedMaximum, certified_maximum
from quadrat.confidence.polynomials import LocalPolynomial
from quadrat.confidence.printed_polynomials import interpolation_weights, local_poly, max_err
from quadrat.confidence.sketched_band import SketchedBand

__all__ = [
    "AdaptiveBand",
    "Assumptions",
    "Band",
    "CellAverage",
    "Certificate",
    "CertificateCurve",
    "CertifiedMaximum",
    "ChowdhuryGopalanBand",
    "DeltaBudget",
    "Interval",
    "LegendreBasis",
    "LocalBand",
    "LocalPolynomial",
    "SimpleBand",
    "SketchedBand",
    "UserHolder",
    "average_half_width",
    "cell_average",
    "certificate_curve",
    "certified_maximum",
    "certify",
    "interpolation_weights",
    "local_poly",
    "max_err",
    "remaining_regret",
]
