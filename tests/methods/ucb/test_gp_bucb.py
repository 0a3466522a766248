"""GP-BUCB: the multiplier, the information of pending points, the start, and what it is without pending points."""

from __future__ import annotations

from math import exp, sqrt
from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess, realised_gain
from quadrat.kernels import Matern
from quadrat.methods.base import Domain, Observation
from quadrat.methods.surrogate import ModelSearch
from quadrat.methods.ucb.gp_bucb import GPBUCB, BatchSearch, information_of
from quadrat.methods.ucb.gp_ucb import GPUCB, Agnostic, Finite
from quadrat.optimizer import FAILED, Optimizer
from quadrat.randomness import generator
from quadrat.space import Float, Space

KERNEL = Matern(2.5, 0.3)
NONE = np.empty((0, 2))


def value_of(x: Array) -> float:
    return float(np.sin(5 * x[0]) * np.cos(3 * x[1]))


def told_at_uniform_points(method: GPBUCB | GPUCB, n: int, seed: int = 0) -> ModelSearch:
    search = method.start(Domain.cube(2), seed)
    for number, x in enumerate(generator(seed, 70).random((n, 2))):
        search.tell(Observation(number, x, np.array([value_of(x)])))
    return search


# --- formulas


def test_information_is_what_the_told_and_the_pending_tell_less_what_the_told_tell() -> None:
    """I(f; y_P | y_T) = I(f; y_P, y_T) - I(f; y_T), from the two log-determinants; one pending point is there twice."""
    rng = generator(1)
    told, pending = rng.random((6, 2)), rng.random((4, 2))
    pending[3] = pending[0]
    gp = GaussianProcess(KERNEL, noise_variance=0.04)
    gp.add(told, np.zeros(6))
    both = realised_gain(KERNEL, np.vstack([told, pending]), 0.04).value
    wanted = both - realised_gain(KERNEL, told, 0.04).value
    assert information_of(gp, pending) == pytest.approx(wanted, rel=1e-9)
    assert information_of(gp, pending[:0]) == 0.0


@pytest.mark.parametrize("form", [Finite(arms=50), Agnostic(norm_bound=0.5)])
@pytest.mark.parametrize("information", [0.0, 0.7, None])
def test_the_bound_is_scaled_by_exp_of_c(information: float | None, form: Finite | Agnostic) -> None:
    """Theorem 1 of Desautels et al. 2014: beta_t = exp(2 C) alpha_t, alpha_t GP-UCB's after what was told."""
    method = GPBUCB(form=form, delta=0.1, scale=0.2, information=information, kernel=KERNEL)
    search = told_at_uniform_points(method, 7)
    pending = generator(2).random((3, 2))
    alpha = GPUCB(form=form, delta=0.1, scale=0.2).beta(8, 2, search.model.gain)
    gained = information_of(search.model.gp, pending)
    assert gained > 0.5
    c = gained if information is None else information
    root = exp(c) * sqrt(alpha)
    score, _ = method.score_with(search.model, gained)
    value, in_mean, in_deviation = score(np.array([0.3]), np.array([0.2]))
    assert value[0] == pytest.approx(0.3 + root * 0.2)
    assert (in_mean[0], in_deviation[0]) == (1.0, pytest.approx(root))
    assert method.score(search.model)[0](np.zeros(1), np.ones(1))[0][0] == pytest.approx(
        sqrt(alpha) * exp(information or 0.0)
    )


def test_it_asks_where_the_scaled_bound_is_highest_with_the_mean_of_the_told_alone() -> None:
    """Algorithm 1: mu from told data, sigma from told and pending; a grid of 10,000 has nothing higher."""
    method = GPBUCB(scale=0.2, information=0.5, kernel=KERNEL, standardise=False)
    search = told_at_uniform_points(method, 8)
    pending = np.array([[0.2, 0.1], [0.3, 0.9], [0.6, 0.4]])
    x = search.ask(8, pending).x
    side = np.linspace(0, 1, 100)
    grid = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    told, both = search.model.gp, GaussianProcess(KERNEL, noise_variance=0.01)
    both.add(np.vstack([told.x, pending]), np.zeros(11))
    root = exp(0.5) * sqrt(method.schedule.beta(9, 2, 0.0))

    def index(points: Array) -> Array:
        return np.asarray(told.predict(points).mean + root * both.predict(points).deviation)

    assert index(x[None, :])[0] >= index(grid).max() - 1e-9


# --- without pending points, and the start


def test_in_sequence_it_is_gp_ucb_bit_for_bit() -> None:
    runs = []
    for method in (GPBUCB(scale=0.2, information=None), GPUCB(scale=0.2)):
        search, points = method.start(Domain.cube(2), 3), []
        for number in range(8):
            points.append(search.ask(number, NONE).x)
            search.tell(Observation(number, points[-1], np.array([value_of(points[-1])])))
        runs.append(np.array(points))
    np.testing.assert_array_equal(runs[0], runs[1])


def test_uncertain_points_come_after_the_uniform_ones_wherever_values_are() -> None:
    """The next `n_uncertain` points do not depend on values, pending or told, and have the largest deviation."""
    method = GPBUCB(kernel=KERNEL, n_initial=3, n_uncertain=4, standardise=False)
    points = []
    for sign in (1.0, -2.0):
        search = method.start(Domain.cube(2), 5)
        for number in range(3):
            x = search.ask(number, NONE).x
            search.tell(Observation(number, x, np.array([sign * value_of(x)])))
        pending: list[Array] = []
        for number in range(3, 8):
            asked = search.ask(number, np.array(pending).reshape(-1, 2))
            assert ("largest deviation" in asked.why) == (number < 7)
            with search.model.pending(np.array(pending).reshape(-1, 2)) as gp:
                side = np.linspace(0, 1, 41)
                grid = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
                if number < 7:
                    assert gp.predict(asked.x[None]).deviation[0] >= gp.predict(grid).deviation.max() - 1e-6
            pending.append(asked.x)
        points.append(np.array(pending))
    np.testing.assert_array_equal(points[0][:4], points[1][:4])
    assert not np.array_equal(points[0][4], points[1][4])


# --- through the optimizer


@pytest.mark.parametrize("options", [{}, {"information": None, "n_uncertain": 3}], ids=str)
def test_batches_through_the_optimizer_differ_and_are_rebuilt(options: dict[str, Any]) -> None:
    space = Space(x=Float(0, 1), y=Float(1e-3, 1e3, log=True))
    optimizer = Optimizer(space, direction="maximize", method=GPBUCB(**options), seed=4)
    for batch in range(3):
        pending = [optimizer.ask() for _ in range(5)]
        assert len({tuple(trial.params.values()) for trial in pending}) == 5
        for trial in reversed(pending):
            failed = trial.number % 5 == 3
            optimizer.tell(trial, FAILED if failed else value_of(space.to_unit(trial.params)) + 0.01 * batch)
    optimizer.ask()
    rebuilt = Optimizer.from_state(space, optimizer.state(), method=optimizer.method)
    assert rebuilt.trials == optimizer.trials
    assert rebuilt.recommend() == optimizer.recommend()
    assert rebuilt.ask() == optimizer.ask()


def test_many_failures_leave_numbers_finite() -> None:
    """Failed points count as pending for ever; the information of hundreds must not overflow."""
    search = told_at_uniform_points(GPBUCB(information=None, kernel=KERNEL), 6)
    assert isinstance(search, BatchSearch)
    x = search.ask(6, generator(6).random((300, 2))).x
    assert ((x >= 0) & (x <= 1)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "infinite"}, "form: expected Finite"),
        ({"delta": 1.0}, "delta: expected a probability"),
        ({"scale": 0.0}, "scale: expected a finite number > 0"),
        ({"information": -0.1}, "information: expected"),
        ({"n_uncertain": -1}, "n_uncertain: expected"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        GPBUCB(**options)


def test_forms_by_name() -> None:
    assert GPBUCB(form="agnostic").form == Agnostic()


def test_failed_trials_tell_nothing_and_are_not_waited_for() -> None:
    """With C the information of pending points: what failed is avoided, but no information of it is pending."""

    def multiplier(why: str) -> str:
        return why.partition("sqrt(beta) = ")[2].split()[0]

    search = GPBUCB(information=None, n_initial=3, scale=0.2).start(Domain.cube(1), 0)
    for i, x in enumerate((0.1, 0.5, 0.9)):
        search.tell(Observation(i, np.array([x]), np.array([x])))
    failed = np.array([[0.3], [0.7]])
    before = search.ask(3, np.empty((0, 1))).why
    for row in failed:
        search.fail(3, row)
    assert multiplier(search.ask(3, failed).why) == multiplier(before)
    assert multiplier(search.ask(4, np.vstack([failed, [[0.6]]])).why) != multiplier(before)
