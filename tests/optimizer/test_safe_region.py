"""What a safe search has certified, in the user's units: cells, slices, files and words."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, Literal

import pytest

import quadrat as qd
from quadrat.errors import InvalidInput

SPACE = qd.Space(x=qd.Float(1, 3), y=qd.Float(1e-2, 1e2, log=True))


@pytest.fixture(scope="module")
def optimizer() -> qd.Optimizer:
    method = qd.Safe(threshold=0.6, safe=[{"x": 2.0, "y": 1.0}], kernel=qd.Matern(2.5, 0.8), norm_bound=6.0, noise=0.01)
    found = qd.Optimizer(SPACE, direction="minimize", method=method)
    for _ in range(15):
        trial = found.ask()
        found.tell(trial, (trial.params["x"] - 1.8) ** 2)
    return found


def test_shares_labels_and_slices_agree(optimizer: qd.Optimizer) -> None:
    found = optimizer.safe_region()
    assert found.share == found.volume("safe") > 0.05
    assert found.volume("safe") + found.volume("unsafe") + found.volume("unknown") == pytest.approx(1.0)
    assert found.share <= found.reachable_share <= 1.0
    assert found.label_at({"x": 2.0, "y": 1.0}) == "safe"
    assert found.label_at({"x": 3.0, "y": 1e2}) != "safe"
    for low, high in found.slice({"x": 2.0, "y": 1.0}, "x"):
        assert 1.0 <= low < high <= 3.0
        assert found.label_at({"x": (low + high) / 2, "y": 1.0}) == "safe"
        assert max((low - 1.8) ** 2, (high - 1.8) ** 2) <= 0.6
    with pytest.raises(InvalidInput, match="name: expected one of x, y, got 'z'"):
        found.slice({"x": 2.0, "y": 1.0}, "z")
    with pytest.raises(InvalidInput):
        found.label_at({"x": 9.0, "y": 1.0})


def test_what_remains_is_about_the_recommended_point(optimizer: qd.Optimizer) -> None:
    found, recommended = optimizer.safe_region(), optimizer.recommend()
    assert recommended.certified_interval is not None
    assert found.best_reachable is not None
    assert found.remaining == pytest.approx(recommended.certified_interval[1] - found.best_reachable)
    assert found.best_reachable <= 0.0
    assert f"more than {found.remaining:.4g}" in found.text
    assert f"{found.remaining:.4g}" in str(optimizer.certificate().reason)


def test_it_is_written_to_files(optimizer: qd.Optimizer, tmp_path: Path) -> None:
    found = optimizer.safe_region()
    found.to_json(tmp_path / "region.json")
    said = json.loads((tmp_path / "region.json").read_text())
    assert said["certified"] is True
    assert said["share"] == found.share
    found.to_csv(tmp_path / "region.csv")
    with (tmp_path / "region.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(found.cells)
    assert sum(float(row["volume"]) for row in rows if row["label"] == "safe") == pytest.approx(found.share)


def test_other_methods_have_none() -> None:
    with pytest.raises(InvalidInput, match=r"expected one that handles safe regions \(Safe, FittedSafe\), got Auto"):
        qd.Optimizer(SPACE, direction="minimize").safe_region()


def test_where_nothing_is_certified_it_says_why(optimizer: qd.Optimizer) -> None:
    empty = qd.Optimizer(SPACE, direction="minimize", method=optimizer.method)
    found = empty.safe_region()
    assert found.remaining is None
    assert "no trial is complete" in repr(found)
    told = qd.Optimizer(SPACE, direction="minimize", method=optimizer.method)
    told.tell(told.ask(), qd.Estimate(0.04, 0.01))
    assert "standard error" in repr(told.safe_region())


DOSES = qd.Space(dose=qd.Float(0, 10))
STATED: dict[str, Any] = {"kernel": qd.Matern(2.5, 0.4), "norm_bound": 2.0, "noise": 0.02}


def told(
    method: qd.Safe | qd.FittedSafe, direction: Literal["minimize", "maximize"], value: float, n: int
) -> qd.Optimizer:
    found = qd.Optimizer(DOSES, direction=direction, method=method)
    for number in range(n):
        found.tell(found.ask(), value + 0.01 * (-1) ** number)
    return found


def test_a_recommendation_says_that_it_breaks_its_limit() -> None:
    run = told(qd.Safe(threshold=0.0, safe=[{"dose": 1.0}], **STATED), "minimize", 0.258, 1)
    why = run.recommend().why
    assert "It breaks a limit, as far as kernel, norm bound and noise are right: the objective is at least 0.1" in why
    assert "not certified" in run.recommend(robust_to=0.1).why or "not known" in run.recommend(robust_to=0.1).why
    fitted = told(qd.FittedSafe(threshold=0.0, safe=[{"dose": 1.0}]), "minimize", 0.258, 3)
    assert "a chance of more than 99 % to break the limit of the objective, 0" in fitted.recommend().why
    healthy = told(qd.Safe(threshold=0.5, safe=[{"dose": 1.0}], **STATED), "minimize", 0.1, 1)
    assert "limit" not in healthy.recommend().why


def test_advice_names_the_limit_and_says_that_auto_keeps_none() -> None:
    for method in (
        qd.Safe(threshold=0.0, safe=[{"dose": 1.0}], **STATED),
        qd.FittedSafe(threshold=0, safe=[{"dose": 1}]),
    ):
        said = told(method, "minimize", 0.258, 1 if isinstance(method, qd.Safe) else 3).advice()
        assert said.action == "mend"
        assert "Evaluate nothing more in this run" in said.text
        assert "limit" in said.text
        assert "tate other s" in said.text
        assert "use Auto" not in said.text
    for method in (
        qd.Safe(threshold=0.5, safe=[{"dose": 1}], **STATED),
        qd.FittedSafe(threshold=0.5, safe=[{"dose": 1}]),
    ):
        said = told(method, "minimize", 0.1, 1).advice()
        assert said.action == "go on"
        assert "Auto, has one, but keeps no limit" in said.text
