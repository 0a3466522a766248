"""All points of finite spaces, and only of those."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.methods.base import Axis, Domain
from quadrat.methods.ucb.ucb1 import arms_of, finite_arms
from quadrat.optimizer.run import domain_of
from quadrat.space import Categorical, Float, Int, Space


def parameters(space: Space) -> list[dict[str, object]]:
    return [space.from_unit(arm) for arm in arms_of(domain_of(space))]


def test_every_combination_once() -> None:
    space = Space(n=Int(1, 4), kind=Categorical(["a", "b"]), step=Float(0, 1, step=0.25))
    found = parameters(space)
    assert len(found) == 4 * 2 * 5
    assert len({tuple(some.values()) for some in found}) == 40


def test_what_does_not_exist_is_one_arm() -> None:
    space = Space(kind=Categorical(["a", "b"]), depth=Int(1, 9, when={"kind": "a"}))
    found = parameters(space)
    assert [some.get("depth") for some in found if some["kind"] == "a"] == list(range(1, 10))
    assert [some for some in found if some["kind"] == "b"] == [{"kind": "b"}]


def test_only_what_is_feasible() -> None:
    space = Space(a=Int(1, 5), b=Int(1, 5)).subject_to(lambda params: params["a"] + params["b"] <= 4)
    assert {(some["a"], some["b"]) for some in parameters(space)} == {(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1)}


@pytest.mark.parametrize("count", [33, 100, 700])
def test_integers_too_many_to_be_listed_are_found_by_rounding(count: int) -> None:
    space = Space(n=Int(1, count))
    assert domain_of(space).axes[0].values is None
    assert [some["n"] for some in parameters(space)] == list(range(1, count + 1))


def test_many_integers_that_exist_only_sometimes() -> None:
    space = Space(kind=Categorical(["a", "b", "c"]), depth=Int(1, 60, when={"kind": "c"}))
    assert len(parameters(space)) == 62


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (Space(x=Float(0, 1)), "got 'x', which is continuous"),
        (Space(n=Int(1, 3), x=Float(0, 1)), "got 'x', which is continuous"),
        (Space(n=Int(1, 10**6)), "values too close to list"),
        (Space(n=Int(1, 1000, log=True)), "values too close to list"),
        (Space(a=Int(1, 101), b=Int(1, 100)), "expected at most 10000 points, got 10100"),
        (Space(a=Int(1, 900), b=Int(1, 900)), "expected at most 10000 points, got 810000"),
        (Space(a=Int(1, 3)).subject_to(lambda params: params["a"] > 5), "expected at least one feasible point"),
    ],
)
def test_refusals(space: Space, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        arms_of(domain_of(space))
    assert finite_arms(domain_of(space)) is None


def test_no_integer_is_missed_on_a_logarithmic_scale() -> None:
    """Where the probes could have jumped over a bin, the space is refused; where not, every value is there."""
    for count in (40, 80, 150, 300, 600):
        arms = finite_arms(domain_of(Space(n=Int(1, count, log=True))))
        assert arms is None or len(arms) == count
    assert finite_arms(domain_of(Space(n=Int(1, 150, log=True)))) is not None


def test_the_order_is_that_of_the_values() -> None:
    def rounded(points: Array) -> Array:
        return np.where(points < 0.5, 0.25, 0.75)

    arms = arms_of(Domain((Axis((0.25, 0.75)), Axis((0.25, 0.75))), rounded))
    assert arms.tolist() == [[0.25, 0.25], [0.25, 0.75], [0.75, 0.25], [0.75, 0.75]]
