"""Conditions against their parents."""

from __future__ import annotations

import pytest

from quadrat.errors import InvalidInput
from quadrat.space import Categorical, Fixed, Float, Int, Parameter, Space


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"boosetr": Categorical(["x"]), "a": Float(0, 1, when={"booster": "x"})},
            r"parameter 'a', when: .* got 'booster' \(did you mean 'boosetr'\?\); the space has boosetr, a",
        ),
        (
            {"b": Float(0, 1), "a": Float(0, 1, when={"b": 0.5})},
            "parameter 'a', when: expected a Categorical, Int or Fixed parent, got 'b', a Float",
        ),
        (
            {"b": Categorical(["x", "y"]), "a": Float(0, 1, when={"b": ["x", "z"]})},
            "expected values that 'b' can take, one of 'x', 'y', got 'z'",
        ),
        ({"b": Int(1, 3), "a": Float(0, 1, when={"b": 4})}, "an integer from 1 to 3, got 4"),
        ({"b": Fixed(1), "a": Float(0, 1, when={"b": 2})}, "expected values that 'b' can take, 1, got 2"),
        ({"a": Int(1, 3, when={"a": 1})}, "expected conditions without a cycle, got a -> a; drop one"),
        (
            {"a": Int(1, 3, when={"b": 1}), "b": Int(1, 3, when={"c": 1}), "c": Int(1, 3, when={"a": 1})},
            "expected conditions without a cycle, got a -> b -> c -> a",
        ),
    ],
)
def test_refused(parameters: dict[str, Parameter], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Space(**parameters)


def test_parents_may_come_after_their_children() -> None:
    space = Space(child=Int(1, 2, when={"parent": "x"}), parent=Categorical(["x", "y"]))
    assert space.axes == ("child", "parent")
    assert space.from_unit([0.9, 0.9]) == {"parent": "y"}
    assert list(space.from_unit([0.9, 0.1])) == ["child", "parent"]
