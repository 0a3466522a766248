"""What a run returns: readable, and as a table."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from quadrat.errors import NotAvailable
from quadrat.loop import maximize, minimize
from quadrat.optimizer import FAILED, Measured
from quadrat.space import Float, Int, Space

SPACE = Space(x=Float(-1, 1), n=Int(1, 3))


def test_a_readable_repr() -> None:
    result = minimize(lambda p: p["x"] ** 2 + p["n"], SPACE, n_trials=12, method="RandomSearch", seed=1)
    best = result.best_seen
    settings = f"x={best.params['x']:.6g}, n={best.params['n']}"
    assert repr(result).splitlines() == [
        "Result of minimize, 12 trials (12 complete)",
        f"  params              {settings}",
        f"  value               {result.value:.6g}",
        f"  certificate         none: {result.certificate_reason}",
        f"  best seen           {best.value:.6g} in trial {best.number}: {settings}",
        f"                      The recommended point is also the best seen, in trial {best.number}.",
        "  ended               all 12 trials done",
    ]


def test_constraints_have_a_line_of_their_own() -> None:
    outcomes = iter([Measured(1.0, {"b": -1.0, "a": 0.0}), FAILED, Measured(2.0, {"a": -1.0, "b": 0.5})])
    result = maximize(lambda _: next(outcomes), SPACE, n_trials=3)
    chance = result.estimated_feasibility
    assert chance is not None
    (line,) = [line for line in repr(result).splitlines() if line.startswith("  constraints ")]
    assert line.endswith(f"a, b: met by params with a chance of {100 * chance:.3g} %  (fitted), and in 1 of 2 trials")


def test_to_frame_without_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(NotAvailable, match="pip install pandas"):
        maximize(lambda _: 1.0, SPACE, n_trials=2, method="RandomSearch").to_frame()


def test_to_frame_has_one_row_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = ModuleType("pandas")
    stand_in.DataFrame = list  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", stand_in)
    outcomes = iter([[1.0, 3.0], FAILED])
    rows = maximize(lambda _: next(outcomes), SPACE, n_trials=2, method="RandomSearch").to_frame()
    assert [(row["number"], row["state"], row["value"], row["replicates"]) for row in rows] == [
        (0, "complete", 2.0, 2),
        (1, "failed", None, 0),
    ]
    assert {"params_x", "params_n", "sem", "failure", "why"} <= set(rows[0])
    assert "feasible" not in rows[0]
    outcomes = iter([Measured(1.0, {"b": -1.0, "a": 0.5}), FAILED])
    rows = maximize(lambda _: next(outcomes), SPACE, n_trials=2).to_frame()
    assert [(row.get("feasible"), row.get("constraints_a")) for row in rows] == [(False, 0.5), (None, None)]
