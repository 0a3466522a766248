from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from problems import Problem, from_rkhs
from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels import Matern
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator


def _bowl(points: Array) -> Array:
    return np.asarray(-((points - 0.25) ** 2).sum(axis=1))


def _problem(**changes: object) -> Problem:
    fields: dict[str, object] = {
        "name": "bowl",
        "dimension": 2,
        "function": _bowl,
        "optimizers": np.array([[0.25, 0.25]]),
        "optimal_value": 0.0,
        "anchor": np.array([0.25, 0.25]),
    }
    return Problem(**(fields | changes))  # type: ignore[arg-type]  # fields by name


def test_a_matrix_gives_a_vector_and_a_vector_a_float() -> None:
    problem = _problem()
    values = problem(np.zeros((3, 2)))
    assert isinstance(values, np.ndarray)
    assert values.shape == (3,)
    single = problem([0.0, 0.0])
    assert isinstance(single, float)
    assert single == -0.125
    assert problem.values([0.0, 0.0]).shape == (1,)
    one_row = problem([[0.0, 0.0]])
    assert isinstance(one_row, np.ndarray)
    assert problem(np.empty((0, 2))).shape == (0,)  # type: ignore[union-attr]  # a matrix gives an array


def test_one_dimension_reads_a_vector_as_points() -> None:
    problem = Problem(name="line", dimension=1, function=_bowl)
    assert problem([0.5]) == -0.0625
    assert problem.values([0.0, 0.25, 0.5]).shape == (3,)


@pytest.mark.parametrize(
    "points", [[0.1, 0.2, 0.3], [[0.1]], [[0.1, np.nan]], [[np.inf, 0.0]], 0.5, "ab", [[[0.1, 0.2]]]]
)
def test_points_are_checked(points: object) -> None:
    with pytest.raises(InvalidInput, match="points"):
        _problem()(points)  # type: ignore[arg-type]  # what is being tested


def test_a_function_of_the_wrong_shape_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"bowl: expected a function that gives shape \(3,\)"):
        _problem(function=lambda points: points).values(np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dimension", 0),
        ("dimension", 1.5),
        ("optimizers", np.array([[0.5, 1.5]])),
        ("optimizers", np.array([[0.5, 0.5, 0.5]])),
        ("optimal_value", np.nan),
        ("domain", np.array([[0.0, 1.0]])),
        ("domain", np.array([[0.0, 1.0], [1.0, 1.0]])),
        ("scale", 0.0),
        ("location", np.inf),
        ("anchor", np.array([0.5])),
        ("beyond", np.array([[2.0]])),
    ],
)
def test_fields_are_checked(field: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=field):
        _problem(**{field: value})


def test_a_problem_is_a_frozen_value() -> None:
    given = np.array([[0.25, 0.25]])
    problem = _problem(optimizers=given)
    given[0, 0] = 0.9
    assert problem.optimizers[0, 0] == 0.25
    with pytest.raises(ValueError, match="read-only"):
        problem.optimizers[0, 0] = 0.5
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.name = "other"  # type: ignore[misc]  # what is being tested


def test_unknown_optimum_and_domain_have_honest_defaults() -> None:
    problem = Problem(name="unknown", dimension=3, function=_bowl)
    assert problem.optimal_value is None
    assert problem.optimizers.shape == (0, 3)
    np.testing.assert_array_equal(problem.domain, [[0, 1]] * 3)


def test_units_go_back_and_forth() -> None:
    problem = _problem(location=-3.0, scale=2.0)
    np.testing.assert_array_equal(problem.in_original_units([0.0, 1.0]), [-3.0, -1.0])


def test_a_shift_keeps_the_value_and_moves_everything_else() -> None:
    problem = _problem(domain=np.array([[0.0, 2.0], [0.0, 4.0]]), beyond=np.array([[1.05, 0.25], [9.0, 9.0]]))
    moved = problem.shifted(11)
    shift = moved.optimizers[0] - problem.optimizers[0]
    assert moved.name == "bowl~11"
    assert moved.optimal_value == problem.optimal_value
    assert ((moved.optimizers[0] >= 0.15) & (moved.optimizers[0] <= 0.85)).all()
    np.testing.assert_allclose(moved.domain, problem.domain - (shift * [2.0, 4.0])[:, None])
    every = np.concatenate([moved.optimizers, moved.beyond])
    np.testing.assert_allclose(every, np.concatenate([problem.optimizers, problem.beyond]) + shift)
    # a point of the cube stands for the same original point that the function is evaluated at
    point = np.array([0.3, 0.6])
    original = moved.domain[:, 0] + point * (moved.domain[:, 1] - moved.domain[:, 0])
    np.testing.assert_allclose(original / [2.0, 4.0], point - shift)


def test_shifts_depend_on_the_seed_only() -> None:
    problem = _problem()
    np.testing.assert_array_equal(problem.shifted(1).optimizers, problem.shifted(1).optimizers)
    assert not np.allclose(problem.shifted(1).optimizers, problem.shifted(2).optimizers)


def test_what_cannot_be_shifted_says_so() -> None:
    with pytest.raises(NotAvailable, match="anchor"):
        _problem(anchor=None).shifted(0)
    with pytest.raises(NotAvailable, match="shifted already"):
        _problem().shifted(0).shifted(1)
    with pytest.raises(InvalidInput, match="seed"):
        _problem().shifted(-1)


def test_an_rkhs_function_claims_an_optimum_only_if_given_one() -> None:
    f = draw_rkhs_function(Matern(2.5, 0.3), 2, rng=generator(12))
    honest = from_rkhs(f)
    assert honest.optimal_value is None
    assert honest.optimizers.shape == (0, 2)
    point, value = f.maximum()
    known = from_rkhs(f, "bumps", optimum=(point, value))
    assert known.name == "bumps"
    assert known.optimal_value == value
    assert known(point) == value
    assert known.anchor is None  # the maximum on the cube need not be one beyond
