from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.methods.base import Axis, Domain, Observation
from quadrat.methods.ucb.ucb1 import UCB1, UCB1Search
from quadrat.optimizer import FAILED, Optimizer
from quadrat.space import Categorical, Float, Int, Space

NONE = np.empty((0, 1))
FOUR = Domain((Axis((0.125, 0.375, 0.625, 0.875), ordered=False),))
ARMS = np.array([[0.125], [0.375], [0.625], [0.875]])


def told(search: UCB1Search, *rewards: tuple[int, float]) -> None:
    for number, (arm, value) in enumerate(rewards):
        search.tell(Observation(number, ARMS[arm], np.array([value])))


def test_every_arm_is_pulled_once_in_an_order_of_the_seed() -> None:
    orders = []
    for seed in range(4):
        search = UCB1().start(FOUR, seed)
        order: list[float] = []
        for number in range(4):
            x = search.ask(number, NONE).x
            order.append(float(x[0]))
            search.tell(Observation(number, x, np.array([0.5])))
        assert sorted(order) == ARMS[:, 0].tolist()
        orders.append(tuple(order))
    assert len(set(orders)) > 1


@pytest.mark.parametrize("noise", [0.5, 2.0])
def test_the_index_of_figure_1(noise: float) -> None:
    """mean_j + sqrt(2 ln n / n_j) for sigma = 1/2 (Auer et al. 2002, figure 1); 2 sigma times that width otherwise."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        search = UCB1(noise=noise).start(FOUR, 0)
        rewards = [(arm, float(rng.random())) for arm in [0, 1, 2, 3, *rng.integers(4, size=12).tolist()]]
        told(search, *rewards)
        index = []
        for arm in range(4):
            mine = [value for pulled, value in rewards if pulled == arm]
            index.append(float(np.mean(mine)) + 2 * noise * sqrt(2 * log(16) / len(mine)))
        assert search.ask(16, NONE).x.tolist() == ARMS[int(np.argmax(index))].tolist()
        assert f"({max(index):.4g})" in search.ask(16, NONE).why


def test_ties_are_broken_by_the_seed() -> None:
    chosen = set()
    for seed in range(20):
        search = UCB1().start(FOUR, seed)
        told(search, (0, 0.5), (1, 0.5), (2, 0.5), (3, 0.0))
        x = search.ask(4, NONE).x
        assert x.tolist() == search.ask(4, NONE).x.tolist()
        chosen.add(float(x[0]))
    assert chosen == {0.125, 0.375, 0.625}


def test_pending_points_count_as_pulled() -> None:
    search = UCB1().start(FOUR, 0)
    pending = NONE
    for number in range(4):
        pending = np.vstack([pending, search.ask(number, pending).x])
    assert sorted(pending[:, 0].tolist()) == ARMS[:, 0].tolist()
    told(search, (0, 0.6), (1, 0.55), (2, 0.1), (3, 0.1))
    first = search.ask(4, NONE).x
    second = search.ask(5, first[None, :]).x
    assert (first.tolist(), second.tolist()) == ([0.125], [0.375])
    assert search.ask(6, NONE).x.tolist() == [0.125]  # nothing of it was kept


def test_replicates_and_standard_errors_count_as_what_they_are_worth() -> None:
    one, many = UCB1().start(FOUR, 0), UCB1().start(FOUR, 0)
    told(one, *[(0, 0.2), (0, 0.4), (1, 0.5)])
    many.tell(Observation(0, ARMS[0], np.array([0.2, 0.4])))
    many.tell(Observation(1, ARMS[1], np.array([0.5]), variance=0.25))  # sigma^2: one pull
    assert one.explain() == many.explain()
    exact = UCB1().start(FOUR, 0)
    for arm in range(4):
        exact.tell(Observation(arm, ARMS[arm], np.array([0.1 * arm]), variance=0.0))
    assert exact.ask(4, NONE).x.tolist() == ARMS[3].tolist()


def test_it_recommends_the_highest_mean() -> None:
    search = UCB1().start(FOUR, 0)
    told(search, (0, 1.0), (0, 0.0), (2, 0.6), (2, 0.7))
    incumbent = search.recommend()
    assert incumbent.x.tolist() == ARMS[2].tolist()
    assert incumbent.value == pytest.approx(0.65)
    assert incumbent.interval is None


def test_a_point_that_is_no_arm_changes_nothing() -> None:
    domain = Domain(FOUR.axes, feasible=lambda points: points[:, 0] < 0.8)
    search = UCB1().start(domain, 0)
    search.tell(Observation(0, ARMS[3], np.array([9.0])))
    assert search.recommend().value == 9.0
    search.tell(Observation(1, ARMS[0], np.array([0.5])))
    assert search.recommend().x.tolist() == ARMS[0].tolist()
    assert search.explain()["arms"] == 3


def test_the_bound_of_theorem_1_by_hand() -> None:
    gaps = [0.0, 0.5, 0.25]
    wanted = 8 * log(50) * (2 + 4) + (1 + pi**2 / 3) * 0.75
    assert UCB1().regret_bound(gaps, 50) == pytest.approx(wanted)
    assert UCB1(noise=1.0).regret_bound(gaps, 50) == pytest.approx(4 * 8 * log(50) * 6 + (1 + pi**2 / 3) * 0.75)
    with pytest.raises(InvalidInput, match="gaps: expected distances"):
        UCB1().regret_bound([0.1, 0.2], 50)


def test_through_the_optimizer_it_finds_the_best_choice() -> None:
    space = Space(kind=Categorical(["a", "b", "c"]), n=Int(1, 3), deep=Int(1, 2, when={"kind": "a"}))
    optimizer = Optimizer(space, direction="minimize", method=UCB1(noise=0.05), seed=1)
    for _ in range(60):
        trial = optimizer.ask()
        optimizer.tell(trial, abs(trial.params["n"] - 2) + (trial.params["kind"] != "b"))
    assert optimizer.recommend().params == {"kind": "b", "n": 2}
    search: Any = optimizer.explain()["search"]
    assert search["arms"] == 12  # "a" has six, the others three each


def test_refusals() -> None:
    with pytest.raises(InvalidInput, match=r"expected finitely many points .* use GPUCB or Auto"):
        UCB1().start(Domain.cube(2), 0)
    with pytest.raises(InvalidInput, match=r"got 'x', which is continuous .* use GPUCB or Auto"):
        Optimizer(Space(n=Int(1, 3), x=Float(0, 1)), direction="maximize", method=UCB1(), seed=0)
    with pytest.raises(InvalidInput, match="noise: expected a finite number > 0"):
        UCB1(noise=0.0)


def test_a_rebuilt_search_is_the_same() -> None:
    rewards = [(int(arm), float(value)) for arm, value in zip([0, 2, 1, 3, 3, 1], np.linspace(0, 1, 6), strict=True)]
    first, again = UCB1().start(FOUR, 7), UCB1().start(FOUR, 7)
    for number, (arm, value) in enumerate(rewards):
        first.ask(number, NONE)
        first.recommend() if number else None
        for search in (first, again):
            search.tell(Observation(number, ARMS[arm], np.array([value])))
    left: Array = first.ask(6, NONE).x
    assert left.tolist() == again.ask(6, NONE).x.tolist()


def test_a_failed_arm_is_no_pull_and_is_not_pulled_again() -> None:
    """One of eight arms fails at its first pull; the others are pulled as if it did not exist."""
    names, rng = "abcdefgh", np.random.default_rng(0)
    means = dict(zip(names, np.linspace(0.1, 0.9, 8), strict=True))
    optimizer = Optimizer(Space(arm=Categorical(list(names))), direction="maximize", method=UCB1(), seed=0)
    pulls = dict.fromkeys(names, 0)
    for _ in range(200):
        trial = optimizer.ask()
        arm = trial.params["arm"]
        pulls[arm] += 1
        optimizer.tell(trial, FAILED if arm == "b" else float(rng.random() < means[arm]))
    assert pulls["b"] == 1
    assert pulls["h"] == max(pulls.values())
    assert pulls["h"] > 50
    assert optimizer.recommend().params["arm"] in "gh"
    rebuilt = Optimizer.from_state(optimizer.space, optimizer.state(), method=optimizer.method)
    assert rebuilt.ask() == optimizer.ask()


def test_where_every_arm_failed_they_take_turns() -> None:
    search = UCB1().start(FOUR, 0)
    pending = NONE
    for number in range(8):
        x = search.ask(number, pending).x
        search.fail(number, x)
        pending = np.vstack([pending, x])
    assert sorted(pending[:, 0].tolist()) == sorted(ARMS[:, 0].tolist() * 2)
