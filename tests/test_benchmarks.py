"""Every benchmark runs at tiny size; its figures are not judged here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("script", ["gp.py", "bounds.py", "methods.py"])
def test_smoke(script: str) -> None:
    out = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / script), "--smoke"], capture_output=True, text=True, check=True
    )
    assert out.stdout.startswith("| what |"), out.stdout + out.stderr
    assert out.stdout.count("\n|") >= 5


PEERS = ROOT / ".venv-peers" / "bin" / "python"


@pytest.mark.parametrize(
    ("script", "head"),
    [
        ("report_page.py", "| trials | CPU s |"),
        ("calibration.py", "| runs of | how many | 50 % interval holds |"),
        ("uneven_noise.py", "| noise | points | slope found |"),
        ("certify_study.py", "| D | trials | CPU seconds |"),
        ("demo.py", "| workers | runs | 50 % holds in |"),
        ("failures.py", "| problem | seeds | failures of 8, ours |"),
        ("regret/parallel.py", "| evaluations | problems | seeds | recommended / sequential |"),
        ("regret/noise.py", "| method | seeds | branin8~ |"),
        ("regret/ablation.py", "| variant, shifted problems | what is changed | seeds | recommended / full |"),
        pytest.param(
            "suggestion.py",
            "| what | ms a suggestion, rastrigin3,",
            marks=pytest.mark.skipif(not PEERS.exists(), reason="the peers are not installed; `make peers` does it"),
        ),
    ],
)
def test_comparisons_run_at_tiny_size_and_keep_nothing(script: str, head: str) -> None:
    def kept() -> dict[Path, str]:
        return {path: path.read_text() for path in (ROOT / "benchmarks").rglob(f"results/{Path(script).stem}.*")}

    before = kept()
    command = [sys.executable, str(ROOT / "benchmarks" / script), "--smoke"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    assert head in out.stdout
    assert out.stdout.count("\n|") >= 2
    assert kept() == before


def test_every_experiment_of_the_paper_runs_at_tiny_size() -> None:
    """What `make paper-smoke` runs."""
    command = [sys.executable, str(ROOT / "experiments" / "paper.py"), "--smoke"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    reports = out.stdout.split("\n--- ")
    tables = {report.split("\n")[0].removeprefix("--- "): report.count("\n|") for report in reports}
    expected = ("figure1", "figure1_diagnostics", "violations", "certificates", "paper_settings", "rates", "table1")
    assert {name: tables.get(name, 0) >= 5 for name in expected} == dict.fromkeys(expected, True), tables


@pytest.mark.parametrize("page", ["paper_page.py", "methods_page.py", "default_method_page.py"])
def test_pages_are_what_the_results_say(page: str) -> None:
    command = [sys.executable, str(ROOT / "docs" / page), "--check"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr or f"{page}: run it, the page is older than the results"
