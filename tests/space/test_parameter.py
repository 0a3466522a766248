"""Conditions by themselves; what they mean in a space is tested with `Space`."""

from __future__ import annotations

from typing import Any

import pytest

from quadrat.errors import InvalidInput
from quadrat.space import Float
from quadrat.space.parameter import When


def test_values_single_or_several() -> None:
    when = When({"a": "x", "b": [1, 2, 2], "c": {"v", "u"}, "d": range(2), "e": None})
    assert dict(when) == {"a": ("x",), "b": (1, 2), "c": ("u", "v"), "d": (0, 1), "e": (None,)}
    assert when.to_dict() == {"a": "x", "b": [1, 2], "c": ["u", "v"], "d": [0, 1], "e": None}
    assert str(When({"a": "x", "b": [1, 2]})) == "a = 'x' and b = 1 or 2"


def test_equality_ignores_order() -> None:
    assert When({"a": [1, 2], "b": 3}) == When({"b": [3], "a": (2, 1)})
    assert hash(When({"a": [1, 2]})) == hash(When({"a": [2, 1]}))
    assert When({"a": 1}) != When({"a": 2})
    assert When({"a": 1}) != {"a": (1,)}


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ({}, "when: expected the parents' names with the values that they must have"),
        ("booster", "when: expected the parents' names .* got 'booster'"),
        ({"a": []}, "when: expected at least one value of 'a', got none"),
        ({1: "x"}, "when: expected the name of a parent parameter, got 1"),
        ({"a": {"b": 1}}, "when, value of 'a': expected a str, int, float, bool or None"),
        ({"a": float("nan")}, "when, value of 'a': expected a value that equals itself"),
    ],
)
def test_refused(when: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Float(0, 1, when=when)
