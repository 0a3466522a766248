"""Tune a noisy function of mixed parameters, then ask what to use."""

import random

import optuna
import optunahub


def objective(trial: optuna.Trial) -> float:
    rate = trial.suggest_float("rate", 1e-5, 1.0, log=True)
    layers = trial.suggest_int("layers", 1, 6)
    kind = trial.suggest_categorical("kind", ["plain", "residual"])
    loss = abs(layers - 4) / 4 + (0.3 if kind == "plain" else 0.0) + 10 * abs(rate - 0.03)
    return loss + random.gauss(0, 0.05)


if __name__ == "__main__":
    module = optunahub.load_module("samplers/quadrat")
    study = optuna.create_study(direction="minimize", sampler=module.QuadratSampler(seed=0))
    study.optimize(objective, n_trials=40)
    print("best seen:  ", study.best_params, study.best_value)

    from quadrat import recommend

    found = recommend(study)
    print("recommended:", found.params, found.value, found.credible_interval)
    print(found.why)
