"""CGP-UCB: the index by brute force, answers in a context, replays, and what is refused."""

from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess
from quadrat.kernels import Matern, OnAxes
from quadrat.methods.base import Axis, Domain, Observation
from quadrat.methods.surrogate import Learned
from quadrat.methods.ucb.cgp_ucb import CGPUCB, ContextModelSearch
from quadrat.methods.ucb.gp_ucb import Agnostic, Continuous, Finite

LINE = Domain((Axis(), Axis()), context=(1,))
CHOICE = Domain((Axis(), Axis((1 / 6, 0.5, 5 / 6), ordered=False)), context=(1,))
STATED = CGPUCB(kernel=Matern(2.5, 0.3), context_kernel=Matern(2.5, 0.5), noise=0.1, standardise=False, n_initial=3)
NONE = np.empty((0, 2))


def at(z: float) -> Array:
    return np.array([np.nan, z])


def f(x: Array) -> float:
    return float(np.sin(5 * x[0] + 3 * x[1]))


def played(
    method: CGPUCB, domain: Domain, contexts: list[float], *, look: bool = False
) -> tuple[ContextModelSearch, list[Array]]:
    search, points = method.start(domain, 7), []
    for number, z in enumerate(contexts):
        points.append(search.ask(number, NONE, at(z)).x)
        search.tell(Observation(number, points[-1], np.array([f(points[-1])])))
        if look:
            search.recommend(at(z))
            search.certificate(search.recommend(at(z)).x)
            search.explain()
    return search, points


@pytest.mark.parametrize("composition", ["product", "sum"])
def test_the_index_is_maximised_over_actions_in_the_context(composition: Any) -> None:
    """Equation 1 of Krause and Ong 2011 with the finite form of theorem 1, on a fine grid of actions."""
    method = CGPUCB(
        kernel=Matern(2.5, 0.3),
        context_kernel=Matern(2.5, 0.5),
        composition=composition,
        standardise=False,
        n_initial=3,
    )
    search, points = played(method, LINE, [0.1, 0.7, 0.4, 0.1, 0.9, 0.7])
    left, right = OnAxes(Matern(2.5, 0.3), [0]), OnAxes(Matern(2.5, 0.5), [1])
    gp = GaussianProcess(left * right if composition == "product" else left + right, noise_variance=0.01)
    gp.add(np.array(points), [f(x) for x in points])
    grid = np.column_stack([np.linspace(0, 1, 2001), np.full(2001, 0.25)])
    beta = 0.1 * 2 * log(1000 * 7**2 * pi**2 / 0.006)
    prediction = gp.predict(grid)
    index = prediction.mean + sqrt(beta) * prediction.deviation
    asked = search.ask(6, NONE, at(0.25)).x
    assert asked[1] == 0.25
    here = gp.predict(asked[None])
    assert float(here.mean[0] + sqrt(beta) * here.deviation[0]) >= index.max() - 1e-6


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        (Finite(arms=50), 2 * log(50 * 9 * pi**2 / 0.6)),
        (Continuous(a=2.0, b=1.5), 2 * log(9 * 2 * pi**2 / 0.3) + 4 * log(9 * 2 * 1.5 * sqrt(log(8 * 2 / 0.1)))),
        (Agnostic(norm_bound=2.0), 2 * 4 + 300 * 1.7 * log(30) ** 3),
    ],
)
def test_beta_of_theorem_1(form: Finite | Continuous | Agnostic, wanted: float) -> None:
    assert CGPUCB(form=form, delta=0.1, scale=1.0).beta(t=3, dimension=2, gain=1.7) == pytest.approx(wanted)


@pytest.mark.parametrize("domain", [LINE, CHOICE])
def test_asking_in_a_context_only_evaluates_that_context(domain: Domain) -> None:
    contexts = [1 / 6, 0.5, 5 / 6] * 4
    _, points = played(CGPUCB(), domain, contexts)
    assert [float(x[1]) for x in points] == contexts
    assert all(0 <= x[0] <= 1 for x in points)


def test_a_run_is_rebuilt_bit_for_bit_and_looking_changes_nothing() -> None:
    contexts = [1 / 6, 0.5, 5 / 6, 0.5] * 3
    search, points = played(CGPUCB(), CHOICE, contexts)
    again, same = played(CGPUCB(), CHOICE, contexts, look=True)
    np.testing.assert_array_equal(points, same)
    first, second = search.recommend(at(0.5)), again.recommend(at(0.5))
    np.testing.assert_array_equal(first.x, second.x)
    assert (first.value, first.interval, first.gain) == (second.value, second.interval, second.gain)


def test_pending_points_are_counted_and_not_asked_again() -> None:
    search, _ = played(STATED, LINE, [0.2, 0.5, 0.8, 0.5])
    pending = NONE
    for number in range(4, 8):
        x = search.ask(number, pending, at(0.5)).x
        assert not (pending == x).all(axis=1).any()
        pending = np.vstack([pending, x])
    assert np.ptp(pending[:, 0]) > 0.1
    elsewhere = np.column_stack([pending[:, 0], np.full(4, 0.2)])  # pending points have contexts of their own
    assert search.ask(9, elsewhere, at(0.5)).x[1] == 0.5


def test_what_is_learned_in_one_context_counts_in_others() -> None:
    """f does not depend on the context: after trials in two contexts, a third that was never seen is known too."""
    search = CGPUCB(noise=0.05).start(LINE, 0)
    for number in range(24):
        x = search.ask(number, NONE, at((0.1, 0.9)[number % 2])).x
        search.tell(Observation(number, x, np.array([-((x[0] - 0.3) ** 2) * 4])))
    got = search.recommend(at(0.5))
    assert got.x[1] == 0.5
    assert abs(got.x[0] - 0.3) < 0.08
    assert got.interval is not None
    assert got.interval[0] <= got.value <= got.interval[1]
    assert not got.certified
    assert got.gain is not None
    assert 0 <= got.gain.mean <= 0.3
    assert isinstance(search.certificate(search.recommend(at(0.5)).x), str)


def test_the_best_action_may_differ_between_choices() -> None:
    search = CGPUCB(noise=0.05).start(CHOICE, 0)
    peaks = {1 / 6: 0.2, 0.5: 0.8, 5 / 6: 0.5}
    for number in range(36):
        z = list(peaks)[number % 3]
        x = search.ask(number, NONE, at(z)).x
        search.tell(Observation(number, x, np.array([-((x[0] - peaks[z]) ** 2) * 4])))
    for z, peak in peaks.items():
        assert abs(search.recommend(at(z)).x[0] - peak) < 0.08


def test_the_recommended_point_has_the_highest_mean_of_its_slice() -> None:
    search, _ = played(STATED, LINE, [0.2, 0.5, 0.8] * 4)
    got = search.recommend(at(0.3))
    grid = np.column_stack([np.linspace(0, 1, 2001), np.full(2001, 0.3)])
    assert got.value >= search.model.posterior.predict_mean(grid).max() - 1e-6


def test_without_contexts_it_is_gp_ucb() -> None:
    search = CGPUCB().start(Domain.cube(2), 0)
    for number in range(12):
        x = search.ask(number, NONE).x
        search.tell(Observation(number, x, np.array([-float(((x - 0.4) ** 2).sum())])))
    assert abs(search.recommend().x - 0.4).max() < 0.2
    assert "kernel" in search.explain()


def test_replicates_and_standard_errors() -> None:
    search = STATED.start(LINE, 0)
    assert search.explain() == {"trials": 0}
    for number in range(6):
        x = search.ask(number, NONE, at(0.5)).x
        search.tell(Observation(number, x, np.array([0.1, 0.2]), variance=None if number % 2 else 0.01))
    assert np.isfinite(search.recommend(at(0.5)).value)
    assert search.model.trials == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"composition": "tensor"}, 'composition: expected "product" or "sum"'),
        ({"context_kernel": Matern(2.5, 0.3)}, "give both, or neither"),
        ({"kernel": Learned(), "context_kernel": Matern(2.5, 0.3)}, "give both, or neither"),
        ({"kernel": Matern(2.5, 0.3), "context_kernel": 3}, "context_kernel: expected a kernel or None"),
        ({"scale": -1.0}, "scale: expected a finite number > 0"),
        ({"delta": 1.0}, "delta: expected a probability"),
        ({"form": "infinite"}, "form: expected Finite"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        CGPUCB(**options)


def test_a_kernel_of_actions_alone_is_not_enough_in_contexts() -> None:
    with pytest.raises(InvalidInput, match="context_kernel: expected a kernel of the contexts"):
        CGPUCB(kernel=Matern(2.5, 0.3)).start(LINE, 0)
    with pytest.raises(InvalidInput, match="at least one parameter that is not a context"):
        CGPUCB().start(Domain((Axis(),), context=(0,)), 0)
