"""The search for a level set, for both methods: labels, pending points, rejection, recommendation, what is shown."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from tests.labels import labels_at

from quadrat._core.arrays import Array
from quadrat.confidence import Assumptions
from quadrat.kernels import Kernel, Matern
from quadrat.methods.base import ABOVE, BELOW, UNDECIDED, Domain, Observation
from quadrat.methods.level_sets.method import LevelSet, LevelSetMethod, MultiScaleLevelSet
from quadrat.methods.level_sets.search import LevelSearch
from quadrat.problems import RKHSFunction, draw_rkhs_function
from quadrat.randomness import generator

KERNEL = Matern(2.5, 0.4)
NONE = np.empty((0, 2))
Make = Callable[..., LevelSetMethod]


def fixed(**changes: object) -> LevelSetMethod:
    return LevelSet(**_settings(changes))  # type: ignore[arg-type]


def printed(**changes: object) -> LevelSetMethod:
    return LevelSet(**_settings(changes), rule="ambiguity")  # type: ignore[arg-type]


def adaptive(**changes: object) -> LevelSetMethod:
    return MultiScaleLevelSet(**_settings(changes))  # type: ignore[arg-type]


def _settings(changes: dict[str, object]) -> dict[str, object]:
    return {
        "threshold": 0.2, "kernel": KERNEL, "norm_bound": 1.0, "noise": 0.02, "accuracy": 0.05, **changes
    }  # fmt: skip


@pytest.fixture(params=[fixed, printed, adaptive])
def make(request: pytest.FixtureRequest) -> Make:
    return request.param  # type: ignore[no-any-return]


def truth(seed: int, dimension: int = 2, kernel: Kernel = KERNEL) -> RKHSFunction:
    return draw_rkhs_function(kernel, dimension, norm=1.0, rng=generator(seed, 10))


def step(search: LevelSearch, f: RKHSFunction, i: int, x: Array | None = None) -> None:
    x = search.ask(i, np.empty((0, search.dimension))).x if x is None else x
    search.tell(Observation(i, x, np.array([float(f(x)) + 0.02 * generator(0, i, 5).normal()])))


def started(make: Make, seed: int = 0, n: int = 0, **changes: object) -> tuple[LevelSearch, RKHSFunction]:
    f, search = truth(3), make(**changes).start(Domain.cube(2), seed)
    assert isinstance(search, LevelSearch)
    for i in range(n):
        step(search, f, i)
    return search, f


def test_cells_tile_the_cube_and_labels_are_right_and_stay(make: Make) -> None:
    """After every fourth evaluation; a point that is decided keeps its label."""
    search, f = started(make)
    grid = generator(1).random((400, 2))
    values = f.values(grid)
    before = np.full(400, UNDECIDED)
    for i in range(32):
        step(search, f, i)
        if i % 4 == 3:
            found = search.level_set()
            assert found.reason is None
            assert found.volumes.sum() == pytest.approx(1.0)
            labels = labels_at(found, grid)
            assert (values[labels == ABOVE] > 0.2 - 0.05).all()
            assert (values[labels == BELOW] < 0.2 + 0.05).all()
            assert (labels[before != UNDECIDED] == before[before != UNDECIDED]).all()
            before = labels
    assert (before != UNDECIDED).mean() > 0.2


def test_a_search_is_rebuilt_by_telling_alone_bit_for_bit(make: Make) -> None:
    search, f = started(make, n=20)
    again = make().start(Domain.cube(2), 0)
    for i in range(20):
        x = search.cells.tree.points[i]
        again.tell(Observation(i, x, np.array([search.cells.values[i]])))
    first, second = search.level_set(), again.level_set()
    for name in ("lower", "upper", "label", "low", "high"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    pending = generator(2).random((3, 2))
    np.testing.assert_array_equal(search.ask(20, pending).x, again.ask(20, pending).x)
    assert f is not None


def test_looking_and_asking_change_nothing(make: Make) -> None:
    looked, f = started(make, n=12)
    blind, _ = started(make, n=12)
    looked.ask(12, generator(2).random((4, 2)))
    looked.level_set()
    looked.recommend()
    looked.certificate(looked.recommend().x)
    looked.explain()
    for search in (looked, blind):
        for i in range(12, 16):
            step(search, f, i)
    np.testing.assert_array_equal(looked.cells.tree.points, blind.cells.tree.points)
    np.testing.assert_array_equal(looked.level_set().low, blind.level_set().low)


def test_pending_points_steer_and_differ(make: Make) -> None:
    search, _ = started(make, n=15)
    pending = NONE
    for i in range(15, 21):
        proposal = search.ask(i, pending)
        assert "undecided" in proposal.why
        assert not len(pending) or np.abs(pending - proposal.x).max(axis=1).min() > 1e-6
        pending = np.vstack([pending, proposal.x])
    spread = np.linalg.norm(pending[:, None] - pending[None], axis=2)
    assert np.median(spread[np.triu_indices(6, 1)]) > 0.1, "they do not crowd"


def test_where_every_candidate_is_pending_it_draws(make: Make) -> None:
    search = make().start(Domain.cube(1), 0)
    assert isinstance(search, LevelSearch)
    everything = np.arange(513)[:, None] / 512  # centres and lattice of either method
    x = search.ask(0, everything).x
    assert 0 <= x[0] <= 1
    assert not (x == everything).all(axis=1).any()


def test_when_all_is_decided_it_goes_on_and_says_so(make: Make) -> None:
    """The threshold is above B s: nothing needs an evaluation."""
    search, f = started(make, n=3, threshold=1.5)
    assert search.level_set().volume(BELOW) == 1.0
    proposal = search.ask(3, NONE)
    assert proposal.why == "every cell is decided: where f is known least"
    nearest = np.linalg.norm(search.cells.tree.points - proposal.x, axis=1).min()
    assert nearest > 0.2
    assert f is not None


def test_data_that_reject_the_assumptions_leave_nothing_decided(make: Make) -> None:
    search, _ = started(make)
    for i, x in enumerate(generator(0).random((30, 2))):
        search.tell(Observation(i, x, np.array([5.0 * (-1.0) ** i])))
    found = search.level_set()
    assert found.rejection is not None
    assert found.reason == found.rejection
    assert (found.label == UNDECIDED).all()
    assert np.isfinite(found.low).all()
    incumbent = search.recommend()
    assert incumbent.interval is None
    assert not incumbent.certified
    assert ((search.ask(30, NONE).x >= 0) & (search.ask(30, NONE).x <= 1)).all()


def test_what_a_recommendation_sees_does_not_change_the_labels(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left at the points that `recommend` looks at; the labels rest on what was told."""
    search, _ = started(make, n=6)
    before = search.level_set()
    assert before.rejection is None
    monkeypatch.setattr(search.cells.band, "_reach", np.full(6, -0.5))
    assert search.recommend().interval is None
    after = search.level_set()
    assert after.rejection is None
    np.testing.assert_array_equal(after.label, before.label)
    assert search.explain()["rejection"] is None


def test_bounds_that_leave_nothing_when_they_are_brought_up_reject(monkeypatch: pytest.MonkeyPatch) -> None:
    search, f = started(fixed, n=2)
    monkeypatch.setattr(search.cells.band, "_update", lambda: None)
    monkeypatch.setattr(search.cells.band, "_reach", np.full(6, -0.5))
    step(search, f, 2, np.array([0.3, 0.4]))
    assert "no value of f is left at some point" in str(search.level_set().rejection)


def test_standard_errors_void_the_guarantee(make: Make) -> None:
    search, _ = started(make, n=5)
    search.tell(Observation(5, np.array([0.5, 0.5]), np.array([0.1]), variance=0.01))
    assert "sub-Gaussian" in str(search.level_set().reason)
    assert search.level_set().rejection is None
    assert not search.recommend().certified


def test_it_recommends_the_point_of_the_largest_lower_bound(make: Make) -> None:
    search, f = started(make, n=25)
    incumbent = search.recommend()
    assert incumbent.certified
    assert incumbent.interval is not None
    low, high = incumbent.interval
    assert low <= float(f(incumbent.x)) <= high
    assert low <= incumbent.value <= high
    leaves = search.cells.tree.leaves()
    everything = np.vstack([search.cells.band.x, search.cells.centres(leaves)])
    assert low == pytest.approx(search.cells.band.interval(everything).lower.max(), abs=1e-9)
    assert "looks for a level set" in str(search.certificate(search.recommend().x))


def test_the_explanation_is_plain_data(make: Make) -> None:
    search, _ = started(make, n=10)
    found = json.loads(json.dumps(search.explain()))
    assert sum(cell["points"] for cell in found["cells"]) == 10
    assert sum(found["volumes"].values()) == pytest.approx(1.0)
    assert found["bounds as of observation"] == 10
    assert {cell["label"] for cell in found["cells"]} <= {"above", "below", "undecided"}


def test_turning_it_swaps_above_and_below(make: Make) -> None:
    """-f with the threshold turned: the same points, mirrored bounds, mirrored labels."""
    search, f = started(make, n=0)
    turned = make().turned().start(Domain.cube(2), 0)
    for i in range(25):
        x = search.ask(i, NONE).x
        np.testing.assert_array_equal(x, turned.ask(i, NONE).x)
        y = float(f(x)) + 0.02 * generator(0, i, 5).normal()
        search.tell(Observation(i, x, np.array([y])))
        turned.tell(Observation(i, x, np.array([-y])))
    first, second = search.level_set(), turned.level_set()
    assert not isinstance(second, str)
    np.testing.assert_array_equal(first.label, -second.label)
    np.testing.assert_array_equal(first.low, -second.high)


def test_replicates_count_one_by_one(make: Make) -> None:
    search, _ = started(make)
    search.tell(Observation(0, np.array([0.5, 0.5]), np.array([0.1, 0.2, 0.3])))
    assert len(search.cells.values) == 3
    assert search.cells.band.counts.tolist() == [3]


def test_reduction_evaluates_what_sharpens_most_by_brute_force() -> None:
    """The score of the chosen point, from posteriors with and without it, is the largest over the lattice."""
    search, _ = started(adaptive, n=12)
    nodes = search.cells.undecided()
    assert 50 < len(nodes) <= 384, "more would not all be looked at"
    cells, gp = search.cells, search._steer
    centres, low, high = cells.centres(nodes), cells.low(nodes), cells.high(nodes)
    q = np.minimum((np.abs((low + high) / 2 - 0.2) + 0.05) / ((high - low) / 2), 1.0)
    volume = np.prod(cells.tree.upper[nodes] - cells.tree.lower[nodes], axis=1)
    before = gp.predict(centres).deviation ** 2
    assert search._lattice is not None
    lattice = np.unique(np.round(centres / search._lattice) * search._lattice, axis=0)

    def gained(x: Array) -> float:
        with gp.pending(x[None]):
            after = gp.predict(centres).deviation ** 2
        return float((volume * (q**2 + 1e-6) * (before - after) / before).sum())

    best = max(gained(x) for x in lattice)
    assert gained(search.ask(12, NONE).x) == pytest.approx(best, rel=1e-9)


def test_ambiguity_evaluates_the_most_ambiguous_cell() -> None:
    search, _ = started(printed, n=12)
    leaves = search.cells.tree.leaves()
    ambiguity = np.minimum(search.cells.high(leaves) - 0.2, 0.2 - search.cells.low(leaves))
    x = search.ask(12, NONE).x
    node = search.cells.tree.locate(x)
    assert ambiguity[np.flatnonzero(leaves == node)[0]] == pytest.approx(ambiguity.max())
    np.testing.assert_array_equal(x, search.cells.tree.cell(node).centre)


@pytest.mark.parametrize(
    ("dimension", "kernel"), [(1, KERNEL), (3, KERNEL), (6, Matern(2.5, 1.0)), (2, Matern(0.5, 1))]
)
def test_other_dimensions_and_kernels(make: Make, dimension: int, kernel: Kernel) -> None:
    search = make(kernel=kernel).start(Domain.cube(dimension), 0)
    assert isinstance(search, LevelSearch)
    f = truth(0, dimension, kernel)
    for i in range(6):
        step(search, f, i)
    assert search.level_set().volumes.sum() == pytest.approx(1.0)
    assert search.cells.assumptions == Assumptions(kernel, 1.0, 0.02)
