"""The lines on a study: as long as there is something to say, as wide as there is room."""

from __future__ import annotations

import pytest
from rich.console import Console

from quadrat.cli.screen import BLOCKS
from quadrat.cli.study_model import StudyModel
from quadrat.cli.study_summary import model_json, summary_lines, summary_table
from quadrat.optimizer import BestSeen, CertificateReport, Recommendation

PLAIN = Recommendation({"x": 0.5}, 1.0, None, None, None, BestSeen(3, {"x": 0.25}, 2.0), "Because.")
CERTIFIED = Recommendation({"x": 0.5}, 1.0, (0.5, 1.5), None, None, BestSeen(3, {"x": 0.25}, 2.0), "Because.")


def test_only_what_there_is_has_a_line() -> None:
    assert summary_lines(StudyModel(PLAIN), [2.0], 80, BLOCKS) == [
        ("recommended", "1  x=0.5"),
        ("best seen", "2 in trial 3  x=0.25"),
        ("", "Because."),
    ]
    assert summary_lines("why not", [], 80, BLOCKS) == [("recommended", "nothing: why not")]


def test_a_model_that_fits_badly_is_said_last() -> None:
    model = StudyModel(PLAIN, fit_warning="The model fits badly: trial 3.")
    assert summary_lines(model, [], 80, BLOCKS)[-1] == ("warning", "The model fits badly: trial 3.")
    assert model_json(model)["fit_warning"] == "The model fits badly: trial 3."


def test_a_certificate_or_why_there_is_none() -> None:
    lines = dict(summary_lines(StudyModel(CERTIFIED, CertificateReport(0.25)), [], 80, BLOCKS))
    assert lines["recommended"] == "1 (0.5 to 1.5, certified)  x=0.5"
    assert lines["certificate"] == "within 0.25 of the optimum, under the stated assumptions"
    lines = dict(summary_lines(StudyModel(PLAIN, CertificateReport(None, "it is not known")), [], 80, BLOCKS))
    assert lines["certificate"] == "none: it is not known"


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("top", [2.0, 1e9])
def test_progress_fits_in_one_line(width: int, top: float) -> None:
    values = [top / (1 + i) ** 3 for i in range(5000)]
    label, text = summary_lines("why", values, width, BLOCKS)[0]
    assert label == "progress"
    drawn, words = text.split("  ")
    assert words.startswith(f"{top:.6g} to {values[-1]:.6g} in 5000 trials")
    assert len(drawn) == min(max(width - 13 - len(words) - 2, 8), 48)
    console = Console(width=width, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(summary_table([(label, text), ("", "[bold]names 名前 [/] " * 30)]))
    lines = captured.get().splitlines()
    assert max(map(console.measure, lines), key=lambda m: m.maximum).maximum <= width
    assert captured.get().count("[bold]names") == 30


def test_as_json_nothing_is_left_out() -> None:
    said = model_json(StudyModel(CERTIFIED, CertificateReport(0.25), None, (), 0))
    assert said["recommended"]["best_seen"]["number"] == 3
    assert said["certificate"]["value"] == 0.25
    assert (said["reason"], said["level_set"], said["cells"]) == (None, None, [])
    assert set(said) == set(model_json("why"))
    assert model_json("why")["reason"] == "why"
