from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from quadrat.confidence import UserHolder
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern
from quadrat.methods.base import Domain, Observation
from quadrat.methods.ucb.heuristic import Heuristic, HeuristicSearch
from quadrat.partition import from_regression_tree

RNG = np.random.default_rng(5)
X = RNG.random((30, 2))
Y = np.sin(4 * X[:, 0]) + X[:, 1]


def started(method: Heuristic, n: int = 30) -> HeuristicSearch:
    search = method.start(Domain.cube(2), 0)
    for number in range(n):
        search.tell(Observation(number, X[number], Y[number : number + 1]))
    return search


def last_round(search: HeuristicSearch) -> dict[str, Any]:
    found = search.explain()["last round"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("holder", [UserHolder(sqrt(2)), None], ids=["paper", "modulus"])
def test_bounds_are_those_of_algorithm_3(holder: UserHolder | None) -> None:
    """U of every cell, worked out anew from the formulas of Algorithm 3, line 5, at the point that was drawn."""
    kernel = Matern(2.5, 0.4)
    method = Heuristic(
        kernel=kernel, standardise=False, norm_bound=1.2, delta=0.01, budget=60, holder=holder, max_leaf_nodes=6
    )
    search = started(method)
    proposal = search.ask(30, np.empty((0, 2)))
    shown = last_round(search)
    lower, upper = np.array(shown["lower corners"]), np.array(shown["upper corners"])
    assert len(lower) == 6
    gamma = 0.5 * np.linalg.slogdet(np.eye(30) + kernel(X) / 0.01)[1]
    beta = 1.2 + 0.1 * sqrt(2 * (gamma + 1 + log(3 / 0.01)))
    sides = upper - lower
    variation = sqrt(2) * np.linalg.norm(sides, axis=1) if holder else 1.2 * kernel.modulus(sides)
    inside = ((X[:, None] >= lower) & (X[:, None] < upper)).all(-1)
    count = inside.sum(0)
    average = (inside * Y[:, None]).sum(0) / count + 0.1 * np.sqrt(2 * log(60 / 0.01) / count) + variation
    chosen = shown["chosen"]
    at = search.model.gp.predict(proposal.x[None, :])
    posterior = at.mean[0] + beta * at.deviation[0] + variation[chosen]
    assert shown["upper bounds"][chosen] == pytest.approx(min(posterior, average[chosen]))
    assert (np.array(shown["upper bounds"]) <= average + 1e-12).all()
    assert chosen == int(np.argmax(shown["upper bounds"]))
    assert ((proposal.x >= lower[chosen]) & (proposal.x <= upper[chosen])).all()
    for bound, mean, active in zip(shown["upper bounds"], average, shown["active bounds"], strict=True):
        assert active == "posterior" or bound == pytest.approx(mean)


def test_cells_are_the_leaves_of_scikit_learns_tree() -> None:
    search = started(Heuristic(min_samples_leaf=5))
    search.ask(30, np.empty((0, 2)))
    tree = DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(X, search.model.y)
    wanted = {tuple(row) for row in from_regression_tree(tree).lower.tolist()}
    assert {tuple(row) for row in last_round(search)["lower corners"]} == wanted


def test_default_tree_gives_every_observation_a_cell() -> None:
    search = started(Heuristic())
    search.ask(30, np.empty((0, 2)))
    assert len(last_round(search)["upper bounds"]) == 30


def test_pending_points_lower_the_bounds_and_leave_no_trace() -> None:
    search = started(Heuristic(max_leaf_nodes=4))
    alone = search.ask(30, np.empty((0, 2)))
    before = np.array(last_round(search)["upper bounds"])
    search.ask(30, np.repeat(alone.x[None, :], 20, axis=0))
    after = np.array(last_round(search)["upper bounds"])
    assert (after <= before + 1e-12).all()
    assert after.sum() < before.sum()
    assert np.array_equal(search.ask(30, np.empty((0, 2))).x, alone.x)


def test_points_differ_with_the_trial_and_repeat_with_it() -> None:
    search, again = started(Heuristic()), started(Heuristic())
    assert np.array_equal(search.ask(30, np.empty((0, 2))).x, again.ask(30, np.empty((0, 2))).x)
    assert not np.array_equal(search.ask(31, np.empty((0, 2))).x, search.ask(30, np.empty((0, 2))).x)


def test_replicates_count_in_their_cell() -> None:
    once, thrice = (
        Heuristic(standardise=False, n_initial=1).start(Domain.cube(1), 0),
        Heuristic(standardise=False).start(Domain.cube(1), 0),
    )
    once.tell(Observation(0, np.array([0.3]), np.array([1.0, 1.2, 0.8])))
    for number, value in enumerate([1.0, 1.2, 0.8]):
        thrice.tell(Observation(number, np.array([0.3]), np.array([value])))
    assert once.model.x.tolist() == thrice.model.x.tolist()
    once.ask(1, np.empty((0, 1)))
    width = last_round(once)["upper bounds"][0] - sqrt(2) - 1.0
    assert width <= 0.1 * sqrt(2 * log(100 / 0.001) / 3) + 1e-12


def test_does_not_certify() -> None:
    assert not Heuristic.facts.certifies
    assert isinstance(started(Heuristic()).certificate(np.array([0.5])), str)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"holder": 1.4}, "holder: expected UserHolder"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes: expected an integer >= 2"),
        ({"min_samples_leaf": 0}, "min_samples_leaf: expected an integer >= 1"),
        ({"budget": 0}, "budget: expected an integer >= 1"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Heuristic(**options)
