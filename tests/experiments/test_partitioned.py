"""The experiment on partitioned processes: its own cells against the library's, and the tables."""

from __future__ import annotations

import numpy as np
import partitioned
import pytest
from grid import Row, run_here
from rates import NOISE, PROBLEMS, lattice

import quadrat as qd
from quadrat.gp.partitioned import PartitionedProcess
from quadrat.randomness import generator


def test_cells_over_points_are_those_of_the_library() -> None:
    """The same points told to both: equal cells, means, deviations, gains; the highest index is asked for."""
    method = partitioned.method_of("pi-printed", "matern-3/2", 60)
    kernel, points = PROBLEMS["matern-3/2", 2], lattice(12, 2)
    mine = partitioned.Partitioned(method, points)
    process = PartitionedProcess(method.rule(kernel, 2), noise_variance=method.regulariser(NOISE**2))
    rng = generator(0)
    for _ in range(60):
        j, y = mine.ask(), float(rng.normal())
        mine.tell(j, y)
        process.add(points[j], y)
    at = process.predict(points)
    index = np.empty(len(points))
    for part in mine.parts:
        cell = process.cell(points[part.ids[0]])
        assert (part.lower.tolist(), part.upper.tolist()) == (cell.lower.tolist(), cell.upper.tolist())
        assert (part.depth, len(part.told)) == (cell.depth, cell.count)
        np.testing.assert_allclose(part.posterior.mean, at.mean[part.ids], atol=1e-9)
        np.testing.assert_allclose(part.posterior.variance, at.deviation[part.ids] ** 2, atol=1e-9)
        assert part.posterior.gain == pytest.approx(cell.gain, abs=1e-9)
        beta = method.multiplier(cell.gain, cell.depth, NOISE)
        index[part.ids] = at.mean[part.ids] + beta * at.deviation[part.ids]
    assert len(mine.parts) > 4
    assert index[mine.ask()] == pytest.approx(index.max())


def test_recommended_has_the_highest_lower_end_of_a_group() -> None:
    """Of the second group the mean is higher, but one observation is less certain than three that agree."""
    kernel, points = PROBLEMS["matern-3/2", 2], lattice(3, 2)
    groups = [[(0, 0.4), (0, 0.4), (0, 0.4), (1, 0.2)], [(8, 0.45)]]
    ends, means = [], []
    for told in groups:
        gp = qd.gp.GaussianProcess(kernel, noise_variance=NOISE**2)
        gp.add(points[[j for j, _ in told]], [y for _, y in told])
        at = gp.predict(points[[told[0][0]]])
        ends.append(at.mean[0] - 1.645 * at.deviation[0])
        means.append(at.mean[0])
    assert ends[0] > ends[1]
    assert means[0] < means[1]
    assert partitioned.recommended(kernel, points, groups) == 0
    assert partitioned.recommended(kernel, points, groups[1:]) == 8


def test_runs_and_tables() -> None:
    cells = [
        {**cell, "n": 24 if cell["setting"] == "lattice" else 8}
        for cell in partitioned.cells(2)
        if cell["kernel"] == "matern-3/2"
    ]
    rows: list[Row] = run_here(partitioned.run, cells)
    assert len(rows) == 8
    for row in rows:
        assert float(str(row["cumulative"])) > 0
        assert float(str(row["steady"])) >= 0
        if row["method"] != "pi":
            assert (row["cells"] == 1) == (row["method"] == "exact")
    text = partitioned.report(rows)
    assert "| matern-3/2 | IGP-UCB, exact | 2 |" in text
    assert "| matern-3/2 | pi-GP-UCB, capacity 1 | " in text
    assert "Over the cube, n = 8, one seed:" in text
    ratio = text.split("method / exact")[1]
    assert ratio.count(" to ") == 8
    again = partitioned.run(**{key: cells[1][key] for key in ("setting", "kernel", "method", "seed", "n")})  # type: ignore[arg-type]
    assert {key: again[key] for key in ("cumulative", "simple", "cells", "largest")} == {
        key: rows[1][key] for key in ("cumulative", "simple", "cells", "largest")
    }
