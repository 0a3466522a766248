"""Quadrat: noisy black-box optimisation whose bounds truly hold.

    import quadrat as qd

    space = qd.Space(lr=qd.Float(1e-6, 1.0, log=True), layers=qd.Int(1, 8))
    result = qd.maximize(objective, space, n_trials=50, seed=0)    # objective(params: dict) -> float
    print(result)

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
        LocalBand,
        SimpleBand,
        UserHolder,
        certificate_curve,
        certify,
    )
    from quadrat.errors import InvalidInput, NotAvailable, NumericalFailure, QuadratError
    from quadrat.gp import Fit, GaussianProcess, Observations, Priors, fit_map
    from quadrat.integrations import QuadratSampler, journal_storage, recommend, suggest
    from quadrat.kernels import (
        GammaExponential,
        Kernel,
        Matern,
        OnAxes,
        PiecewisePolynomial,
        RationalQuadratic,
        SquaredExponential,
    )
    from quadrat.methods import (
        GPUCB,
        IGPUCB,
        LP0,
        LPGPUCB,
        Auto,
        ExpectedImprovement,
        Heuristic,
        ProbabilityOfImprovement,
        RandomSearch,
        SobolSearch,
        paper_preset,
    )
    from quadrat.optimizer import (
        FAILED,
        BestSeen,
        CertificateReport,
        Measured,
        Optimizer,
        Recommendation,
        Trial,
        TrialRecord,
    )
    from quadrat.space import Categorical, Fixed, Float, Int, Space
    from quadrat.tune import Result, maximize, minimize

__version__ = "0.1.0"

_HOME = {
    "confidence": "AdaptiveBand Assumptions Certificate LocalBand SimpleBand UserHolder certificate_curve certify",
    "errors": "InvalidInput NotAvailable NumericalFailure QuadratError",
    "gp": "Fit GaussianProcess Observations Priors fit_map",
    "integrations": "QuadratSampler journal_storage recommend suggest",
    "kernels": "GammaExponential Kernel Matern OnAxes PiecewisePolynomial RationalQuadratic SquaredExponential",
    "methods": "Auto ExpectedImprovement GPUCB Heuristic IGPUCB LP0 LPGPUCB ProbabilityOfImprovement RandomSearch"
    " SobolSearch paper_preset",
    "optimizer": "BestSeen CertificateReport FAILED Measured Optimizer Recommendation Trial TrialRecord",
    "space": "Categorical Fixed Float Int Space",
    "tune": "Result maximize minimize",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = [
    "FAILED",
    "GPUCB",
    "IGPUCB",
    "LP0",
    "LPGPUCB",
    "AdaptiveBand",
    "Assumptions",
    "Auto",
    "BestSeen",
    "Categorical",
    "Certificate",
    "CertificateReport",
    "ExpectedImprovement",
    "Fit",
    "Fixed",
    "Float",
    "GammaExponential",
    "GaussianProcess",
    "Heuristic",
    "Int",
    "InvalidInput",
    "Kernel",
    "LocalBand",
    "Matern",
    "Measured",
    "NotAvailable",
    "NumericalFailure",
    "Observations",
    "OnAxes",
    "Optimizer",
    "PiecewisePolynomial",
    "Priors",
    "ProbabilityOfImprovement",
    "QuadratError",
    "QuadratSampler",
    "RandomSearch",
    "RationalQuadratic",
    "Recommendation",
    "Result",
    "SimpleBand",
    "SobolSearch",
    "Space",
    "SquaredExponential",
    "Trial",
    "TrialRecord",
    "UserHolder",
    "certificate_curve",
    "certify",
    "fit_map",
    "journal_storage",
    "maximize",
    "minimize",
    "paper_preset",
    "recommend",
    "suggest",
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
