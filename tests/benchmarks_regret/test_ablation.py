"""Variants of the default method: each changes what it says, nothing else, and nothing after its run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from math import sin
from pathlib import Path
from types import ModuleType

import pytest
from regret import ablation, run, suite
from regret.roster import OURS
from regret.rows import Row, complete, read_rows
from regret.task import FunctionTask, Task

import quadrat as qd
from quadrat.methods.auto import method as auto
from quadrat.methods.auto import surrogate as auto_model
from quadrat.methods.auto.method import AutoSearch

ROOT = Path(__file__).resolve().parents[2]
CHANGED = [variant for variant in ablation.VARIANTS if variant != ablation.FULL]
# Whether smoothnesses are compared a little earlier or later does not matter in every run: any of these may show it.
SHORT = (("rastrigin3~", 1), ("rosenbrock4~", 1), ("hartmann6~", 3))


def asked(variant: str, task: Task, seed: int, n: int) -> tuple[tuple[float, ...], ...]:
    """The points that a variant asks for."""
    points = []
    with ablation.VARIANTS[variant].in_force() as method:
        optimizer = qd.Optimizer(task.space, direction="maximize", method=method, seed=seed)
        for number in range(n):
            trial = optimizer.ask()
            points.append(tuple(trial.params.values()))
            optimizer.tell(trial, task.observe(trial.params, number))
    return tuple(points)


@cache
def asked_shortly(variant: str, problem: str, seed: int) -> tuple[tuple[float, ...], ...]:
    return asked(variant, suite.task(problem, seed), seed, 8)


def wave(seed: int) -> Task:
    """One dimension, and values that soon differ by less than the noise: a second look pays."""
    return FunctionTask(lambda u: sin(3 * float(u[0])), 1, best=1.0, seed=seed)


def shelf(depth: float) -> Task:
    """A plain with a drop at one side: the deeper it is, the clearer the evidence that low values want compressing."""
    return FunctionTask(lambda u: -depth if u[0] > 0.6 else float(u[1]), 2, best=1.0, seed=1)


def constants(module: ModuleType) -> dict[str, object]:
    return {name: value for name, value in vars(module).items() if name.lstrip("_").isupper()}


def search_of(variant: str, at: Callable[[AutoSearch], None]) -> None:
    """Call `at` with the search of a variant that was told six trials, while the variant is in force."""
    with ablation.VARIANTS[variant].in_force() as method:
        optimizer = qd.Optimizer(qd.Space(a=qd.Float(0, 1), b=qd.Float(0, 1)), direction="maximize", method=method)
        for _ in range(6):
            trial = optimizer.ask()
            optimizer.tell(trial, sin(5 * trial.params["a"]) + trial.params["b"])
        search = optimizer._search
        assert isinstance(search, AutoSearch)
        at(search)


@pytest.mark.parametrize("variant", ablation.VARIANTS)
def test_constants_have_their_values_again_after_a_run(variant: str) -> None:
    before = [constants(module) for module in (auto, auto_model)]
    methods = [dict(vars(kind)) for kind in (AutoSearch, auto_model.LearnedModel)]
    assert "error" not in ablation.run(variant, "rastrigin3~", 1, 6)
    assert [constants(module) for module in (auto, auto_model)] == before
    assert [dict(vars(kind)) for kind in (AutoSearch, auto_model.LearnedModel)] == methods


def test_constants_have_their_values_again_after_a_run_that_failed() -> None:
    before = constants(auto_model)

    def stopped() -> None:
        with ablation.VARIANTS["one smoothness"].in_force():
            assert constants(auto_model) == {**before, "KERNELS": auto_model.USUAL}
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        stopped()
    assert constants(auto_model) == before


def test_a_constant_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(AttributeError, match="NO_SUCH"), ablation.Variant("", constants={"NO_SUCH": 1}).in_force():
        pass
    assert not hasattr(auto_model, "NO_SUCH")


@pytest.mark.parametrize("variant", CHANGED)
def test_every_variant_soon_asks_for_other_points(variant: str) -> None:
    if variant == "learned at every trial":  # which shows after 16 trials, and with noise
        assert asked(variant, wave(3), 3, 20) != asked(ablation.FULL, wave(3), 3, 20)
    elif variant == "no second looks":
        runs = [(asked(variant, wave(seed), seed, 20), asked(ablation.FULL, wave(seed), seed, 20)) for seed in (1, 3)]
        assert any(len(set(full)) < len(full) for _, full in runs)
        assert all(len(set(mine)) == len(mine) for mine, _ in runs)
    elif "compressed" in variant:
        # A deep drop is compressed by the full method, a small one by the light variant alone.
        tasks = [shelf(depth) for depth in (60.0, 4.0)]
        differ = [asked(variant, task, 1, 16) != asked(ablation.FULL, task, 1, 16) for task in tasks]
        assert differ == ([True, False] if variant == "never compressed" else [False, True])
    else:
        assert any(asked_shortly(variant, *case) != asked_shortly(ablation.FULL, *case) for case in SHORT)


@pytest.mark.parametrize("variant", CHANGED)
def test_the_initial_design_is_that_of_the_full_method(variant: str) -> None:
    design, full = (asked_shortly(name, *SHORT[0])[:5] for name in (variant, ablation.FULL))
    first = 1 if variant == "no centre" else 0
    assert design[first:] == full[first:]
    assert (design[0] == (0.5, 0.5, 0.5)) == (variant != "no centre")


@pytest.mark.parametrize(
    ("variant", "samples"), [(ablation.FULL, auto_model.SAMPLES), ("one sample", 1), ("thirty samples", 30)]
)
def test_how_many_samples_are_averaged(variant: str, samples: int) -> None:
    def check(search: AutoSearch) -> None:
        assert len(search.model.current().ensemble) == samples

    search_of(variant, check)


def test_the_full_method_is_the_run_of_the_comparison() -> None:
    found = ablation.run(ablation.FULL, "rastrigin3~", 1, 8)
    assert found["regret"] == run.run(OURS, "rastrigin3~", 1, 8)["regret"]
    assert 0 < found["cpu_per_suggestion"] < found["cpu_of_suggestions"]
    assert "curve" not in found


def test_rows_of_all_variants_share_a_file_and_resume(tmp_path: Path) -> None:
    path = tmp_path / "ablation.jsonl"
    cells = [(variant, "rastrigin3~", 1, 3) for variant in ablation.VARIANTS]
    complete(path, ablation.run, cells[:2])
    before = path.read_text()
    complete(path, ablation.run, cells)
    assert path.read_text().startswith(before)
    assert [row["method"] for row in read_rows(path)] == list(ablation.VARIANTS)
    assert all("regret" in row for row in read_rows(path))


def made_up(variants: dict[str, float], problems: tuple[str, ...], seeds: range) -> list[Row]:
    return [
        {
            "method": variant, "problem": problem, "seed": seed, "n": 50, "best": 1.0, "commit": "abc",
            "regret": {"recommended": factor * (seed + 1), "evaluated": factor, "observed": factor},
            "cpu_of_suggestions": 3 * factor,
        }
        for problem in problems
        for seed in seeds
        for variant, factor in variants.items()
    ]  # fmt: skip


def test_the_report_comes_from_rows_of_odd_seeds() -> None:
    rows = made_up({ablation.FULL: 1.0, "no climbs": 2.0}, suite.SUITES["shifted"], range(10))
    rows += made_up({"no centre": 1.5}, suite.SUITES["shifted"][:3], range(8))
    rows += [{"method": "no climbs", "problem": "levy8~", "seed": 11, "n": 50, "error": "RuntimeError: none"}]
    text = ablation.report(rows)
    what = {name: variant.what for name, variant in ablation.VARIANTS.items()}
    once, twice = "1.00 (1.00 to 1.00)", "2.00 (2.00 to 2.00)"
    assert f"| full | {what['full']} | 5 | {once} | {once} | 1.00 |" in text
    assert f"| no climbs | {what['no climbs']} | 5 | {twice} | {twice} | 2.00 |" in text
    some = "1.50 (1.50 to 1.50, 3 of 7 problems)"
    assert f"| no centre | {what['no centre']} | 4 of 5 | {some} | {some} | 1.50 |" in text
    missing = " | ".join(["rows missing"] * 3)
    assert f"| one sample | {what['one sample']} | 0 of 5 | {missing} |" in text
    assert "rows are of abc" in text
    assert "Left out: 1 of 83 runs" in text  # 2 variants, 7 problems, 5 odd seeds; 3 problems, 4 of them; one failed
    assert "plain problems" not in text


def test_plain_problems_have_a_table_of_their_own() -> None:
    rows = made_up({ablation.FULL: 1.0, "no climbs": 2.0}, suite.SUITES["plain"], range(4))
    text = ablation.report(rows)
    assert "| variant, plain problems |" in text
    assert "shifted" not in text


def test_two_suites_have_a_table_together() -> None:
    rows = made_up({ablation.FULL: 1.0, "no climbs": 2.0}, suite.SUITES["plain"], range(6))
    rows += made_up({ablation.FULL: 1.0, "no climbs": 8.0}, suite.SUITES["shifted"], range(6))
    text = ablation.report(rows)
    assert text.index("| variant, all problems |") < text.index("| variant, shifted problems |")
    assert "| 3 | 4.00 (4.00 to 4.00) |" in text  # the geometric mean of 2 and 8


def test_without_rows_every_line_says_so() -> None:
    text = ablation.report([])
    for name, variant in ablation.VARIANTS.items():
        assert f"| {name} | {variant.what} | 0 | rows missing | rows missing | rows missing |" in text


@pytest.mark.parametrize("words", [["--problems", "sgd_cancer"], ["--problems", "nothing"]])
def test_only_functions_are_run(words: list[str]) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "regret" / "ablation.py"), *words]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 2
    assert "problems: expected" in out.stderr
