"""The space: axes, both directions of the map, existence, and every refusal."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.randomness import generator
from quadrat.space import Categorical, Fixed, Float, Int, Parameter, Space

often = settings(derandomize=True, max_examples=100, deadline=None)

MIXED = Space(
    lr=Float(1e-6, 1, log=True),
    batch=Int(10, 500),
    booster=Categorical(["gbtree", "dart", "linear"]),
    device=Fixed("cpu"),
    depth=Int(1, 64, log=True, when={"booster": ["gbtree", "dart"]}),
    drop=Float(0, 0.9, step=0.1, when={"booster": "dart"}),
    warm=Float(-3, 7, when={"depth": [1, 2, 3], "booster": "gbtree"}),
    note=Fixed(1, when={"booster": "linear"}),
)
cube = st.lists(st.floats(0, 1), min_size=6, max_size=6)


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    """A space of up to six parameters; each may hang on an earlier one that can be a parent."""
    parameters: dict[str, Parameter] = {}
    for i in range(draw(st.integers(1, 6))):
        parents = [name for name, parameter in parameters.items() if not isinstance(parameter, Float)]
        hangs = bool(parents) and draw(st.booleans())
        when: dict[str, Any] | None = None
        if hangs:
            parent = draw(st.sampled_from(parents))
            whole = parameters[parent]
            u = np.array(draw(st.lists(st.floats(0, 1), min_size=1, max_size=3)))
            when = {parent: whole.show(whole.decode(u))}
        low = draw(st.integers(1, 100))
        high = low + draw(st.integers(1, 1000))
        parameters[f"p{i}"] = draw(
            st.sampled_from(
                [
                    Float(low / 7, high, log=True, when=when),
                    Float(-low, high / 3, when=when),
                    Float(low, high, step=0.1, when=when),
                    Int(low, high, when=when),
                    Int(low, high, log=True, when=when),
                    Categorical(["a", None, 2, 2.5, True], when=when),
                    Fixed(low, when=when) if i else Int(0, 3),
                ]
            )
        )
    return Space(**parameters)


@often
@given(spaces(), st.integers(0, 10**6))
def test_what_comes_from_the_cube_comes_back_bit_for_bit(space: Space, seed: int) -> None:
    """The map from . to . from is from, and `round` is to . from, idempotent, the same for one point as for many."""
    u = generator(seed).random((7, space.dimension))
    u[0], u[1] = 0, 1
    params = space.from_units(u)
    back = space.to_units(params)
    again = space.from_units(back)
    assert again == params
    assert [[type(v) for v in p.values()] for p in again] == [[type(v) for v in p.values()] for p in params]
    assert np.array_equal(space.round(u), back)
    assert np.array_equal(space.round(back), back)
    for point, row, param in zip(u, back, params, strict=True):
        assert space.from_unit(point) == param
        assert np.array_equal(space.to_unit(param), row)
        assert np.array_equal(space.round(point), row)
        assert space.active(param) == tuple(param)


@often
@given(spaces())
def test_plain_data_round_trips(space: Space) -> None:
    assert Space.from_dict(space.to_dict()) == space
    assert hash(Space.from_dict(space.to_dict())) == hash(space)
    assert eval(repr(space)) == space  # noqa: S307


@often
@given(cube)
def test_existence_follows_the_conditions(u: list[float]) -> None:
    params = MIXED.from_unit(u)
    booster = params["booster"]
    assert ("depth" in params) == (booster != "linear")
    assert ("drop" in params) == (booster == "dart")
    assert ("warm" in params) == (booster == "gbtree" and params["depth"] <= 3)
    assert ("note" in params) == (booster == "linear")
    assert params["device"] == "cpu"
    assert list(params) == [name for name in MIXED if name in params]
    rounded = MIXED.round(u)
    for name in MIXED.axes:
        if name not in params:
            assert rounded[MIXED.axes.index(name)] == 0.5


def test_names_axes_and_mapping() -> None:
    assert MIXED.names == ("lr", "batch", "booster", "device", "depth", "drop", "warm", "note")
    assert MIXED.axes == ("lr", "batch", "booster", "depth", "drop", "warm")
    assert MIXED.dimension == 6
    assert len(MIXED) == 8
    assert list(MIXED) == list(MIXED.names)
    assert MIXED["device"] == Fixed("cpu")
    assert "nothing" not in MIXED


def test_equality_counts_the_order_of_axes() -> None:
    a, b = Float(0, 1), Int(0, 1)
    assert Space(a=a, b=b) == Space(a=a, b=b)
    assert Space(a=a, b=b) != Space(b=b, a=a)
    assert Space(a=a) != {"a": a}
    assert len({Space(a=a), Space(a=a), Space(b=a)}) == 2


def test_immutable_and_copied() -> None:
    with pytest.raises(AttributeError, match="a Space is immutable: cannot set 'names'; make a new one"):
        MIXED.names = ()  # type: ignore[misc]  # that it fails is what is tested
    assert copy.deepcopy(MIXED) == MIXED


def test_repr_of_names_that_are_no_identifiers() -> None:
    space = Space.from_dict({"batch-size": Int(1, 2), "self": Float(0, 1)})
    assert repr(space) == "Space.from_dict({'batch-size': Int(1, 2), 'self': Float(0.0, 1.0)})"
    assert space.from_unit([0, 0]) == {"batch-size": 1, "self": 0.0}


def test_continuity() -> None:
    assert Space(a=Float(0, 1), b=Float(1, 2, log=True), c=Fixed(1)).is_continuous
    assert MIXED.discontinuous == ("batch", "booster", "depth", "drop", "warm")
    assert not MIXED.is_continuous


@pytest.mark.parametrize("params", [{}, {"a": Fixed(1)}])
def test_something_must_vary(params: dict[str, Parameter]) -> None:
    with pytest.raises(InvalidInput, match="space: expected at least one parameter that can vary"):
        Space(**params)


def test_only_parameters() -> None:
    with pytest.raises(
        InvalidInput, match=r"parameter 'a': expected a Float, .* got 3; a plain value goes in as Fixed"
    ):
        Space(a=3)  # type: ignore[arg-type]  # that it is refused is what is tested
    with pytest.raises(InvalidInput, match="expected a mapping from names to parameters, got 3"):
        Space.from_dict(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="expected non-empty strings as names of parameters, got ''"):
        Space.from_dict({"": Float(0, 1)})


VALID: dict[str, Any] = {"lr": 0.1, "batch": 32, "booster": "dart", "device": "cpu", "depth": 3, "drop": 0.3}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lrr": 1}, r"params: unknown parameter 'lrr' \(did you mean 'lr'\?\); the space has lr, batch"),
        ({1: 1}, "params: unknown parameter 1"),
        ({"lr": 2}, "params: parameter 'lr': expected a number from 1e-06 to 1.0, got 2"),
        ({"lr": True}, "params: parameter 'lr': expected a number from 1e-06 to 1.0, got True"),
        ({"lr": math.nan}, "got nan"),
        ({"batch": 32.5}, "params: parameter 'batch': expected an integer from 10 to 500, got 32.5"),
        ({"booster": "tree"}, "parameter 'booster': expected one of 'gbtree', 'dart', 'linear', got 'tree'"),
        ({"booster": ["dart"]}, "parameter 'booster': expected one of .* got \\['dart'\\]"),
        ({"device": "gpu"}, "parameter 'device': expected 'cpu', got 'gpu'"),
        ({"drop": 0.35}, "parameter 'drop': expected a number from 0.0 to 0.9 in steps of 0.1, got 0.35"),
        ({"drop": ...}, "params: expected a value for 'drop', a number .* got only lr, batch, booster, device, depth"),
        ({"device": ...}, "params: expected a value for 'device', 'cpu', got only"),
        (
            {"note": 1},
            "params: 'note' exists only when booster = 'linear', got booster = 'dart'; leave 'note' out",
        ),
        (
            {"booster": "linear", "depth": ..., "drop": ..., "note": 1, "warm": 2},
            "'warm' exists only when depth = 1 or 2 or 3 and booster = 'gbtree', got no depth, booster = 'linear'",
        ),
    ],
)
def test_params_refused(changes: dict[Any, Any], message: str) -> None:
    params = {name: value for name, value in (VALID | changes).items() if value is not ...}
    with pytest.raises(InvalidInput, match=message):
        MIXED.to_unit(params)
    with pytest.raises(InvalidInput, match=message.replace("params:", r"params\[1\]:")):
        MIXED.to_units([VALID, params])


def test_no_mapping_is_refused() -> None:
    with pytest.raises(InvalidInput, match="params: expected a mapping from names to values, got 3"):
        MIXED.to_unit(3)  # type: ignore[arg-type]  # that it is refused is what is tested


def test_active_needs_only_the_parents() -> None:
    assert MIXED.active({"booster": "linear"}) == ("lr", "batch", "booster", "device", "note")
    assert MIXED.active({"booster": "gbtree", "depth": 2})[-2:] == ("depth", "warm")
    with pytest.raises(InvalidInput, match=r"params: expected a value for 'depth', an integer .* got only booster"):
        MIXED.active({"booster": "gbtree"})
    with pytest.raises(InvalidInput, match=r"params: expected a value for 'booster', .* got nothing"):
        MIXED.active({})
    with pytest.raises(InvalidInput, match=r"parameter 'booster': expected one of .* got 'tree'"):
        MIXED.active({"booster": "tree"})


@pytest.mark.parametrize(
    ("u", "message"),
    [
        ([0.5] * 5, "u: expected 6 entries, got 5"),
        ([0.5] * 5 + [1.5], r"u: expected coordinates in \[0, 1\], got 1.5 in row 0 on axis 5 \('warm'\); clip"),
        ([0.5] * 5 + [math.nan], "u: expected finite numbers"),
    ],
)
def test_points_refused(u: list[float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        MIXED.from_unit(u)


def test_one_dimension_and_no_points() -> None:
    space = Space(x=Float(0, 1))
    assert space.from_units([0.1, 0.2]) == [{"x": 0.1}, {"x": 0.2}]
    assert space.round([0.1, 0.2]).shape == (2,)
    assert space.round([0.1]).shape == (1,)
    assert space.to_units([]).shape == (0, 1)
    assert space.to_units({"x": x} for x in (0.1, 0.2)).tolist() == [[0.1], [0.2]]
    assert space.from_units(np.empty((0, 1))) == []


def test_inputs_are_left_alone() -> None:
    u: Array = np.full((3, 6), 0.123)
    MIXED.round(u)
    MIXED.from_units(u)
    assert (u == 0.123).all()


def test_sample_is_uniform_on_the_cube_and_keyed_by_the_generator() -> None:
    """1000 draws of 3 equal bins: within 5 standard deviations (15) of 333."""
    drawn = MIXED.sample(1000, generator(3))
    assert drawn == MIXED.sample(1000, generator(3))
    assert drawn == MIXED.from_units(generator(3).random((1000, 6)))
    for choice in ("gbtree", "dart", "linear"):
        assert abs(sum(p["booster"] == choice for p in drawn) - 333) < 75
    assert MIXED.sample(0, generator(3)) == []


@pytest.mark.parametrize(("n", "rng"), [(1, 3), (-1, generator(0)), (1.5, generator(0))])
def test_sample_refuses(n: Any, rng: Any) -> None:
    with pytest.raises(InvalidInput, match=r"rng: expected a numpy|n: expected a non-negative integer"):
        MIXED.sample(n, rng)


def test_the_design_example() -> None:
    space = Space(lr=Float(1e-6, 1.0, log=True), batch_size=Int(10, 500), kernel=Categorical([1, 5, 9]))
    params = {"lr": 0.003, "batch_size": 128, "kernel": 5}
    assert space.from_unit(space.to_unit(params)) == params
    assert space.from_unit([0.5, 0.5, 0.5]) == {"lr": 0.001, "batch_size": 255, "kernel": 5}


def test_a_mapping_gives_names_that_are_no_identifiers() -> None:
    wanted = {"learning rate": Float(0, 1), "a-b": Int(1, 3)}
    assert Space(wanted) == Space.from_dict(wanted) == Space(**wanted)
    assert list(Space(parameters=Float(0, 1), by_name=Int(1, 2))) == ["parameters", "by_name"]


@pytest.mark.parametrize(
    ("given", "more"), [([1], {}), ({"": Float(0, 1)}, {}), ({1: Float(0, 1)}, {}), ({}, {"x": Float(0, 1)})]
)
def test_what_is_no_mapping_of_names_is_refused(given: Any, more: Any) -> None:
    with pytest.raises(
        InvalidInput, match=r"^space: expected parameters by keyword, or one mapping with non-empty names"
    ):
        Space(given, **more)
