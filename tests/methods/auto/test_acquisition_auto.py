"""The score in a box: what is found there, and the box as a cube of its own. The score itself is in test_auto.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.gp import LogPosterior, Observations
from quadrat.gp.ensemble import Ensemble
from quadrat.kernels import Matern, Tied
from quadrat.methods.acquisition import SearchRegion
from quadrat.methods.auto import method
from quadrat.methods.auto.acquisition import AutoAcquisition
from quadrat.methods.auto.feasibility import Chances, Feasibility
from quadrat.methods.auto.method import Auto, AutoSearch
from quadrat.methods.base import Axis, Domain, Observation
from quadrat.optimizer.run import domain_of

BOX = np.array([0.3, 0.1]), np.array([0.4, 0.9])
VALUES = tuple(((np.arange(5) + 0.5) / 5).tolist())


def score_on(domain: Domain, seed: int = 0) -> tuple[AutoAcquisition, Array]:
    """The score after twelve trials at uniform points, and these points."""
    x = domain.rounded(np.random.default_rng(seed).random((12, domain.dimension)))
    features = domain.features(x)
    kernel = Matern(2.5, np.full(features.shape[1], 0.4))
    form = kernel if features.shape[1] == domain.dimension else Tied(kernel, domain.groups)
    data = LogPosterior(form, Observations.merge(features, np.sin(6 * x[:, 0]) - (x[:, 1] - 0.4) ** 2))
    ensemble = Ensemble(data, data.start()[None, :] + [[0.0], [0.2]])
    target = ensemble.predict(features).mean.max(axis=1)
    return AutoAcquisition(ensemble, target, domain, Feasibility(features.shape[1]), Chances()), x


def rounding(points: Array) -> Array:
    """The second axis has five values."""
    return np.column_stack([points[:, 0], (np.minimum(np.floor(5 * points[:, 1]), 4) + 0.5) / 5])


# --- the box as a cube


def test_the_cube_itself_is_left_alone() -> None:
    frame, points = SearchRegion(Domain.cube(2)), np.random.default_rng(0).random((5, 2))
    slope = score_on(Domain.cube(2))[0].slope
    assert frame.inside(points) is points
    assert frame.outside(points) is points
    assert frame.seen_from(slope) is slope
    assert frame.distances(points[:1], points[1])[0] == np.abs(points[0] - points[1]).max()


def test_there_and_back() -> None:
    frame, points = SearchRegion(Domain.cube(2), BOX), np.random.default_rng(0).random((50, 2))
    outside = frame.outside(points)
    assert (outside >= BOX[0]).all()
    assert (outside <= BOX[1]).all()
    np.testing.assert_allclose(frame.inside(outside), points, atol=1e-12)
    np.testing.assert_array_equal(frame.outside(np.array([[0.0, 0.0]])), BOX[0][None, :])
    np.testing.assert_allclose(frame.outside(np.array([[1.0, 1.0]])), BOX[1][None, :], rtol=1e-15)


def test_what_is_outside_comes_to_the_border() -> None:
    frame = SearchRegion(Domain.cube(2), BOX)
    got = frame.outside(frame.inside(np.array([[0.0, 0.5], [0.35, 1.0], [1.0, 0.0]])))
    np.testing.assert_allclose(got, [[0.3, 0.5], [0.35, 0.9], [0.4, 0.1]], rtol=1e-14)


def test_distances_are_in_units_of_the_box() -> None:
    frame = SearchRegion(Domain.cube(2), BOX)
    assert frame.distances(np.array([[0.3, 0.5]]), np.array([0.35, 0.6]))[0] == pytest.approx(0.5)
    assert frame.distances(np.array([[0.3, 0.2]]), np.array([0.31, 0.8]))[0] == pytest.approx(0.75)


def test_the_slope_in_the_box_equals_finite_differences() -> None:
    score, _ = score_on(Domain.cube(2))
    inside, query, step = (
        SearchRegion(Domain.cube(2), BOX).seen_from(score.slope),
        np.random.default_rng(1).random((6, 2)),
        1e-6,
    )
    value, slope = inside(query)
    np.testing.assert_allclose(value, score.at(BOX[0] + (BOX[1] - BOX[0]) * query), rtol=1e-9)
    for axis in range(2):
        move = step * np.eye(2)[axis]
        numeric = (inside(query + move)[0] - inside(query - move)[0]) / (2 * step)
        np.testing.assert_allclose(slope[:, axis], numeric, rtol=1e-4, atol=1e-5)


# --- the highest point of a box


@pytest.mark.parametrize(
    "box", [BOX, (np.zeros(2), np.ones(2)), (np.array([0.8, 0.8]), np.ones(2)), (np.zeros(2), np.array([1e-6, 0.5]))]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_no_point_of_a_grid_in_the_box_is_higher(box: tuple[Array, Array], seed: int) -> None:
    """And the point is one of the box, although the best points told may lie outside."""
    score, told = score_on(Domain.cube(2), seed)
    x, height = score.maximise(told[:4], np.random.default_rng(0), box)
    assert (x >= box[0]).all()
    assert (x <= box[1]).all()
    axes = [np.linspace(low, high, 41) for low, high in zip(*box, strict=True)]
    grid = np.stack(np.meshgrid(*axes), -1).reshape(-1, 2)
    assert height == pytest.approx(score.at(x[None, :])[0])
    assert height >= score.at(grid).max() - 1e-3


def test_the_whole_cube_as_a_box_is_searched_like_the_cube() -> None:
    score, told = score_on(Domain.cube(2))
    one, other = (score.maximise(told[:4], np.random.default_rng(3), box) for box in (None, (np.zeros(2), np.ones(2))))
    np.testing.assert_allclose(one[0], other[0], atol=1e-9)


def test_in_a_box_of_integers_the_point_is_rounded() -> None:
    domain = Domain((Axis(), Axis(VALUES)), round=rounding)
    score, told = score_on(domain)
    box = np.array([0.2, 0.4]), np.array([0.7, 0.8])
    x, height = score.maximise(told[:4], np.random.default_rng(0), box)
    assert x[1] in VALUES
    grid = np.array([[x0, x1] for x0 in np.linspace(0.2, 0.7, 101) for x1 in VALUES[2:4]])
    assert height >= score.at(grid).max() - 1e-3


# --- points that are not worth asking for


def test_spent_points_count_for_nothing_and_all_others_as_before() -> None:
    score, told = score_on(Domain.cube(2))
    query = np.vstack([np.random.default_rng(1).random((5, 2)), told[:3]])
    spent = replace(score, spent=told[1:])
    at = spent.at(query)
    np.testing.assert_array_equal(at[:6], score.at(query)[:6])
    assert at[6:].tolist() == [-np.inf, -np.inf]
    assert np.isfinite(score.at(query)).all()
    np.testing.assert_array_equal(replace(score, spent=np.empty((0, 2))).at(query), score.at(query))


def test_the_highest_point_is_not_found_again_once_it_is_spent() -> None:
    """In a box where the slope leads into a corner: it is the highest, until it is spent."""
    score, told = score_on(Domain.cube(2))
    box = np.array([0.35, 0.5]), np.array([0.9, 0.9])
    found = np.empty((0, 2))
    for _ in range(4):
        again = replace(score, spent=found)
        x, height = again.maximise(told[:4], np.random.default_rng(0), box)
        assert np.isfinite(height)
        found = np.vstack([found, x[None, :]])
    assert len(np.unique(found, axis=0)) == 4


def test_where_every_point_is_spent_one_of_them_is_returned() -> None:
    domain = Domain((Axis(VALUES), Axis(VALUES)), round=lambda points: rounding(rounding(points)[:, ::-1])[:, ::-1])
    score, told = score_on(domain)
    every = np.array([[x0, x1] for x0 in VALUES for x1 in VALUES])
    x, height = replace(score, spent=every).maximise(told[:4], np.random.default_rng(0))
    assert height == -np.inf
    assert (every == x).all(axis=1).any()


# --- choices


def nested(levels: int, switches: int) -> qd.Space:
    """Choices of many and of two levels, and three that exist only where the one before has its last value."""
    parameters: dict[str, qd.Categorical] = {"level": qd.Categorical([f"l{i}" for i in range(levels)])}
    parameters |= {f"s{i}": qd.Categorical([False, True]) for i in range(switches)}
    parameters["top"] = qd.Categorical(["a", "b"])
    parameters["middle"] = qd.Categorical(["c", "d"], when={"top": "b"})
    parameters["low"] = qd.Categorical(["e", "f", "g"], when={"middle": "d"})
    return qd.Space.from_dict(parameters)


def every_setting(domain: Domain) -> Array:
    """By brute force, however many there are."""
    values = [axis.values or () for axis in domain.axes]
    return np.unique(domain.rounded(np.array(list(product(*values)))), axis=0)


def worth(space: qd.Space) -> Callable[[Array], Array]:
    """An additive function of the levels with one interaction, the same for all seeds."""
    effects = np.random.default_rng(7).normal(size=(space.dimension, 200))

    def value(u: Array) -> Array:
        return np.array([sum(effects[i, int(199 * c)] for i, c in enumerate(row)) for row in u]) + u[:, 0] * u[:, 1]

    return value


def score_after(space: qd.Space, seed: int, trials: int) -> tuple[AutoAcquisition, Array]:
    """The score of the default method after uniform trials, and the best four of them."""
    domain, value = domain_of(space), worth(space)
    search = Auto().start(domain, seed)
    assert isinstance(search, AutoSearch)
    x = domain.rounded(np.random.default_rng(seed).random((trials, domain.dimension)))
    for number, (point, y) in enumerate(zip(x, value(x), strict=True)):
        search.tell(Observation(number, point, np.array([y + 0.1 * (number % 3)])))
    ensemble = search.model.current().ensemble
    means = ensemble.predict(domain.features(x)).mean
    score = AutoAcquisition(ensemble, means.max(axis=1), domain, Feasibility(len(domain.groups)), Chances())
    return score, x[np.argsort(-means.mean(axis=0), kind="stable")[:4]]


@pytest.mark.parametrize(("levels", "switches"), [(5, 3), (100, 5)])
def test_the_highest_score_of_a_mixed_space_is_found_as_by_exhaustive_search(levels: int, switches: int) -> None:
    """Of 200 settings, and of 16,000: the highest in 9 runs of 10."""
    space, hits = nested(levels, switches), 0
    everything = every_setting(domain_of(space))
    for seed in range(10):
        score, best = score_after(space, seed, 15)
        _, found = score.maximise(best, np.random.default_rng(seed))
        hits += found >= score.at(everything).max() - 1e-9
    assert hits >= 9


def test_the_optimum_of_a_small_space_is_found_as_often_as_by_exhaustive_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same runs with the score of all 240 settings computed, and with the search that serves larger spaces.

    20 trials, 4 seeds, the best setting of all met.
    """
    space = nested(12, 2)
    domain, value = domain_of(space), worth(space)
    top = value(every_setting(domain)).max()

    def runs() -> int:
        found = 0
        for seed in range(4):
            optimizer = qd.Optimizer(space, direction="maximize", seed=seed)
            best = -np.inf
            for _ in range(20):
                trial = optimizer.ask()
                y = float(value(domain.rounded(space.to_units([trial.params])))[0])
                optimizer.tell(trial, y)
                best = max(best, y)
            found += best >= top - 1e-12
        return found

    exhaustive = runs()
    monkeypatch.setattr(method, "FEW", 0)
    ours = runs()
    assert ours >= exhaustive
    assert ours >= 3
