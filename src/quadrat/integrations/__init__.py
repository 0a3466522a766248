"""Quadrat inside other tools: Optuna, scikit-learn, SciPy, Dask and Ray.

`quadrat.integrations.scipy.minimize` has the interface of `scipy.optimize`. Every name below is loaded when it is first
used, so that none needs the packages of another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quadrat.lazy_names import lazy_names

if TYPE_CHECKING:  # the same names for type checkers and editors; a test keeps the two lists equal
    from quadrat.integrations.dask_executor import DaskExecutor
    from quadrat.integrations.distributions import suggest
    from quadrat.integrations.journal import journal_storage
    from quadrat.integrations.optuna_sampler import QuadratSampler
    from quadrat.integrations.ray_executor import RayExecutor
    from quadrat.integrations.sklearn_search import QuadratSearchCV
    from quadrat.integrations.study_recommendation import recommend

_HOME = {
    "dask_executor": "DaskExecutor",
    "distributions": "suggest",
    "journal": "journal_storage",
    "optuna_sampler": "QuadratSampler",
    "ray_executor": "RayExecutor",
    "sklearn_search": "QuadratSearchCV",
    "study_recommendation": "recommend",
}
_MODULE_OF, _load, __dir__ = lazy_names(__name__, _HOME)
if not TYPE_CHECKING:  # so that type checkers know a misspelt name
    __getattr__ = _load

__all__ = [
    "DaskExecutor",
    "QuadratSampler",
    "QuadratSearchCV",
    "RayExecutor",
    "journal_storage",
    "recommend",
    "suggest",
]
