"""Fidelity: levels and what they cost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.space import Fidelity, Float, Space

EPOCHS = Fidelity([5, 25, 100], cost=[1, 4.5, 20])


def test_levels_come_back_as_they_were_given() -> None:
    back = EPOCHS.show(EPOCHS.decode(EPOCHS.encode(EPOCHS.read([100, 5.0, np.int64(25)]))))
    assert back == [100, 5, 25]
    assert all(type(level) is int for level in back)
    assert np.isnan(EPOCHS.read([50, True, "5", None, math.nan])).all()
    assert EPOCHS.encode(np.array([0.0, 1.0, 2.0])) == pytest.approx([1 / 6, 1 / 2, 5 / 6])
    assert EPOCHS.target == 100
    assert [EPOCHS.cost_of(level) for level in (5, 25, 100)] == [1.0, 4.5, 20.0]


def test_spaces_and_files() -> None:
    space = Space(x=Float(0, 1), epochs=EPOCHS)
    assert space.fidelity == "epochs"
    assert Space(x=Float(0, 1)).fidelity is None
    assert space.to_dict()["epochs"] == {"type": "fidelity", "levels": [5, 25, 100], "cost": [1.0, 4.5, 20.0]}
    assert Space.from_dict(space.to_dict()) == space
    assert space.discontinuous == ("epochs",)


@pytest.mark.parametrize(
    ("levels", "cost", "words"),
    [
        ([1], [1], "expected two or more levels that differ, got"),
        ([1, 1], [1, 2], "expected two or more levels that differ, got"),
        ([1, 2], [1], r"expected cost=\[...\] with 2 numbers, one a level, got"),
        ([1, 2], [2, 1], "expected costs > 0 that ascend"),
        ([1, 2], [0, 1], "expected costs > 0 that ascend"),
        ([1, 2], [1, 1], "expected costs > 0 that ascend"),
        ("12", [1, 2], "expected levels as a list of numbers, got '12'"),
        ([1, 2], 3, "expected cost as a list of numbers, got 3"),
        ([1, "b"], [1, 2], "levels"),
        ([1, math.inf], [1, 2], "levels"),
    ],
)
def test_what_is_no_fidelity_is_refused(levels: Any, cost: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Fidelity(levels, cost=cost)


def test_one_fidelity_and_something_to_choose() -> None:
    with pytest.raises(InvalidInput, match="expected at most one Fidelity, got a, b; combine their levels"):
        Space(x=Float(0, 1), a=EPOCHS, b=EPOCHS)
    with pytest.raises(InvalidInput, match="expected a parameter to choose beside contexts and fidelity"):
        Space(a=EPOCHS)
    with pytest.raises(InvalidInput, match="expected no condition"):
        Fidelity([1, 2], cost=[1, 2], when={"kind": "a"})
    with pytest.raises(InvalidInput, match=r"expected cost=\[...\] with 2 numbers, one a level, got \(\)"):
        Fidelity([1, 2])
