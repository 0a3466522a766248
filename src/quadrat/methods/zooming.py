"""Which cell is zoomed into: one after another, and the best of them again and again.

A cell that has come to its end has found one peak, and not always the highest. So another one begins elsewhere, and
when that has come to its end too, the better of the two is zoomed into further for as long as the new one took; then
the next begins, and so on: half of the evaluations look for a better peak, half go on at the best one [cf. H09].

Everything here follows from the values told, in their order, at O(D) for each: nothing is fitted, so that a run of any
length is rebuilt in no time.

References
----------
[H09]  Hansen (2009). Benchmarking a BI-population CMA-ES on the BBOB-2009 function testbed. GECCO workshop.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quadrat.arrays import Array, Bools
from quadrat.methods.zoom_cell import ZoomCell
from quadrat.randomness import generator

__all__ = ["Zooming"]

_BEGINNINGS = 15  # names the stream of centres
_AT_ONCE = 32  # points that are looked at together
_MARGIN = 0.2  # of the cube's side, kept to its faces by the centres of new cells


class Zooming:
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
        self.cell = ZoomCell(centre, choices)
        self.best: ZoomCell | None = None
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
        self.cell, self._until = ZoomCell(centre, self._choices), None
        self.cells += 1
