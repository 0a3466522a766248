"""Successive halving in QuadratSearchCV: who goes on, what is compared, and what is recommended."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from joblib import parallel_config  # type: ignore[import-untyped]
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.utils.estimator_checks import estimator_checks_generator

import quadrat as qd
from quadrat.errors import InvalidInput, NotAvailable, QuadratWarning
from quadrat.integrations.folds import SameFolds, Subsampled
from quadrat.integrations.halving import Candidate, Results, best_of, rungs_of
from quadrat.integrations.sklearn_search import QuadratSearchCV
from quadrat.methods.base import MethodFacts
from quadrat.methods.design import RandomSearch

X, Y = make_classification(90, 4, n_informative=3, n_redundant=0, random_state=0)
SPACE = {"x": (0.0, 1.0)}


class Rounds(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Scores 10 - 9 / rounds - (x - 0.3)^2: more rounds are better, and the order of x is the same with all."""

    def __init__(self, x: float = 0.0, rounds: int = 18, fails_above: float = np.inf) -> None:
        self.x, self.rounds, self.fails_above = x, rounds, fails_above

    def fit(self, X: Any, y: Any = None) -> Rounds:  # noqa: ARG002
        if self.x > self.fails_above:
            raise ArithmeticError("diverged")
        self.n_fitted_ = len(X)
        return self

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        return float(10 - 9 / self.rounds - (self.x - 0.3) ** 2)


@dataclass(frozen=True, kw_only=True)
class OneByOne(RandomSearch):
    """Takes one trial at a time."""

    facts: ClassVar[MethodFacts] = replace(RandomSearch.facts, handles=())


def search(estimator: Any = None, spaces: Any = SPACE, **more: Any) -> QuadratSearchCV:
    settings = {"n_iter": 27, "cv": 2, "random_state": 0, "resource": "rounds", **more}
    return QuadratSearchCV(Rounds() if estimator is None else estimator, spaces, **settings)


# --- rungs and candidates


@pytest.mark.parametrize(
    ("smallest", "largest", "factor", "most", "expected"),
    [
        (1, 27, 3, 27, (1, 3, 9, 27)),
        (1, 100, 3, 9, (11, 33, 100)),
        (20, 50, 3, 100, (50,)),
        (1, 100, 2, 3, (50, 100)),
        (1, 100, 2, 1, (100,)),
        (1, 100, 2, 0, (100,)),
        (7, 7, 5, 99, (7,)),
    ],
)
def test_rungs_end_at_the_most_and_begin_above_the_least(
    smallest: int, largest: int, factor: int, most: int, expected: tuple[int, ...]
) -> None:
    assert rungs_of(smallest, largest, factor, most) == expected


def test_the_best_third_goes_on_and_no_failure() -> None:
    assert best_of([1.0, 5.0, 3.0, 4.0], 3) == [1, 3]
    assert best_of([float("nan"), 2.0, float("nan")], 2) == [1]
    assert best_of([float("nan")] * 3, 3) == []
    assert best_of([1.0, 1.0, 1.0], 3) == [0], "of equals the first"


def test_candidates_are_chosen_from_the_highest_rung_with_enough_results(monkeypatch: pytest.MonkeyPatch) -> None:
    space = qd.Space(x=qd.Float(0, 1))
    results = Results(space, None, 0)
    assert results.highest_known() == 0
    for i, x in enumerate((0.1, 0.3, 0.5, 0.7, 0.9)):
        results.candidates.append(Candidate({"x": x}, {0: -x}, {0: i}))
    assert results.highest_known() == 0
    for one in results.candidates[:3]:
        one.scores[1], one.rows[1] = float("nan") if one.params["x"] == 0.5 else one.params["x"], 5
    assert results.highest_known() == 0, "two of three succeeded: too few for one parameter"
    results.candidates[3].scores[1], results.candidates[3].rows[1] = 0.7, 8
    assert results.highest_known() == 1
    seen: list[tuple[int, int]] = []
    original = qd.Optimizer.ask

    def ask(self: qd.Optimizer, *args: Any, **more: Any) -> qd.Trial:
        states = [record.state for record in self.trials]
        seen.append((states.count("complete"), states.count("pending")))
        return original(self, *args, **more)

    monkeypatch.setattr(qd.Optimizer, "ask", ask)
    chosen = results.choose(3)
    assert seen == [(3, 0), (3, 1), (3, 2), (3, 3)], "the one without a result there is pending, and asked by us"
    assert len({one.params["x"] for one in [*results.candidates]}) == 8
    assert results.candidates[-3:] == chosen


def test_a_space_that_is_used_up_ends_it() -> None:
    results = Results(qd.Space(n=qd.Int(1, 3)), qd.Auto(noise=0), 0)
    assert sorted(one.params["n"] for one in results.choose(5)) == [1, 2, 3]
    assert results.choose(5) == []


def test_in_a_finite_space_each_candidate_begins_once() -> None:
    """Also where nothing says that there is no noise."""
    space = qd.Space(n=qd.Int(1, 4)).subject_to(lambda params: params["n"] != 3)
    results = Results(space, None, 0)
    for count in (2, 3):
        results.choose(count)
        for one in results.candidates:
            one.scores[0], one.rows[0] = one.params["n"] / 2, 0
    assert sorted(one.params["n"] for one in results.candidates) == [1, 2, 4]


# --- the search


def test_the_table_and_who_goes_on() -> None:
    made = search(refit=True).fit(X, Y)
    assert made.n_resources_ == [2, 6, 18] * 3
    assert made.n_candidates_ == [9, 3, 1] * 3
    assert (made.min_resources_, made.max_resources_, made.n_iterations_) == (2, 18, 9)
    table = {name: np.asarray(column) for name, column in made.cv_results_.items()}
    assert len(table["iter"]) == 39
    for iteration in range(9):
        here = table["iter"] == iteration
        assert set(table["n_resources"][here]) == {made.n_resources_[iteration]}
        assert set(table["bracket"][here]) == {iteration // 3}
        assert all(params["rounds"] == made.n_resources_[iteration] for params in table["params"][here])
        if iteration % 3:
            before = table["iter"] == iteration - 1
            best = np.sort(table["param_x"][before][np.argsort(-table["mean_test_score"][before])[: here.sum()]])
            assert np.sort(table["param_x"][here]).tolist() == best.tolist()


def test_only_those_with_everything_are_compared_and_recommended() -> None:
    made = search(refit="recommended").fit(X, Y)
    whole = [i for i, n in enumerate(made.cv_results_["n_resources"]) if n == 18]
    scores = made.cv_results_["mean_test_score"]
    assert made.best_index_ == made.recommended_index_
    assert made.best_index_ in whole
    assert [record.values[0] for record in made.optimizer_.trials] == pytest.approx([scores[i] for i in whole])
    assert made.recommended_params_ == made.best_params_
    assert made.best_params_["rounds"] == 18
    assert made.best_estimator_.rounds == 18
    assert made.recommendation_ is not None
    assert made.recommendation_.best_seen.params["rounds"] == 18
    assert abs(made.best_params_["x"] - 0.3) < 0.1
    again = pickle.loads(pickle.dumps(made))  # noqa: S301
    assert again.optimizer_.trials == made.optimizer_.trials


def test_a_lucky_score_with_little_is_not_the_best() -> None:
    """Fewer rounds score higher here, so that the best row of the table has few."""

    class Worse(Rounds):
        def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
            return float(-self.rounds - (self.x - 0.3) ** 2)

    made = search(Worse(), refit=True).fit(X, Y)
    assert made.cv_results_["n_resources"][made.best_index_] == 18
    assert made.cv_results_["rank_test_score"][made.best_index_] > 1


def test_samples_as_the_resource() -> None:
    made = search(LogisticRegression(), {"C": (1e-3, 10.0, "log-uniform")}, resource="n_samples", n_iter=12).fit(X, Y)
    assert made.n_resources_[:2] == [30, 90]
    assert made.max_resources_ == 90
    assert "resource" not in made.best_params_
    assert set(made.best_params_) == {"C"}


def test_larger_parts_of_a_fold_hold_the_smaller_ones() -> None:
    folds = SameFolds(ShuffleSplit(3, random_state=None))
    parts = {share: list(Subsampled(folds, share, 7).split(X, Y)) for share in (0.1, 0.5, 1.0)}
    whole = list(folds.split(X, Y))
    for i in range(3):
        for side in (0, 1):
            few, more, everything = (set(parts[share][i][side].tolist()) for share in (0.1, 0.5, 1.0))
            assert few < more < everything == set(whole[i][side].tolist())
            assert len(few) == max(1, int(0.1 * len(everything)))
    assert Subsampled(folds, 0.5, 7).get_n_splits(X, Y) == 3


def test_the_same_seed_and_any_number_of_jobs_find_the_same() -> None:
    found = []
    for jobs in (1, 2):
        with parallel_config("threading"):
            found.append(search(n_jobs=jobs, n_iter=12).fit(X, Y).cv_results_["params"])
    assert found[0] == found[1]
    assert found[0] != search(n_iter=12, random_state=1).fit(X, Y).cv_results_["params"]


def test_failures_stop_where_they_are() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = search(Rounds(fails_above=0.5)).fit(X, Y)
        assert made.best_params_["x"] <= 0.5
        dead = [i for i, params in enumerate(made.cv_results_["params"]) if params["x"] > 0.5]
        assert dead
        assert {made.cv_results_["n_resources"][i] for i in dead} == {2}
        with pytest.raises(ValueError, match="fits failed"):
            search(Rounds(fails_above=-1)).fit(X, Y)


def test_no_candidate_that_lives_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """All fail as soon as they have everything."""
    monkeypatch.setattr(Rounds, "fit", _fails_with_everything)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = search(n_iter=9, refit=False).fit(X, Y)
        assert made.recommendation_ is None
        with pytest.raises(NotAvailable, match="succeeds on every fold"):
            search(n_iter=9, refit="recommended").fit(X, Y)


def _fails_with_everything(self: Rounds, X: Any, y: Any = None) -> Rounds:
    if self.rounds == 18:
        raise ArithmeticError("diverged")
    return self


def test_progress_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    search(n_iter=9, verbose=1).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "bracket: 0, n_candidates: 3, n_resources: 6",
        "Fitting 2 folds for each of 3 candidates, totalling 6 fits",
    ]
    assert lines[4].startswith("bracket: 1, n_candidates: 3, n_resources: 6, best score so far 8.")
    search(n_iter=2, resource=None, verbose=1, method="RandomSearch").fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "candidate 1 of 2"
    assert lines[2].startswith("candidate 2 of 2, best score so far ")
    search(n_iter=9, verbose=0).fit(X, Y)
    assert not capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"resource": "round"}, r"expected 'n_samples' or a parameter of Rounds, got 'round' \(did you mean 'rounds'"),
        ({"resource": "x"}, "max_resources: expected an integer, since the estimator has x=0.0"),
        ({"resource": "x", "max_resources": 9}, "resource: expected one that is not searched, got 'x'"),
        ({"min_resources": 19}, "min_resources: expected at most max_resources, 18, got 19"),
        ({"resource": "n_samples", "max_resources": 91}, "max_resources: expected at most the 90 samples, got 91"),
        ({"method": OneByOne()}, "resource: expected a method that chooses several candidates together"),
        ({"factor": 1}, "factor"),
        ({"min_resources": "least"}, "min_resources"),
        ({"max_resources": 0}, "max_resources"),
        ({"resource": 3}, "resource"),
    ],
)
def test_what_is_refused(more: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        search(n_iter=9, **more).fit(X, Y)


@pytest.mark.parametrize(("least", "rungs"), [("smallest", [2, 6, 18]), ("exhaust", [6, 18]), (5, [6, 18]), (18, [18])])
@pytest.mark.filterwarnings("ignore:resource. nothing is halved:quadrat.errors.QuadratWarning")
def test_where_brackets_begin(least: int | str, rungs: list[int]) -> None:
    assert search(min_resources=least, n_iter=9).fit(X, Y).n_resources_[: len(rungs)] == rungs


@pytest.mark.parametrize(
    ("more", "cure"),
    [
        ({"n_iter": 8}, "expected n_iter of at least 9, got 8"),
        ({"n_iter": 2, "min_resources": "smallest"}, "expected n_iter of at least 3, got 2"),
        ({"n_iter": 9, "min_resources": 4}, "expected at least 3 times as much as the least, 4, got 9"),
    ],
)
def test_a_search_that_halves_nothing_says_so(more: dict[str, Any], cure: str) -> None:
    X, y = make_classification(60, 4, random_state=0)
    search = QuadratSearchCV(
        RandomForestClassifier(9, random_state=0), {"max_depth": (1, 5)}, resource="n_estimators", cv=2, random_state=0,
        **more,
    )  # fmt: skip
    with pytest.warns(QuadratWarning, match=rf"nothing is halved, every candidate gets all of n_estimators: {cure}$"):
        search.fit(X, y)
    assert set(search.n_resources_) == {9}


def test_it_is_cloned_and_set() -> None:
    made = clone(search(factor=2).set_params(max_resources=4))
    assert made.fit(X, Y).n_resources_[:3] == [1, 2, 4]


def test_it_passes_the_checks_of_scikit_learn() -> None:
    """With halving and a list of dictionaries."""
    cases = [{"C": [0.1, 1.0]}, {"C": (1.0, 9.0)}]
    made = search(LogisticRegression(max_iter=30), cases, resource="max_iter", n_iter=3, method="RandomSearch")
    found = []
    for estimator, check in estimator_checks_generator(made):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                check(estimator)
            except (Exception, pytest.skip.Exception) as error:
                if not type(error).__name__.lower().startswith("skip"):
                    found.append((check.func.__name__, str(error)))
    assert not found


def test_a_forest_is_found_with_less_work() -> None:
    """Two thirds of the trees of a search without halving, and the same score within .03."""
    spaces = {"max_depth": (1, 8), "max_features": (0.1, 1.0)}
    forest = RandomForestClassifier(n_estimators=9, random_state=0)
    made = search(forest, spaces, resource="n_estimators", n_iter=18, cv=2).fit(X, Y)
    plain = search(forest, spaces, resource=None, n_iter=18, cv=2).fit(X, Y)
    trees = sum(n * m for n, m in zip(made.n_resources_, made.n_candidates_, strict=True))
    assert trees <= 18 * 9 * 2 / 3
    assert made.best_score_ >= plain.best_score_ - 0.03


def test_a_space_is_refused_as_before() -> None:
    with pytest.raises(InvalidInput, match="either search_spaces or param_distributions"):
        QuadratSearchCV(Rounds(), resource="rounds").fit(X, Y)
