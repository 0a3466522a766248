"""`quadrat certify`: a stored study of any sampler, from options."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import optuna
import pytest

import quadrat as qd
from quadrat.cli import main

STATED = ["--lengthscale", "x=1.0", "--norm-bound", "2", "--offset", "0", "--noise", "0.01"]
SAID = ["--stated-before-data", "--every-value-counts"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        storage=qd.journal_storage("quadrat.journal"), study_name="bowl", sampler=optuna.samplers.RandomSampler(seed=0)
    )
    study.optimize(lambda trial: (trial.suggest_float("x", -1, 1) - 0.25) ** 2, n_trials=12)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def kept() -> optuna.Study:
    return optuna.load_study(study_name="bowl", storage=qd.journal_storage("quadrat.journal"))


def test_it_says_what_the_function_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", "bowl", *STATED, *SAID, "--params", '{"x": 0.5}', "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    stated = qd.RunAssumptions(kernel=qd.Matern(2.5), lengthscales={"x": 1.0}, norm_bound=2, offset=0, noise=0.01)
    again = qd.certify(kept(), stated, params={"x": 0.5}, stated_before_data=True, every_value_counts=True)
    assert found == json.loads(json.dumps(again.to_dict()))
    low, high = found["asked"][0]["certified_interval"]
    assert low <= 0.0625 <= high
    assert main(["certify", *STATED, *SAID]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Certified of minimize, with probability 0.95, all of it at once" in out
    assert "x 1 (0.5 of -1 to 1)" in out


def test_kernels_of_the_unit_cube_and_limits_of_the_values(capsys: pytest.CaptureFixture[str]) -> None:
    of_cube = ["--kernel", "Matern(1.5, 0.5)", "--unit-cube", "--norm-bound", "2", "--values-within", "-1,3"]
    assert main(["certify", *of_cube, *SAID, "--delta", "0.1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["assumptions"]
    assert (found["noise"], found["offset"], found["delta"], found["lengthscales"]) == (2.0, 1.0, 0.1, "unit cube")
    assert found["kernel"].startswith("Matern(nu=1.5, lengthscales=0.5")


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_results_that_contradict_the_assumptions_are_told_by_the_exit_status(
    form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    tame = ["--lengthscale", "x=1.0", "--norm-bound", "0.001", "--offset", "0", "--noise", "0.0001"]
    assert main(["certify", *tame, *SAID, *form]) == 3
    said = capsys.readouterr()
    assert "assumptions rejected by the data" in " ".join(said.out.split())
    assert said.err == ""


def test_trials_without_a_value_need_the_third_word(capsys: pytest.CaptureFixture[str]) -> None:
    study = kept()
    study.tell(study.ask(), state=optuna.trial.TrialState.FAIL)
    assert main(["certify", *STATED, *SAID]) == 2
    assert "failures_ignore_noise: expected True" in capsys.readouterr().err
    assert main(["certify", *STATED, *SAID, "--failures-ignore-noise"]) == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "expected either --lengthscale NAME=NUMBER for each parameter, in its units, or --unit-cube"),
        (["--unit-cube", "--lengthscale", "x=1"], "shares of the ranges, got both"),
        (["--unit-cube"], "norm-bound: expected a number above 0, got none"),
        ([*STATED[:4]], "noise: expected either noise or values_within, got neither"),
        ([*STATED[:4], "--noise", "0.1"], "offset: expected the value around which the objective lies"),
        ([*STATED], "stated_before_data: expected True"),
        ([*STATED, SAID[0]], "every_value_counts: expected True"),
        (["--lengthscale", "x", *STATED[2:], *SAID], "lengthscale: expected NAME=NUMBER"),
        (["--lengthscale", "x=1_0", *STATED[2:], *SAID], "lengthscale: expected NAME=NUMBER"),
        (["--lengthscale", "x=1", *STATED, *SAID], "got two for 'x'"),
        (["--lengthscale", "y=1", *STATED[2:], *SAID], "lengthscales: expected one for each of x, got y"),
        (["--kernel", "Foo(3)", *STATED, *SAID], "kernel: expected one of"),
        (["--kernel", "RandomSearch()", *STATED, *SAID], "kernel: expected a description of a kernel"),
        (["--kernel", "Matern(2.5", *STATED, *SAID], "kernel: expected a name, or a description"),
        ([*STATED[:4], "--values-within", "0", *SAID], "values-within: expected LOW,HIGH"),
        ([*STATED, *SAID, "--params", "{x: 1}"], "params: expected JSON such as"),
        ([*STATED, *SAID, "--params", '{"x": 7}'], "params: expected a setting of x within their bounds"),
        ([*STATED, *SAID, "--study", "other"], "study: expected"),
    ],
)
def test_what_is_not_understood_is_refused_in_one_line(
    options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["certify", *options]) == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
