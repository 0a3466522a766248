"""A level set on cells that divide where it pays.

[SJ19]: Shekhar and Javidi (2019). Multiscale Gaussian process level set estimation. AISTATS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from quadrat.methods.base import MethodFacts
from quadrat.methods.domain import Domain
from quadrat.methods.level_cells import LevelCells
from quadrat.methods.level_search import LevelSearch
from quadrat.methods.level_set import LevelSetMethod
from quadrat.partition.unit_cube import as_count

__all__ = ["MultiScaleLevelSet"]

_AVERAGES = 0.25  # of delta, for the averages of all cells; the band has the rest
_SHARE = 0.1  # of the width, above which what is lost in a cell makes it be halved


@dataclass(frozen=True, kw_only=True)
class MultiScaleLevelSet(LevelSetMethod):
    """Level-set estimation on an adaptive tree of cells, after [SJ19, algorithm 1].

    A cell has bounds from the posterior band and what f can vary by within it, and from the average of what was
    observed in it; its children begin with them. Decided cells are dropped. An undecided one is halved when the
    interval at its points is so narrow that what is lost within the cell matters. Changed: bounds hold for every f of
    the ball and all times; halving costs nothing, so that it is done at once in all undecided cells and not only in
    the most ambiguous one; and the point evaluated is the one that sharpens most what can be decided
    (`quadrat.methods.level_search`), since the most ambiguous cells are those that will never be.

    Parameters
    ----------
    threshold
        The value that f is compared with, in its units: which points lie above, which below.
    kernel, norm_bound, noise
        The assumptions, fixed before the data: f has norm at most B = `norm_bound` in the kernel's RKHS, and noise
        is sub-Gaussian with sigma = `noise`, in the units of the values.
    accuracy
        How far within the threshold either label is right, >= 0, in the units of the values: with 0, a cell that
        f's level line crosses is never decided.
    delta
        All labels, at all times, hold at once with probability at least 1 - delta.
    holder
        The user's own Hölder bound (L, alpha), used where it is below the kernel's modulus.
    max_cells
        When this many cells exist, none is halved any more.

    Examples
    --------
    >>> import quadrat as qd
    >>> method = MultiScaleLevelSet(threshold=0.2, kernel=qd.Matern(2.5, 0.5), norm_bound=1.0, noise=0.05)
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize", method=method)
    >>> for _ in range(20):
    ...     trial = optimizer.ask()
    ...     optimizer.tell(trial, trial.params["x"] / 2)
    >>> found = optimizer.level_set()
    >>> found.label_at({"x": 0.95}), found.label_at({"x": 0.4})
    ('above', 'undecided')
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="Multi-scale level set: cells divide near the threshold",
        paper="Shekhar and Javidi 2019, AISTATS, algorithm 1",
        assumes="kernel, norm bound B and noise sigma, stated before the data",
        best_for="where f is above a limit, with fewer evaluations",
        certifies=True,
        handles=("pending points", "replicates", "level sets"),
    )

    max_cells: int = 4096

    def check(self) -> None:
        object.__setattr__(self, "max_cells", as_count(self.max_cells, name="max_cells", at_least=1))

    def start(self, domain: Domain, seed: int) -> LevelSearch:
        self.kernel.check_dimension(domain.dimension)
        cells = LevelCells(
            self.assumptions(), domain.dimension,
            threshold=self.threshold, accuracy=self.accuracy,
            band_delta=(1 - _AVERAGES) * self.delta, average_delta=_AVERAGES * self.delta, max_cells=self.max_cells,
        )  # fmt: skip
        return LevelSearch(cells, domain, seed, delta=self.delta, rule="reduction", share=_SHARE)
