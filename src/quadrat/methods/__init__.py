"""Methods: frozen configurations that start a search. One file a method; `get` knows them by name.

Every name below is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadrat._core.lazy_names import lazy_names

if TYPE_CHECKING:  # the same names for type checkers and editors; a test keeps the two lists equal
    from quadrat.methods.additive.method import AddGPUCB
    from quadrat.methods.auto.method import Auto
    from quadrat.methods.base import Domain, Incumbent, Method, MethodFacts, Observation, Proposal, Search
    from quadrat.methods.design import RandomSearch, SobolSearch
    from quadrat.methods.level_sets.method import LevelSet, MultiScaleLevelSet
    from quadrat.methods.lp.method import LP0, LPGPUCB
    from quadrat.methods.multi_fidelity.method import MFGPUCB
    from quadrat.methods.registry import all_methods, get, names
    from quadrat.methods.robust.method import StableOpt
    from quadrat.methods.safe.method import FittedSafe, Safe
    from quadrat.methods.statements import Gain, Mixture
    from quadrat.methods.surrogate import Learned
    from quadrat.methods.ucb.bkb import BKB
    from quadrat.methods.ucb.cgp_ucb import CGPUCB
    from quadrat.methods.ucb.gp_bucb import GPBUCB
    from quadrat.methods.ucb.gp_ucb import GPUCB, Agnostic, Continuous, Finite
    from quadrat.methods.ucb.gp_ucb_pe import GPUCBPE
    from quadrat.methods.ucb.heuristic import Heuristic
    from quadrat.methods.ucb.igp_ucb import IGPUCB
    from quadrat.methods.ucb.improvement import ExpectedImprovement, ProbabilityOfImprovement
    from quadrat.methods.ucb.pi_gp_ucb import PiGPUCB
    from quadrat.methods.ucb.ucb1 import UCB1

_HOME = {
    "additive.method": "AddGPUCB",
    "auto.method": "Auto",
    "base": "Domain Incumbent Method MethodFacts Proposal Search Observation",
    "design": "RandomSearch SobolSearch",
    "level_sets.method": "LevelSet MultiScaleLevelSet",
    "lp.method": "LP0 LPGPUCB",
    "multi_fidelity.method": "MFGPUCB",
    "registry": "all_methods get names",
    "robust.method": "StableOpt",
    "safe.method": "FittedSafe Safe",
    "statements": "Gain Mixture",
    "surrogate": "Learned",
    "ucb.bkb": "BKB",
    "ucb.cgp_ucb": "CGPUCB",
    "ucb.gp_bucb": "GPBUCB",
    "ucb.gp_ucb": "Agnostic Continuous Finite GPUCB",
    "ucb.gp_ucb_pe": "GPUCBPE",
    "ucb.heuristic": "Heuristic",
    "ucb.igp_ucb": "IGPUCB",
    "ucb.improvement": "ExpectedImprovement ProbabilityOfImprovement",
    "ucb.pi_gp_ucb": "PiGPUCB",
    "ucb.ucb1": "UCB1",
}
_MODULE_OF, _load, __dir__ = lazy_names(__name__, _HOME, former={"base": "Guess=Incumbent Told=Observation"})
if not TYPE_CHECKING:  # so that type checkers know a misspelt name
    __getattr__ = _load

__all__ = [
    "BKB",
    "CGPUCB",
    "GPBUCB",
    "GPUCB",
    "GPUCBPE",
    "IGPUCB",
    "LP0",
    "LPGPUCB",
    "MFGPUCB",
    "UCB1",
    "AddGPUCB",
    "Agnostic",
    "Auto",
    "Continuous",
    "Domain",
    "ExpectedImprovement",
    "Finite",
    "FittedSafe",
    "Gain",
    "Heuristic",
    "Incumbent",
    "Learned",
    "LevelSet",
    "Method",
    "MethodFacts",
    "Mixture",
    "MultiScaleLevelSet",
    "Observation",
    "PiGPUCB",
    "ProbabilityOfImprovement",
    "Proposal",
    "RandomSearch",
    "Safe",
    "Search",
    "SobolSearch",
    "StableOpt",
    "all_methods",
    "get",
    "names",
]
