"""From a space to a domain, and what the optimizer hands to a search: its domain, and failures as they come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.methods.base import Axis, Domain, Incumbent, Method, MethodFacts, Observation, Proposal, Search
from quadrat.optimizer import FAILED, Optimizer
from quadrat.optimizer.run import domain_of
from quadrat.randomness import generator
from quadrat.space import Categorical, Fixed, Float, Int, Space
from quadrat.space.parameter import Parameter

PLAIN = Space(x=Float(0, 1), device=Fixed("cpu"), rate=Float(1e-4, 1, log=True))
MIXED = Space(x=Float(0, 1), n=Int(1, 6), step=Float(0, 1, step=0.25), kind=Categorical(["a", "b", "c"]))
CONDITIONAL = Space(
    kind=Categorical(["a", "b", "c"]),
    depth=Int(1, 4, when={"kind": "a"}),
    inner=Categorical([1, 2, 3, 4], when={"kind": ["a", "b"]}),
    x=Float(0, 1, when={"depth": [1, 2]}),
    flag=Categorical([True, False]),
)
SPACES = {"plain": PLAIN, "mixed": MIXED, "conditional": CONDITIONAL}


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        (Int(1, 2), [1, 2]),
        (Int(-3, 28), list(range(-3, 29))),
        (Int(1, 32, log=True), list(range(1, 33))),
        (Int(1_000_000, 1_000_020, log=True), list(range(1_000_000, 1_000_021))),
        (Float(0, 1, step=0.1), [round(0.1 * i, 1) for i in range(11)]),
        (Float(0, 1, step=0.3), [0.0, 0.3, 0.6, 0.9]),
        (Categorical(["a", None, 3]), ["a", None, 3]),
        (Categorical(list(range(60))), list(range(60))),
        (Categorical(["a"]), ["a"]),
    ],
    ids=repr,
)
def test_the_values_of_an_axis_are_the_coordinates_of_all_values(parameter: Parameter, values: list[Any]) -> None:
    (axis,) = domain_of(Space(p=parameter)).axes
    assert axis.values == tuple(np.sort(parameter.encode(parameter.read(values))).tolist())
    assert axis.ordered is not isinstance(parameter, Categorical)


@pytest.mark.parametrize(
    "parameter",
    [
        Float(0, 1),
        Float(1e-9, 1, log=True),
        Float(1, 1 + 1e-8),
        Int(1, 33),
        Int(1, 10**12, log=True),
        Float(0, 9, step=0.01),
    ],
    ids=repr,
)
def test_more_values_than_a_few_are_a_continuum(parameter: Parameter) -> None:
    assert domain_of(Space(p=parameter)).axes == (Axis(),)


def test_a_plain_space_is_the_cube() -> None:
    domain = domain_of(PLAIN)
    assert domain.axes == Domain.cube(2).axes
    assert (domain.round, domain.exists, domain.feasible) == (None, None, None)


@pytest.mark.parametrize("name", SPACES)
def test_rounding_is_that_of_the_space(name: str) -> None:
    """And every rounded coordinate is one of its axis's values, where the parameter exists."""
    space = SPACES[name]
    domain, points = domain_of(space), generator(0).random((60, space.dimension))
    rounded = domain.rounded(points)
    np.testing.assert_allclose(rounded, space.round(points), atol=1e-12)
    there = space.exists(rounded)
    for i, axis in enumerate(domain.axes):
        if axis.values is not None:
            assert set(rounded[there[:, i], i]) <= set(axis.values)


@pytest.mark.parametrize("name", SPACES)
def test_an_axis_exists_where_its_parameter_does(name: str) -> None:
    space = SPACES[name]
    points = generator(1).random((60, space.dimension))
    wanted = [[axis in params for axis in space.axes] for params in space.from_units(points)]
    np.testing.assert_array_equal(space.exists(points), wanted)
    assert space.exists(np.empty((0, space.dimension))).shape == (0, space.dimension)
    if name == "conditional":
        np.testing.assert_array_equal(domain_of(space).exists(points), wanted)  # type: ignore[misc]


def test_features_tell_parameters_apart_and_nothing_else() -> None:
    """Two points have equal features if and only if they have equal parameters."""
    space = Space(kind=CONDITIONAL["kind"], depth=CONDITIONAL["depth"], inner=CONDITIONAL["inner"])
    domain, points = domain_of(space), generator(2).random((400, 3))
    rounded = domain.rounded(points)
    features = [row.tobytes() for row in domain.features(rounded)]
    params = [repr(row) for row in space.from_units(points)]
    pairs = set(zip(params, features, strict=True))
    assert len(set(params)) == len(set(features)) == len(pairs) == 4 * 4 + 4 + 1


def test_any_two_choices_are_equally_far_apart() -> None:
    domain = domain_of(MIXED)
    rows = [{"x": 0.2, "n": 3, "step": 0.25, "kind": kind} for kind in "abc"]
    features = domain.features(MIXED.to_units(rows))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert np.linalg.norm(features[i] - features[j]) == pytest.approx(1.0)


def test_neighbours_change_one_parameter() -> None:
    domain = domain_of(MIXED)
    for u in MIXED.round(generator(3).random((20, 4))):
        here = MIXED.from_unit(u)
        for other in MIXED.from_units(domain.neighbours(u, generator(4))):
            (changed,) = [name for name in here if here[name] != other[name]]
            assert changed != "x"
            if changed in ("n", "step"):
                assert abs(other[changed] - here[changed]) == pytest.approx(1 if changed == "n" else 0.25)


def test_neighbours_where_parameters_come_and_go() -> None:
    """One parameter changes among those on both sides; others may begin or cease to exist with it."""
    domain = domain_of(CONDITIONAL)
    for u in CONDITIONAL.round(generator(3).random((30, 5))):
        here = CONDITIONAL.from_unit(u)
        for v in domain.neighbours(u, generator(4)):
            np.testing.assert_allclose(CONDITIONAL.round(v), v, atol=1e-12)
            other = CONDITIONAL.from_unit(v)
            assert sum(here[name] != other[name] for name in here.keys() & other.keys()) == 1, "a neighbour of its own"


# --- what a search is given


@dataclass(frozen=True)
class Recorder(Method):
    """Keeps what it is started in and what it is told."""

    facts: ClassVar[MethodFacts] = MethodFacts("Recorder", "none", "nothing")
    log: list[tuple[str, int]] = field(default_factory=list, repr=False, compare=False)
    domains: list[Domain] = field(default_factory=list, repr=False, compare=False)
    points: list[Array] = field(default_factory=list, repr=False, compare=False)

    def start(self, domain: Domain, seed: int) -> Search:  # noqa: ARG002
        self.domains.append(domain)
        return Recording(self)


@dataclass
class Recording(Search):
    method: Recorder

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:  # noqa: ARG002
        return Proposal(generator(number).random(self.method.domains[0].dimension), "random")

    def tell(self, observation: Observation) -> None:
        self.method.log.append(("tell", observation.number))

    def fail(self, number: int, x: Array) -> None:
        self.method.log.append(("fail", number))
        self.method.points.append(x)

    def recommend(self, context: Array | None = None) -> Incumbent:  # noqa: ARG002
        return Incumbent(np.full(self.method.domains[0].dimension, 0.5), 0.0)


def test_a_search_starts_in_the_domain_of_the_space_and_hears_of_failures() -> None:
    """Once for each failed trial, at its rounded point; never of the others; and again, in order, when rebuilt."""
    method = Recorder()
    optimizer = Optimizer(MIXED, direction="minimize", method=method)
    assert method.domains[0].axes == domain_of(MIXED).axes
    asked = [optimizer.ask() for _ in range(4)]
    for number, outcome in ((2, FAILED), (0, 1.0), (3, float("nan")), (1, [1.0, 2.0])):
        optimizer.tell(asked[number], outcome)
    optimizer.add(asked[0].params, FAILED)
    assert method.log == [("fail", 2), ("tell", 0), ("fail", 3), ("tell", 1), ("fail", 4)]
    for number, x in zip((2, 3, 4), method.points, strict=True):
        np.testing.assert_array_equal(x, MIXED.to_unit(optimizer.trials[number].params))
    events = list(method.log)
    Optimizer.from_state(MIXED, optimizer.state(), method=method)
    assert method.log == events + events


def test_continua_are_floats_without_steps_and_conditions() -> None:
    many = Space(x=Float(0, 1), n=Int(1, 1000), s=Float(0, 1, step=0.001), kind=Categorical(["a", "b"]))
    assert domain_of(many).smooth.tolist() == [True, True, True, False]
    assert domain_of(many).continua.tolist() == [True, False, False, False]
    assert not domain_of(CONDITIONAL).continua.any()
    assert domain_of(PLAIN).continua.all()


def test_values_so_large_that_they_count_as_less_are_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    optimizer = Optimizer(Space(x=Float(0, 1)), direction="minimize", method="RandomSearch", seed=0)
    for value in (1.0, 1e279, [1.0, -1e300], 1e290):
        optimizer.tell(optimizer.ask(), value)
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 1
    assert said[0].startswith("trial 2 gave a value beyond 1e+280, which counts as that")
