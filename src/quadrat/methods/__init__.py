"""Methods: frozen configurations that start a search. One file a method; `get` knows them by name.

Every name below is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the same names for type checkers and editors; a test keeps the two lists equal
    from quadrat.methods.auto import Auto
    from quadrat.methods.base import Guess, Method, MethodFacts, Proposal, Search, Told
    from quadrat.methods.gp_ucb import GPUCB, Agnostic, Continuous, Finite
    from quadrat.methods.heuristic import Heuristic
    from quadrat.methods.igp_ucb import IGPUCB
    from quadrat.methods.improvement import ExpectedImprovement, ProbabilityOfImprovement
    from quadrat.methods.lp_gp_ucb import LP0, LPGPUCB
    from quadrat.methods.preset import paper_preset
    from quadrat.methods.random_search import RandomSearch
    from quadrat.methods.registry import all_methods, get, names
    from quadrat.methods.sobol_search import SobolSearch
    from quadrat.methods.surrogate import Learned

_HOME = {
    "auto": "Auto",
    "base": "Guess Method MethodFacts Proposal Search Told",
    "gp_ucb": "Agnostic Continuous Finite GPUCB",
    "heuristic": "Heuristic",
    "igp_ucb": "IGPUCB",
    "improvement": "ExpectedImprovement ProbabilityOfImprovement",
    "lp_gp_ucb": "LP0 LPGPUCB",
    "preset": "paper_preset",
    "random_search": "RandomSearch",
    "registry": "all_methods get names",
    "sobol_search": "SobolSearch",
    "surrogate": "Learned",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = [
    "GPUCB",
    "IGPUCB",
    "LP0",
    "LPGPUCB",
    "Agnostic",
    "Auto",
    "Continuous",
    "ExpectedImprovement",
    "Finite",
    "Guess",
    "Heuristic",
    "Learned",
    "Method",
    "MethodFacts",
    "ProbabilityOfImprovement",
    "Proposal",
    "RandomSearch",
    "Search",
    "SobolSearch",
    "Told",
    "all_methods",
    "get",
    "names",
    "paper_preset",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'quadrat.methods' has no attribute {name!r}")
    value: object = getattr(import_module(f"quadrat.methods.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
