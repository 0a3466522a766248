"""What is believed at any parameters."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels import Matern
from quadrat.methods import LPGPUCB
from quadrat.methods.base import Method
from quadrat.optimizer import Optimizer
from quadrat.space import Categorical, Float, Int, Space

PLANE = Space(x=Float(0, 2), rate=Float(1e-3, 1, log=True))
MIXED = Space(x=Float(0, 1), kind=Categorical(["a", "b"]), depth=Int(1, 5, when={"kind": "a"}))
CERTIFYING = LPGPUCB(kernel=Matern(2.5, 0.5), norm_bound=2.0, noise=0.1, budget=12)


def told(space: Space, method: str | Method, direction: str = "maximize", n: int = 14) -> Optimizer:
    optimizer = Optimizer(space, direction=direction, method=method, seed=0)
    for params in space.sample(n, np.random.default_rng(1)):
        optimizer.add(params, float(np.cos(2 * params["x"])) + 0.2 * (params.get("kind") == "a"))
    return optimizer


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("method", ["Auto", "GPUCB", CERTIFYING])
def test_at_the_recommended_point_it_is_what_is_recommended(method: str | Method, direction: str) -> None:
    optimizer = told(PLANE, method, direction)
    found = optimizer.recommend()
    [at] = optimizer.predict([found.params])
    assert at.params == found.params
    assert at.value == pytest.approx(found.value, abs=1e-9)
    assert (at.credible_interval is None) == (found.credible_interval is None)
    assert (at.certified_interval is None) == (found.certified_interval is None)
    interval, other = at.certified_interval or at.credible_interval, found.certified_interval or found.credible_interval
    assert interval == pytest.approx(other, abs=1e-9)


def test_minimizing_is_maximizing_the_negative() -> None:
    up, down = told(PLANE, "GPUCB"), Optimizer(PLANE, direction="minimize", method="GPUCB", seed=0)
    for record in up.trials:
        assert record.value is not None
        down.add(record.params, -record.value)
    points = PLANE.sample(5, np.random.default_rng(3))
    for one, other in zip(up.predict(points), down.predict(points), strict=True):
        assert one.value == -other.value
        assert one.credible_interval is not None
        assert other.credible_interval == (-one.credible_interval[1], -one.credible_interval[0])


def test_predictions_interpolate_and_widen_away_from_the_data() -> None:
    optimizer = Optimizer(Space(x=Float(0, 1)), direction="maximize", seed=0)
    optimizer.add_trials([{"x": x} for x in np.linspace(0, 0.5, 9)], np.linspace(0, 0.5, 9) ** 2)
    near, far = optimizer.predict([{"x": 0.28}, {"x": 1.0}])
    assert near.value == pytest.approx(0.28**2, abs=0.01)
    assert near.credible_interval is not None
    assert far.credible_interval is not None
    assert np.ptp(far.credible_interval) > 5 * np.ptp(near.credible_interval)


def test_mixed_spaces_and_nothing_certified_there() -> None:
    fitted, stated = told(MIXED, "Auto"), told(MIXED, CERTIFYING)
    points = MIXED.sample(6, np.random.default_rng(0))
    assert [one.params for one in fitted.predict(points)] == points
    assert all(one.credible_interval is not None for one in fitted.predict(points))
    for one in stated.predict(points):
        assert one.certified_interval is None, "rounding leaves the assumptions"
        assert one.credible_interval is None, "and a stated band is no fitted model's"
    assert fitted.predict([]) == ()


def test_looking_changes_nothing() -> None:
    one, other = told(PLANE, CERTIFYING), told(PLANE, CERTIFYING)
    one.predict(PLANE.sample(20, np.random.default_rng(0)))
    assert one.ask() == other.ask()


def test_what_cannot_be_predicted_is_refused() -> None:
    with pytest.raises(NotAvailable, match="got RandomSearch"):
        told(PLANE, "RandomSearch").predict([{"x": 0.5, "rate": 0.1}])
    with pytest.raises(NotAvailable, match="at least one complete trial"):
        Optimizer(PLANE, direction="maximize").predict([{"x": 0.5, "rate": 0.1}])
    with pytest.raises(InvalidInput, match="rate"):
        told(PLANE, "Auto").predict([{"x": 0.5, "rate": 2.0}])


def test_rejected_assumptions_predict_nothing() -> None:
    method = LPGPUCB(kernel=Matern(2.5, 0.5), norm_bound=1.0, noise=0.01, budget=12)
    optimizer = Optimizer(Space(x=Float(0, 1)), direction="maximize", method=method, seed=0)
    for i in range(12):
        optimizer.add({"x": i / 11}, 50.0 * (-1) ** i)
    assert optimizer.certificate().rejected is not None
    with pytest.raises(NotAvailable, match="the data do not contradict"):
        optimizer.predict([{"x": 0.5}])
