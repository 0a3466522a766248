"""The figure shows the draws of a prior check, in the units of the parameters, and the limits of the ball."""

from __future__ import annotations

import numpy as np
import pytest

import quadrat as qd
from quadrat.errors import InvalidInput
from quadrat.plots import prior_functions
from quadrat.problems import prior_check

SPACE = qd.Space(temperature=qd.Float(20, 90), rate=qd.Float(1e-4, 1.0, log=True))
STATED = qd.RunAssumptions(
    kernel=qd.Matern(2.5), lengthscales={"temperature": 35.0, "rate": 10.0}, norm_bound=2.0, offset=5.0, noise=0.05
)


def test_lines_are_the_draws_in_the_units_of_the_parameters() -> None:
    check = prior_check(STATED, SPACE, n=3)
    figure = prior_functions(check, points=11)
    lines = [trace for trace in figure.data if trace.name in ("a few hills", "every direction alike")]
    assert len(lines) == 6
    assert lines[0].x[0] == 20.0
    assert lines[0].x[-1] == 90.0
    at = np.full((11, 2), 0.5)
    at[:, 0] = np.linspace(0, 1, 11)
    assert np.allclose(lines[0].y, check.values(at)[0])
    limits = {float(y) for trace in figure.data if trace.name.startswith("no function") for y in trace.y}
    assert limits == {3.0, 7.0}
    assert figure.layout.xaxis2.type == "log"


def test_other_things_are_refused() -> None:
    with pytest.raises(InvalidInput, match="check: expected what quadrat"):
        prior_functions(STATED)  # type: ignore[arg-type]
