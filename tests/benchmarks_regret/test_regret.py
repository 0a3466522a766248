"""The comparison with peers: earlier rows stay valid, runs resume, failures are rows, tables say what rows say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from regret import ablation, bbob, parallel, report, run, suite
from regret.adapter import Adapter, Random
from regret.comparison import RESOLUTION, Comparison, paired_ratio, ratio_of_medians
from regret.roster import OURS, ROSTER, adapter_class
from regret.rows import RESULTS, Row, cell_of, read_rows
from regret.task import NOISE, Params
from regret.translate import OneHotCube, valid
from regret.tunings import TUNINGS

import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.randomness import generator

ROOT = Path(__file__).resolve().parents[2]
# Recommended and best evaluated regret of random search, seed 0, n = 50, as the earlier harness recorded them.
EARLIER = {
    "branin8": (0.269557, 0.173808),
    "goldstein8": (1.91559, 1.91559),
    "hartmann6": (5.89818, 5.89818),
    "ackley5": (4.60342, 4.60342),
    "levy8": (0.669912, 0.635692),
    "rosenbrock4": (4.71635, 4.71635),
    "rastrigin3": (0.435685, 0.435685),
    "branin8~": (0.302705, 0.196001),
    "goldstein8~": (1.83599, 1.83599),
    "hartmann6~": (5.62115, 5.62115),
    "ackley5~": (3.70908, 3.70908),
    "levy8~": (0.489741, 0.489741),
    "rosenbrock4~": (4.95383, 4.95383),
    "rastrigin3~": (0.932361, 0.932361),
}


def as_lines(rows: list[Row]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def strip(row: Row) -> Row:
    """A row without times."""
    return {key: value for key, value in row.items() if not key.startswith("cpu") and key != "seconds"}


@pytest.fixture
def _without_ioh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """BBOB's functions replaced by a bowl: `ioh` is not installed with the package."""

    class Bowl:
        optimum = SimpleNamespace(y=7.0)

        def __call__(self, x: Array) -> float:
            return 7.0 + 1e4 * float(np.sum((x - 1.0) ** 2))

    monkeypatch.setattr(bbob, "_problem", lambda *_: Bowl())
    bbob._scaled.cache_clear()
    yield
    bbob._scaled.cache_clear()


# --- problems


@pytest.mark.parametrize("problem", EARLIER)
def test_earlier_rows_are_of_the_same_problems_with_the_same_noise(problem: str) -> None:
    """Random search repeats what the earlier harness recorded, so that the rows of other methods compare too."""
    row = run.run("random", problem, 0, 50)
    assert (row["regret"]["recommended"], row["regret"]["evaluated"]) == pytest.approx(EARLIER[problem], rel=1e-5)


@pytest.mark.usefixtures("_without_ioh")
@pytest.mark.parametrize("problem", run.SMOKE)
@pytest.mark.parametrize("method", [OURS, "random"])
def test_every_kind_of_problem_runs(method: str, problem: str) -> None:
    row = run.run(method, problem, 1, 6)
    assert "error" not in row, row
    assert row["curve"]["n"] == [5, 6]
    assert row["regret"]["evaluated"] <= row["regret"]["observed"]
    assert row["regret"]["recommended"] == row["curve"]["recommended"][-1]
    assert row["cpu_per_suggestion"] > 0


@pytest.mark.usefixtures("_without_ioh")
def test_the_scale_of_bbob_keeps_the_order_and_puts_the_maximum_at_zero() -> None:
    task = suite.task("bbob8_rosenbrock", 3)
    u = generator(0).random((200, 5))
    values = np.array([task.value({f"x{i}": float(v) for i, v in enumerate(row)}) for row in u])
    assert (np.argsort(-values) == np.argsort(np.sum((u - 0.6) ** 2, axis=1))).all()
    assert task.value({f"x{i}": 0.6 for i in range(5)}) == pytest.approx(0.0, abs=1e-12)
    assert 0.5 < np.std(values) < 2  # standardised, so that noise of .1 means what it means elsewhere


def test_the_list_is_fixed() -> None:
    assert [len(names) for names in suite.SUITES.values()] == [7, 7, 8, 8]
    assert suite.chosen(["tuning", "levy8"]) == ("levy8", *TUNINGS)
    with pytest.raises(ValueError, match="got levy9"):
        suite.chosen(["levy9"])
    assert sum(any(p.when for p in tuning.space.values()) for tuning in TUNINGS.values()) >= 5


@pytest.mark.parametrize("name", TUNINGS)
def test_tunings_repeat_and_are_bounded(name: str) -> None:
    """The same seed and number give the same split; every configuration has a score in [-1, 1]."""
    task = suite.task(name, 5)
    for params in task.space.sample(2, generator(1)):
        score = task.observe(params, 3)
        assert -1 <= score <= 1
        assert score == task.observe(params, 3)


# --- runs


def test_runs_resume_and_a_torn_line_is_run_again(tmp_path: Path) -> None:
    problems, seeds = ["rastrigin3", "rosenbrock4~"], [0, 3]
    run.complete("random", problems, seeds, 6, folder=tmp_path)
    path = tmp_path / "random.jsonl"
    whole = read_rows(path)
    assert [(row["problem"], row["seed"]) for row in whole] == [(p, s) for s in seeds for p in problems]
    text = as_lines(whole)
    path.write_text(text[: len(text) - 40])
    run.complete("random", problems, seeds, 6, folder=tmp_path)
    again = read_rows(path)
    assert again[:3] == whole[:3]
    assert strip(again[3]) == strip(whole[3])
    before = path.read_text()
    run.complete("random", problems, seeds, 6, folder=tmp_path)
    assert path.read_text() == before


def test_a_method_that_fails_leaves_a_row_that_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Broken(Random):
        def ask(self) -> Params:
            if len(self.told) == 2:
                raise RuntimeError("no third point")
            return super().ask()

    monkeypatch.setattr(run, "adapter_class", lambda _: Broken)
    run.complete("random", ["rastrigin3"], [0], 6, folder=tmp_path)
    path = tmp_path / "random.jsonl"
    assert [row["error"] for row in read_rows(path)] == ["RuntimeError: no third point"]
    monkeypatch.undo()
    run.complete("random", ["rastrigin3"], [0], 6, folder=tmp_path)
    assert "error" in read_rows(path)[0]  # it is not run again unless that is asked for
    run.complete("random", ["rastrigin3"], [0], 6, redo="failed", folder=tmp_path)
    rows = read_rows(path)
    assert len(rows) == 1
    assert "regret" in rows[0]


def test_every_method_has_an_adapter() -> None:
    for entry in ROSTER.values():
        module, _, name = entry.adapter.partition(":")
        source = (ROOT / "benchmarks" / Path(*module.split("."))).with_suffix(".py").read_text()
        assert f"class {name}(" in source
    assert run.seeds_of("0-2,7") == [0, 1, 2, 7]


# --- spaces for methods that know less


def test_the_one_hot_cube_gives_back_what_went_in() -> None:
    for tuning in TUNINGS.values():
        cube = OneHotCube(tuning.space)
        for params in tuning.space.sample(20, generator(2)):
            assert cube.params(cube.point(params)) == params
        for x in generator(3).random((20, cube.dimension)):
            rounded = cube.point(cube.params(x))
            assert cube.point(cube.params(rounded)) == pytest.approx(rounded, abs=1e-12)


def test_flat_values_lose_what_does_not_exist_and_stay_inside() -> None:
    space = qd.Space(
        kind=qd.Categorical(["a", "b"]),
        depth=qd.Int(1, 5, when={"kind": "a"}),
        rate=qd.Float(0.1, 1.0, when={"depth": [1, 2]}),
    )
    assert valid(space, {"kind": "b", "depth": 3, "rate": 0.5}) == {"kind": "b"}
    assert valid(space, {"kind": "a", "depth": 5.6, "rate": 2.0}) == {"kind": "a", "depth": 5}
    assert valid(space, {"kind": "a", "depth": 1.9999, "rate": 2.0}) == {"kind": "a", "depth": 2, "rate": 1.0}


# --- the report


def made_up(method: str, problem: str, seed: int, regret: float, **more: Any) -> Row:
    curve = {"n": [25, 50], "evaluated": [2 * regret, regret], "observed": [2 * regret, regret]}
    regrets = dict.fromkeys(("recommended", "evaluated", "observed"), regret)
    row = {"method": method, "problem": problem, "seed": seed, "n": 50, "best": 1.0, "regret": regrets, "curve": curve}
    return {**row, "cpu_per_suggestion": 0.01, **more}


def rows_of(problems: tuple[str, ...], factors: dict[str, float], seeds: range) -> list[Row]:
    rng = generator(4)
    return [
        made_up(method, problem, seed, factor * level)
        for problem in problems
        for seed in seeds
        for level in [float(np.exp(rng.normal()))]
        for method, factor in factors.items()
    ]


def test_ratios_are_geometric_means_of_medians_over_common_seeds() -> None:
    """Regret that is exactly half another's, seed by seed, has ratio .5 and an interval of no width."""
    problems = suite.SUITES["plain"]
    rows = rows_of(problems, {OURS: 0.5, "random": 1.0}, range(5))
    rows += [made_up("random", problems[0], 9, 1e6)]  # a seed that the other does not have does not count
    found = Comparison(rows).ratio(OURS, "random", problems, "recommended")
    assert found is not None
    assert (found.value, found.low, found.high, found.problems) == pytest.approx((0.5, 0.5, 0.5, 7))
    assert Comparison(rows).ratio("ax", "random", problems, "recommended") is None


def test_ranks_share_ties_and_lie_in_their_intervals() -> None:
    problems = suite.SUITES["shifted"]
    rows = rows_of(problems, {OURS: 0.5, "cma": 1.0, "random": 1.0}, range(3))
    ranks = Comparison(rows).ranks([OURS, "cma", "random"], problems, "evaluated")
    assert {method: rank.value for method, rank in ranks.items()} == {OURS: 1.0, "cma": 2.5, "random": 2.5}
    assert all(rank.low <= rank.value <= rank.high for rank in ranks.values())


def test_regret_of_a_tuning_is_counted_from_the_best_that_any_row_reached() -> None:
    problem = suite.SUITES["tuning"][0]
    rows = [made_up(OURS, problem, 0, -0.1), made_up("random", problem, 0, 0.2)]
    compared = Comparison(rows)
    assert compared.regrets("random", problem, "observed") == pytest.approx([0.3])
    assert compared.regrets(OURS, problem, "observed") == pytest.approx([RESOLUTION])


def test_regret_elsewhere_is_counted_from_the_best_of_the_same_seed() -> None:
    """Seeds may make different problems of one name; what one reaches says nothing of the others."""
    rows = [made_up(OURS, "levy8~", 0, -0.1), made_up("random", "levy8~", 0, 0.2), made_up("random", "levy8~", 2, 0.4)]
    compared = Comparison(rows)
    assert compared.regrets(OURS, "levy8~", "observed") == pytest.approx([0.0])
    assert compared.regrets("random", "levy8~", "observed") == pytest.approx([0.3, 0.4])


def test_ratios_of_counts_survive_zeros() -> None:
    found = ratio_of_medians([(np.array([0, 0, 0]), np.array([8, 8, 8]))], least=0.5)
    assert found is not None
    assert (found.value, found.low, found.high, found.seeds) == pytest.approx((1 / 16, 1 / 16, 1 / 16, 3))
    assert ratio_of_medians([]) is None


def test_paired_ratios_count_every_pair() -> None:
    """Medians of both are 2; pair by pair the first is a quarter, equal and twice."""
    mine, theirs = np.array([1.0, 2.0, 4.0]), np.array([4.0, 2.0, 2.0])
    found = paired_ratio([(mine, theirs)], least=0.5)
    assert found is not None
    assert found.value == pytest.approx(0.5 ** (1 / 3))
    assert 0.25 <= found.low <= found.value <= found.high <= 2.0
    assert paired_ratio([(np.zeros(3), theirs)], least=2.0) == paired_ratio([(theirs / theirs, theirs)], least=2.0)
    assert paired_ratio([], least=0.5) is None


def test_the_page_and_the_figure_come_from_rows() -> None:
    rows = rows_of(suite.PROBLEMS, {OURS: 0.5, "random": 1.0}, range(6))
    rows.append({"method": "ax", "problem": "levy8", "seed": 2, "n": 50, "error": "RuntimeError: a | b"})
    text = report.page(rows, seeds="even", n=50)
    assert text.count("0.50 (0.50 to 0.50)") == 2 * 3 * 4  # three measures, four suites, from either side
    assert "| Quadrat | 1.0 (1.0 to 1.0) |" in text
    assert "| Ax | levy8 | 1 | RuntimeError: a / b |" in text
    assert "even seeds" in text
    assert report.figure(rows, seeds="even", n=50).count("<path") >= 8


WAITING = {"ablation"}  # studies whose rows were of an earlier method, and are measured again when that stands


def test_kept_rows_are_of_the_list() -> None:
    for path in (*RESULTS.glob("*.jsonl"), *RESULTS.glob("noise_*/*.jsonl")):
        rows = read_rows(path)
        assert rows or path.stem in WAITING, path
        assert {row.get("noise", NOISE) for row in rows} <= {float(path.parent.name.partition("_")[2] or NOISE)}
        studies = {"parallel": set(parallel.MODES), "ablation": set(ablation.VARIANTS)}
        methods = studies.get(path.stem, {path.stem} & set(ROSTER))
        assert {row["method"] for row in rows} <= methods
        assert {row["problem"] for row in rows} <= set(suite.PROBLEMS)
        cells = [cell_of(row) for row in rows]
        assert len(cells) == len(set(cells))


def test_adapters_recommend_the_best_observed_unless_they_know_better() -> None:
    adapter: Adapter = Random(qd.Space(x=qd.Float(0, 1)), 3, 0)
    for value in (0.1, 0.7, 0.3):
        adapter.tell({"x": value}, value)
    assert adapter.recommend() == {"x": 0.7}


@pytest.mark.parametrize("method", [OURS, "optuna_tpe"])
def test_what_is_added_counts_as_told(method: str) -> None:
    """A method that was told another's history suggests from it, and recommends from it."""
    adapter = adapter_class(method)(qd.Space(x=qd.Float(0, 1), kind=qd.Categorical(["a", "b"])), 7, 0)
    for i in range(6):
        adapter.add({"x": i / 8, "kind": "ab"[i % 2]}, float(i))
    params = adapter.ask()
    adapter.tell(params, 9.0)
    assert len(adapter.told) == 7
    assert adapter.recommend() in [told for told, _ in adapter.told]
