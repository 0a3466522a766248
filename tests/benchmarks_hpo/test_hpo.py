"""Surrogates of tunings: spaces and inputs as their files say, paired noise, runs that resume, a plan that fits."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hpo import run, table, tasks, units
from hpo.roster import BASE, BY_RUN, METHODS, TPE
from regret.comparison import Comparison
from regret.roster import OURS
from regret.rows import Row, read_rows

from quadrat._core.arrays import Array, Ints
from quadrat.errors import InvalidInput
from quadrat.randomness import generator
from quadrat.space import Categorical, Float, Int, Space

CONFIG: dict[str, Any] = {
    "hyperparameters": [
        {"name": "eta", "type": "uniform_float", "lower": 0.001, "upper": 1.0, "log": True},
        {"name": "booster", "type": "categorical", "choices": ["gblinear", "gbtree", "dart"]},
        {"name": "nrounds", "type": "uniform_int", "lower": 7, "upper": 2981, "log": True},
        {"name": "task_id", "type": "categorical", "choices": ["1040", "1049"]},
        {"name": "trainsize", "type": "uniform_float", "lower": 0.03, "upper": 1.0, "log": False},
        {"name": "repl", "type": "uniform_int", "lower": 1, "upper": 10, "log": False},
        {"name": "rate_drop", "type": "uniform_float", "lower": 0.0, "upper": 1.0, "log": False},
    ],
    "conditions": [
        {"child": "eta", "parent": "booster", "type": "IN", "values": ["dart", "gbtree"]},
        {"child": "rate_drop", "parent": "booster", "type": "EQ", "value": "dart"},
    ],
}
SCENARIO = tasks.Scenario(
    codes=("task_id", "booster"),
    numbers=("nrounds", "eta", "rate_drop", "trainsize", "repl"),
    instance="task_id",
    fidelity={"trainsize": 1.0, "repl": 10.0},
    output=0,
)
ENCODING = {"task_id": {"#na#": 0, "1040": 1, "1049": 2}, "booster": {"#na#": 0, "dart": 1, "gblinear": 2, "gbtree": 3}}
CELL = ("rbv2_xgboost:1040", 3, 0.5)


def network(codes: Ints, numbers: Array) -> Array:
    """Best with trees, many rounds and a rate of .1; the second output says what came in."""
    height = (codes[:, 1] != 2) * 0.1 - 0.02 * (np.log10(np.maximum(numbers[:, 1], 1e-3)) + 1) ** 2
    return np.stack([0.8 + height + 0.01 * np.log(numbers[:, 0]) / 8, codes[:, 0] + 10 * codes[:, 1]], axis=1)


def surrogate() -> tasks.Surrogate:
    return tasks.Surrogate(SCENARIO, tasks.space_of(SCENARIO, CONFIG), ENCODING, network)


def made(problem: str, seed: int, noise: float) -> tasks.TuningTask:
    """A task on the fake network, in the place of `tasks.task`."""
    name = problem.partition(":")[2]
    return tasks.TuningTask(tasks.Instance(surrogate(), name, tasks.Units(0.8, 0.9, 0.95)), seed, noise)


def test_the_space_is_that_of_the_file_without_instance_and_fidelity() -> None:
    trees = {"booster": ["dart", "gbtree"]}
    assert tasks.space_of(SCENARIO, CONFIG) == Space(
        booster=Categorical(["gblinear", "gbtree", "dart"]),
        nrounds=Int(7, 2981, log=True),
        eta=Float(0.001, 1.0, log=True, when=trees),
        rate_drop=Float(0.0, 1.0, when={"booster": ["dart"]}),
    )


def test_the_network_is_asked_at_full_fidelity_with_codes_and_zeros_for_what_does_not_exist() -> None:
    asked = []

    def predict(codes: Ints, numbers: Array) -> Array:
        asked.append((codes.tolist(), numbers.tolist()))
        return np.zeros((len(codes), 1))

    one = tasks.Surrogate(SCENARIO, tasks.space_of(SCENARIO, CONFIG), ENCODING, predict)
    dart = {"booster": "dart", "nrounds": 100, "eta": 0.1, "rate_drop": 0.3}
    one.values("1049", [{"booster": "gblinear", "nrounds": 7}, dart])
    assert asked == [([[2, 2], [2, 1]], [[7.0, 0.0, 0.0, 1.0, 10.0], [100.0, 0.1, 0.3, 1.0, 10.0]])]


def test_values_are_in_units_and_the_noise_is_paired() -> None:
    exact, noisy = made(*CELL[:2], 0.0), made(*CELL)
    (params,) = exact.space.sample(1, generator(0))
    (measured,) = surrogate().values("1040", [params])
    assert exact.value(params) == pytest.approx((measured - 0.8) / 0.1)
    assert exact.best == pytest.approx(1.5)
    assert exact.observe(params, 4) == exact.value(params)
    drawn = [(noisy.observe(params, number) - exact.value(params)) / 0.5 for number in range(400)]
    assert abs(np.mean(drawn)) < 4 / 20
    assert np.std(drawn) == pytest.approx(1.0, abs=0.15)
    assert noisy.observe(params, 7) == made(*CELL).observe(params, 7)
    with pytest.raises(InvalidInput, match="'nrounds'"):
        exact.value({"booster": "gblinear"})  # a part of a configuration has no value


def test_units_are_those_of_random_configurations_and_the_best_is_near_the_maximum() -> None:
    space = Space(x=Float(0.0, 1.0), y=Float(0.0, 1.0))

    def values(some: list[dict[str, Any]]) -> Array:
        return np.array([-((p["x"] - 0.3) ** 2) - (p["y"] - 0.6) ** 2 for p in some])

    found = units.evolved(
        lambda u: values(space.from_units(u)), generator(0).random((200, 2)), generator(1), generations=30
    )
    assert -1e-5 < found <= 0.0


def test_every_problem_has_units_and_a_best_value_above_them() -> None:
    table_of_units = tasks.read_units()
    assert set(table_of_units) == set(tasks.PROBLEMS)
    for one in table_of_units.values():
        assert one.median < one.high < one.best <= 1.001
    assert not set(tasks.DEVELOPMENT) & set(tasks.TABLES)


def test_a_row_that_exceeds_the_best_value_raises_it(tmp_path: Path) -> None:
    folder = tmp_path / "noise_0"
    folder.mkdir()
    row = {"problem": "p", "best": 1.5, "regret": {"recommended": 0.1, "evaluated": -0.2}}
    (folder / "a.jsonl").write_text(json.dumps(row) + "\n" + json.dumps({"problem": "p", "error": "x"}) + "\n")
    found = units.raised({"p": tasks.Units(0.8, 0.9, 0.95)}, tmp_path)
    assert found["p"].best == pytest.approx(0.8 + 0.1 * 1.7)


@pytest.mark.parametrize("method", [OURS, "quadrat_by_run", "optuna_tpe", BASE])
def test_methods_run_and_rows_resume(method: str, tmp_path: Path) -> None:
    if method not in (OURS, BASE):
        pytest.importorskip("optuna")
    runner = partial(run.run, task=made)
    for seeds in ([0], [0, 1]):
        run.complete(method, [CELL[0]], seeds, 6, 0.5, folder=tmp_path, runner=runner)
    rows: list[Any] = read_rows(tmp_path / "noise_0.5" / f"{method}.jsonl")
    assert [row["seed"] for row in rows] == [0, 1]
    for row in rows:
        assert row["noise"] == 0.5
        if method == "quadrat_by_run" and "error" in row:
            assert "expected complete trials with the same parameters" in row["error"]  # a tree that is not declared
        else:
            assert "error" not in row, row
            assert 0 <= row["regret"]["evaluated"] <= row["regret"]["recommended"]


def test_the_plan_has_the_first_seeds_of_all_methods_before_any_has_more() -> None:
    parts = list(table.plan())
    later = next(i for i, part in enumerate(parts) if part.seeds != table.FIRST)
    assert {part.method for part in parts[:later]} == set(METHODS)
    assert all(seed % 2 == 0 for part in parts for seed in part.seeds)  # odd seeds are for tuning our own method
    ours = [(part.noise, part.n, seed) for part in parts if part.method == OURS for seed in part.seeds]
    assert len(ours) == len(set(ours)) == 4 * 10
    command = parts[0].command(Path("data"))
    assert command[2:] == [OURS, "--data", "data", "--noise", "0.5", "--n", "50", "--seeds", "0,2,4"]


def test_the_page_counts_even_seeds_of_the_instances_of_the_tables() -> None:
    rows: list[Row] = []
    for method, factor in ((OURS, 0.5), (BASE, 1.0)):
        for i, problem in enumerate(tasks.PROBLEMS):
            for seed in (0, 1, 2, 4):
                wrong = 1.0 if seed % 2 == 0 and problem in tasks.TABLES else 1 / factor
                regrets = dict.fromkeys(("recommended", "evaluated", "observed"), factor * wrong * (1 + i) * (1 + seed))
                cell = {"method": method, "problem": problem, "seed": seed, "n": 50, "noise": 0.5}
                rows.append({**cell, "best": 1.0, "regret": regrets, "commit": "abc"})
    text = table.page(rows)
    assert "| Quadrat | 3 | 1.00 (1.00 to 1.00) | 0.50 (0.50 to 0.50) |" in text
    assert "## Noise 0," not in text  # nothing was run there


def test_define_by_run_is_compared_with_the_declared_form_and_is_no_rival() -> None:
    rows: list[Row] = []
    for method, regret in ((OURS, 0.5), (BY_RUN, 0.4), (TPE, 0.8), (BASE, 1.0)):
        for problem in tasks.TABLES:
            for seed in (0, 2, 4):
                cell = {"method": method, "problem": problem, "seed": seed, "n": 50, "noise": 0.5}
                regrets = dict.fromkeys(("recommended", "evaluated", "observed"), regret)
                rows.append({**cell, "best": 1.0, "regret": regrets})
    text = table.page(rows)
    assert "| Quadrat | 3 | 1.00 (1.00 to 1.00) |" in text
    assert f"| {METHODS[BY_RUN].title} |" not in text
    assert "| rbv2_xgboost:1489 | 3 | 0.5 | 0.4 |" in text
    assert "paired: 0.80 (0.80 to 0.80); over TPE's: 0.50 (0.50 to 0.50)." in text


def test_regret_below_the_least_counts_as_it_and_seeds_share_their_best_value() -> None:
    def row(seed: int, regret: float) -> Row:
        return {"method": "a", "problem": "p", "seed": seed, "n": 5, "best": 1.0, "regret": {"recommended": regret}}

    rows = [row(0, 0.001), row(1, -0.5)]  # the second exceeds the best value that was known
    assert Comparison(rows, ("p",), 0.01).regrets("a", "p", "recommended").tolist() == [0.501, 0.01]
    assert Comparison(rows, (), 0.01).regrets("a", "p", "recommended").tolist() == [0.001, 0.0]


def test_missing_data_is_one_plain_sentence(tmp_path: Path) -> None:
    script = Path(run.__file__)
    given = [sys.executable, str(script), BASE, "--data", str(tmp_path), "--smoke"]
    if not _has_onnxruntime():
        with pytest.raises(tasks.MissingData, match="say where they are with --data FOLDER"):
            tasks.read_surrogate("lcbench", tmp_path)
        return
    ran = subprocess.run(given, capture_output=True, text=True)
    assert ran.returncode == 2
    assert "say where they are with --data FOLDER" in ran.stderr


def _has_onnxruntime() -> bool:
    from importlib.util import find_spec

    return find_spec("onnxruntime") is not None


def test_unknown_problems_are_refused() -> None:
    assert tasks.chosen(["rbv2_rpart:1067", "lcbench"])[2:5] == (
        *tasks.DEVELOPMENT[2:3],
        "rbv2_rpart:1067",
        tasks.TABLES[0],
    )
    with pytest.raises(ValueError, match=r"got lcbench:1$"):
        tasks.chosen(["lcbench:1"])
