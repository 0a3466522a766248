"""Ray Tune searches with Quadrat through its own OptunaSearch."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.trial import TrialState

import quadrat as qd

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'quadrat[ray]'")
tune = pytest.importorskip("ray.tune", reason="Ray Tune is not installed: pip install 'ray[tune]'")

OBJECT_STORE = 80 * 2**20  # bytes


@pytest.fixture(scope="module")
def local_ray() -> Iterator[None]:
    """A Ray of two processors. Its files are not in pytest's folder: names of sockets have to be short."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="quadrat-ray-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", folder)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(
            address="local",
            num_cpus=2,
            object_store_memory=OBJECT_STORE,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
        yield
        ray.shutdown()
    optuna.logging.set_verbosity(optuna.logging.INFO)


def replayed(trials: list[optuna.trial.FrozenTrial]) -> list[dict[str, Any]]:
    """The parameters that a plain study suggests if it is asked and told in the same order."""
    study = optuna.create_study(sampler=qd.QuadratSampler(seed=0))
    asked: dict[int, optuna.Trial] = {}
    begun = [(trial.datetime_start, trial, "begun") for trial in trials]
    ended = [(trial.datetime_complete, trial, "ended") for trial in trials]
    for _, trial, event in sorted(begun + ended, key=lambda entry: str(entry[0])):
        if event == "begun":
            asked[trial.number] = study.ask(dict(trial.distributions))
        else:
            study.tell(asked[trial.number], trial.value)
    return [asked[number].params for number in range(len(trials))]


@pytest.mark.usefixtures("local_ray")
def test_tune(tmp_path: Path) -> None:
    """Eight trials, two at a time: every suggestion is the one that Quadrat makes at that moment."""
    from ray.tune.search.optuna import OptunaSearch

    def trainable(config: dict[str, Any]) -> dict[str, float]:  # in here, because the workers cannot import this file
        return {"loss": (config["x"] - 0.3) ** 2 + abs(config["n"] - 4) + (config["kind"] == "a")}

    search: Any = OptunaSearch(metric="loss", mode="min", sampler=qd.QuadratSampler(seed=0))
    space = {"x": tune.uniform(-1, 1), "n": tune.randint(1, 8), "kind": tune.choice(["a", "b"])}
    config = tune.TuneConfig(search_alg=search, num_samples=8, max_concurrent_trials=2, reuse_actors=True)
    run = tune.RunConfig(storage_path=str(tmp_path), verbose=0)
    results = tune.Tuner(trainable, param_space=space, tune_config=config, run_config=run).fit()

    trials = search._ot_study.trials
    assert [trial.number for trial in trials] == list(range(8))
    assert [trial.state for trial in trials] == [TrialState.COMPLETE] * 8
    assert [trial.value for trial in trials] == [trainable(trial.params)["loss"] for trial in trials]
    assert any(trial.datetime_start < before.datetime_complete for before, trial in pairwise(trials)), "two at a time"
    assert [trial.params for trial in trials] == replayed(trials)
    assert all("quadrat:params:0" in trial.system_attrs for trial in trials[2:]), "the space is learnt from the first"
    best = results.get_best_result("loss", "min")
    assert best.config == min(trials, key=lambda trial: trial.value).params
