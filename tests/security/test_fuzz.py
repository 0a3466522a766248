"""Inputs that are almost right, in the short form: `python benchmarks/fuzz.py` runs the same in many more cases."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.security.fuzzing import Outcome, run_cases
from tests.security.mutation import Random
from tests.security.targets import TARGETS

CASES = {
    "space files (TOML, JSON)": 400,
    "method texts": 400,
    "result files (CSV)": 400,
    "journals, damaged bytes": 300,
    "journals, strange records": 60,
    "hostile studies": 150,
    "hostile studies, all commands": 30,
    "command lines": 80,
}


@pytest.mark.parametrize("name", CASES)
def test_whatever_comes_is_read_or_refused_in_a_line(name: str, tmp_path: Path) -> None:
    target, _ = TARGETS[name]
    tally = run_cases(name, target, tmp_path, range(CASES[name]))
    assert not tally.failures, tally.failures[0]
    assert min(tally.outcomes["accepted"], tally.outcomes["refused"]) > 0.02 * CASES[name], "both sides are tried"


def test_every_target_has_a_short_form() -> None:
    assert CASES.keys() == TARGETS.keys()
    assert sum(share for _, share in TARGETS.values()) == pytest.approx(1.0)


def test_what_fails_is_counted_and_found_again(tmp_path: Path) -> None:
    def target(rng: Random, folder: Path) -> Outcome:
        if rng.random() < 0.5:
            raise KeyError("unrelated")
        return "accepted"

    tally = run_cases("broken", target, tmp_path, range(40))
    assert tally.outcomes["accepted"] + len(tally.failures) == 40
    assert 5 < len(tally.failures) < 35
    number = int(tally.failures[0].split("case ")[1].split(":")[0])
    assert "KeyError: 'unrelated'" in run_cases("broken", target, tmp_path, range(number, number + 1)).failures[0]
