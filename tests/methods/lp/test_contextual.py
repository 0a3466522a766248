"""LP-GP-UCB in contexts: the slice index by brute force, what is stored, what is asked, replays and certificates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array, Ints
from quadrat.confidence import Certificate
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.gp.sketch import Sketch
from quadrat.kernels import Matern
from quadrat.methods.base import Axis, Domain, Observation
from quadrat.methods.lp.cells import Look
from quadrat.methods.lp.contextual import ContextualLPSearch
from quadrat.methods.lp.method import LP0, LPGPUCB
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL = Matern(2.5, [0.4, 0.6])
DOMAIN = Domain((Axis(), Axis()), context=(1,))
CHOICE = Domain((Axis(), Axis((1 / 6, 0.5, 5 / 6), ordered=False)), context=(1,))
NONE = np.empty((0, 2))
F = draw_rkhs_function(KERNEL, 2, norm=1.0, rng=generator(3))


def at(z: float) -> Array:
    return np.array([np.nan, z])


def method(budget: int = 60, **options: Any) -> LPGPUCB:
    return LPGPUCB(**{"kernel": KERNEL, "norm_bound": 1.0, "noise": 0.05, "budget": budget, **options})


def started(given: LPGPUCB, domain: Domain = DOMAIN) -> ContextualLPSearch:
    search = given.start(domain, 5)
    assert isinstance(search, ContextualLPSearch)
    return search


def played(
    n: int, contexts: tuple[float, ...] = (0.2, 0.5, 0.9), *, look: bool = False, **options: Any
) -> tuple[ContextualLPSearch, Array]:
    search, points = started(method(**options)), []
    for number in range(n):
        z = contexts[number % len(contexts)]
        x = search.ask(number, NONE, at(z)).x
        noise = 0.05 * generator(9, number).normal()
        search.tell(Observation(number, x, np.array([float(F.values(x[None])[0]) + noise])))
        points.append(x)
        if look:
            search.recommend(at(0.33))
            search.certificate(search.recommend(at(0.33)).x)
            search.explain()
    return search, np.array(points)


@pytest.fixture(scope="module")
def run() -> tuple[ContextualLPSearch, Array]:
    return played(45)


def up_to_date(search: ContextualLPSearch, nodes: Ints) -> dict[int, float]:
    """U_E of nodes with the data as they are, by node."""
    stored, found = search.cells.upper, search.cells.sharper(nodes)
    sharper = dict(zip(found.nodes.tolist(), found.bounds.tolist(), strict=True))
    return {node: min(float(stored[node]), sharper.get(node, np.inf)) for node in nodes.tolist()}


def test_asking_in_a_context_only_evaluates_that_context(run: tuple[ContextualLPSearch, Array]) -> None:
    _, points = run
    assert points[:, 1].tolist() == [0.2, 0.5, 0.9] * 15
    assert ((points >= 0) & (points <= 1)).all()


def test_the_index_by_brute_force(run: tuple[ContextualLPSearch, Array]) -> None:
    """min(U_E, max over 16 parts of the slice of (upper bound at the part's centre + omega of half a part))."""
    search, _ = run
    cells, slices = search.cells, search.loop.slices
    seen = slices.look(at(0.37), NONE)
    leaves = cells.tree.leaves()
    bounds = up_to_date(search, leaves)
    found = {}
    for leaf in leaves.tolist():
        lower, upper = cells.tree.lower[leaf], cells.tree.upper[leaf]
        if not (lower[1] <= 0.37 < upper[1]):
            continue
        width = upper[0] - lower[0]
        centres = lower[0] + width * (np.arange(16) + 0.5) / 16
        points = np.column_stack([centres, np.full(16, 0.37)])
        reach = float(search.assumptions.variation([width / 32, 0.0]))
        found[leaf] = min(bounds[leaf], float(cells.band.quick_upper(points).max()) + reach)
    assert 1 < len(found) < len(leaves)
    assert seen.index == pytest.approx(max(found.values()), abs=1e-12)
    assert found[seen.leaf] == pytest.approx(max(found.values()), abs=1e-12)
    assert sorted(found) == slices.leaves(at(0.37)).tolist()


def test_a_slice_is_bounded_more_sharply_than_its_cell_and_nothing_of_it_is_stored(
    run: tuple[ContextualLPSearch, Array],
) -> None:
    search, _ = run
    cells, slices = search.cells, search.loop.slices
    leaves = slices.leaves(at(0.5))
    stored, whole = cells.upper.copy(), up_to_date(search, leaves)
    bounds, posteriors = slices.bounds(leaves, at(0.5))
    assert (bounds < [whole[leaf] for leaf in leaves.tolist()]).any()
    assert posteriors == 16 * len(leaves)
    np.testing.assert_array_equal(cells.upper, stored)
    # What is stored holds over the whole cell, contexts that were never asked for included.
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 65), np.linspace(0, 1, 65)), axis=-1).reshape(-1, 2)
    truth = F.values(grid)
    homes = cells.tree.locate_many(grid)
    assert (truth <= cells.upper[homes] + 1e-12).all()


def test_cells_are_halved_along_contexts_too(run: tuple[ContextualLPSearch, Array]) -> None:
    search, _ = run
    sides = search.cells.tree.upper - search.cells.tree.lower
    assert sides[:, 0].min() < 1
    assert sides[:, 1].min() < 1
    assert {entry.action for entry in search.rounds} == {"evaluate", "split"}


def test_pending_points_are_counted_and_change_nothing_stored() -> None:
    search, _ = played(12)
    taken = search.ask(12, NONE, at(0.5)).x[None]
    first = search.cells.upper.copy()
    chosen = taken
    for number in range(13, 16):
        x = search.ask(number, chosen, at(0.5)).x
        assert x[1] == 0.5
        assert not (chosen == x).all(axis=1).any()
        chosen = np.vstack([chosen, x])
    assert (search.cells.upper[: len(first)] <= first).all()
    again, _ = played(12)
    again.cells.refresh(again.cells.tree.leaves())
    common = min(len(again.cells.upper), len(search.cells.upper))
    stored = search.cells.upper[:common]
    assert (stored >= again.cells.upper[:common] - 1e-12).all()  # never below what told data alone allow


def test_all_parts_pending() -> None:
    search = started(method())
    parts = search.loop.slices.parts(0, at(0.25))
    x = search.ask(0, parts, at(0.25)).x
    assert x[1] == 0.25
    assert not (parts == x).all(axis=1).any()


@pytest.mark.parametrize("order", [(0.5, 0.2), (0.2, 0.5)])
def test_what_is_found_in_one_context_does_not_change_answers_in_another(
    order: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the context 0.5 the maximum lies below what is reached, whenever it is asked about; in 0.2 it does not."""
    search, _ = played(9)
    plain = search.loop.slices.look

    def too_low(context: Array, pending: Array) -> Look:
        found = plain(context, pending)
        return replace(found, index=-0.9) if context[1] == 0.5 else found

    monkeypatch.setattr(search.loop.slices, "look", too_low)
    incumbents = {z: search.recommend(at(z)) for z in order}
    assert incumbents[0.5].interval is None
    assert incumbents[0.2].certified
    for z in order:
        found = search.certificate(incumbents[z].x)
        assert isinstance(found, Certificate)
        assert ("below one that is reached" in str(found.rejection)) == (z == 0.5)
    assert search.explain()["rejection"] is None


def test_a_context_is_needed() -> None:
    search, _ = played(3)
    with pytest.raises(InvalidInput, match="context: expected its coordinates"):
        search.ask(3, NONE)
    with pytest.raises(InvalidInput, match="context: expected its coordinates"):
        search.recommend()
    plain = method().start(Domain.cube(2), 0)
    with pytest.raises(NotAvailable, match="expected a method that handles contexts, got CertifiedSearch"):
        plain.ask(0, NONE, at(0.5))


def test_a_run_is_rebuilt_bit_for_bit_and_looking_changes_nothing() -> None:
    (first, points), (again, same) = played(14), played(14, look=True)
    np.testing.assert_array_equal(points, same)
    np.testing.assert_array_equal(first.cells.upper, again.cells.upper)
    one, other = first.certificate(first.recommend(at(0.5)).x), again.certificate(again.recommend(at(0.5)).x)
    assert isinstance(one, Certificate)
    assert isinstance(other, Certificate)
    assert one.value == other.value
    np.testing.assert_array_equal(first.recommend(at(0.5)).x, again.recommend(at(0.5)).x)


@pytest.mark.parametrize("z", [0.2, 0.37, 1.0])
def test_recommendation_and_certificate_of_a_context(run: tuple[ContextualLPSearch, Array], z: float) -> None:
    """Also of contexts that were never seen; the maximum by a fine grid of the true function and of the band."""
    search, _ = run
    got, certificate = search.recommend(at(z)), search.certificate(search.recommend(at(z)).x)
    assert got.x[1] == z
    assert got.certified
    assert got.interval is not None
    assert got.interval[0] <= got.value <= got.interval[1]
    assert isinstance(certificate, Certificate)
    assert certificate.rejection is None
    assert certificate.point[1] == z
    grid = np.column_stack([np.linspace(0, 1, 1001), np.full(1001, z)])
    truth = F.values(grid)
    assert truth.max() <= certificate.maximum
    assert truth.max() - float(F.values(certificate.point[None])[0]) <= certificate.value
    upper = search.band.interval(grid).upper.max()
    assert certificate.maximum <= upper + 0.01
    low = search.band.interval(grid).lower.max()
    assert certificate.value <= upper - low + 0.05


def test_the_certificate_shrinks_with_data() -> None:
    values = []
    for n in (6, 30):
        search = played(n, contexts=(0.3, 0.6))[0]
        certificate = search.certificate(search.recommend(at(0.3)).x)
        assert isinstance(certificate, Certificate)
        values.append(certificate.value)
    assert values[1] < 0.8 * values[0]


def test_choices_as_contexts_and_polynomials() -> None:
    search = started(method(degree=1, threshold=0.2), CHOICE)
    for number in range(24):
        z = (1 / 6, 0.5, 5 / 6)[number % 3]
        x = search.ask(number, NONE, at(z)).x
        assert x[1] == z
        search.tell(Observation(number, x, np.array([float(F.values(x[None])[0])])))
    certificate = search.certificate(search.recommend(at(0.5)).x)
    assert isinstance(certificate, Certificate)
    grid = np.column_stack([np.linspace(0, 1, 501), np.full(501, 0.5)])
    assert F.values(grid).max() - float(F.values(certificate.point[None])[0]) <= certificate.value


def test_wrong_assumptions_are_rejected_and_the_mean_recommends() -> None:
    search = started(method(norm_bound=0.2, noise=0.01))
    for number in range(12):
        x = search.ask(number, NONE, at(0.5)).x
        search.tell(Observation(number, x, np.array([3 * np.sin(6 * x[0])])))
    certificate = search.certificate(search.recommend(at(0.5)).x)
    assert isinstance(certificate, Certificate)
    assert certificate.rejection is not None
    assert np.isnan(certificate.value)
    got = search.recommend(at(0.25))
    assert got.interval is None
    assert got.x[1] == 0.25


def test_standard_errors_are_not_certified() -> None:
    search = started(method())
    search.tell(Observation(0, np.array([0.5, 0.5]), np.array([0.1]), variance=0.01))
    assert "standard error" in str(search.certificate(search.recommend(at(0.5)).x))
    assert not search.recommend(at(0.5)).certified


def test_many_dimensions_have_one_part() -> None:
    domain = Domain((Axis(),) * 6, context=(0,))
    given = LP0(kernel=Matern(2.5, 1.0), norm_bound=1.0, noise=0.1, budget=8, threshold=1.0)
    search = started(given, domain)
    context = np.array([0.25, *[np.nan] * 5])
    for number in range(4):
        x = search.ask(number, np.empty((0, 6)), context).x
        assert x[0] == 0.25
        search.tell(Observation(number, x, np.array([0.1])))
    assert search.loop.slices.parts(0, context).shape == (1, 6)
    assert isinstance(search.certificate(search.recommend(context).x), Certificate)


def test_what_is_refused_and_what_is_said() -> None:
    assert all("contexts" in kind.facts.handles for kind in (LPGPUCB, LP0))
    with pytest.raises(InvalidInput, match="expected a stated kernel, got kernel=None"):
        method(kernel=None).start(DOMAIN, 0)
    with pytest.raises(InvalidInput, match="without a sketch"):
        method(sketch=Sketch()).start(DOMAIN, 0)
    with pytest.raises(InvalidInput, match="at least one parameter that is not a context"):
        method().start(Domain((Axis(), Axis()), context=(0, 1)), 0)
    assert not isinstance(method().start(Domain.cube(2), 0), ContextualLPSearch)
