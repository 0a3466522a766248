"""Which cell is zoomed into, and when: against a log of what was told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.methods.auto.trust_region import WINDOW, TrustRegion, TrustRegions, generation_size

START = np.array([0.15, 0.2])


def two_peaks(x: Array) -> float:
    """The higher one in the upper right corner, the other near to where the first cell begins."""
    low, high = float(((x - 0.2) ** 2).sum()), float(((x - 0.8) ** 2).sum())
    return float(np.exp(-10 * low) + 2 * np.exp(-10 * high))


def begun(seed: int = 0, choices: tuple[bool, ...] = (False, False)) -> TrustRegions:
    start = np.resize(START, len(choices))
    return TrustRegions(start, np.array(choices), seed)


@dataclass
class Stint:
    """Evaluations of one cell in a row, and its level at their end."""

    cell: TrustRegion
    length: int
    level: float


def evaluate(trust_regions: TrustRegions, f: Callable[[Array], float], number: int) -> TrustRegion | None:
    """Let it evaluate a point of its own; return the cell that was told, or None where the point was out of reach."""
    cell, used = trust_regions.cell, trust_regions.cell.used
    x = cell.candidates(8, np.random.default_rng(number))[-1]
    trust_regions.tell(x, f(x))
    return cell if cell.used > used else None


def go_on(trust_regions: TrustRegions, until: Callable[[], bool], f: Callable[[Array], float] = two_peaks) -> None:
    """Let it evaluate points of its own until something has happened, which it does before long."""
    for number in range(1000):
        evaluate(trust_regions, f, number)
        if until():
            return
    pytest.fail("it goes on for ever")


def stints_of(trust_regions: TrustRegions, f: Callable[[Array], float], n: int) -> list[Stint]:
    """All but the last, which is not over. One is over when the cell changes, or comes to its end the first time."""
    stints: list[Stint] = []
    ended: list[TrustRegion] = []
    is_over = True
    for number in range(n):
        cell = evaluate(trust_regions, f, number)
        if cell is None:
            continue
        if is_over or cell is not stints[-1].cell:
            stints.append(Stint(cell, 0, 0.0))
        stints[-1].length += 1
        stints[-1].level = cell.level
        is_over = cell.is_at_its_end and not any(cell is other for other in ended)
        if is_over:
            ended.append(cell)
    return stints[:-1]


# --- one after another


def test_the_first_cell_begins_at_the_place_given_and_the_second_in_the_middle() -> None:
    assert begun().best is None
    trust_regions = begun()
    assert trust_regions.cell.centre.tolist() == START.tolist()
    first = trust_regions.cell
    go_on(trust_regions, lambda: trust_regions.cell is not first)
    assert first.is_at_its_end
    assert first.centre == pytest.approx([0.2, 0.2], abs=0.02)
    assert trust_regions.best is first
    assert trust_regions.cells == 2
    assert trust_regions.cell.centre.tolist() == [0.5, 0.5]
    assert trust_regions.cell.used == 0


@pytest.mark.parametrize("f", [two_peaks, lambda x: -two_peaks(x), lambda x: float(np.sin(9 * x).sum())])
def test_new_cells_and_the_best_one_have_the_same_number_of_evaluations(f: Callable[[Array], float]) -> None:
    """After the first two cells, and after every further one, the best of all so far has as many as the last took."""
    stints = stints_of(begun(), f, 3000)
    assert len(stints) >= 6, "several times round"
    assert stints[0].cell is not stints[1].cell
    best, seen = stints[0], [stints[0].cell]
    for new, again in zip(stints[1::2], stints[2::2], strict=False):
        assert not any(new.cell is cell for cell in seen)
        seen.append(new.cell)
        if new.level > best.level:
            best = new
        assert again.cell is best.cell
        assert again.length == new.length
        best = again


def test_a_better_cell_becomes_the_best_one() -> None:
    """The second one finds the higher peak, and is gone on with."""
    first, second, again = stints_of(begun(), two_peaks, 1500)[:3]
    assert second.level > first.level + 0.5
    assert again.cell is second.cell
    assert again.cell.centre == pytest.approx([0.8, 0.8], abs=0.01)


def test_later_cells_begin_anywhere_but_near_the_faces_and_as_the_seed_says() -> None:
    """Drawn by the seed and by their number alone: what was told before has no say in it."""
    places: dict[int, list[tuple[float, ...]]] = {}
    for seed in (0, 1):
        for f in (two_peaks, lambda x: -two_peaks(x)):
            trust_regions, centres = begun(seed), []
            for number in range(1500):
                before = trust_regions.cells
                evaluate(trust_regions, f, number)
                if trust_regions.cells > before:
                    centres.append(tuple(trust_regions.cell.centre.tolist()))
            assert len(centres) >= 3
            assert centres[0] == (0.5, 0.5)
            assert places.setdefault(seed, centres[1:3]) == centres[1:3]
            assert all(0.2 <= coordinate <= 0.8 for centre in centres for coordinate in centre)
    assert not set(places[0]) & set(places[1])
    assert len(set(places[0])) == 2


def test_the_choices_of_the_second_cell_are_drawn() -> None:
    zoomings = [begun(seed, (False, True, False)) for seed in (0, 1)]
    for trust_regions in zoomings:
        go_on(trust_regions, lambda: trust_regions.cells > 1, lambda _: -inf)  # noqa: B023  # called at once
        assert trust_regions.cell.centre[[0, 2]].tolist() == [0.5, 0.5]
        assert trust_regions.cell.choices.tolist() == [False, True, False]
    assert zoomings[0].cell.centre[1] != zoomings[1].cell.centre[1]


# --- a pure function of what was told, in its order


def test_equal_histories_have_equal_cells() -> None:
    """The second one is told what the first asked for, and is never asked itself."""
    one, other = begun(4), begun(4)
    for number in range(1500):
        x = one.cell.candidates(8, np.random.default_rng(number))[-1]
        assert one.tell(x, two_peaks(x)) is other.tell(x, two_peaks(x))
        assert (one.cells, one.moves) == (other.cells, other.moves)
        np.testing.assert_array_equal(one.cell.centre, other.cell.centre)
        np.testing.assert_array_equal(one.cell.sides, other.cell.sides)
    assert one.cells > 2


@pytest.mark.parametrize("kind", ["plain", "some fail", "all fail", "at the centre"])
def test_the_number_of_moves_names_the_cell_and_its_shape(kind: str) -> None:
    """As long as it is the same, so are the centre and the sides: what is learned for one is remembered by it."""
    trust_regions, rng = begun(), np.random.default_rng(0)
    seen: dict[int, bytes] = {}
    for number in range(1200):
        x = trust_regions.cell.candidates(8, np.random.default_rng(number))[-1 if kind != "at the centre" else 0]
        fails = kind == "all fail" or (kind == "some fail" and (rng.random() < 0.4 or number // 40 % 2))
        before = trust_regions.moves
        moved = trust_regions.tell(x, -inf if fails else two_peaks(x))
        assert trust_regions.moves == before + moved
        shape = trust_regions.cell.centre.tobytes() + trust_regions.cell.sides.tobytes()
        assert seen.setdefault(trust_regions.moves, shape) == shape
    assert trust_regions.cells > 1


def test_what_is_out_of_reach_does_not_count() -> None:
    """Nor does it matter for how long."""
    one, other = begun(), begun()
    for number in range(400):
        x = one.cell.candidates(8, np.random.default_rng(number))[-1]
        far = one.cell.centre + 6 * one.cell.sides
        assert not one.tell(far, 100.0)
        assert one.tell(x, two_peaks(x)) is other.tell(x, two_peaks(x))
    assert (one.moves, one.cell.used) == (other.moves, other.cell.used)
    np.testing.assert_array_equal(one.cell.centre, other.cell.centre)


# --- many at once


def of_cell(cell: TrustRegion) -> tuple[object, ...]:
    """Everything that a cell knows, to the last bit."""
    arrays = (cell.centre, cell.sides, cell._spread, cell._path, cell._drift, np.array(cell.levels))
    told = [(x.tobytes(), value) for x, value in cell._told]
    return *(part.tobytes() for part in arrays), cell.step, cell.used, cell._idle, told


def of_all(trust_regions: TrustRegions) -> tuple[object, ...]:
    best = None if trust_regions.best is None else of_cell(trust_regions.best)
    return (
        of_cell(trust_regions.cell),
        best,
        trust_regions.best is trust_regions.cell,
        trust_regions.cells,
        trust_regions.moves,
        trust_regions._until,
    )


def told_to(
    trust_regions: TrustRegions, n: int, f: Callable[[Array], float], seed: int
) -> tuple[Array, list[float], list[int], list[tuple[object, ...]]]:
    """Tell it points one after another: in and out of reach, at the centre, some that fail, some that follow others.

    Returns the points, their values, the indices of those that moved anything, and what it was after each of them.
    """
    rng, dimension = np.random.default_rng(seed), len(trust_regions.cell.centre)
    points, values, moved, after = np.empty((n, dimension)), [], [], []
    for i in range(n):
        own = trust_regions.cell.candidates(8, rng)
        kind = rng.choice(["own", "centre", "one axis", "anywhere", "far"], p=[0.65, 0.05, 0.05, 0.15, 0.1])
        far = np.clip(trust_regions.cell.centre + 5 * trust_regions.cell.sides, 0, 1)
        points[i] = {"own": own[-1], "centre": own[0], "one axis": own[1], "far": far}.get(kind, rng.random(dimension))
        values.append(-inf if rng.random() < 0.1 else f(points[i]))
        if trust_regions.tell(points[i].copy(), values[-1]):
            moved.append(i)
        after.append(of_all(trust_regions))
    return points, values, moved, after


CASES: dict[str, tuple[tuple[bool, ...], Callable[[Array], float]]] = {
    "plane": ((False, False), two_peaks),
    "plain": ((False, False), lambda _: 1.0),
    "all fail": ((False, False), lambda _: -inf),
    "choices": ((False, True, False), lambda x: two_peaks(x[[0, 2]]) + float(x[1] < 0.4)),
    "nothing but choices": ((True, True), two_peaks),
    "a line": ((False,), lambda x: float(np.sin(9 * x[0]))),
    "six axes": ((False,) * 6, lambda x: -float(((x - 0.6) ** 2).sum())),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_many_at_once_are_one_after_another_bit_for_bit(case: str, seed: int) -> None:
    """All at once, and in stretches shorter and longer than what is looked at together; the last that moved is told."""
    choices, f = CASES[case]
    alone = begun(seed, choices)
    points, values, moved, after = told_to(alone, 700, f, seed)
    together = begun(seed, choices)
    assert together.tell_many(points, values) == (moved[-1] if moved else None)
    assert of_all(together) == of_all(alone)
    for length in (5, 31, 32, 33, 100):
        some = begun(seed, choices)
        for i in range(0, len(points), length):
            part = range(i, min(i + length, len(points)))
            last = some.tell_many(points[i : i + length], values[i : i + length])
            assert last == max((k - i for k in moved if k in part), default=None)
            assert of_all(some) == after[part[-1]]
    if case != "nothing but choices":
        assert len(moved) > 10
        assert alone.cells > 1 or case == "six axes"


def test_none_at_once_moves_nothing() -> None:
    trust_regions = begun()
    before = of_all(trust_regions)
    assert trust_regions.tell_many(np.empty((0, 2)), []) is None
    assert of_all(trust_regions) == before


def test_many_out_of_reach_move_nothing() -> None:
    trust_regions = begun()
    trust_regions.cell.step = 0.01
    before = of_all(trust_regions)
    assert trust_regions.tell_many(np.random.default_rng(0).uniform(0.5, 1.0, (300, 2)), [1.0] * 300) is None
    assert of_all(trust_regions) == before


# --- cells that lead nowhere


def test_a_cell_in_which_everything_fails_comes_to_an_end() -> None:
    """Its sides are halved until it has none; then the next one begins in the middle."""
    trust_regions = begun()
    go_on(trust_regions, lambda: trust_regions.cells > 1, lambda _: -inf)
    assert trust_regions.cells == 2
    assert trust_regions.cell.centre.tolist() == [0.5, 0.5]
    assert trust_regions.best is not None
    assert trust_regions.best.level == -inf


def test_a_cell_that_stands_still_comes_to_an_end_and_so_does_its_second_time() -> None:
    """Nothing but its centre is evaluated; the best one is given as many evaluations as the others took."""
    trust_regions, changes, each = begun(), [], WINDOW * generation_size(2)
    for told in range(1, 6 * each):
        before = trust_regions.cells
        trust_regions.tell(trust_regions.cell.centre, 1.0)
        if trust_regions.cells > before:
            changes.append(told)
    assert changes == [each, 3 * each, 5 * each]


# --- places


def test_places_are_the_best_cell_and_the_one_to_evaluate_in() -> None:
    trust_regions = begun()
    [(centre, sides)] = trust_regions.places
    np.testing.assert_array_equal(centre, START)
    np.testing.assert_array_equal(sides, trust_regions.cell.sides)
    go_on(trust_regions, lambda: trust_regions.cells == 2)
    assert trust_regions.best is not None
    (best, _), (now, _) = trust_regions.places
    np.testing.assert_array_equal(best, trust_regions.best.centre)
    np.testing.assert_array_equal(now, [0.5, 0.5])
    go_on(trust_regions, lambda: trust_regions.cell.is_at_its_end)
    assert trust_regions.cell is trust_regions.best
    assert len(trust_regions.places) == 1
