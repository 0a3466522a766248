"""The comparison of searches: the script runs, all are given the same data, and differences are paired."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import search_cv

import quadrat as qd

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "benchmarks" / "results" / "search_cv.md"


def test_smoke() -> None:
    before = RESULT.read_text() if RESULT.exists() else None
    command = [sys.executable, str(ROOT / "benchmarks" / "search_cv.py"), "--smoke"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    assert "Left out" not in out.stdout, "no run raised"
    first, second = out.stdout.split("\n\n")
    assert first.startswith("| score on the test set, mean | seeds | quadrat | observed | random | TPE |")
    assert first.splitlines()[2].startswith("| digits, SVC | 2 | 0.")
    assert second.splitlines()[2].count(" to ") == 3
    assert (RESULT.read_text() if RESULT.exists() else None) == before


def test_differences_are_paired_over_seeds() -> None:
    rows = []
    for seed, (ours, lucky, theirs) in enumerate([(0.9, 0.8, 0.7), (0.5, 0.5, 0.3), (0.7, 0.6, 0.5)]):
        rows.append({"method": "quadrat", "problem": "p", "seed": seed, "n": 30, "score": ours, "observed": lucky})
        rows.append({"method": "random", "problem": "p", "seed": seed, "n": 30, "score": theirs})
    rows.append({"method": "TPE", "problem": "p", "seed": 0, "n": 30, "error": "none"})
    rows.append({"method": "random", "problem": "p", "seed": 0, "n": 2, "score": 0.0})
    text = search_cv.tables(rows, 30)
    assert "| p | 3 | 0.7000 | 0.6333 | 0.5000 |  |" in text
    assert "| p | 0.0667 (0.0000 to 0.1000) | 0.2000 (0.2000 to 0.2000) |  |" in text
    assert text.endswith("Left out: 1 of 8 runs, which raised an error.")


@pytest.mark.parametrize("name", list(search_cv.TUNINGS))
def test_tasks_split_the_data_and_flip_only_labels_that_are_trained_on(name: str) -> None:
    tuning = search_cv.TUNINGS[name]
    X, y, unseen, truth = tuning.data(0)
    again = tuning.data(0)
    np.testing.assert_array_equal(y, again[1])
    whole, labels = tuning.load(return_X_y=True)
    assert len(X) == tuning.train
    assert len(X) + len(unseen) == len(whole)
    known = {row.tobytes(): label for row, label in zip(whole, labels, strict=True)}
    assert all(known[row.tobytes()] == label for row, label in zip(np.ascontiguousarray(unseen), truth, strict=True))
    changed = np.mean([known[row.tobytes()] != label for row, label in zip(np.ascontiguousarray(X), y, strict=True)])
    assert changed <= tuning.flipped
    assert (changed > 0) == (tuning.flipped > 0)
    same = [[test.tolist() for _, test in tuning.folds(1).split(X, y)] for _ in range(2)]
    assert same[0] == same[1]


def test_random_search_draws_from_the_same_ranges() -> None:
    drawn = search_cv.scipy_of(qd.Int(2, 9))
    assert drawn.support() == (2, 9)
    assert search_cv.scipy_of(qd.Float(-1, 3)).support() == (-1, 3)
    log = search_cv.scipy_of(qd.Float(0.01, 100, log=True))
    assert log.median() == pytest.approx(1.0)
    assert search_cv.scipy_of(qd.Categorical(["a", "b"])) == ["a", "b"]
