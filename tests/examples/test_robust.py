from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "robust.py"


def test_the_robust_example(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE))["compare"]()
    heading, plain, robust = capsys.readouterr().out.splitlines()
    assert "if missed (believed, 90 %)" in heading
    assert plain.startswith("GPUCB")
    assert robust.startswith("StableOpt")
    missed = [float(line.split()[5]) for line in (plain, robust)]
    assert missed[1] > missed[0] + 0.1
