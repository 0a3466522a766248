"""QuadratSearchCV against RandomizedSearchCV and Optuna's TPE: how well the refitted model does on data it never saw.

    python benchmarks/search_cv.py [--smoke] [--write] [--workers 1]

Three tasks on data that come with scikit-learn. Each of 12 seeds splits the data into training and test set and names
the folds; 30 candidates on 5 folds, the same folds for everybody; the chosen candidate is refitted on the training set
and scored on the test set. Contenders:

quadrat    QuadratSearchCV, refit="recommended"
observed   the same search, but the candidate with the best observed mean is refitted, as scikit-learn does
random     RandomizedSearchCV
TPE        OptunaSearchCV of optuna-integration with Optuna's default sampler; where that package is not installed, a
           study of Optuna's whose objective is cross_val_score, which does the same

Differences are paired over seeds, with bootstrap intervals. Rows are kept in benchmarks/results/search_cv.jsonl and not
run again. --write updates benchmarks/results/search_cv.md.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))

import logging
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import optuna
from regret.rows import Row, complete, read_rows, recorded, rounded, stamp
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold, RandomizedSearchCV, StratifiedKFold, cross_val_score, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import quadrat as qd
from quadrat.integrations import QuadratSearchCV
from quadrat.space.parameter import Parameter
from quadrat.studies.distributions import distribution_of

from paired import difference, pairs_of, words  # isort: skip  # in experiments/, which regret.rows makes importable

ITERATIONS, FOLDS, SEEDS = 30, 5, tuple(range(12))
ROWS = ROOT / "benchmarks" / "results" / "search_cv.jsonl"
QUADRAT, OBSERVED, RANDOM, TPE = "quadrat", "observed", "random", "TPE"
SEARCHES = (QUADRAT, RANDOM, TPE)  # each runs once; `OBSERVED` is read off the first


@dataclass(frozen=True)
class Tuning:
    """An estimator to tune on some data.

    Attributes
    ----------
    load
        Returns X, y.
    estimator, space
        What is tuned, and over what.
    train
        How many samples are trained on; the rest is the test set.
    flipped
        Fraction of the training labels that are replaced by random ones.
    """

    load: Callable[..., Any]
    estimator: Any
    space: qd.Space
    train: int
    flipped: float = 0.0

    def data(self, seed: int) -> tuple[Any, Any, Any, Any]:
        """Return X and y to train on, then X and y to test on."""
        X, y = self.load(return_X_y=True)
        strata = y if is_classifier(self.estimator) else None
        X, unseen, y, truth = train_test_split(X, y, train_size=self.train, random_state=seed, stratify=strata)
        rng = np.random.default_rng(seed)
        y = np.where(rng.random(len(y)) < self.flipped, rng.permutation(y), y)
        return X, y, unseen, truth

    def folds(self, seed: int) -> Any:
        """Return a splitter that gives the same folds to all."""
        kind = StratifiedKFold if is_classifier(self.estimator) else KFold
        return kind(FOLDS, shuffle=True, random_state=seed)


TUNINGS = {
    "digits, SVC": Tuning(
        load_digits,
        SVC(),
        qd.Space(C=qd.Float(1e-2, 1e3, log=True), gamma=qd.Float(1e-6, 1e-1, log=True)),
        train=200,
        flipped=0.1,
    ),
    "diabetes, boosting": Tuning(
        load_diabetes,
        HistGradientBoostingRegressor(early_stopping=False, max_features=0.5, random_state=0),
        qd.Space(
            learning_rate=qd.Float(1e-3, 0.5, log=True),
            max_iter=qd.Int(10, 150),
            max_leaf_nodes=qd.Int(2, 31),
            min_samples_leaf=qd.Int(2, 60),
            l2_regularization=qd.Float(1e-3, 1e3, log=True),
        ),
        train=250,
    ),
    "breast cancer, MLP": Tuning(
        load_breast_cancer,
        make_pipeline(StandardScaler(), MLPClassifier(max_iter=40, random_state=0)),
        qd.Space(
            mlpclassifier__hidden_layer_sizes=qd.Int(2, 48),
            mlpclassifier__alpha=qd.Float(1e-5, 1e2, log=True),
            mlpclassifier__learning_rate_init=qd.Float(1e-4, 1e-1, log=True),
            mlpclassifier__activation=qd.Categorical(["relu", "tanh", "logistic"]),
        ),
        train=200,
        flipped=0.15,
    ),
}


def scipy_of(parameter: Parameter) -> Any:
    """Return what RandomizedSearchCV draws a parameter from: uniform on the same scale."""
    if isinstance(parameter, qd.Float):
        low, high = parameter.low, parameter.high
        return loguniform(low, high) if parameter.log else uniform(low, high - low)
    if isinstance(parameter, qd.Int) and not parameter.log:
        return randint(parameter.low, parameter.high + 1)
    assert isinstance(parameter, qd.Categorical), parameter
    return list(parameter.choices)


def best_of_optuna(tuning: Tuning, X: Any, y: Any, seed: int, n: int) -> Any:
    """Return the refitted estimator with the parameters that TPE observed the best mean score of."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    folds = tuning.folds(seed)
    if find_spec("optuna_integration") is not None:
        from importlib import import_module

        distributions = {name: distribution_of(parameter) for name, parameter in tuning.space.items()}
        made = import_module("optuna_integration.sklearn").OptunaSearchCV(
            tuning.estimator, distributions, n_trials=n, cv=folds, study=study
        )
        return made.fit(X, y).best_estimator_

    def objective(trial: optuna.Trial) -> float:
        estimator = clone(tuning.estimator).set_params(**qd.suggest(trial, tuning.space))
        return float(cross_val_score(estimator, X, y, cv=folds).mean())

    study.optimize(objective, n_trials=n)
    return clone(tuning.estimator).set_params(**study.best_params).fit(X, y)


def outcome(method: str, tuning: Tuning, seed: int, n: int) -> Row:
    """Search once; return the score on the test set, and beside it that of the best observed where that is another."""
    warnings.simplefilter("ignore")  # networks that have not converged after so few epochs
    logging.getLogger("quadrat").setLevel(logging.ERROR)
    X, y, unseen, truth = tuning.data(seed)
    common = {"n_iter": n, "cv": tuning.folds(seed), "random_state": seed}
    if method == TPE:
        return {"score": rounded(best_of_optuna(tuning, X, y, seed, n).score(unseen, truth))}
    if method == RANDOM:
        drawn = {name: scipy_of(parameter) for name, parameter in tuning.space.items()}
        made = RandomizedSearchCV(tuning.estimator, drawn, **common).fit(X, y)
        return {"score": rounded(made.score(unseen, truth))}
    ours = QuadratSearchCV(tuning.estimator, tuning.space, refit="recommended", **common).fit(X, y)
    means = ours.cv_results_["mean_test_score"]
    lucky = clone(tuning.estimator).set_params(**ours.cv_results_["params"][int(np.nanargmax(means))]).fit(X, y)
    return {"score": rounded(ours.score(unseen, truth)), OBSERVED: rounded(lucky.score(unseen, truth))}


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """Run once."""
    return recorded((method, problem, seed, n), lambda: outcome(method, TUNINGS[problem], seed, n), ("optuna",))


def tables(rows: Sequence[Row], n: int) -> str:
    """Return mean scores and paired differences, from the rows with n candidates."""
    good = [row for row in rows if row["n"] == n and "error" not in row]
    good += [{**row, "method": OBSERVED, "score": row[OBSERVED]} for row in good if OBSERVED in row]
    names = (QUADRAT, OBSERVED, RANDOM, TPE)
    scores, differences = [], []
    for problem in dict.fromkeys(row["problem"] for row in good):
        of_problem = [row for row in good if row["problem"] == problem]
        by_method = {name: [row["score"] for row in of_problem if row["method"] == name] for name in names}
        means = (f"{np.mean(by_method[name]):.4f}" if by_method[name] else "" for name in names)
        scores.append((problem, str(len(by_method[QUADRAT])), *means))
        against = (pairs_of(of_problem, "score", {"method": QUADRAT}, {"method": name}) for name in names[1:])
        differences.append((problem, *(words(difference(pairs), 4) if pairs else "" for pairs in against)))
    head = ("score on the test set, mean", "seeds", *names)
    below = ("quadrat less the other, paired (95 %)", *names[1:])
    failed = sum("error" in row for row in rows)
    note = f"\n\nLeft out: {failed} of {len(rows)} runs, which raised an error." if failed else ""
    return f"{table(head, scores)}\n\n{table(below, differences)}{note}"


def main() -> None:
    chosen = options(__doc__, workers=True)
    if chosen.smoke:
        first = next(iter(TUNINGS))
        print(tables([run(method, first, seed, 2) for seed in (0, 1) for method in SEARCHES], 2))
        return
    cells = [(method, problem, seed, ITERATIONS) for seed in SEEDS for problem in TUNINGS for method in SEARCHES]
    stamp(("optuna",))  # before anything runs: what runs is what is on disk now
    complete(ROWS, run, cells, workers=chosen.workers)
    rows: list[Row] = read_rows(ROWS)
    commits = " and ".join(sorted({row["commit"] for row in rows}))
    how = "OptunaSearchCV" if find_spec("optuna_integration") is not None else "a study with cross_val_score"
    measured = f"{ITERATIONS} candidates, {FOLDS} folds; accuracy, R² for diabetes; TPE is {how}; rows of {commits}"
    publish("search_cv", "Cross-validated searches", tables(rows, ITERATIONS), write=chosen.write, measured=measured)


if __name__ == "__main__":
    main()
