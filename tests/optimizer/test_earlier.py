"""A run as it was earlier."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.kernels import Matern
from quadrat.methods import LPGPUCB
from quadrat.methods.base import Method
from quadrat.optimizer import FAILED, Optimizer
from quadrat.optimizer.earlier import earlier, finished_order
from quadrat.space import Context, Float, Space

SPACE = Space(x=Float(0, 1), y=Float(0, 1))
CERTIFYING = LPGPUCB(kernel=Matern(2.5, 0.5), norm_bound=2.0, noise=0.1, budget=12)


@pytest.mark.parametrize("method", ["Auto", "GPUCB", CERTIFYING])
def test_answers_are_those_that_the_run_would_have_given(method: str | Method) -> None:
    # Some asked, some pending meanwhile, one failed, some added at once at the beginning.
    optimizer = Optimizer(SPACE, direction="minimize", method=method, seed=4)
    then = {}
    optimizer.add_trials([{"x": 0.1, "y": 0.9}, {"x": 0.7, "y": 0.2}], [0.9, 0.5])
    then[2] = optimizer.recommend(), optimizer.certificate(), optimizer.explain()["search"]
    for i in range(3):
        trial, other = optimizer.ask(), optimizer.ask()
        optimizer.tell(other, FAILED if i == 1 else (other.params["x"] - 0.4) ** 2)
        optimizer.tell(trial, (trial.params["x"] - 0.4) ** 2 + 0.01 * i)
        then[4 + 2 * i] = optimizer.recommend(), optimizer.certificate(), optimizer.explain()["search"]
    stops = [2, 4, 8]
    found = {n: (run.recommend(), run.certificate(), run.explain()["search"]) for n, run in earlier(optimizer, stops)}
    assert found == {n: then[n] for n in stops}
    assert len(finished_order(optimizer)) == 8
    assert finished_order(optimizer)[:4] == (0, 1, 3, 2), "in the order of telling"


def test_what_was_added_at_once_comes_in_pieces(caplog: pytest.LogCaptureFixture) -> None:
    optimizer = Optimizer(SPACE, direction="maximize", method="RandomSearch", seed=0)
    values = [0.1, float("nan"), 0.5, 0.3, 0.9]
    optimizer.add_trials([{"x": i / 5, "y": 0.5} for i in range(5)], values)
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        seen = [(n, then.recommend().value, len(then.trials)) for n, then in earlier(optimizer, [1, 3, 5])]
    assert seen == [(1, 0.1, 1), (3, 0.5, 3), (5, 0.9, 5)]
    assert not caplog.records, "failures were reported when they happened"
    assert len(optimizer.trials) == 5


def test_contexts_and_pending_trials() -> None:
    space = Space(x=Float(0, 1), site=Context(Float(0, 1)))
    method = LPGPUCB(kernel=Matern(2.5, 0.5), norm_bound=2.0, noise=0.1, budget=12)
    optimizer = Optimizer(space, direction="maximize", method=method, seed=0)
    then = []
    for i in range(4):
        trial = optimizer.ask(context={"site": i / 4})
        optimizer.tell(trial, float(np.sin(trial.params["x"])))
        then.append(optimizer.recommend({"site": 0.5}))
    optimizer.ask(context={"site": 0.1})
    assert [run.recommend({"site": 0.5}) for _, run in earlier(optimizer, [1, 2, 4])] == [then[0], then[1], then[3]]


@pytest.mark.parametrize("stops", [[0], [4], [2, 2], [2, 1]])
def test_stops_are_checked(stops: list[int]) -> None:
    optimizer = Optimizer(SPACE, direction="maximize", method="RandomSearch", seed=0)
    for value in (0.1, 0.2, 0.3):
        optimizer.tell(optimizer.ask(), value)
    with pytest.raises(InvalidInput, match="ascending numbers from 1 to 3"):
        list(earlier(optimizer, stops))
