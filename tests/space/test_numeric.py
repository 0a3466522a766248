"""Float and Int: what they accept, what they refuse and how they say it."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.space import Categorical, Context, Float, Int, Space


def test_bounds_become_floats_and_ints() -> None:
    assert repr(Float(0, np.float64(0.5))) == "Float(0.0, 0.5)"
    assert repr(Int(np.int64(1), 3.0)) == "Int(1, 3)"  # type: ignore[arg-type]  # tables turn 3 into 3.0


def test_equal_hashable_and_copied() -> None:
    one, other = Float(0, 1, when={"a": ["x", "y"]}), Float(0.0, 1.0, when={"a": ("y", "x")})
    assert one == other
    assert hash(one) == hash(other)
    assert one != Float(0, 1)
    assert hash(Int(0, 1, log=False)) == hash(Int(0, 1))
    assert copy.deepcopy(one) == one
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301


def test_repr_shows_what_was_stated() -> None:
    parameter = Float(1e-6, 1, log=True, when={"booster": ["gbtree", "dart"], "depth": 3})
    assert repr(parameter) == "Float(1e-06, 1.0, log=True, when={'booster': ['gbtree', 'dart'], 'depth': 3})"
    assert eval(repr(parameter)) == parameter  # noqa: S307
    assert repr(Float(0, 1, step=0.5)) == "Float(0.0, 1.0, step=0.5)"
    assert repr(Int(1, 9, log=True)) == "Int(1, 9, log=True)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"low": 1, "high": 0}, "expected low <= high, got low=1.0, high=0.0; swap them"),
        ({"low": 0, "high": 1, "log": True}, "expected low > 0 with log=True, got low=0.0; raise low or drop log"),
        ({"low": -1, "high": 1, "log": True}, "expected low > 0 with log=True, got low=-1.0"),
        ({"low": 0, "high": math.inf}, "Float: high: expected a finite number, got inf"),
        ({"low": math.nan, "high": 1}, "Float: low: expected a finite number, got nan"),
        ({"low": False, "high": 1}, "Float: low: expected a finite number, got False"),
        ({"low": "0", "high": 1}, "Float: low: expected a finite number, got '0'"),
        ({"low": 0, "high": 1e200}, "between 1e-150 and 1e\\+150 in size, got 1e\\+200; use other units"),
        ({"low": 0, "high": 1e-200}, "between 1e-150 and 1e\\+150 in size, got 1e-200; use other units"),
        ({"low": 1, "high": 1 + 1e-12}, "at least 1e-09 of the larger bound.*search over the difference"),
        ({"low": 0, "high": 1, "log": 1}, "Float: log: expected True or False, got 1"),
        ({"low": 0, "high": 1, "step": 0}, "Float: step: expected a finite number > 0, got 0"),
        ({"low": 0, "high": 1, "step": -0.1}, "Float: step: expected a finite number > 0, got -0.1"),
        ({"low": 0, "high": 1, "step": True}, "Float: step: expected a finite number > 0, got True"),
        ({"low": 0, "high": 1, "step": 2}, "step to be at most high - low = 1.0, got step=2.0; make them equal"),
        ({"low": 0, "high": 1, "step": 1e-12}, "step to be at least 1e-09 of the larger bound.*leave step out"),
        ({"low": 1, "high": 2, "step": 0.1, "log": True}, "expected step or log=True, got both; drop one"),
    ],
)
def test_float_refuses(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Float(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"low": 3, "high": 1}, "Int: expected low <= high, got low=3, high=1; swap them"),
        ({"low": 0.5, "high": 3}, "expected low to be an integer of at most 10\\^12 in size, got 0.5"),
        ({"low": True, "high": 3}, "expected low to be an integer .* got True"),
        ({"low": 0, "high": 2**53}, "expected high to be an integer of at most 10\\^12 in size, got 9007199254740992"),
        ({"low": 0, "high": 10**400}, "expected high to be an integer"),
        ({"low": 0, "high": math.inf}, "expected high to be an integer .* got inf"),
        ({"low": 0, "high": 9, "log": True}, "expected low >= 1 with log=True, got low=0; raise low or drop log"),
        ({"low": 1, "high": 9, "log": "yes"}, "Int: log: expected True or False, got 'yes'"),
    ],
)
def test_int_refuses(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Int(**arguments)


SINGLE: list[tuple[Any, Any]] = [
    (Float(1, 1), 1.0),
    (Float(0, 0), 0.0),
    (Float(1 / 3, 1 / 3), 1 / 3),
    (Float(1e-149, 1e-149), 1e-149),
    (Float(0.1, 0.1, log=True), 0.1),
    (Float(0.1, 0.1, step=0.5), 0.1),
    (Int(3, 3), 3),
    (Int(3, 3, log=True), 3),
    (Categorical(["a"]), "a"),
]


@pytest.mark.parametrize(("parameter", "value"), SINGLE, ids=repr)
def test_a_parameter_of_one_value_is_part_of_every_trial_and_no_axis(parameter: Any, value: Any) -> None:
    space = Space(x=Float(0, 1), p=parameter)
    assert space.axes == ("x",)
    assert space.is_continuous
    assert space.from_unit([0.3]) == {"x": 0.3, "p": value}
    assert type(space.from_unit([0.3])["p"]) is type(value)
    assert space.to_unit({"x": 0.3, "p": value}).tolist() == [0.3]
    with pytest.raises(InvalidInput, match="parameter 'p': expected"):
        space.to_unit({"x": 0.3, "p": 7})
    assert Space.from_dict(space.to_dict()) == space
    assert Space(p=parameter).from_unit([0.9]) == {"p": value}, "alone it has an axis, because a search needs one"
    assert not Space(p=parameter).is_continuous
    given = Space(x=Float(0, 1), p=Context(parameter))
    assert given.axes == ("x", "p"), "a context is asked for in every trial"


def test_a_parameter_of_one_value_may_have_a_condition_and_be_one() -> None:
    space = Space(
        n=Int(2, 2), kind=Categorical(["a", "b"]), f=Float(1, 1, when={"kind": "a"}), x=Float(0, 1, when={"n": 2})
    )
    assert space.axes == ("kind", "x")
    assert space.from_unit([0.1, 0.5]) == {"n": 2, "kind": "a", "f": 1.0, "x": 0.5}
    assert space.from_unit([0.9, 0.5]) == {"n": 2, "kind": "b", "x": 0.5}


def test_float_reads_numbers_and_nothing_else() -> None:
    parameter = Float(0, 1)
    assert parameter.read([0, 0.5, np.float32(0.25), np.int8(1)]).tolist() == [0, 0.5, 0.25, 1]
    bad = [True, np.True_, "0.5", None, math.nan, -0.1, 1.1, math.inf, 10**400, [0.5]]
    assert np.isnan(parameter.read(bad)).all()
    assert np.isnan(parameter.read([10**400])).all()
    assert [type(value) for value in parameter.show(parameter.read([np.float32(0.25), 1]))] == [float, float]


def test_int_reads_integral_numbers() -> None:
    parameter = Int(1, 9)
    values = parameter.show(parameter.read([1, 3.0, np.int32(4), np.float64(9)]))
    assert values == [1, 3, 4, 9]
    assert {type(value) for value in values} == {int}
    assert np.isnan(parameter.read([0, 10, 2.5, True, "3", None, math.nan, math.inf])).all()


def test_steps_take_what_is_meant() -> None:
    parameter = Float(0, 1, step=0.1)
    assert parameter.show(parameter.read([0.1 + 0.2, 0.7, 1, 0])) == [0.3, 0.7, 1.0, 0.0]
    assert np.isnan(parameter.read([0.35, 1.1, -0.1, math.nan, 1e308, math.inf, "0.3"])).all()
    assert parameter.expected == "a number from 0.0 to 1.0 in steps of 0.1"


def test_the_top_of_the_steps_is_not_above_high() -> None:
    parameter = Float(0, 1, step=0.3)
    assert parameter.decode(np.array([1.0])).tolist() == [0.9]
    assert np.isnan(parameter.read([1.0])).all()


def test_negative_zero_is_zero() -> None:
    assert math.copysign(1, Float(-0.0, 1).low) == 1
    assert math.copysign(1, float(Float(-1, 1).decode(np.array([0.5 - 2**-54]))[0])) == 1
