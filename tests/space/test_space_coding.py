from __future__ import annotations

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.space import Categorical, Fixed, Float, Int
from quadrat.space.space import NEUTRAL, Coding


def coding() -> Coding:
    return Coding({
        "depth": Int(1, 4, when={"kind": "tree"}),
        "kind": Categorical(["tree", "line"]),
        "rate": Float(0.01, 1.0, log=True),
        "seed": Fixed(7),
    })  # fmt: skip


def test_axes_and_parents() -> None:
    assert coding().axis == {"depth": 0, "kind": 1, "rate": 2}
    assert coding().parents == {"kind"}


def test_what_is_encoded_is_decoded() -> None:
    points = [
        {"kind": "line", "rate": 0.1, "seed": 7},
        {"depth": 3, "kind": "tree", "rate": 1.0, "seed": 7},
    ]
    units = coding().encode(points, "params[{}]")
    assert units[0, 0] == NEUTRAL, "a parameter that does not exist"
    codes, exists = coding().decode(units)
    assert exists["depth"].tolist() == [False, True]
    assert exists["rate"].tolist() == exists["seed"].tolist() == [True, True]
    assert Int(1, 4).show(codes["depth"])[1] == 3
    assert np.allclose(Float(0.01, 1.0, log=True).show(codes["rate"]), [0.1, 1.0])


def test_existing_asks_parents_first() -> None:
    asked = []

    def value_of(name: str) -> list[object]:
        asked.append(name)
        return ["line"] if name == "kind" else []

    assert coding().existing(value_of) == ("kind", "rate", "seed")
    assert "depth" not in asked


def test_points_outside_the_cube_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"expected coordinates in \[0, 1\], got 1.5 in row 1 on axis 2 \('rate'\)"):
        coding().checked(np.array([[0, 0, 0], [0, 0, 1.5]]))
