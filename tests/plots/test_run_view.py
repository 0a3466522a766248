"""What figures read of a run, from every source."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import optuna
import pytest

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.loop import Result, minimize
from quadrat.optimizer import FAILED, Measured, Optimizer
from quadrat.plots import RunView
from quadrat.plots.run_view import spread
from quadrat.space import Context, Fidelity, Float, Space

from .conftest import MIXED, PLANE, certified


def test_a_view_of_an_optimizer_has_its_trials_in_the_order_of_telling() -> None:
    optimizer = Optimizer(PLANE, direction="minimize", method="RandomSearch", seed=0)
    first, second, third = (optimizer.ask() for _ in range(3))
    optimizer.tell(second, 3.0)
    optimizer.tell(first, FAILED, reason="no <power>")
    optimizer.tell(third, 2.0)
    optimizer.ask()
    view = RunView.of(optimizer)
    assert RunView.of(view) is view
    assert view.finished == (1, 0, 2)
    assert view.best_so_far.finished == (1, 2, 3)
    assert view.best_so_far.value == (3.0, 3.0, 2.0)
    assert view.best_so_far.number == (1, 1, 2)
    assert np.isnan(view.values).tolist() == [True, False, False, True]
    assert view.recommendation is not None
    assert view.recommendation.value == 2.0
    assert np.allclose(view.units[1], PLANE.to_unit(second.params))


def test_best_so_far_before_anything_counts_and_with_constraints() -> None:
    empty = RunView.of(Optimizer(PLANE, direction="maximize", method="RandomSearch", seed=0))
    assert empty.best_so_far.value == ()
    assert empty.recommendation is None
    with pytest.raises(NotAvailable, match="at least one complete trial"):
        _ = empty.point
    optimizer = Optimizer(PLANE, direction="maximize", seed=0)
    for value, used in ((5.0, 1.0), (1.0, -1.0), (9.0, 0.5), (2.0, -0.1)):
        optimizer.tell(optimizer.ask(), Measured(value, {"used": used}))
    best = RunView.of(optimizer).best_so_far
    assert (best.finished, best.value, best.number) == ((2, 3, 4), (1.0, 1.0, 2.0), (1, 1, 3))


def test_only_the_target_fidelity_counts() -> None:
    space = Space(x=Float(0, 1), level=Fidelity([1, 2], cost=[1, 4]))
    optimizer = Optimizer(space, direction="maximize", method="MFGPUCB", seed=0)
    for level, value in ((1, 9.0), (2, 1.0), (2, 3.0), (1, 8.0)):
        optimizer.add({"x": 0.2 * value / 9, "level": level}, value)
    assert RunView.of(optimizer).best_so_far.value == (1.0, 3.0, 3.0)


def test_checkpoints_are_the_recommendations_of_then_and_kept(certified_view: RunView) -> None:
    found = certified_view.checkpoints(4)
    assert [one.finished for one in found] == [1, 6, 11, 16]
    again = certified(6)
    assert found[1].recommendation == again.recommend()
    assert found[1].certificate == again.certificate()
    assert found[-1].recommendation == certified_view.recommendation
    assert certified_view.checkpoints(4) is found
    assert len(certified_view.checkpoints(1)) == 1


def test_a_result_has_what_its_optimizer_has(result: Result) -> None:
    view = RunView.of(result)
    assert view.records == result.trials
    assert view.recommendation is not None
    assert view.recommendation.params == result.params
    assert view.direction == "minimize"
    assert "_optimizer" not in repr(result)


def test_a_copied_result_says_why_it_has_no_figures() -> None:
    space = PLANE.subject_to(lambda params: params["x"] < 1.5)  # cannot be pickled, and need not be
    result = minimize(lambda p: p["x"], space, n_trials=3, method="RandomSearch", seed=0)
    for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):  # noqa: S301
        assert other == result
        with pytest.raises(NotAvailable, match="got a copy"):
            RunView.of(other)
    assert RunView.of(replace(result, message="renamed")).records == result.trials


def test_a_study_is_shown_as_the_study_has_it(study: optuna.Study) -> None:
    view = RunView.of(study)
    assert view.title == "my <study>"
    assert {record.number for record in view.records} == set(range(16))
    by_number = {record.number: record for record in view.records}
    for trial in study.trials:
        assert by_number[trial.number].params == trial.params
        assert by_number[trial.number].value == trial.value
    assert by_number[2].state == "failed"
    best = view.best_so_far
    assert best.value[-1] == study.best_value
    assert best.number[-1] == study.best_trial.number
    assert view.recommendation is not None
    assert set(view.recommendation.params) == {"kind", "n", "rate"}
    assert view.recommendation.params["n"] in range(10, 51, 10)
    assert view.recommendation.best_seen.number == study.best_trial.number
    axes = {axis.name: axis for axis in view.axes}
    assert axes["kind"].labels == ("b", "a", "None"), "in the study's order"
    rows = [i for i, record in enumerate(view.records) if record.state == "complete"]
    shown = axes["n"].at(view.units[rows, axes["n"].index])
    assert shown.tolist() == [view.records[i].params["n"] for i in rows]
    assert [one.finished for one in view.checkpoints(3)] == [1, 8, 16]


def test_units_leave_out_what_does_not_exist(mixed_view: RunView) -> None:
    depth = MIXED.axes.index("depth")
    there = ["depth" in record.params for record in mixed_view.records]
    assert (~np.isnan(mixed_view.units[:, depth])).tolist() == there
    assert 0 < sum(there) < len(there)
    assert not np.isnan(np.delete(mixed_view.units, depth, axis=1)).any()


def test_beliefs_carry_their_kind(certified_view: RunView, mixed_view: RunView) -> None:
    assert certified_view.predictions(np.full((3, 2), 0.5)).kind == "certified"
    found = mixed_view.predictions(np.full((2, 5), 0.5))
    assert found.kind == "credible 90 %"
    assert (found.low <= found.value).all()
    assert (found.value <= found.high).all()


def test_in_contexts_the_best_seen_says_which() -> None:
    space = Space(x=Float(0, 1), site=Context(Float(0, 1)))
    optimizer = Optimizer(space, direction="maximize", method="CGPUCB", seed=0)
    for i in range(6):
        trial = optimizer.ask(context={"site": i / 5})
        optimizer.tell(trial, trial.params["site"])
    view = RunView.of(optimizer)
    assert view.recommendation is not None
    assert view.recommendation.params["site"] == 1.0
    assert view.checkpoints(5) == ()


def test_other_things_are_refused() -> None:
    with pytest.raises(InvalidInput, match="got dict"):
        RunView.of({})  # type: ignore[arg-type]
    several = optuna.create_study(directions=["minimize", "maximize"])
    with pytest.raises(InvalidInput, match="one objective"):
        RunView.of(several)


def test_spread() -> None:
    assert spread(1, 10, 4) == [1, 4, 7, 10]
    assert spread(3, 5, 40) == [3, 4, 5]
    assert spread(2, 2, 5) == [2]
