"""Measured constraints: their chance against its formula, what the default method makes of it, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

import quadrat.methods.auto.acquisition as module
from quadrat._core.arrays import Array
from quadrat._core.nearest import nearest
from quadrat.loop import minimize
from quadrat.methods.auto.acquisition import DEVIATION_FACTOR, log_improvement
from quadrat.methods.auto.feasibility import Chances, Constraints
from quadrat.methods.auto.method import Auto, AutoSearch
from quadrat.methods.auto.surrogate import OF_CONSTRAINTS, USUAL
from quadrat.methods.base import Domain, Observation
from quadrat.optimizer import Measured, Optimizer
from quadrat.space import Categorical, Float, Int, Space

NONE = np.empty((0, 2))
PLANE = Space(x=Float(0, 1), y=Float(0, 1))
GRID = np.stack(np.meshgrid(*[np.linspace(0, 1, 21)] * 2), -1).reshape(-1, 2)


def slanted(x: Array) -> float:
    """Holds on one side of a curve through the square."""
    return float(x[0] + 0.5 * np.sin(3 * x[1]) - 0.7)


def near_the_left(x: Array) -> float:
    return float(100 * (x[0] - 0.6))


def never(x: Array) -> float:
    """Holds nowhere; nearest to it in a corner."""
    return float(2.0 - x[0] - 0.9 * x[1])


def constraints_after(*functions: Callable[[Array], float], n: int = 12, noise: float = 0.0) -> Constraints:
    rng = np.random.default_rng(n)
    constraints = Constraints(Domain.cube(2), 0, 5)
    for number, x in enumerate(rng.random((n, 2))):
        values = tuple(function(x) + noise * rng.normal() for function in functions)
        constraints.tell([Observation(number, x, np.array([0.0]), constraints=values)])
    return constraints


def trials(n: int, *functions: Callable[[Array], float], untold: int = 0) -> list[Observation]:
    """At uniform points; f rises to the right, where the constraints do not hold. The first few without constraints."""
    points = np.random.default_rng(n).random((n, 2))
    return [
        Observation(
            i, x, np.array([np.sin(2 * x[0]) + 0.3 * x[1]]), None, tuple(c(x) for c in functions) if i >= untold else ()
        )
        for i, x in enumerate(points)
    ]


def search_after(history: list[Observation]) -> AutoSearch:
    search = Auto().start(Domain.cube(2), 0)
    for trial in history:
        search.tell(trial)
    return search


def slope_by_differences(function: Callable[[Array], Array], points: Array, axis: int, step: float = 1e-3) -> Array:
    """Central differences, extrapolated from two steps: these may be wide, so that steep functions lose no digits."""
    move = np.eye(points.shape[1])[axis]

    def central(width: float) -> Array:
        return (function(points + width * move) - function(points - width * move)) / (2 * width)

    return (4 * central(step / 2) - central(step)) / 3


# --- the chance


def test_without_constraints_every_chance_is_one() -> None:
    constraints = Constraints(Domain.cube(2), 0, 5)
    constraints.tell([Observation(0, np.array([0.5, 0.5]), np.array([1.0]))])
    chances = constraints.current()
    assert chances == Chances()
    assert chances.log_chance(GRID).tolist() == [0.0] * len(GRID)
    value, slope = chances.slope(GRID)
    assert not value.any()
    assert slope.shape == GRID.shape
    assert not slope.any()
    assert chances.held(GRID).all()
    assert chances.feasibility(GRID[0]) is None
    assert constraints.explain() == []
    values = np.array([1.0, 3.0, 2.0, 3.0])
    assert chances.order(values, GRID[:4]).tolist() == [1, 3, 2, 0]


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_the_log_chance_is_the_sum_of_averaged_normal_tails_below_zero_in_the_units_told(noise: float) -> None:
    """Means and deviations of each constraint under each sample, in its units; the limit there is 0."""
    constraints = constraints_after(slanted, near_the_left, noise=noise)
    wanted = np.zeros(len(GRID))
    for model in constraints._models:
        fitted = model.current()
        shift, scale = fitted.transform.shift, fitted.transform.scale
        assert len(fitted.ensemble) == OF_CONSTRAINTS
        at = fitted.ensemble.predict(GRID)
        each = norm.logcdf(0.0, loc=shift + scale * at.mean, scale=scale * at.deviation)
        wanted += logsumexp(each, axis=0) - np.log(OF_CONSTRAINTS)
    chances = constraints.current()
    np.testing.assert_allclose(chances.log_chance(GRID), wanted, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(chances.slope(GRID)[0], wanted, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(chances.held(GRID), np.exp(wanted) >= 0.5)
    assert chances.feasibility(GRID[7]) == pytest.approx(np.exp(wanted[7]), rel=1e-9)
    assert 0 < chances.held(GRID).sum() < len(GRID)


def test_the_slope_of_the_averaged_chance_equals_finite_differences() -> None:
    (model,) = constraints_after(slanted, n=8, noise=0.1)._models
    fitted = model.current()
    limit = float(fitted.transform.apply(np.array(0.0)))
    at = fitted.ensemble.predict(GRID)
    wanted = norm.cdf((limit - at.mean) / at.deviation).mean(axis=0)
    chances = Chances(((fitted.ensemble, limit),))
    np.testing.assert_allclose(np.exp(chances.log_chance(GRID)), wanted, rtol=1e-9)
    value, slope = chances.slope(GRID)
    np.testing.assert_allclose(np.exp(value), wanted, rtol=1e-6)
    for axis in range(2):
        numeric = slope_by_differences(chances.log_chance, GRID, axis)
        np.testing.assert_allclose(slope[:, axis], numeric, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("functions", [(slanted,), (slanted, near_the_left), (never, never, slanted)], ids=len)
def test_the_slope_equals_finite_differences(functions: tuple[Callable[[Array], float], ...]) -> None:
    """At points where all hold, where none does, and far from both; values told with noise, or beliefs are cliffs."""
    chances, query = constraints_after(*functions, noise=0.1).current(), np.random.default_rng(2).random((30, 2))
    value, slope = chances.slope(query)
    assert value.min() < -5
    for axis in range(2):
        numeric = slope_by_differences(chances.log_chance, query, axis)
        np.testing.assert_allclose(slope[:, axis], numeric, rtol=5e-3, atol=1e-3)


def test_the_chance_is_right_where_enough_was_told() -> None:
    """40 noiseless values each: wrong at no point of the grid that is farther than 0.05 from either limit."""
    held = constraints_after(slanted, near_the_left, n=40).current().held(GRID)
    margins = np.array([[slanted(x), near_the_left(x) / 100] for x in GRID])
    clear = np.abs(margins).min(axis=1) > 0.05
    assert clear.sum() > 300
    np.testing.assert_array_equal(held[clear], margins[clear].max(axis=1) <= 0)


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1e200])
def test_units_do_not_matter(unit: float) -> None:
    plain = constraints_after(slanted).current().log_chance(GRID)
    scaled = constraints_after(lambda x: unit * slanted(x)).current().log_chance(GRID)
    np.testing.assert_allclose(scaled, plain, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("value", [-3.0, 0.0, 3.0])
def test_a_constraint_that_never_changes(value: float) -> None:
    """Believed where it was told, and finite everywhere."""
    constraints = constraints_after(lambda _: value)
    points = constraints._models[0].x
    chances = constraints.current()
    assert chances.held(points).all() == (value <= 0)
    assert chances.held(points).any() == (value <= 0)
    assert np.isfinite(chances.slope(GRID)[0]).all()
    assert np.isfinite(chances.slope(GRID)[1]).all()


def told_points_are_classified(function: Callable[[Array], float], n: int = 40) -> float:
    """The share of told points of which it is believed rightly whether the constraint holds."""
    constraints = constraints_after(function, n=n)
    x = constraints._models[0].x
    truth = np.array([function(point) <= 0 for point in x])
    assert truth.any()
    assert not truth.all()
    return float((constraints.current().held(x) == truth).mean())


@pytest.mark.parametrize(
    "floored", [lambda x: max(0.0, slanted(x)), lambda x: float(slanted(x) > 0), lambda x: 3.0 * (slanted(x) > 0)]
)
def test_counts_and_excesses_that_are_zero_where_the_constraint_holds(floored: Callable[[Array], float]) -> None:
    """Taken as they are, they would be believed with a chance near one half, and some 15 % would be judged wrongly."""
    assert told_points_are_classified(floored) >= 0.95


@pytest.mark.parametrize("far", [1e3, 1e6, 1e300])
def test_a_few_values_far_out_do_not_drown_the_others(far: float) -> None:
    assert told_points_are_classified(lambda x: far if x[1] > 0.9 else slanted(x)) >= 0.95


def test_trials_without_constraints_say_nothing_and_later_ones_count_alone() -> None:
    some, all_told = search_after(trials(10, slanted, untold=4)), Constraints(Domain.cube(2), 0, 5)
    all_told.tell(trials(10, slanted)[4:])
    np.testing.assert_array_equal(some.constraints.current().log_chance(GRID), all_told.current().log_chance(GRID))


def test_order_puts_what_is_believed_first_by_value_and_the_others_by_chance() -> None:
    chances, query = constraints_after(slanted).current(), np.random.default_rng(5).random((12, 2))
    chance, values = chances.log_chance(query), np.random.default_rng(6).normal(size=12)
    held = np.exp(chance) >= 0.5
    order = chances.order(values, query)
    assert sorted(order) == list(range(12))
    first, rest = order[: held.sum()], order[held.sum() :]
    assert held[first].all()
    assert len(first)
    assert len(rest)
    assert (np.diff(values[first]) <= 0).all()
    assert (np.diff(chance[rest]) <= 0).all()


def test_what_runs_is_expected_at_its_mean() -> None:
    """There the belief, whichever it is, becomes certain; elsewhere means stay."""
    chances, query = constraints_after(slanted, n=12, noise=0.1).current(), np.array([[0.15, 0.5], [0.9, 0.5]])
    before, after = np.exp(chances.log_chance(query)), np.exp(chances.believing(query).log_chance(query))
    assert before[0] > 0.5 > before[1]
    assert after[0] > max(before[0], 0.999)
    assert after[1] < min(before[1], 0.001)
    one, other = (each.surrogates[0][0].predict(GRID).mean for each in (chances, chances.believing(query)))
    np.testing.assert_allclose(one, other, atol=1e-9)


# --- the score


def score_of(search: AutoSearch, number: int, pending: Array, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the search would maximise."""
    seen: list[Any] = []

    def maximise(self: object, best: Array, rng: np.random.Generator, box: object) -> tuple[Array, float]:
        seen.append((self, best))
        return best[0], 0.0

    with monkeypatch.context() as patch:
        patch.setattr(module.AutoAcquisition, "maximise", maximise)
        search.ask(number, pending)
    return seen[0]


def assert_slope(score: Any, query: Array) -> None:
    value, slope = score.slope(query)
    np.testing.assert_allclose(value, score.at(query), rtol=1e-9)
    for axis in range(2):
        numeric = slope_by_differences(score.at, query, axis)
        np.testing.assert_allclose(slope[:, axis], numeric, rtol=1e-3, atol=1e-3)


def test_the_score_is_log_improvement_upon_the_best_that_is_believed_plus_log_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    history, query = trials(12, slanted, near_the_left), np.random.default_rng(3).random((20, 2))
    search = search_after(history)
    score, best = score_of(search, 12, NONE, monkeypatch)
    ensemble = search.model.current().ensemble
    x, chances = search.model.x, search.constraints.current()
    means, held = ensemble.predict(x).mean, chances.held(x)
    assert means[:, ~held].max() > means[:, held].max(), "the unconstrained target would be another one"
    np.testing.assert_array_equal(score.target, means[:, held].max(axis=1))
    wanted = log_improvement(ensemble.predict(query).wider(DEVIATION_FACTOR), score.target)[0] + chances.log_chance(
        query
    )
    np.testing.assert_allclose(score.at(query), wanted, rtol=1e-9)
    assert_slope(score, query)
    assert held[[int(np.argmax((x == point).all(axis=1))) for point in best[: held.sum()]]].all()


def test_where_nothing_is_believed_the_chance_alone_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    search, query = search_after(trials(12, never, slanted)), np.random.default_rng(3).random((20, 2))
    score, best = score_of(search, 12, NONE, monkeypatch)
    chances = search.constraints.current()
    np.testing.assert_array_equal(score.at(query), chances.log_chance(query))
    assert_slope(score, query)
    x = search.model.x
    np.testing.assert_array_equal(best, x[np.argsort(-chances.log_chance(x))[:4]])
    assert "largest log chance that the constraints hold" in search.ask(12, NONE).why
    assert "improvement" in search_after(trials(12, slanted)).ask(12, NONE).why


def test_a_pending_point_that_is_believed_is_to_be_improved_upon(monkeypatch: pytest.MonkeyPatch) -> None:
    """One where the constraint is believed to hold and one where it is not, both expected above all told ones."""
    search = search_after(trials(12, slanted))
    ensemble = search.model.current().ensemble
    chances = search.constraints.current()
    before = score_of(search, 12, NONE, monkeypatch)[0].target
    mean, held = ensemble.predict(GRID).mean.mean(axis=0), chances.held(GRID)
    good, bad = (GRID[[int(np.argmax(np.where(where, mean, -np.inf)))]] for where in (held, ~held))
    assert ensemble.predict(good).mean.mean() > before.mean()
    assert ensemble.predict(bad).mean.mean() > before.mean()
    np.testing.assert_array_equal(score_of(search, 12, bad, monkeypatch)[0].target, before)
    got = score_of(search, 12, np.vstack([good, bad]), monkeypatch)[0].target
    np.testing.assert_allclose(got, np.maximum(before, ensemble.predict(good).mean[:, 0]), rtol=1e-9)


@pytest.mark.parametrize("function", [never, slanted], ids=["chance alone", "improvement"])
def test_a_batch_of_four_is_four_points(function: Callable[[Array], float]) -> None:
    search, pending = search_after(trials(10, function)), NONE
    for number in range(10, 14):
        pending = np.vstack([pending, search.ask(number, pending).x[None, :]])
    gaps = np.linalg.norm(pending[:, None] - pending[None], axis=2)[np.triu_indices(4, 1)]
    assert gaps.min() > 5e-3


def test_asking_and_looking_leave_no_trace() -> None:
    asked, history = Auto().start(Domain.cube(2), 0), trials(9, slanted, near_the_left)
    for number, trial in enumerate(history):
        asked.ask(number, np.random.default_rng(number).random((number % 3, 2)))
        asked.tell(trial)
        asked.recommend()
        asked.explain()
    blind, pending = search_after(history), np.array([[0.2, 0.3]])
    np.testing.assert_array_equal(asked.ask(9, pending).x, blind.ask(9, pending).x)
    one, other = asked.recommend(), blind.recommend()
    assert (one.value, one.interval, one.gain, one.feasibility) == (
        other.value,
        other.interval,
        other.gain,
        other.feasibility,
    )


# --- the recommendation


def test_the_recommended_point_is_the_best_of_those_that_are_believed() -> None:
    search = search_after(trials(14, slanted, near_the_left))
    x, chances = search.model.x, search.constraints.current()
    mean, held = search.model.stated().ensemble.predict(x).mixture()[0], chances.held(x)
    incumbent = search.recommend()
    assert not held[int(np.argmax(mean))], "without constraints it would be another one"
    np.testing.assert_array_equal(incumbent.x, x[held][int(np.argmax(mean[held]))])
    assert incumbent.feasibility is not None
    assert 0.5 <= incumbent.feasibility <= 1
    assert incumbent.gain is not None
    free = search_after([Observation(t.number, t.x, t.values) for t in trials(14)]).recommend()
    assert free.feasibility is None
    rows = search.explain()["constraints"]
    assert isinstance(rows, list)
    assert [set(row) for row in rows] == [{"learned from", "chances of smoothness", "samples", "shift", "scale"}] * 2


def test_of_what_is_believed_a_point_that_was_told_otherwise_comes_last() -> None:
    """One reading above the limit among many below, at the best point: believed, but another point is to be had."""
    history = [Observation(i, t.x, t.values, None, (-1.0,)) for i, t in enumerate(trials(12))]
    best = int(np.argmax([t.values[0] for t in history]))
    history[best] = Observation(best, history[best].x, history[best].values, None, (0.02,))
    search = search_after(history)
    x, chances = search.model.x, search.constraints.current()
    assert search.constraints.violated(x).tolist() == [i == best for i in range(12)]
    assert chances.order(history[best].values[0] - np.arange(12.0), x, np.arange(12) < 3)[0] == 3
    assert not np.array_equal(search.recommend().x, x[best])
    search.tell(Observation(12, x[best], history[best].values, None, (-0.05,)))  # on average it holds there
    assert not search.constraints.violated(x).any()
    assert not search.constraints.violated(GRID).any()


def test_where_nothing_is_believed_it_has_the_largest_chance_and_no_gain() -> None:
    search = search_after(trials(14, never))
    x = search.model.x
    incumbent = search.recommend()
    np.testing.assert_array_equal(incumbent.x, x[int(np.argmax(search.constraints.current().log_chance(x)))])
    assert incumbent.feasibility is not None
    assert incumbent.feasibility < 0.5
    assert incumbent.gain is None


def test_what_could_be_gained_where_the_constraint_does_not_hold_does_not_count() -> None:
    """f rises with x, which may not exceed 0.6: after trials up to the limit nothing is left, beyond it there is."""
    points = np.stack(np.meshgrid(np.linspace(0, 0.6, 7), [0.0, 0.5, 1.0]), -1).reshape(-1, 2)
    rising = [Observation(i, x, x[:1]) for i, x in enumerate(points)]
    told = [Observation(t.number, t.x, t.values, constraints=(t.x[0] - 0.6,)) for t in rising]
    free, bound = (search_after(trials).recommend().gain for trials in (rising, told))
    assert free is not None
    assert bound is not None
    assert free.mean > 0.2
    assert bound.mean < 0.05


# --- whole runs


def on_integers_and_choices(params: dict[str, Any]) -> Measured:
    """Best at kind b, n = 6, which takes 8.5 of 7: n = 4 is the most that b may have, and a may have 6 for less."""
    used = params["n"] + {"a": 0.5, "b": 2.5, "c": 9.0}[params["kind"]] + 0.1 * params["x"]
    value = params["n"] + {"a": 0.0, "b": 1.5, "c": 3.0}[params["kind"]] - params["x"] ** 2
    return Measured(-value, {"memory": used - 7.0, "errors": float(params["n"] == 5)})


def test_integers_choices_and_a_count() -> None:
    space = Space(x=Float(-1, 1), n=Int(1, 8), kind=Categorical(["a", "b", "c"]))
    result = minimize(on_integers_and_choices, space, n_trials=30, seed=0)
    assert (result.params["n"], result.params["kind"]) == (6, "a")
    assert result.best_seen.feasible is True
    assert result.value == pytest.approx(-6.0, abs=0.05)


def test_a_known_constraint_beside_a_measured_one() -> None:
    """Where the known one forbids almost all, what is drawn to estimate the gain may be nothing."""
    space = PLANE.subject_to(lambda params: abs(params["x"] - 0.5) < 0.01)
    optimizer = Optimizer(space, direction="maximize", seed=0)
    for _ in range(9):
        trial = optimizer.ask()
        optimizer.tell(trial, trial.params["y"], constraints={"c": trial.params["y"] - 0.4})
    got = optimizer.recommend()
    assert abs(got.params["x"] - 0.5) < 0.01
    assert got.params["y"] <= 0.4


def test_a_small_feasible_region_is_found() -> None:
    """0.8 % of the square: among 25 uniform points some are inside with a chance of 18 %."""
    for seed in range(2):
        optimizer = Optimizer(PLANE, direction="minimize", seed=seed)
        for _ in range(25):
            trial = optimizer.ask()
            distance = float(np.hypot(trial.params["x"] - 0.83, trial.params["y"] - 0.21))
            optimizer.tell(trial, trial.params["x"], constraints={"distance": distance - 0.05})
            best = optimizer.best_seen
            if best is not None and best.feasible:
                break
        assert best is not None
        assert best.feasible, seed


TOP = np.array([0.7, 0.6])
RADIUS, CENTRE = 0.2, np.array([0.3, 0.3])
"""The bowl's bottom, outside of the disc where the constraint holds; the best inside is on the line between them."""
BEST = float(np.linalg.norm(TOP - CENTRE) - RADIUS) ** 2


def bowl(x: Array) -> float:
    return float(((x - TOP) ** 2).sum())


def outside(x: Array) -> float:
    return float(np.linalg.norm(x - CENTRE) - RADIUS)


def regret_of_random_search(seed: int, n: int = 40) -> float:
    """Of the best of n uniform points where the constraint holds, noise-free; what all may cost where there is none."""
    points = np.random.default_rng(seed).random((n, 2))
    return min([bowl(x) for x in points if outside(x) <= 0], default=1.0) - BEST


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_bowl_whose_bottom_is_not_allowed(seed: int) -> None:
    """40 trials, noise of sd 0.005 on f and on the constraint; f is 0.09 at the constrained optimum, up to 0.85 around.

    Recommended is a point that meets the constraint up to two deviations of its noise, and that is better by far than
    the best of 40 uniform points in the middle of 15 runs, noise-free.
    """
    rng = np.random.default_rng(seed)

    def objective(params: dict[str, Any]) -> Measured:
        x = np.array([params["x"], params["y"]])
        return Measured(bowl(x) + 0.005 * rng.normal(), {"outside": outside(x) + 0.005 * rng.normal()})

    result = minimize(objective, PLANE, n_trials=40, seed=seed)
    x = np.array([result.params["x"], result.params["y"]])
    assert outside(x) <= 0.01
    assert abs(bowl(x) - BEST) < 0.1 * np.median([regret_of_random_search(other) for other in range(15)])
    assert result.estimated_feasibility is not None
    assert result.estimated_feasibility >= 0.5


def test_a_promising_point_that_still_runs_is_no_reason_to_look_again_at_others() -> None:
    """Nothing evaluated is believed to meet the constraint, but what runs is: there is no point to repeat."""
    rng = np.random.default_rng(0)
    search = Auto().start(Domain.cube(2), 0)
    for number in range(12):
        x = 0.8 * rng.random(2)
        search.tell(Observation(number, x, np.array([x[1]]), constraints=(0.85 - x[0],)))
    proposal = search.ask(12, np.array([[0.98, 0.5]]))
    assert "second look" not in proposal.why


# --- near a place


def test_near_a_place_the_nearest_trials_count_alone() -> None:
    """As if no others had been told, up to how far a value counts, and learned afresh with one kernel."""
    constraints, centre, sides = Constraints(Domain.cube(2), 0, 41), np.array([0.5, 0.5]), np.array([0.3, 0.6])
    for number, x in enumerate(np.random.default_rng(40).random((40, 2))):
        constraints.tell([Observation(number, x, np.array([0.0]), constraints=(slanted(x), near_the_left(x)))])
    near = constraints.near(centre, sides, 25)
    for model, full in zip(near._models, constraints._models, strict=True):
        rows = nearest(full.places, centre, sides, 25)
        np.testing.assert_array_equal(model.x, full.x[rows])
        np.testing.assert_array_equal(model.y, full.y[rows])
        assert model.current().fit.kernels == USUAL
    held, margins = near.current().held(GRID), np.array([[slanted(x), near_the_left(x) / 100] for x in GRID])
    clear = (np.abs(margins).min(axis=1) > 0.05) & ((np.abs(GRID - centre) < sides).all(axis=1))
    assert clear.sum() > 80
    np.testing.assert_array_equal(held[clear], margins[clear].max(axis=1) <= 0)


def test_near_a_place_values_count_as_far_as_in_the_run() -> None:
    """The trials near the limit come last, and none of them says how large a value is: 0.3 above is no 0.005 above."""
    constraints, rng = Constraints(Domain.cube(2), 0, 5), np.random.default_rng(0)
    along = np.concatenate([0.3 * rng.random(6), 0.6 + 1e-3 * rng.normal(size=20), [0.8]])
    for number, x in enumerate(np.column_stack([along, rng.random(27)])):
        constraints.tell([Observation(number, x, np.array([0.0]), constraints=(float(x[0]) - 0.6,))])
    near = constraints.near(np.array([0.6, 0.5]), np.array([0.3, 10.0]), 21)
    assert near._models[0].x[:, 0].min() > 0.5, "the first few are far away"
    assert near._models[0].y.max() == pytest.approx(0.2)
    held = near.current().held(np.array([[0.5, 0.5], [0.7, 0.5], [0.9, 0.5], [0.99, 0.5]]))
    assert held.tolist() == [True, False, False, False]


def test_near_a_place_what_was_told_exactly_there_is_still_known() -> None:
    constraints = constraints_after(slanted, n=8)
    points = constraints._models[0].x
    near = constraints.near(np.full(2, 0.5), np.ones(2), 5)
    np.testing.assert_array_equal(near.violated(points), constraints.violated(points))
    assert near.violated(points).any()


def test_without_constraints_there_is_nothing_near() -> None:
    constraints = Constraints(Domain.cube(2), 0, 5)
    assert constraints.near(np.full(2, 0.5), np.ones(2), 5).current() == Chances()
