"""The example of gradient boosting runs, and tests on patients that it did not tune on."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "boosting" / "mixed.py"


def test_it_compares_three_settings_on_patients_put_aside(capsys: pytest.CaptureFixture[str]) -> None:
    example = runpy.run_path(str(EXAMPLE))
    tuned, aside = ({tuple(row) for row in example[name]} for name in ("X_tuned", "X_test"))
    assert not tuned & aside
    assert len(tuned | aside) == 442

    found = example["main"](n_trials=3)
    out = capsys.readouterr().out
    lines = {line[:24].strip(): line[24:].split() for line in out.splitlines()}
    for params in (found.params, found.best_seen.params):
        example["SPACE"].to_unit(params)  # raises where a condition is violated
    errors = example["squared_errors"](found.params)
    assert errors.shape == (111,)
    spread = ((example["y_test"] - example["y_test"].mean()) ** 2).mean()
    assert lines["recommended"] == [f"{1 - errors.mean() / spread:.3f}"]
    gain = float(lines["luckiest trial"][1])
    assert gain == pytest.approx(float(lines["recommended"][0]) - float(lines["luckiest trial"][0]), abs=2e-3)
    assert float(lines["the model's defaults"][0]) < 0.5


def test_trees_are_limited_by_leaves_or_by_depth() -> None:
    example = runpy.run_path(str(EXAMPLE))
    by_depth = example["model"]({"trees": "by depth", "max_depth": 3})
    by_leaves = example["model"]({"trees": "by leaves", "max_leaf_nodes": 5})
    assert (by_depth.max_depth, by_depth.max_leaf_nodes) == (3, None)
    assert (by_leaves.max_depth, by_leaves.max_leaf_nodes) == (None, 5)
