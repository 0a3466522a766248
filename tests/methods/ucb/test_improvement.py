from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from quadrat.errors import InvalidInput
from quadrat.methods.base import Domain, Observation
from quadrat.methods.surrogate import ModelBased, ModelSearch
from quadrat.methods.ucb.improvement import ExpectedImprovement, ProbabilityOfImprovement


def started(method: ModelBased) -> ModelSearch:
    search, rng = method.start(Domain.cube(1), 1), np.random.default_rng(1)
    for number in range(9):
        x = search.ask(number, np.empty((0, 1))).x
        search.tell(Observation(number, x, np.array([np.sin(7 * x[0]) + 0.1 * rng.standard_normal()])))
    return search


@pytest.mark.parametrize("method", [ExpectedImprovement(), ProbabilityOfImprovement(xi=0.05)], ids=["EI", "PI"])
def test_asks_where_the_textbook_formula_is_largest(method: ModelBased) -> None:
    """EI = (m - best) Phi(z) + s phi(z) and PI = Phi(z), on a grid of 1,001 points; best is the highest mean told."""
    search = started(method)
    gp = search.model.gp
    best = gp.predict_mean(gp.x).max()
    assert best < gp.y.max()  # the luckiest observation is not the incumbent

    def textbook(x: np.ndarray) -> np.ndarray:
        at = gp.predict(x)
        gap = at.mean - best - getattr(method, "xi", 0.0)
        z = gap / at.deviation
        if isinstance(method, ProbabilityOfImprovement):
            return np.asarray(norm.cdf(z))
        return np.asarray(gap * norm.cdf(z) + at.deviation * norm.pdf(z))

    proposal = search.ask(9, np.empty((0, 1)))
    assert textbook(proposal.x[None, :])[0] >= textbook(np.linspace(0, 1, 1001)[:, None]).max() * (1 - 1e-9)


def test_xi_is_checked() -> None:
    with pytest.raises(InvalidInput, match="xi: expected a finite number >= 0"):
        ProbabilityOfImprovement(xi=-1.0)


@pytest.mark.parametrize("method", [ExpectedImprovement(), ProbabilityOfImprovement()], ids=["EI", "PI"])
def test_a_constant_objective_is_no_accident(method: ModelBased) -> None:
    search = method.start(Domain.cube(2), 0)
    for number in range(8):
        x = search.ask(number, np.empty((0, 2))).x
        assert ((x >= 0) & (x <= 1)).all()
        search.tell(Observation(number, x, np.array([3.0])))
    assert search.recommend().value == pytest.approx(3.0)
