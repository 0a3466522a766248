"""Methods: frozen configurations that start a search. One file a method; `get` knows them by name.

Every name below is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadrat.lazy_names import lazy_names

if TYPE_CHECKING:  # the same names for type checkers and editors; a test keeps the two lists equal
    from quadrat.methods.add_gp_ucb import AddGPUCB
    from quadrat.methods.auto import Auto
    from quadrat.methods.base import Guess, Method, MethodFacts, Proposal, Search, Told
    from quadrat.methods.bkb import BKB
    from quadrat.methods.cgp_ucb import CGPUCB
    from quadrat.methods.domain import Domain
    from quadrat.methods.gp_bucb import GPBUCB
    from quadrat.methods.gp_ucb import GPUCB, Agnostic, Continuous, Finite
    from quadrat.methods.gp_ucb_pe import GPUCBPE
    from quadrat.methods.heuristic import Heuristic
    from quadrat.methods.igp_ucb import IGPUCB
    from quadrat.methods.improvement import ExpectedImprovement, ProbabilityOfImprovement
    from quadrat.methods.learned_kernel import Learned
    from quadrat.methods.level_set import LevelSet
    from quadrat.methods.lp_gp_ucb import LP0, LPGPUCB
    from quadrat.methods.mf_gp_ucb import MFGPUCB
    from quadrat.methods.multi_scale_level_set import MultiScaleLevelSet
    from quadrat.methods.pi_gp_ucb import PiGPUCB
    from quadrat.methods.preset import paper_preset
    from quadrat.methods.random_search import RandomSearch
    from quadrat.methods.registry import all_methods, get, names
    from quadrat.methods.sobol_search import SobolSearch
    from quadrat.methods.stable_opt import StableOpt
    from quadrat.methods.ucb1 import UCB1

_HOME = {
    "add_gp_ucb": "AddGPUCB",
    "auto": "Auto",
    "base": "Guess Method MethodFacts Proposal Search Told",
    "bkb": "BKB",
    "cgp_ucb": "CGPUCB",
    "domain": "Domain",
    "gp_bucb": "GPBUCB",
    "gp_ucb": "Agnostic Continuous Finite GPUCB",
    "gp_ucb_pe": "GPUCBPE",
    "heuristic": "Heuristic",
    "igp_ucb": "IGPUCB",
    "improvement": "ExpectedImprovement ProbabilityOfImprovement",
    "level_set": "LevelSet",
    "lp_gp_ucb": "LP0 LPGPUCB",
    "mf_gp_ucb": "MFGPUCB",
    "multi_scale_level_set": "MultiScaleLevelSet",
    "pi_gp_ucb": "PiGPUCB",
    "preset": "paper_preset",
    "random_search": "RandomSearch",
    "registry": "all_methods get names",
    "sobol_search": "SobolSearch",
    "stable_opt": "StableOpt",
    "learned_kernel": "Learned",
    "ucb1": "UCB1",
}
_MODULE_OF, _load, __dir__ = lazy_names(__name__, _HOME)
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
    "Guess",
    "Heuristic",
    "Learned",
    "LevelSet",
    "Method",
    "MethodFacts",
    "MultiScaleLevelSet",
    "PiGPUCB",
    "ProbabilityOfImprovement",
    "Proposal",
    "RandomSearch",
    "Search",
    "SobolSearch",
    "StableOpt",
    "Told",
    "all_methods",
    "get",
    "names",
    "paper_preset",
]
