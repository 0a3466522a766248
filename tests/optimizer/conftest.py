"""A method whose answers a test writes down beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.confidence import Certificate
from quadrat.methods.base import Domain, Incumbent, Method, MethodFacts, Observation, Proposal, Search
from quadrat.randomness import generator


@dataclass(frozen=True, kw_only=True)
class Scripted(Method):
    """Asks `points` in turn, then random ones; recommends `incumbent`, certifies `certificate`, or the last x."""

    facts: ClassVar[MethodFacts] = MethodFacts("Scripted", "none", "nothing", certifies=True)

    points: tuple[tuple[float, ...], ...] = ()
    incumbent: Incumbent | None = None
    certificate: Certificate | str = "not written down"
    log: list[tuple[str, object]] = field(default_factory=list, repr=False, compare=False)

    def start(self, domain: Domain, seed: int) -> Search:
        return ScriptedSearch(self, domain.dimension, seed)


@dataclass(frozen=True, kw_only=True)
class Fitted(Scripted):
    """The same without certificates, so that intervals are those of a fitted model."""

    facts: ClassVar[MethodFacts] = MethodFacts("Fitted", "none", "nothing")


@dataclass
class ScriptedSearch(Search):
    method: Scripted
    dimension: int
    seed: int
    last: Observation | None = None

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:  # noqa: ARG002
        self.method.log.append(("ask", pending.tolist()))
        if number < len(self.method.points):
            return Proposal(np.array(self.method.points[number]), "written down")
        return Proposal(generator(self.seed, number).random(self.dimension), "random")

    def tell(self, observation: Observation) -> None:
        self.method.log.append(
            ("tell", (observation.number, observation.x.tolist(), observation.values.tolist(), observation.variance))
        )
        self.last = observation

    def recommend(self, context: Array | None = None) -> Incumbent:  # noqa: ARG002
        assert self.last is not None
        return self.method.incumbent or Incumbent(self.last.x, float(self.last.values.mean()))

    def certificate(self, point: Array) -> Certificate | str:  # noqa: ARG002
        return self.method.certificate

    def explain(self) -> dict[str, object]:
        return {"seed": self.seed}


@pytest.fixture
def scripted() -> Callable[..., Scripted]:
    return Scripted


@pytest.fixture
def fitted() -> Callable[..., Scripted]:
    return Fitted
