"""Add-GP-UCB's claims by simulation. [K15]: Kandasamy, Schneider and Poczos (2015), ICML."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.gp import GaussianProcess
from quadrat.kernels import Matern
from quadrat.methods.additive.method import Practical, Theorem
from quadrat.methods.additive.model import AdditiveFit, GroupPosterior

GROUPS = ((0, 1), (2,))
FIT = AdditiveFit(GROUPS, (0.3, 0.3, 0.3), (1.0, 1.0), 2.5, 0.01, 0.0, 0.0)


def draws(seed: int, n: int = 10, m: int = 200) -> tuple[GroupPosterior, np.ndarray, list[np.ndarray]]:
    """Posterior after n observations of a draw of the additive process, m further points, and f^(j) at those."""
    rng = np.random.default_rng(seed)
    points = rng.random((n + m, 3))
    parts = []
    for kernel, group in zip(FIT.parts, GROUPS, strict=True):
        matrix = kernel(np.ascontiguousarray(points[:, list(group)])) + 1e-9 * np.eye(n + m)
        parts.append(np.linalg.cholesky(matrix) @ rng.standard_normal(n + m))
    gp = GaussianProcess(FIT.kernel, noise_variance=0.01)
    gp.add(points[:n], np.sum(parts, axis=0)[:n] + 0.1 * rng.standard_normal(n))
    return GroupPosterior(gp, FIT, gp.x, centred=False), points[n:], [part[n:] for part in parts]


def test_each_groups_posterior_is_calibrated() -> None:
    """Of (f^(j)(x) - mu_j(x)) / sigma_j(x) over draws, mean 0 and variance 1 within 4 standard errors [K15, section 3].

    One point a draw, 400 draws: standard errors .05 of the mean and .071 of the variance.
    """
    scores = []
    for seed in range(400):
        posterior, points, parts = draws(seed, m=1)
        at = [posterior.predict(j, np.ascontiguousarray(points[:, list(g)])) for j, g in enumerate(GROUPS)]
        scores.append([float((part[0] - a.mean[0]) / a.deviation[0]) for part, a in zip(parts, at, strict=True)])
    for j in range(2):
        z = np.array(scores)[:, j]
        assert abs(z.mean()) < 0.2
        assert abs(z.var() - 1) < 0.29


def test_the_theorems_bound_holds_everywhere_and_the_practical_one_does_not() -> None:
    """[K15, theorem 5]: |f^(j) - mu_j| <= sqrt(beta_t) sigma_j at all points of a set, in all of 40 draws."""
    failures = {"theorem": 0, "practical": 0}
    for seed in range(40):
        posterior, points, parts = draws(seed)
        for name, form in (("theorem", Theorem(delta=0.1)), ("practical", Practical(scale=0.2))):
            root = form.beta(11, GROUPS) ** 0.5
            at = [posterior.predict(j, np.ascontiguousarray(points[:, list(g)])) for j, g in enumerate(GROUPS)]
            off = [(np.abs(part - a.mean) > root * a.deviation).any() for part, a in zip(parts, at, strict=True)]
            failures[name] += any(off)
    assert failures["theorem"] == 0
    assert failures["practical"] > 4


def test_the_theorems_union_bound_adds_up() -> None:
    """What theorem 5 spends: over all t, M groups and (D t^3)^d points of each, exp(-beta_t / 2) sums to delta / 3.

    A normal variable exceeds sqrt(beta) with probability at most exp(-beta / 2) on both sides together.
    """
    delta, d, dimension, groups = 0.1, 2, 3, 2
    t = np.arange(1, 200_000, dtype=np.float64)
    beta = np.array([Theorem(delta=delta).beta(int(i), GROUPS) for i in t[:50]])
    spent = groups * (dimension * t[:50] ** 3) ** d * np.exp(-beta / 2)
    assert spent == pytest.approx(2 * delta / np.pi**2 / t[:50] ** 2)
    assert float((2 * delta / np.pi**2 / t**2).sum()) == pytest.approx(delta / 3, rel=1e-4)


def test_constants_are_traded_between_groups() -> None:
    """Why deviations are centred: f is known far better than any f^(j), and differences within a group far better too.

    f^(1) + c and f^(2) - c are the same f. With 60 observations sigma_j stays above .3 everywhere while f itself is
    known to .15 at most half the points.
    """
    rng = np.random.default_rng(3)
    smooth = AdditiveFit(GROUPS, (0.6, 0.6, 0.6), (1.0, 1.0), 2.5, 0.01, 0.0, 0.0)
    gp = GaussianProcess(smooth.kernel, noise_variance=0.01)
    x = rng.random((60, 3))
    gp.add(x, rng.standard_normal(60))
    points = rng.random((200, 3))
    raw, centred = (GroupPosterior(gp, smooth, gp.x, centred=c) for c in (False, True))
    assert np.median(gp.predict(points).deviation) < 0.15
    for j, group in enumerate(GROUPS):
        own = np.ascontiguousarray(points[:, list(group)])
        assert raw.predict(j, own).deviation.min() > 0.3
        assert np.median(centred.predict(j, own).deviation) < 0.15


def test_kernels_add() -> None:
    """[K15, section 3]: the sum of independent processes on the groups has the sum of their kernels."""
    x = np.random.default_rng(0).random((5, 3))
    first = Matern(2.5, (0.3, 0.3))(x[:, :2].copy())
    second = Matern(2.5, (0.3,))(x[:, 2:].copy())
    assert FIT.kernel(x) == pytest.approx(first + second)
