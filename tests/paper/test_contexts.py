"""Contexts: certificates cover the contextual regret in all contexts at all times; gains of composed kernels.

[K11]: Krause and Ong (2011). Contextual Gaussian process bandit optimization. NIPS 24.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from contextual_problems import ContextualProblem
from scipy.stats import binom

from problems import from_rkhs
from quadrat._core.arrays import Array
from quadrat.confidence import Certificate, certified_gap
from quadrat.confidence import certificate as certificates
from quadrat.gp import realised_gain
from quadrat.kernels import Kernel, Matern, OnAxes
from quadrat.methods.base import Axis, Domain, Observation
from quadrat.methods.lp.method import LP0
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL = Matern(2.5, [0.3, 0.6])
DELTA, RUNS, ROUNDS = 0.1, 10, 15
CONTEXTS = (0.125, 0.375, 0.625, 0.875)
GRID = np.linspace(0, 1, 201)


def fails(seed: int, noise: float) -> bool:
    """One run: whether a certificate in any of three contexts, one of them never played, ever misses the truth.

    What is checked after every fifth round: the regret of the point certified, the maximum of the slice, and the value
    at the point within its interval.
    """
    f = draw_rkhs_function(KERNEL, 2, norm=1.0, rng=generator(seed, 1))
    method = LP0(kernel=KERNEL, norm_bound=1.0, noise=noise, budget=ROUNDS, delta=DELTA, threshold=0.1)
    search = method.start(Domain((Axis(), Axis()), context=(1,)), seed)
    rounds = generator(seed, 2).integers(len(CONTEXTS), size=ROUNDS)
    for i, z in enumerate(rounds.tolist()):
        x = search.ask(i, np.empty((0, 2)), np.array([np.nan, CONTEXTS[z]])).x
        search.tell(Observation(i, x, f.values(x[None]) + noise * generator(seed, 3, i).normal()))
        if i % 5 != 4:
            continue
        for context in (*CONTEXTS[::2], 0.5):
            got = search.certificate(search.recommend(np.array([np.nan, context])).x)
            assert isinstance(got, Certificate)
            best = float(f.values(np.column_stack([GRID, np.full(len(GRID), context)])).max())
            value = float(f.values(got.point[None])[0])
            low, high = got.certified_interval
            held = best - value <= got.value and best <= got.maximum and low <= value <= high
            if got.rejection is not None or not held:
                return True
    return False


@pytest.mark.parametrize("noise", [1.0, 0.1])
def test_certificates_in_all_contexts_at_all_times_cover(noise: float) -> None:
    """At most delta of the runs fail; the threshold is one that exactly delta exceeds once in a thousand times."""
    failures = sum(fails(seed, noise) for seed in range(RUNS))
    assert failures <= binom.ppf(0.999, RUNS, DELTA)


def test_the_coverage_test_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """With certificates of nearly nothing."""

    def narrow(*arguments: object, **options: object) -> object:
        return replace(certified_gap(*arguments, **options), value=0.0)  # type: ignore[arg-type]

    monkeypatch.setattr(certificates, "certified_gap", narrow)
    assert sum(fails(seed, 0.1) for seed in range(6)) > binom.ppf(0.999, 6, DELTA)


# --- information gains of composed kernels


def gain(kernel: Kernel, points: Array) -> float:
    return realised_gain(kernel, points, 0.1).value


@pytest.mark.parametrize("seed", range(5))
def test_a_sum_gains_no_more_than_its_parts_together(seed: int) -> None:
    """Behind theorem 3 [K11]: log det(I + A + B) <= log det(I + A) + log det(I + B), at any points."""
    points = generator(seed).random((30, 3))
    left, right = OnAxes(Matern(2.5, 0.3), [0, 1]), OnAxes(Matern(2.5, 0.5), [2])
    total = gain(left + right, points)
    assert total <= gain(left, points) + gain(right, points) + 1e-9
    assert total >= max(gain(left, points), gain(right, points)) - 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_a_product_with_a_context_kernel_of_rank_d_gains_no_more_than_d_times(seed: int) -> None:
    """Behind theorem 2 [K11], with d = 4 contexts: at most what d separate bandits on actions would gain together.

    With prior variance 1 in every context, log det of a matrix is at most the sum over its diagonal blocks (Fischer),
    so that gamma_T(k_S k_Z) <= d gamma_T(k_S); the more alike the contexts, the less.
    """
    rng = generator(seed)
    points = np.column_stack([rng.random((40, 2)), rng.choice(CONTEXTS, 40)])
    of_actions = OnAxes(Matern(2.5, 0.3), [0, 1])
    separate = sum(gain(of_actions, points[points[:, 2] == z]) for z in CONTEXTS)
    gains = [gain(of_actions * OnAxes(Matern(2.5, scale), [2]), points) for scale in (0.01, 0.3, 3.0)]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] == pytest.approx(separate, rel=1e-6)
    assert gains[2] >= gain(of_actions, points) - 1e-9


# --- contextual regret


def test_average_regret_falls_with_the_number_of_rounds() -> None:
    """Theorem 1 [K11]: R_T / T -> 0; here, over two runs, the last rounds regret a third of what the first did."""
    from quadrat.methods.ucb.cgp_ucb import CGPUCB

    early, late = [], []
    for seed in range(2):
        problem = ContextualProblem(from_rkhs(draw_rkhs_function(KERNEL, 2, rng=generator(seed, 1))), (1,))
        search = CGPUCB(noise=0.05).start(Domain((Axis(), Axis()), context=(1,)), seed)
        points = []
        for i, z in enumerate(generator(seed, 2).integers(4, size=30).tolist()):
            x = search.ask(i, np.empty((0, 2)), np.array([np.nan, CONTEXTS[z]])).x
            search.tell(Observation(i, x, problem.problem.values(x[None]) + 0.05 * generator(seed, 3, i).normal()))
            points.append(x)
        regrets = problem.regrets(points)
        early.append(regrets[:8].mean())
        late.append(regrets[-10:].mean())
    assert np.mean(late) < np.mean(early) / 3
