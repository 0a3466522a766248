"""Asking while very many trials run: bounded models, nothing asked for twice, and few that run are treated as ever."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.gp.ensemble import Ensemble
from quadrat.methods.auto import long_runs as auto_cells
from quadrat.methods.auto import long_runs as crowd
from quadrat.methods.auto import method as auto
from quadrat.methods.auto import surrogate as auto_model
from quadrat.methods.auto.long_runs import highest_of_a_draw, nearest_running
from quadrat.methods.auto.method import Auto, AutoSearch
from quadrat.methods.base import Domain, Observation
from quadrat.optimizer import Optimizer
from quadrat.space import Categorical, Float, Int, Space

TOP = np.array([0.3, 0.7])
NONE = np.empty((0, 2))
MOST = 10  # in the place of that of long runs


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "MOST", MOST)
    monkeypatch.setattr(auto, "MOST", MOST)
    monkeypatch.setattr(auto_cells, "CAPACITY", 8)
    monkeypatch.setattr(auto_cells, "ROWS", 12)


@pytest.fixture
def believed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many points were believed in, call by call."""
    sizes: list[int] = []
    believing = Ensemble.believing

    def counted(self: Ensemble, points: Array) -> Ensemble:
        sizes.append(len(points))
        return believing(self, points)

    monkeypatch.setattr(Ensemble, "believing", counted)
    return sizes


def search_after(n: int, seed: int = 0) -> AutoSearch:
    rng, search = np.random.default_rng(n), Auto().start(Domain.cube(2), seed)
    for number in range(n):
        x = rng.random(2)
        search.tell(Observation(number, x, np.array([-float(((x - TOP) ** 2).sum()) + 0.01 * rng.normal()])))
    return search


def running(count: int) -> Array:
    return np.random.default_rng(99).random((count, 2))


def test_few_that_run_are_all_believed_in_and_in_their_order() -> None:
    points = running(MOST)
    np.testing.assert_array_equal(nearest_running(points, TOP, np.ones(2)), points)


@pytest.mark.parametrize("box", [True, False])
def test_of_many_the_nearest_are(box: bool) -> None:
    points, sides = running(50), np.array([0.5, 0.1])
    apart = np.abs(points - TOP) / sides
    distance = apart.max(axis=1) if box else (apart**2).sum(axis=1)
    expected = points[np.sort(np.argsort(distance)[:MOST])]
    np.testing.assert_array_equal(nearest_running(points, TOP, sides, box=box), expected)


@pytest.mark.parametrize(
    ("told", "largest", "begin", "why"),
    [(20, 256, 100, "highest of a draw of f"), (20, 256, 20, "cell that zooms"), (40, 15, 100, "most promising cell")],
)
def test_a_model_is_bounded_however_many_run(
    told: int, largest: int, begin: int, why: str, believed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In all three ways of asking; nothing is asked for twice, although nothing is told in between."""
    monkeypatch.setattr(auto_model, "LARGEST", largest)
    monkeypatch.setattr(auto_cells, "BEGIN", begin)
    search, points = search_after(told), running(60)
    for number in range(told, told + 4):
        proposal = search.ask(number, points)
        assert why in proposal.why
        assert ((proposal.x >= 0) & (proposal.x <= 1)).all()
        points = np.vstack([points, proposal.x])
    assert max(believed, default=0) <= MOST
    assert len(np.unique(points, axis=0)) == len(points)


def test_with_few_that_run_nothing_is_drawn(believed: list[int]) -> None:
    search = search_after(20)
    assert "expected improvement" in search.ask(20, running(MOST)).why
    assert max(believed) == MOST
    assert "draw" in search.ask(20, running(MOST + 1)).why


def test_draws_are_named_by_the_number_and_gather_where_f_is_high() -> None:
    search = search_after(30)
    points = np.array([highest_of_a_draw(search.surrogates, NONE, 0, number) for number in range(40)])
    np.testing.assert_array_equal(points[3], highest_of_a_draw(search.surrogates, NONE, 0, 3))
    assert len(np.unique(points, axis=0)) == 40
    # Of uniform points half are farther than 0.4 from the top.
    assert np.quantile(np.abs(points - TOP).max(axis=1), 0.75) < 0.2


def test_a_cell_that_is_full_comes_after_those_that_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where something runs in every cell, the best one is searched until as many run there as it can hold."""
    monkeypatch.setattr(auto_model, "LARGEST", 15)
    search = search_after(60)
    cells, surrogates = search.cells, search.surrogates
    tree = cells._grown(surrogates)
    centres = np.array([np.mean(tree.box(leaf), axis=0) for leaf in tree.leaves])

    def searched(points: Array) -> int:
        return tree.leaf_of(np.mean(cells.most_promising(surrogates, points)[1], axis=0))

    best = searched(centres)
    there = np.mean(tree.box(best), axis=0)[None, :]
    assert searched(np.vstack([centres, *[there] * 7])) == best
    assert searched(np.vstack([centres, *[there] * 8])) != best


def test_settings_that_run_are_not_asked_for_again_in_a_space_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Integers and choices: forty settings in all, of which half run."""
    monkeypatch.setattr(crowd, "UNIFORM", 30)
    space = Space(n=Int(1, 10), kind=Categorical(["a", "b", "c", "d"]), x=Float(0, 1, step=1.0))
    optimizer = Optimizer(space, direction="maximize", seed=1)
    for _ in range(6):
        trial = optimizer.ask()
        optimizer.tell(trial, float(trial.params["n"]))
    asked = [tuple(optimizer.ask().params.values()) for _ in range(2 * MOST)]
    assert len(set(asked)) == len(asked)
    assert "draw" in optimizer.trials[-1].why


@pytest.mark.parametrize(
    ("told", "largest", "begin", "why"),
    [(20, 256, 100, "highest of a draw of f"), (20, 256, 20, "cell that zooms"), (40, 15, 100, "most promising cell")],
)
def test_what_runs_is_not_asked_for_again_even_if_it_is_not_believed_in(
    told: int, largest: int, begin: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same number, and a proposal of before that runs, behind nearer ones: nothing but that tells it apart."""
    monkeypatch.setattr(auto_model, "LARGEST", largest)
    monkeypatch.setattr(auto_cells, "BEGIN", begin)
    search = search_after(told)
    tree = search.cells._grown(search.surrogates)
    centres = [np.mean(tree.box(leaf), axis=0) for leaf in tree.leaves]
    if search.cells.trust_regions is not None:
        centres.append(search.cells.trust_regions.cell.centre)
    near = np.random.default_rng(3).uniform(-1e-6, 1e-6, (MOST + 2, 2))
    points = np.vstack([centre + near for centre in centres])
    for number in range(told, told + 3):
        first = search.ask(number, points)
        assert why in first.why
        again = search.ask(number, np.vstack([points, first.x]))
        assert (again.x != first.x).any()
