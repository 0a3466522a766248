"""Theorem 1 of Auer, Cesa-Bianchi and Fischer (2002), simulated: the mean regret of UCB1 never exceeds its bound."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.methods.base import Axis, Domain, Observation
from quadrat.methods.ucb.ucb1 import UCB1


def regret(method: UCB1, means: list[float], n: int, seed: int, *, bernoulli: bool) -> np.ndarray:
    """Cumulative pseudo-regret of one run, shape (n,)."""
    values = tuple(((np.arange(len(means)) + 0.5) / len(means)).tolist())
    search = method.start(Domain((Axis(values, ordered=False),)), seed)
    rng, none = np.random.default_rng(seed), np.empty((0, 1))
    lost = np.empty(n)
    for number in range(n):
        x = search.ask(number, none).x
        mean = means[values.index(float(x[0]))]
        value = float(rng.random() < mean) if bernoulli else mean + method.noise * rng.standard_normal()
        search.tell(Observation(number, x, np.array([value])))
        lost[number] = max(means) - mean
    return np.cumsum(lost)


@pytest.mark.parametrize(
    ("noise", "means", "bernoulli"),
    [(0.5, [0.9, 0.2], True), (0.5, [0.8, 0.4, 0.4, 0.1], True), (1.0, [3.0, 0.0, 0.0], False)],
)
def test_theorem_1(noise: float, means: list[float], bernoulli: bool) -> None:
    """8 runs of 800 pulls: the mean regret at every n from 2 on is at most the bound, which is several times larger.

    The bound is not empty either: it is passed at n = 100 by pulling arms in turn for long enough (last line).
    """
    method, n = UCB1(noise=noise), 800
    mean = np.mean([regret(method, means, n, seed, bernoulli=bernoulli) for seed in range(8)], axis=0)
    gaps = np.array(means).max() - np.array(means)
    bound = np.array([method.regret_bound(gaps, t) for t in range(1, n + 1)])
    assert (mean[1:] <= bound[1:]).all()
    assert 0 < mean[-1] < 0.5 * bound[-1]
    in_turn = np.mean(gaps) * 100_000
    assert in_turn > method.regret_bound(gaps, 100_000)


def test_regret_follows_the_law_that_equal_indices_give() -> None:
    """Pulls n_j with mean_j + sqrt(2 ln n / n_j) equal for all arms: their regret is UCB1's, within 15 %, for all n.

    Being 2 ln n sum 1/gap in the limit, this is logarithmic growth. Mean of 12 runs at n = 200, 500 and 1,500.
    """
    means = [0.9, 0.3, 0.1]
    mean = np.mean([regret(UCB1(), means, 1500, seed, bernoulli=True) for seed in range(12)], axis=0)
    for n in (200, 500, 1500):
        low, high = 0.9, 0.9 + 2 * np.sqrt(2 * np.log(n))
        for _ in range(100):
            level = (low + high) / 2
            pulls = 2 * np.log(n) / (level - np.array(means)) ** 2
            low, high = (level, high) if pulls.sum() > n else (low, level)
        wanted = float(pulls @ (0.9 - np.array(means)))
        assert mean[n - 1] == pytest.approx(wanted, rel=0.15)
