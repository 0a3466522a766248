"""Fold effects: what candidates share is no noise, and what is told of them shows that."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold

import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.integrations.folds import SameFolds, fold_effects, residual_deviation
from quadrat.methods.auto.method import AutoSearch


def drawn(candidates: int, folds: int, noise: float, seed: int = 0) -> tuple[Array, Array]:
    """Scores y_ij = f_i + b_j + r_ij with the b_j that they have."""
    rng = np.random.default_rng(seed)
    effects = rng.normal(0, 1, folds)
    effects -= effects.mean()
    return rng.normal(0, 0.3, (candidates, 1)) + effects + rng.normal(0, noise, (candidates, folds)), effects


def test_effects_and_residuals_are_those_of_the_model() -> None:
    scores, effects = drawn(400, 5, 0.1)
    np.testing.assert_allclose(fold_effects(scores), effects, atol=0.02)
    assert abs(fold_effects(scores).sum()) < 1e-12
    assert residual_deviation(scores) == pytest.approx(0.1, rel=0.1)
    assert scores.std(axis=1, ddof=1).mean() > 4 * residual_deviation(scores), "what folds as replicates would show"


def test_residuals_are_least_squares_of_both_effects() -> None:
    """By brute force: the residual sum of squares of a regression on indicators of candidates and folds."""
    scores, _ = drawn(4, 3, 0.5)
    rows, columns = np.indices(scores.shape)
    design = np.hstack([np.eye(4)[rows.ravel()], np.eye(3)[columns.ravel()]])
    fitted = design @ np.linalg.lstsq(design, scores.ravel(), rcond=None)[0]
    freedom = scores.size - np.linalg.matrix_rank(design)
    assert residual_deviation(scores) == pytest.approx(np.sqrt(((scores.ravel() - fitted) ** 2).sum() / freedom))


def test_one_candidate_or_one_fold_has_no_residuals() -> None:
    assert np.isnan(residual_deviation([[1.0, 2.0]]))
    assert np.isnan(residual_deviation([[1.0], [2.0]]))


def test_folds_are_drawn_once() -> None:
    X = np.arange(12)
    same = SameFolds(KFold(3, shuffle=True))
    first, second = ([test.tolist() for _, test in same.split(X)] for _ in range(2))
    assert first == second
    assert same.get_n_splits(X) == 3


def test_means_alone_learn_the_noise_where_replicates_and_a_standard_error_mislead() -> None:
    """Simulation of the claims of the module, with strong fold effects b_j and residuals that are smooth in x.

    Of the three things that may be told of a candidate, the mean alone has the learned noise nearest to the truth,
    which is the deviation of the rough part of the residuals over sqrt(k). Replicates are at about sd(b) / sqrt(k); a
    standard error is at what the smooth part adds. The recommended candidate is no worse than with replicates.
    """
    folds, rough, smooth, strong = 5, 0.02, 0.1, 0.5
    noise: dict[str, list[float]] = {"mean": [], "replicates": [], "standard error": []}
    regret: dict[str, list[float]] = {name: [] for name in noise}
    for seed in range(3):
        for told in noise:
            rng = np.random.default_rng(seed)
            effects, slopes = rng.normal(0, strong, folds), rng.normal(0, smooth, (folds, 2))
            optimizer = qd.Optimizer(qd.Space(a=qd.Float(0, 1), b=qd.Float(0, 1)), direction="maximize", seed=seed)
            table: list[Array] = []

            def mean_score(x: Array, slopes: Array = slopes, effects: Array = effects) -> float:
                return -float(((x - [0.3, 0.6]) ** 2).sum() + (effects + slopes @ x).mean())

            for _ in range(15):
                trial = optimizer.ask()
                x = np.array([trial.params["a"], trial.params["b"]])
                table.append(
                    -((x - [0.3, 0.6]) ** 2).sum() - effects - slopes @ x + rng.normal(0, rough, folds)
                )  # fmt: skip
                scores = table[-1]
                error = residual_deviation(table) if len(table) > 1 else float(scores.std(ddof=1))
                outcomes = {
                    "mean": float(scores.mean()),
                    "replicates": scores.tolist(),
                    "standard error": qd.Estimate(float(scores.mean()), error / folds**0.5),
                }
                optimizer.tell(trial, outcomes[told])
            search = optimizer._search
            assert isinstance(search, AutoSearch)
            found = search.model.current().noise / (folds**0.5 if told == "replicates" else 1)
            noise[told].append(abs(np.log(found / (rough / folds**0.5))))
            best = optimizer.recommend().params
            shift = np.clip(np.array([0.3, 0.6]) - slopes.mean(axis=0) / 2, 0, 1)  # where the mean score is highest
            regret[told].append(mean_score(shift) - mean_score(np.array([best["a"], best["b"]])))
    off = {name: float(np.exp(np.mean(logs))) for name, logs in noise.items()}
    assert off["mean"] < 2.5, off
    assert off["replicates"] > 8, off
    assert off["mean"] < off["standard error"] < off["replicates"], off
    assert np.mean(regret["mean"]) < np.mean(regret["replicates"]), regret
