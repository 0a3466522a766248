"""`assumptions_from`: the length-scale at which a hill changes as stated, the norm of so many hills, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quadrat as qd
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels import GammaExponential
from quadrat.optimizer import assumptions_from
from quadrat.problems import RKHSFunction

SPACE = qd.Space(temperature=qd.Float(20, 90), rate=qd.Float(1e-4, 1.0, log=True))
KNOWN: dict[str, Any] = {"changes": {"temperature": (5, 0.2), "rate": (2, 0.1)}, "values": (0.0, 2.0), "noise": 0.05}


@pytest.mark.parametrize("kernel", [qd.Matern(2.5), qd.Matern(1.5), qd.SquaredExponential(), GammaExponential(1.0)])
def test_a_hill_of_full_height_changes_by_what_was_stated(kernel: Any) -> None:
    choice = assumptions_from(SPACE, kernel=kernel, **KNOWN)
    given = choice.assumptions.on(SPACE)
    hill = RKHSFunction(given.kernel, np.array([[0.5, 0.5]]), np.array([1.0]))
    assert hill.norm == pytest.approx(1.0)
    for axis, (share, change) in enumerate([(5 / 70, 0.2), (np.log(2) / np.log(1e4), 0.1)]):
        begin = np.full((4001, 2), 0.5)
        begin[:, axis] = np.linspace(0.5, 2.5, 4001)
        end = begin.copy()
        end[:, axis] += share
        assert np.abs(hill.values(begin) - hill.values(end)).max() == pytest.approx(change, rel=1e-3)


def test_norm_and_offset_are_of_hills_about_the_middle() -> None:
    choice = assumptions_from(SPACE, hills=9, **KNOWN)
    assert (choice.assumptions.offset, choice.assumptions.norm_bound) == (1.0, 3.0)
    apart = RKHSFunction(qd.Matern(2.5, 0.01), np.arange(9.0)[:, None], np.tile([1.0, -1.0], 5)[:9])
    assert apart.norm == pytest.approx(3.0)  # nine hills and valleys of height 1 that hardly overlap


def test_by_default_there_is_room_for_full_height_all_over_the_box() -> None:
    """The norm of a constant under Matérn 5/2, from its interpolants, is within the margin of what the rule takes."""
    space = qd.Space(x=qd.Float(0, 1), y=qd.Float(0, 1))
    choice = assumptions_from(space, changes={"x": (0.05, 0.2), "y": (0.05, 0.1)}, values=(-1.0, 1.0), noise=0.05)
    kernel = choice.assumptions.on(space).kernel
    side = np.linspace(0, 1, 21)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    norm = float(np.sqrt(np.linalg.solve(kernel(points) + 1e-10 * np.eye(len(points)), np.ones(len(points))).sum()))
    assert norm < choice.assumptions.norm_bound < 1.5 * norm
    assert "room for height 1 all over the box" in repr(choice)


def test_the_reasoning_is_printed() -> None:
    text = repr(assumptions_from(SPACE, hills=4, **KNOWN))
    for part in (
        "the middle of the plausible values 0 to 2",
        "room for 4 hills and valleys of height 1",
        "0.05, as stated",
    ):
        assert part in text
    assert "the steepest part of a hill of full height changes by 0.2 within 5" in text
    assert "changes by 0.1 within a factor of 2" in text


def test_a_parameter_that_hardly_matters_is_not_assumed_not_to() -> None:
    choice = assumptions_from(SPACE, **{**KNOWN, "changes": {"temperature": (5, 1e-6), "rate": (2, 0.1)}})
    assert choice.assumptions.lengthscales["temperature"] == 210.0  # type: ignore[index]
    assert "3 times the range; longer would assume that temperature hardly matters" in repr(choice)


def test_limits_of_the_values_stand_for_noise() -> None:
    known = {name: value for name, value in KNOWN.items() if name != "noise"}
    choice = assumptions_from(SPACE, values_within=(0, 2), **known)
    assert choice.assumptions.sigma == 1.0
    assert "half of the distance between the limits" in repr(choice)


def test_a_run_can_be_certified_with_them() -> None:
    space = qd.Space(x=qd.Float(0, 1))
    choice = assumptions_from(space, changes={"x": (0.1, 0.2)}, values=(-1, 1), noise=0.01)
    optimizer = qd.Optimizer(space, direction="maximize", method="SobolSearch")
    for _ in range(20):
        trial = optimizer.ask()
        optimizer.tell(trial, float(np.cos(trial.params["x"])))
    found = optimizer.certify(choice.assumptions, stated_before_data=True, every_value_counts=True)
    assert found.recommended is not None


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"changes": {"temperature": (5, 0.2)}}, "changes: expected (distance, change) for each of temperature, rate"),
        ({"changes": 3}, "changes: expected (distance, change) for each of temperature, rate, got 3"),
        ({"changes": {"temperature": (5, 0.2), "rate": 0.1}}, "expected (distance, change) for 'rate', got 0.1"),
        ({"changes": {"temperature": (5, 0.2), "rate": (0.5, 0.1)}}, "expected a factor above 1 as the distance"),
        (
            {"changes": {"temperature": (5, 0.95), "rate": (2, 0.1)}},
            "name a shorter distance, over which it changes by less",
        ),
        (
            {"changes": {"temperature": (5, float("nan")), "rate": (2, 0.1)}},
            "the change of 'temperature': expected a finite",
        ),
        ({"changes": {"temperature": (0, 0.1), "rate": (2, 0.1)}}, "the distance of 'temperature': expected a finite"),
        ({"values": (2, 0)}, "values: expected (lowest, highest) with lowest < highest"),
        ({"values": {0, 2}}, "values: expected (lowest, highest), got {0, 2}"),
        ({"values": 1}, "values: expected (lowest, highest), got 1"),
        ({"noise": None}, "expected either noise or values_within, got neither"),
        ({"hills": 0.5}, "hills: expected a finite number >= 1"),
        ({"kernel": qd.Matern(2.5, 0.3)}, "kernel: expected one without length-scales"),
        ({"kernel": "Matern"}, "kernel: expected one without length-scales"),
    ],
)
def test_what_is_no_knowledge_is_refused(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        assumptions_from(SPACE, **{**KNOWN, **changed})
    assert sentence in str(refused.value)


def test_parameters_that_are_no_floats_are_refused() -> None:
    with pytest.raises(NotAvailable, match="expected parameters that are Floats without steps, got 'n'"):
        assumptions_from(qd.Space(n=qd.Int(1, 9)), changes={"n": (1, 0.1)}, values=(0, 1), noise=0.1)


def test_plausible_values_beyond_the_limits_of_every_value_are_refused() -> None:
    """The objective is a mean of values, and lies between their limits."""
    known = {name: value for name, value in KNOWN.items() if name != "noise"}
    for limits in ((0, 1), (0.5, 2), (-1, 1.9)):
        with pytest.raises(InvalidInput, match="values: expected plausible values within values_within"):
            assumptions_from(SPACE, values_within=limits, **known)
    assert assumptions_from(SPACE, values_within=(0, 2), **known).assumptions.sigma == 1.0
    with pytest.raises(InvalidInput, match="values_within: expected"):
        assumptions_from(SPACE, values_within=(1, 0), **known)


def test_it_says_for_which_objectives_it_is_not() -> None:
    said = dict(assumptions_from(SPACE, **KNOWN).reasons)
    assert "kinks, clipped values, infinite slopes or jumps" in said["not for"]
    rough = dict(assumptions_from(SPACE, kernel=qd.Matern(0.5), **KNOWN).reasons)["not for"]
    assert rough.startswith("objectives with infinite slopes or jumps, or with kinks or clipped values in two")
