"""The experiment on contexts: runs are paired and repeat, tables say what rows say."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

contexts = import_module("contexts")


@pytest.mark.parametrize("method", contexts.METHODS)
@pytest.mark.parametrize("form", contexts.FORMS)
def test_a_short_run(method: str, form: str) -> None:
    row = contexts.run(method, form, "branin", 1000, 8)
    assert row["at"] == [8]
    assert row["averages"] == [row["average"]]
    assert 0 <= row["average"] < 6
    assert row["held"]
    certifies = method == "LP-GP-UCB" and form == "contexts"
    assert [len(here) for here in row["certificates"]] == ([4] if certifies else [])


def test_runs_repeat() -> None:
    assert contexts.run("CGP-UCB", "contexts", "rkhs", 1001, 7) == contexts.run("CGP-UCB", "contexts", "rkhs", 1001, 7)


def test_the_rkhs_problem_has_the_stated_norm_and_its_best_actions_differ() -> None:
    problem = contexts.problem_of("rkhs", 1000)
    assert problem.problem.function.__self__.norm == pytest.approx(contexts.NORM["rkhs"])
    best = [problem.best([z]) for z in contexts.CONTEXTS]
    assert max(np.abs(best[0][0][:2] - best[-1][0][:2])) > 0.1
    assert contexts.problem_of("rkhs", 1001).best([0.125])[1] != best[0][1]


def row(method: str, form: str, seed: int, average: float, *, held: bool = True) -> dict[str, object]:
    certificates = [[0.5, 0.5, None, 0.7], [0.1, 0.2, 0.3, 0.4]] if (method, form) == ("LP-GP-UCB", "contexts") else []
    return {
        "method": method, "form": form, "problem": "rkhs", "seed": seed, "n": 50, "at": [25, 50],
        "averages": [2 * average, average], "average": average, "held": held, "rejected": False,
        "certificates": certificates,
    }  # fmt: skip


def test_report() -> None:
    rows = [row("CGP-UCB", "contexts", seed, 0.1) for seed in range(2)]
    rows += [row("CGP-UCB", "ignored", seed, 0.4) for seed in range(2)]
    rows += [row("LP-GP-UCB", "contexts", 0, 0.3), row("LP-GP-UCB", "contexts", 1, 0.3, held=False)]
    regrets, worth, certificates = contexts.report(rows).split("\n\n")
    assert regrets.splitlines()[2:] == [
        "| rkhs | CGP-UCB | contexts | 2 | 0.200 | 0.100 |",
        "| rkhs | CGP-UCB | ignored | 2 | 0.800 | 0.400 |",
        "| rkhs | LP-GP-UCB | contexts | 2 | 0.600 | 0.300 |",
    ]
    assert worth.splitlines()[2:] == [
        "| rkhs | CGP-UCB | ignored | 2 | 0.25 (0.25 to 0.25) | -0.300 (-0.300 to -0.300) | 100% |"
    ]
    assert certificates.splitlines()[2:] == ["| rkhs | 2 | 1 | 0 | 0.500 (n = 25), 0.250 (n = 50) |"]


def test_the_grid() -> None:
    cells = contexts.cells(20)
    assert len({tuple(cell.items()) for cell in cells}) == len(cells) == 20 * 12
    assert {cell["n"] for cell in cells} == {200}
