"""The example of a level set on real data: its assumptions stand up to what can be checked, and labels are right."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "good_enough.py"


def test_labels_agree_with_other_splits(capsys: pytest.CaptureFixture[str]) -> None:
    example = runpy.run_path(str(EXAMPLE))
    assert example["spread"](repeats=4) < example["NOISE"]
    optimizer = example["search"](n_trials=40)
    found = optimizer.level_set()
    assert found.reason is None
    assert found.rejected is None
    assert found.volume("above") > 0.05
    assert found.volume("below") > 0.1
    right, wrong, undecided = example["check"](found, side=4, splits=6)
    assert wrong == 0
    assert right >= 4
    assert right + undecided == 16
    example["show"](found, width=16)
    shares, *rows = capsys.readouterr().out.splitlines()[1:]
    assert "% above" in shares
    assert [len(row.strip()) for row in rows] == [16] * 4
    assert {"+", "-", "?"} == set("".join(rows)) - {" "}


def test_scores_repeat_by_their_stream() -> None:
    score = runpy.run_path(str(EXAMPLE))["score"]
    params = {"penalty": 1.0, "gamma": 0.3}
    assert score(params, 7) == score(params, 7) != score(params, 8)
    assert np.mean([score(params, 9, i) for i in range(5)]) > 0.4


def test_the_figure_is_of_the_run_on_the_page() -> None:
    (shown,) = re.findall(r"optimizer = search\((\d+)\)", (ROOT / "docs/examples/level_set.md").read_text())
    (drawn,) = re.findall(r"^TRIALS = (\d+)", (ROOT / "docs/example_figures.py").read_text(), re.MULTILINE)
    figure = (ROOT / "docs/figures/example_level_set.svg").read_text()
    assert shown == drawn
    assert figure.count("<circle") == int(drawn) + 1  # one in the legend
