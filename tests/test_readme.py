"""The README's own code runs, and its figures are those of the committed benchmark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def test_the_examples_run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a study is kept in the working directory
    wanted = [
        ["Result of maximize, 20 trials", "temperature"],
        ["'layers': 4", "'rate': 0.0"],
        ["Result of maximize, 25 trials", "memory: met"],
        ["'site': 'north'", "'site': 'south'"],
    ]
    examples = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    for code, texts in zip(examples, wanted, strict=True):
        exec(compile(code, "README.md", "exec"), {})
        out = capsys.readouterr().out
        assert all(text in out for text in texts)


@pytest.mark.parametrize("table", ["benchmarks/results/gp.md", "benchmarks/regret/results/summary.md"])
def test_the_tables_are_the_measured_ones(table: str) -> None:
    measured = (ROOT / table).read_text().split("\n\n")[-1].strip()
    shown = README.split(f"<!-- table: {table} -->")[1].split("<!-- end -->")[0].strip()
    assert shown == measured


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
