"""Level sets: where is f above a threshold? Two methods that search for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, get_args

from quadrat._core.arrays import as_number, keep_plain
from quadrat.confidence import Assumptions, UserHolder
from quadrat.confidence.budget import as_probability
from quadrat.errors import InvalidInput
from quadrat.kernels import Kernel
from quadrat.methods.base import Domain, Method, MethodFacts
from quadrat.methods.level_sets.cells import LevelCells
from quadrat.methods.level_sets.search import LevelSearch, Rule
from quadrat.partition.unit_cube import as_count

__all__ = ["LevelSet", "LevelSetMethod", "MultiScaleLevelSet"]

_HALVINGS = (8, 10, 12)  # of the default tiling, for D = 1, 2, 3 and more
_MOST_CELLS = 2**16
_AVERAGES = 0.25  # of delta, for the averages of all cells; the band has the rest
_SHARE = 0.1  # of the width, above which what is lost in a cell makes it be halved


@dataclass(frozen=True, kw_only=True)
class LevelSetMethod(Method):
    """What methods that look for a level set have in common.

    Parameters
    ----------
    threshold, kernel, norm_bound, noise, accuracy, delta, holder
        As of `LevelSet`.
    """

    threshold: float
    kernel: Kernel
    norm_bound: float
    noise: float
    accuracy: float = 0.0
    delta: float = 0.05
    holder: UserHolder | None = None

    def __post_init__(self) -> None:
        keep_plain(self)
        object.__setattr__(self, "threshold", as_number(self.threshold, name="threshold"))
        object.__setattr__(self, "accuracy", as_number(self.accuracy, name="accuracy", at_least=0.0))
        object.__setattr__(self, "delta", as_probability(self.delta))
        self.assumptions()
        self.check()

    def check(self) -> None:
        """Check the options that a method adds."""

    def assumptions(self) -> Assumptions:
        """Return what everything certified rests on."""
        return Assumptions(self.kernel, self.norm_bound, self.noise, self.holder)

    def turned(self) -> Method:
        """Return the method for -f: above and below change places about minus the threshold."""
        return replace(self, threshold=-self.threshold)


@dataclass(frozen=True, kw_only=True)
class LevelSet(LevelSetMethod):
    """LSE [G13] on the cells of a fixed dyadic tiling.

    Regions C_t are intersected over time, and a cell is above or below when what is known of it clears the threshold
    up to the accuracy, as printed. Changed: beta_t is that of a band which holds for every f of the ball, not of a
    prior; a label is about the whole cell, so that what f can vary by within it is added; and by default points are
    chosen by another rule. With `rule="ambiguity"`, as printed, the centres of cells are evaluated.

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
    cells
        How many cells, a power of two; 256, 1,024 and 4,096 in one, two and more dimensions by default.
    rule
        "ambiguity" evaluates the most ambiguous cell, as printed. It makes all cells equally ambiguous, so that hardly
        any is decided before the last is: right where evaluations suffice to decide everything up to the accuracy.
        "reduction" evaluates the point that sharpens most what can be decided (`quadrat.methods.level_sets.search`):
        from the same number of evaluations it decides far more where they do not suffice.

    Examples
    --------
    >>> import numpy as np
    >>> from quadrat.kernels import Matern
    >>> from quadrat.methods.base import Observation
    >>> search = LevelSet(threshold=0.2, kernel=Matern(2.5, 0.5), norm_bound=1.0, noise=0.05).start(Domain.cube(1), 0)
    >>> for i in range(30):
    ...     x = search.ask(i, np.empty((0, 1))).x
    ...     search.tell(Observation(i, x, x / 2))
    >>> found = search.level_set()
    >>> [round(found.volume(label), 2) for label in (-1, 0, 1)]
    [0.18, 0.43, 0.39]
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="Level set on a fixed tiling (LSE)",
        paper="Gotovos, Casati, Hitz and Krause 2013, IJCAI",
        assumes="kernel, norm bound B and noise sigma, stated before the data",
        best_for="where f is above a limit, on a map of fixed resolution",
        certifies=True,
        handles=("pending points", "replicates", "level sets"),
    )

    cells: int | None = None
    rule: Rule = "reduction"

    def check(self) -> None:
        if self.rule not in get_args(Rule):
            raise InvalidInput(f"rule: expected one of {', '.join(get_args(Rule))}, got {self.rule!r}")
        if self.cells is not None:
            count = as_count(self.cells, name="cells", at_least=1, at_most=_MOST_CELLS)
            if count & (count - 1):
                raise InvalidInput(f"cells: expected a power of two, such as 1024, got {self.cells!r}")

    def start(self, domain: Domain, seed: int) -> LevelSearch:
        dimension = domain.dimension
        self.kernel.check_dimension(dimension)
        halvings = _HALVINGS[min(dimension, 3) - 1] if self.cells is None else self.cells.bit_length() - 1
        cells = LevelCells(
            self.assumptions(), dimension,
            threshold=self.threshold, accuracy=self.accuracy,
            band_delta=self.delta, average_delta=0.0, max_cells=2**halvings,
        )  # fmt: skip
        cells.split_to(halvings)
        return LevelSearch(cells, domain, seed, delta=self.delta, rule=self.rule, share=None)


@dataclass(frozen=True, kw_only=True)
class MultiScaleLevelSet(LevelSetMethod):
    """Level-set estimation on an adaptive tree of cells, after [SJ19, algorithm 1].

    A cell has bounds from the posterior band and what f can vary by within it, and from the average of what was
    observed in it; its children begin with them. Decided cells are dropped. An undecided one is halved when the
    interval at its points is so narrow that what is lost within the cell matters. Changed: bounds hold for every f of
    the ball and all times; halving costs nothing, so that it is done at once in all undecided cells and not only in
    the most ambiguous one; and the point evaluated is the one that sharpens most what can be decided
    (`quadrat.methods.level_sets.search`), since the most ambiguous cells are those that will never be.

    Parameters
    ----------
    threshold, kernel, norm_bound, noise, accuracy, delta, holder
        As of `LevelSet`.
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
