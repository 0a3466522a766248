"""Kernels: values, gradients, and exact facts about the smoothness of the functions in their balls."""

from __future__ import annotations

from quadrat.kernels.base import Kernel
from quadrat.kernels.composite import OnAxes, Product, Sum
from quadrat.kernels.facts import Holder, InformationGainRate
from quadrat.kernels.gamma_exponential import GammaExponential
from quadrat.kernels.matern import Matern
from quadrat.kernels.piecewise_polynomial import PiecewisePolynomial
from quadrat.kernels.rational_quadratic import RationalQuadratic
from quadrat.kernels.squared_exponential import SquaredExponential
from quadrat.kernels.stationary import Stationary
from quadrat.kernels.tied import Tied

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
