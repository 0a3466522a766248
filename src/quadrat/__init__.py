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

from quadrat._core.lazy_names import lazy_names

if TYPE_CHECKING:  # the same names for type checkers and editors; a test keeps the two lists equal
    from quadrat import confidence as confidence
    from quadrat import gp as gp
    from quadrat import integrations as integrations
    from quadrat import kernels as kernels
    from quadrat import loop as loop
    from quadrat import methods as methods
    from quadrat import optimizer as optimizer
    from quadrat import partition as partition
    from quadrat import plots as plots
    from quadrat import problems as problems
    from quadrat import report as report
    from quadrat import space as space
    from quadrat import studies as studies
    from quadrat import theory as theory
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
    from quadrat.gp import Fit, GaussianProcess, Observations, Priors, Sketch, fit_map
    from quadrat.integrations import QuadratSampler, QuadratSearchCV, journal_storage, recommend, suggest
    from quadrat.kernels import (
        GammaExponential,
        Kernel,
        Matern,
        OnAxes,
        PiecewisePolynomial,
        RationalQuadratic,
        SquaredExponential,
    )
    from quadrat.loop import Result, maximize, minimize
    from quadrat.methods import (
        BKB,
        CGPUCB,
        GPBUCB,
        GPUCB,
        GPUCBPE,
        IGPUCB,
        LP0,
        LPGPUCB,
        MFGPUCB,
        UCB1,
        AddGPUCB,
        Auto,
        ExpectedImprovement,
        Heuristic,
        LevelSet,
        MultiScaleLevelSet,
        PiGPUCB,
        ProbabilityOfImprovement,
        RandomSearch,
        SobolSearch,
        StableOpt,
        paper_preset,
    )
    from quadrat.optimizer import (
        FAILED,
        BestSeen,
        CertificateReport,
        Estimate,
        LevelSetReport,
        Measured,
        Optimizer,
        Recommendation,
        Trial,
        TrialRecord,
    )
    from quadrat.space import Categorical, Context, Fidelity, Fixed, Float, Int, Space

__version__ = "0.1.0"

_HOME = {
    "confidence": "AdaptiveBand Assumptions Certificate LocalBand SimpleBand UserHolder certificate_curve certify",
    "errors": "InvalidInput NotAvailable NumericalFailure QuadratError",
    "gp": "Fit GaussianProcess Observations Priors Sketch fit_map",
    "integrations": "QuadratSampler QuadratSearchCV journal_storage recommend suggest",
    "kernels": "GammaExponential Kernel Matern OnAxes PiecewisePolynomial RationalQuadratic SquaredExponential",
    "methods": "AddGPUCB Auto BKB CGPUCB ExpectedImprovement GPBUCB GPUCB GPUCBPE Heuristic IGPUCB LP0 LPGPUCB LevelSet"
    " MFGPUCB MultiScaleLevelSet PiGPUCB ProbabilityOfImprovement RandomSearch SobolSearch StableOpt UCB1 paper_preset",
    "optimizer": "BestSeen CertificateReport Estimate FAILED LevelSetReport Measured Optimizer Recommendation Trial"
    " TrialRecord",
    "space": "Categorical Context Fidelity Fixed Float Int Space",
    "loop": "Result maximize minimize",
}
_MODULES = (
    "confidence gp integrations kernels loop methods optimizer partition plots problems report space studies theory"
)
_MODULE_OF, _load, __dir__ = lazy_names(__name__, _HOME, _MODULES)
if not TYPE_CHECKING:  # so that type checkers know a misspelt name
    __getattr__ = _load

__all__ = [
    "BKB",
    "CGPUCB",
    "FAILED",
    "GPBUCB",
    "GPUCB",
    "GPUCBPE",
    "IGPUCB",
    "LP0",
    "LPGPUCB",
    "MFGPUCB",
    "UCB1",
    "AdaptiveBand",
    "AddGPUCB",
    "Assumptions",
    "Auto",
    "BestSeen",
    "Categorical",
    "Certificate",
    "CertificateReport",
    "Context",
    "Estimate",
    "ExpectedImprovement",
    "Fidelity",
    "Fit",
    "Fixed",
    "Float",
    "GammaExponential",
    "GaussianProcess",
    "Heuristic",
    "Int",
    "InvalidInput",
    "Kernel",
    "LevelSet",
    "LevelSetReport",
    "LocalBand",
    "Matern",
    "Measured",
    "MultiScaleLevelSet",
    "NotAvailable",
    "NumericalFailure",
    "Observations",
    "OnAxes",
    "Optimizer",
    "PiGPUCB",
    "PiecewisePolynomial",
    "Priors",
    "ProbabilityOfImprovement",
    "QuadratError",
    "QuadratSampler",
    "QuadratSearchCV",
    "RandomSearch",
    "RationalQuadratic",
    "Recommendation",
    "Result",
    "SimpleBand",
    "Sketch",
    "SobolSearch",
    "Space",
    "SquaredExponential",
    "StableOpt",
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
