"""Tune this with one command:

    quadrat tune train.py:score --space space.toml --direction maximize --n-trials 60 --workers 2

The model is scikit-learn's gradient boosting; the data are 442 diabetes patients, the value the progression of their
disease a year later. The score is the R² on a few random splits: noisy, as scores of models on little data are.
"""

from __future__ import annotations

from typing import Any

from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import ShuffleSplit, cross_val_score

X, y = load_diabetes(return_X_y=True)


def score(params: dict[str, Any], splits: int = 4, seed: int | None = None) -> float:
    """Return the mean R² on unseen patients over random splits."""
    model = HistGradientBoostingRegressor(**params, random_state=0)
    return float(cross_val_score(model, X, y, cv=ShuffleSplit(splits, test_size=0.25, random_state=seed)).mean())
