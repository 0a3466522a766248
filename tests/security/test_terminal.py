"""Nothing of a storage reaches a terminal as it is: escape sequences are written out, very long texts are cut."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
from optuna.trial import TrialState, create_trial

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.security.captured import run_command

import quadrat as qd
from quadrat.cli.tune_screen import TuneScreen

ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\r\udcff"
LONG = 10_000_000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """With a study whose names and texts have escape sequences, one text of 10 MB, and a second study."""
    monkeypatch.chdir(tmp_path)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    storage = qd.journal_storage("quadrat.journal")
    study = optuna.create_study(study_name="study" + ESCAPE, storage=storage)
    optuna.create_study(study_name="other" + ESCAPE, storage=storage)
    study.set_user_attr("quadrat:method", "Auto" + ESCAPE)
    study.set_user_attr("quadrat:seed", "0" + ESCAPE)
    distributions: dict[str, BaseDistribution] = {
        "x" + ESCAPE: FloatDistribution(0, 1),
        "kind": CategoricalDistribution(["a" + ESCAPE, "b" * 100_000]),
    }
    for i in range(4):
        params: dict[str, Any] = {"x" + ESCAPE: i / 4, "kind": distributions["kind"].choices[i % 2]}  # type: ignore[attr-defined]
        study.add_trial(create_trial(value=float(i), params=params, distributions=distributions))
    for text in ("z" * LONG, ESCAPE * 100):
        study.add_trial(create_trial(state=TrialState.FAIL, user_attrs={"quadrat:failure": text}))
    study.add_trial(
        create_trial(state=TrialState.RUNNING, system_attrs={"quadrat:params:0": json.dumps({"quadrat:why": ESCAPE})})
    )
    yield tmp_path
    optuna.logging.set_verbosity(optuna.logging.INFO)


def check(text: str, longest: int = 40_000) -> None:
    assert text.replace("\n", "").isprintable()
    assert len(text) < longest


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "arguments",
    [
        ("show",),
        ("show", "--study", "study" + ESCAPE),
        ("best", "--study", "study" + ESCAPE),
        ("best", "--study", "none"),
        ("report", "--study", "study" + ESCAPE),
        ("tell", "6", "--failed", "--reason", "w" * 50_000 + ESCAPE, "--study", "study" + ESCAPE),
        ("ask", "--study", "study" + ESCAPE),
    ],
)
def test_what_is_printed_is_printable_and_short(arguments: tuple[str, ...]) -> None:
    said = run_command(arguments)
    check(said.out)
    check(said.err)
    assert said.out or said.err


@pytest.mark.usefixtures("folder")
def test_json_is_whole_and_printable() -> None:
    for arguments in (("show", "--json"), ("export", "--study", "study" + ESCAPE)):
        said = run_command(arguments)
        check(said.out, 2 * LONG)
        assert any(ESCAPE in text for text in _texts(json.loads(said.out)))


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        yield from data
        for value in data.values():
            yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)
    elif isinstance(data, str):
        yield data


def test_files_are_written_whatever_the_names_are(folder: Path) -> None:
    assert run_command(["export", "--study", "study" + ESCAPE, "--csv", "out.csv"]).status == 0
    assert "\\udcff" in (folder / "out.csv").read_text(encoding="utf-8")
    said = run_command(["report", "--study", "study" + ESCAPE])
    assert said.status == (0 if (folder / "report.html").exists() else 2)


def test_a_terminal_shows_csv_with_control_characters_written_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from quadrat.cli.study_commands import export, opened

    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert export(opened("study" + ESCAPE, str(folder / "quadrat.journal")), "-") is None
    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable()
    assert "\\x1b[2J" in out


@pytest.mark.usefixtures("folder")
def test_warnings_during_a_run_are_printable(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = optuna.create_study()
    monkeypatch.setattr(logging.getLogger("quadrat"), "propagate", False)  # or the text is in the report of the test
    with TuneScreen(study, 1, None, output=None, errors=sys.stderr, width=80):
        logging.getLogger("quadrat").warning("trial 0 failed: %s", ESCAPE + "z" * LONG)
    check(capsys.readouterr().err)
