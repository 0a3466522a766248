"""A safe search in a study: nothing is drawn at random, and a study ends where nothing is known to be safe any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
import pytest

import quadrat as qd
from quadrat.cli import main
from quadrat.errors import InvalidInput, SpaceExhausted

SPACE = qd.Space(x=qd.Float(0, 10))
SAFE = "Safe(threshold=-0.5, safe=[{'x': 2.0}], kernel=Matern(2.5, 0.4), norm_bound=2.0, noise=0.02)"
WRONG = "Safe(threshold=0.01, safe=[{'x': 4.0}], kernel=Matern(2.5, 0.4), norm_bound=0.05, noise=0.001)"


@pytest.fixture(autouse=True)
def quiet() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def bowl(x: float) -> float:
    return -4 * (x / 10 - 0.4) ** 2


def test_a_study_never_breaks_the_limit_and_has_the_trials_of_an_optimizer() -> None:
    study = optuna.create_study(
        direction="maximize", sampler=qd.QuadratSampler(search_space=SPACE, method=SAFE, seed=3)
    )
    study.optimize(lambda trial: bowl(trial.suggest_float("x", 0, 10)), n_trials=12)
    tried = [trial.params["x"] for trial in study.trials]
    assert min(map(bowl, tried)) >= -0.5
    optimizer = qd.Optimizer(SPACE, direction="maximize", method=SAFE, seed=3)
    for x in tried:
        trial = optimizer.ask()
        assert trial.params["x"] == x
        optimizer.tell(trial, bowl(x))


def test_without_the_parameters_it_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"search_space: expected the parameters beside Safe, got None"):
        qd.QuadratSampler(method=SAFE)


def test_a_study_ends_where_the_data_reject_the_assumptions() -> None:
    """Not with the best again, as where a finite space is searched through: that is not known to be safe either."""
    study = optuna.create_study(direction="maximize", sampler=qd.QuadratSampler(search_space=SPACE, method=WRONG))
    with pytest.raises(SpaceExhausted, match="assumptions rejected by the data"):
        study.optimize(lambda trial: bowl(trial.suggest_float("x", 0, 10)) + 0.8, n_trials=20)
    complete = [trial for trial in study.trials if trial.state is optuna.trial.TrialState.COMPLETE]
    assert len(complete) < 5


def test_tune_ends_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("space.toml").write_text('[x]\ntype = "float"\nlow = 0\nhigh = 10\n', encoding="utf-8")
    Path("f.py").write_text("def f(p):\n    return .8 - 4 * (p['x'] / 10 - .4) ** 2\n", encoding="utf-8")
    arguments = [
        "tune",
        "f.py:f",
        "--space",
        "space.toml",
        "--n-trials",
        "20",
        "--direction",
        "maximize",
        "--workers",
        "1",
    ]
    main([*arguments, "--method", WRONG, "--storage", "s.log"])
    said = " ".join(capsys.readouterr().out.split())
    assert "rejected by the data" in said


@pytest.mark.parametrize("method", [SAFE, "FittedSafe(threshold=-0.5, safe=[{'x': 2.0}])"])
@pytest.mark.parametrize("space", [SPACE, {"x": optuna.distributions.FloatDistribution(0, 10)}])
def test_a_parameter_that_the_space_lacks_is_refused_and_not_drawn(method: str, space: Any) -> None:
    """Whether it is misspelt, or beside the others: the limited function would depend on what nobody guards."""
    evaluated = []

    def misspelt(trial: optuna.Trial) -> float:
        evaluated.append(trial.suggest_float("y", 0, 10))
        return bowl(evaluated[-1])

    def one_more(trial: optuna.Trial) -> float:
        evaluated.append(trial.suggest_float("x", 0, 10) + trial.suggest_int("n", 0, 3))
        return bowl(evaluated[-1])

    for objective, name in ((misspelt, "y"), (one_more, "n")):
        for alone in (None, optuna.samplers.RandomSampler(seed=0)):
            sampler = qd.QuadratSampler(search_space=space, method=method, independent_sampler=alone)
            study = optuna.create_study(direction="maximize", sampler=sampler)
            with pytest.raises(
                InvalidInput, match=rf"search_space: expected every parameter .* got none called '{name}'"
            ):
                study.optimize(objective, n_trials=3)
    assert not evaluated


def test_a_suggestion_outside_of_what_the_objective_asks_for_is_refused() -> None:
    study = optuna.create_study(direction="maximize", sampler=qd.QuadratSampler(search_space=SPACE, method=SAFE))
    with pytest.raises(InvalidInput, match=r"search_space: expected parameter 'x' within what the objective asks for"):
        study.optimize(lambda trial: bowl(trial.suggest_float("x", 4, 10)), n_trials=1)


def test_what_the_user_chooses_or_fixes_is_the_users_own() -> None:
    study = optuna.create_study(direction="maximize", sampler=qd.QuadratSampler(search_space=SPACE, method=SAFE))
    study.enqueue_trial({"x": 3.0, "n": 2})
    study.optimize(lambda trial: bowl(trial.suggest_float("x", 0, 10)) + 0 * trial.suggest_int("n", 0, 3), n_trials=1)
    study.optimize(lambda trial: bowl(trial.suggest_float("x", 0, 10)) + 0 * trial.suggest_int("m", 3, 3), n_trials=2)
    assert [trial.state.name for trial in study.trials] == ["COMPLETE"] * 3
