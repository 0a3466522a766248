"""Quadrat: noisy black-box optimisation whose bounds truly hold.

    import quadrat as qd

    space = qd.Space(lr=qd.Float(1e-6, 1.0, log=True), layers=qd.Int(1, 8))
    kernel = qd.Matern(2.5, [0.3, 0.5])
    gp = qd.GaussianProcess(kernel, noise_variance=0.01)

Every name below is loaded when it is first used: importing the package costs next to nothing.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the same names for type checkers and editors; a test keeps the two lists equal
    from quadrat.confidence import (
        AdaptiveBand,
        Assumptions,
        Certificate,
        SimpleBand,
        UserHolder,
        certificate_curve,
        certify,
    )
    from quadrat.errors import InvalidInput, NotAvailable, NumericalFailure, QuadratError
    from quadrat.gp import Fit, GaussianProcess, Observations, Priors, fit_map
    from quadrat.kernels import (
        GammaExponential,
        Kernel,
        Matern,
        OnAxes,
        PiecewisePolynomial,
        RationalQuadratic,
        SquaredExponential,
    )
    from quadrat.space import Categorical, Fixed, Float, Int, Space

__version__ = "0.1.0"

_HOME = {
    "confidence": "AdaptiveBand Assumptions Certificate SimpleBand UserHolder certificate_curve certify",
    "errors": "InvalidInput NotAvailable NumericalFailure QuadratError",
    "gp": "Fit GaussianProcess Observations Priors fit_map",
    "kernels": "GammaExponential Kernel Matern OnAxes PiecewisePolynomial RationalQuadratic SquaredExponential",
    "space": "Categorical Fixed Float Int Space",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = [
    "AdaptiveBand",
    "Assumptions",
    "Categorical",
    "Certificate",
    "Fit",
    "Fixed",
    "Float",
    "GammaExponential",
    "GaussianProcess",
    "Int",
    "InvalidInput",
    "Kernel",
    "Matern",
    "NotAvailable",
    "NumericalFailure",
    "Observations",
    "OnAxes",
    "PiecewisePolynomial",
    "Priors",
    "QuadratError",
    "RationalQuadratic",
    "SimpleBand",
    "Space",
    "SquaredExponential",
    "UserHolder",
    "certificate_curve",
    "certify",
    "fit_map",
]

# A library does not print: whoever wants the log adds a handler.
logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> object:
    """Load a public name from the layer that defines it."""
    from importlib import import_module

    if name not in _MODULE_OF:
        raise AttributeError(f"module 'quadrat' has no attribute {name!r}")
    value: object = getattr(import_module(f"quadrat.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
