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
from quadrat._core.moved import resolve_old_names

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
    from quadrat import research as research
    from quadrat import space as space
    from quadrat import studies as studies
    from quadrat import theory as theory
    from quadrat.confidence import Assumptions
    from quadrat.errors import InvalidInput, NotAvailable, NumericalFailure, QuadratError, QuadratWarning
    from quadrat.integrations import QuadratSampler, QuadratSearchCV, certify, journal_storage, recommend, suggest
    from quadrat.kernels import Matern, SquaredExponential
    from quadrat.loop import Result, maximize, minimize
    from quadrat.methods import (
        CGPUCB,
        LPGPUCB,
        MFGPUCB,
        Auto,
        FittedSafe,
        LevelSet,
        Method,
        RandomSearch,
        Safe,
        SobolSearch,
        StableOpt,
    )
    from quadrat.optimizer import (
        FAILED,
        Advice,
        BestSeen,
        CertificateReport,
        Certification,
        Estimate,
        LevelSetReport,
        Measured,
        Optimizer,
        Recommendation,
        RunAssumptions,
        SafeRegionReport,
        Trial,
        TrialRecord,
    )
    from quadrat.space import Categorical, Context, Fidelity, Fixed, Float, Int, Space

__version__ = "0.1.0"

_HOME = {
    "confidence": "Assumptions",
    "errors": "InvalidInput NotAvailable NumericalFailure QuadratError QuadratWarning",
    "integrations": "QuadratSampler QuadratSearchCV certify journal_storage recommend suggest",
    "kernels": "Matern SquaredExponential",
    "loop": "Result maximize minimize",
    "methods": "Auto CGPUCB FittedSafe LPGPUCB LevelSet MFGPUCB Method RandomSearch Safe SobolSearch StableOpt",
    "optimizer": "Advice BestSeen CertificateReport Certification Estimate FAILED LevelSetReport"
    " Measured Optimizer Recommendation RunAssumptions SafeRegionReport Trial TrialRecord",
    "space": "Categorical Context Fidelity Fixed Float Int Space",
}
# Names that were here in version 0.1: they still resolve, with a warning that says where they are now.
_FORMER = {
    "confidence": "AdaptiveBand Certificate LocalBand SimpleBand UserHolder certificate_curve",
    "gp": "Fit GaussianProcess Observations Priors Sketch fit_map",
    "kernels": "GammaExponential Kernel OnAxes PiecewisePolynomial RationalQuadratic",
    "research": "AddGPUCB BKB ExpectedImprovement GPBUCB GPUCB GPUCBPE Heuristic"
    " IGPUCB LP0 MultiScaleLevelSet PiGPUCB ProbabilityOfImprovement UCB1",
}
_MODULES = (
    "confidence gp integrations kernels loop methods optimizer partition plots problems report research space studies"
    " theory"
)
_MODULE_OF, _load, __dir__ = lazy_names(__name__, _HOME, _MODULES, _FORMER)
resolve_old_names()
if not TYPE_CHECKING:  # so that type checkers know a misspelt name
    __getattr__ = _load

__all__ = [
    "CGPUCB",
    "FAILED",
    "LPGPUCB",
    "MFGPUCB",
    "Advice",
    "Assumptions",
    "Auto",
    "BestSeen",
    "Categorical",
    "CertificateReport",
    "Certification",
    "Context",
    "Estimate",
    "Fidelity",
    "FittedSafe",
    "Fixed",
    "Float",
    "Int",
    "InvalidInput",
    "LevelSet",
    "LevelSetReport",
    "Matern",
    "Measured",
    "Method",
    "NotAvailable",
    "NumericalFailure",
    "Optimizer",
    "QuadratError",
    "QuadratSampler",
    "QuadratSearchCV",
    "QuadratWarning",
    "RandomSearch",
    "Recommendation",
    "Result",
    "RunAssumptions",
    "Safe",
    "SafeRegionReport",
    "SobolSearch",
    "Space",
    "SquaredExponential",
    "StableOpt",
    "Trial",
    "TrialRecord",
    "certify",
    "journal_storage",
    "maximize",
    "minimize",
    "recommend",
    "suggest",
]

# A library does not print: whoever wants the log adds a handler.
logging.getLogger(__name__).addHandler(logging.NullHandler())
