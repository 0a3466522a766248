"""Optuna's distributions as a space, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from quadrat.space import Categorical, Float, Int
from quadrat.studies.distributions import DistributionSpace, distribution_of, parameter_of

DISTRIBUTIONS: dict[str, BaseDistribution] = {
    "float": FloatDistribution(-2.5, 7.0),
    "log": FloatDistribution(1e-7, 1e3, log=True),
    "step": FloatDistribution(-1.0, 1.0, step=0.25),
    "decimal step": FloatDistribution(0.0, 1.0, step=0.1),
    "odd step": FloatDistribution(0.0, 0.9, step=0.3),
    "int": IntDistribution(-3, 12),
    "int log": IntDistribution(1, 1000, log=True),
    "int step": IntDistribution(5, 47, step=7),
    "choices": CategoricalDistribution(["a", "b", None]),
    "equal choices": CategoricalDistribution([1, True, 1.0, "1", None]),
}


@pytest.mark.parametrize("name", [name for name in DISTRIBUTIONS if name != "equal choices"])
def test_whatever_is_shown_is_in_the_distribution_and_is_read_as_it_was(name: str) -> None:
    distribution = DISTRIBUTIONS[name]
    space = DistributionSpace({"p": distribution})
    for u in np.linspace(0, 1, 101):
        inside = space.space.from_unit(space.space.round(np.array([u])))
        shown = space.show(inside)
        assert distribution._contains(distribution.to_internal_repr(shown["p"]))
        assert space.read(shown) == inside


@pytest.mark.parametrize(
    ("name", "all_of_them"),
    [
        ("int step", [5, 12, 19, 26, 33, 40, 47]),
        ("int", list(range(-3, 13))),
        ("step", [-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0]),
        ("decimal step", [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]),
        ("odd step", [0.0, 0.3, 0.6, 0.9]),
        ("choices", ["a", "b", None]),
    ],
)
def test_every_value_can_be_shown(name: str, all_of_them: list[Any]) -> None:
    space = DistributionSpace({"p": DISTRIBUTIONS[name]})
    units = np.linspace(0, 1, 997)[:, None]
    shown = [space.show(params)["p"] for params in space.space.from_units(units)]
    assert [value for value in all_of_them if value not in shown] == []
    assert {value for value in shown if value not in all_of_them} == set()


def test_of_several_equal_choices_the_first_is_searched() -> None:
    """Optuna reads each of them as the first: a trial that was given another has that one."""
    space = DistributionSpace({"p": DISTRIBUTIONS["equal choices"]})
    assert space.space["p"] == Categorical((0, 3, 4))
    shown = {space.show(params)["p"] for params in space.space.from_units(np.linspace(0, 1, 97)[:, None])}
    assert shown == {1, "1", None}
    assert space.read({"p": "1"}) == {"p": 3}
    assert space.read({"p": True}) == {"p": 0}
    assert parameter_of(CategoricalDistribution([0, False, 0.0])) == Categorical((0,))


@pytest.mark.parametrize(
    ("name", "value"),
    [("float", 7.5), ("float", "a"), ("int", 13), ("int step", 6), ("choices", "c"), ("log", 0.0), ("log", None)],
)
def test_what_is_outside_is_not_read(name: str, value: object) -> None:
    assert DistributionSpace({"p": DISTRIBUTIONS[name]}).read({"p": value}) is None


def test_a_trial_without_all_parameters_is_not_read_and_others_do_not_matter() -> None:
    space = DistributionSpace({"b": FloatDistribution(0, 1), "a": IntDistribution(0, 3)})
    assert space.read({"a": 1}) is None
    assert space.read({"a": 1, "b": 0.5, "c": "else"}) == {"a": 1, "b": 0.5}


def test_the_order_of_names_does_not_matter() -> None:
    one = DistributionSpace({"b": FloatDistribution(0, 1), "a": IntDistribution(0, 3)})
    other = DistributionSpace({"a": IntDistribution(0, 3), "b": FloatDistribution(0, 1)})
    assert one.space.names == other.space.names == ("a", "b")


def test_kinds() -> None:
    assert parameter_of(FloatDistribution(0, 1)) == Float(0, 1)
    assert parameter_of(FloatDistribution(0.1, 1, log=True)) == Float(0.1, 1, log=True)
    assert parameter_of(IntDistribution(1, 9, log=True)) == Int(1, 9, log=True)
    assert parameter_of(IntDistribution(1, 9, step=2)) == Int(1, 9, step=2)
    assert parameter_of(CategoricalDistribution(["x", "y"])) == Categorical((0, 1))


def test_bounds_that_no_unit_coordinate_tells_apart_have_no_parameter() -> None:
    assert parameter_of(FloatDistribution(1e300, 1.1e300)) is None
    assert parameter_of(FloatDistribution(1.0, 1.0 + 1e-15)) is None


def test_steps_go_both_ways() -> None:
    """Optuna warns of a bound that no step reaches, so that it is given the last value."""
    assert distribution_of(Int(5, 48, step=7)) == IntDistribution(5, 47, step=7)
    assert distribution_of(Float(0, 1, step=0.3)) == FloatDistribution(0, 0.9, step=0.3)
    for distribution in (IntDistribution(5, 47, step=7), FloatDistribution(0, 0.9, step=0.3), IntDistribution(3, 3)):
        parameter = parameter_of(distribution)
        assert parameter is not None
        assert distribution_of(parameter) == distribution
