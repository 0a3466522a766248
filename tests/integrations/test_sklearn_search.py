"""QuadratSearchCV as a search of scikit-learn's, and what it has beyond them."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sklearn
from joblib import cpu_count, parallel_config  # type: ignore[import-untyped]
from scipy.stats import loguniform, randint
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, RandomizedSearchCV, ShuffleSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.estimator_checks import estimator_checks_generator

import quadrat as qd
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.integrations.sklearn_search import QuadratSearchCV

X, Y = make_classification(60, 4, n_informative=3, n_redundant=0, random_state=0)
SMOOTHING = {"var_smoothing": (1e-9, 1.0, "log-uniform")}


def search(estimator: Any = None, spaces: Any = SMOOTHING, **more: Any) -> QuadratSearchCV:
    settings = {"n_iter": 4, "cv": 3, "random_state": 0, "method": "RandomSearch", **more}
    return QuadratSearchCV(GaussianNB() if estimator is None else estimator, spaces, **settings)


class Curve(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Scores -(x - 0.3)^2 plus the mean of what it is scored on, and fails where told."""

    def __init__(self, x: float = 0.0, fails_above: float = np.inf) -> None:
        self.x, self.fails_above = x, fails_above

    def fit(self, X: Any, y: Any = None) -> Curve:  # noqa: ARG002
        if self.x > self.fails_above or (self.fails_above < 0 and 0 in X):
            raise ArithmeticError("diverged")
        self.fitted_ = True
        return self

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        return float(np.mean(X) - (self.x - 0.3) ** 2)


# --- as scikit-learn has it


@pytest.mark.parametrize(("check_estimator", "spaces"), [(LogisticRegression(), {"C": (0.1, 10.0)}), (Ridge(), None)])
def test_it_passes_the_checks_that_randomized_search_passes(check_estimator: Any, spaces: Any) -> None:
    spaces = spaces or {"alpha": (0.1, 10.0)}
    name = next(iter(spaces))

    def failures(made: Any) -> list[str]:
        found = []
        for estimator, check in estimator_checks_generator(made):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    check(estimator)
                except (Exception, pytest.skip.Exception) as error:
                    if not type(error).__name__.lower().startswith("skip"):
                        found.append(check.func.__name__)
        return found

    ours = failures(search(check_estimator, spaces, n_iter=2, cv=2))
    if ours:  # RandomizedSearchCV may fail one as well; most often nothing is left to compare
        theirs = failures(RandomizedSearchCV(check_estimator, {name: [0.1, 1.0]}, n_iter=2, cv=2, random_state=0))
        assert set(ours) <= set(theirs)


def test_results_have_the_form_of_randomized_search_and_the_scores_of_cross_validation() -> None:
    ours = search(n_iter=3, return_train_score=True).fit(X, Y)
    theirs = RandomizedSearchCV(
        GaussianNB(), {"var_smoothing": loguniform(1e-9, 1)}, n_iter=3, cv=3, random_state=0, return_train_score=True
    ).fit(X, Y)
    assert list(ours.cv_results_) == list(theirs.cv_results_)
    assert set(vars(theirs)) - {"param_distributions"} <= set(vars(ours))
    for row, params in enumerate(ours.cv_results_["params"]):
        scores = cross_val_score(GaussianNB(**params), X, Y, cv=3)
        np.testing.assert_allclose([ours.cv_results_[f"split{i}_test_score"][row] for i in range(3)], scores)
    assert ours.best_index_ == ours.cv_results_["mean_test_score"].argmax()
    assert ours.best_params_ == ours.cv_results_["params"][ours.best_index_]
    assert ours.best_score_ == ours.cv_results_["mean_test_score"].max()
    assert ours.score(X, Y) == ours.best_estimator_.score(X, Y)
    np.testing.assert_array_equal(ours.predict(X), ours.best_estimator_.predict(X))
    assert ours.classes_.tolist() == [0, 1]
    assert ours.n_features_in_ == 4


def test_both_names_of_what_to_search() -> None:
    by_name = [search().fit(X, Y), search(spaces=None, param_distributions=SMOOTHING).fit(X, Y)]
    assert by_name[0].best_params_ == by_name[1].best_params_
    for wrong in (search(spaces=None), search(param_distributions=SMOOTHING)):
        with pytest.raises(InvalidInput, match="either search_spaces or param_distributions"):
            wrong.fit(X, Y)


def test_it_is_cloned_set_and_pickled() -> None:
    made = search(spaces=qd.Space(var_smoothing=qd.Float(1e-9, 1, log=True)))
    assert not hasattr(made, "optimizer_")
    again = clone(made).set_params(n_iter=3, estimator__priors=[0.5, 0.5])
    assert again.search_spaces == made.search_spaces
    fitted = again.fit(X, Y)
    assert len(fitted.cv_results_["params"]) == 3
    back = pickle.loads(pickle.dumps(fitted))  # noqa: S301  # our own bytes
    np.testing.assert_array_equal(back.predict_proba(X), fitted.predict_proba(X))
    assert back.optimizer_.trials == fitted.optimizer_.trials
    assert back.optimizer_ is back.optimizer_
    assert back.optimizer_.recommend() == fitted.optimizer_.recommend()


def test_the_same_random_state_repeats_a_search() -> None:
    first, second, other = (search(random_state=seed).fit(X, Y).cv_results_["params"] for seed in (1, 1, 2))
    assert first == second != other
    repeated = [search(random_state=np.random.RandomState(1)).fit(X, Y).cv_results_["params"] for _ in range(2)]
    assert repeated[0] == repeated[1]


def test_names_of_steps_transforms_and_features() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=list("abcd"))
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0))
    spaces = {"decisiontreeclassifier__max_depth": randint(1, 9), "standardscaler": [StandardScaler(), "passthrough"]}
    assert search().fit(table, Y).feature_names_in_.tolist() == list("abcd")
    made = search(pipeline, spaces).fit(table, Y)
    assert set(made.best_params_) == set(spaces)
    assert made.best_estimator_[-1].max_depth == made.best_params_["decisiontreeclassifier__max_depth"]


def test_a_transformer_has_both_directions_and_a_search_is_a_step() -> None:
    made = search(PCA(), {"n_components": (1, 4)}, n_iter=2).fit(X)
    assert made.inverse_transform(made.transform(X)).shape == X.shape
    nested = make_pipeline(StandardScaler(), search()).fit(X, Y)
    assert nested.predict(X).shape == Y.shape


def test_several_metrics_are_searched_by_the_one_that_refit_names() -> None:
    made = search(scoring=["accuracy", "roc_auc"], refit="roc_auc").fit(X, Y)
    means = made.cv_results_["mean_test_roc_auc"]
    assert made.best_score_ == means.max()
    assert "mean_test_accuracy" in made.cv_results_
    assert [record.value for record in made.optimizer_.trials] == pytest.approx(means.tolist())
    assert made.score(X, Y) > 0.5


@pytest.mark.parametrize("refit", [True, False, "recommended", "f1", lambda _results: 0])
def test_several_metrics_and_none_of_them_named(refit: Any) -> None:
    with pytest.raises(InvalidInput, match="one of accuracy, roc_auc"):
        search(scoring=["accuracy", "roc_auc"], refit=refit).fit(X, Y)


def both(estimator: Any, X: Any, y: Any) -> dict[str, float]:
    return {"up": float(estimator.x), "down": -float(estimator.x)}


def test_a_callable_that_returns_several_metrics() -> None:
    made = search(Curve(), {"x": (0.0, 1.0)}, scoring=both, refit="down").fit(X, Y)
    assert made.best_params_["x"] == min(params["x"] for params in made.cv_results_["params"])
    with pytest.raises(InvalidInput, match="one of up, down"):
        search(Curve(), {"x": (0.0, 1.0)}, scoring=both).fit(X, Y)


def test_refit_false_and_a_callable() -> None:
    plain = search(refit=False).fit(X, Y)
    assert plain.best_params_
    assert plain.recommended_params_
    assert not hasattr(plain, "best_estimator_")
    with pytest.raises(AttributeError, match="no attribute 'predict'"):
        plain.predict(X)
    chosen = search(refit=lambda _results: 2).fit(X, Y)
    assert chosen.best_params_ == chosen.cv_results_["params"][2]


def test_groups_and_metadata_are_routed_as_in_scikit_learn() -> None:
    groups = np.repeat(range(6), 10)
    made = search(cv=GroupKFold(3)).fit(X, Y, groups=groups, sample_weight=np.ones(60))
    assert made.n_splits_ == 3
    with sklearn.config_context(enable_metadata_routing=True):
        asks = GaussianNB().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        routed = search(asks, cv=GroupKFold(3)).fit(X, Y, groups=groups, sample_weight=np.ones(60))
    assert routed.best_params_ == made.best_params_


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"n_iter": 0}, "n_iter"),
        ({"random_state": "x"}, "random_state"),
        ({"method": 3}, "method"),
        ({"method": "NoSuch"}, "NoSuch"),
        ({"scoring": "no_such"}, "scoring"),
    ],
)
def test_settings_that_are_none(more: dict[str, Any], says: str) -> None:
    with pytest.raises((InvalidInput, InvalidParameterError), match=says):
        search(**more).fit(X, Y)


def test_a_parameter_that_the_estimator_does_not_have() -> None:
    with pytest.raises(ValueError, match="Invalid parameter 'no_such' for estimator"):
        search(spaces={"no_such": (0.0, 1.0)}).fit(X, Y)


# --- what is told


def test_the_optimizer_is_told_one_mean_a_candidate_on_the_same_folds() -> None:
    """Also where the splitter would draw others for every batch; Curve shows which samples it is scored on."""
    data = np.arange(30.0)[:, None]
    made = search(Curve(), {"x": (0.0, 1.0)}, cv=ShuffleSplit(3, test_size=0.2), method=None).fit(data)
    table = np.column_stack([made.cv_results_[f"split{i}_test_score"] for i in range(3)])
    apart = table - table.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(apart, np.broadcast_to(apart[0], apart.shape), atol=1e-9)
    np.testing.assert_allclose(made.fold_effects_, apart[0], atol=1e-9)
    assert made.fold_residual_deviation_ == pytest.approx(0.0, abs=1e-9)
    for record, mean in zip(made.optimizer_.trials, table.mean(axis=1), strict=True):
        assert record.values == pytest.approx((mean,))
        assert record.sem is None


def test_candidates_of_a_batch_know_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    pending: list[int] = []
    original = qd.Optimizer.ask

    def ask(self: qd.Optimizer, *args: Any, **more: Any) -> qd.Trial:
        pending.append(sum(record.state == "pending" for record in self.trials))
        return original(self, *args, **more)

    monkeypatch.setattr(qd.Optimizer, "ask", ask)
    made = search(n_iter=5, cv=2, n_jobs=4, pre_dispatch="all")
    with parallel_config("threading"):
        made.fit(X, Y)
    assert pending == [0, 1, 0, 1, 0]
    assert len(made.cv_results_["params"]) == 5
    pending.clear()
    search(n_iter=3).fit(X, Y)
    assert pending == [0, 0, 0]


def test_processes_find_what_threads_find() -> None:
    """The search itself is sent to them, in the middle of its work."""
    found = []
    for backend in ("loky", "threading"):
        with parallel_config(backend, n_jobs=2):
            found.append(search(n_iter=3, cv=2).fit(X, Y).cv_results_["mean_test_score"].tolist())
    assert found[0] == found[1]


def test_a_small_space_is_tried_once_each() -> None:
    made = search(SVC(), {"kernel": ["linear", "rbf"], "C": [0.1, 1.0, 10.0]}, n_iter=20, cv=2).fit(X, Y)
    tried = [tuple(params.values()) for params in made.cv_results_["params"]]
    assert len(tried) == len(set(tried)) == 6


# --- failures


@pytest.mark.parametrize("error_score", [np.nan, -5.0])
def test_failed_fits_are_failures_and_rows(error_score: float) -> None:
    """Curve fails above 0.5 in all folds, so that whole batches fail, which scikit-learn itself would end at."""
    made = search(Curve(fails_above=0.5), {"x": (0.0, 1.0)}, n_iter=8, error_score=error_score)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made.fit(X, Y)
    assert any(issubclass(one.category, FitFailedWarning) for one in caught)
    results = made.cv_results_
    failed = np.array([params["x"] > 0.5 for params in results["params"]])
    assert 0 < failed.sum() < len(failed) == 8
    np.testing.assert_array_equal(results["mean_test_score"][failed], error_score)
    assert np.isfinite(results["mean_test_score"][~failed]).all()
    assert [record.state == "failed" for record in made.optimizer_.trials] == failed.tolist()
    assert made.recommended_params_ is not None
    assert made.recommended_params_["x"] <= 0.5
    assert len({len(column) for column in results.values()}) == 1


def test_one_failed_fold_fails_a_candidate() -> None:
    made = search(Curve(fails_above=-1.0), {"x": (-3.0, -2.0)}, error_score=0.0, refit=False)
    with pytest.warns(FitFailedWarning, match="fits failed out of a total"):
        made.fit(np.arange(30.0)[:, None])
    assert {record.failure for record in made.optimizer_.trials} == {"ArithmeticError: diverged"}
    assert made.recommended_params_ is None
    with pytest.warns(FitFailedWarning), pytest.raises(NotAvailable, match="the last failure: ArithmeticError"):
        clone(made).set_params(refit="recommended").fit(np.arange(30.0)[:, None])


def test_when_all_fails_scikit_learn_says_so() -> None:
    made = search(Curve(fails_above=-1.0), {"x": (0.0, 1.0)})
    with pytest.warns(FitFailedWarning), pytest.raises(ValueError, match=r"fits failed[\s\S]*diverged"):
        made.fit(X, Y)
    with pytest.raises(ArithmeticError, match="diverged"):
        clone(made).set_params(error_score="raise").fit(X, Y)


# --- what is recommended


def test_what_is_recommended_is_estimated_from_all_results() -> None:
    iris = load_iris(return_X_y=True)
    made = search(SVC(), {"C": (1e-2, 1e2, "log-uniform")}, n_iter=8, method=None).fit(*iris)
    assert made.recommended_interval_ is not None
    low, high = made.recommended_interval_
    assert low <= made.recommended_score_ <= high
    assert made.recommendation_ is not None
    assert made.recommendation_.best_seen.value == pytest.approx(made.best_score_)
    assert made.cv_results_["params"][made.recommended_index_] == made.recommended_params_


def test_refit_recommended_is_about_the_recommended_candidate() -> None:
    wanted = qd.Space(x=qd.Float(0, 1))
    made = search(Curve(), wanted, n_iter=5, refit="recommended").fit(X, Y)
    assert made.best_params_ == made.recommended_params_ == made.cv_results_["params"][made.best_index_]
    assert made.best_estimator_.x == made.recommended_params_["x"]
    assert made.best_index_ == made.recommended_index_
    assert made.best_score_ == made.cv_results_["mean_test_score"][made.best_index_]


def test_a_recommended_candidate_that_was_not_tried_gets_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    original = qd.Optimizer.recommend
    monkeypatch.setattr(
        qd.Optimizer, "recommend", lambda self: replace(original(self), params={"x": 0.123})
    )  # as methods that certify may
    made = search(Curve(), {"x": (0.0, 1.0)}, refit="recommended").fit(X, Y)
    assert len(made.cv_results_["params"]) == 5
    assert made.best_index_ == made.recommended_index_ == 4
    assert made.best_estimator_.x == 0.123
    other = search(Curve(), {"x": (0.0, 1.0)}).fit(X, Y)
    assert len(other.cv_results_["params"]) == 4
    assert other.recommended_index_ is None


def test_choices_that_a_space_cannot_hold_come_back_as_they_are() -> None:
    spaces: dict[str, Any] = {
        "max_features": [None, 0.5],
        "class_weight": [{0: 1, 1: 2}, {0: 2, 1: 1}],
        "max_depth": (1, 9),
    }
    made = search(DecisionTreeClassifier(random_state=0), spaces, refit="recommended").fit(X, Y)
    assert made.recommendation_ is not None
    for params in (made.recommended_params_, made.recommendation_.params, made.recommendation_.best_seen.params):
        assert params["class_weight"] in spaces["class_weight"]


def test_n_jobs_is_what_joblib_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """None is 1, or what the context says; -1 is all; a batch has as many candidates as give every job a fold."""
    batches: list[int] = []
    original = QuadratSearchCV._batch

    def batch(self: QuadratSearchCV, *args: Any, **more: Any) -> int:
        batches.append(original(self, *args, **more))
        return batches[-1]

    monkeypatch.setattr(QuadratSearchCV, "_batch", batch)
    for context, n_jobs in ((None, None), (4, None), (4, 1), (None, 4), (None, -1)):
        with parallel_config("threading", n_jobs=context) if context else parallel_config("threading"):
            search(n_iter=2, cv=2, n_jobs=n_jobs).fit(X, Y)
    assert batches == [1, 2, 1, 2, min(-(-cpu_count() // 2), 2)]
    with pytest.raises(ValueError, match="n_jobs"):
        search(n_jobs=0).fit(X, Y)


def test_a_list_of_dictionaries_is_searched_as_in_scikit_learn() -> None:
    cases = [{"kernel": ["linear"], "C": (0.1, 10.0)}, {"kernel": ["rbf"], "C": (0.1, 10.0), "gamma": (0.01, 1.0)}]
    made = search(SVC(), cases, n_iter=8, method=None).fit(X, Y)
    tried = made.cv_results_["params"]
    assert {tuple(params) for params in tried} == {("kernel", "C"), ("kernel", "C", "gamma")}
    assert made.cv_results_["param_gamma"].mask.tolist() == ["gamma" not in params for params in tried]
    assert set(made.recommended_params_) in ({"kernel", "C"}, {"kernel", "C", "gamma"})
    assert made.recommended_params_ == tried[made.recommended_index_]
    theirs = RandomizedSearchCV(SVC(), [{"C": [1], "kernel": ["linear"]}, {"gamma": [0.1]}], n_iter=2, cv=3).fit(X, Y)
    assert {*theirs.cv_results_} == {*made.cv_results_}
