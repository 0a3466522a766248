from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern
from quadrat.methods.base import Axis, Domain, FidelityAxis, Observation
from quadrat.methods.multi_fidelity.method import MFGPUCB, FidelitySearch, Index
from quadrat.methods.multi_fidelity.model import Gaps
from quadrat.methods.ucb.gp_ucb import GPUCB

COORDINATES, COSTS = (1 / 6, 0.5, 5 / 6), (1.0, 4.0, 25.0)
# The fidelity in the middle: a search that takes it for the last axis would go wrong.
AXES = (Axis(), Axis(COORDINATES), Axis())
DOMAIN = Domain(AXES, fidelity=FidelityAxis(1, COORDINATES, COSTS))
NONE = np.empty((0, 3))


def level_of(x: Array) -> int:
    return COORDINATES.index(float(x[1]))


def objective(x: Array) -> float:
    """Levels differ by an offset and a small ripple; the maximum of the target is near (.7, .4)."""
    level = level_of(x)
    ripple = (2 - level) * 0.03 * np.sin(9 * x[0])
    return float(np.exp(-8 * ((x[0] - 0.7) ** 2 + (x[2] - 0.4) ** 2)) + ripple - 0.4 * (2 - level))


def start(seed: int = 0, **options: Any) -> FidelitySearch:
    return MFGPUCB(**{"noise": 0.01, **options}).start(DOMAIN, seed)


def run(search: FidelitySearch, count: int, first: int = 0) -> list[Array]:
    """Ask and tell in turn."""
    points = []
    for number in range(first, first + count):
        points.append(search.ask(number, NONE).x)
        search.tell(Observation(number, points[-1], np.array([objective(points[-1])])))
    return points


@pytest.fixture(scope="module")
def told() -> FidelitySearch:
    search = start()
    run(search, 24)
    return search


# --- the initial design


def test_the_design_is_nested_and_cheap_levels_have_most_of_it() -> None:
    """10 points at cost 1, two at cost 4 (10/4), two at cost 25 (the least); the same points, as far as they go."""
    points = run(start(), 14)
    levels = [level_of(x) for x in points]
    assert levels == [0] * 10 + [1] * 2 + [2] * 2
    rows = np.delete(np.array(points), 1, axis=1)
    np.testing.assert_array_equal(rows[10:12], rows[:2])
    np.testing.assert_array_equal(rows[12:], rows[:2])
    assert len(np.unique(rows, axis=0)) == 10


def test_levels_that_cost_next_to_nothing_have_more_points() -> None:
    """Up to 10 for each axis, for at most a quarter of an evaluation of the target: 20 of 1, 15 of 4, 2 of 240."""
    axis = FidelityAxis(1, COORDINATES, (1.0, 4.0, 240.0))
    search = MFGPUCB().start(Domain(AXES, fidelity=axis), 0)
    assert search.design == [20, 15, 2]


def test_the_design_goes_on_past_pending_and_failed_points() -> None:
    search = start()
    pending = NONE
    for number in range(20):
        x = search.ask(number, pending).x
        assert not (pending == x).all(axis=1).any()
        pending = np.vstack([pending, x])
    assert [level_of(x) for x in pending[14:]] == [0] * 6


def test_failures_are_made_up_for() -> None:
    """10, 2 and 2 trials are planned; five at the cheapest level fail and the first at the target: all are repeated."""
    search, pending, levels = start(), NONE, []
    for number in range(20):
        x = search.ask(number, pending).x
        assert not (pending == x).all(axis=1).any()
        levels.append(level_of(x))
        if number < 5 or levels.count(2) == 1:
            search.fail(number, x)
            pending = np.vstack([pending, x])
        else:
            search.tell(Observation(number, x, np.array([objective(x)])))
    assert [search.model.history.count(level) for level in range(3)] == [10, 2, 2]
    assert levels == [0] * 15 + [1] * 2 + [2] * 3
    assert "largest upper bound" in search.ask(20, pending).why


def test_a_level_that_never_works_lets_the_others_go_first() -> None:
    search, pending = start(), NONE
    for number in range(16):
        x = search.ask(number, pending).x
        if level_of(x) == 0:
            search.fail(number, x)
            pending = np.vstack([pending, x])
        else:
            search.tell(Observation(number, x, np.array([objective(x)])))
    assert search.model.history == [1, 1, 2, 2]
    assert len(np.unique(pending, axis=0)) == 12
    assert level_of(search.ask(16, pending).x) == 0


def test_results_that_were_not_asked_for_are_no_trials_of_other_levels() -> None:
    """Twenty cheap ones are more than the whole design has trials: the target is evaluated all the same, and next."""
    search, rng = start(), np.random.default_rng(0)
    for number in range(20):
        x = np.insert(rng.random(2), 1, COORDINATES[0])
        search.tell(Observation(number, x, np.array([objective(x)])))
    assert search.model.settled
    assert [level_of(x) for x in run(search, 4, first=20)] == [2, 1, 1, 2]


def test_what_only_cheap_levels_say_of_the_target_is_not_certain() -> None:
    """The cheapest level is 5 below the target: no interval from it alone may pretend to know."""
    search, rng = start(), np.random.default_rng(0)
    for number in range(12):
        x = np.insert(rng.random(2), 1, COORDINATES[0])
        search.tell(Observation(number, x, np.array([float(np.sin(5 * x[0]))])))
    incumbent = search.recommend()
    assert incumbent.interval is not None
    assert incumbent.interval[1] - incumbent.interval[0] > 1.5
    seen = search.model.seen_gaps.zeta
    assert seen[0] < 0.1
    x = np.insert(incumbent.x[[0, 2]], 1, COORDINATES[2])
    search.tell(Observation(12, x, np.array([5.0])))
    assert search.model.gaps == search.model.seen_gaps


# --- the index and the level


def test_the_index_is_the_least_upper_bound(told: FidelitySearch) -> None:
    """phi = min over m of mean + offset + sqrt(beta) deviation + zeta, by hand [K16, algorithm 1]."""
    index = Index(told.model.gps, told.model.gaps, told.root)
    points = np.random.default_rng(0).random((50, 2))
    bounds = []
    for gp, zeta, offset in zip(told.model.gps, told.model.gaps.zeta, told.model.gaps.offset, strict=True):
        solved = np.linalg.solve(gp.kernel(gp.x) + np.diag(gp.noise_variances), gp.kernel(gp.x, points))
        mean = gp.prior_mean + solved.T @ (gp.y - gp.prior_mean)
        variance = gp.kernel.variance - np.einsum("ij,ij->j", gp.kernel(gp.x, points), solved)
        bounds.append(mean + offset + told.root * np.sqrt(variance) + zeta)
    np.testing.assert_allclose(index.bounds(points), bounds, rtol=1e-6)
    np.testing.assert_allclose(index.values(points), np.min(bounds, axis=0), rtol=1e-6)
    assert len(set(np.argmin(bounds, axis=0).tolist())) > 1  # more than one level decides somewhere


def test_it_asks_where_the_index_is_highest(told: FidelitySearch) -> None:
    """No point of a fine grid is better than the proposal."""
    x = np.delete(told.ask(24, NONE).x, 1)
    index = Index(told.model.gps, told.model.gaps, told.root)
    side = np.linspace(0, 1, 81)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    assert index.values(x[None, :])[0] >= index.values(grid).max() - 1e-4


def test_gradients_of_the_index(told: FidelitySearch) -> None:
    index = Index(told.model.gps, told.model.gaps, told.root)
    points = np.random.default_rng(1).uniform(0.1, 0.9, (5, 2))
    values, slopes = index.slopes(points)
    np.testing.assert_allclose(values, index.values(points))
    steps = 1e-6 * np.eye(2)
    wanted = [(index.values(points + step) - index.values(points - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(slopes, np.transpose(wanted), atol=1e-4)


def test_the_level_is_the_cheapest_that_is_uncertain(told: FidelitySearch) -> None:
    """m_t = min {m : sqrt(beta) deviation >= gamma or m = M}, less levels whose zeta is past the target's width."""
    rng = np.random.default_rng(2)
    seen = set()
    for x in rng.random((60, 2)):
        zeta = (*rng.uniform(0.0, 2.0, 2).tolist(), 0.0)
        index = Index(told.model.gps, Gaps(zeta, told.model.gaps.offset), told.root)
        gamma = tuple(rng.uniform(0.0, 1.5, 2))
        widths = [told.root * float(gp.predict(x[None, :]).deviation[0]) for gp in told.model.gps]
        wanted = 2
        for level in (1, 0):
            if widths[level] >= gamma[level] and zeta[level] < widths[2]:
                wanted = level
        assert index.level(x, gamma) == wanted
        seen.add(wanted)
    assert seen == {0, 1, 2}


def test_a_level_that_cannot_tell_more_is_passed_over() -> None:
    """With bounds wider than anything that the target may be, all trials after the design are at the target."""
    search = start(zeta=(50.0, 50.0))
    points = run(search, 22)
    assert [level_of(x) for x in points[14:]] == [2] * 8


def test_exact_cheap_levels_are_asked_first_and_gamma_doubles() -> None:
    """With zeta = 0 the cheapest level is asked until 4 trials in a row stayed there, and again 4: gamma doubles."""
    search = start(zeta=(0.0, 0.0))
    run(search, 14)
    least = search.model.frame.start
    assert search.gamma == (least, least)
    levels = [level_of(x) for x in run(search, 4, 14)]
    assert levels == [0] * 4
    assert search.gamma == (2 * least, least)
    for number in range(18, 23):  # told from outside, at the middle level: with the 4 before they cost 24
        search.tell(Observation(number, np.array([0.1 * (number - 17), 0.5, 0.3]), np.array([0.0])))
    assert search.gamma == (2 * least, least)
    search.tell(Observation(23, np.array([0.9, COORDINATES[0], 0.3]), np.array([0.0])))
    assert search.gamma == (2 * least, 2 * least)


def test_gamma_follows_zeta_and_costs(told: FidelitySearch) -> None:
    """gamma^(m) = zeta^(m) sqrt(lambda^(m)/lambda^(m+1)) [K16, theorem 1], where that is more than the least."""
    search = start(zeta=(3.0, 2.0))
    run(search, 18)
    scale = search.model.frame.scale
    assert search.gamma == pytest.approx((3.0 / scale * sqrt(1 / 4), 2.0 / scale * sqrt(4 / 25)))
    assert told.gamma[0] >= told.model.gaps.zeta[0] * sqrt(1 / 4) - 1e-12


def test_beta_is_that_of_gp_ucb(told: FidelitySearch) -> None:
    """t counts trials at all levels, D does not count the fidelity."""
    gain = 0.5 * sum(gp.logdet for gp in told.model.gps)
    assert told.root == pytest.approx(sqrt(told.method.at_the_target.beta(25, 2, gain)))
    search = start(form="continuous")
    run(search, 1)
    assert search.root == pytest.approx(sqrt(GPUCB(form="continuous", scale=0.2).beta(2, 2, 0.0)))


# --- pending points


def test_pending_points_narrow_their_own_level_alone(told: FidelitySearch) -> None:
    points = np.array([[0.15, 0.9], [0.9, 0.9]])
    plain = [gp.predict(points) for gp in told.model.gps]
    alone = []
    for gp, own in zip(told.model.gps, (points[1:], points[:0], points[:1]), strict=True):
        if len(own):
            with gp.pending(own):
                alone.append(gp.predict(points))
        else:
            alone.append(gp.predict(points))
    with told.model.pending(points, [2, 0]) as gps:
        within = [gp.predict(points) for gp in gps]
    for level in range(3):
        np.testing.assert_allclose(within[level].mean, plain[level].mean, atol=1e-9)
        np.testing.assert_array_equal(within[level].deviation, alone[level].deviation)
        np.testing.assert_array_equal(told.model.gps[level].predict(points).deviation, plain[level].deviation)
    assert within[2].deviation[0] < 0.2 * plain[2].deviation[0]
    assert within[0].deviation[1] < 0.2 * plain[0].deviation[1]


def test_five_at_once_differ() -> None:
    search = start(3)
    run(search, 20)
    pending = NONE
    for number in range(20, 25):
        pending = np.vstack([pending, search.ask(number, pending).x])
    assert len(np.unique(pending, axis=0)) == 5


# --- what is recommended


def test_recommended_is_at_the_target_and_near_the_best(told: FidelitySearch) -> None:
    incumbent = told.recommend()
    assert level_of(incumbent.x) == 2
    assert objective(incumbent.x) > 0.9
    assert incumbent.interval is not None
    assert incumbent.interval[0] <= incumbent.value <= incumbent.interval[1]
    assert incumbent.value == pytest.approx(objective(incumbent.x), abs=0.1)
    assert incumbent.gain is not None
    assert 0 <= incumbent.gain.mean <= incumbent.gain.upper < 0.7


def test_no_told_point_is_surer_than_the_recommended(told: FidelitySearch) -> None:
    x = np.delete(told.recommend().x, 1)
    everywhere = np.vstack([gp.x for gp in told.model.gps])
    (mean,), (deviation,) = told.model.blend(x[None, :])
    means, deviations = told.model.blend(everywhere)
    assert mean - deviation >= (means - deviations).max()


def test_recommended_stands_for_its_setting() -> None:
    """Where an axis has few values, the recommended point has one of them."""
    values = np.array([0.125, 0.375, 0.625, 0.875])

    def rounded(points: Array) -> Array:
        found = points.copy()
        found[:, 0] = values[np.abs(points[:, 0, None] - values).argmin(axis=1)]
        return found

    domain = Domain((Axis(tuple(values)), *AXES[1:]), round=rounded, fidelity=DOMAIN.fidelity)
    search = MFGPUCB(noise=0.01).start(domain, 0)
    for number in range(20):
        x = rounded(search.ask(number, NONE).x[None, :])[0]
        search.tell(Observation(number, x, np.array([objective(x)])))
    assert search.recommend().x[0] == 0.625


def test_one_cheap_trial_is_enough_to_recommend() -> None:
    search = start()
    run(search, 1)
    incumbent = search.recommend()
    assert level_of(incumbent.x) == 2
    assert np.isfinite(incumbent.value)
    assert search.explain()["trials of each level"] == [1, 0, 0]
    assert start().explain() == {"trials": 0}


# --- rebuilding


@pytest.mark.parametrize("asks", [True, False])
def test_rebuilt_bit_for_bit(asks: bool) -> None:
    """With replicates, standard errors and pending points; asking again is not needed, since it changes nothing."""
    search, again = start(4), start(4)
    trials, pending = [], NONE
    for number in range(26):
        x = search.ask(number, pending).x
        values = np.array([objective(x)] * (1 + number % 2))
        told = Observation(number, x, values, variance=0.01 if number % 5 == 3 else None)
        if number % 7 == 6:
            pending = np.vstack([pending, x])
        else:
            search.tell(told)
            trials.append((pending, told))
    for waiting, told in trials:
        if asks:
            again.ask(told.number, waiting)
        again.tell(told)
    first, second = search.ask(26, pending), again.ask(26, pending)
    np.testing.assert_array_equal(first.x, second.x)
    assert first.why == second.why
    one, other = search.recommend(), again.recommend()
    np.testing.assert_array_equal(one.x, other.x)
    assert (one.value, one.interval, one.gain) == (other.value, other.interval, other.gain)


def test_looking_changes_nothing() -> None:
    looked, blind = start(5), start(5)
    for number in range(22):
        for search in (looked, blind):
            x = search.ask(number, NONE).x
            search.tell(Observation(number, x, np.array([objective(x)])))
        looked.recommend()
        looked.explain()
        looked.certificate(looked.recommend().x)
    np.testing.assert_array_equal(looked.ask(22, NONE).x, blind.ask(22, NONE).x)


# --- refusals


def test_a_space_without_fidelity_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"expected a space with a fidelity, got a plain cube; add .* or use GPUCB"):
        MFGPUCB().start(Domain.cube(2), 0)
    with pytest.raises(InvalidInput, match="expected a space with a fidelity"):
        MFGPUCB().start(Domain.cube(2), 0)


def test_a_fidelity_alone_is_refused() -> None:
    domain = Domain((Axis(COORDINATES),), fidelity=FidelityAxis(0, COORDINATES, COSTS))
    with pytest.raises(InvalidInput, match="expected a parameter beside the fidelity"):
        MFGPUCB().start(domain, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"zeta": 0.3}, "zeta: expected a bound for each level"),
        ({"zeta": (0.3, -1.0)}, "zeta: expected a finite number >= 0"),
        ({"n_initial": 1}, "n_initial: expected an integer >= 2"),
        ({"noise": 0.0}, "noise: expected a finite number > 0"),
        ({"delta": 2.0}, "delta: expected a probability"),
        ({"form": "infinite"}, "form: expected Finite"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        MFGPUCB(**options)


def test_wrong_number_of_bounds_and_wrong_kernel() -> None:
    with pytest.raises(InvalidInput, match="zeta: expected 2 bounds, one for each level below the target, got 1"):
        start(zeta=(0.3,))
    with pytest.raises(InvalidInput, match="expected points with 3 columns"):
        start(kernel=Matern(2.5, [0.3, 0.3, 0.3]))
