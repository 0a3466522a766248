"""Categorical and Fixed: the user's objects, kept as they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.space import Categorical, Fixed
from quadrat.space.parameter import Value


def test_choices_come_back_as_they_were_given() -> None:
    choices: list[Value] = ["a", 1, 2.0, None, False, -math.inf]
    parameter = Categorical(choices)
    back = parameter.show(parameter.decode(parameter.encode(parameter.read(choices))))
    assert back == choices
    assert [type(value) for value in back] == [type(choice) for choice in choices]


def test_equal_values_find_the_choice_that_is_listed() -> None:
    assert Categorical([1, 5]).read([True, 1.0, np.int64(5)]).tolist() == [0, 0, 1]
    assert Categorical([True, False]).show(Categorical([True, False]).read([1, np.False_])) == [True, False]


def test_numpy_scalars_become_pythons() -> None:
    parameter = Categorical(np.array([2, 4]))  # type: ignore[arg-type]  # arrays are ordered collections too
    assert [type(choice) for choice in parameter.choices] == [int, int]


def test_what_is_no_choice_is_nan() -> None:
    assert np.isnan(Categorical(["a", "b"]).read(["c", None, [], {}, math.nan])).all()
    assert Categorical(["a", "b"]).read([[], "b"])[1] == 1
    assert np.isnan(Fixed(3).read([4, "3", []])).all()


def test_types_count_in_equality() -> None:
    assert Categorical([1, 0]) != Categorical([True, False])
    assert Categorical(["a", "b"]) == Categorical(("a", "b"))
    assert Categorical(["a", "b"]) != Categorical(["b", "a"])
    assert hash(Categorical(["a", "b"])) == hash(Categorical(("a", "b")))
    assert Fixed(1) != Fixed(True)
    assert Fixed(1) == Fixed(1)


def test_repr() -> None:
    assert repr(Categorical([1, 5], when={"a": 1})) == "Categorical((1, 5), when={'a': 1})"
    assert repr(Fixed(None)) == "Fixed(None)"


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ([], "expected at least one choice, got none"),
        ("abc", "expected choices as a list or tuple, got 'abc'"),
        ({"a", "b"}, "expected choices as a list or tuple"),
        (3, "expected choices as a list or tuple, got 3"),
        (["a", "b", "a"], "expected choices that differ, got 'a' and 'a', which are equal in Python; drop one"),
        ([1, True], "got 1 and True, which are equal in Python; drop one, or use strings"),
        ([1, 1.0], "got 1 and 1.0, which are equal"),
        ([(1, 2)], r"expected a str, int, float, bool or None, got \(1, 2\); name it with a string"),
        ([math.nan], "expected a value that equals itself, got nan; use None or a string"),
    ],
)
def test_categorical_refuses(choices: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Categorical(choices)


def test_fixed_refuses() -> None:
    with pytest.raises(InvalidInput, match="Fixed: value: expected a str, int, float, bool or None, got \\[1\\]"):
        Fixed([1])  # type: ignore[arg-type]  # that it is refused is what is tested
