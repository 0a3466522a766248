from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "contexts.py"


def test_the_contexts_example(capsys: pytest.CaptureFixture[str]) -> None:
    """Both methods find the best temperature of each site, and certificates are no smaller than what is missed."""
    example = runpy.run_path(str(EXAMPLE))
    example["main"]()
    heading, *lines = capsys.readouterr().out.splitlines()
    assert "at most this far from the best" in heading
    assert [line.split()[0] for line in lines] == list(example["BEST"])
    for line in lines:
        site, best, _, learned, _, _, _, sure, _, certificate = line.split()
        assert abs(float(learned) - float(best)) < 5
        assert abs(float(sure) - float(best)) < 5
        assert 1 - example["output"](float(sure), site) <= float(certificate) < 1
