"""The experiment on sketches runs, and its tables say what is in the rows."""

from __future__ import annotations

import pytest

pytest.importorskip("sketching", reason="experiments/ is not part of an installed package")

import sketching

PLANE, CUBE, _ = sketching.PROBLEMS


@pytest.mark.parametrize("method", [*sketching.UCB, *sketching.LP, *sketching.PUBLIC])
def test_a_tiny_run_of_every_kind(method: str) -> None:
    row = sketching.run(method, PLANE, seed=1000, n=8)
    assert row["simple"] >= 0  # type: ignore[operator]
    assert row["cumulative"] >= row["simple"] * 0  # type: ignore[operator]
    assert row["cpu"] >= 0  # type: ignore[operator]
    if method == "BKB":
        assert row["least"] <= row["most"] * 1.0001  # type: ignore[operator]
        assert row["dictionary"] <= 8  # type: ignore[operator]


def test_exact_and_sketched_meet_the_same_function_noise_and_candidates() -> None:
    rows = [sketching.run(method, CUBE, seed=1001, n=6) for method in sketching.UCB]
    assert rows[0]["cumulative"] == pytest.approx(rows[1]["cumulative"], rel=1e-4)  # all six points are remembered


def test_the_report() -> None:
    rows = [
        {
            "method": method, "problem": PLANE, "seed": seed, "n": 8, "simple": 0.01 * factor,
            "cumulative": 100.0 * factor, "cpu": 10.0 / factor, "dictionary": 200, "effective": 50.0, "draws": 3,
            "least": 0.9, "most": 1.5, "inside": 1.0,
        }
        for seed in range(3)
        for method, factor in (("exact", 1.0), ("BKB", 2.0))
    ]  # fmt: skip
    text = sketching.report(rows)
    assert f"| BKB / exact | {PLANE} | 2.00 (2.00 to 2.00) | 2.00 (2.00 to 2.00) | 0.50 (0.50 to 0.50) |" in text
    assert f"| {PLANE} | 200 | 50.0 | 4.00 | 100.00% | 0.90 | 1.50 | 3 |" in text
    assert "LP sketched" not in text


def test_the_grid() -> None:
    grid = sketching.cells(20)
    assert len(grid) == 20 * 6 + 4 * 3 + 2
    assert len({tuple(cell.values()) for cell in grid}) == len(grid)
