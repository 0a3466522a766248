"""What the default method learns: when, from what, and that nothing but what was told matters."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.arrays import Array
from quadrat.gp import Fit, Observations, fit_map
from quadrat.kernels import Kernel, Matern, Tied
from quadrat.methods.auto_model import SETTINGS, SPREAD, LearnedModel, is_due
from quadrat.methods.base import Told
from quadrat.methods.domain import Axis, Domain

GRID = np.random.default_rng(999).random((7, 2))


def trial(number: int, values: int = 1, variance: float | None = None) -> Told:
    """A trial at a point of its own, with as many values and, where given, their mean's variance."""
    rng = np.random.default_rng(number)
    x = rng.random(2)
    return Told(number, x, np.sin(5 * x[0]) + x[1] + 0.1 * rng.normal(size=values), variance)


def model_of(*trials: Told, first: int = 5, seed: int = 0) -> LearnedModel:
    model = LearnedModel(Domain.cube(2), seed, first)
    for told in trials:
        model.tell(told)
    return model


def raw(trials: list[Told]) -> tuple[Array, Array]:
    x = np.array([told.x for told in trials for _ in told.values])
    return x, np.concatenate([told.values for told in trials])


def standardised(trials: list[Told]) -> tuple[Array, Array]:
    """Points and values in the model's own units."""
    (x, y), (shift, scale) = raw(trials), model_of(*trials, first=1000).units()
    return x, y / scale - shift / scale  # to the last bit, as the model does


def settings(model: LearnedModel) -> Array:
    return model.current()[1].settings


# --- when


def test_schedule() -> None:
    """Every trial up to 64, every second up to 128, every fourth up to 256, and so on."""
    wanted = [*range(5, 64), *range(64, 128, 2), *range(128, 256, 4), *range(256, 512, 8)]
    assert [trials for trials in range(1, 512) if is_due(trials, 5)] == wanted
    for start in (64, 1024, 2**15):
        assert sum(is_due(trials, 5) for trials in range(start, 2 * start)) == 32


@pytest.mark.parametrize("first", [1, 2, 5, 40, 100])
def test_nothing_is_due_before_the_first_time(first: int) -> None:
    assert not any(is_due(trials, first) for trials in range(first))
    assert any(is_due(trials, first) for trials in range(first, 2 * first + 1))


def test_it_is_settled_from_the_first_time_on() -> None:
    model = LearnedModel(Domain.cube(2), 0, 5)
    for number in range(6):
        model.tell(trial(number))
        assert model.settled is (number >= 4)
    assert model.trials == 6


def test_between_times_settings_stay_and_new_trials_are_seen() -> None:
    """64 trials, then one for which nothing is due: its value counts at once, under the same settings."""
    model = model_of(*(trial(number) for number in range(64)), first=64)
    before, at = settings(model).copy(), model.current()[1].predict(GRID[:1]).deviation
    model.tell(Told(64, GRID[0], np.array([1.0])))
    np.testing.assert_array_equal(settings(model), before)
    objective, ensemble = model.current()
    assert len(ensemble.x) == 65
    assert (ensemble.predict(GRID[:1]).deviation < at).all()
    assert (objective.shift, objective.scale) == (0.0, 1.0)
    y = np.append([trial(number).values[0] for number in range(64)], 1.0)
    np.testing.assert_allclose(np.sort(objective.data.y), np.sort(y - y.mean()) / y.std(), atol=1e-12)
    model.tell(trial(65))
    assert not np.array_equal(settings(model), before)


# --- from what


def test_units_are_the_mean_and_the_sd_of_all_observations() -> None:
    trials = [trial(number, values=1 + number % 3) for number in range(7)]
    model, (_, y) = model_of(*trials), raw(trials)
    assert model.units() == pytest.approx((np.mean(y), np.std(y)), rel=1e-14)
    data = model.current()[0].data
    np.testing.assert_allclose(data.y, [(t.values.mean() - y.mean()) / y.std() for t in trials], rtol=1e-10)
    assert model_of(*(Told(i, trial(i).x, np.array([4.0])) for i in range(3))).units() == (4.0, 4.0)


def test_the_first_setting_is_the_most_likely_one_and_the_others_lie_around_it() -> None:
    trials = [trial(number) for number in range(5)]
    got = settings(model_of(*trials))
    fit = fit_map(Matern(2.5, (0.5, 0.5)), Observations.merge(*standardised(trials)), standardise=False)
    assert got.shape == (SETTINGS, 4)
    np.testing.assert_array_equal(got[0], fit.parameters)
    draws = np.vstack([settings(model_of(*trials, seed=seed))[1:] for seed in range(40)])
    offsets = (draws - fit.parameters) / SPREAD
    assert len(np.unique(draws, axis=0)) == len(draws), "other seeds, other draws"
    assert abs(offsets.mean()) < 0.15
    assert offsets.std() == pytest.approx(1.0, abs=0.1)


def test_later_fits_start_from_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = [trial(number) for number in range(6)]
    before = settings(model_of(*trials[:5]))[0]
    data = Observations.merge(*standardised(trials))
    fit = fit_map(Matern(2.5, (0.5, 0.5)), data, starts=[before], standardise=False)
    seen: list[list[Array]] = []

    def recorded(kernel: Kernel, data: Observations, *, starts: list[Array], standardise: bool) -> Fit:
        seen.append(starts)
        return fit_map(kernel, data, starts=starts, standardise=standardise)

    monkeypatch.setattr("quadrat.methods.auto_model.fit_map", recorded)
    np.testing.assert_array_equal(settings(model_of(*trials))[0], fit.parameters)
    assert [len(starts) for starts in seen] == [0, 1]
    np.testing.assert_array_equal(seen[1][0], before)


def test_replicates_count_one_by_one() -> None:
    trials = [trial(number, values=1 + number % 3) for number in range(6)]
    model = model_of(*trials)
    x, y = raw(trials)
    np.testing.assert_array_equal(model.x, x)
    np.testing.assert_array_equal(model.y, y)
    data = model.current()[0].data
    assert data.count.tolist() == [1, 2, 3, 1, 2, 3]
    assert data.scatter[2] == pytest.approx(3 * np.var(y[3:6]) / np.var(y))


def test_a_known_variance_belongs_to_the_mean_of_its_values() -> None:
    trials = [trial(number, values=3, variance=0.04 if number % 2 else None) for number in range(6)]
    model = model_of(*trials)
    objective, _ = model.current()
    known = objective.data.count == 0
    means = [told.values.mean() for told in trials if told.variance is not None]
    y = np.concatenate([t.values if t.variance is None else [t.values.mean()] for t in trials])
    np.testing.assert_allclose(model.y, y)
    np.testing.assert_allclose(objective.data.known_variance[known], 0.04 / np.var(y))
    np.testing.assert_allclose(objective.data.y[known], (np.array(means) - y.mean()) / y.std())
    assert len(model.y) == 3 * 3 + 3
    assert objective.names[-1] == "noise_variance"


def test_where_all_variances_are_known_no_noise_is_learned() -> None:
    model = model_of(*(trial(number, variance=0.01) for number in range(6)))
    assert model.current()[0].names == ("lengthscale[0]", "lengthscale[1]", "amplitude")
    assert settings(model).shape == (SETTINGS, 3)


@pytest.mark.parametrize("first", [5, 64])
def test_a_plain_value_after_nothing_but_known_variances(first: int) -> None:
    """From then on there is a noise variance to learn: a new fit at once, due or not, from the prior alone."""
    known = [trial(number, variance=0.01) for number in range(first)]
    model = model_of(*known, first=first)
    assert settings(model).shape == (SETTINGS, 3)
    model.tell(trial(first))
    objective, ensemble = model.current()
    assert objective.names[-1] == "noise_variance"
    x, y = standardised([*known, trial(first)])
    variance = 0.01 / model.units()[1] ** 2
    data = Observations.merge(x[-1:], y[-1:]) + Observations.merge(x[:-1], y[:-1], np.full(first, variance))
    cold = fit_map(Matern(2.5, (0.5, 0.5)), data, standardise=False).parameters
    assert ensemble.settings.shape == (SETTINGS, 4)
    np.testing.assert_allclose(ensemble.settings[0], cold, atol=1e-3)
    assert np.isfinite(ensemble.predict(GRID).mean).all()


def test_choices_share_a_length_scale() -> None:
    values = tuple(((np.arange(4) + 0.5) / 4).tolist())
    domain = Domain((Axis(), Axis(values, ordered=False)))
    model = LearnedModel(domain, 0, 5)
    rng = np.random.default_rng(0)
    for number in range(6):
        x = np.array([rng.random(), values[number % 4]])
        model.tell(Told(number, x, np.array([x[0] + number % 4])))
    objective, ensemble = model.current()
    assert isinstance(objective.kernel, Tied)
    assert objective.names == ("lengthscale[0]", "lengthscale[1]", "amplitude", "noise_variance")
    assert ensemble.x.shape == (6, 5)
    np.testing.assert_array_equal(ensemble.x, domain.features(model.x))


@pytest.mark.parametrize("values", [[3.0] * 6, [0.0] * 6, [1e6, 1e6 + 1e-7] * 3], ids=str)
def test_values_without_scale(values: list[float]) -> None:
    model = model_of(*(Told(i, trial(i).x, np.array([value])) for i, value in enumerate(values)))
    shift, scale = model.units()
    means = shift + scale * model.current()[1].predict(GRID).mean
    np.testing.assert_allclose(means, values[0], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("size", [1e-200, 1e-100, 1e-9, 1e9, 1e100, 1e200])
def test_values_of_any_size(size: float) -> None:
    """The most likely setting does not depend on units."""
    trials = [trial(number) for number in range(6)]
    scaled = [Told(told.number, told.x, size * told.values) for told in trials]
    np.testing.assert_allclose(settings(model_of(*scaled))[0], settings(model_of(*trials))[0], atol=0.02)


# --- nothing else


def test_looking_early_changes_nothing() -> None:
    """Predictions may be wanted before the first time; settings learned for them are not kept."""
    looked, blind = LearnedModel(Domain.cube(2), 0, 5), LearnedModel(Domain.cube(2), 0, 5)
    for number in range(8):
        for model in (looked, blind):
            model.tell(trial(number))
        early = number < 4
        if early:
            looked.current()
        assert looked.settled == blind.settled == (not early)
        if number == 4:  # the first fit, which has none before it to start from
            np.testing.assert_array_equal(settings(looked), settings(blind))
    np.testing.assert_array_equal(settings(looked), settings(blind))


def test_one_trial_can_be_looked_at() -> None:
    model = model_of(trial(0))
    assert len(model.current()[1]) == SETTINGS
    assert model.units() == (trial(0).values[0], abs(trial(0).values[0]))
    assert not model.settled
