"""The README's own code runs, and its figures are those of the committed benchmark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    out = capsys.readouterr().out
    assert "Result of maximize, 20 trials" in out
    assert "temperature" in out


def test_the_table_is_the_measured_one() -> None:
    measured = (ROOT / "benchmarks" / "results" / "gp.md").read_text().split("\n\n")[-1].strip()
    shown = README.split("<!-- table: benchmarks/results/gp.md -->")[1].split("<!-- end -->")[0].strip()
    assert shown == measured


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
