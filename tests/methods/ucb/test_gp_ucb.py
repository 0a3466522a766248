from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.methods.base import Domain, Observation
from quadrat.methods.ucb.gp_ucb import GPUCB, Agnostic, Continuous, Finite


def test_three_forms_of_beta() -> None:
    """Theorems 1, 2 and 3 of Srinivas et al. 2012, worked out by hand at t = 3, D = 2, delta = .1."""
    finite = 2 * log(50 * 9 * pi**2 / 0.6)
    continuous = 2 * log(9 * 2 * pi**2 / 0.3) + 4 * log(9 * 2 * 1.5 * 1.0 * sqrt(log(8 * 2 / 0.1)))
    agnostic = 2 * 4 + 300 * 1.7 * log(30) ** 3
    forms: list[tuple[Finite | Continuous | Agnostic, float]] = [
        (Finite(arms=50), finite),
        (Continuous(a=2.0, b=1.5), continuous),
        (Agnostic(norm_bound=2.0), agnostic),
        (Agnostic(norm_bound=2.0, information_gain=1.7), agnostic),
    ]
    for form, wanted in forms:
        assert GPUCB(form=form, delta=0.1).beta(t=3, dimension=2, gain=1.7) == pytest.approx(wanted)
        assert GPUCB(form=form, delta=0.1, scale=0.2).beta(t=3, dimension=2, gain=1.7) == pytest.approx(0.2 * wanted)


@pytest.mark.parametrize(
    ("name", "form"), [("finite", Finite()), ("continuous", Continuous()), ("agnostic", Agnostic())]
)
def test_forms_by_name(name: Any, form: object) -> None:
    assert GPUCB(form=name).form == form


def test_tiny_constants_leave_beta_a_number() -> None:
    beta = GPUCB(form=Continuous(a=1e-9, b=1e-9), delta=0.5).beta(t=1, dimension=1, gain=0.0)
    assert beta == pytest.approx(2 * log(2 * pi**2 / 1.5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "infinite"}, "form: expected Finite"),
        ({"delta": 1.0}, "delta: expected a probability"),
        ({"scale": 0.0}, "scale: expected a finite number > 0"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        GPUCB(**options)


def test_asks_where_the_bound_is_highest() -> None:
    method = GPUCB(scale=0.2)
    search = method.start(Domain.cube(1), 0)
    for number in range(8):
        x = search.ask(number, np.empty((0, 1))).x
        search.tell(Observation(number, x, np.array([float(np.sin(6 * x[0]))])))
    proposal = search.ask(8, np.empty((0, 1)))
    root = sqrt(method.beta(9, 1, search.model.gain))
    grid = np.linspace(0, 1, 1001)[:, None]
    at, there = search.model.gp.predict(grid), search.model.gp.predict(proposal.x[None, :])
    assert there.mean[0] + root * there.deviation[0] >= (at.mean + root * at.deviation).max() - 1e-9
    assert f"sqrt(beta) = {root:.3g}" in proposal.why
