"""A trust region: its centre moves, and its sides grow and shrink with the success of the evaluations in it.

The state of a separable evolution strategy [H16; RH08]: a centre m, a step s and a spread c_i for each axis; sides are
s sqrt(c_i). After every generation of `size` evaluations the centre moves to a weighted mean of the better half, the
step grows when successive moves go the same way and shrinks when they cancel [H16, equations 41 to 44], and the spread
of each axis follows the moves and the better half along it [H16, equations 45 and 47, on the diagonal; RH08]. It takes
from the values told nothing but their order, costs O(D) for each of them, and whatever was evaluated within its reach
counts, whoever asked for it, as injected points do [H11].

Which of the cell's candidates are evaluated is decided by a model of f around it (`quadrat.methods.auto.long_runs`): a
trust region [E19] whose shape is learned, and in which what the model leaves to chance is drawn.

References
----------
[E19]   Eriksson, Pearce, Gardner, Turner and Poloczek (2019). Scalable global optimization via local Bayesian
        optimization. NeurIPS.
[H11]   Hansen (2011). Injecting external solutions into CMA-ES. INRIA research report RR-7748.
[H16]   Hansen (2016). The CMA evolution strategy: a tutorial. arXiv:1604.00772.
[RH08]  Ros and Hansen (2008). A simple modification in CMA-ES achieving linear time and space complexity. PPSN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, exp, log, sqrt

import numpy as np

from quadrat._core.arrays import Array, Bools, Ints
from quadrat.randomness import generator

__all__ = ["Alternation", "TrustRegion", "TrustRegions", "generation_size"]

REST = 4  # turns of a round that go to the better way
_TOP = 0.25  # of a turn's values, the highest, whose mean counts: one lucky value is not a find
_ENOUGH = 0.75  # of a turn's trials, told: those that run long or failed are not waited for


class Alternation:
    """Trial numbers and values go in; whose turn it is comes out.

    Parameters
    ----------
    first
        The number of the first trial that is counted.
    length
        Trials of a turn.

    Examples
    --------
    >>> turns = Alternation(100, 4)
    >>> [turns.is_local(number) for number in (100, 103, 104, 107)]
    [True, True, False, False]
    >>> for number in range(100, 108):
    ...     turns.tell(number, 1.0 if number < 104 else 0.0)
    >>> all(turns.is_local(number) for number in range(108, 124))
    True
    """

    def __init__(self, first: int, length: int) -> None:
        self.first, self.length = first, length
        self.decided: dict[int, bool] = {}  # round: whether zooming has the rest of it
        self._told: dict[int, tuple[list[float], list[float]]] = {}  # round: values found by zooming and not

    def is_local(self, number: int) -> bool:
        """Whether the trial is one of those around the best place."""
        which, turn = divmod((number - self.first) // self.length, 2 + REST)
        return turn % 2 == 0 if turn < 2 or which not in self.decided else self.decided[which]

    def tell_many(self, numbers: Ints, values: Array) -> None:
        """Take in the values (n,) of trials (n,), one after another; those without one are minus infinity."""
        turn = (numbers - self.first) // self.length % (2 + REST)
        for i in np.flatnonzero((numbers >= self.first) & (turn < 2) & np.isfinite(values)).tolist():
            self.tell(int(numbers[i]), float(values[i]))

    def tell(self, number: int, value: float) -> None:
        """Take in the value of a trial."""
        which, turn = divmod((number - self.first) // self.length, 2 + REST)
        if number < self.first or turn >= 2 or which in self.decided:
            return
        found = self._told.setdefault(which, ([], []))
        found[turn].append(value)
        if min(map(len, found)) >= ceil(_ENOUGH * self.length):
            trust_regions, wide = (_height(values) for values in found)
            self.decided[which] = trust_regions >= wide
            del self._told[which]


def _height(values: list[float]) -> float:
    """Mean of the highest."""
    count = max(1, round(_TOP * len(values)))
    return float(np.mean(np.sort(values)[-count:]))


FIRST_STEP = 0.25  # of the cube's side
LARGEST_STEP = 0.5
SMALLEST_SIDE = 1e-4  # the longest side below which a cell has nothing left to find
_NARROWEST = 1e-12  # that any side becomes: narrower ones hardly tell points apart, and at last vanish
WINDOW = 10  # generations in which a cell that has not become better is at its end
LEVEL = 5  # generations whose values say how good a cell is
_CENTRAL = 1e-6  # of the sides: what counts as the centre itself
_MOVED = 0.125  # of the axes: on so many at least a draw differs from the centre; on others it was rounded or clipped
ONE_AXIS = 0.0625  # of the candidates, which differ from the centre on one axis, and there by anything
ANOTHER_CHOICE = 0.2  # the chance that a candidate has another choice than the centre, on each axis of choices


def generation_size(dimension: int) -> int:
    """Return how many evaluations there are between two moves: 4 + 3 log D [H16, equation 48]."""
    return int(4 + 3 * log(dimension))


@dataclass(frozen=True)
class _Rates:
    """The constants of an evolution strategy in D dimensions [H16, equations 49 to 58; RH08, section 3]."""

    weights: Array  # of the better half, the best first
    mass: float  # effective number of them
    path: float  # c_sigma
    damping: float  # d_sigma
    drift: float  # c_c
    one: float  # c_1
    many: float  # c_mu
    typical: float  # E |N(0, I)|

    @staticmethod
    @cache
    def of(dimension: int) -> _Rates:
        d, size = dimension, generation_size(dimension)
        raw = log((size + 1) / 2) - np.log(np.arange(1, size // 2 + 1))
        weights = raw / raw.sum()
        mass = float(1 / np.sum(weights**2))
        path = (mass + 2) / (d + mass + 5)
        faster = (d + 2) / 3  # D spreads are learned faster than D^2 covariances [RH08]
        one = min(1.0, faster * 2 / ((d + 1.3) ** 2 + mass))
        return _Rates(
            weights,
            mass,
            path,
            1 + 2 * max(0.0, sqrt((mass - 1) / (d + 1)) - 1) + path,
            (4 + mass / d) / (d + 4 + 2 * mass / d),
            one,
            min(1 - one, faster * 2 * (mass - 2 + 1 / mass) / ((d + 2) ** 2 + mass)),
            sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d * d)),
        )


class TrustRegion:
    """Evaluated points and their values go in; a centre, sides and candidates come out.

    Parameters
    ----------
    centre
        Shape (D,).
    choices
        Which axes are choices, among which there is no way up, shape (D,): the centre has that of the best point.

    Examples
    --------
    >>> cell = TrustRegion(np.array([0.2, 0.8]), np.zeros(2, dtype=np.bool_))
    >>> for number in range(300):
    ...     point = cell.candidates(2, np.random.default_rng(number))[1]
    ...     _ = cell.tell(point, -float(((point - 0.5) ** 2).sum()))
    >>> bool(np.abs(cell.centre - 0.5).max() < 0.01)
    True
    """

    def __init__(self, centre: Array, choices: Bools) -> None:
        self.centre = np.array(centre, dtype=np.float64)
        self.choices = choices
        self.step, self.used = FIRST_STEP, 0
        self.levels: list[float] = []  # the mean value of each generation
        self._numbers = ~choices
        self._axes = max(1, int(self._numbers.sum()))  # that steps are made along, of which alone their length speaks
        self._size = generation_size(self._axes)
        self._idle = 0  # evaluations since the last generation ended
        self._spread = np.ones(len(centre))
        self._path, self._drift = np.zeros(len(centre)), np.zeros(len(centre))
        self._told: list[tuple[Array, float]] = []

    @property
    def sides(self) -> Array:
        """Standard deviations of the candidates, shape (D,)."""
        return np.maximum(self.step * np.sqrt(self._spread), _NARROWEST)

    @property
    def level(self) -> float:
        """How good what is evaluated here is: the mean value of the last generations."""
        return float(np.mean(self.levels[-LEVEL:])) if self.levels else -np.inf

    @property
    def is_at_its_end(self) -> bool:
        """Whether the last generations were no better than those before, it has no width left, or it stands still."""
        recent, before = self.levels[-WINDOW:], self.levels[-2 * WINDOW : -WINDOW]
        stagnates = len(before) == WINDOW and bool(np.median(recent) <= np.median(before))
        return stagnates or float(self.sides.max()) < SMALLEST_SIDE or self.stands_still

    @property
    def stands_still(self) -> bool:
        """Whether what is evaluated does not move it: the only end that comes between two moves."""
        return self._idle >= WINDOW * self._size

    def candidates(self, count: int, rng: np.random.Generator) -> Array:
        """Return the centre, which is often better than any point around it, and draws: (count, D), inside the cube."""
        points = self.centre + self.sides * rng.standard_normal((count, len(self.centre)))
        if self.choices.any():
            other = rng.random(points.shape) < ANOTHER_CHOICE
            points = np.where(self.choices, np.where(other, rng.random(points.shape), self.centre), points)
        points[0] = self.centre
        alone = np.arange(1, 1 + int(ONE_AXIS * count))
        points[alone] = self.centre
        points[alone, rng.integers(0, len(self.centre), len(alone))] = rng.random(len(alone))
        return np.clip(points, 0.0, 1.0)

    def look(self, points: Array) -> tuple[Bools, Bools]:
        """Return which points (n, D) the cell could have drawn, and which of them are draws, each (n,).

        Those further away would tear it apart [H11]. And what differs from the centre on few axes is no draw: a step
        that is learned from such points would only shrink.
        """
        d = self._axes
        away = np.where(self._numbers, (points - self.centre) / self.sides, 0.0)
        squares = np.add.accumulate(away * away, axis=1)[:, -1]  # the same to the last bit for one point or many
        moved = (np.abs(away) >= _CENTRAL).sum(axis=1)
        return squares <= (sqrt(d) + 2 * d / (d + 2)) ** 2, moved >= _MOVED * self._numbers.sum()

    def tell(self, x: Array, value: float) -> bool:
        """Take in a value at a point (D,) within reach, minus infinity where that failed; return whether it moved."""
        return self.take(x, value, is_draw=bool(self.look(x[None, :])[1][0]))

    def take(self, x: Array, value: float, *, is_draw: bool) -> bool:
        """As `tell`, where it is known whether the point is a draw of the cell."""
        self.used += 1
        self._idle += 1
        if not is_draw:
            return False
        self._told.append((x, value))
        if len(self._told) < self._size:
            return False
        self._move()
        self._told, self._idle = [], 0
        return True

    def _move(self) -> None:
        """End a generation [H16, equations 41 to 47]."""
        rates, d = _Rates.of(self._axes), self._axes
        values = np.array([value for _, value in self._told])
        succeeded = values[np.isfinite(values)]
        if not len(succeeded):
            self.step *= 0.5  # nothing here can be evaluated: look nearer to what could
            return
        self.levels.append(float(np.mean(succeeded)))
        better = np.argsort(-values, kind="stable")[: len(rates.weights)]
        points = np.array([self._told[i][0] for i in better])
        sides, spreads = self.sides, np.sqrt(self._spread)
        steps = np.where(self._numbers, (points - self.centre) / sides, 0.0)  # in units of the sides
        move = rates.weights @ steps
        self.centre = np.where(self._numbers, np.clip(self.centre + sides * move, 0.0, 1.0), points[0])
        self._path = (1 - rates.path) * self._path + sqrt(rates.path * (2 - rates.path) * rates.mass) * move
        length = float(np.linalg.norm(self._path))
        begun = 1 - (1 - rates.path) ** (2 * len(self.levels))
        steady = length / sqrt(begun) < (1.4 + 2 / (d + 1)) * rates.typical  # no burst of growth at the start
        self._drift = (1 - rates.drift) * self._drift
        if steady:
            self._drift += sqrt(rates.drift * (2 - rates.drift) * rates.mass) * spreads * move
        lost = 0.0 if steady else rates.drift * (2 - rates.drift)
        kept = (1 - rates.one - rates.many + rates.one * lost) * self._spread
        spread = kept + rates.one * self._drift**2 + rates.many * (rates.weights @ (spreads * steps) ** 2)
        self._spread = np.where(self._numbers, spread, 1.0)
        growth = exp(min(1.0, rates.path / rates.damping * (length / rates.typical - 1)))
        self.step = min(self.step * growth, LARGEST_STEP)


_BEGINNINGS = 15  # names the stream of centres
_AT_ONCE = 32  # points that are looked at together
_MARGIN = 0.2  # of the cube's side, kept to its faces by the centres of new cells


class TrustRegions:
    """Values go in; the cell to evaluate in comes out.

    Parameters
    ----------
    centre
        Where to begin, shape (D,).
    choices
        Which axes are choices, shape (D,).
    seed
        Names the places of later cells.

    Attributes
    ----------
    cell
        The one to evaluate in.
    best
        The best of those that came to their end; None as long as there is none.
    cells
        How many there were.
    moves
        How often the cell to evaluate in has changed or moved.
    """

    def __init__(self, centre: Array, choices: Bools, seed: int) -> None:
        self.cell = TrustRegion(centre, choices)
        self.best: TrustRegion | None = None
        self.cells, self.moves = 1, 0
        self._choices, self._seed = choices, seed
        self._until: int | None = None  # evaluations of the best cell at which the next one begins

    def tell(self, x: Array, value: float) -> bool:
        """Take in the value at a point (D,), minus infinity where there is none; return whether anything moved."""
        return self.tell_many(x[None, :], [value]) is not None

    def tell_many(self, points: Array, values: Sequence[float]) -> int | None:
        """Take in the values at points (n, D), one after another; return the index of the last that moved anything."""
        last, i = None, 0
        while i < len(points):
            end = i + _AT_ONCE
            reached, drawn = self.cell.look(points[i:end])
            for k in np.flatnonzero(reached).tolist():
                if self._take(points[i + k], values[i + k], is_draw=bool(drawn[k])):
                    self.moves += 1
                    last, end = i + k, i + k + 1  # from here on another place is in reach
                    break
            i = end
        return last

    def _take(self, x: Array, value: float, *, is_draw: bool) -> bool:
        moved = self.cell.take(x, value, is_draw=is_draw)
        if self._until is not None:
            if self.cell.used >= self._until:
                self._begin()
                return True
        elif self.cell.is_at_its_end if moved else self.cell.stands_still:
            self._end()
            return True
        return moved

    @property
    def places(self) -> list[tuple[Array, Array]]:
        """Where the best points are expected: centres and sides, each (D,), the best cell's first."""
        cells = [self.cell] if self.best is None or self.best is self.cell else [self.best, self.cell]
        return [(cell.centre, cell.sides) for cell in cells]

    def _end(self) -> None:
        used = self.cell.used
        if self.best is None or self.cell.level > self.best.level:
            self.best = self.cell
        if self.cells == 1:
            self._begin()  # there is nothing to compare it with yet
        else:
            self.cell, self._until = self.best, self.best.used + used

    def _begin(self) -> None:
        """Begin another cell: the second one in the middle of the cube, later ones anywhere."""
        dimension = len(self._choices)
        drawn = generator(self._seed, self.cells, _BEGINNINGS).uniform(_MARGIN, 1 - _MARGIN, dimension)
        centre = np.where(self._choices, drawn, 0.5) if self.cells == 1 else drawn
        self.cell, self._until = TrustRegion(centre, self._choices), None
        self.cells += 1
