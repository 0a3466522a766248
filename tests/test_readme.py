"""The README's own code runs, and its figures are those of the committed benchmark."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import quadrat as qd
from quadrat._core.arrays import Array

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
PRINTED = "yield between 0.857 and 0.947, within 0.042 of the best possible"
RANGE = 0.9  # of yield_of over its space


def test_the_examples_run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a study is kept in the working directory
    wanted = [
        ["Result of maximize, 20 trials", "temperature", PRINTED],
        ["'layers': 4", "'rate': 0.0"],
        ["Result of maximize, 25 trials", "memory: met"],
        ["'site': 'north'", "'site': 'south'"],
    ]
    examples = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    for code, texts in zip(examples, wanted, strict=True):
        exec(compile(code, "README.md", "exec"), {})
        out = capsys.readouterr().out
        assert all(text in out for text in texts)


def test_the_certified_example_states_what_is_true_and_prints_what_it_finds() -> None:
    """And the certificate pays: it is at most a tenth of the range of the yield.

    The norm of the yield is the limit of the norms of its interpolants, which grow with the number of points.

    They come closer to it by b/m on grids of m x m points, so two of them tell the limit.
    """
    assert f"\n{PRINTED}\n```" in README
    assert float(re.findall(r"within ([0-9.]+)", PRINTED)[0]) <= RANGE / 10
    kernel = qd.Matern(2.5, 1.0)
    assert "kernel=qd.Matern(2.5, 1.0), norm_bound=2.6, noise=0.01" in README

    def yields(points: Array) -> Array:
        temperature, pressure = 20 + 70 * points[:, 0], 0.1 * 100 ** points[:, 1]
        return np.asarray(0.9 - ((temperature - 65) / 60) ** 2 - 0.2 * np.log10(pressure / 2) ** 2)

    corners = yields(np.array([[0.0, 0.0], [45 / 70, np.log(20) / np.log(100)]]))
    assert np.ptp(corners) == pytest.approx(RANGE, abs=0.01)

    def norm(m: int) -> float:
        side = np.linspace(0, 1, m)
        points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
        values = yields(points)
        root = np.linalg.cholesky(kernel(points, points) + 1e-12 * np.eye(len(points)))
        return float(np.linalg.norm(np.linalg.solve(root, values)))

    coarse, fine = norm(13), norm(26)
    assert coarse < fine < 2.3
    assert fine + (fine - coarse) == pytest.approx(2.38, abs=0.005)
    assert "the norm of yield_of is 2.38 " in README


@pytest.mark.parametrize("table", ["benchmarks/results/gp.md", "benchmarks/regret/results/summary.md"])
def test_the_tables_are_the_measured_ones(table: str) -> None:
    measured = (ROOT / table).read_text().split("\n\n")[-1].strip()
    shown = README.split(f"<!-- table: {table} -->")[1].split("<!-- end -->")[0].strip()
    assert shown == measured


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
