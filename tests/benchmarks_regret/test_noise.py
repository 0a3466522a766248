"""Other noise levels: the same draws multiplied, rows apart, tunings refused, tables over the runs in common."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from regret import noise, run, suite
from regret.roster import OURS, ROSTER
from regret.rows import Row, cell_of, read_rows
from regret.task import NOISE

from quadrat.randomness import generator

SHIFTED = suite.SUITES["shifted"]


def made_up(method: str, problem: str, seed: int, level: float, regret: float) -> Row:
    regrets = dict.fromkeys(("recommended", "evaluated", "observed"), regret)
    cell = {"method": method, "problem": problem, "seed": seed, "n": 50, "noise": level}
    return {**cell, "best": 1.0, "regret": regrets, "commit": "abc"}


def rows_of(factors: dict[str, float], seeds: range, problems: tuple[str, ...] = SHIFTED) -> list[Row]:
    """Rows at noise .5: the same regret for all methods, times a factor."""
    level = dict(zip(product(problems, range(20)), np.exp(generator(4).normal(size=20 * len(problems))), strict=True))
    return [
        made_up(method, problem, seed, 0.5, factor * float(level[problem, seed]))
        for method, factor in factors.items()
        for problem in problems
        for seed in seeds
    ]


def test_the_noise_is_the_same_draw_multiplied() -> None:
    levels = (0.0, NOISE, 0.5, 1.0)
    tasks = [suite.task("rastrigin3~", 3, level) for level in levels]
    (params,) = tasks[0].space.sample(1, generator(0))
    for number in (0, 7):
        exact, default, half, whole = (task.observe(params, number) for task in tasks)
        assert exact == tasks[0].value(params)
        assert default == suite.task("rastrigin3~", 3).observe(params, number)
        assert half - exact == pytest.approx((whole - exact) / 2)
        assert default - exact == pytest.approx((whole - exact) / 10)


def test_tunings_have_their_own_noise() -> None:
    for refused in (lambda: suite.chosen(["shifted", "sgd_cancer"], 0.5), lambda: suite.task("sgd_cancer", 0, 0.5)):
        with pytest.raises(ValueError, match="expected problems of plain, shifted, bbob, got sgd_cancer"):
            refused()
    assert suite.chosen(suite.ANY_NOISE, 0.5) == suite.PROBLEMS[:22]


def test_rows_of_another_noise_are_kept_apart_and_resume(tmp_path: Path) -> None:
    for level in (NOISE, 0.5, 1.0):
        run.complete("random", ["rastrigin3", "rosenbrock4~"], [0], 6, noise=level, folder=tmp_path)
    files = [tmp_path / "random.jsonl", tmp_path / "noise_0.5" / "random.jsonl", tmp_path / "noise_1" / "random.jsonl"]
    assert sorted(tmp_path.rglob("*.jsonl")) == sorted(files)
    rows = [row for path in files for row in read_rows(path)]
    assert not any("error" in row for row in rows)
    assert [row.get("noise") for row in rows] == [None, None, 0.5, 0.5, 1.0, 1.0]
    assert len({cell_of(row) for row in rows}) == 6
    assert noise.rows_of_levels(tmp_path) == rows[2:]
    kept = files[1].read_text()
    run.complete("random", ["rastrigin3", "rosenbrock4~"], [0], 6, noise=0.5, folder=tmp_path)
    assert files[1].read_text() == kept


def test_a_row_of_another_noise_in_the_file_is_no_finished_run(tmp_path: Path) -> None:
    run.complete("random", ["rastrigin3"], [0], 6, noise=0.5, folder=tmp_path)
    path = tmp_path / "noise_0.5" / "random.jsonl"
    path.write_text(path.read_text().replace('"noise": 0.5', '"noise": 0.7'))
    run.complete("random", ["rastrigin3"], [0], 6, noise=0.5, folder=tmp_path)
    assert [row["noise"] for row in read_rows(path)] == [0.7, 0.5]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--noise", "0.5", "--problems", "tuning"], "leave tunings out, or leave the noise out"),
        (["--noise", "-1"], "expected a standard deviation, 0 or more, got -1"),
        (["--noise", "nan"], "expected a standard deviation, 0 or more, got nan"),
    ],
)
def test_the_command_refuses(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "random", *words])
    with pytest.raises(SystemExit):
        run.main()
    assert message in capsys.readouterr().err


def test_the_plan_is_the_grid_and_begins_with_every_method() -> None:
    parts = list(noise.plan())
    cells = [(p.method, p.noise, seed, s) for p in parts for seed in p.seeds for s in p.suites]
    fast = set(product(noise.FAST, noise.LEVELS, range(0, 20, 2), suite.ANY_NOISE))
    assert len(cells) == len(set(cells))
    assert set(cells) == fast | set(product(noise.SLOW, (0.5,), (0, 2, 4), ("shifted",)))
    first = parts[: 2 * len(noise.FAST) + len(noise.SLOW)]
    assert {part.seeds for part in first} == {(0, 2, 4)}
    words = parts[0].command(50)[1:]
    assert words[1:] == [OURS, "--noise", "0.5", "--seeds", "0,2,4", "--n", "50", "--problems", *suite.ANY_NOISE]
    assert Path(words[0]).exists()


def test_methods_with_fewer_seeds_are_compared_on_the_runs_in_common() -> None:
    """BoTorch is the best of its three seeds. It has a column of its own: ranks over ten seeds stay as they are."""
    rows = rows_of({OURS: 0.5, "random": 1.0}, range(0, 20, 2))
    rows += rows_of({"botorch": 0.25}, range(0, 6, 2))
    rows += rows_of({"egobox": 1e-3}, range(0, 4, 2), SHIFTED[:6])  # not on all problems: in no column
    text = noise.page(rows, 50)
    assert "| mean rank, noise 0.5 | shifted, 70 runs | shifted with BoTorch qLogNEI, 21 runs |" in text
    assert "| Quadrat | 1.0 (1.0 to 1.0) | 2.0 (2.0 to 2.0) |" in text
    assert f"| {ROSTER['botorch'].title} |  | 1.0 (1.0 to 1.0) |" in text
    assert "| random | 2.0 (2.0 to 2.0) | 3.0 (3.0 to 3.0) |" in text
    ratios = text.split("| regret / random's, noise 0.5 |")[1].split("###")[0]
    assert "| Quadrat |  | 0.50 (0.50 to 0.50), 70 runs |" in ratios
    assert f"| {ROSTER['botorch'].title} |  | 0.25 (0.25 to 0.25), 21 runs |" in ratios
    assert f"| {ROSTER['botorch'].title} |  | 2.00 (2.00 to 2.00), 21 runs |" in ratios.split("| ours / theirs")[1]
    assert "egobox" not in ratios
    fewer = noise.page(rows + rows_of({"hebo": 0.125}, range(1)), 50)  # the last column is that of one seed
    assert "shifted with BoTorch qLogNEI, 21 runs | shifted with BoTorch qLogNEI and HEBO, 7 runs |" in fewer
    assert "| Quadrat | 1.0 (1.0 to 1.0) | 2.0 (2.0 to 2.0) | 3.0 (3.0 to 3.0) |" in fewer


def test_the_page_has_levels_apart_and_says_what_is_missing() -> None:
    rows = rows_of({"random": 1.0, "optuna_tpe": 0.5}, range(3), SHIFTED[:1])  # odd seeds do not count
    rows.append({**made_up("random", SHIFTED[0], 0, 1.0, 0.75), "commit": "def"})
    rows.append({"method": "egobox", "problem": "levy8", "seed": 2, "n": 50, "noise": 1.0, "error": "RuntimeError: no"})
    text = noise.page(rows, 50)
    assert "rows\nare of abc and def" in text
    lower, higher = text.split("\n## Noise 1\n")
    assert "| random | 0 to 2 |" in lower
    assert "| random | 0 to 1 | **0.75** |" in higher
    assert "| egobox | levy8 | 1 | RuntimeError: no |" in text
    assert "No rows yet." in noise.page([], 50)
