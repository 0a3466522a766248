"""The experiment on fidelities: runs repeat, costs are counted, tables say what rows say."""

from __future__ import annotations

from importlib import import_module

import pytest

fidelities = import_module("fidelities")


def row(problem: str, method: str, seed: int, regrets: list[float | None]) -> dict[str, object]:
    known = {f"regret {cost}": regrets[cost - 1] for cost in fidelities.SHOWN if cost <= len(regrets)}
    return {
        "problem": problem, "method": method, "seed": seed, "budget": len(regrets), "trials": [4 * seed, 2],
        "regret": regrets[-1], "regrets": regrets, **known,
    }  # fmt: skip


@pytest.mark.parametrize("method", fidelities.METHODS)
def test_a_short_run_spends_its_budget(method: str) -> None:
    found = fidelities.run("currin2", method, 3, 5)
    assert found == fidelities.run("currin2", method, 3, 5)
    cheap, target = found["trials"]
    assert cheap + 10 * target <= 50 < cheap + 10 * target + 10 + 1e-9
    assert (method == "GP-UCB") == (cheap == 0)
    assert len(found["regrets"]) == 5
    assert all(0 <= regret < 14 for regret in found["regrets"])
    assert found["regret 5"] == found["regrets"][-1]


def test_the_cost_of_a_regret() -> None:
    assert fidelities.reached([None, 0.4, 0.2, 0.3], 0.3) == 3
    assert fidelities.reached([1.0, 1.0], 0.3) == 2


def test_the_report() -> None:
    """GP-UCB ends at .1; MF-GP-UCB has that at cost 2 and ends at .05. Nobody is censored."""
    rows = [row("currin2", "GP-UCB", seed, [1.0, 0.8, 0.4, 0.2, 0.1]) for seed in range(3)]
    rows += [row("currin2", "MF-GP-UCB", seed, [0.5, 0.1, 0.1, 0.1, 0.05]) for seed in range(3)]
    regrets, costs, ratios = (table.splitlines()[2:] for table in fidelities.report(rows).split("\n\n"))
    assert regrets == ["| currin2 | MF-GP-UCB | 3 | 4, 2 | 0.0500 |", "| currin2 | GP-UCB | 3 | 4, 2 | 0.1000 |"]
    assert costs == ["| currin2 | 0.1000 | 5 (0 of 3) | 2 (0 of 3) | 0.40 (0.40 to 0.40) |"]
    assert ratios == ["| currin2 | 0.50 (0.50 to 0.50) |"]


def test_runs_that_never_have_the_regret_are_counted() -> None:
    """GP-UCB's last regrets have the geometric mean .0928: one of its runs ends above, two others never get there."""
    rows = [row("currin2", "GP-UCB", seed, [1.0, 1.0, 1.0, 1.0, last]) for seed, last in enumerate([0.08, 0.05, 0.2])]
    rows += [row("currin2", "MF-GP-UCB", seed, [None, y, 1.0, 1.0, 1.0]) for seed, y in enumerate([0.08, 0.3, 0.3])]
    costs = fidelities.report(rows).split("\n\n")[1].splitlines()[2]
    assert costs.startswith("| currin2 | 0.0928 | 5 (1 of 3) | 5 (2 of 3) |")


def test_the_grid_is_paired() -> None:
    cells = fidelities.cells(20)
    assert len({tuple(cell.items()) for cell in cells}) == len(cells) == 20 * 5 * 2
    assert {tuple(cell) for cell in cells} == {("problem", "method", "seed", "budget")}
