"""Sketched posteriors: the theorem's accuracy with its own q, the lemma between draws, and that the band covers.

[C19]: Calandriello, Carratino, Lazaric, Valko and Rosasco (2019), COLT.
"""

from __future__ import annotations

import numpy as np

from quadrat._core.arrays import Array
from quadrat.confidence import Assumptions
from quadrat.confidence.sketched_band import SketchedBand
from quadrat.gp import GaussianProcess
from quadrat.gp.nystrom import NystromPosterior
from quadrat.gp.sketch import Sketch, SketchedProcess
from quadrat.kernels import Matern, SquaredExponential
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator


def clustered(n: int, seed: int) -> Array:
    """Points as a search leaves them: most in a small corner, so that few tell something new."""
    rng = generator(seed, 70)
    return np.where(rng.random((n, 1)) < 0.9, 0.2 * rng.random((n, 2)), rng.random((n, 2)))


def test_theorem_1_with_its_own_q() -> None:
    """Variances within alpha at all t <= T and |S| <= 3 (1 + kappa^2/lambda) alpha q d_eff, in 1 - delta of the runs.

    lambda is large enough that the theorem's q, 6 alpha log(4 T/delta)/epsilon^2, leaves points out. The theorem is
    conservative: no failure among 12 runs is expected at delta = .2, and the allowed number is 12 delta rounded down.
    """
    kernel, lam, n, delta = SquaredExponential(0.8), 4.0, 250, 0.2
    sketch = Sketch.of_theorem(epsilon=0.9, budget=n, delta=delta)
    failed, smaller = 0, 0
    for seed in range(12):
        X = clustered(n, seed)
        gp = SketchedProcess(kernel, noise_variance=lam, sketch=sketch, seed=seed)
        exact = GaussianProcess(kernel, noise_variance=lam)
        points = generator(seed, 71).random((100, 2))
        held = True
        for start in range(0, n, 50):
            for process in (gp, exact):
                process.add(X[start : start + 50], np.zeros(50))
            ratio = (gp.predict(points).deviation / exact.predict(points).deviation) ** 2
            held &= bool((ratio <= sketch.alpha).all() and (ratio >= 1 / sketch.alpha).all())
            K = kernel(exact.x)
            effective = float(np.trace(np.linalg.solve(K + lam * np.eye(len(K)), K)))
            held &= len(gp.dictionary) <= 3 * (1 + 1 / lam) * sketch.alpha * sketch.q * effective
        failed += not held
        smaller += len(gp.dictionary) < n
    assert failed <= int(12 * delta)
    assert smaller >= 10  # otherwise nothing was tested


def test_the_factor_between_draws() -> None:
    """Given I - P <= (1 + w) lambda A^-1, variances are within 1 + u: `Sketch.factor`, for the w of any dictionary.

    The smallest 1 + w is the largest eigenvalue of A^1/2 (I - P) A^1/2 / lambda, on the span of the observed points.
    """
    kernel, lam = Matern(1.5, 0.3), 0.1
    checked = 0.0
    for seed in range(20):
        rng = generator(seed, 72)
        X = rng.random((40, 2))
        S = X[rng.permutation(40)[: int(rng.integers(3, 30))]]
        K, cross = kernel(X), kernel(X, S)
        Q = cross @ np.linalg.solve(kernel(S), cross.T)
        # On the span of phi_1, ..., phi_n in the basis K^-1/2 Phi^T: P is K^-1/2 Q K^-1/2 and A is K + lambda I.
        values, vectors = np.linalg.eigh(K)
        root = vectors / np.sqrt(values) @ vectors.T
        outside = np.eye(40) - root @ Q @ root
        half = vectors * np.sqrt(values + lam) @ vectors.T
        growth = float(np.linalg.eigvalsh(half @ outside @ half)[-1]) / lam  # 1 + w
        sketch = Sketch(epsilon=1 - 1 / growth)
        sketched = NystromPosterior.prior(kernel, 0.0, S).observing(X, np.zeros(40), np.full(40, lam))
        exact = GaussianProcess(kernel, noise_variance=lam)
        exact.add(X, np.zeros(40))
        points = np.vstack([X, rng.random((100, 2))])
        ratio = (sketched.predict(points).deviation / exact.predict(points).deviation) ** 2
        assert ratio.max() <= sketch.factor() * (1 + 1e-6)
        assert ratio.min() >= 1 / sketch.factor() * (1 - 1e-6)
        checked = max(checked, ratio.max() / sketch.factor())
    assert checked > 0.3  # the bound is not vacuous


def test_the_measured_band_covers_whatever_the_dictionary() -> None:
    """f of norm exactly B, points chosen by the upper bound, dictionaries far too small: failures in at most delta.

    Sharper: with what is measured of the dictionary left out, and B shrunk to a tenth, it fails in most runs.
    """
    kernel, sigma, delta = Matern(2.5, 0.3), 0.5, 0.1
    failed, naive_failed = 0, 0
    for seed in range(30):
        rng = generator(seed, 73)
        f = draw_rkhs_function(kernel, 1, rng=rng, norm=1.0, n_centres=1)
        band = SketchedBand(Assumptions(kernel, 1.0, sigma), delta, sketch=Sketch(q=0.3, ratio=8.0), seed=seed)
        points = np.linspace(0, 1, 41)[:, None]
        truth = f.values(points)
        held, naive = True, True
        for _ in range(40):
            x = points[int(np.argmax(band.optimism(points) + 1e-9 * rng.random(41)))]
            band.add(x[None], [float(f(x)) + sigma * rng.standard_normal()])
            interval = band.interval(points)
            held &= bool(((interval.lower <= truth) & (truth <= interval.upper)).all())
            at = band.process.predict(points)
            naive &= bool((np.abs(truth - at.mean) <= 0.1 * band.beta * at.deviation).all())
        failed += not held
        naive_failed += not naive
    assert failed <= 3
    assert naive_failed > 15
