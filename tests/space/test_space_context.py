"""Contexts: parameters that are given from outside."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.space import Categorical, Context, Fidelity, Fixed, Float, Int, Space
from quadrat.space.space import context_of, context_point

SITES = Space(
    dose=Float(0, 10), site=Context(Categorical(["north", "south"])), age=Context(Int(1, 4)), wet=Categorical([0, 1])
)


def test_a_context_is_the_same_parameter_with_a_mark() -> None:
    marked = Context(Float(1, 100, log=True))
    assert marked == Float(1, 100, log=True, context=True)
    assert marked != Float(1, 100, log=True)
    assert repr(marked) == "Float(1.0, 100.0, log=True, context=True)"
    assert SITES.contexts == ("site", "age")
    assert Space(x=Float(0, 1)).contexts == ()


def test_files_keep_the_mark() -> None:
    assert SITES.to_dict()["site"] == {"type": "categorical", "choices": ["north", "south"], "context": True}
    assert Space.from_dict(SITES.to_dict()) == SITES


def test_the_point_of_a_context_is_free_on_the_other_axes() -> None:
    point = context_point(SITES, {"age": 2, "site": "south"})
    assert point is not None
    assert np.array_equal(point, [math.nan, 0.75, 0.375, math.nan], equal_nan=True)
    assert context_of(SITES, {"dose": 1.0, "site": "north", "age": 4, "wet": 0}) == {"site": "north", "age": 4}
    assert context_point(Space(x=Float(0, 1)), None) is None


@pytest.mark.parametrize(
    ("context", "words"),
    [
        (None, "expected values of 'site', 'age', got none; give them as"),
        ("north", "expected a mapping with values of 'site', 'age', got 'north'"),
        ({"site": "north"}, "got none of 'age'"),
        ({"site": "west", "age": 1}, "'site': expected one of 'north', 'south', got 'west'"),
        ({"site": "north", "age": 1, "sites": 2}, r"got 'sites' \(did you mean 'site'\?\), which is no context"),
        ({"site": "north", "age": 1, "dose": 2}, "got 'dose', which is no context"),
    ],
)
def test_what_is_no_context_is_refused(context: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        context_point(SITES, context)


def test_a_context_for_a_space_without_any_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"no parameter of the space is marked with Context\(...\), got \{'a': 1\}"):
        context_point(Space(x=Float(0, 1)), {"a": 1})


def test_what_cannot_be_a_context() -> None:
    with pytest.raises(InvalidInput, match=r"expected a parameter, such as Context\(Categorical"):
        Context("site")  # type: ignore[type-var]
    with pytest.raises(InvalidInput, match="expected a Float, Int or Categorical, got Fixed"):
        Context(Fixed(1))
    with pytest.raises(InvalidInput, match="expected a Float, Int or Categorical, got Fidelity"):
        Context(Fidelity([1, 2], cost=[1, 2]))
    with pytest.raises(InvalidInput, match="a context is given in every trial; leave when out"):
        Float(0, 1, context=True, when={"a": 1})
    with pytest.raises(InvalidInput, match="context: expected True or False, got 1"):
        Float(0, 1, context=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="expected a parameter to choose beside contexts"):
        Space(site=Context(Int(1, 2)))
