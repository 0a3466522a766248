"""Small finite spaces: no setting twice without noise, and an end that is said; through every door."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

import quadrat as qd
from quadrat.cli import main
from quadrat.errors import QuadratWarning, SpaceExhausted
from quadrat.loop.workers import Here
from quadrat.methods.auto.finite import MANY, FiniteSpace, nearest_to, shows_exactness, shows_noise
from quadrat.methods.auto.surrogate import LearnedModel
from quadrat.methods.base import Domain, Observation
from quadrat.studies.coordinator import Coordinator

GRID = qd.Space(a=qd.Int(0, 9), b=qd.Int(0, 45, step=5), c=qd.Categorical(list("vwxyz")))  # 500 settings
FEW = qd.Space(n=qd.Int(0, 9, step=3), c=qd.Categorical(["a", "b", "c"], ordered=True))  # 12
OFFSETS = {"v": 0.0, "w": 0.3, "x": -0.2, "y": 0.6, "z": 0.1}
TABLE = np.random.default_rng(5).normal(size=(10, 10, 5))


def smooth(p: Mapping[str, Any]) -> float:
    return float(-(((p["a"] - 6.3) / 4) ** 2) - ((p["b"] - 11) / 15) ** 2 + OFFSETS[p["c"]])


def stepped(p: Mapping[str, Any]) -> float:
    """Many settings have the same value."""
    return float(min(p["a"], 5) // 2 + min(p["b"], 35) // 15 + (p["c"] == "y"))


def rough(p: Mapping[str, Any]) -> float:
    """Looks like noise."""
    return float(TABLE[p["a"], p["b"] // 5, "vwxyz".index(p["c"])])


def few(p: Mapping[str, Any]) -> float:
    return float(1.1 * p["n"] + {"a": 0.0, "b": 2.5, "c": -1.0}[p["c"]])


def repeats(params: Iterable[Mapping[str, Any]]) -> int:
    settings = [tuple(sorted(one.items())) for one in params]
    return len(settings) - len(set(settings))


# --- no repeats


@pytest.mark.parametrize("objective", [smooth, stepped, rough])
def test_a_deterministic_grid_has_no_repeats_in_60_trials(objective: Callable[[Mapping[str, Any]], float]) -> None:
    """The method is told nothing: an optimizer with four pending, `maximize`, and a study whose space is found out."""
    optimizer = qd.Optimizer(GRID, direction="maximize", seed=1)
    pending: list[qd.Trial] = []
    for number in range(60):
        pending.append(optimizer.ask())
        if len(pending) == 4:
            done = pending.pop(number % 4)
            optimizer.tell(done, objective(done.params))
    assert repeats(record.params for record in optimizer.trials) == 0
    assert repeats(record.params for record in qd.maximize(objective, GRID, n_trials=60, seed=2).trials) == 0


def test_nor_has_a_study() -> None:
    def objective(trial: optuna.Trial) -> float:
        a, b = trial.suggest_int("a", 0, 9), trial.suggest_int("b", 0, 45, step=5)
        return smooth({"a": a, "b": b, "c": trial.suggest_categorical("c", list("vwxyz"))})

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for space in (None, GRID):
        study = optuna.create_study(direction="maximize", sampler=qd.QuadratSampler(search_space=space, seed=0))
        study.optimize(objective, n_trials=60)
        assert repeats(trial.params for trial in study.trials) == 0


def test_the_design_and_long_runs_have_none_either() -> None:
    """120 trials, beyond those from which a cell zooms; added trials, among them the centre, count as evaluated."""
    optimizer = qd.Optimizer(GRID, direction="maximize", method=qd.Auto(n_initial=30), seed=3)
    optimizer.add_trials([{"a": 5, "b": 25, "c": "x"}, {"a": 4, "b": 20, "c": "x"}], [0.0, 0.1])
    for _ in range(120):
        trial = optimizer.ask()
        optimizer.tell(trial, qd.FAILED if trial.number % 13 == 5 else smooth(trial.params))
    assert repeats(record.params for record in optimizer.trials) == 0


def test_all_settings_are_found_whatever_their_number() -> None:
    """Conditions, a constraint, a single value: each setting that may be evaluated comes once."""
    space = qd.Space(
        kind=qd.Categorical(["a", "b"]),
        depth=qd.Int(1, 3, when={"kind": "a"}),
        rate=qd.Float(0.1, 0.3, step=0.1, when={"kind": "b"}),
        seed=qd.Fixed(7),
        n=qd.Int(1, 4, log=True),
    ).subject_to(lambda p: p["n"] != 2 or p["kind"] == "a")
    optimizer = qd.Optimizer(space, direction="minimize", noise=0)
    seen = []
    for _ in range(21):
        trial = optimizer.ask()
        optimizer.tell(trial, trial.params["n"] + trial.params.get("depth", 0.5))
        seen.append(trial.params)
    with pytest.raises(SpaceExhausted, match=r"^all 21 settings evaluated, and the objective has no noise"):
        optimizer.ask()
    assert repeats(seen) == 0
    assert all(space.feasible(params) for params in seen)


def test_the_best_of_all_new_settings_is_asked_for() -> None:
    """What exhaustive search finds, among a few hundred: f is a parabola, and its top comes soon."""
    found = qd.maximize(lambda p: -abs(p["n"] - 371.0), qd.Space(n=qd.Int(0, 499)), n_trials=15, seed=0)
    assert found.best_seen.value == 0


def test_noise_that_was_seen_allows_second_looks() -> None:
    rng = np.random.default_rng(0)
    for noise in (1.0, None):
        optimizer = qd.Optimizer(GRID, direction="maximize", seed=0, noise=noise)
        if noise is None:
            first = optimizer.ask()
            optimizer.tell(first, [smooth(first.params), smooth(first.params) + 1.0])
        for _ in range(30):
            trial = optimizer.ask()
            optimizer.tell(trial, smooth(trial.params) + rng.normal())
        assert repeats(record.params for record in optimizer.trials) > 0
        again = [record for record in optimizer.trials if "repeats trial" in record.why]
        assert len(again) == repeats(record.params for record in optimizer.trials), "each is labelled"


def test_a_space_that_is_not_finite_is_as_before() -> None:
    assert Domain.cube(1).settings is None
    for space in (
        qd.Space(x=qd.Float(0, 1)),
        qd.Space(n=qd.Int(0, 20_000)),
        qd.Space(a=qd.Int(0, 200), b=qd.Int(0, 200)),
    ):
        optimizer = qd.Optimizer(space, direction="maximize")
        assert optimizer._run.domain.settings is None


# --- what was told of noise


def observed(*values: tuple[float, float], variance: float | None = None) -> LearnedModel:
    model = LearnedModel(Domain.cube(1), 0, 5)
    model.tell([Observation(i, np.array([x]), np.array([y]), variance) for i, (x, y) in enumerate(values)])
    return model


def test_what_shows_noise_and_what_shows_that_there_is_none() -> None:
    nothing, once = observed(), observed((0.1, 1.0), (0.2, 2.0))
    agree = observed((0.1, 1.0), (0.2, 2.0), (0.1, 1.0), (0.2, 2.0))
    differ = observed((0.1, 1.0), (0.1, 1.5), (0.2, 2.0), (0.2, 2.0), (0.2, 2.0))
    errors = observed((0.1, 1.0), (0.1, 1.0), (0.1, 1.0), variance=0.04)
    alike = observed((0.1, 1.0), (0.2, 1.0), (0.1, 1.0), (0.2, 1.0))
    one_repeat = observed((0.1, 1.0), (0.2, 2.0), (0.1, 1.0))
    cases = (nothing, once, agree, differ, errors, alike, one_repeat)
    assert [shows_noise(model) for model in cases] == [False, False, False, True, True, False, False]
    assert [shows_exactness(model) for model in cases] == [False, False, True, False, False, False, False]


def test_settings_that_are_left() -> None:
    space = FiniteSpace(np.array([[0.0, 0.5], [0.25, 0.5], [0.75, 0.5]]))
    assert space.without(np.array([[0.75, 0.5], [-0.0, 0.5], [0.3, 0.3]])).tolist() == [[0.25, 0.5]]
    assert len(space.without(space.points)) == 0
    assert len(space.without(np.empty((0, 2)))) == len(space) == 3
    assert nearest_to(np.array([0.4, 0.5]), space.points).tolist() == [0.25, 0.5]


# --- the end


def test_an_optimizer_says_that_nothing_is_left() -> None:
    optimizer = qd.Optimizer(FEW, direction="maximize", noise=0, seed=0)
    trials = [optimizer.ask() for _ in range(12)]
    assert repeats(trial.params for trial in trials) == 0
    with pytest.raises(SpaceExhausted, match=r"^all 12 settings evaluated or pending, and the objective has no noise"):
        optimizer.ask()
    for trial in trials:
        optimizer.tell(trial, few(trial.params))
    with pytest.raises(SpaceExhausted, match=r"^all 12 settings evaluated, and"):
        optimizer.ask()
    assert optimizer.recommend().params == {"n": 9, "c": "b"}
    again = qd.Optimizer.from_state(FEW, json.loads(json.dumps(optimizer.state())), method=qd.Auto(noise=0))
    with pytest.raises(SpaceExhausted):
        again.ask()
    optimizer.tell(optimizer.ask({"n": 0, "c": "a"}), 0.0)  # whoever wants a repeat chooses it
    alone = qd.Optimizer(qd.Space(n=qd.Int(3, 3)), direction="maximize", noise=0)
    alone.tell(alone.ask(), 1.0)
    with pytest.raises(SpaceExhausted, match=r"^the only setting evaluated"):
        alone.ask()


def test_an_objective_that_is_found_to_be_exact_ends_too() -> None:
    """Two repeats, labelled, say that there is no noise; settings that failed are not asked for again."""
    found = qd.maximize(few, FEW, n_trials=60, seed=0)
    assert found.n_trials == 14
    assert found.message.startswith("all 12 settings evaluated, and the objective has no noise")
    assert sum("repeats trial" in record.why for record in found.trials) == 2
    crashing = qd.maximize(lambda p: qd.FAILED if p["c"] == "c" else few(p), FEW, n_trials=60, noise=0)
    assert crashing.n_trials == 12


def test_with_noise_repeats_go_on_and_are_labelled() -> None:
    rng = np.random.default_rng(1)
    found = qd.maximize(lambda p: few(p) + rng.normal(), FEW, n_trials=30, seed=0)
    assert found.n_trials == 30
    assert sum("repeats trial" in record.why for record in found.trials) == 18
    results = qd.maximize(lambda p: float(p["n"] > 4), FEW, n_trials=20, seed=0)
    assert results.n_trials == 20, "pass and fail say nothing of the noise"


def test_workers_end_together() -> None:
    with ThreadPoolExecutor(5) as executor:
        found = qd.maximize(few, FEW, n_trials=60, noise=0, executor=executor)
    assert found.n_trials == 12
    assert found.message.startswith("all 12 settings evaluated")
    assert repeats(record.params for record in found.trials) == 0


@pytest.mark.parametrize(
    "method", ["GPUCB(noise=0.1)", "ExpectedImprovement(noise=0.1)", "RandomSearch", "SobolSearch"]
)
def test_other_methods_repeat_and_say_so(method: str) -> None:
    found = qd.maximize(few, FEW, n_trials=16, method=method, seed=0)
    assert found.n_trials == 16
    labelled = sum("repeats trial" in record.why for record in found.trials)
    assert labelled == repeats(record.params for record in found.trials) >= 4


def _study(space: qd.Space | None, method: str | None) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = qd.QuadratSampler(search_space=space, method=method, seed=0)
    return optuna.create_study(direction="maximize", sampler=sampler)


@pytest.mark.parametrize("declared", [True, False])
def test_a_study_stops(declared: bool) -> None:
    study = _study(FEW if declared else None, "Auto(noise=0)")
    with pytest.warns(QuadratWarning, match=r"all 12 settings evaluated.* the objective has no noise"):
        study.optimize(lambda trial: few(qd.suggest(trial, FEW)), n_trials=60)
    assert len(study.trials) == 12
    assert repeats(trial.params for trial in study.trials) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once
        trial = study.ask()
        assert qd.suggest(trial, FEW) == {"n": 9, "c": "b"}, "whoever asks nevertheless gets the best again"
        study.tell(trial, few(trial.params))


def test_a_coordinator_ends(caplog: pytest.LogCaptureFixture) -> None:
    for method, trials in (("Auto(noise=0)", 12), (None, 14)):
        study = _study(FEW, method)
        said = Coordinator(study, FEW, lambda: Here(few), n_trials=60).run()
        assert said.startswith("all 12 settings evaluated, and the objective has no noise")
        assert len(study.trials) == trials
        study.enqueue_trial({"n": 0, "c": "a"})
        Coordinator(study, FEW, lambda: Here(few), n_trials=60).run()
        assert len(study.trials) == trials + 1, "who enqueues a trial wants it"
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_the_command_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    (tmp_path / "space.json").write_text(json.dumps(FEW.to_dict()))
    (tmp_path / "f.py").write_text("def f(p):\n    return 1.1 * p['n'] + {'a': 0, 'b': 2.5, 'c': -1}[p['c']]\n")
    words = ["tune", "f.py:f", "--space", "space.json", "--direction", "maximize", "--method", "Auto(noise=0)"]
    assert main([*words, "-n", "60"]) == 0
    assert "all 12 settings evaluated" in "".join(capsys.readouterr())
    assert main(["ask"]) == 2
    assert capsys.readouterr().err.startswith("quadrat: ask: all 12 settings evaluated, and the objective has no noise")
    for command in (["show"], ["best"], ["report"]):
        assert main(command) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert main(["export", "--csv", "-"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 13


def test_many_repeats_of_few_values_end_a_space_too() -> None:
    """Rounded results are often equal, which is no sign of noise; two kinds of results are no sign of anything."""
    space = qd.Space(a=qd.Categorical(["x", "y"]), n=qd.Int(1, 5))
    found = qd.maximize(lambda p: round(0.9 - 0.01 * abs(p["n"] - 3) - 0.02 * (p["a"] == "x"), 2), space, n_trials=40)
    assert len(found.trials) == 10 + MANY
    assert f"all 10 settings evaluated, and {MANY} repeats gave the same" in str(found)
    passed = qd.maximize(lambda p: float(p["n"] > 2), space, n_trials=24)
    assert len(passed.trials) == 24
