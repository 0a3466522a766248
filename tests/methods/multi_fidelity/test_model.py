from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.gp import GaussianProcess, Observations
from quadrat.kernels import Matern
from quadrat.methods.base import CREDIBLE, Observation
from quadrat.methods.multi_fidelity.model import FidelityModel, doubled
from quadrat.methods.surrogate import Learned, learn_kernel


def model(levels: int = 2, **options: Any) -> FidelityModel:
    settings = {"form": Matern(2.5, 0.3), "noise": 0.01, "standardise": False, "n_initial": 4, "zeta": None}
    return FidelityModel(levels, 1, **{**settings, **options})


def tell(to: FidelityModel, level: int, x: float, *values: float) -> None:
    to.tell(level, np.array([x]), Observation(to.trials, np.array([x]), np.array(values)))


def smooth(x: float) -> float:
    return float(np.sin(5 * x))


GRID = np.linspace(0, 1, 9).tolist()


def test_levels_are_independent_processes() -> None:
    known = model()
    for x in GRID:
        tell(known, 0, x, smooth(x))
    tell(known, 1, 0.5, 2.0)
    by_hand = GaussianProcess(Matern(2.5, 0.3), noise_variance=1e-4)
    by_hand.add([[0.5]], [2.0])
    points = np.random.default_rng(0).random((20, 1))
    target = known.gps[1].predict(points)
    np.testing.assert_allclose(target.mean, by_hand.predict(points).mean)
    np.testing.assert_allclose(target.deviation, by_hand.predict(points).deviation)
    assert known.gain == pytest.approx(0.5 * (known.gps[0].logdet + by_hand.logdet))


def test_an_offset_is_not_a_gap() -> None:
    """Levels that differ by 3 everywhere: the offset is 3 and zeta stays at its start, 1 % of the range."""
    known = model()
    for x in GRID:
        tell(known, 0, x, smooth(x))
    for x in GRID[::2]:
        tell(known, 1, x, smooth(x) + 3.0)
    values = [smooth(x) for x in GRID[:4]]  # what had been told when the units were settled
    assert known.gaps.offset == pytest.approx((3.0, 0.0), abs=0.02)
    assert known.gaps.zeta == pytest.approx((0.01 * (max(values) - min(values)), 0.0))


def test_zeta_is_the_least_doubling_that_explains_every_difference() -> None:
    """By hand from the two posteriors; one contradiction of 1.5 is enough to lose trust."""
    known = model()
    for x in GRID:
        tell(known, 0, x, smooth(x))
    for x in GRID[::2]:
        tell(known, 1, x, smooth(x) + (1.5 if x == 0.5 else 0.0))
    low, high = known.gps
    there, here = high.predict(high.x), low.predict(high.x)
    apart = there.mean - here.mean
    offset = float(np.median(apart))
    needed = float((np.abs(apart - offset) - CREDIBLE * np.hypot(there.deviation, here.deviation)).max())
    zeta = known.gaps.zeta[0]
    assert known.gaps.offset[0] == pytest.approx(offset)
    assert zeta >= needed > zeta / 2
    assert np.log2(zeta / known.frame.start) == pytest.approx(round(np.log2(zeta / known.frame.start)))
    assert 1.4 < needed < 1.6


def test_far_points_contradict_nothing() -> None:
    """Where the cheap level was never evaluated, it may be anything."""
    known = model(form=Matern(2.5, 0.05))
    for x in (0.0, 0.01, 0.02, 0.03):
        tell(known, 0, x, 0.1 * x)
    tell(known, 1, 0.9, 1.0)
    assert known.gaps.zeta[0] == known.frame.start


def test_three_levels_are_compared_downwards() -> None:
    """f^(1) is 1 off f^(2), which is 2 below f^(3); the middle level passes its own gap on."""
    known = model(3)
    for x in GRID:
        tell(known, 0, x, smooth(x) + (1.0 if x > 0.6 else 0.0))
        tell(known, 1, x, smooth(x) - 2.0)
    for x in GRID[::2]:
        tell(known, 2, x, smooth(x))
    assert known.gaps.offset[1] == pytest.approx(2.0, abs=0.05)
    assert known.gaps.offset[0] == pytest.approx(0.0, abs=0.1)
    assert known.gaps.zeta[1] <= 2 * known.frame.start
    assert 0.7 < known.gaps.zeta[0] < 2.0


def test_a_middle_level_that_is_off_does_not_discredit_a_cheap_one_that_is_right() -> None:
    known = model(3)
    for x in GRID:
        tell(known, 0, x, smooth(x))
        tell(known, 1, x, smooth(x) + (1.0 if x == 0.5 else 0.0))
    for x in GRID[::2]:
        tell(known, 2, x, smooth(x))
    assert known.gaps.zeta[1] > 0.9
    assert known.gaps.zeta[0] == known.frame.start


def test_stated_bounds_are_taken_as_they_are() -> None:
    known = model(zeta=(0.4,), standardise=True)
    for x in GRID:
        tell(known, 0, x, 5 * smooth(x))
    tell(known, 1, 0.5, 100.0)
    assert known.gaps.zeta == pytest.approx((0.4 / known.frame.scale, 0.0))
    assert known.gaps.offset == (0.0, 0.0)


def test_blend_weights_levels_by_precision() -> None:
    known = model(zeta=(0.3,))
    for x in GRID:
        tell(known, 0, x, smooth(x))
    tell(known, 1, 0.25, 1.2)
    points = np.array([[0.25], [0.8]])
    mean, deviation = known.blend(points)
    at = [gp.predict(points) for gp in known.gps]
    weights = [1 / (at[0].deviation ** 2 + 0.09), 1 / at[1].deviation ** 2]
    np.testing.assert_allclose(mean, (weights[0] * at[0].mean + weights[1] * at[1].mean) / (weights[0] + weights[1]))
    np.testing.assert_allclose(deviation, 1 / np.sqrt(weights[0] + weights[1]))
    assert mean[0] == pytest.approx(1.2, abs=0.01)  # evaluated at the target
    assert mean[1] == pytest.approx(smooth(0.8), abs=0.2)  # known from the cheap level alone


def joint(levels: list[tuple[Array, Array]], scale: float) -> float:
    """Log evidence of independent levels with one length-scale."""
    total = 0.0
    for x, y in levels:
        gp = GaussianProcess(Matern(2.5, scale), noise_variance=1e-2)
        gp.add(x, y)
        total += gp.log_evidence
    return total


def test_the_length_scale_has_the_highest_likelihood_of_all_levels_together() -> None:
    rng = np.random.default_rng(3)
    known = model(form=Learned(refit_every="doubling"), noise=0.1, n_initial=16)
    levels = []
    for level, count in enumerate((12, 4)):
        x = rng.random((count, 1))
        y = np.sin(7 * x[:, 0]) + 0.1 * rng.standard_normal(count)
        levels.append((x, y))
        for point, value in zip(x, y, strict=True):
            tell(known, level, float(point[0]), float(value))
    learned = float(np.max(known.frame.kernel.lengthscales))  # type: ignore[attr-defined]
    grid = np.geomspace(0.1, 2.0, 200)
    assert learned == pytest.approx(grid[np.argmax([joint(levels, scale) for scale in grid])], rel=0.05)
    # The likelihood of one level with the other's points far away is the product of both.
    rows = np.vstack([np.column_stack([x, np.full(len(x), 1e3 * m)]) for m, (x, _) in enumerate(levels)])
    data = Observations.merge(rows, np.concatenate([y for _, y in levels]), 1e-2)
    assert float(np.max(learn_kernel(Learned(), data).lengthscales)) == pytest.approx(learned, rel=1e-6)


def test_prior_means_give_little_weight_to_crowds() -> None:
    """Twenty values of 1 around one point and three of 0 elsewhere: the mean is nearer to 0 than the average."""
    known = model(standardise=True, n_initial=23)
    for i in range(20):
        tell(known, 0, 0.5 + 1e-4 * i, 1.0)
    for x in (0.0, 0.2, 0.9):
        tell(known, 0, x, 0.0)
    assert known.frame.to_values(known.frame.means[0]) < 0.5


def test_replicates_and_standard_errors() -> None:
    known = model()
    tell(known, 0, 0.5, 1.0, 2.0)
    known.tell(0, np.array([0.5]), Observation(1, np.array([0.5]), np.array([3.0]), variance=0.0))
    gp = known.gps[0]
    assert gp.n_observations == 3
    assert gp.predict(np.array([[0.5]])).mean[0] == pytest.approx(3.0, abs=1e-3)


@pytest.mark.parametrize("value", [0.0, -3.0, 1e6])
def test_constant_values(value: float) -> None:
    known = model(standardise=True)
    for x in GRID:
        tell(known, 0, x, value)
        tell(known, 1, x, value)
    assert known.frame.scale == 1.0
    assert known.frame.to_values(float(known.blend(np.array([[0.4]]))[0][0])) == pytest.approx(value)


def test_doubling() -> None:
    assert doubled(0.5, -1.0) == doubled(0.5, 0.5) == 0.5
    assert doubled(0.5, 0.51) == 1.0
    assert doubled(0.5, 4.0) == 4.0


def test_until_the_target_has_data_zeta_is_the_range_of_the_values() -> None:
    known = model(3)
    for x in GRID:
        tell(known, 0, x, smooth(x))
        tell(known, 1, x, smooth(x))
    wide = known.frame.start / 0.01
    assert known.gaps.zeta == pytest.approx((wide, wide, 0.0))
    assert max(known.seen_gaps.zeta) < 0.1 * wide
    assert known.blend(np.array([[0.5]]))[1][0] > 0.5 * wide
    tell(known, 2, 0.5, smooth(0.5))
    assert known.gaps == known.seen_gaps
    stated = model(zeta=(0.1,))
    tell(stated, 0, 0.5, 1.0)
    assert stated.gaps.zeta == (0.1, 0.0)


def test_levels_are_not_correlated_however_long_the_length_scales_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """The axis of its own, on which levels lie when the kernel is learned, is long for the longest length-scale."""
    form, seen = Learned(nu=0.5, lengthscales=(0.1, 1e4)), []

    def spied(form: Learned, data: Observations, previous: Any = None) -> Matern:
        seen.append(data)
        return learn_kernel(form, data, previous)

    monkeypatch.setattr("quadrat.methods.multi_fidelity.model.learn_kernel", spied)
    known = model(form=form, n_initial=4)
    for level, x in ((0, 0.1), (0, 0.9), (1, 0.1), (1, 0.9)):
        tell(known, level, x, smooth(x))
    longest = Matern(0.5, 1e4)
    assert longest(seen[0].x[:1], seen[0].x[2:]).max() < 1e-100
