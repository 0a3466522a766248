"""BKB, and the sketched posterior inside other methods with a model."""

from __future__ import annotations

import json
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess
from quadrat.gp.sketch import Sketch, SketchedProcess
from quadrat.kernels import Matern
from quadrat.methods import GPUCB, IGPUCB, ExpectedImprovement, Heuristic
from quadrat.methods.base import Domain, Method, Observation
from quadrat.methods.surrogate import ModelBased, ModelSearch
from quadrat.methods.ucb.bkb import BKB
from quadrat.optimizer import Optimizer
from quadrat.randomness import generator
from quadrat.space import Float, Space

KERNEL = Matern(2.5, 0.3)
SMALL = Sketch(q=0.7, ratio=1.5)  # so small that points are forgotten within thirty trials
PLANE = Space(x=Float(0, 1), y=Float(0, 1))


def search_with(method: ModelBased, n: int, seed: int = 0) -> ModelSearch:
    search = method.start(Domain.cube(2), seed)
    rng = generator(seed, 90)
    for number in range(n):
        x = rng.random(2)
        search.tell(Observation(number, x, np.array([np.sin(5 * x[0]) + x[1] + 0.1 * rng.standard_normal()])))
    return search


def test_it_evaluates_the_highest_sketched_bound() -> None:
    """[C19, algorithm 1]: no point of a fine lattice has a higher index than the one that is asked."""
    method = BKB(kernel=KERNEL, sketch=SMALL)
    search = search_with(method, 40)
    gp = search.model.gp
    assert isinstance(gp, SketchedProcess)
    assert len(gp.dictionary) < 40
    proposal = search.ask(40, np.empty((0, 2)))
    side = np.linspace(0, 1, 60)
    lattice = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    beta = method.multiplier(search.model)
    index = [at.mean + beta * at.deviation for at in (gp.predict(lattice), gp.predict(proposal.x))]
    assert index[1][0] >= index[0].max() - 1e-6
    assert f"{len(gp.dictionary)} of 40 points remembered" in proposal.why


def test_multipliers() -> None:
    """The default with the sketched log det, and [C19, theorem 2] by brute force."""
    for form in ("realised", "theorem"):
        method = BKB(kernel=KERNEL, norm_bound=2.0, delta=0.1, form=form, sketch=SMALL, standardise=False)
        search = search_with(method, 30)
        gp = search.model.gp
        assert isinstance(gp, SketchedProcess)
        lam = gp.noise_variance
        assert lam == pytest.approx(16 * 0.01 / 4)
        if form == "realised":
            wanted = 2.0 + 0.1 / sqrt(lam) * sqrt(gp.logdet + 2 * log(10))
        else:
            total = float((gp.predict(gp.x).deviation ** 2).sum()) / lam
            wanted = 2 * 0.1 * sqrt(3 * log(30) * total + log(10)) / sqrt(lam) + (1 + sqrt(2)) * 2.0
        assert method.multiplier(search.model) == pytest.approx(wanted, rel=1e-9)


def test_what_is_recommended_rests_on_the_stated_noise() -> None:
    """With all points in the dictionary, it is what the exact posterior under sigma^2 recommends."""
    search = search_with(BKB(kernel=KERNEL, sketch=Sketch(q=1e9), standardise=False), 30)
    exact = GaussianProcess(KERNEL, noise_variance=0.01)
    exact.add(search.model.x, search.model.y)
    means = exact.predict_mean(exact.x)
    incumbent = search.recommend()
    assert incumbent.value == pytest.approx(means.max(), rel=1e-6)
    assert np.array_equal(incumbent.x, exact.x[int(np.argmax(means))])
    log_evidence = search.explain()["log evidence"]
    assert log_evidence == pytest.approx(exact.log_evidence, rel=1e-6)


@pytest.mark.parametrize("kind", [GPUCB, IGPUCB, ExpectedImprovement])
def test_a_sketch_of_everything_changes_no_proposal(kind: Any) -> None:
    exact, sketched = (search_with(kind(kernel=KERNEL, sketch=sketch), 15) for sketch in (None, Sketch(q=1e9)))
    none = np.empty((0, 2))
    np.testing.assert_allclose(sketched.ask(15, none).x, exact.ask(15, none).x, atol=1e-3)
    assert sketched.recommend().value == pytest.approx(exact.recommend().value, rel=1e-6)


@pytest.mark.parametrize(
    "method",
    [
        BKB(kernel=KERNEL, sketch=SMALL),
        BKB(sketch=SMALL, form="theorem"),
        GPUCB(kernel=KERNEL, sketch=SMALL),
        IGPUCB(kernel=KERNEL, sketch=SMALL),
        ExpectedImprovement(sketch=SMALL),
        Heuristic(sketch=SMALL, min_samples_leaf=3),
    ],
    ids=lambda method: type(method).__name__,
)
def test_a_run_is_rebuilt_bit_for_bit_and_looking_changes_nothing(method: Method) -> None:
    def value(params: dict[str, Any]) -> float:
        return float(np.sin(5 * params["x"]) + params["y"])

    optimizer = Optimizer(PLANE, direction="maximize", method=method, seed=2)
    rng = generator(0, 91)
    for _ in range(16):  # old results are not asked for: they are cheap
        x = dict(zip("xy", rng.random(2).tolist(), strict=True))
        optimizer.add(x, value(x))
    waiting = [optimizer.ask() for _ in range(2)]
    optimizer.tell(waiting[0], [value(waiting[0].params)] * 2)
    rebuilt = Optimizer.from_state(PLANE, json.loads(json.dumps(optimizer.state())), method=method)
    optimizer.recommend()
    optimizer.explain()
    optimizer.certificate()
    assert rebuilt.ask() == optimizer.ask()
    assert rebuilt.recommend() == optimizer.recommend()
    one, other = (trial.params for trial in waiting)
    assert one != other


def test_what_cannot_be() -> None:
    with pytest.raises(InvalidInput, match="GPUCB has the exact posterior"):
        BKB(sketch=None)
    with pytest.raises(InvalidInput, match="expected Sketch"):
        GPUCB(sketch=3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match='"realised" or "theorem"'):
        BKB(form="exact")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="norm_bound"):
        BKB(norm_bound=0.0)
