"""`quadrat best` and `quadrat export` on studies of any maker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import optuna
import pytest

import quadrat as qd
from quadrat._core.printing import at_most, between
from quadrat.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """With a journal of one study, by random search."""
    monkeypatch.chdir(tmp_path)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        storage=qd.journal_storage("quadrat.journal"), study_name="bowl", sampler=optuna.samplers.RandomSampler(seed=0)
    )
    study.optimize(lambda trial: (trial.suggest_float("x", -1, 1) - 0.25) ** 2, n_trials=12)
    yield tmp_path
    optuna.logging.set_verbosity(optuna.logging.INFO)


@pytest.mark.usefixtures("folder")
def test_best_shows_the_recommended_beside_the_best_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["best"]) == 0
    out = capsys.readouterr().out
    assert "recommended" in out
    assert "best seen (trial" in out
    assert "90 %" in out
    assert main(["best", "--study", "bowl", "--storage", "quadrat.journal", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert abs(found["params"]["x"] - 0.25) < 0.1
    assert found["credible_interval"][0] < found["value"] < found["credible_interval"][1]


def test_best_says_what_the_method_of_the_study_certifies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = optuna.load_study(study_name="bowl", storage=qd.journal_storage(folder / "quadrat.journal"))
    kept.set_user_attr("quadrat:method", "LP0(kernel=Matern(2.5, 0.5), norm_bound=3, noise=0.01, budget=20)")
    assert main(["best", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    low, high = found["certified_interval"]
    assert low <= (2 * found["params"]["x"] - 0.5) ** 2 / 4 <= high
    assert 0 < found["certificate"]["value"] <= high - found["certificate"]["best_possible"] + 1e-8  # or less, by pairs
    assert found["credible_interval"] is None
    assert main(["best"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"({between((low, high), 4)}, certified)" in out
    assert f"certificate within {at_most(found['certificate']['value'], 4)} of the optimum" in out
    assert "90 %" not in out


CONDITIONAL = """
kind = { type = "categorical", choices = ["a", "b"] }
of_a = { type = "float", low = 0, high = 1, when = { kind = "a" } }
of_b = { type = "float", low = 0, high = 1, when = { kind = "b" } }
"""


def by_kind(trial: optuna.Trial) -> float:
    kind = trial.suggest_categorical("kind", ["a", "b"])
    return trial.suggest_float(f"of_{kind}", 0, 1)


@pytest.mark.parametrize(
    "command", [["best"], ["best", "--json"], ["show"], ["show", "--json"], ["report"], ["dashboard"]], ids=" ".join
)
def test_a_space_that_is_learned_and_one_of_a_file_serve_every_command(
    command: list[str], folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trials that define their parameters as they run show the conditions; nothing of either space is stored."""
    served: list[object] = []
    monkeypatch.setattr(
        "quadrat.cli.dashboard_command.serve", lambda study, draw, **_: served.append(sorted(draw(study)))
    )
    storage = qd.journal_storage(folder / "quadrat.journal")
    study = optuna.create_study(storage=storage, study_name="kinds", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(by_kind, n_trials=14)
    (folder / "kinds.toml").write_text(CONDITIONAL)
    for space in ([], ["--space", "kinds.toml"]):
        served.clear()
        assert main([*command, "--study", "kinds", *space]) == 0
        said = capsys.readouterr()
        assert "pass --space" not in said.out + said.err
        if command == ["report"]:
            assert "of_" in (folder / "report.html").read_text()
        elif command == ["dashboard"]:
            assert len(served) == 1
            assert served[0]
        else:
            assert "of_" in said.out
    assert set(study.user_attrs) == set(optuna.load_study(study_name="kinds", storage=storage).user_attrs) == set()


def test_export_writes_a_row_for_each_trial(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--csv", "-"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "number,state,value,failure,x"
    assert len(out.splitlines()) == 13
    assert main(["export", "--csv", "trials.csv"]) == 0
    assert (folder / "trials.csv").read_text() == out
    assert main(["export"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["best", "--study", "other"], "which has bowl, got other"),
        (["best", "--storage", "nowhere.log"], "nowhere.log, which does not exist"),
        (["export", "--csv", "no/such/folder.csv"], "expected a file that can be written"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_is_not_there_is_said_with_exit_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_of_several_studies_one_has_to_be_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = optuna.create_study(storage=qd.journal_storage(folder / "quadrat.journal"), study_name="empty")
    assert main(["best"]) == 2
    assert "which has bowl, empty, got None" in capsys.readouterr().err
    assert main(["best", "--study", study.study_name]) == 2
    assert "at least one complete trial" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["export", "--csv"], ["report", "--output"]], ids=lambda words: words[0])
def test_no_file_with_studies_is_written_over(
    command: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By whatever name, and also where it is the storage of other studies."""
    optuna.create_study(storage="sqlite:///other.db")
    (folder / "link.csv").symlink_to("quadrat.journal")
    for name in ("quadrat.journal", "link.csv", "other.db"):
        before = (folder / name).read_bytes()
        assert main([*command, name]) == 2
        assert "expected a file of its own" in capsys.readouterr().err
        assert (folder / name).read_bytes() == before
    (folder / "earlier").write_text("an earlier one")
    assert main([*command, "earlier"]) == 0


@pytest.mark.parametrize(
    "command", [["ask", "--space", "space.toml"], ["show"], ["export"], ["tune", "objective.py:f", "-n", "1"]]
)
@pytest.mark.parametrize("where", ["sqlite://", "sqlite:///:memory:", "sqlite+pysqlite:///file:x?mode=memory&uri=true"])
def test_a_database_in_memory_is_refused(
    command: list[str], where: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a command is told would be gone when it ends."""
    (folder / "space.toml").write_text('[x]\ntype = "float"\nlow = 0\nhigh = 1\n')
    (folder / "objective.py").write_text("def f(trial):\n    return 1.0\n")
    assert main([*command, "--storage", where]) == 2
    assert "expected one that outlives this command" in capsys.readouterr().err
