"""Quadrat inside other tools: Optuna, scikit-learn, SciPy, Dask and Ray.

`quadrat.integrations.scipy.minimize` has the interface of `scipy.optimize`. Every name below is loaded when it is first
used, so that none needs the packages of another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadrat._core.lazy_names import lazy_names

if TYPE_CHECKING:  # the same names for type checkers and editors; a test keeps the two lists equal
    from quadrat.integrations.sklearn_search import QuadratSearchCV
    from quadrat.loop.dask_executor import DaskExecutor
    from quadrat.loop.ray_executor import RayExecutor
    from quadrat.studies.certification import certify
    from quadrat.studies.distributions import suggest
    from quadrat.studies.journal import journal_storage
    from quadrat.studies.recommendation import recommend
    from quadrat.studies.sampler import QuadratSampler

_HOME = {
    "quadrat.loop.dask_executor": "DaskExecutor",
    "quadrat.studies.certification": "certify",
    "quadrat.studies.distributions": "suggest",
    "quadrat.studies.journal": "journal_storage",
    "quadrat.studies.sampler": "QuadratSampler",
    "quadrat.loop.ray_executor": "RayExecutor",
    "sklearn_search": "QuadratSearchCV",
    "quadrat.studies.recommendation": "recommend",
}
_MODULE_OF, _load, __dir__ = lazy_names(__name__, _HOME)
if not TYPE_CHECKING:  # so that type checkers know a misspelt name
    __getattr__ = _load

__all__ = [
    "DaskExecutor",
    "QuadratSampler",
    "QuadratSearchCV",
    "RayExecutor",
    "certify",
    "journal_storage",
    "recommend",
    "suggest",
]
