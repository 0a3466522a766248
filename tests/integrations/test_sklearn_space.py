"""What scikit-learn's searches take, as a space: ranges, choices, distributions, and clear refusals."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import ParameterGrid
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
        (stats.rv_discrete(values=([1, 5, 9], [0.2, 0.3, 0.5])), qd.Categorical([1, 5, 9], ordered=True)),
        (stats.rv_discrete(values=([1, 2], [0.2, 0.8])), qd.Int(1, 2)),
        (stats.rv_discrete(values=([1, 9], [0.2, 0.8])), qd.Categorical([1, 9])),
    ],
)
def test_what_a_parameter_is_searched_as(given: Any, expected: Parameter) -> None:
    wanted = CandidateSpace.of({"p": given, "other": qd.Float(0, 1)})
    assert wanted.space["p"] == expected
    assert not wanted.shown


@pytest.mark.parametrize("values", [[0.01, 1, 100], np.array([3, 2, 1]), range(5), (0.1, 0.2, 0.9)])
def test_numbers_in_order_are_searched_as_ordered(values: Any) -> None:
    wanted = CandidateSpace.of({"p": values})
    assert wanted.space["p"] == qd.Categorical(list(values), ordered=True)
    assert [wanted.candidate({"p": value})["p"] for value in values] == list(values)


def test_a_column_of_a_table_is_a_list_of_choices() -> None:
    pandas = pytest.importorskip("pandas")
    assert CandidateSpace.of({"p": pandas.Series(["a", "b"])}).space["p"] == qd.Categorical(["a", "b"])


def test_numbers_that_a_space_cannot_hold_are_ordered_too() -> None:
    wanted = CandidateSpace.of({"p": [Fraction(1, 3), Fraction(1, 2), Fraction(3, 4)]})
    assert wanted.space["p"] == qd.Int(0, 2)
    assert wanted.candidate({"p": 1}) == {"p": Fraction(1, 2)}


@pytest.mark.parametrize(
    ("values", "called"),
    [
        ([(10,), (10, 10)], ("(10,)", "(10, 10)")),
        ([SVC(), None], ("SVC()", "None")),
        ([1, True], ("1", "True")),
        (["a", "a"], (0, 1)),
        ([object(), "a"], (0, 1)),  # the address in its text is another in every process
        ([SVC(), "SVC()"], (0, 1)),
        ([list(range(100)), None], (0, 1)),
    ],
)
def test_choices_that_a_space_cannot_hold_are_called_by_their_texts_or_places(
    values: list[Any], called: tuple[Any, ...]
) -> None:
    wanted = CandidateSpace.of({"p": values})
    assert wanted.space["p"] == qd.Categorical(called)
    assert [wanted.candidate({"p": name})["p"] is value for name, value in zip(called, values, strict=True)] == [
        True
    ] * 2


def test_choices_can_be_given_names() -> None:
    deep, shallow = SVC(C=100), SVC(C=0.1)
    wanted = CandidateSpace.of({"step": {"deep": deep, "shallow": shallow}, "same": {"only": deep}})
    assert wanted.space == qd.Space(step=qd.Categorical(["deep", "shallow"]), same=qd.Fixed("only"))
    assert wanted.candidate({"step": "shallow", "same": "only"}) == {"step": shallow, "same": deep}
    assert pickle.loads(pickle.dumps(wanted)).candidate({"step": "deep"})["step"].C == 100  # noqa: S301


def test_a_list_of_dictionaries_is_a_choice_among_them() -> None:
    c = (0.1, 10.0, "log-uniform")
    wanted = CandidateSpace.of(
        [{"kernel": ["linear"], "C": c}, {"kernel": ["rbf", "poly"], "C": c, "gamma": (0.1, 1.0)}, {}]
    )
    assert wanted.space["case"] == qd.Categorical((0, 1, 2))
    assert wanted.space["C"] == qd.Float(0.1, 10, log=True, when={"case": [0, 1]}), "one parameter of both"
    assert wanted.space["gamma"] == qd.Float(0.1, 1, when={"case": 1})
    seen = [wanted.candidate(params) for params in wanted.space.sample(60, np.random.default_rng(0))]
    assert {tuple(candidate) for candidate in seen} == {("kernel", "C"), ("kernel", "C", "gamma"), ()}
    assert {candidate["kernel"] for candidate in seen if "gamma" in candidate} == {"rbf", "poly"}
    assert {candidate["kernel"] for candidate in seen if list(candidate) == ["kernel", "C"]} == {"linear"}


def test_a_list_of_dictionaries_as_scikit_learn_lists_its_grid() -> None:
    grid: list[dict[str, Any]] = [
        {"kernel": ["linear"], "C": [1, 10, 100]},
        {"kernel": ["rbf"], "C": [1, 10, 100], "gamma": [0.1, 1]},
    ]
    wanted = CandidateSpace.of(grid)
    found = [wanted.candidate(params) for params in wanted.all_params(9) or []]
    assert sorted(map(repr, map(sorted, map(dict.items, found)))) == sorted(
        map(repr, map(sorted, map(dict.items, ParameterGrid(grid))))
    )
    assert wanted.all_params(8) is None
    assert CandidateSpace.of(grid[:1]).space == CandidateSpace.of(grid[0]).space
    assert "case_" in CandidateSpace.of([{"case": [1, 2]}, {"other": [1, 2]}]).space


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
    expected: list[dict[str, Any]] = [
        {"kernel": "rbf"},
        *({"kernel": "poly", "degree": degree} for degree in (2, 3, 4)),
    ]
    assert wanted.all_params(4) == expected
    assert wanted.all_params(3) is None
    few = CandidateSpace.of(space.subject_to(lambda p: p.get("degree") != 3))
    assert few.all_params(3) == [params for params in expected if params.get("degree") != 3]


def test_all_candidates_of_a_small_space() -> None:
    wanted = CandidateSpace.of({"a": ["x", "y"], "n": (1, 2), "c": [7]})
    expected = [{"a": a, "n": n, "c": 7} for a in "xy" for n in (1, 2)]
    assert wanted.all_params(4) == expected
    assert wanted.all_params(3) is None
    assert CandidateSpace.of({"a": ["x", "y"], "r": (0.0, 1.0)}).all_params(100) is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (None, "expected a Space, a dictionary"),
        ({}, "expected a Space, a dictionary"),
        ([], "or a list of such dictionaries, got"),
        ([{}], "expected a Space, a dictionary"),
        ([{}, {}], "something to search in some dictionary"),
        ([{"C": [1, 2]}, "C"], r"expected a list of dictionaries, of which a candidate is of one, got 'C' at \[1\]"),
        ([{"C": [1, 2]}, [{"C": [3]}]], r"got \[\{'C': \[3\]\}\] at \[1\]"),
        ([{"C": [1, 2]}, qd.Space(x=qd.Float(0, 1))], "expected a list of dictionaries"),
        ([{"C": [1, 2]}, {"C": []}], r"search_spaces\[1\]: 'C': expected at least one choice"),
        ([{"C": [1, 2]}, {"D": qd.Int(1, 2, when={"C": 1})}], r"search_spaces\[1\]: 'D': .*without when="),
        ({"C": {"type": "float", "low": 0, "high": 1}}, "'C': expected a parameter such as"),
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
