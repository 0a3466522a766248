from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess
from quadrat.gp.partitioned import PartitionedProcess
from quadrat.gp.splitting import SplittingRule
from quadrat.kernels import Matern
from quadrat.methods.acquisition import Acquisition, expected_gain, log_expected_improvement
from quadrat.methods.base import Domain
from quadrat.randomness import generator

KERNEL = Matern(1.5, (0.3, 0.5))
NOISE = 0.01


def rule(*, capacity: float = 4.0, all_axes: bool = False) -> SplittingRule:
    return SplittingRule(KERNEL, 2, 1.5, capacity, all_axes)


def data(n: int = 60, seed: int = 0) -> tuple[Array, Array, Array]:
    """Points that gather near a corner, every sixth a repeat, with variances of their own."""
    rng = generator(seed)
    x = rng.random((n, 2)) ** 2
    x[5::6] = x[2::6][: len(x[5::6])]
    return x, np.sin(5 * x.sum(1)) + 0.1 * rng.standard_normal(n), NOISE * (1 + rng.random(n))


def process(n: int = 60, *, capacity: float = 4.0, all_axes: bool = False) -> PartitionedProcess:
    made = PartitionedProcess(rule(capacity=capacity, all_axes=all_axes), noise_variance=NOISE, mean=0.2)
    made.add(*data(n))
    return made


@pytest.mark.parametrize("all_axes", [False, True])
def test_cells_tile_the_cube(all_axes: bool) -> None:
    made = process(all_axes=all_axes)
    assert len(made.cells) > 5
    assert sum(np.prod(cell.upper - cell.lower) for cell in made.cells) == 1.0
    faces = {*np.concatenate([cell.lower for cell in made.cells]), 0.0, 1.0}
    grid = np.array([[a, b] for a in sorted(faces) for b in sorted(faces)])
    points = np.vstack([grid, generator(1).random((300, 2))])
    inside = np.array([((points >= cell.lower) & (points <= cell.last)).all(1) for cell in made.cells])
    assert (inside.sum(0) == 1).all()
    for cell, rows in made.by_cell(points):
        assert inside[made.cells.index(cell), rows].all()
    assert all(made.cell(points[i]) is made.cells[int(np.argmax(inside[:, i]))] for i in range(len(points)))


def test_each_cell_is_an_exact_process_of_its_own_data() -> None:
    made = process()
    x, y, v = data()
    points = generator(2).random((40, 2))
    for cell in made.cells:
        mine = ((x >= cell.lower) & (x <= cell.last)).all(1)
        assert cell.count == mine.sum()
        exact = GaussianProcess(KERNEL, noise_variance=NOISE, mean=0.2)
        if mine.any():
            exact.add(x[mine], y[mine], v[mine])
        there = points[((points >= cell.lower) & (points <= cell.last)).all(1)]
        got, wanted = made.predict_with_gradients(there), exact.predict_with_gradients(there)
        for name in ("mean", "deviation", "mean_gradient", "deviation_gradient"):
            np.testing.assert_allclose(getattr(got, name), getattr(wanted, name), atol=1e-9)
        np.testing.assert_allclose(made.covariance(there), exact.covariance(there), atol=1e-9)
        np.testing.assert_allclose(made.predict_mean(there), wanted.mean, atol=1e-9)
        assert cell.gain == pytest.approx(0.5 * exact.logdet, abs=1e-9) if mine.any() else cell.gain == 0.0
        assert made.cell(cell.lower).gp.log_evidence == pytest.approx(exact.log_evidence, abs=1e-8)


def test_cells_follow_the_rule_by_brute_force() -> None:
    """[JBG20, algorithm 1] replayed on boxes: after every observation, split whatever is due."""
    x, y, v = data(80)
    limits = rule(capacity=3.0)
    made = PartitionedProcess(limits, noise_variance=NOISE)
    boxes = [(np.zeros(2), np.ones(2), 0)]
    sizes = []
    for n in range(1, 81):
        made.add(x[n - 1 : n], y[n - 1 : n], v[n - 1 : n])
        todo, boxes = boxes, []
        while todo:
            low, high, depth = todo.pop()
            count = int(((x[:n] >= low) & ((x[:n] < high) | (high == 1.0))).all(1).sum())
            side = np.prod(high - low) ** 0.5
            if count == 0 or 3.0 * side ** -(5 / 3) > (count + 1) * (1 + 1e-12):
                boxes.append((low, high, depth))
                continue
            (axis,) = limits.axes(depth)
            middle = (low[axis] + high[axis]) / 2
            step = np.eye(2)[axis]
            todo += [(low, high - step * (high - middle), depth + 1), (low + step * (middle - low), high, depth + 1)]
        wanted = {(*low, *high, depth) for low, high, depth in boxes}
        assert {(*cell.lower, *cell.upper, cell.depth) for cell in made.cells} == wanted
        sizes.append(len(boxes))
    assert all(before <= after for before, after in pairwise(sizes))
    assert sizes[-1] > 8


def test_gradients_by_differences() -> None:
    made = process()
    points = 0.05 + 0.9 * generator(3).random((20, 2))
    at = made.predict_with_gradients(points)
    assert at.mean_gradient is not None
    assert at.deviation_gradient is not None
    for axis in range(2):
        step = 1e-6 * np.eye(2)[axis]
        high, low = made.predict(points + step), made.predict(points - step)
        np.testing.assert_allclose(at.mean_gradient[:, axis], (high.mean - low.mean) / 2e-6, atol=1e-5)
        np.testing.assert_allclose(at.deviation_gradient[:, axis], (high.deviation - low.deviation) / 2e-6, atol=1e-5)


def test_nothing_is_known_of_other_cells() -> None:
    made = process()
    left, right = np.array([[0.01, 0.02]]), np.array([[0.9, 0.9]])
    assert made.cell(left[0]) is not made.cell(right[0])
    assert made.covariance(left, right) == 0.0
    both = np.vstack([left, right])
    assert (made.covariance(both, right)[1] == made.covariance(right)[0]).all()


def test_pending_points_narrow_their_own_cell_and_leave_no_trace() -> None:
    made = process()
    points, spots = generator(4).random((50, 2)), np.array([[0.8, 0.7], [0.1, 0.1], [0.8, 0.7]])
    before, cells = made.predict(points), len(made.cells)
    touched = np.zeros(50, dtype=bool)
    for cell, _ in made.by_cell(spots):
        touched |= ((points >= cell.lower) & (points <= cell.last)).all(1)
    with made.pending(spots):
        within = made.predict(points)
        np.testing.assert_allclose(within.mean, before.mean, atol=1e-12)
        assert (within.deviation[touched] < before.deviation[touched]).all()
        assert (within.deviation[~touched] == before.deviation[~touched]).all()
        with pytest.raises(InvalidInput, match="leave the `pending` block first"):
            made.add([[0.5, 0.5]], [0.0])
    assert touched.any()
    assert not touched.all()
    after = made.predict(points)
    assert (after.mean == before.mean).all()
    assert (after.deviation == before.deviation).all()
    assert len(made.cells) == cells
    made.add([[0.5, 0.5]], [0.0])


def test_rebuilt_bit_for_bit_however_observations_come() -> None:
    x, y, v = data()
    whole, single = process(), PartitionedProcess(rule(), noise_variance=NOISE, mean=0.2)
    for i in range(len(x)):
        single.add(x[i], y[i], v[i])
        single.predict(x[:3])
        with single.pending(x[:2] / 2 + 0.3):
            single.predict(x[:3])
    points = generator(5).random((50, 2))
    for name in ("mean", "deviation", "mean_gradient", "deviation_gradient"):
        one, other = (getattr(made.predict_with_gradients(points), name) for made in (whole, single))
        assert (one == other).all()
    assert whole.logdet == single.logdet
    assert (whole.x == single.x).all()


def test_what_was_observed() -> None:
    made = process()
    x, y, v = data()
    exact = GaussianProcess(KERNEL, noise_variance=NOISE)
    exact.add(x, y, v)
    assert len(made) == len(exact) < made.n_observations == 60
    order, wanted = np.lexsort(made.x.T), np.lexsort(exact.x.T)
    for name in ("x", "y", "noise_variances", "counts"):
        np.testing.assert_allclose(getattr(made, name)[order], getattr(exact, name)[wanted])
    assert made.log_evidence == pytest.approx(sum(cell.gp.log_evidence for cell in made.cells))
    assert made.quadratic_form > 0


def test_one_cell_is_the_exact_process() -> None:
    """With a capacity above n nothing is split, and the whole is one process."""
    made = process(capacity=100.0)
    exact = GaussianProcess(KERNEL, noise_variance=NOISE, mean=0.2)
    for x, y, v in zip(*data(), strict=True):
        exact.add(x, y, v)
    points = generator(6).random((20, 2))
    assert len(made.cells) == 1
    assert (made.predict(points).deviation == exact.predict(points).deviation).all()
    assert made.logdet == exact.logdet


def test_a_pile_of_repeats_ends_splitting() -> None:
    """All at one point: cells around it shrink until they may hold that many."""
    made = PartitionedProcess(rule(capacity=1.0), noise_variance=NOISE)
    made.add(np.full((200, 2), 0.3), np.ones(200))
    full = made.cell([0.3, 0.3])
    assert full.count == 200
    assert rule(capacity=1.0).limit(full.depth - 1) <= 201 < rule(capacity=1.0).limit(full.depth)
    assert made.predict([[0.3, 0.3]]).mean[0] == pytest.approx(1.0, abs=1e-3)


def test_nothing_observed() -> None:
    made = PartitionedProcess(rule(), noise_variance=NOISE, mean=0.2)
    assert made.x.shape == (0, 2)
    assert len(made) == 0
    assert made.predict([[0.5, 0.5]]).mean.tolist() == [0.2]
    assert made.logdet == 0.0


def test_an_acquisition_reads_it_like_any_posterior() -> None:
    """The library's own search for the highest expected improvement, against a lattice."""
    made = process()
    score = log_expected_improvement(float(made.predict_mean(made.x).max()))
    point, value = Acquisition(made, score, Domain.cube(2)).maximise(generator(7))
    lattice = np.stack(np.meshgrid(*[np.linspace(0, 1, 65)] * 2), -1).reshape(-1, 2)
    at = made.predict(lattice)
    assert value >= score(at.mean, at.deviation)[0].max() - 0.05  # a climb does not see beyond a face
    assert ((point >= 0) & (point <= 1)).all()
    found = expected_gain(made, point, generator(8))
    assert found is not None
    assert 0 <= found.mean <= found.upper


def test_wrong_arguments() -> None:
    with pytest.raises(InvalidInput, match="rule: expected a SplittingRule"):
        PartitionedProcess(KERNEL, noise_variance=NOISE)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="X: expected 2 columns"):
        process(6).predict([[0.1, 0.2, 0.3]])
