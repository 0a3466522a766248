"""What the default method learns: when, from what, and that nothing but what was told matters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat._core.nearest import nearest
from quadrat.gp import Fit, Observations, fit_map
from quadrat.kernels import Kernel, Matern, SquaredExponential, Tied
from quadrat.methods.auto.surrogate import (
    COMPARE_EVERY,
    OWN_SPREAD,
    PRIORS,
    SETTINGS,
    SMOOTHNESSES,
    SPREAD,
    WARP_FROM,
    LearnedModel,
    OutputTransform,
    is_due,
)
from quadrat.methods.base import Axis, Domain, Observation

GRID = np.random.default_rng(999).random((7, 2))
FORMS: list[Kernel] = [Matern(nu, (0.5, 0.5)) for nu in (0.5, 1.5, 2.5)] + [SquaredExponential((0.5, 0.5))]
"""The kernels that are compared, where they start from."""
TOP = np.array([0.4, 0.6])


def trial(number: int, values: int = 1, variance: float | None = None) -> Observation:
    """A trial at a point of its own, with as many values and, where given, their mean's variance."""
    rng = np.random.default_rng(number)
    x = rng.random(2)
    return Observation(number, x, np.sin(5 * x[0]) + x[1] + 0.1 * rng.normal(size=values), variance)


def model_of(*trials: Observation, first: int = 5, seed: int = 0) -> LearnedModel:
    model = LearnedModel(Domain.cube(2), seed, first)
    for told in trials:
        model.tell(told)
    return model


def raw(trials: list[Observation]) -> tuple[Array, Array]:
    x = np.array([told.x for told in trials for _ in told.values])
    return x, np.concatenate([told.values for told in trials])


def standardised(trials: list[Observation]) -> tuple[Array, Array]:
    """Points and values in the model's own units."""
    x, y = raw(trials)
    return x, OutputTransform.of(y).apply(y)


def settings(model: LearnedModel) -> Array:
    return model.current()[1].settings


def smoothness(model: LearnedModel) -> float:
    """nu of the chosen kernel; infinite for the squared exponential."""
    kernel = model.current()[0].kernel
    inner = kernel.kernel if isinstance(kernel, Tied) else kernel
    return inner.nu if isinstance(inner, Matern) else inf


def fits_of(data: Observations) -> list[Fit]:
    """The most likely setting under each kernel, found from its start alone."""
    return [fit_map(form, data, priors=PRIORS, standardise=False) for form in FORMS]


def gathering(f: Callable[[Array], float], n: int = 24, seed: int = 0, noise: float = 0.003) -> list[Observation]:
    """Trials as in the course of a run: the first half uniform, the others ever nearer to the top of f."""
    rng, told = np.random.default_rng(seed), []
    for number in range(n):
        x = rng.random(2)
        if number >= n // 2:
            x = np.clip(TOP + 10 ** (-3 * rng.random()) * 0.3 * rng.normal(size=2), 0, 1)
        told.append(Observation(number, x, np.array([f(x) + noise * rng.normal()])))
    return told


def bowl(x: Array) -> float:
    return -float(((x - TOP) ** 2).sum())


def cusp(x: Array) -> float:
    return -float(np.abs(x - TOP).sum())


def spike(x: Array) -> float:
    return -float(np.sqrt(np.abs(x - TOP)).sum())


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
    model.tell(Observation(64, GRID[0], np.array([1.0])))
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
    assert model.transform().shift == pytest.approx(np.mean(y), rel=1e-14)
    assert model.transform().scale == pytest.approx(np.std(y), rel=1e-14)
    data = model.current()[0].data
    np.testing.assert_allclose(data.y, [(t.values.mean() - y.mean()) / y.std() for t in trials], rtol=1e-10)
    assert model_of(*(Observation(i, trial(i).x, np.array([4.0])) for i in range(3))).transform() == OutputTransform(
        4.0, 4.0
    )


@pytest.mark.parametrize(("f", "nu"), [(spike, 0.5), (cusp, 1.5), (bowl, inf)], ids=["spike", "cusp", "bowl"])
def test_the_kernel_under_which_the_data_are_most_likely_is_chosen(f: Callable[[Array], float], nu: float) -> None:
    """Of four fits to the same data the one of highest log posterior; its parameters are the first setting."""
    trials = gathering(f)
    model = model_of(*trials, first=len(trials))
    fits = fits_of(Observations.merge(*standardised(trials)))
    heights = [fit.log_posterior for fit in fits]
    best = int(np.argmax(heights))
    assert sorted(heights)[-1] - sorted(heights)[-2] > 0.1, "clear enough"
    assert smoothness(model) == SMOOTHNESSES[best] == nu
    objective, ensemble = model.current()
    assert ensemble.settings.shape == (SETTINGS, 4)
    np.testing.assert_array_equal(ensemble.settings[0], fits[best].parameters)
    assert objective(ensemble.settings[0])[0] == pytest.approx(max(heights), abs=1e-9)
    assert objective.priors == PRIORS


def test_the_prior_counts_in_the_choice() -> None:
    """Six trials under which another kernel has more evidence, at hyper-parameters that are less to be expected."""
    trials = [trial(number) for number in range(20, 26)]
    fits = fits_of(Observations.merge(*standardised(trials)))
    likely, evident = (int(np.argmax([getattr(fit, of) for fit in fits])) for of in ("log_posterior", "log_evidence"))
    assert likely != evident
    assert smoothness(model_of(*trials, first=6)) == SMOOTHNESSES[likely]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("f", "wanted"), [(cusp, {0.5, 1.5}), (spike, {0.5}), (bowl, {2.5, inf})], ids=["cusp", "spike", "bowl"]
)
def test_cusps_are_told_from_bowls(f: Callable[[Array], float], wanted: set[float], seed: int) -> None:
    """From 24 trials that gather around the top, with a noise of 0.003, whatever was chosen on the way."""
    model = model_of(*gathering(f, seed=seed), first=16)
    assert smoothness(model) in wanted


def test_a_choice_is_taken_back_when_the_data_say_otherwise() -> None:
    """Uniform points do not show the cusp; those that gather around it do."""
    model, chosen = LearnedModel(Domain.cube(2), 0, 11), []
    for told in gathering(cusp):
        model.tell(told)
        if model.settled:
            chosen.append(smoothness(model))
    assert chosen[0] > 1.5
    assert chosen[-1] <= 1.5
    changes = [i for i in range(1, len(chosen)) if chosen[i] != chosen[i - 1]]
    assert all(i % COMPARE_EVERY == 0 for i in changes), "only where all are compared"


@pytest.mark.parametrize("kind", ["learned noise", "known noise", "choices"])
def test_draws_around_the_most_likely_setting(kind: str) -> None:
    """Length-scales move together with sd SPREAD and each on its own with OWN_SPREAD; the others with SPREAD each."""
    values = (1 / 6, 0.5, 5 / 6)
    domain = Domain((Axis(), Axis(), Axis(values, ordered=False))) if kind == "choices" else Domain.cube(3)
    model, rng = LearnedModel(domain, 0, 5, settings=4001), np.random.default_rng(0)
    for number in range(5):
        x = np.append(rng.random(2), values[number % 3])
        model.tell(Observation(number, x, np.array([x.sum()]), 0.01 if kind == "known noise" else None))
    assert model._learned is not None
    drawn = model._learned.settings[1:] - model._learned.settings[0]
    assert drawn.shape == (4000, 4 if kind == "known noise" else 5)
    wanted = SPREAD**2 * np.eye(drawn.shape[1])
    wanted[:3, :3] = SPREAD**2 + OWN_SPREAD**2 * np.eye(3)
    white = np.linalg.solve(np.linalg.cholesky(wanted), drawn.T)
    np.testing.assert_allclose(white.mean(axis=1), 0.0, atol=0.08)
    np.testing.assert_allclose(np.cov(white), np.eye(len(white)), atol=0.11)


def test_other_seeds_and_other_numbers_of_trials_have_other_draws() -> None:
    trials = [trial(number) for number in range(6)]
    models = [model_of(*trials[:n], seed=seed) for n in (5, 6) for seed in (0, 1)]
    offsets = [settings(model)[1:] - settings(model)[0] for model in models]
    for i, one in enumerate(offsets):
        assert len(np.unique(one, axis=0)) == SETTINGS - 1
        for other in offsets[:i]:
            assert not np.isclose(one, other).any()
    np.testing.assert_array_equal(settings(models[0])[0], settings(models[1])[0])


def test_one_setting_is_the_most_likely_alone() -> None:
    trials = [trial(number) for number in range(5)]
    alone = LearnedModel(Domain.cube(2), 0, 5, settings=1)
    for told in trials:
        alone.tell(told)
    np.testing.assert_array_equal(settings(alone), settings(model_of(*trials))[:1])


def test_all_kernels_are_fitted_every_few_times_and_the_chosen_one_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each from where it was; at comparisons, and the first time, from its own start too."""
    calls: list[tuple[Kernel, dict[str, Any], Fit]] = []

    def recorded(kernel: Kernel, data: Observations, **how: Any) -> Fit:
        fit = fit_map(kernel, data, **how)
        calls.append((kernel, how, fit))
        return fit

    monkeypatch.setattr("quadrat.methods.auto.surrogate.fit_map", recorded)
    model = model_of(*(trial(number) for number in range(4)))
    last: dict[Kernel, Array] = {}
    for time in range(2 * COMPARE_EVERY + 1):
        chosen = model.current()[0].kernel
        calls.clear()
        model.tell(trial(4 + time))
        compares = time % COMPARE_EVERY == 0
        if compares:  # the last one tells whether low values are better compressed
            kernel, how, _ = calls.pop()
            assert kernel == model.current()[0].kernel
            assert how["own_start"] is False
        assert [kernel for kernel, *_ in calls] == (FORMS if compares else [chosen])
        for kernel, how, _ in calls:
            assert how["own_start"] is compares
            assert how["priors"] == PRIORS
            assert [start.tolist() for start in how["starts"]] == ([last[kernel].tolist()] if time else [])
        last.update({kernel: fit.parameters for kernel, _, fit in calls})
        best = max(calls, key=lambda call: call[2].log_posterior)
        assert model.current()[0].kernel == best[0]
        np.testing.assert_array_equal(settings(model)[0], best[2].parameters)


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
    variance = 0.01 / model.transform().scale ** 2
    data = Observations.merge(x[-1:], y[-1:]) + Observations.merge(x[:-1], y[:-1], np.full(first, variance))
    cold = max(fits_of(data), key=lambda fit: fit.log_posterior)
    assert ensemble.settings.shape == (SETTINGS, 4)
    assert type(objective.kernel) is type(cold.kernel)
    np.testing.assert_allclose(ensemble.settings[0], cold.parameters, atol=1e-3)
    assert np.isfinite(ensemble.predict(GRID).mean).all()


def test_choices_share_a_length_scale() -> None:
    values = tuple(((np.arange(4) + 0.5) / 4).tolist())
    domain = Domain((Axis(), Axis(values, ordered=False)))
    model = LearnedModel(domain, 0, 5)
    rng = np.random.default_rng(0)
    for number in range(6):
        x = np.array([rng.random(), values[number % 4]])
        model.tell(Observation(number, x, np.array([x[0] + number % 4])))
    objective, ensemble = model.current()
    assert isinstance(objective.kernel, Tied)
    assert objective.names == ("lengthscale[0]", "lengthscale[1]", "amplitude", "noise_variance")
    assert objective.priors == replace(PRIORS, separate_lengthscales=(1,)), "that of a choice follows no number's"
    assert ensemble.x.shape == (6, 5)
    np.testing.assert_array_equal(ensemble.x, domain.features(model.x))


@pytest.mark.parametrize("values", [[3.0] * 6, [0.0] * 6, [1e6, 1e6 + 1e-7] * 3], ids=str)
def test_values_without_scale(values: list[float]) -> None:
    model = model_of(*(Observation(i, trial(i).x, np.array([value])) for i, value in enumerate(values)))
    means = model.transform().undo(model.current()[1].predict(GRID).mean)
    np.testing.assert_allclose(means, values[0], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("size", [1e-200, 1e-100, 1e-9, 1e9, 1e100, 1e200])
def test_values_of_any_size(size: float) -> None:
    """The most likely setting does not depend on units."""
    trials = [trial(number) for number in range(6)]
    scaled = [Observation(told.number, told.x, size * told.values) for told in trials]
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


def test_settings_are_a_pure_function_of_what_was_told_in_its_order() -> None:
    """A model that is looked at after every trial, and one that is told them at once, at each length of the history."""
    history, looked = gathering(cusp, n=14), LearnedModel(Domain.cube(2), 3, 5)
    for n, told in enumerate(history, 1):
        looked.tell(told)
        objective, ensemble = looked.current()
        if n in (5, 6, 9, 14):
            other = model_of(*history[:n], seed=3)
            assert other.current()[0].kernel == objective.kernel
            np.testing.assert_array_equal(settings(other), ensemble.settings)


def test_one_trial_can_be_looked_at() -> None:
    model = model_of(trial(0))
    assert len(model.current()[1]) == SETTINGS
    assert model.transform() == OutputTransform(trial(0).values[0], abs(trial(0).values[0]))
    assert not model.settled


# --- compression of low values


def shelf(number: int) -> Observation:
    """A wide plain at 0, a drop to -1, and a small rise towards a corner, as of a training that may diverge."""
    x = np.random.default_rng([5, number]).random(2)
    value = -1.0 if x[0] > 0.7 else 0.01 * float(np.exp(-8 * ((x - (0.1, 0.9)) ** 2).sum()))
    return Observation(number, x, np.array([value]))


def test_low_values_are_compressed_where_the_evidence_is_strong() -> None:
    """As told, the values on the plain are all alike; compressed, the model sees which way is up."""
    trials = [shelf(number) for number in range(25)]
    model = model_of(*trials)
    assert model.transform().warp is not None
    plain = LearnedModel(Domain.cube(2), 0, 5, warps=False)
    for told in trials:
        plain.tell(told)
    assert plain.transform().warp is None
    x, y = raw(trials)
    warped, told_as_they_are = OutputTransform.of(y, warped=True), OutputTransform.of(y)
    best = [
        max(fit.log_posterior for fit in fits_of(Observations.merge(x, transform.apply(y))))
        + transform.log_slope(y).sum()
        for transform in (warped, told_as_they_are)
    ]
    assert best[0] - best[1] > WARP_FROM
    places = np.array([[0.15, 0.85], [0.5, 0.2]])  # up, and plain
    top, flat = (model.current()[1].predict(places).mixture()[0]).tolist()
    assert top - flat > 0.5
    assert top - flat > 1.5 * abs(np.subtract(*plain.current()[1].predict(places).mixture()[0]))


def test_a_curved_function_is_seen_as_it_is_told() -> None:
    assert model_of(*(trial(number) for number in range(25))).transform().warp is None


def test_what_is_compressed_is_left_as_told_again_when_the_reason_is_gone() -> None:
    """Among many values that differ, few low ones are no reason."""
    model = model_of(*(shelf(number) for number in range(15)))
    assert model.transform().warp is not None
    rng = np.random.default_rng(9)
    for number in range(15, 45):
        x = 0.3 * rng.random(2)
        model.tell(Observation(number, x, np.array([-2 * float(((x - 0.15) ** 2).sum() ** 0.5) + 0.05 * rng.normal()])))
    assert model.transform().warp is None


# --- many at once


def test_many_trials_at_once_are_learned_from_once_and_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """As by a model that was told all but the last without a chance to learn."""
    trials = [trial(number, values=1 + number % 2) for number in range(12)]
    late = model_of(*trials, first=12)
    together = LearnedModel(Domain.cube(2), 0, 5)
    learned: list[object] = []
    learn = LearnedModel._learn

    def recorded(self: LearnedModel, previous: Any) -> Any:
        learned.append(previous)
        return learn(self, previous)

    monkeypatch.setattr(LearnedModel, "_learn", recorded)
    together.tell_many(trials)
    assert learned == [None]
    np.testing.assert_array_equal(settings(together), settings(late))
    np.testing.assert_array_equal(together.x, late.x)
    assert together.trials == 12
    together.tell_many([trial(12), trial(13)])
    assert learned == [None, None], "what was learned before has no say"


def test_too_few_trials_at_once_are_not_learned_from() -> None:
    model = LearnedModel(Domain.cube(2), 0, 5)
    model.tell_many([])
    model.tell_many([trial(number) for number in range(4)])
    assert not model.settled
    model.tell_many([trial(4)])
    assert model.settled


# --- taken in, and nothing learned


KINDS: dict[str, list[Observation]] = {
    "plain": [trial(number) for number in range(30)],
    "replicates": [trial(number, 1 + number % 3) for number in range(30)],
    "known": [trial(number, 1 + number % 2, 0.01 * (1 + number % 5)) for number in range(30)],
    "mixed": [trial(number, 1 + number % 4, 0.02 if number % 3 else None) for number in range(30)],
    "known at first": [trial(number, 1 + number % 2, 0.01 if number < 20 else None) for number in range(30)],
    "repeated": [replace(trial(number % 6), number=number, values=trial(number, 2).values) for number in range(30)],
}


def same_observations(one: LearnedModel, other: LearnedModel) -> None:
    """Bit for bit."""
    for name in ("x", "y", "_variance", "places", "means"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
        assert getattr(one, name).shape == getattr(other, name).shape
    assert one._count.view.tolist() == other._count.view.tolist()
    assert (one.trials, one._noise_is_learned) == (other.trials, other._noise_is_learned)
    assert one.is_of_all == other.is_of_all


@pytest.mark.parametrize("kind", KINDS)
def test_many_that_are_taken_at_once_are_one_by_one(kind: str) -> None:
    """All of them, or some at a time; and as if they were told, but for what telling learns."""
    trials = KINDS[kind]
    together, alone, some = (LearnedModel(Domain.cube(2), 0, 5) for _ in range(3))
    told = model_of(*trials, first=99)
    together.take(trials)
    for one in trials:
        alone.take([one])
    for part in (trials[:1], [], trials[1:9], trials[9:10], trials[10:]):
        some.take(part)
    for model in (alone, some, told):
        same_observations(together, model)
        assert not model.settled
        np.testing.assert_array_equal(settings(model), settings(together))


def test_what_is_taken_is_seen_at_once() -> None:
    """Also where somebody has looked before."""
    trials = [trial(number) for number in range(16)]
    model = model_of(*trials[:8])
    before = settings(model).copy()
    model.take(trials[8:])
    np.testing.assert_array_equal(settings(model), before)
    assert len(model.current()[1].x) == 16
    np.testing.assert_array_equal(model.transform().shift, OutputTransform.of(raw(trials)[1]).shift)
    early = LearnedModel(Domain.cube(2), 0, 99)
    early.take(trials[:8])
    settings(early)
    early.take(trials[8:])
    np.testing.assert_array_equal(settings(early), settings(model_of(*trials, first=99)))


def test_nothing_is_learned_once_it_is_told_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials are still taken in, one by one or together; a model near a place learns when somebody looks."""
    fits: list[object] = []

    def recorded(*args: Any, **options: Any) -> Fit:
        fits.append(args)
        return fit_map(*args, **options)

    monkeypatch.setattr("quadrat.methods.auto.surrogate.fit_map", recorded)
    model = LearnedModel(Domain.cube(2), 0, 5)
    model.stop_learning()
    known = [replace(told, variance=0.01) for told in KINDS["plain"][:10]]
    for told in [*known, *KINDS["plain"][10:20]]:  # the first without a known variance would be learned from too
        model.tell(told)
    model.tell_many(KINDS["plain"][20:])
    assert not fits
    assert not model.settled
    same_observations(model, model_of(*known, *KINDS["plain"][10:], first=99))
    near = model.near(np.array([0.5, 0.5]), np.ones(2), 12, settings=1)
    near.current()
    assert len(fits) == 1


# --- near a place


def test_one_model_is_of_all_trials_as_long_as_they_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials count, not values: replicates are one point. Beyond, nothing is learned any more."""
    monkeypatch.setattr("quadrat.methods.auto.surrogate.LARGEST", 6)
    model = LearnedModel(Domain.cube(2), 0, 5)
    for number in range(6):
        model.tell(trial(number, values=20))
        assert model.is_of_all
    before = model._learned
    model.tell(trial(6))
    model.tell_many([trial(7)])
    assert not model.is_of_all
    assert model._learned is before


@pytest.mark.parametrize("box", [False, True])
@pytest.mark.parametrize("first", [None, 20])
def test_near_a_place_are_the_nearest_trials_with_all_their_values(first: int | None, box: bool) -> None:
    trials = [trial(number, 1 + number % 4, 0.01 if number % 3 == 0 else None) for number in range(40)]
    model = model_of(*trials, first=99)
    centre, sides, count = np.array([0.2, 0.7]), np.array([0.1, 0.4]), 9
    chosen = nearest(np.array([told.x for told in trials[:first]]), centre, sides, count, box=box)
    near = model.near(centre, sides, count, box=box, first=first, settings=2)
    kept = [trials[i] for i in chosen]
    wanted = model_of(*kept, first=99)
    for name in ("x", "y", "_variance", "places", "means"):
        np.testing.assert_array_equal(getattr(near, name), getattr(wanted, name))
    assert near.places.tolist() == [told.x.tolist() for told in kept]
    assert near.means == pytest.approx([told.values.mean() for told in kept])
    assert len(near.y) > count
    assert near.settings == 2
    assert not near.settled


def test_near_a_place_one_kernel_is_learned_and_nothing_is_compressed() -> None:
    """Its most likely setting is that of a fit to these trials alone; the model of all is not touched."""
    model = model_of(*(shelf(number) for number in range(25)), first=25)
    before = settings(model)
    near = model.near(np.array([0.3, 0.5]), np.array([0.5, 0.5]), 15)
    objective, ensemble = near.current()
    y = near.y
    fit = fit_map(FORMS[2], Observations.merge(near.x, (y - y.mean()) / y.std()), priors=PRIORS, standardise=False)
    np.testing.assert_allclose(ensemble.settings[0], fit.parameters, atol=1e-6)
    assert ensemble.settings.shape == (SETTINGS, 4)
    assert objective.kernel == FORMS[2]
    assert near.transform().warp is None
    assert model.transform().warp is not None
    np.testing.assert_array_equal(settings(model), before)


def test_near_a_place_noise_is_learned_where_it_is_not_known_there() -> None:
    """On the left all standard errors are known, on the right none is."""
    trials = [trial(number) for number in range(40)]
    model = model_of(*(replace(told, variance=0.01 if told.x[0] < 0.5 else None) for told in trials), first=99)
    left, right, both = (model.near(np.array([x, 0.5]), np.array([0.1, 1.0]), n) for x, n in ((0, 8), (1, 8), (0, 40)))
    names = [near.current()[0].names[-1] for near in (left, right, both)]
    assert names == ["amplitude", "noise_variance", "noise_variance"]


def test_what_another_model_learns_is_taken_over() -> None:
    """Settings are the other's, observations its own; also when it was looked at before."""
    model = model_of(*(trial(number) for number in range(30)), first=99)
    place = np.array([0.3, 0.3]), np.ones(2), 12
    one, other = model.near(*place, settings=1), model.near(*place, first=20, settings=1)
    own = settings(one).copy()
    one.take_over(other)
    np.testing.assert_array_equal(settings(one), settings(other))
    assert not np.array_equal(settings(one), own)
    np.testing.assert_array_equal(one.current()[1].x, model.near(*place).current()[1].x)
    assert one.settled


def test_what_does_not_fit_is_not_taken_over() -> None:
    """A model without noise to learn has nothing to say to one with."""
    plain, known = (model_of(*(trial(i, variance=v) for i in range(8)), first=99) for v in (None, 0.01))
    own = settings(plain).copy()
    plain.take_over(known)
    np.testing.assert_array_equal(settings(plain), own)
    known.take_over(plain)
    assert settings(known).shape == (SETTINGS, 3)


# --- averages


def test_a_model_of_averages_knows_what_thousands_of_trials_say() -> None:
    """Of a bowl with noise .3: far more exact than a model of the trials nearest to a place, in the units told."""
    rng = np.random.default_rng(0)
    points = rng.random((3000, 2))
    values = 50.0 - ((points - 0.5) ** 2).sum(axis=1) + 0.3 * rng.normal(size=3000)
    model = LearnedModel(Domain.cube(2), 0, 5)
    model.take([Observation(i, points[i], values[i : i + 1]) for i in range(3000)])
    place = np.array([0.5, 0.5]), np.full(2, 0.1)
    near = model.near(*place, 100)
    assert near.noise == pytest.approx(0.3, rel=0.25)
    averaged = model.averaged(*place, 100, 0.3)
    query = np.array([[0.5, 0.5], [0.4, 0.6], [0.7, 0.5]])
    truth = 50.0 - ((query - 0.5) ** 2).sum(axis=1)
    errors = []
    for one in (near, averaged):
        mean, deviation = one.current()[1].predict(query).mixture()
        errors.append(np.abs(one.transform().undo(mean) - truth).max())
        assert (np.abs(one.transform().undo(mean) - truth) < 4 * one.transform().above * deviation).all()
    assert errors[1] < 0.04
    assert errors[1] < errors[0]


def test_averages_of_stated_variances_and_replicates() -> None:
    """Each trial weighs what its variance says; where none was stated, the noise given over its replicates."""
    x = np.array([[0.5, 0.5], [0.505, 0.5], [0.9, 0.9], [0.1, 0.1]])
    model = LearnedModel(Domain.cube(2), 0, 5)
    model.take(
        [
            Observation(0, x[0], np.array([1.0]), 0.04),
            Observation(1, x[1], np.array([1.1, 1.3])),
            Observation(2, x[2], np.array([5.0])),
            Observation(3, x[3], np.array([-5.0])),
        ]
    )
    averaged = model.averaged(x[0], np.ones(2), 3, 0.2)
    order = np.argsort(averaged.y)
    transform = OutputTransform.of(np.array([1.0, 1.2, 5.0, -5.0]))
    merged = (1.0 / 0.04 + 1.2 / 0.02) / (1 / 0.04 + 1 / 0.02)
    np.testing.assert_allclose(transform.undo(averaged.y[order]), [-5.0, merged, 5.0], rtol=1e-9)
    wanted = np.array([0.04, 1 / (1 / 0.04 + 1 / 0.02), 0.04]) / transform.scale**2
    np.testing.assert_allclose(averaged._variance[order], wanted, rtol=1e-9)
    np.testing.assert_allclose(averaged.x[order[1]], (x[0] / 0.04 + x[1] / 0.02) / (1 / 0.04 + 1 / 0.02))


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_averages_of_values_of_any_size(size: float) -> None:
    told = [trial(number) for number in range(30)]
    plain, scaled = LearnedModel(Domain.cube(2), 0, 5), LearnedModel(Domain.cube(2), 0, 5)
    plain.take(told)
    scaled.take([replace(one, values=size * one.values) for one in told])
    place = np.array([0.5, 0.5]), np.full(2, 0.1)
    one, other = plain.averaged(*place, 20, 0.1), scaled.averaged(*place, 20, 0.1 * size)
    np.testing.assert_allclose(other.y, one.y, rtol=1e-9)
    np.testing.assert_allclose(other.transform().undo(np.ones(1)) / size, one.transform().undo(np.ones(1)), rtol=1e-9)


def test_observations_are_merged_once_until_more_are_told() -> None:
    model = model_of(*(trial(number) for number in range(6)))
    data = model._data(False)
    assert model._data(False) is data
    assert model.current()[0].data.x is data.x
    assert model._data(True) is not data
    model.tell(trial(6))
    assert len(model._data(False)) == len(data) + 1 == 7
    near = model.near(TOP, np.ones(2), 4)
    assert len(near._data(False)) == 4
