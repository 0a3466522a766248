"""The band around a sketched posterior: its multipliers by brute force, and that it covers."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

from quadrat.confidence import Assumptions
from quadrat.confidence.sketched_band import SketchedBand, theorem_multiplier
from quadrat.gp.sketch import Sketch
from quadrat.kernels import Matern
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL = Matern(2.5, 0.3)
GIVEN = Assumptions(KERNEL, norm_bound=1.0, noise=0.2)
POOR = Sketch(q=0.2, ratio=8.0)  # far too few points: what is measured must make up for it


def band_with(n: int, seed: int = 0, **options: object) -> SketchedBand:
    rng = generator(seed, 60)
    f = draw_rkhs_function(KERNEL, 2, rng=rng, norm=1.0)
    band = SketchedBand(GIVEN, 0.1, seed=seed, **options)  # type: ignore[arg-type]
    X = rng.random((n, 2))
    band.add(X, f.values(X) + 0.2 * rng.standard_normal(n))
    return band


def test_the_measured_multiplier_by_brute_force() -> None:
    band = band_with(60, sketch=POOR)
    X, S, lam = band.x, band.process.dictionary, band.regulariser
    assert len(S) < 40
    cross = KERNEL(X, S)
    Q = cross @ np.linalg.solve(KERNEL(S), cross.T)
    tau = np.trace(KERNEL(X) - Q) / lam
    assert band.process.outside == pytest.approx(tau, rel=1e-6)
    logdet = np.linalg.slogdet(np.eye(60) + Q / lam)[1]
    wanted = 0.2 / sqrt(lam) * sqrt(logdet + tau + 2 * log(10)) + 1 + sqrt(tau)
    assert band.beta == pytest.approx(wanted, rel=1e-6)


def test_the_theorem_s_multiplier_by_brute_force() -> None:
    """[C19, theorem 2] with variances divided by lambda, as there."""
    band = band_with(60, sketch=Sketch(epsilon=0.4, q=1.0))
    lam = band.regulariser
    total = float((band.process.predict(band.x).deviation ** 2).sum()) / lam
    alpha = 1.4 / 0.6
    beta = 2 * 0.2 * sqrt(alpha * log(60) * total + log(10)) + (1 + 1 / sqrt(0.6)) * sqrt(lam) * 1.0
    at = band.process.predict([[0.3, 0.3]])
    found = theorem_multiplier(band.process, norm_bound=1.0, noise=0.2, delta=0.1, observations=60)
    assert found * at.deviation[0] == pytest.approx(beta * at.deviation[0] / sqrt(lam), rel=1e-9)


def test_it_is_clipped_to_what_the_norm_allows_and_optimism_is_not() -> None:
    band = band_with(3)
    far = [[0.99, 0.01]]
    assert band.quick_upper(far)[0] <= 1.0
    interval = band.interval(far)
    assert -1.0 <= interval.lower[0] <= band.mean(far)[0] <= interval.upper[0] <= 1.0
    wide = SketchedBand(GIVEN, 0.1)
    assert wide.optimism(far)[0] > 1.0
    assert wide.rejection is None
    before = band.optimism(far)[0]
    at = band.process.predict(far)
    assert before == pytest.approx(at.mean[0] + band.beta * at.deviation[0])
    with band.pending(far):
        assert band.optimism(far)[0] < before
    assert band.optimism(far)[0] == before
