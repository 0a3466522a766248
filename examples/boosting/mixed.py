"""Tune gradient boosting with every kind of parameter, and find out on a test set what the tuning was worth.

    python examples/boosting/mixed.py

The model is scikit-learn's gradient boosting, the data are the 442 diabetes patients of `train.py` beside it. A quarter
of the patients is put aside first and looked at once, in the end. Learning rate and regularisation are searched on log
scales, counts are integers, the loss is a choice, and how trees grow is a choice that brings a parameter along: their
leaves are counted or their depth is.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import ShuffleSplit, cross_val_score, train_test_split

import quadrat as qd
from quadrat.randomness import generator

# --- the data

X, y = load_diabetes(return_X_y=True)
X_tuned, X_test, y_tuned, y_test = train_test_split(X, y, test_size=0.25, random_state=0)

# --- the space

SPACE = qd.Space(
    learning_rate=qd.Float(0.005, 0.5, log=True),
    max_iter=qd.Int(10, 100, log=True),
    min_samples_leaf=qd.Int(2, 100, log=True),
    l2_regularization=qd.Float(1e-3, 1e3, log=True),
    max_features=qd.Float(0.1, 1.0),
    loss=qd.Categorical(["squared_error", "absolute_error"]),
    trees=qd.Categorical(["by leaves", "by depth"]),
    max_leaf_nodes=qd.Int(2, 32, log=True, when={"trees": "by leaves"}),
    max_depth=qd.Int(1, 8, when={"trees": "by depth"}),
)

# --- the objective


def model(params: dict[str, Any]) -> HistGradientBoostingRegressor:
    """Make the model with these parameters; trees by depth have as many leaves as they like."""
    chosen = {name: value for name, value in params.items() if name != "trees"}
    if params.get("trees") == "by depth":
        chosen["max_leaf_nodes"] = None
    return HistGradientBoostingRegressor(**chosen, random_state=0)


def score(params: dict[str, Any]) -> float:
    """Return the mean R² over two random splits of the patients to tune on, other ones at each call."""
    splits = ShuffleSplit(2, test_size=0.25, random_state=next(SEEDS))
    return float(cross_val_score(model(params), X_tuned, y_tuned, cv=splits).mean())


SEEDS = iter(range(100_000))  # which splits are next: noise that repeats from run to run

# --- the test


def squared_errors(params: dict[str, Any]) -> Any:
    """Train on all patients to tune on; return the squared errors on those put aside, shape (n,)."""
    return (model(params).fit(X_tuned, y_tuned).predict(X_test) - y_test) ** 2


def compare(found: qd.Result) -> None:
    """Print the R² on the test set of three settings, and their differences with intervals over patients."""
    settings = {"recommended": found.params, "luckiest trial": found.best_seen.params, "the model's defaults": {}}
    spread = float(np.mean((y_test - y_test.mean()) ** 2))
    errors = {name: squared_errors(params) / spread for name, params in settings.items()}
    drawn = generator(0).integers(len(y_test), size=(2000, len(y_test)))  # bootstrap samples of patients
    print("R² on the test set; recommended less this one, with a 95 % interval over patients")
    for name, error in errors.items():
        gain = error - errors["recommended"]
        low, high = np.quantile(gain[drawn].mean(axis=1), [0.025, 0.975])
        behind = "" if name == "recommended" else f"   {gain.mean():+.3f} ({low:+.3f} to {high:+.3f})"
        print(f"  {name:22}{1 - error.mean():.3f}{behind}")
    believed, lucky = found.value, found.best_seen.value
    print(f"In the search, {believed:.3f} was believed of the recommended; the luckiest had {lucky:.3f}.")


# --- the run


def main(n_trials: int = 60) -> qd.Result:
    """Tune, print what was found, and compare."""
    found = qd.maximize(score, SPACE, n_trials=n_trials, seed=0)
    print(found)
    compare(found)
    return found


# --- the end

if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
