from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.confidence import Assumptions, SimpleBand
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern
from quadrat.methods.base import Domain, Observation
from quadrat.methods.robust.method import StableOpt, StableSearch
from quadrat.optimizer import Optimizer
from quadrat.randomness import generator
from quadrat.space import Categorical, Float, Int, Space

KERNEL = Matern(2.5, 0.15)
NONE = np.empty((0, 1))


def bumps(x: Array) -> Array:
    """A narrow peak of height 1 at .2 and a broad one of height .7 at .65."""
    narrow, broad = np.exp(-0.5 * ((x - 0.2) / 0.04) ** 2), 0.7 * np.exp(-0.5 * ((x - 0.65) / 0.15) ** 2)
    return np.maximum(narrow, broad)


def told_line(n: int, seed: int = 0, **options: Any) -> StableSearch:
    """A search of `bumps` that was told n random points."""
    search = StableOpt(perturbation=0.1, kernel=KERNEL, noise=0.05, **options).start(Domain.cube(1), seed)
    for number, x in enumerate(np.random.default_rng(seed).random(n)):
        search.tell(Observation(number, np.array([x]), np.array([float(bumps(x))])))
    return search


@pytest.mark.parametrize("seed", range(3))
def test_algorithm_1(seed: int) -> None:
    """x~ = argmax_x min_d ucb(x + d), d = argmin_d lcb(x~ + d), evaluated at x~ + d; all by brute force on a grid."""
    search = told_line(12, seed)
    grid = np.linspace(0, 1, 1001)
    at = search.model.gp.predict(grid[:, None])
    upper, lower = at.mean + 2 * at.deviation, at.mean - 2 * at.deviation
    reach = [np.abs(grid - x) <= 0.1 + 1e-12 for x in grid]
    worst = np.array([upper[near].min() for near in reach])
    aim = search._most_robust(search.model.gp, 2.0, generator(seed, 12, 1))
    assert aim.value == pytest.approx(worst.max(), abs=0.01)
    proposal = search.ask(12, NONE)
    assert abs(proposal.x[0] - aim.point[0]) <= 0.1 + 1e-12
    there = search.model.gp.predict(proposal.x[None, :])
    box = np.linspace(max(aim.point[0] - 0.1, 0.0), min(aim.point[0] + 0.1, 1.0), 2001)
    inside = search.model.gp.predict(box[:, None])
    lowest = float((inside.mean - 2 * inside.deviation).min())
    assert float(there.mean[0] - 2 * there.deviation[0]) == pytest.approx(lowest, abs=1e-4)
    assert lowest < float(lower[np.argmin(np.abs(grid - aim.point[0]))])  # the perturbation matters
    assert "whose worst case may be the best" in proposal.why


def test_the_valid_multiplier_is_that_of_the_simple_band() -> None:
    """b^2 = B^2 + 2 log(1/delta) + 2 gamma with lambda = sigma^2, as `SimpleBand` has it."""
    search = told_line(9, multiplier=None, norm_bound=1.5, delta=0.05, standardise=False)
    band = SimpleBand(Assumptions(KERNEL, 1.5, 0.05), 0.05)
    band.add(search.model.x, search.model.y)
    assert search.robust.width(search.model) == pytest.approx(band.beta)
    assert band.beta**2 > 1.5**2 + 2 * log(1 / 0.05)


def test_it_recommends_the_broad_peak_and_says_its_worst_case() -> None:
    search = told_line(40)
    incumbent = search.recommend()
    assert abs(incumbent.x[0] - 0.65) < 0.05
    frame = search.model.frame
    at = search.model.posterior.predict(incumbent.x[None, :])
    assert incumbent.value == pytest.approx(frame.shift + frame.scale * float(at.mean[0]))
    assert incumbent.interval is not None
    assert incumbent.interval[0] < incumbent.value < incumbent.interval[1]
    case: Any = search.explain()["worst case"]
    truth = float(bumps(np.linspace(incumbent.x[0] - 0.1, incumbent.x[0] + 0.1, 201)).min())
    assert case["of"] == incumbent.x.tolist()
    assert case["credible interval"][0] <= truth <= case["credible interval"][1]
    assert case["value"] < incumbent.value
    assert abs(case["at"][0] - incumbent.x[0]) <= 0.1 + 1e-12
    assert not certified(search)


def certified(search: StableSearch) -> bool:
    return not isinstance(search.certificate(search.recommend().x), str)


def test_a_box_of_next_to_no_size_leaves_the_maximum() -> None:
    search = StableOpt(perturbation=1e-3, kernel=KERNEL, noise=0.05, standardise=False).start(Domain.cube(1), 0)
    for number, x in enumerate(np.linspace(0, 1, 41)):
        search.tell(Observation(number, np.array([x]), np.array([float(bumps(x))])))
    assert abs(search.recommend().x[0] - 0.2) < 0.02


def test_pending_points_differ_and_narrow_the_bounds() -> None:
    search = told_line(12)
    before = search.model.gp.predict(np.array([[0.5]])).deviation[0]
    pending = NONE
    for number in range(12, 20):
        pending = np.vstack([pending, search.ask(number, pending).x])
    gaps = np.diff(np.sort(pending[:, 0]))
    assert (gaps > 1e-6).all()
    assert search.model.gp.predict(np.array([[0.5]])).deviation[0] == before


def test_a_rebuilt_search_goes_on_bit_for_bit_and_looking_changes_nothing() -> None:
    first, again = (StableOpt(perturbation=0.1, noise=0.05).start(Domain.cube(2), 4) for _ in range(2))
    for number in range(9):
        x = first.ask(number, np.empty((0, 2))).x
        assert np.array_equal(x, again.ask(number, np.empty((0, 2))).x)
        for search in (first, again):
            search.tell(Observation(number, x, np.array([float(bumps(x).sum())])))
        first.recommend()
        first.explain()
    assert np.array_equal(first.recommend().x, again.recommend().x)


def test_mixed_spaces_perturb_the_smooth_axes_alone() -> None:
    space = Space(x=Float(0, 1), n=Int(1, 5), kind=Categorical(["a", "b"]))
    optimizer = Optimizer(space, direction="maximize", method=StableOpt(perturbation=0.1), seed=0)
    for _ in range(9):
        trial = optimizer.ask()
        optimizer.tell(trial, float(bumps(np.array([trial.params["x"]]))[0]) + 0.1 * (trial.params["kind"] == "b"))
    got: Any = optimizer.explain()["search"]
    assert got["worst case"]["perturbation"] == [0.1, 0.0, 0.0]
    space.to_unit(optimizer.recommend().params)


def test_many_integers_and_what_exists_under_a_condition_are_not_perturbed() -> None:
    """Int(1, 1000) is smooth to climbs, and z is missing for "a": neither is missed by a little."""
    space = Space(x=Float(0, 1), n=Int(1, 1000), kind=Categorical(["a", "b"]), z=Float(0, 1, when={"kind": "b"}))
    optimizer = Optimizer(space, direction="maximize", method=StableOpt(perturbation=0.1), seed=0)
    for _ in range(7):
        trial = optimizer.ask()
        optimizer.tell(trial, trial.params["x"] + trial.params["n"] / 1000)
    got: Any = optimizer.explain()["search"]
    assert got["worst case"]["perturbation"] == [0.1, 0.0, 0.0, 0.0]
    point = np.array(got["worst case"]["of"])
    assert np.array_equal(space.round(point), point)


@pytest.mark.parametrize("space", [Space(n=Int(1, 2)), Space(n=Int(1, 1000)), Space(x=Float(0, 1, step=0.25))])
def test_nothing_to_perturb_is_refused(space: Space) -> None:
    (name,) = space.axes
    with pytest.raises(
        InvalidInput, match=f"expected a half-side > 0 on a Float without steps .* got 0.1 and '{name}'"
    ):
        Optimizer(space, direction="maximize", method=StableOpt(perturbation=0.1), seed=0)


def test_numbers_of_any_kind_are_half_sides() -> None:
    for given in (np.float32(0.25), np.array(0.25), 0.25):
        assert StableOpt(perturbation=given).perturbation == 0.25  # type: ignore[arg-type]
    assert StableOpt(perturbation=np.array([0.25, 0.5])).perturbation == (0.25, 0.5)  # type: ignore[arg-type]


def test_recommendations_are_feasible() -> None:
    space = Space(x=Float(0, 1)).subject_to(lambda params: params["x"] <= 0.5)
    optimizer = Optimizer(space, direction="maximize", method=StableOpt(perturbation=0.05), seed=0)
    for _ in range(10):
        trial = optimizer.ask()
        optimizer.tell(trial, trial.params["x"])
    assert optimizer.recommend().params["x"] <= 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"perturbation": 0.0}, "perturbation: expected half-sides >= 0"),
        ({"perturbation": (0.1, -1.0)}, "perturbation: expected half-sides >= 0"),
        ({"perturbation": "wide"}, "perturbation: expected"),
        ({"perturbation": 0.1, "multiplier": 0.0}, "multiplier: expected a finite number > 0"),
        ({"perturbation": 0.1, "norm_bound": 0.0}, "norm_bound: expected a finite number > 0"),
        ({"perturbation": 0.1, "delta": 1.0}, "delta: expected a probability"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        StableOpt(**options)


def test_a_box_of_another_dimension_is_refused_at_the_start() -> None:
    with pytest.raises(InvalidInput, match="perturbation: expected 3 entries, got 2"):
        StableOpt(perturbation=(0.1, 0.2)).start(Domain.cube(3), 0)
    assert StableOpt(perturbation=(0.1, 0.2)).start(Domain.cube(2), 0).radius.tolist() == [0.1, 0.2]
