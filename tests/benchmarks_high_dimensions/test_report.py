"""The report in twenty dimensions says what rows say."""

from __future__ import annotations

from high_dimensions import report
from high_dimensions.contenders import CONTENDERS
from high_dimensions.twenty import PROBLEMS
from regret.rows import RESULTS, Row, cell_of, read_rows

AT = [100, 200, 500, 1000, 1500, 2000]


def made_up(method: str, problem: str, seed: int, factor: float) -> Row:
    """Regret (seed + 1) * factor at the end and twice that before; best evaluated, half."""
    heights = [(seed + 1) * factor * (1 if n == 2000 else 2) for n in AT]
    halves = [height / 2 for height in heights]
    curve = {"n": AT, "recommended": heights, "evaluated": halves, "observed": heights}
    curve["cpu"] = [1e-3 * n * factor for n in AT]
    final = {"recommended": heights[-1], "evaluated": halves[-1], "observed": heights[-1]}
    row = {"method": method, "problem": problem, "seed": seed, "n": 2000, "best": 100.0, "commit": "abc"}
    return {**row, "regret": final, "curve": curve}


def rows() -> list[Row]:
    factors = {"quadrat": 0.5, "cma": 1.0, "random": 5.0}
    found = [
        made_up(method, problem, seed, factor)
        for problem in PROBLEMS
        for seed in range(6)
        for method, factor in factors.items()
    ]
    # One that is better on the way than at the end.
    for row in (made_up("turbo_50", PROBLEMS[0], seed, 1.0) for seed in (0, 2, 4)):
        row["curve"]["recommended"][0] = row["curve"]["recommended"][0] / 4
        found.append(row)
    failed = {"method": "quadrat_50", "problem": "levy20~", "seed": 2, "n": 2000, "error": "ValueError: none"}
    return [*found, failed, {**failed, "n": 30}]


def test_the_page_comes_from_rows_of_even_seeds() -> None:
    text = report.page(rows(), n=2000)
    # seeds 0, 2 and 4: the median has seed 2
    assert "| Quadrat | 3 | **1.5** | **1.5** | **1.5** | 0.10 (0.10 to 0.10) |  |" in text
    assert "| Quadrat | 3 | **0.75** | **0.75** | **0.75** | 0.10 (0.10 to 0.10) |  |" in text
    assert "| CMA-ES | 3 | 3 | 3 | 3 | 0.20 (0.20 to 0.20) | 0.50 (0.50 to 0.50) |" in text
    assert "| random | 3 | 15 | 15 | 15 |  | 0.10 (0.10 to 0.10) |" in text
    one = "(0.50 to 0.50, 1 of 3 problems)"
    assert f"| TuRBO-1, batches of 50 | 0 to 3 | 3 |  |  | 0.20 (0.20 to 0.20, 1 of 3 problems) | 0.50 {one} |" in text
    assert f"| TuRBO-1, batches of 50 | 2.00 (2.00 to 2.00, 1 of 3 problems) | 0.50 {one} |" in text
    assert "| CMA-ES | 1 | 1 | 1 | 1 | 1 | 1 |" in text  # milliseconds
    assert "rows are of\nabc." in text
    assert text.count("Left out") == 1
    assert "Left out: quadrat_50 on levy20~, seed 2: ValueError: none" in text


def test_the_figure_has_a_panel_for_each_problem() -> None:
    drawn = report.figure(rows(), n=2000)
    for problem in PROBLEMS:
        assert f">{problem}</text>" in drawn
    assert "Quadrat, batches of 50" not in drawn


def test_a_page_without_rows_says_nothing() -> None:
    assert "| method |" in report.page([], n=2000)


def test_kept_rows_are_of_the_list() -> None:
    for path in report.RESULTS.glob("*.jsonl"):
        found = read_rows(path)
        assert {row["method"] for row in found} <= {path.stem} & set(CONTENDERS)
        assert {row["problem"] for row in found} <= set(PROBLEMS)
        assert len({cell_of(row) for row in found}) == len(found)
    assert report.RESULTS != RESULTS
