"""What researchers want and tuners do not: the algorithms of the papers that ours builds on and is compared with.

Every name below is loaded when it is first used; `quadrat methods` says what each assumes and certifies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadrat._core.lazy_names import lazy_names

if TYPE_CHECKING:  # the same names for type checkers and editors; a test keeps the two lists equal
    from quadrat.methods import (
        BKB,
        GPBUCB,
        GPUCB,
        GPUCBPE,
        IGPUCB,
        LP0,
        UCB1,
        AddGPUCB,
        ExpectedImprovement,
        Heuristic,
        MultiScaleLevelSet,
        PiGPUCB,
        ProbabilityOfImprovement,
    )

_HOME = {
    "quadrat.methods": "AddGPUCB BKB ExpectedImprovement GPBUCB GPUCB GPUCBPE Heuristic IGPUCB LP0"
    " MultiScaleLevelSet PiGPUCB ProbabilityOfImprovement UCB1",
}
_MODULE_OF, _load, __dir__ = lazy_names(__name__, _HOME)
if not TYPE_CHECKING:  # so that type checkers know a misspelt name
    __getattr__ = _load

__all__ = [
    "BKB",
    "GPBUCB",
    "GPUCB",
    "GPUCBPE",
    "IGPUCB",
    "LP0",
    "UCB1",
    "AddGPUCB",
    "ExpectedImprovement",
    "Heuristic",
    "MultiScaleLevelSet",
    "PiGPUCB",
    "ProbabilityOfImprovement",
]
