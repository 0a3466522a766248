"""Batches: what pending points may narrow, and what they must not touch.

[D14]: Desautels, Krause and Burdick (2014), JMLR 15. Its ratio of deviations and its initialisation are re-checked by
brute force; LP-GP-UCB's stored bounds and certificate by doing again, without pending points, what was done with them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.confidence import Certificate
from quadrat.gp import GaussianProcess
from quadrat.kernels import Kernel, Matern, SquaredExponential
from quadrat.methods.base import Domain, Observation
from quadrat.methods.lp.cells import Condition, Sharper
from quadrat.methods.lp.method import LPGPUCB
from quadrat.methods.lp.search import CellOptions, CertifiedSearch
from quadrat.methods.ucb.gp_bucb import GPBUCB, information_of
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL = Matern(2.5, 0.3)
NOISE = 0.1


# --- GP-BUCB


@pytest.mark.parametrize("kernel", [KERNEL, SquaredExponential(0.2)], ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_the_ratio_of_deviations_is_at_most_exp_of_the_information(kernel: Kernel, seed: int) -> None:
    """[D14, section 4]: sigma_fb/sigma_t = exp(I(f(x); y_P | y_T)) <= exp(I(f; y_P | y_T)), on 500 points.

    The middle term is the information of an observation of f(x) itself: half the logarithm of the ratio of variances
    by definition, here from the joint covariance of f(x) and y_P. With one pending point observed almost without
    noise, nothing smaller would do: the bound is reached there to 1 %.
    """
    rng = generator(seed, 73)
    told, pending = rng.random((rng.integers(1, 12), 2)), rng.random((rng.integers(1, 8), 2))
    gp = GaussianProcess(kernel, noise_variance=0.01)
    gp.add(told, np.zeros(len(told)))
    points = np.vstack([rng.random((500, 2)), pending])
    before = gp.predict(points).deviation
    information = information_of(gp, pending)
    joint = gp.covariance(np.vstack([points, pending]))
    m = len(points)
    observed = joint[m:, m:] + 0.01 * np.eye(len(pending))
    left = np.diag(joint)[:m] - np.einsum("ij,ji->i", joint[:m, m:], np.linalg.solve(observed, joint[m:, :m]))
    own = 0.5 * np.log(np.diag(joint)[:m] / left)  # I(f(x); y_P | y_T)
    with gp.pending(pending):
        ratio = before / gp.predict(points).deviation
    np.testing.assert_allclose(np.log(ratio), own, atol=1e-6)
    assert (np.log(ratio) <= information + 1e-9).all()
    sharp = information_of(gp, pending[:1])
    with gp.pending(pending[:1]):
        reached = float(np.log(before[500] / gp.predict(pending[:1]).deviation[0]))
    assert reached == pytest.approx(sharp, abs=0.5 * np.log1p(0.01 / before[500] ** 2) + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_after_uncertainty_sampling_no_batch_tells_much(seed: int) -> None:
    """[D14, section 4, initialisation]: any B - 1 points tell at most (B - 1)/T of what the T first told.

    The batch that tells most is sought greedily from 4,000 points; the T points are those that the search asks.
    """
    T, B = 24, 8
    search = GPBUCB(kernel=KERNEL, noise=NOISE, standardise=False, n_initial=1, n_uncertain=T - 1).start(
        Domain.cube(2), seed
    )
    for number in range(T):
        x = search.ask(number, np.empty((0, 2))).x
        search.tell(Observation(number, x, np.zeros(1)))
    gp = search.model.gp
    batch: list[Array] = []
    candidates = generator(seed, 74).random((4000, 2))
    for _ in range(B - 1):
        with search.model.pending(np.array(batch).reshape(-1, 2)) as hallucinated:
            batch.append(candidates[int(np.argmax(hallucinated.predict(candidates).deviation))])
    told = search.model.gain
    assert information_of(gp, np.array(batch)) <= (B - 1) / T * told
    # Without that start, the first batch tells far more than this constant.
    fresh = GaussianProcess(KERNEL, noise_variance=NOISE**2)
    fresh.add(gp.x[:1], np.zeros(1))
    assert information_of(fresh, np.array(batch)) > (B - 1) / T * told


# --- LP-GP-UCB


class Recorded:
    """A search that writes down all that touches its stored bounds: observations, refreshed cells, splits."""

    def __init__(self, search: CertifiedSearch) -> None:
        self.search = search
        self.steps: list[tuple[str, Any]] = []
        cells = search.cells
        add, store, expand, highest = cells.add, cells._store, cells.expand, cells.highest

        def recorded_add(x: Array, values: Array) -> None:
            self.steps.append(("add", (x.copy(), values.copy())))
            add(x, values)

        def recorded_store(found: Sharper) -> None:
            self.steps.append(("refresh", found.nodes.copy()))
            store(found)

        def recorded_expand(node: int, condition: Condition) -> None:
            self.steps.append(("expand", (node, condition)))
            expand(node, condition)

        def recorded_highest() -> int:
            top = highest()
            self.steps.append(("highest", top))
            return top

        cells.add, cells._store, cells.expand = recorded_add, recorded_store, recorded_expand  # type: ignore[method-assign]
        cells.highest = recorded_highest  # type: ignore[method-assign]

    def done_again(self, fresh: CertifiedSearch) -> CertifiedSearch:
        """Do the same steps in a search in which nothing was ever asked or pending."""
        cells = fresh.cells
        for name, what in self.steps:
            if name == "add":
                cells.add(*what)
            elif name == "refresh":
                cells.refresh(what)
            elif name == "expand":
                cells.expand(*what)
            else:
                fresh.loop.lowest_maximum = min(fresh.loop.lowest_maximum, float(cells.upper[what]))
        return fresh


def started(dimension: int, seed: int, capacity: int | None) -> CertifiedSearch:
    method = LPGPUCB(kernel=KERNEL, norm_bound=1.0, noise=NOISE, budget=64)
    search = method.start(Domain.cube(dimension), seed)
    assert isinstance(search, CertifiedSearch)
    if capacity is None:
        return search
    return CertifiedSearch(
        search.assumptions,
        Domain.cube(dimension),
        seed,
        CellOptions(budget=64, degree=1, delta=0.05, threshold=search.loop.threshold, max_cells=method.max_cells),
        capacity=capacity,
    )


@pytest.mark.parametrize(("dimension", "capacity"), [(1, None), (2, None), (2, 16)])
def test_stored_bounds_and_certificate_are_made_of_told_data_alone(dimension: int, capacity: int | None) -> None:
    """Batches of 8; then every observation, refresh and split again where nothing is pending: equal bit for bit.

    Pending points decide which cells are looked at and divided, nothing else. Asking more after the last observation
    leaves every bound of a cell that was there before as a search without pending points leaves it.
    """
    f = draw_rkhs_function(KERNEL, dimension, norm=1.0, rng=generator(9, dimension))
    search = started(dimension, 9, capacity)
    recorded = Recorded(search)
    for first in range(0, 48, 8):
        batch: list[Array] = []
        for number in range(first, first + 8):
            batch.append(search.ask(number, np.array(batch).reshape(-1, dimension)).x)
        for number, x in enumerate(batch, first):
            y = float(f.values(x[None])[0]) + NOISE * generator(9, number, 75).normal()
            search.tell(Observation(number, x, np.array([y])))
    for pending in (2, 5):  # asked and never told
        search.ask(48 + pending, generator(9, pending, 76).random((pending, dimension)))
    again = recorded.done_again(started(dimension, 9, capacity))
    np.testing.assert_array_equal(search.cells.upper, again.cells.upper)
    np.testing.assert_array_equal(search.cells.source, again.cells.source)
    mine, other = search.certificate(search.recommend().x), again.certificate(again.recommend().x)
    assert isinstance(mine, Certificate)
    assert isinstance(other, Certificate)
    assert mine.rejection is None
    assert (mine.value, mine.certified_interval, mine.maximum) == (other.value, other.certified_interval, other.maximum)
    np.testing.assert_array_equal(mine.point, other.point)
    assert search.recommend().interval == again.recommend().interval


@pytest.mark.parametrize("dimension", [1, 2])
def test_certificates_hold_after_every_batch(dimension: int) -> None:
    """Five runs of four batches of 8 on functions of norm 1, delta = .05: none fails."""
    failed = 0
    for seed in range(5):
        f = draw_rkhs_function(KERNEL, dimension, norm=1.0, rng=generator(seed, dimension, 77))
        best, search, held = f.maximum()[1], started(dimension, seed, None), True
        for first in range(0, 32, 8):
            batch: list[Array] = []
            for number in range(first, first + 8):
                batch.append(search.ask(number, np.array(batch).reshape(-1, dimension)).x)
            values = f.values(np.array(batch))
            for number, (x, y) in enumerate(zip(batch, values.tolist(), strict=True), first):
                search.tell(Observation(number, x, np.array([y + NOISE * generator(seed, number, 78).normal()])))
            certificate = search.certificate(search.recommend().x)
            assert isinstance(certificate, Certificate)
            held &= best - float(f.values(certificate.point[None])[0]) <= certificate.value
        failed += not held
    assert failed == 0
