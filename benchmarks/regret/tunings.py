"""Eight tunings of scikit-learn models on the data that scikit-learn brings along: mixed and conditional spaces.

An evaluation trains on a random part of the data and tests on another, one to three times; evaluation `number` of a
run with `seed` has the splits, and the model the random states, of the streams (seed, number, ...): methods meet
the same splits. That is all the noise there is. The score that counts is the mean over `REFERENCE` splits that are the
same for all runs; they are few, so that it is a score on these splits and not quite the expectation of an evaluation.

Scores are skills: 1 - loss / (loss of the best constant prediction), at least -1; 0 knows nothing, 1 is perfect. The
loss is log loss (probabilities at least .001) or squared error (of the indicators of classes, where there are classes).
Not accuracy: on a few hundred rows it is a staircase, and random search climbs it within a hair of the top. A fit that
diverges scores -1.

Training parts are small on purpose: an evaluation takes milliseconds to tenths of a second, and models overfit, so
that regularisation matters and there is something to tune.

Headroom, checked with seed 1 when the list was fixed: what random search recommends after 50 evaluations, and the best
reference score that 50 evaluations each of random search, TPE and, for five of the eight, a Gaussian process met:

    mlp_digits     .858  .879        mlp_diabetes   .408  .478        ridge_digits   .650  .770
    sgd_cancer     .799  .846        fourier_digits .562  .794        boosting_wine  .911  .955
    kernel_wine    .883  .938        model_cancer   .855  .865

Tunings with less were dropped: support vector machines on digits and diabetes, boosted trees on breast_cancer, and any
whose score is accuracy.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from quadrat._core.arrays import Array, Ints
from quadrat.space import Categorical, Float, Int, Space
from regret.task import Params, Task

__all__ = ["REFERENCE", "TUNINGS", "Tuning", "TuningTask"]

REFERENCE = 20  # splits of the score that counts
_REFERENCE_STREAM = 1_000_003  # no seed of a run
_LEAST_PROBABILITY = 1e-3
_WORST = -1.0
Loss = Literal["log loss", "squared error"]


@dataclass(frozen=True)
class Tuning:
    """A model to tune.

    Attributes
    ----------
    data
        Name of the data in `sklearn.datasets`, without load_.
    train, test
        Rows of a split.
    splits
        Splits of an evaluation.
    loss
        What the skill is computed from.
    space
        What to tune.
    model
        (parameters, random state) -> an estimator to be fitted.
    best
        The best mean skill over the reference splits that was found when the list was fixed. Rows may exceed it; the
        report counts regret from the best that any row reached.
    """

    data: str
    train: int
    test: int
    splits: int
    loss: Loss
    space: Space
    model: Callable[[Params, int], Any]
    best: float


class TuningTask(Task):
    """A tuning with the splits of one seed."""

    def __init__(self, tuning: Tuning, seed: int) -> None:
        super().__init__(tuning.space, best=tuning.best, cheap=False)
        self.tuning, self.seed = tuning, seed
        self._known: dict[str, float] = {}

    def observe(self, params: Params, number: int) -> float:
        return self._mean(params, self.tuning.splits, self.seed, number)

    def value(self, params: Params) -> float:
        key = json.dumps(params, sort_keys=True)
        if key not in self._known:
            self._known[key] = self._mean(params, REFERENCE, _REFERENCE_STREAM)
        return self._known[key]

    def _mean(self, params: Params, splits: int, *stream: int) -> float:
        return float(np.mean([skill(self.tuning, params, *stream, split) for split in range(splits)]))


def skill(tuning: Tuning, params: Params, *stream: int) -> float:
    """Return the skill of the model with `params` on the split that `stream` names, in [-1, 1]."""
    x, y = _data(tuning.data)
    rng = np.random.default_rng(stream)
    rows = rng.permutation(len(y))
    if tuning.data != "diabetes":
        rows = _stratified(rows, y)
        if tuning.loss == "squared error":
            y = np.eye(int(y.max()) + 1)[y]
    train, test = rows[: tuning.train], rows[len(rows) - tuning.test :]
    model = tuning.model(params, int(rng.integers(2**31)))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # a model that has not converged is scored as it is
        try:
            model.fit(x[train], y[train])
            loss = _loss(tuning.loss, model, x[test], y[test])
        except (ValueError, FloatingPointError, np.linalg.LinAlgError):  # what scikit-learn raises when a fit diverges
            return _WORST
    result = 1 - loss / _constant_loss(tuning.loss, y)
    return max(_WORST, float(result)) if np.isfinite(result) else _WORST


def _stratified(rows: Ints, y: Array) -> Ints:
    """Reorder shuffled `rows` so that every beginning and every end has the classes in their proportions."""
    place = np.empty(len(rows))
    for label in np.unique(y):
        mine = np.flatnonzero(y[rows] == label)
        place[mine] = (np.arange(len(mine)) + 0.5) / len(mine)
    return rows[np.argsort(place, kind="stable")]


def _loss(loss: Loss, model: Any, x: Array, y: Array) -> float:
    if loss == "squared error":
        return float(np.mean((model.predict(x) - y) ** 2))
    given = model.predict_proba(x)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return -float(np.mean(np.log(np.clip(given, _LEAST_PROBABILITY, 1.0))))


def _constant_loss(loss: Loss, y: Array) -> float:
    """Return the loss of the best prediction that is the same for all rows."""
    if loss == "squared error":
        return float(np.mean(np.var(y, axis=0)))
    shares = np.unique(y, return_counts=True)[1] / len(y)
    return -float(np.sum(shares * np.log(shares)))


@cache
def _data(name: str) -> tuple[Array, Array]:
    from sklearn import datasets

    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    if name == "digits":
        x = x / 16  # pixels
    if name == "diabetes":
        y = (y - y.mean()) / y.std()
    return x, y


# --- models


def _scaler(name: str) -> Any:
    from sklearn import preprocessing

    scalers = {
        "none": lambda: "passthrough",
        "standard": preprocessing.StandardScaler,
        "range": preprocessing.MinMaxScaler,
        "robust": preprocessing.RobustScaler,
    }
    return scalers[name]()


def _perceptron(params: Params, state: int, *, regress: bool) -> Any:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    kind = MLPRegressor if regress else MLPClassifier
    return kind(
        hidden_layer_sizes=(params["width"],) * params["layers"],
        activation=params["activation"],
        solver=params["solver"],
        momentum=params.get("momentum", 0.0),
        learning_rate_init=params["rate"],
        alpha=params["alpha"],
        batch_size=params["batch"],
        max_iter=params["epochs"],
        random_state=state,
    )


def _network_space() -> Space:
    return Space(
        layers=Int(1, 3),
        width=Int(4, 64, log=True),
        activation=Categorical(["relu", "tanh", "logistic"]),
        solver=Categorical(["adam", "sgd"]),
        momentum=Float(0.0, 0.99, when={"solver": "sgd"}),
        rate=Float(1e-5, 1.0, log=True),
        alpha=Float(1e-6, 10.0, log=True),
        batch=Int(8, 128, log=True),
        epochs=Int(2, 30, log=True),
        scaler=Categorical(["none", "standard", "range"]),
    )


def mlp_digits(params: Params, state: int) -> Any:
    """A network of one to three layers."""
    from sklearn.pipeline import make_pipeline

    return make_pipeline(_scaler(params["scaler"]), _perceptron(params, state, regress=False))


def mlp_diabetes(params: Params, state: int) -> Any:
    """The same for regression."""
    from sklearn.pipeline import make_pipeline

    return make_pipeline(_scaler(params["scaler"]), _perceptron(params, state, regress=True))


def ridge_digits(params: Params, state: int) -> Any:  # noqa: ARG001  # nothing in it is random
    """Kernel ridge regression on principal components; the kernel brings its own parameters."""
    from sklearn.decomposition import PCA
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.pipeline import make_pipeline

    reduce = PCA(params["components"], svd_solver="full", whiten=params["whiten"])
    given = {name: params[name] for name in ("gamma", "degree", "coef0") if name in params}
    model = KernelRidge(kernel=params["kernel"], alpha=params["alpha"], **given)
    return make_pipeline(_scaler(params["scaler"]), reduce, model)


def _linear(params: Params, state: int) -> Any:
    from sklearn.linear_model import SGDClassifier

    given = {name: params[name] for name in ("l1_ratio", "eta0", "power_t") if name in params}
    return SGDClassifier(
        loss=params["loss"],
        penalty=params["penalty"],
        alpha=params["alpha"],
        learning_rate=params["schedule"],
        average=params["average"],
        max_iter=params["epochs"],
        tol=None,
        random_state=state,
        **given,
    )


_LINEAR_SPACE = {
    "loss": Categorical(["log_loss", "modified_huber"]),
    "penalty": Categorical(["l2", "l1", "elasticnet"]),
    "l1_ratio": Float(0.0, 1.0, when={"penalty": "elasticnet"}),
    "alpha": Float(1e-8, 10.0, log=True),
    "schedule": Categorical(["optimal", "constant", "invscaling", "adaptive"]),
    "eta0": Float(1e-6, 100.0, log=True, when={"schedule": ["constant", "invscaling", "adaptive"]}),
    "power_t": Float(0.0, 1.0, when={"schedule": "invscaling"}),
    "average": Categorical([False, True]),
    "epochs": Int(1, 50, log=True),
    "scaler": Categorical(["none", "standard", "range", "robust"]),
}


def sgd_cancer(params: Params, state: int) -> Any:
    """A linear classifier by stochastic gradients: schedules and penalties bring their own parameters."""
    from sklearn.pipeline import make_pipeline

    return make_pipeline(_scaler(params["scaler"]), _linear(params, state))


def fourier_digits(params: Params, state: int) -> Any:
    """The same on random Fourier features."""
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.pipeline import make_pipeline

    features = RBFSampler(gamma=params["gamma"], n_components=params["components"], random_state=state)
    return make_pipeline(_scaler(params["scaler"]), features, _linear(params, state))


def _trees(params: Params, state: int) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(
        n_estimators=params["trees"],
        learning_rate=params["rate"],
        max_depth=params["depth"],
        max_features=params["columns"],
        subsample=params.get("rows", 1.0),
        min_samples_leaf=params.get("leaf", 1),
        criterion=params.get("criterion", "friedman_mse"),
        random_state=state,
    )


def boosting_wine(params: Params, state: int) -> Any:
    """Gradient-boosted trees."""
    return _trees(params, state)


def kernel_wine(params: Params, state: int) -> Any:
    """Logistic regression on Nystroem features of a kernel that brings its own parameters."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    given = {name: params[name] for name in ("gamma", "degree", "coef0") if name in params}
    features = Nystroem(kernel=params["kernel"], n_components=params["components"], random_state=state, **given)
    return make_pipeline(_scaler(params["scaler"]), features, LogisticRegression(C=params["c"], max_iter=200))


def model_cancer(params: Params, state: int) -> Any:
    """One of three kinds of classifier, each with its own parameters."""
    from sklearn.pipeline import make_pipeline

    if params["model"] == "trees":
        model = _trees(params, state)
    elif params["model"] == "linear":
        model = _linear({"penalty": "l2", "loss": "log_loss", "schedule": "constant", **params}, state)
    else:
        fixed = {"layers": 1, "activation": "relu", "solver": "adam", "batch": 32}
        model = _perceptron({**fixed, **params}, state, regress=False)
    return make_pipeline(_scaler(params["scaler"]), model)


TUNINGS = {
    "mlp_digits": Tuning(
        data="digits", train=150, test=800, splits=1, loss="log loss", model=mlp_digits, best=0.8793,
        space=_network_space(),
    ),
    "mlp_diabetes": Tuning(
        data="diabetes", train=150, test=292, splits=2, loss="squared error", model=mlp_diabetes, best=0.4777,
        space=_network_space(),
    ),
    "ridge_digits": Tuning(
        data="digits", train=150, test=800, splits=1, loss="squared error", model=ridge_digits, best=0.7705,
        space=Space(
            scaler=Categorical(["none", "standard", "range", "robust"]),
            components=Int(2, 64, log=True),
            whiten=Categorical([False, True]),
            kernel=Categorical(["linear", "rbf", "laplacian", "polynomial", "sigmoid"]),
            alpha=Float(1e-6, 1e4, log=True),
            gamma=Float(1e-7, 100.0, log=True, when={"kernel": ["rbf", "laplacian", "polynomial", "sigmoid"]}),
            degree=Int(2, 6, when={"kernel": "polynomial"}),
            coef0=Float(-2.0, 2.0, when={"kernel": ["polynomial", "sigmoid"]}),
        ),
    ),
    "sgd_cancer": Tuning(
        data="breast_cancer", train=150, test=400, splits=3, loss="log loss", model=sgd_cancer, best=0.8464,
        space=Space(**_LINEAR_SPACE),
    ),
    "fourier_digits": Tuning(
        data="digits", train=150, test=800, splits=1, loss="log loss", model=fourier_digits, best=0.7935,
        space=Space(
            gamma=Float(1e-6, 100.0, log=True), components=Int(10, 300, log=True), **_LINEAR_SPACE,
        ),
    ),
    "boosting_wine": Tuning(
        data="wine", train=60, test=118, splits=2, loss="log loss", model=boosting_wine, best=0.955,
        space=Space(
            trees=Int(2, 40, log=True),
            rate=Float(1e-3, 1.0, log=True),
            depth=Int(1, 8),
            rows=Float(0.1, 1.0),
            columns=Float(0.05, 1.0, log=True),
            leaf=Int(1, 20, log=True),
            criterion=Categorical(["friedman_mse", "squared_error"]),
        ),
    ),
    "kernel_wine": Tuning(
        data="wine", train=60, test=118, splits=3, loss="log loss", model=kernel_wine, best=0.9377,
        space=Space(
            scaler=Categorical(["none", "standard", "range", "robust"]),
            kernel=Categorical(["rbf", "laplacian", "polynomial", "sigmoid"]),
            gamma=Float(1e-6, 10.0, log=True),
            degree=Int(2, 6, when={"kernel": "polynomial"}),
            coef0=Float(-2.0, 2.0, when={"kernel": ["polynomial", "sigmoid"]}),
            components=Int(2, 60, log=True),
            c=Float(1e-4, 1e4, log=True),
        ),
    ),
    "model_cancer": Tuning(
        data="breast_cancer", train=150, test=400, splits=2, loss="log loss", model=model_cancer, best=0.865,
        space=Space(
            scaler=Categorical(["none", "standard", "range", "robust"]),
            model=Categorical(["trees", "linear", "network"]),
            trees=Int(2, 60, log=True, when={"model": "trees"}),
            depth=Int(1, 8, when={"model": "trees"}),
            columns=Float(0.03, 1.0, log=True, when={"model": "trees"}),
            eta0=Float(1e-6, 100.0, log=True, when={"model": "linear"}),
            average=Categorical([False, True], when={"model": "linear"}),
            width=Int(2, 64, log=True, when={"model": "network"}),
            rate=Float(1e-5, 1.0, log=True, when={"model": ["trees", "network"]}),
            alpha=Float(1e-8, 10.0, log=True, when={"model": ["linear", "network"]}),
            epochs=Int(1, 50, log=True, when={"model": ["linear", "network"]}),
        ),
    ),
}  # fmt: skip
