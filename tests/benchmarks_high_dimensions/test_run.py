"""Runs in twenty dimensions: they resume, batches are batches, and every method runs at tiny size."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from high_dimensions import run, twenty
from high_dimensions.batches import QuadratInBatches
from high_dimensions.contenders import CONTENDERS
from regret.rows import Row, read_rows
from regret.task import unit_space

import quadrat as qd

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / ".venv-peers" / "bin" / "python"
with_peers = pytest.mark.skipif(not PEERS.exists(), reason="the peers are not installed; `make peers` does it")
# Every batch brings the same value: it fails, until the region has collapsed.
COLLAPSE = """
import sys
sys.path[:0] = [{benchmarks!r}, {source!r}]
import numpy as np
from regret.task import unit_space
from high_dimensions.turbo_peer import BatchedTuRBO

asked = []

class Observation(BatchedTuRBO):
    def _fit(self, first=None):
        self.fits = getattr(self, "fits", 0) + 1
        return super()._fit(first)

    def _sampled(self, model, centre, count, samples):
        asked.append((len(self.X), self.first, self.side, count, samples))
        return np.full((samples, 2), 0.5)

adapter = Observation(unit_space(2), 400, 0)
assert (adapter.n_initial, adapter.n_failures, adapter.SUCCESSES) == (4, 1, 3)
for number in range(400):
    params = adapter.ask()
    adapter.tell(params, float(number == 0) + 1e-6 * np.sin(number))
batches = [4 + 50 * i for i in range(7)]
assert asked == [(told, 0, 0.8 / 2**i, 200, 50) for i, told in enumerate(batches)] + [(358, 354, 0.8, 200, 42)], asked
"""


def test_runs_resume(tmp_path: Path) -> None:
    run.complete("random", twenty.PROBLEMS[:1], [0], 12, folder=tmp_path)
    path = tmp_path / "random.jsonl"
    before = path.read_text()
    run.complete("random", twenty.PROBLEMS, [0, 2], 12, folder=tmp_path)
    assert path.read_text().startswith(before)
    rows: list[Row] = read_rows(path)
    assert [(row["problem"], row["seed"]) for row in rows] == [(p, seed) for seed in (0, 2) for p in twenty.PROBLEMS]
    assert all(row["curve"]["n"] == [10, 12] for row in rows)
    whole = path.read_text()
    run.complete("random", twenty.PROBLEMS, [0, 2], 12, folder=tmp_path)
    assert path.read_text() == whole


def test_longer_runs_are_looked_at_on_the_way() -> None:
    row = run.run("random", "levy20~", 0, 250)
    assert row["curve"]["n"] == [100, 200, 250]
    assert row["curve"]["evaluated"] == sorted(row["curve"]["evaluated"], reverse=True)
    assert row["regret"]["evaluated"] > 0


def test_a_batch_is_asked_for_before_any_of_it_is_told() -> None:
    space = unit_space(2)
    adapter, plain = QuadratInBatches(space, 7, 3), qd.Optimizer(space, direction="maximize", seed=3)
    expected = [plain.ask().params for _ in range(7)]
    asked = []
    for number in range(7):
        asked.append(adapter.ask())
        assert len(adapter.optimizer.trials) == 7
        adapter.tell(asked[-1], float(number))
    assert asked == expected
    assert [trial.values for trial in adapter.optimizer.trials] == [(float(number),) for number in range(7)]


@with_peers
def test_batches_that_fail_halve_the_region_until_another_begins() -> None:
    script = COLLAPSE.format(benchmarks=str(ROOT / "benchmarks"), source=str(ROOT / "src"))
    out = subprocess.run([str(PEERS), "-c", script], capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr


@pytest.mark.parametrize(
    "method",
    [pytest.param(name, marks=[] if entry.module == "quadrat" else with_peers) for name, entry in CONTENDERS.items()],
)
def test_smoke_prints_the_report_and_keeps_nothing(method: str) -> None:
    folder = ROOT / "benchmarks" / "high_dimensions" / "results"
    before = {path: path.read_bytes() for path in folder.glob("*")}
    script = str(ROOT / "benchmarks" / "high_dimensions" / "run.py")
    command = [sys.executable, script, method, "--smoke", "--problems", "hartmann6in20~"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    assert f"| {CONTENDERS[method].title} | 0 to 1 |" in out.stdout
    assert "Left out" not in out.stdout, out.stdout
    assert {path: path.read_bytes() for path in folder.glob("*")} == before
