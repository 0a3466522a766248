"""`quadrat report`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import optuna
import pytest

import quadrat as qd
from quadrat.cli import main

pytest.importorskip("plotly", reason="plotly is not installed: pip install 'quadrat[plots]'")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """With a journal of two studies, one of them empty."""
    monkeypatch.chdir(tmp_path)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = qd.journal_storage("quadrat.journal")
    study = optuna.create_study(storage=storage, study_name="bowl", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(lambda trial: (trial.suggest_float("x", -1, 1) - 0.25) ** 2, n_trials=6)
    optuna.create_study(storage=storage, study_name="empty")
    yield tmp_path
    optuna.logging.set_verbosity(optuna.logging.INFO)


def test_a_study_is_written_as_a_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "bowl", "-o", "out.html"]) == 0
    assert "Wrote out.html" in capsys.readouterr().out
    text = (folder / "out.html").read_text(encoding="utf-8")
    assert "<h1>bowl</h1>" in text
    assert "quadrat best --study bowl --json" in text
    assert "report --study bowl --storage quadrat.journal" not in text, "the default storage need not be named"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report"], "which has bowl, empty, got None"),
        (["report", "empty"], "expected at least one complete trial"),
        (["report", "bowl", "--study", "empty"], "expected one name, got bowl and --study empty"),
        (["report", "--study", "bowl", "--output", "no/such/folder.html"], "expected a file that can be written"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_written_is_said_with_exit_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
