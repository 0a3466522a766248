"""The groups' posteriors against brute force, their gradients, and pending points."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.gp import Observations
from quadrat.kernels import Matern
from quadrat.methods.additive.model import AdditiveFit, AdditiveModel
from quadrat.methods.base import Observation

GROUPS = ((0, 2), (1,), (3,))
FIT = AdditiveFit(GROUPS, (0.3, 0.4, 0.5, 0.6), (1.0, 0.7, 0.5), 2.5, 0.04, 0.3, 0.0)
RNG = np.random.default_rng(5)
X, Y, AT = RNG.random((12, 4)), RNG.standard_normal(12), RNG.random((7, 4))
PENDING = RNG.random((2, 4))


@pytest.fixture(scope="module")
def model() -> AdditiveModel:
    """A model that always learns the same."""
    made = AdditiveModel(lambda *_: FIT, 4, 3)
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        made.tell(Observation(i, x, np.array([y])))
    return made


def kernel(j: int, left: Array, right: Array) -> Array:
    """k_j, from the library's Matérn on the columns of group j."""
    scales = tuple(FIT.lengthscales[i] for i in GROUPS[j])
    axes = list(GROUPS[j])
    return Matern(2.5, scales, amplitude=FIT.amplitudes[j])(left[:, axes].copy(), right[:, axes].copy())


def of(points: Array, j: int) -> Array:
    return np.ascontiguousarray(points[:, list(GROUPS[j])])


def joint(points: Array) -> Array:
    """The inverse of the matrix of the sum of the kernels plus noise."""
    return np.linalg.inv(np.sum([kernel(j, points, points) for j in range(3)], axis=0) + 0.04 * np.eye(len(points)))


def test_the_groups_means_add_up_to_the_joint_mean(model: AdditiveModel) -> None:
    """[K15, section 3]: f is the sum of its groups, and so is its posterior mean, with the prior mean besides."""
    with model.groups() as posterior:
        parts = [posterior.predict(j, of(AT, j)).mean for j in range(3)]
    assert np.sum(parts, axis=0) + FIT.mean == pytest.approx(model.gp.predict_mean(AT), abs=1e-12)


def test_means_and_deviations_by_brute_force(model: AdditiveModel) -> None:
    """[K15, section 3], each matrix written out."""
    inverse = joint(X)
    with model.groups(centred=False) as posterior:
        for j in range(3):
            cross = kernel(j, AT, X)
            at = posterior.predict(j, of(AT, j))
            assert at.mean == pytest.approx(cross @ inverse @ (Y - FIT.mean), abs=1e-10)
            variance = np.diagonal(kernel(j, AT, AT) - cross @ inverse @ cross.T)
            assert at.deviation**2 == pytest.approx(variance, abs=1e-10)
            assert np.diagonal(posterior.covariance(j, of(AT, j))) == pytest.approx(variance, abs=1e-10)


def test_centred_deviations_by_brute_force(model: AdditiveModel) -> None:
    """From the joint posterior of f^(j) at all points: that of f^(j)(x) less the average over the observed ones."""
    inverse = joint(X)
    everywhere = np.vstack([AT, X])
    with model.groups() as posterior:
        for j in range(3):
            cross = kernel(j, everywhere, X)
            covariance = kernel(j, everywhere, everywhere) - cross @ inverse @ cross.T
            centre = np.hstack([np.eye(len(AT)), np.full((len(AT), len(X)), -1 / len(X))])
            wanted = centre @ covariance @ centre.T
            assert posterior.covariance(j, of(AT, j)) == pytest.approx(wanted, abs=1e-10)
            assert posterior.predict(j, of(AT, j)).deviation ** 2 == pytest.approx(np.diagonal(wanted), abs=1e-10)


def test_constants_that_groups_trade_are_not_in_centred_deviations() -> None:
    """Long length-scales make all groups constants: sigma_j stays large, centred deviations are small."""
    fit = AdditiveFit(GROUPS, (10.0,) * 4, (1.0, 1.0, 1.0), 2.5, 0.01, 0.0, 0.0)
    flat = AdditiveModel(lambda *_: fit, 4, 3)
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        flat.tell(Observation(i, x, np.array([y])))
    with flat.groups(centred=False) as raw, flat.groups() as centred:
        for j in range(3):
            assert raw.predict(j, of(AT, j)).deviation.min() > 0.7
            assert centred.predict(j, of(AT, j)).deviation.max() < 0.1


@pytest.mark.parametrize("centred", [True, False])
def test_gradients_by_differences(model: AdditiveModel, centred: bool) -> None:
    step = 1e-6
    with model.groups(PENDING, centred=centred) as posterior:
        for j, group in enumerate(GROUPS):
            at = posterior.predict_with_gradients(j, of(AT, j))
            plain = posterior.predict(j, of(AT, j))
            assert at.mean == pytest.approx(plain.mean, abs=1e-12)
            assert at.deviation == pytest.approx(plain.deviation, abs=1e-12)
            assert at.mean_gradient is not None
            assert at.deviation_gradient is not None
            for axis in range(len(group)):
                move = step * np.eye(len(group))[axis]
                up, down = (posterior.predict(j, of(AT, j) + side * move) for side in (1, -1))
                assert at.mean_gradient[:, axis] == pytest.approx((up.mean - down.mean) / (2 * step), abs=1e-5)
                slope = (up.deviation - down.deviation) / (2 * step)
                assert at.deviation_gradient[:, axis] == pytest.approx(slope, abs=1e-5)


def test_pending_points_change_deviations_alone(model: AdditiveModel) -> None:
    """Means stay; deviations are those with the points observed, whatever was seen there. A repeat counts once."""
    inverse = joint(np.vstack([X, PENDING]))
    with model.groups(centred=False) as posterior:
        before = [posterior.predict(j, of(AT, j)) for j in range(3)]
    with model.groups(np.vstack([PENDING, PENDING[:1]]), centred=False) as posterior:
        for j in range(3):
            at = posterior.predict(j, of(AT, j))
            assert at.mean == pytest.approx(before[j].mean, abs=1e-12)
            cross = kernel(j, AT, np.vstack([X, PENDING]))
            wanted = np.diagonal(kernel(j, AT, AT) - cross @ inverse @ cross.T)
            assert at.deviation**2 == pytest.approx(wanted, abs=1e-10)
    with model.groups(centred=False) as posterior:
        for j in range(3):
            assert np.array_equal(posterior.predict(j, of(AT, j)).deviation, before[j].deviation)


def test_it_learns_whenever_there_are_two_fifths_more_trials() -> None:
    seen: list[tuple[int, int, bool]] = []

    def learn(data: Observations, previous: AdditiveFit | None, trials: int) -> AdditiveFit:
        seen.append((trials, len(data), previous is None))
        return FIT

    made = AdditiveModel(learn, 4, 3)
    for i in range(13):
        made.tell(Observation(i, RNG.random(4), np.array([0.0, 1.0])))
    assert seen == [(3, 3, True), (5, 5, False), (7, 7, False), (10, 10, False)]


def test_known_variances_stay_apart_from_unknown_ones() -> None:
    found: list[Observations] = []
    made = AdditiveModel(lambda data, *_: found.append(data) or FIT, 4, 3)  # type: ignore[func-returns-value]
    made.tell(Observation(0, X[0], np.array([1.0, 3.0])))
    made.tell(Observation(1, X[1], np.array([1.0]), variance=0.25))
    made.tell(Observation(2, X[2], np.array([2.0]), variance=0.0))
    assert found[0].count.tolist() == [2, 0, 0]
    assert found[0].y.tolist() == [2, 1, 2]
    assert found[0].known_variance[1] == 0.25
    assert 0 < found[0].known_variance[2] < 1e-6
