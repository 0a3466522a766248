"""Optuna studies in memory: the sampler, recommendations; and the estimators of scikit-learn and SciPy's `minimize`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Literal

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from tests.traces import plain as form
from tests.traces.method_runs import PLANE, hill, lp
from tests.traces.optimizer_runs import CONDITIONAL, conditional_value
from tests.traces.plain import plain
from tests.traces.watching import Trace, noise, traced

import quadrat as qd
from quadrat.integrations.scipy import minimize as minimize_vector

DISTRIBUTIONS: dict[str, BaseDistribution] = {
    "rate": FloatDistribution(1e-4, 1.0, log=True),
    "drop": FloatDistribution(0.0, 0.5, step=0.125),
    "layers": IntDistribution(2, 14, step=3),
    "width": IntDistribution(8, 512, log=True),
    "kind": CategoricalDistribution(["relu", None, True]),
}


@contextmanager
def quiet() -> Iterator[None]:
    """Have Optuna say nothing of single trials."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def of_study(study: optuna.Study, design: int, **more: Any) -> Trace:
    """Return the trace of a study: its trials as stored, and what is recommended."""
    trials = [form.study_trial(trial) for trial in study.get_trials(deepcopy=False)]
    return {
        "settled": {
            "states": [trial["state"] for trial in trials],
            "design": [trial["params"] for trial in trials[:design]],
        },
        "computed": {"trials": trials[design:], **more},
    }


def recommended(study: optuna.Study, **options: Any) -> Any:
    """Return what is recommended of a study, or why nothing is."""
    try:
        return form.recommendation(qd.recommend(study, **options))
    except qd.QuadratError as error:
        return {"refused": str(error)}


def _study(direction: Literal["minimize", "maximize"] = "minimize", **options: Any) -> optuna.Study:
    return optuna.create_study(direction=direction, sampler=qd.QuadratSampler(**{"seed": 3, **options}))


def _settings(trial: optuna.Trial) -> float:
    rate, layers = trial.suggest_float("rate", 1e-4, 1.0, log=True), trial.suggest_int("layers", 2, 14, step=3)
    drop, width = trial.suggest_float("drop", 0.0, 0.5, step=0.125), trial.suggest_int("width", 8, 512, log=True)
    kind = trial.suggest_categorical("kind", ["relu", None, True])
    return (rate - 0.1) ** 2 + abs(layers - 8) / 10 + drop + abs(width - 64) / 500 + 0.3 * (kind is None)


@traced
def sampler_in_order() -> Trace:
    """QuadratSampler that learns the space from the trials; a parameter that not all trials have is sampled alone."""

    def objective(trial: optuna.Trial) -> float:
        value = _settings(trial)
        return value + (trial.suggest_float("extra", 0, 1) if trial.params["kind"] is True else 0.2)

    with quiet():
        study = _study()
        study.optimize(objective, n_trials=12)
        return of_study(study, 1, recommendation=recommended(study))


@traced
def sampler_search_space() -> Trace:
    """QuadratSampler with distributions given: steps, log scales, choices that are None and True."""
    with quiet():
        study = _study(search_space=DISTRIBUTIONS)
        study.optimize(_settings, n_trials=12)
        return of_study(study, 5, recommendation=recommended(study))


@traced
def sampler_conditional_space() -> Trace:
    """QuadratSampler with a conditional Space, whose parameters `qd.suggest` returns."""
    with quiet():
        study = _study("maximize", search_space=CONDITIONAL)
        study.optimize(lambda trial: conditional_value(qd.suggest(trial, CONDITIONAL)), n_trials=12)
        found = qd.recommend(study, search_space=CONDITIONAL)
        return of_study(study, 5, recommendation=form.recommendation(found))


def _hill(trial: optuna.Trial) -> float:
    params = {"x": trial.suggest_float("x", -1, 1), "y": trial.suggest_float("y", 0, 2)}
    return hill(params) + noise(trial.number)


@traced
def sampler_constraints() -> Trace:
    """QuadratSampler with constraints of `constraints_func`."""

    def limits(trial: optuna.trial.FrozenTrial) -> Sequence[float]:
        return [trial.params["x"] + trial.params["y"] - 1.0, 0.2 - trial.params["y"]]

    with quiet():
        study = _study("maximize", search_space=PLANE, constraints_func=limits)
        study.optimize(_hill, n_trials=12)
        return of_study(study, 5, recommendation=recommended(study))


@traced
def sampler_failed_and_pruned() -> Trace:
    """QuadratSampler in a study with failed and pruned trials, replicates and standard errors."""

    def objective(trial: optuna.Trial) -> float:
        value = _hill(trial)
        if trial.number in (3, 6):
            raise ValueError("diverged")
        if trial.number in (4, 9):
            trial.report(value - 0.3, 0)
            trial.report(value - 0.1, 1)
            raise optuna.TrialPruned
        if trial.number == 5:
            trial.set_user_attr("quadrat:values", [value - 0.05, value + 0.05])
        if trial.number == 7:
            trial.set_user_attr("quadrat:sem", 0.04)
        return value

    with quiet():
        study = _study("maximize", search_space=PLANE)
        optuna.logging.set_verbosity(optuna.logging.ERROR)  # it warns of each trial that failed
        study.optimize(objective, n_trials=13, catch=(ValueError,))
        return of_study(study, 3, recommendation=recommended(study))


@traced
def sampler_running() -> Trace:
    """QuadratSampler with two trials running at a time, told last first; one stays running."""
    with quiet():
        study = _study("maximize", search_space=PLANE)
        for _ in range(6):
            pair = [study.ask(), study.ask()]
            values = [_hill(trial) for trial in pair]
            for trial, value in reversed(list(zip(pair, values, strict=True))):
                study.tell(trial, value)
        left = study.ask()
        _hill(left)
        last = study.ask()
        _hill(last)
        return of_study(study, 5)


@traced
def sampler_method() -> Trace:
    """QuadratSampler with LPGPUCB, and a recommendation by its model."""
    with quiet():
        study = _study("maximize", search_space={"x": FloatDistribution(0, 1)}, method=lp())
        study.optimize(lambda trial: hill({"x": trial.suggest_float("x", 0, 1)}) + noise(trial.number), n_trials=10)
        found = qd.recommend(study, method=lp())
        return of_study(study, 1, recommendation=form.recommendation(found))


@traced
def sampler_enqueued() -> Trace:
    """QuadratSampler beside trials that the user enqueued, one of them in part, and one that was added."""
    with quiet():
        study = _study("minimize", search_space=DISTRIBUTIONS)
        study.enqueue_trial({"rate": 0.2, "drop": 0.25, "layers": 8, "width": 100, "kind": None})
        study.enqueue_trial({"rate": 0.02})
        study.add_trial(
            optuna.trial.create_trial(
                params={"rate": 0.5, "drop": 0.5, "layers": 14, "width": 8, "kind": True},
                distributions=DISTRIBUTIONS,
                value=1.5,
            )
        )
        study.optimize(_settings, n_trials=9)
        return of_study(study, 4, recommendation=recommended(study))


@traced
def sampler_told_late() -> Trace:
    """QuadratSampler that learns of trials in another order than they finished, as of another process."""
    times = [datetime(2025, 1, 1, 0, 0, second) for second in (1, 5, 3, 7, 2, 6)]
    with quiet():
        study = _study("maximize", search_space=PLANE)
        for k, over in enumerate(times):
            params = {"x": noise(k, 2.0), "y": 1.0 + noise(3 * k, 2.0)}
            trial = optuna.trial.create_trial(
                params=params,
                distributions={"x": FloatDistribution(-1, 1), "y": FloatDistribution(0, 2)},
                value=hill(params),
            )
            trial.datetime_complete = over
            study.add_trial(trial)
            if k >= 4:
                _hill(study.ask())
        study.optimize(_hill, n_trials=3)
        return of_study(study, 5)


@traced
def recommend_of_other_samplers() -> Trace:
    """`qd.recommend` of studies that Optuna's random sampler made: in its own space and in a given one."""
    said = {}
    with quiet():
        for direction in ("minimize", "maximize"):
            study = optuna.create_study(direction=direction, sampler=optuna.samplers.RandomSampler(seed=1))
            study.optimize(lambda trial: _settings(trial) + noise(trial.number, 0.3), n_trials=20)
            said[direction] = recommended(study, seed=2)
            said[f"{direction} some"] = form.recommendation(
                qd.recommend(study, search_space={name: DISTRIBUTIONS[name] for name in ("rate", "layers", "kind")})
            )
    believed = {key: sorted(name for name, value in one.items() if value is not None) for key, one in said.items()}
    return {"settled": {"believed": believed}, "computed": said}


@traced
def search_cv() -> Trace:
    """QuadratSearchCV of two estimators: candidates, scores, recommendation and effects of folds."""
    from sklearn.linear_model import Ridge
    from sklearn.neighbors import KNeighborsRegressor

    rows = np.array([[noise(7 * i, 2.0), noise(3 * i + 1, 2.0), noise(11 * i + 2, 2.0)] for i in range(45)])
    target = rows[:, 0] - 0.5 * rows[:, 1] + 0.2 * rows[:, 2] ** 2 + np.array([noise(5 * i) for i in range(45)])
    spaces: list[tuple[Any, Mapping[str, Any]]] = [
        (Ridge(), {"alpha": (1e-3, 1e3, "log-uniform"), "fit_intercept": [True, False]}),
        (KNeighborsRegressor(), {"n_neighbors": (1, 12), "weights": ["uniform", "distance"]}),
    ]
    settled, computed = [], []
    for first, (estimator, space) in zip((True, False), spaces, strict=True):
        refit: Any = "recommended" if first else True
        search = qd.QuadratSearchCV(estimator, space, n_iter=9, random_state=0, cv=3, refit=refit)
        search.fit(rows, target)
        assert search.recommendation_ is not None
        tried = search.cv_results_["params"]
        settled.append({"design": plain(tried[:5]), "tried": len(tried)})
        computed.append(
            {
                "tried": plain(tried[5:]),
                "scores": plain(search.cv_results_["mean_test_score"]),
                "best": [int(search.best_index_), plain(search.best_params_), plain(search.best_score_)],
                "recommended": form.recommendation(search.recommendation_),
                "index": search.recommended_index_,
                "folds": [plain(search.fold_effects_), plain(search.fold_residual_deviation_)],
            }
        )
    return {"settled": {"searches": settled}, "computed": {"searches": computed}}


@traced
def scipy_minimize() -> Trace:
    """`minimize` in SciPy's form: one by one with a start and a fixed axis, and batches of a map; some values NaN."""
    told: list[list[float]] = []

    def function(x: np.ndarray[Any, np.dtype[np.float64]], shift: float) -> float:
        told.append([float(entry) for entry in x])
        if len(told) == 6:
            return float("nan")
        return float((x[0] - shift) ** 2 + abs(x[1])) + noise(len(told))

    def everywhere(call: Callable[[Any], Any], points: Any) -> list[Any]:
        return [call(point) for point in points]

    first = minimize_vector(function, [(-1, 1), (-2, 2), (3, 3)], (0.3,), maxfun=12, x0=[0.1, 0.2, 3.0], rng=0)
    second = minimize_vector(function, [(-1, 1), (-2, 2)], (0.3,), maxfun=12, rng=1, workers=everywhere)
    found = (first, second)
    return {
        "settled": {
            "messages": [one.message for one in found],
            "counts": [[int(one.nfev), int(one.nit), bool(one.success)] for one in found],
            "design": plain(told[:5]),
        },
        "computed": {
            "told": plain(told[5:]),
            "results": [
                {name: plain(getattr(one, name)) for name in ("x", "fun", "credible_interval", "certified_interval")}
                | {"best_seen": [plain(one.best_seen.x), plain(one.best_seen.fun)]}
                for one in found
            ],
        },
    }
