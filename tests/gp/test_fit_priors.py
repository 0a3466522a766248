"""Priors in log space: their precision against brute force, their density against SciPy's, and draws from them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.gp import Bounds, LogNormal, LogPosterior, Observations, Priors, fit_map
from quadrat.gp.fit import _draw, role_of
from quadrat.kernels import Kernel, Matern, RationalQuadratic, SquaredExponential

PRIORS = Priors(
    LogNormal(-0.7, 0.5), LogNormal(0.3, 1.2), LogNormal(-5.0, 1.5), LogNormal(0.1, 0.8), common_lengthscale=1.5
)
NAMES = ("lengthscale[0]", "amplitude", "left.lengthscale[1]", "a", "right.inner.lengthscale", "noise_variance")
X = np.random.default_rng(3).random((12, 2))
Y = np.sin(5 * X[:, 0]) + X[:, 1]


def covariance(priors: Priors, names: tuple[str, ...]) -> Array:
    """Entry by entry: each has its own variance, and any two length-scales share that of their shift."""
    roles = [role_of(name) for name in names]
    matrix = np.diag([getattr(priors, role).sd ** 2 for role in roles])
    for i, one in enumerate(roles):
        for j, other in enumerate(roles):
            if one == other == "lengthscale":
                matrix[i, j] += priors.common_lengthscale**2
    return matrix


def without(role: str) -> Priors:
    """These priors, flat in one role."""
    changes: dict[str, Any] = {role: None}
    return replace(PRIORS, **changes)


def objective_of(priors: Priors, kernel: Kernel | None = None) -> LogPosterior:
    kernel = RationalQuadratic(2.0, (0.3, 0.8)) if kernel is None else kernel
    return LogPosterior(kernel, Observations.merge(X, Y), priors=priors)


# --- the precision


@pytest.mark.parametrize("common", [0.0, 0.01, 1.5, 30.0])
@pytest.mark.parametrize(
    "names",
    [NAMES, ("lengthscale", "amplitude"), tuple(f"lengthscale[{i}]" for i in range(8)), ("amplitude", "a")],
    ids=["mixed", "one", "eight", "none"],
)
def test_precision_is_the_inverse_of_the_covariance(names: tuple[str, ...], common: float) -> None:
    priors = replace(PRIORS, common_lengthscale=common)
    means, precision = priors.parameters(names)
    np.testing.assert_allclose(precision, np.linalg.inv(covariance(priors, names)), rtol=1e-8, atol=1e-8)
    assert means.tolist() == [getattr(priors, role_of(name)).mean for name in names]


def test_separate_length_scales_share_nothing_and_are_as_uncertain() -> None:
    names = tuple(f"lengthscale[{i}]" for i in range(4))
    priors = replace(PRIORS, separate_lengthscales=(1, 3))
    wanted = covariance(PRIORS, names)
    for i in range(4):
        for j in range(4):
            if i != j and (i in (1, 3) or j in (1, 3)):
                wanted[i, j] = 0.0
    np.testing.assert_allclose(np.linalg.inv(priors.parameters(names)[1]), wanted, atol=1e-12)


def test_without_a_common_shift_all_are_independent() -> None:
    priors = replace(PRIORS, common_lengthscale=0.0)
    assert Priors().common_lengthscale == 0.0
    np.testing.assert_allclose(
        priors.parameters(NAMES)[1], np.diag([1 / 0.25, 1 / 1.44, 1 / 0.25, 1 / 0.64, 1 / 0.25, 1 / 2.25])
    )


@pytest.mark.parametrize("role", ["lengthscale", "amplitude", "noise_variance", "shape"])
def test_what_is_flat_has_rows_of_zeros_and_the_others_keep_theirs(role: str) -> None:
    """Without a prior on length-scales there is none on their shift either."""
    flat = np.array([role_of(name) == role for name in NAMES])
    means, precision = without(role).parameters(NAMES)
    full_means, full = PRIORS.parameters(NAMES)
    assert flat.any()
    assert not precision[flat].any()
    assert not precision[:, flat].any()
    np.testing.assert_array_equal(precision[np.ix_(~flat, ~flat)], full[np.ix_(~flat, ~flat)])
    np.testing.assert_array_equal(means, np.where(flat, 0.0, full_means))


def test_flat_priors_say_nothing() -> None:
    assert not Priors.flat().parameters(NAMES)[1].any()
    objective = objective_of(Priors.flat())
    value, gradient = objective.log_prior(objective.start())
    assert value == 0.0
    assert not gradient.any()


@pytest.mark.parametrize("common", [-0.1, np.nan, np.inf, "1", None])
def test_a_wrong_common_shift(common: Any) -> None:
    with pytest.raises(InvalidInput, match="common_lengthscale"):
        Priors(common_lengthscale=common)


# --- the density


@pytest.mark.parametrize("common", [0.0, 0.3, 1.5])
def test_log_prior_is_the_normal_density_up_to_its_constant(common: float) -> None:
    objective = objective_of(replace(PRIORS, common_lengthscale=common))
    means = objective.priors.parameters(objective.names)[0]
    exact = multivariate_normal(means, covariance(objective.priors, objective.names))
    points = np.random.default_rng(0).normal(size=(6, len(means)))
    for point in points:
        wanted = exact.logpdf(point) - exact.logpdf(means)
        assert objective.log_prior(point)[0] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("flat", [None, "amplitude", "lengthscale"])
def test_gradient_of_log_prior_equals_finite_differences(flat: str | None) -> None:
    objective = objective_of(PRIORS if flat is None else without(flat))
    at, step = np.random.default_rng(1).normal(size=len(objective.names)), 1e-5
    _, gradient = objective.log_prior(at)
    moves = step * np.eye(len(at))
    numeric = [(objective.log_prior(at + e)[0] - objective.log_prior(at - e)[0]) / (2 * step) for e in moves]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-7, atol=1e-8)
    assert (np.abs(gradient) > 1e-3).any()


def test_the_objective_is_evidence_plus_prior() -> None:
    """With the common shift in both its value and its gradient."""
    objective, free = objective_of(PRIORS), objective_of(Priors.flat())
    at = objective.start()
    (value, gradient), (prior, slope), (evidence, pull) = objective(at), objective.log_prior(at), free(at)
    assert value == pytest.approx(evidence + prior, abs=1e-12)
    np.testing.assert_allclose(gradient, pull + slope, rtol=1e-12)


@pytest.mark.parametrize("common", [0.0, 1.5])
def test_a_length_scale_that_the_data_say_nothing_of_follows_the_other(common: float) -> None:
    """All points have the same second coordinate: that length-scale has its mean given the first one."""
    x = np.column_stack([np.linspace(0, 1, 15), np.full(15, 0.5)])
    data = Observations.merge(x, np.sin(12 * x[:, 0]))
    fit = fit_map(SquaredExponential((0.5, 0.5)), data, priors=replace(PRIORS, common_lengthscale=common))
    first, second = fit.parameters[:2]
    share = common**2 / (0.25 + common**2)
    assert first < -1.2, "pulled away from the prior's mean of -0.7"
    assert second == pytest.approx(-0.7 + share * (first + 0.7), abs=0.02)


# --- draws


def draws_of(objective: LogPosterior, count: int = 4000) -> tuple[Array, Array]:
    """Many starts, and the log box."""
    box, rng = Bounds().logs(objective.names), np.random.default_rng(7)
    return np.array([_draw(objective, box, rng) for _ in range(count)]), box


@pytest.mark.parametrize("common", [0.0, 1.5])
def test_draws_have_the_covariance_of_the_priors(common: float) -> None:
    """Whitened with what it should be, means are 0 and the covariance is the identity, up to 4000 draws' accuracy."""
    objective = objective_of(replace(PRIORS, common_lengthscale=common))
    draws, _ = draws_of(objective)
    root = np.linalg.cholesky(covariance(objective.priors, objective.names))
    white = np.linalg.solve(root, (draws - objective.priors.parameters(objective.names)[0]).T)
    np.testing.assert_allclose(white.mean(axis=1), 0.0, atol=0.08)
    np.testing.assert_allclose(np.cov(white), np.eye(len(white)), atol=0.11)


@pytest.mark.parametrize("role", ["lengthscale", "noise_variance"])
def test_draws_are_uniform_in_the_log_box_where_a_prior_is_flat(role: str) -> None:
    objective = objective_of(without(role))
    draws, box = draws_of(objective)
    flat = np.array([role_of(name) == role for name in objective.names])
    shares = (draws[:, flat] - box[flat, 0]) / (box[flat, 1] - box[flat, 0])
    assert shares.min() >= 0
    assert shares.max() <= 1
    np.testing.assert_allclose(
        np.quantile(shares, [0.25, 0.5, 0.75], axis=0).T, [[0.25, 0.5, 0.75]] * flat.sum(), atol=0.04
    )
    rest = draws[:, ~flat]
    names = tuple(name for name, out in zip(objective.names, flat, strict=True) if not out)
    wanted = np.sqrt(np.diagonal(covariance(PRIORS, names)))
    np.testing.assert_allclose(rest.std(axis=0), wanted, rtol=0.06)
    assert np.abs(np.asarray(np.corrcoef(draws.T))[np.ix_(flat, ~flat)]).max() < 0.08


def test_draws_where_all_priors_are_flat() -> None:
    draws, box = draws_of(objective_of(Priors.flat(), Matern(2.5, (0.5, 0.5))), count=200)
    assert ((draws >= box[:, 0]) & (draws <= box[:, 1])).all()
    assert (draws.std(axis=0) > 0.2 * (box[:, 1] - box[:, 0])).all()
