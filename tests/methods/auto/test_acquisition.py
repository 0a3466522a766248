"""What one more look is worth: against simulation, in limits that are known, and in a run."""

from __future__ import annotations

import numpy as np
import pytest

import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.gp import LogPosterior, Observations
from quadrat.gp.ensemble import Ensemble
from quadrat.kernels import Matern
from quadrat.methods.auto.acquisition import RIVALS, expected_highest, knowledge_gradients

X = np.random.default_rng(0).random((7, 2))
Y = np.sin(5 * X[:, 0]) + X[:, 1]
NEW = np.array([[0.4, 0.9], [0.95, 0.05]])


def posterior(settings: int = 3) -> tuple[LogPosterior, Ensemble]:
    objective = LogPosterior(Matern(2.5, (0.4, 0.6)), Observations.merge(X, Y))
    draws = 0.3 * np.random.default_rng(1).normal(size=(settings, 4))
    return objective, Ensemble(objective, objective.start() + draws)


def noises(objective: LogPosterior, ensemble: Ensemble) -> Array:
    return np.array([objective.typical_noise(setting) for setting in ensemble.settings])


def test_worth_is_the_rise_of_the_best_mean_after_one_more_observation() -> None:
    """By simulation: draw f at all points, observe one with noise, condition on it, look for the best mean."""
    objective, ensemble = posterior()
    noise, points = noises(objective, ensemble), np.vstack([X, NEW])
    got = knowledge_gradients(ensemble, X, NEW, noise)
    rng = np.random.default_rng(2)
    means, joints = ensemble.covariances(points)
    for row in (0, 3, len(X), len(X) + 1):
        choice = [*range(len(X)), *([row] if row >= len(X) else [])]
        total = 0.0
        for mean, joint, v in zip(means, joints, noise, strict=True):
            total_variance = joint[row, row] + v
            observed = mean[row] + np.sqrt(total_variance) * rng.standard_normal(200_000)
            after = mean[choice] + np.outer(observed - mean[row], joint[choice, row] / total_variance)
            total += float(after.max(axis=1).mean()) - mean[: len(X)].max()
        assert got[row] == pytest.approx(total / len(ensemble), abs=0.004)


def test_what_is_to_be_improved_upon_is_the_expected_highest_value() -> None:
    """By simulation under each sample; never below the highest mean, and that where f is known."""
    ensemble = posterior()[1]
    means, joints = ensemble.covariances(X)
    rng = np.random.default_rng(3)
    draws = [rng.multivariate_normal(mean, joint, 100_000) for mean, joint in zip(means, joints, strict=True)]
    wanted = np.array([some.max(axis=1).mean() for some in draws])
    many = [expected_highest(ensemble, X, means, np.random.default_rng(seed)) for seed in range(40)]
    np.testing.assert_allclose(np.mean(many, axis=0), wanted, atol=0.01 * float(np.std(Y)))
    assert (np.array(many) >= means.max(axis=1)).all()
    known = LogPosterior(Matern(2.5, (0.4, 0.6)), Observations.merge(X, Y, 0.0))
    exact = Ensemble(known, [known.start()])
    at = exact.predict(X).mean
    np.testing.assert_allclose(expected_highest(exact, X, at, np.random.default_rng(0)), at.max(axis=1), atol=1e-3)


def test_points_of_low_mean_are_no_rivals() -> None:
    """Of many points those of highest mean count, so that the cost does not grow with the run."""
    x = np.random.default_rng(4).random((3 * RIVALS, 2))
    data = Observations.merge(x, 4 * x[:, 0])
    ensemble = Ensemble(
        LogPosterior(Matern(2.5, (0.4, 0.6)), data), [LogPosterior(Matern(2.5, (0.4, 0.6)), data).start()]
    )
    highest = x[np.argsort(-ensemble.predict(x).mean[0])[:RIVALS]]
    few, all_of_them = (
        expected_highest(ensemble, some, ensemble.predict(some).mean, np.random.default_rng(0)) for some in (highest, x)
    )
    np.testing.assert_array_equal(few, all_of_them)


def test_what_is_known_exactly_is_not_worth_another_look() -> None:
    objective = LogPosterior(Matern(2.5, (0.4, 0.6)), Observations.merge(X, Y, 0.0))
    ensemble = Ensemble(objective, [objective.start()])
    worth = knowledge_gradients(ensemble, X, NEW, np.zeros(1))
    assert worth[:-2].max() < 1e-4 < worth[-2:].max()


def test_noise_lowers_the_worth_of_everything() -> None:
    objective, ensemble = posterior()
    quiet, loud = (knowledge_gradients(ensemble, X, NEW, factor * noises(objective, ensemble)) for factor in (1, 100))
    assert (loud <= quiet + 1e-12).all()
    assert loud.max() < 0.9 * quiet.max()


def test_the_noise_of_one_more_measurement() -> None:
    """The learned one, or where all came with their own, the median of these, in standardised units."""
    learned = LogPosterior(Matern(2.5, 0.4), Observations.merge(X, Y), standardise=False)
    assert learned.typical_noise(np.log([0.4, 1.0, 0.07])) == pytest.approx(0.07)
    told = LogPosterior(Matern(2.5, 0.4), Observations.merge(X, Y, np.linspace(0.1, 0.7, 7)), standardise=False)
    assert told.typical_noise(np.log([0.4, 1.0])) == pytest.approx(0.4)


def second_looks(noise: float, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize", seed=seed)
    for _ in range(25):
        trial = optimizer.ask()
        optimizer.tell(trial, -((trial.params["x"] - 0.3) ** 2) + noise * rng.normal())
    return [record.why for record in optimizer.trials if "second look" in record.why]


def test_looks_are_repeated_where_noise_hides_what_is_best_and_only_there() -> None:
    said = [why for seed in range(3) for why in second_looks(0.3, seed)]
    assert said
    assert all("repeats trial" in why for why in said)
    assert not [why for seed in range(3) for why in second_looks(0.0, seed)]
