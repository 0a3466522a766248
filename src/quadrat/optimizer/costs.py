"""What trials cost, and which of them are about what counts: both follow from their fidelity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quadrat.space import Fidelity, Space

__all__ = ["Costs"]


class Costs:
    """The costs of trials in a space with a fidelity.

    Examples
    --------
    >>> from quadrat.space import Float
    >>> costs = Costs(Space(x=Float(0, 1), epochs=Fidelity([5, 100], cost=[1, 20])))
    >>> costs.of({"x": 0.5, "epochs": 100}), costs.below_target({"x": 0.5, "epochs": 5})
    (20.0, 1)
    """

    def __init__(self, space: Space) -> None:
        assert space.fidelity is not None
        fidelity = space[space.fidelity]
        assert isinstance(fidelity, Fidelity)
        self._name, self._fidelity = space.fidelity, fidelity

    def of(self, params: Mapping[str, Any]) -> float:
        """Return what a trial with these parameters costs."""
        return self._fidelity.cost_of(params[self._name])

    def below_target(self, params: Mapping[str, Any]) -> int:
        """Return how many levels below the one that counts a trial is."""
        return len(self._fidelity.levels) - 1 - self._fidelity.level(params[self._name])
