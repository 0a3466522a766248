"""What the default method learns: when, from what, and that nothing but what was told matters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat._core.nearest import nearest
from quadrat.gp import HyperPosterior, Observations
from quadrat.methods.auto.output_transform import OutputTransform
from quadrat.methods.auto.surrogate import (
    COARSENED,
    EXACT,
    KERNELS,
    SAMPLES,
    STATED,
    USUAL,
    WARP_FROM,
    Fitted,
    LearnedModel,
    is_exact,
    last_due,
)
from quadrat.methods.base import Axis, Domain, Observation
from quadrat.optimizer.run import domain_of
from quadrat.space import Categorical, Float, Space

GRID = np.random.default_rng(999).random((7, 2))
TOP = np.array([0.4, 0.6])


def trial(number: int, values: int = 1, variance: float | None = None) -> Observation:
    """A trial at a point of its own, with as many values and, where given, their mean's variance."""
    rng = np.random.default_rng(number)
    x = rng.random(2)
    return Observation(number, x, np.sin(5 * x[0]) + x[1] + 0.1 * rng.normal(size=values), variance)


def model_of(*trials: Observation, first: int = 5, seed: int = 0, noise: float | None = None) -> LearnedModel:
    model = LearnedModel(Domain.cube(2), seed, first, noise=noise)
    for told in trials:
        model.tell([told])
    return model


def raw(trials: list[Observation]) -> tuple[Array, Array]:
    x = np.array([told.x for told in trials for _ in told.values])
    return x, np.concatenate([told.values for told in trials])


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


def same_samples(one: Fitted, other: Fitted) -> None:
    """Bit for bit."""
    for name in ("kernel", "lengthscales", "variance", "noise_variance", "probabilities"):
        np.testing.assert_array_equal(getattr(one.fit.samples, name), getattr(other.fit.samples, name), name)


def same(one: Fitted, other: Fitted) -> None:
    """Bit for bit: what was learned, and what follows from it."""
    same_samples(one, other)
    assert (one.trials, one.fit.trials, one.transform) == (other.trials, other.fit.trials, other.transform)
    np.testing.assert_array_equal(one.log_weights, other.log_weights)
    at, there = one.ensemble.predict(GRID), other.ensemble.predict(GRID)
    np.testing.assert_array_equal(at.mean, there.mean)
    np.testing.assert_array_equal(at.deviation, there.deviation)


def conditioned(fitted: Fitted, trials: list[Observation], points: Array) -> tuple[Array, Array]:
    """Mean and variance of f at points (m, D) under each member, (M, m): raw values, dense algebra, a flat mean.

    In the order of the ensemble, which sorts samples by their kernels.
    """
    samples, transform = fitted.fit.samples, fitted.fit.transform
    rows = [t.values if t.variance is None else [np.mean(t.values)] for t in trials]
    x = np.repeat([t.x for t in trials], [len(row) for row in rows], axis=0)
    y = transform.apply(np.concatenate(rows))
    stated = np.repeat([np.nan if t.variance is None else t.variance for t in trials], [len(row) for row in rows])
    extra, outliers = np.zeros(len(y)), fitted.fit.outliers
    if outliers is not None:
        extra[outliers.rows] = outliers.extra_variance
    means, variances = [], []
    for i in np.argsort(samples.kernel, kind="stable"):
        theta, s2 = samples.lengthscales[i], samples.variance[i]
        kernel = fitted.fit.kernels[samples.kernel[i]]
        v = np.where(np.isnan(stated), samples.noise_variance[i], stated / transform.scale**2)
        inverse = np.linalg.inv(s2 * kernel(x / theta) + np.diag(v + extra))
        cross, u = s2 * kernel(points / theta, x / theta), inverse.sum(axis=1)
        m = u @ y / u.sum()
        means.append(m + cross @ inverse @ (y - m))
        variances.append(s2 - np.einsum("mi,ij,mj->m", cross, inverse, cross) + (1 - cross @ u) ** 2 / u.sum())
    return np.array(means), np.array(variances)


# --- when


@pytest.mark.parametrize("first", [1, 2, 5, 40, 100])
def test_schedule(first: int) -> None:
    """Every number until the first time; then at most 16 for every doubling, and never long ago."""
    due = [last_due(trials, first) for trials in range(1, 3000)]
    assert due[:first] == list(range(1, first + 1))
    assert due == sorted(due)
    for trials, last in enumerate(due, 1):
        assert last <= trials
        assert last_due(last, first) == last, "what is due stays due"
        assert trials - last <= trials / 8 or last == first
    for start in (128, 512, 1024):
        assert len({last for last in due if start <= last < 2 * start}) <= 16


def test_between_times_samples_stay_and_new_trials_are_seen() -> None:
    """At a number for which nothing is due an expected value counts at once, under the same samples and units."""
    assert last_due(33, 5) == 32
    model = model_of(*(trial(number) for number in range(32)))
    before = model.current()
    x = GRID[0]
    model.tell([Observation(32, x, np.array([np.sin(5 * x[0]) + x[1]]))])
    after = model.current()
    same_samples(before, after)
    assert (before.trials, after.trials, after.fit.trials) == (32, 33, 32)
    assert after.transform == before.transform
    assert len(after.ensemble.x) == 33
    assert (after.ensemble.predict(x[None]).deviation < before.ensemble.predict(x[None]).deviation).all()
    for number in range(33, 36):
        model.tell([trial(number)])
    assert model.current().fit.trials >= last_due(36, 5) > 32


@pytest.mark.parametrize("kind", ["plain", "replicates", "standard errors", "mixed"])
def test_densities_of_the_next_trial_are_those_of_processes_conditioned_directly(kind: str) -> None:
    """Of the mean of its values, under each sample, with a flat prior of the process' mean."""
    values = {"replicates": 3, "mixed": 2}.get(kind, 1)
    trials = [
        trial(
            i, values if i % 2 else 1, 0.02 if kind == "standard errors" or (kind == "mixed" and i % 3 == 0) else None
        )
        for i in range(12)
    ]
    for last in (trials[-1], trial(21, 4), trial(22, 1, 0.3)):
        told = [*trials[:-1], last]
        model = model_of(*told, first=99)
        at = model._conditioned(model._learn(11, SAMPLES, 0), 11)
        mean, variance = conditioned(at, told[:-1], last.x[None, :])
        samples = at.fit.samples
        noise = samples.noise_variance[np.argsort(samples.kernel, kind="stable")] / len(last.values)
        if last.variance is not None:
            noise = np.full(SAMPLES, last.variance / at.transform.scale**2)
        total = variance[:, 0] + noise
        seen = at.transform.apply(np.array([last.values.mean()]))
        wanted = -0.5 * (np.log(total) + (seen - mean[:, 0]) ** 2 / total)
        np.testing.assert_allclose(model._log_densities(at), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("weights", "outdated"),
    [
        ([1, 1, 1, 1], False),
        ([1, 1, 0, 0], False),  # two of four are left, exactly half
        ([1, 1, 1, 0], False),
        ([1, 0, 0, 0], True),
        ([3, 1, 0, 0], True),  # 16 / 10 of four
        ([4, 3, 2, 1], False),  # 100 / 30
        ([10, 1, 1, 1], True),  # 169 / 103
    ],
)
@pytest.mark.parametrize("unit", [0.0, -2000.0, 700.0])
def test_samples_are_outdated_where_fewer_than_half_are_left(weights: list[int], outdated: bool, unit: float) -> None:
    """The effective number is (sum w)^2 / sum w^2, whatever unit the densities have."""
    model = LearnedModel(Domain.cube(2), 0, 2, 4)
    model.tell([trial(number) for number in range(4)])
    with np.errstate(divide="ignore"):
        logs = np.log(np.array(weights, dtype=np.float64)) + unit
    assert replace(model.current(), log_weights=logs).is_outdated is outdated


def test_samples_are_learned_again_as_soon_as_values_disagree_with_most_of_them() -> None:
    """Step by step from the number at which they were due: densities of what came since, by dense algebra."""
    trials = [trial(number) for number in range(40)]
    trials[34] = replace(trials[34], values=np.array([9.0]))  # out of the blue
    learned = []
    for n in (33, 35, 38):
        fitted = model_of(*trials[:n]).current()
        learned.append(fitted.fit.trials)
        model = model_of(*trials[:n])
        at, logs = model._conditioned(model._learn(due := last_due(n, 5), SAMPLES, 11), due), np.zeros(SAMPLES)
        for seen in range(due, n):
            mean, variance = conditioned(at, trials[:seen], trials[seen].x[None, :])
            total = variance[:, 0] + at.ensemble.noise_variance
            value = at.transform.apply(trials[seen].values)
            logs = logs - 0.5 * (np.log(total) + (value - mean[:, 0]) ** 2 / total)
            w = np.exp(logs - logs.max())
            if (w.sum() ** 2 / (w**2).sum()) < SAMPLES / 2:
                at, logs = model._conditioned(model._learn(seen + 1, SAMPLES, 11), seen + 1), np.zeros(SAMPLES)
        assert fitted.fit.trials == at.fit.trials
        same_samples(fitted, at)
        np.testing.assert_allclose(fitted.log_weights, logs, rtol=1e-5, atol=1e-5)
    assert learned[1] == 35, "learned from the surprise, at once, although nothing is due then"


# --- from what


def test_units_are_the_mean_and_the_sd_of_all_observations() -> None:
    trials = [trial(number, values=1 + number % 3) for number in range(7)]
    fitted, (_, y) = model_of(*trials).current(), raw(trials)
    assert fitted.transform.shift == pytest.approx(np.mean(y), rel=1e-14)
    assert fitted.transform.scale == pytest.approx(np.std(y), rel=1e-14)
    np.testing.assert_allclose(fitted.data.y, [(t.values.mean() - y.mean()) / y.std() for t in trials], rtol=1e-10)
    alike = model_of(*(Observation(i, trial(i).x, np.array([4.0])) for i in range(3)))
    assert alike.current().transform == OutputTransform(4.0, 4.0)


@pytest.mark.parametrize("kind", ["plain", "replicates", "standard errors", "mixed"])
def test_posteriors_are_those_of_processes_conditioned_directly(kind: str) -> None:
    """On every value told, under each sample; of what the search uses, and of what is stated."""
    trials = [
        trial(
            i,
            1 + i % 3 if kind in ("replicates", "mixed") else 1,
            0.02 if kind == "standard errors" or (kind == "mixed" and i % 2) else None,
        )
        for i in range(11)
    ]
    model = model_of(*trials)
    for fitted, count in ((model.current(), SAMPLES), (model.stated(), STATED)):
        assert len(fitted.ensemble) == count
        mean, variance = conditioned(fitted, trials, GRID)
        at = fitted.ensemble.predict(GRID)
        np.testing.assert_allclose(at.mean, mean, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(at.deviation**2, variance, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("coarsened", [False, True], ids=["search", "statements"])
def test_samples_are_those_of_the_posterior_of_hyper_parameters(coarsened: bool) -> None:
    """With many samples: mean length-scale and chances of kernels as those of a `HyperPosterior` of the same values.

    For statements of a coarsened one: its power is a / (a + N), a = `COARSENED` over the number of axes.
    """
    trials = [trial(number) for number in range(16)]
    x, y = raw(trials)
    power = COARSENED / 2 / (COARSENED / 2 + len(y)) if coarsened else 1.0
    posterior = HyperPosterior(Observations.merge(x, (y - y.mean()) / y.std()), KERNELS, power=power)
    wanted = posterior.sample(1000, np.random.default_rng(0), proposals=2000)
    models = [model_of(*trials, seed=seed) for seed in range(6 if coarsened else 16)]
    found = [(model.stated() if coarsened else model.current()).fit.samples for model in models]
    logs = np.concatenate([np.log(samples.lengthscales) for samples in found])
    spread = np.log(wanted.lengthscales).std(axis=0)
    assert (np.abs(logs.mean(axis=0) - np.log(wanted.lengthscales).mean(axis=0)) < 0.3 * spread).all()
    np.testing.assert_allclose(
        np.mean([samples.probabilities for samples in found], axis=0), wanted.probabilities, atol=0.1
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("f", "wanted"), [(cusp, {0.5, 1.5}), (spike, {0.5}), (bowl, {2.5, inf})], ids=["cusp", "spike", "bowl"]
)
def test_cusps_are_told_from_bowls(f: Callable[[Array], float], wanted: set[float], seed: int) -> None:
    """From 24 trials that gather around the top, with a noise of 0.003: what the search goes by is sure of it."""
    fitted = model_of(*gathering(f, seed=seed)).current()
    chances = fitted.explain()["chances of smoothness"]
    assert isinstance(chances, dict)
    assert sum(chances.values()) == pytest.approx(1.0)
    assert sum(chances[nu] for nu in wanted) > 0.6


def test_other_seeds_and_other_numbers_of_trials_have_other_samples() -> None:
    trials = [trial(number) for number in range(6)]
    models = [model_of(*trials[:n], seed=seed) for n in (5, 6) for seed in (0, 1)]
    drawn = [model.current().fit.samples.lengthscales for model in models]
    for i, one in enumerate(drawn):
        assert len(np.unique(one, axis=0)) > SAMPLES / 2
        for other in drawn[:i]:
            assert not np.isclose(one, other).any()


def test_replicates_count_one_by_one() -> None:
    trials = [trial(number, values=1 + number % 3) for number in range(6)]
    model = model_of(*trials)
    x, y = raw(trials)
    np.testing.assert_array_equal(model.x, x)
    np.testing.assert_array_equal(model.y, y)
    data = model.current().data
    assert data.count.tolist() == [1, 2, 3, 1, 2, 3]
    assert data.scatter[2] == pytest.approx(3 * np.var(y[3:6]) / np.var(y))


def test_a_known_variance_belongs_to_the_mean_of_its_values() -> None:
    trials = [trial(number, values=3, variance=0.04 if number % 2 else None) for number in range(6)]
    model = model_of(*trials)
    fitted = model.current()
    known = fitted.data.count == 0
    means = [told.values.mean() for told in trials if told.variance is not None]
    y = np.concatenate([t.values if t.variance is None else [t.values.mean()] for t in trials])
    np.testing.assert_allclose(model.y, y)
    np.testing.assert_allclose(fitted.data.known_variance[known], 0.04 / np.var(y))
    np.testing.assert_allclose(fitted.data.y[known], (np.array(means) - y.mean()) / y.std())
    assert len(model.y) == 3 * 3 + 3
    assert (fitted.ensemble.noise_variance > 0).all()
    np.testing.assert_array_equal(fitted.noise_variances, fitted.ensemble.noise_variance)


def test_where_all_variances_are_known_no_noise_is_learned() -> None:
    fitted = model_of(*(trial(number, variance=0.01 * (1 + number)) for number in range(7))).current()
    assert not fitted.ensemble.noise_variance.any()
    np.testing.assert_allclose(fitted.noise_variances, 0.04 / fitted.transform.scale**2)
    assert fitted.noise == pytest.approx(0.2), "that of a typical measurement, as told"


@pytest.mark.parametrize("first", [5, 64])
def test_a_plain_value_after_nothing_but_known_variances(first: int) -> None:
    """From then on there is a noise variance to learn: at once, due or not."""
    known = [trial(number, variance=0.01) for number in range(first)]
    model = model_of(*known, first=first)
    assert not model.current().ensemble.noise_variance.any()
    model.tell([trial(first)])
    fitted = model.current()
    assert fitted.fit.trials == first + 1
    assert (fitted.ensemble.noise_variance > 0).all()
    assert np.isfinite(fitted.ensemble.predict(GRID).mean).all()


def test_choices_share_a_length_scale() -> None:
    values = tuple(((np.arange(4) + 0.5) / 4).tolist())
    domain = Domain((Axis(), Axis(values, ordered=False)))
    model = LearnedModel(domain, 0, 5)
    rng = np.random.default_rng(0)
    for number in range(6):
        x = np.array([rng.random(), values[number % 4]])
        model.tell([Observation(number, x, np.array([x[0] + number % 4]))])
    fitted = model.current()
    posterior = model._posterior(fitted.fit.transform, 6)
    assert posterior.names == ("lengthscale[0]", "lengthscale[1]", "noise_ratio")
    assert posterior.priors.separate_lengthscales == (1,), "that of a choice follows no number's"
    assert fitted.fit.samples.lengthscales.shape == (SAMPLES, 2)
    assert fitted.ensemble.x.shape == (6, 5)
    np.testing.assert_array_equal(fitted.ensemble.x, domain.features(model.x))


@pytest.mark.parametrize("values", [[3.0] * 6, [0.0] * 6, [1e6, 1e6 + 1e-7] * 3], ids=str)
def test_values_without_scale(values: list[float]) -> None:
    fitted = model_of(*(Observation(i, trial(i).x, np.array([value])) for i, value in enumerate(values))).current()
    means = fitted.transform.undo(fitted.ensemble.predict(GRID).mean)
    np.testing.assert_allclose(means, values[0], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("size", [2.0**-600, 2.0**-30, 2.0**30, 2.0**600])
def test_values_of_any_size(size: float) -> None:
    """What is learned does not depend on units: bit for bit, where a change of units rounds nothing."""
    trials = [trial(number) for number in range(6)]
    plain = model_of(*trials).current()
    scaled = model_of(*(replace(told, values=size * told.values) for told in trials)).current()
    same_samples(plain, scaled)
    assert scaled.noise == size * plain.noise
    np.testing.assert_array_equal(scaled.transform.undo(np.arange(3.0)), size * plain.transform.undo(np.arange(3.0)))


# --- noise that is known, and noise that there is none of


@pytest.mark.parametrize("noise", [0.0, 0.1, 3.0])
def test_a_noise_that_is_given_is_not_learned(noise: float) -> None:
    """It is that of each measurement: replicates are the more exact, and a variance that is told comes first."""
    trials = [trial(0), trial(1, 4), trial(2, 2, 0.5), *(trial(number) for number in range(3, 8))]
    model = model_of(*trials, noise=noise)
    fitted = model.current()
    variance = fitted.data.known_variance * fitted.transform.scale**2
    np.testing.assert_allclose(variance[:4], [noise**2, noise**2 / 4, 0.5, noise**2], rtol=1e-12)
    assert not (fitted.data.count > 0).any()
    assert fitted.noise == pytest.approx(noise)
    near = model.near(TOP, np.ones(2), 5)
    assert near.noise == noise
    assert near.current().noise == pytest.approx(noise)


def repeated(*values: float, n: int = 6) -> LearnedModel:
    """Of n trials at points of their own, and others at the first of these, with these values."""
    first = [trial(number) for number in range(n)]
    again = [replace(first[0], number=n + i, values=np.array([value])) for i, value in enumerate(values)]
    return model_of(*first, *again)


VALUE = float(trial(0).values[0])


def test_measurements_that_always_agree_have_no_noise() -> None:
    """From `EXACT` of them on, one after another or replicates of one trial; until one does not agree."""
    for count in range(4):
        fitted = repeated(*[VALUE] * count).current()
        assert fitted.noise_variances.any() == (count < EXACT)
        assert len(fitted.data) == 6
    together = model_of(*(trial(i) for i in range(1, 6)), replace(trial(0), values=np.full(EXACT + 1, VALUE)))
    assert not together.current().noise_variances.any()
    assert (repeated(*[VALUE] * EXACT, VALUE + 0.1).current().noise_variances > 0).all()
    assert (repeated(*[VALUE] * (EXACT - 1), VALUE + 0.1, VALUE).current().noise_variances > 0).all()


def test_repeats_of_another_branch_say_nothing_of_the_noise() -> None:
    """A baseline without parameters always gives the same; the best trial is of a model that was never repeated."""
    space = Space(model=Categorical(["svm", "dummy"]), x=Float(0, 1, when={"model": "svm"}))
    domain = domain_of(space)
    rng = np.random.default_rng(0)
    x = [{"model": "svm", "x": float(one)} for one in rng.random(6)] + [{"model": "dummy"}] * (EXACT + 1)
    y = np.append(0.9 + 0.05 * rng.normal(size=6), np.full(EXACT + 1, 0.63))
    assert not is_exact(domain, space.to_units(x), y)
    best = x[int(np.argmax(y))]
    assert is_exact(domain, space.to_units([*x, best]), np.append(y, y.max()))
    assert not is_exact(domain, space.to_units([*x, best]), np.append(y, y.max() - 0.01))
    assert is_exact(domain, space.to_units(x), np.append(y[:6] - 1, y[6:])), "the baseline is best: of it, it is true"


def test_what_disagrees_late_brings_the_noise_back_at_once() -> None:
    """Also where nothing is due: under no noise at all, an unequal value would be the end of every sample."""
    trials = [trial(number) for number in range(40)]
    trials += [replace(trials[0], number=40 + i) for i in range(EXACT)]
    while last_due(len(trials), 5) < len(trials):
        trials.append(trial(len(trials)))
    assert last_due(len(trials) + 1, 5) == len(trials)
    model = model_of(*trials)
    assert not model.current().ensemble.noise_variance.any()
    model.tell([replace(trials[0], number=len(trials), values=trials[0].values + 1e-3)])
    fitted = model.current()
    assert fitted.fit.trials == len(trials) + 1
    assert (fitted.noise_variances > 0).all()


def test_stated_variances_are_no_repeats() -> None:
    """Of the same value with its standard error, told often: what was said counts, not that it was said again."""
    fitted = model_of(*(replace(trial(i % 5, variance=0.01), number=i) for i in range(12))).current()
    assert fitted.noise == pytest.approx(0.1 / np.sqrt(2), rel=0.5)
    assert fitted.noise_variances.all()


# --- nothing else


HISTORIES: dict[str, list[Observation]] = {
    "plain": [trial(number) for number in range(40)],
    "gathering": gathering(cusp, n=36),
    "replicates": [trial(number, 1 + number % 3) for number in range(30)],
    "known": [trial(number, 1 + number % 2, 0.01 * (1 + number % 5)) for number in range(30)],
    "mixed": [trial(number, 1 + number % 4, 0.02 if number % 3 else None) for number in range(30)],
    "known at first": [trial(number, 1 + number % 2, 0.01 if number < 19 else None) for number in range(30)],
    "repeated": [replace(trial(number % 6), number=number, values=trial(number, 2).values) for number in range(30)],
    "exact, then not": [replace(trial(number % 6), number=number) for number in range(20)]
    + [trial(number % 6) for number in range(20, 22)]
    + [replace(trial(2), number=22, values=np.array([0.3]))],
    "surprise": [replace(trial(i), values=trial(i).values + 9.0 * (i in (18, 33))) for i in range(36)],
}


@pytest.mark.parametrize("kind", HISTORIES)
def test_what_is_learned_is_a_function_of_what_was_told_in_its_order(kind: str) -> None:
    """Asked at every trial, now and then, or never; told one by one or some at a time; bit for bit."""
    history = HISTORIES[kind]
    always, sometimes = (LearnedModel(Domain.cube(2), 3, 5) for _ in range(2))
    for n, told in enumerate(history, 1):
        for model in (always, sometimes):
            model.tell([told])
        always.current()
        if n % 7 == 3:
            always.stated()
            sometimes.current()
        if n in (1, 4, 5, 17, 19, 23, 29, 35, len(history)):
            never, parts = (LearnedModel(Domain.cube(2), 3, 5) for _ in range(2))
            never.tell(history[:n])
            for some in (history[: n // 2], [], history[n // 2 : n]):
                parts.tell(some)
            for model in (sometimes, never, parts):
                same(always.current(), model.current())
    for model in (sometimes, never, parts):
        same(always.stated(), model.stated())


def test_what_was_looked_up_is_kept_until_more_is_told() -> None:
    model = model_of(*(trial(number) for number in range(6)))
    assert model.current() is model.current()
    assert model.stated() is model.stated()
    before = model.stated()
    model.tell([])
    assert model.stated() is before
    model.tell([trial(6)])
    assert model.stated().trials == 7


def test_one_trial_can_be_looked_at() -> None:
    model = model_of(trial(0))
    for fitted in (model.current(), model.stated()):
        assert fitted.transform == OutputTransform(trial(0).values[0], abs(trial(0).values[0]))
        assert np.isfinite(fitted.ensemble.predict(GRID).deviation).all()


def same_observations(one: LearnedModel, other: LearnedModel) -> None:
    """Bit for bit."""
    for name in ("x", "y", "places", "means"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
        assert getattr(one, name).shape == getattr(other, name).shape
    np.testing.assert_array_equal(one.data.variance, other.data.variance)
    assert one._count.view.tolist() == other._count.view.tolist()
    assert (one.trials, one._learns_noise, one.is_of_all) == (other.trials, other._learns_noise, other.is_of_all)


@pytest.mark.parametrize("kind", HISTORIES)
def test_many_that_are_told_at_once_are_one_by_one(kind: str) -> None:
    trials = HISTORIES[kind]
    together, some = (LearnedModel(Domain.cube(2), 0, 5) for _ in range(2))
    together.tell(trials)
    for part in (trials[:1], [], trials[1:9], trials[9:10], trials[10:]):
        some.tell(part)
    for model in (some, model_of(*trials)):
        same_observations(together, model)


def test_many_at_once_are_learned_from_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """When somebody asks, and not before; statements are learned apart."""
    learned: list[tuple[int, int]] = []
    learn = LearnedModel._learn

    def recorded(self: LearnedModel, trials: int, samples: int, stream: int, **kind: bool) -> object:
        learned.append((trials, samples))
        return learn(self, trials, samples, stream, **kind)

    monkeypatch.setattr(LearnedModel, "_learn", recorded)
    model = LearnedModel(Domain.cube(2), 0, 5)
    model.tell([trial(number) for number in range(12)])
    assert not learned
    model.current()
    model.current()
    assert learned == [(12, SAMPLES)]
    model.stated()
    assert learned == [(12, SAMPLES), (12, STATED)]


# --- compression of low values


def shelf(number: int) -> Observation:
    """A wide plain at 0, a drop to -1, and a small rise towards a corner, as of a training that may diverge."""
    x = np.random.default_rng([5, number]).random(2)
    value = -1.0 if x[0] > 0.7 else 0.01 * float(np.exp(-8 * ((x - (0.1, 0.9)) ** 2).sum()))
    return Observation(number, x, np.array([value]))


def evidence(trials: list[Observation], transform: OutputTransform) -> float:
    """Log evidence, by Laplace's approximation, of values as told."""
    x, y = raw(trials)
    posterior = HyperPosterior(Observations.merge(x, transform.apply(y)), KERNELS)
    return posterior.laplace(len(KERNELS) // 2) + float(transform.log_slope(y).sum())


def test_low_values_are_compressed_where_the_evidence_is_strong() -> None:
    """As told, the values on the plain are all alike; compressed, the model sees which way is up."""
    trials = [shelf(number) for number in range(25)]
    fitted = model_of(*trials).current()
    assert fitted.transform.warp is not None
    without = LearnedModel(Domain.cube(2), 0, 5, warps=False)
    without.tell(trials)
    plain = without.current()
    assert plain.transform.warp is None
    y = raw(trials)[1]
    assert evidence(trials, OutputTransform.of(y, warped=True)) - evidence(trials, OutputTransform.of(y)) > WARP_FROM
    places = np.array([[0.15, 0.85], [0.5, 0.2]])  # up, and plain
    top, flat = fitted.ensemble.predict(places).mixture()[0].tolist()
    assert top - flat > 0.5
    assert top - flat > 1.5 * abs(np.subtract(*plain.ensemble.predict(places).mixture()[0]))


def test_a_curved_function_is_seen_as_it_is_told() -> None:
    trials = [trial(number) for number in range(25)]
    assert model_of(*trials).current().transform.warp is None
    y = raw(trials)[1]
    assert evidence(trials, OutputTransform.of(y, warped=True)) - evidence(trials, OutputTransform.of(y)) < WARP_FROM


def test_what_is_compressed_is_left_as_told_again_when_the_reason_is_gone() -> None:
    """Among many values that differ, few low ones are no reason."""
    model = model_of(*(shelf(number) for number in range(15)))
    assert model.current().transform.warp is not None
    rng = np.random.default_rng(9)
    for number in range(15, 45):
        x = 0.3 * rng.random(2)
        value = -2 * float(((x - 0.15) ** 2).sum() ** 0.5) + 0.05 * rng.normal()
        model.tell([Observation(number, x, np.array([value]))])
    assert model.stated().transform.warp is None


# --- near a place


def test_one_model_is_of_all_trials_as_long_as_they_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials count, not values: replicates are one point."""
    monkeypatch.setattr("quadrat.methods.auto.surrogate.LARGEST", 6)
    model = LearnedModel(Domain.cube(2), 0, 5)
    for number in range(6):
        model.tell([trial(number, values=20)])
        assert model.is_of_all
    model.tell([trial(6)])
    assert not model.is_of_all


@pytest.mark.parametrize("box", [False, True])
@pytest.mark.parametrize("first", [None, 20])
def test_near_a_place_are_the_nearest_trials_with_all_their_values(first: int | None, box: bool) -> None:
    trials = [trial(number, 1 + number % 4, 0.01 if number % 3 == 0 else None) for number in range(40)]
    model = model_of(*trials)
    centre, sides, count = np.array([0.2, 0.7]), np.array([0.1, 0.4]), 9
    chosen = nearest(np.array([told.x for told in trials[:first]]), centre, sides, count, box=box)
    near = model.near(centre, sides, count, box=box, first=first, samples=2)
    kept = [trials[i] for i in chosen]
    wanted = model_of(*kept)
    for name in ("x", "y", "places", "means"):
        np.testing.assert_array_equal(getattr(near, name), getattr(wanted, name))
    np.testing.assert_array_equal(near.data.variance, wanted.data.variance)
    assert near.places.tolist() == [told.x.tolist() for told in kept]
    assert near.means == pytest.approx([told.values.mean() for told in kept])
    assert len(near.y) > count
    assert near.samples == len(near.current().ensemble) == 2


def test_near_a_place_it_is_learned_from_all_trials_there_and_nothing_is_compressed() -> None:
    """Under one kernel where samples are few; in units of these trials; the model of all is not touched."""
    model = model_of(*(shelf(number) for number in range(25)))
    before = model.current()
    centre, sides = np.array([0.3, 0.5]), np.array([0.5, 0.5])
    near, few = model.near(centre, sides, 15), model.near(centre, sides, 15, samples=1)
    fitted = near.current()
    y = near.y
    np.testing.assert_allclose(fitted.data.y, (y - y.mean()) / y.std(), rtol=1e-12)
    assert fitted.fit.trials == fitted.trials == 15
    assert len(fitted.ensemble) == SAMPLES
    assert (fitted.fit.kernels, few.current().fit.kernels) == (KERNELS, USUAL)
    assert fitted.transform.warp is None
    assert before.transform.warp is not None
    assert model.current() is before
    same(model.near(centre, sides, 15).current(), fitted)
    mean, variance = conditioned(fitted, [shelf(i) for i in nearest(model.places, centre, sides, 15)], GRID)
    at = fitted.ensemble.predict(GRID)
    np.testing.assert_allclose(at.mean, mean, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(at.deviation**2, variance, rtol=1e-3, atol=1e-5)


def test_near_a_place_what_the_first_trials_say_does_not_depend_on_later_ones() -> None:
    trials = [trial(number) for number in range(30)]
    early, late = model_of(*trials[:20]), model_of(*trials)
    one, other = (model.near(TOP, np.ones(2), 12, first=20, samples=1) for model in (early, late))
    same(one.current(), other.current())


def test_near_a_place_noise_is_learned_where_it_is_not_known_there() -> None:
    """On the left all standard errors are known, on the right none is."""
    trials = [trial(number) for number in range(40)]
    model = model_of(*(replace(told, variance=0.01 if told.x[0] < 0.5 else None) for told in trials))
    left, right, both = (model.near(np.array([x, 0.5]), np.array([0.1, 1.0]), n) for x, n in ((0, 8), (1, 8), (0, 40)))
    learned = [bool(near.current().ensemble.noise_variance.any()) for near in (left, right, both)]
    assert learned == [False, True, True]


def test_what_another_model_learns_is_taken_over() -> None:
    """Samples are the other's, observations its own; also when it was looked at before."""
    model = model_of(*(trial(number) for number in range(30)))
    place = np.array([0.3, 0.3]), np.ones(2), 12
    one, other = model.near(*place, samples=1), model.near(*place, first=20, samples=1)
    own = one.current()
    one.take_over(other)
    same_samples(one.current(), other.current())
    assert not np.array_equal(one.current().fit.samples.lengthscales, own.fit.samples.lengthscales)
    np.testing.assert_array_equal(one.current().ensemble.x, own.ensemble.x)
    assert one.current().transform == other.current().transform


def test_what_does_not_fit_is_not_taken_over() -> None:
    """A model without noise to learn has nothing to say to one with."""
    plain, known = (model_of(*(trial(i, variance=v) for i in range(8))).near(TOP, np.ones(2), 6) for v in (None, 0.01))
    for one, other in ((plain, known), (known, plain)):
        own = one.current()
        one.take_over(other)
        same(one.current(), own)


# --- averages


def test_a_model_of_averages_knows_what_thousands_of_trials_say() -> None:
    """Of a bowl with noise .3: far more exact than a model of the trials nearest to a place, in the units told."""
    rng = np.random.default_rng(0)
    points = rng.random((3000, 2))
    values = 50.0 - ((points - 0.5) ** 2).sum(axis=1) + 0.3 * rng.normal(size=3000)
    model = LearnedModel(Domain.cube(2), 0, 5)
    model.tell([Observation(i, points[i], values[i : i + 1]) for i in range(3000)])
    place = np.array([0.5, 0.5]), np.full(2, 0.1)
    near = model.near(*place, 100)
    assert near.stated().noise == pytest.approx(0.3, rel=0.25)
    averaged = model.averaged(*place, 100, 0.3)
    query = np.array([[0.5, 0.5], [0.4, 0.6], [0.7, 0.5]])
    truth = 50.0 - ((query - 0.5) ** 2).sum(axis=1)
    errors = []
    for one in (near, averaged):
        fitted = one.stated()
        mean, deviation = fitted.ensemble.predict(query).mixture()
        errors.append(np.abs(fitted.transform.undo(mean) - truth).max())
        assert (np.abs(fitted.transform.undo(mean) - truth) < 4 * fitted.transform.above * deviation).all()
    assert errors[1] < 0.04
    assert errors[1] < errors[0]


def test_averages_of_stated_variances_and_replicates() -> None:
    """Each trial weighs what its variance says; where none was stated, the noise given over its replicates."""
    x = np.array([[0.5, 0.5], [0.505, 0.5], [0.9, 0.9], [0.1, 0.1]])
    model = LearnedModel(Domain.cube(2), 0, 5)
    model.tell(
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
    np.testing.assert_allclose(averaged.data.variance[order], wanted, rtol=1e-9)
    np.testing.assert_allclose(averaged.x[order[1]], (x[0] / 0.04 + x[1] / 0.02) / (1 / 0.04 + 1 / 0.02))


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_averages_of_values_of_any_size(size: float) -> None:
    told = [trial(number) for number in range(30)]
    plain, scaled = LearnedModel(Domain.cube(2), 0, 5), LearnedModel(Domain.cube(2), 0, 5)
    plain.tell(told)
    scaled.tell([replace(one, values=size * one.values) for one in told])
    place = np.array([0.5, 0.5]), np.full(2, 0.1)
    one, other = plain.averaged(*place, 20, 0.1), scaled.averaged(*place, 20, 0.1 * size)
    np.testing.assert_allclose(other.y, one.y, rtol=1e-9)
    ends = [model.current().transform.undo(np.ones(1)) for model in (one, other)]
    np.testing.assert_allclose(ends[1] / size, ends[0], rtol=1e-9)


# --- trainings that diverged


def diverging(n: int, every: int) -> list[Observation]:
    """Trials without noise, of which one in `every` gives an absurdly low value, wherever it is."""
    rng = np.random.default_rng(5)
    x = rng.random((n, 2))
    return [
        Observation(i, x[i], np.array([-(10.0 ** (4 + i)) if i % every == 3 else np.sin(5 * x[i, 0]) + x[i, 1]]))
        for i in range(n)
    ]


def test_what_diverged_is_an_outlier_and_does_not_look_like_noise() -> None:
    told = diverging(30, 6)
    fitted = model_of(*told).current()
    assert fitted.fit.outliers is not None
    assert fitted.fit.outliers.rows.tolist() == [3, 9, 15, 21, 27]
    assert not fitted.fit.outliers.high.any()
    assert fitted.noise < 0.02, "f has the range 2 and no noise"
    at = np.array([one.x for one in told if one.number % 6 == 3])
    truth = np.sin(5 * at[:, 0]) + at[:, 1]
    mean = fitted.transform.undo(fitted.ensemble.predict(at).mixture()[0])
    np.testing.assert_allclose(mean, truth, atol=0.15)  # the others say what f is there


def test_what_diverged_since_the_last_fit_is_an_outlier_at_once() -> None:
    """Between two fits, the units are those of the last one."""
    told = diverging(22, 6)  # number 21 diverges; the last fit is of 20
    fitted = model_of(*told).current()
    if fitted.fit.trials < 22:
        assert fitted.data.known_variance[-1] > 0


def test_diverged_are_the_points_that_gave_nothing_else() -> None:
    told = diverging(24, 6)
    model = model_of(*told)
    assert {point.tobytes() for point in model.diverged()} == {told[i].x.tobytes() for i in (3, 9, 15, 21)}
    model.tell([Observation(24, told[9].x, np.array([0.5]))])
    assert {point.tobytes() for point in model.diverged()} == {told[i].x.tobytes() for i in (3, 15, 21)}
    assert not len(model_of(*(one for one in told if one.number % 6 != 3)).diverged())


def test_one_that_diverged_with_a_stated_error_is_seen_as_it_is_stated() -> None:
    told = [replace(one, variance=0.01) for one in diverging(24, 6)]
    fitted = model_of(*told).current()
    assert fitted.fit.outliers is None
    assert np.isfinite(fitted.ensemble.predict(GRID).mean).all()
