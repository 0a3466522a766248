"""Kernels: values, gradients, and exact facts about the smoothness of the functions in their balls."""

from __future__ import annotations

from quadrat.kernels.base import Holder, InformationGainRate, Kernel
from quadrat.kernels.composite import OnAxes, Product, Sum, Tied
from quadrat.kernels.exponential import GammaExponential, RationalQuadratic, SquaredExponential
from quadrat.kernels.matern import Matern
from quadrat.kernels.piecewise_polynomial import PiecewisePolynomial
from quadrat.kernels.stationary import Stationary

__all__ = [
    "GammaExponential",
    "Holder",
    "InformationGainRate",
    "Kernel",
    "Matern",
    "OnAxes",
    "PiecewisePolynomial",
    "Product",
    "RationalQuadratic",
    "SquaredExponential",
    "Stationary",
    "Sum",
    "Tied",
]
