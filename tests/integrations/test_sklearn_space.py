"""What scikit-learn's searches take, as a space: ranges, choices, distributions, and clear refusals."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.svm import SVC

import quadrat as qd
from quadrat.errors import InvalidInput
from quadrat.integrations.sklearn_space import CandidateSpace
from quadrat.space.parameter import Parameter


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (qd.Float(0, 1), qd.Float(0, 1)),
        ((0.1, 10.0), qd.Float(0.1, 10)),
        ((1, 10), qd.Int(1, 10)),
        ((1, 10.0), qd.Float(1, 10)),
        ((0.1, 10.0, "log-uniform"), qd.Float(0.1, 10, log=True)),
        ((1, 64, "log-uniform"), qd.Int(1, 64, log=True)),
        ((1, 64, "uniform"), qd.Int(1, 64)),
        (["a", "b"], qd.Categorical(["a", "b"])),
        (("a", "b"), qd.Categorical(["a", "b"])),
        ([True, False], qd.Categorical([True, False])),
        ((True, False), qd.Categorical([True, False])),
        ([1, 9], qd.Categorical([1, 9])),
        (["auto"], qd.Fixed("auto")),
        (stats.uniform(2, 3), qd.Float(2, 5)),
        (stats.loguniform(1e-3, 1e2), qd.Float(1e-3, 1e2, log=True)),
        (stats.reciprocal(1e-3, 1e2), qd.Float(1e-3, 1e2, log=True)),
        (stats.randint(2, 9), qd.Int(2, 8)),
        (stats.randint(2, 3), qd.Fixed(2)),
    ],
)
def test_what_a_parameter_is_searched_as(given: Any, expected: Parameter) -> None:
    wanted = CandidateSpace.of({"p": given, "other": qd.Float(0, 1)})
    assert wanted.space["p"] == expected
    assert not wanted.shown


@pytest.mark.parametrize("values", [[0.01, 1, 100], np.array([3, 2, 1]), range(5), (0.1, 0.2, 0.9)])
def test_numbers_in_order_are_searched_as_ordered(values: Any) -> None:
    wanted = CandidateSpace.of({"p": values})
    assert wanted.space["p"] == qd.Int(0, len(values) - 1)
    assert [wanted.candidate({"p": i})["p"] for i in range(len(values))] == list(values)


@pytest.mark.parametrize("values", [[(10,), (10, 10)], [SVC(), None], [1, True], ["a", "a"]])
def test_choices_that_a_space_cannot_hold_are_searched_by_their_index(values: list[Any]) -> None:
    wanted = CandidateSpace.of({"p": values})
    assert wanted.space["p"] == qd.Categorical((0, 1))
    assert wanted.candidate({"p": 1})["p"] is values[1]


def test_other_distributions_are_searched_along_their_quantiles() -> None:
    wanted = CandidateSpace.of({"c": stats.expon(scale=100), "n": stats.poisson(4), "b": stats.beta(2, 2)})
    assert wanted.space["c"] == qd.Float(0.0, 0.999)
    assert wanted.space["b"] == qd.Float(0.0, 1.0)
    assert wanted.space["n"] == qd.Int(0, int(stats.poisson(4).ppf(0.999)))
    shown = wanted.candidate({"c": 0.5, "n": 4, "b": 0.25})
    assert shown["c"] == pytest.approx(100 * np.log(2))
    assert shown["n"] == 4
    assert shown["b"] == pytest.approx(stats.beta(2, 2).ppf(0.25))
    assert pickle.loads(pickle.dumps(wanted)).candidate({"c": 0.5}) == {"c": shown["c"]}  # noqa: S301  # our own bytes


def test_a_space_is_taken_as_it_is() -> None:
    space = qd.Space(kernel=qd.Categorical(["rbf", "poly"]), degree=qd.Int(2, 4, when={"kernel": "poly"}))
    wanted = CandidateSpace.of(space)
    assert wanted.space is space
    assert wanted.all_params(100) is None, "conditions: not a grid"


def test_all_candidates_of_a_small_space() -> None:
    wanted = CandidateSpace.of({"a": ["x", "y"], "n": (1, 2), "c": [7]})
    expected = [{"a": a, "n": n, "c": 7} for a in "xy" for n in (1, 2)]
    assert wanted.all_params(4) == expected
    assert wanted.all_params(3) is None
    assert CandidateSpace.of({"a": ["x", "y"], "r": (0.0, 1.0)}).all_params(100) is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (None, "expected a Space, or a dictionary"),
        ({}, "expected a Space, or a dictionary"),
        ([{"C": [1, 2]}], "use one Space, with when="),
        ({3: [1, 2]}, "names of parameters as strings"),
        ({"C": []}, "'C': expected at least one choice"),
        ({"C": "linear"}, "'C': expected a parameter"),
        ({"C": 3}, "'C': expected a parameter"),
        ({"C": (5, 1)}, "'C': .*swap"),
        ({"C": (0.0, 1.0, "log-uniform")}, "'C': .*low > 0"),
        ({"C": (0.1, 1.0, "normal")}, '"log-uniform"'),
        ({"C": (0.1, 1.0, "log-uniform", 10)}, '"log-uniform"'),
        ({"C": [1]}, "at least one parameter that can vary"),
        ({"C": qd.Context(qd.Float(0, 1)), "D": qd.Float(0, 1)}, "C, which is a Context or Fidelity"),
    ],
)
def test_what_is_refused(given: Any, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        CandidateSpace.of(given)
