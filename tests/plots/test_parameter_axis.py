"""Parameters as axes of figures."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from quadrat.plots.parameter_axis import axes_of
from quadrat.space import Categorical, Fidelity, Fixed, Float, Int, Space

SPACE = Space(
    x=Float(-1, 3),
    rate=Float(1e-4, 1, log=True),
    n=Int(2, 5),
    big=Int(1, 1000, log=True),
    grid=Float(0, 1, step=0.25),
    tens=Int(5, 48, step=10),
    size=Categorical(["S", "M", "L"], ordered=True),
    kind=Categorical(["b", "a", 3, None]),
    level=Fidelity([10, 90], cost=[1, 2]),
    same=Fixed("value"),
)
AXES = {axis.name: axis for axis in axes_of(SPACE)}


def test_every_varying_parameter_has_an_axis() -> None:
    assert list(AXES) == ["x", "rate", "n", "big", "grid", "tens", "size", "kind", "level"]


@pytest.mark.parametrize("name", ["x", "rate", "n", "big", "grid", "tens"])
def test_numbers_lie_at_their_values(name: str) -> None:
    axis, units = AXES[name], np.random.default_rng(0).random((20, SPACE.dimension))
    values = [params[name] for params in SPACE.from_units(units)]
    assert axis.at(units[:, axis.index]).tolist() == values


@pytest.mark.parametrize("name", ["n", "big", "grid", "tens", "size", "kind", "level"])
def test_edges_lie_between_neighbouring_values(name: str) -> None:
    # The edge at which the decoded value changes, found by bisection, is half-way between the two values.
    axis = AXES[name]
    grid = axis.grid(8)
    for low, high in pairwise(grid.tolist()):
        a, b = axis.at(np.array([low, high]))
        if name == "big" and b - a > 1:
            continue  # only some of the integers are in the grid
        left, right = low, high
        for _ in range(60):
            middle = (left + right) / 2
            left, right = (middle, right) if axis.at(np.array([middle]))[0] == a else (left, middle)
        assert axis.edge(np.array([left]))[0] == pytest.approx((a + b) / 2, rel=1e-9)


def test_edges_of_continuous_axes_are_values() -> None:
    units = np.linspace(0, 1, 7)
    for name in ("x", "rate"):
        assert np.allclose(AXES[name].edge(units), AXES[name].at(units), rtol=1e-12)


def test_choices_keep_their_order_and_are_plain_text() -> None:
    layout = AXES["kind"].layout()
    assert layout["ticktext"] == ["b", "a", "3", "None"]
    assert layout["tickvals"] == [0, 1, 2, 3]
    assert layout["range"] == [-0.5, 3.5]
    assert AXES["level"].layout()["ticktext"] == ["10", "90"]
    odd = axes_of(Space.from_dict({"<i>x</i>": Categorical(["<b>", "$y$"])}))[0]
    assert odd.layout()["title_text"] == "&lt;i&gt;x&lt;/i&gt;"
    assert odd.layout()["ticktext"] == ["&lt;b&gt;", "&#36;y&#36;"]


def test_log_axes_are_logarithmic_and_hold_their_bounds() -> None:
    layout = AXES["rate"].layout()
    assert layout["type"] == "log"
    assert layout["dtick"] == 1
    low, high = layout["range"]
    assert -4.2 < low < -4
    assert 0 < high < 0.2
    assert "type" not in AXES["x"].layout()
    assert AXES["n"].layout()["tickvals"] == [2, 3, 4, 5]


def test_grids_show_all_values_where_these_are_few() -> None:
    assert AXES["n"].at(AXES["n"].grid(50)).tolist() == [2, 3, 4, 5]
    assert AXES["kind"].at(AXES["kind"].grid(50)).tolist() == [0, 1, 2, 3]
    big = AXES["big"].at(AXES["big"].grid(20))
    assert len(big) == 20
    assert (big[0], big[-1]) == (1, 1000)
    assert len(AXES["x"].grid(11)) == 11
    assert np.isnan(AXES["x"].at(np.array([np.nan, 0.5]))).tolist() == [True, False]


def test_lines_join_choices_that_have_an_order() -> None:
    assert [name for name, axis in AXES.items() if axis.is_unordered] == ["kind", "level"]
    assert AXES["size"].layout()["ticktext"] == ["S", "M", "L"]
    assert AXES["tens"].layout()["tickvals"] == [5, 15, 25, 35, 45]
