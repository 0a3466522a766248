"""Uneven noise in the default method: where it is found, that all parts use it, and that nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.methods.auto.acquisition import knowledge_gradients
from quadrat.methods.auto.feasibility import _ConstraintModel
from quadrat.methods.auto.method import Auto, AutoSearch
from quadrat.methods.auto.surrogate import Fitted, LearnedModel
from quadrat.methods.base import Axis, Domain, Observation

GRID = np.random.default_rng(999).random((7, 2))
LOW, HIGH = 0.02, 0.6


def deviation(x: Array) -> float:
    """Of the noise at x, (2,): it grows along the first axis."""
    return float(LOW * (HIGH / LOW) ** x[0])


def trial(number: int, values: int = 1, *, even: bool = False, seed: int = 0) -> Observation:
    rng = np.random.default_rng([seed, number])
    x = rng.random(2)
    f = np.sin(5 * x[0]) + x[1]
    return Observation(number, x, f + (0.2 if even else deviation(x)) * rng.standard_normal(values))


def model_of(*trials: Observation, domain: Domain | None = None, noise: float | None = None) -> LearnedModel:
    """Values are not compressed, so that they have the units told."""
    model = LearnedModel(domain or Domain.cube(2), 0, 5, warps=False, noise=noise)
    model.tell(trials)
    return model


TOLD = [trial(i, 2 if i % 5 == 0 else 1) for i in range(64)]


def conditioned(fitted: Fitted, trials: list[Observation], points: Array) -> tuple[Array, Array]:
    """Mean and variance of f at points (m, D) under each member, (M, m): raw values, dense algebra, a flat mean."""
    samples, uneven = fitted.fit.samples, fitted.fit.uneven
    assert uneven is not None
    x = np.repeat([t.x for t in trials], [len(t.values) for t in trials], axis=0)
    y = fitted.fit.transform.apply(np.concatenate([t.values for t in trials]))
    w = np.exp((x[:, uneven.columns] - uneven.centre) @ uneven.slopes)
    means, variances = [], []
    for i in np.argsort(samples.kernel, kind="stable"):
        theta, s2 = samples.lengthscales[i], samples.variance[i]
        kernel = fitted.fit.kernels[samples.kernel[i]]
        inverse = np.linalg.inv(s2 * kernel(x / theta) + samples.noise_variance[i] * np.diag(w))
        cross, u = s2 * kernel(points / theta, x / theta), inverse.sum(axis=1)
        m = u @ y / u.sum()
        means.append(m + cross @ inverse @ (y - m))
        variances.append(s2 - np.einsum("mi,ij,mj->m", cross, inverse, cross) + (1 - cross @ u) ** 2 / u.sum())
    return np.array(means), np.array(variances)


@pytest.mark.parametrize("way", ["search", "statements", "left out"])
def test_posteriors_are_those_of_processes_conditioned_directly(way: str) -> None:
    model = model_of(*TOLD)
    fitted = model.left_out()[0] if way == "left out" else model.stated() if way == "statements" else model.current()
    assert fitted.fit.uneven is not None
    assert fitted.fit.uneven.columns[0] == 0
    assert fitted.fit.uneven.slopes[0] == pytest.approx(2 * np.log(HIGH / LOW), abs=2.5)
    mean, variance = conditioned(fitted, TOLD, GRID)
    at = fitted.ensemble.predict(GRID)
    np.testing.assert_allclose(at.mean, mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(at.deviation**2, variance, rtol=1e-4, atol=1e-6)


def test_densities_of_the_next_trial_have_the_noise_of_its_point() -> None:
    model = model_of(*TOLD, trial(70, 3))
    at = model._conditioned(model._learn(64, 12, 11), 64)
    mean, variance = conditioned(at, TOLD, trial(70, 3).x[None, :])
    noise = at.noise_variances_at(trial(70, 3).x[None, :])[:, 0] / 3
    seen = at.fit.transform.apply(np.array([trial(70, 3).values.mean()]))
    total = variance[:, 0] + noise
    wanted = -0.5 * (np.log(total) + (seen - mean[:, 0]) ** 2 / total)
    np.testing.assert_allclose(model._log_densities(at), wanted, rtol=1e-5, atol=1e-5)


def test_noise_is_stated_at_the_point() -> None:
    """Within a factor of two over the axis; the root mean square over samples; the one at the middle is `noise`."""
    fitted = model_of(*TOLD).stated()
    for x in ([0.1, 0.5], [0.5, 0.5], [0.9, 0.5]):
        assert 0.5 < fitted.noise_at(np.array([x])) / deviation(np.array(x)) < 2
    each = fitted.noise_variances_at(GRID)
    assert each.shape == (len(fitted.ensemble), 7)
    uneven = fitted.fit.uneven
    assert uneven is not None
    np.testing.assert_allclose(each, fitted.noise_variances[:, None] * uneven.factor(GRID))


@pytest.mark.parametrize("seed", range(6))
def test_where_noise_is_even_nothing_changes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit, beside a model that does not look for it."""
    trials = [trial(i, even=True, seed=seed) for i in range(40)]
    here = model_of(*trials)
    found = here.current(), here.stated()
    monkeypatch.setattr(LearnedModel, "finds_uneven_noise", False)
    other = model_of(*trials)
    for one, same in zip(found, (other.current(), other.stated()), strict=True):
        assert one.fit.uneven is None
        for name in ("kernel", "lengthscales", "variance", "noise_variance", "probabilities"):
            np.testing.assert_array_equal(getattr(one.fit.samples, name), getattr(same.fit.samples, name), name)
        np.testing.assert_array_equal(one.ensemble.predict(GRID).mean, same.ensemble.predict(GRID).mean)
        assert one.noise == same.noise == one.noise_at(GRID[:1])


def test_units_change_nothing_but_units() -> None:
    scaled = [Observation(t.number, t.x, 1000 * t.values - 7) for t in TOLD]
    one, other = model_of(*TOLD).current(), model_of(*scaled).current()
    assert one.fit.uneven is not None
    assert other.fit.uneven is not None
    np.testing.assert_allclose(other.fit.uneven.slopes, one.fit.uneven.slopes, rtol=1e-3)
    assert other.noise_at(GRID[:1]) == pytest.approx(1000 * one.noise_at(GRID[:1]), rel=0.01)


def test_asks_in_between_do_not_matter() -> None:
    together, step_by_step = model_of(*TOLD), model_of()
    for told in TOLD:
        step_by_step.tell([told])
        step_by_step.current()
    one, other = together.current(), step_by_step.current()
    assert one.fit.uneven is not None
    assert other.fit.uneven is not None
    assert one.fit.uneven.slopes.tolist() == other.fit.uneven.slopes.tolist()
    np.testing.assert_array_equal(one.ensemble.predict(GRID).mean, other.ensemble.predict(GRID).mean)


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_outliers_are_no_uneven_noise(seed: int) -> None:
    """Two at one end of an axis, under even noise."""
    trials = [trial(i, even=True, seed=seed) for i in range(50)]
    for number in sorted(range(50), key=lambda i: -trials[i].x[0])[2:8:4]:
        trials[number] = Observation(number, trials[number].x, trials[number].values + 12.0)
    fit = model_of(*trials).current().fit
    assert fit.uneven is None
    assert fit.outliers is not None
    assert len(fit.outliers.rows) == 2


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_uneven_noise_makes_no_outliers(seed: int) -> None:
    fit = model_of(*(trial(i, seed=seed) for i in range(64))).current().fit
    assert fit.uneven is not None
    assert fit.outliers is None


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_outliers_under_uneven_noise_are_found(seed: int) -> None:
    trials = [trial(i, seed=seed) for i in range(64)]
    trials[20] = Observation(20, trials[20].x, trials[20].values + 20.0)
    fit = model_of(*trials).current().fit
    assert fit.uneven is not None
    assert fit.uneven.slopes[0] == pytest.approx(2 * np.log(HIGH / LOW), abs=3.5)
    assert fit.outliers is not None
    assert 20 in fit.outliers.rows
    assert len(fit.outliers.rows) <= 3


def test_choices_have_no_slope_and_numbers_beside_them_have() -> None:
    domain = Domain((Axis((0.25, 0.75), ordered=False), Axis()))
    rng = np.random.default_rng(3)
    trials = []
    for i in range(64):
        x = np.array([0.25 if i % 2 else 0.75, rng.random()])
        trials.append(Observation(i, x, np.sin(5 * x[1]) + x[0] + deviation(x[1:]) * rng.standard_normal(1)))
    uneven = model_of(*trials, domain=domain).current().fit.uneven
    assert uneven is not None
    assert uneven.columns.tolist() == [2]


def test_models_near_a_place_of_constraints_and_of_stated_noise_have_even_noise() -> None:
    model = model_of(*TOLD)
    assert model.near(np.full(2, 0.5), np.ones(2), 60).current().fit.uneven is None
    constraint = _ConstraintModel(Domain.cube(2), 0, 5)
    constraint.tell(TOLD)
    assert constraint.current().fit.uneven is None
    assert model_of(*TOLD, noise=0.2).current().fit.uneven is None


def test_standard_errors_stay_as_they_are_told() -> None:
    stated = [Observation(100 + i, trial(200 + i).x, trial(200 + i).values, 0.04) for i in range(6)]
    fitted = model_of(*TOLD, *stated).current()
    assert fitted.fit.uneven is not None
    known = fitted.data.count == 0
    np.testing.assert_allclose(fitted.data.known_variance[known], 0.04 / fitted.transform.scale**2)
    np.testing.assert_allclose(fitted.data.noise_variance(9.0)[known], fitted.data.known_variance[known])


def search_of(trials: list[Observation]) -> AutoSearch:
    search = Auto().start(Domain.cube(2), 0)
    search.tell_many(trials)
    return search


def test_what_is_said_has_the_noise_of_the_recommended_point_and_the_slope() -> None:
    search = search_of(TOLD)
    found = search.recommend()
    assert found.noise is not None
    assert 0.5 < found.noise / deviation(found.x) < 2
    slopes = search.explain()["slopes of log noise variance"]
    assert isinstance(slopes, dict)
    assert slopes["axis 0"] == search.model.stated().fit.uneven.slopes[0]  # type: ignore[union-attr]
    even = search_of([trial(i, even=True) for i in range(40)])
    assert "slopes of log noise variance" not in even.explain()


def test_leaving_out_knows_the_noise_of_each_observation() -> None:
    """Residuals of quiet and noisy places are alike, and nothing warns of a model that fits badly."""
    search = search_of(TOLD)
    found = search.leave_one_out()
    assert found is not None
    assert found.warning is None
    quiet = np.array([TOLD[some[0]].x[0] < 0.5 for some in found.trials])
    assert 0.5 < found.residuals[quiet].std() / found.residuals[~quiet].std() < 2
    assert found.deviation[~quiet].mean() > 1.5 * found.deviation[quiet].mean()


def test_a_look_again_is_worth_more_where_noise_is_less() -> None:
    """The worth of each point is that of noise which is the same everywhere, with the variance of that point."""
    fitted = model_of(*TOLD).current()
    known, new = np.array([t.x for t in TOLD[:5]]), GRID[:2]
    noise = fitted.noise_variances_at(np.vstack([known, new]))
    found = knowledge_gradients(fitted.ensemble, known, new, noise)
    for row in range(7):
        assert knowledge_gradients(fitted.ensemble, known, new, noise[:, row])[row] == found[row]
