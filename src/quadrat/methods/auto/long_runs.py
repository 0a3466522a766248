"""Cells that carry the load of long runs: models of bounded size, near a place, and where to look next.

From `BEGIN` trials on, two ways of asking alternate, and the one that finds better values gets more trials
(`Alternation`):

- all over the space, by expected improvement. As long as one model can see all observations it searches the whole cube.
  Beyond that, the cube is divided into cells that hold a bounded number of trials each (`MedianTree`); the cell with
  the highest upper bound is searched, by a model of its trials and of their neighbours across its faces.
  The bound is the mean of the values told in the cell plus sqrt(2 log n) standard deviations of them: about the highest
  of n values, if they were normal;
- around the best place, in a trust region (`TrustRegions`). Of the candidates that the region draws, the one is asked
  for at which a Thompson sample of f, from the model around it, is highest [E19].

Asking looks at all trials once, to find those near a place, at a cost that is small beside that of the model;
everything else is bounded. Nothing is kept from one ask to the next but what follows from the values told.

References
----------
[E19]  Eriksson, Pearce, Gardner, Turner and Poloczek (2019). Scalable global optimization via local Bayesian
       optimization. NeurIPS.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, sqrt

import numpy as np

from quadrat._core.arrays import Array, Growing
from quadrat._core.nearest import ROUNDING, is_among, nearest
from quadrat.methods.acquisition import draws, scattered
from quadrat.methods.auto.feasibility import Surrogates
from quadrat.methods.auto.output_transform import OutputTransform
from quadrat.methods.auto.surrogate import LearnedModel
from quadrat.methods.auto.trust_region import Alternation, TrustRegions, generation_size
from quadrat.methods.base import Failure, Observation, Proposal, Pruned
from quadrat.partition.median_tree import MedianTree
from quadrat.randomness import generator

__all__ = ["MOST", "AutoCells", "highest_of_a_draw", "nearest_running"]

MOST = 128  # points that run and are believed in
BEST = 4  # evaluated points that candidates are scattered around
UNIFORM, NEAR, SCALES = 128, 30, (0.2, 0.05, 0.01)  # candidates anywhere, and around each of the best at these scales
_DRAWN = 17  # names the stream


def nearest_running(running: Array, centre: Array, sides: Array, *, box: bool = False) -> Array:
    """Return the points (p, D) that a model near a place believes in, at most `MOST`, in their order: see `nearest`."""
    return running[nearest(running, centre, sides, MOST, box=box)]


def highest_of_a_draw(surrogates: Surrogates, running: Array, seed: int, number: int) -> Array:
    """Return the candidate, shape (D,), at which a draw of f under a sample of the hyper-parameters is highest.

    Of those that may be asked for and are none of the points (p, D) that run; where there are none, of those that may;
    of all, where none may.
    """
    rng, domain = generator(seed, number, _DRAWN), surrogates.domain
    ensemble = surrogates.model.current().ensemble
    evaluated = surrogates.points
    features = domain.features(evaluated)
    means = ensemble.predict(features).mean.mean(axis=0)
    best = evaluated[surrogates.constraints.current().order(means, features)[:BEST]]
    anywhere = rng.random((UNIFORM, domain.dimension))
    points = domain.rounded(np.vstack([anywhere, scattered(best, NEAR, SCALES, rng)]))
    fine = surrogates.may_be_asked(points, surrogates.least_log_chance(seed, number))
    for wanted in (fine & ~is_among(points, running), fine):
        if wanted.any():
            points = points[wanted]
            break
    member = int(rng.integers(len(ensemble)))
    mean, joint = (part[member] for part in ensemble.covariances(domain.features(points)))
    highest: Array = points[int(np.argmax(draws(mean, joint, 1, rng)[:, 0]))]
    return highest


BEGIN = 100  # trials told before a cell zooms in: earlier there is no place to zoom into
ROWS, ROWS_PER_AXIS = 100, 5  # trials of a model near a place, and more of them for every axis
MORE = 2  # times as many averages, for what is recommended
RECOMMENDED_OF = 2000  # trials nearest to the best place, of which one is recommended
CAPACITY = 64  # trials of a cell
OF_A_CELL = 4  # samples of hyper-parameters, that the improvement in a cell is averaged over
CANDIDATES = 64  # of a cell that zooms, of which one is asked for
_PLACES = 0.1  # of the cube's side: what counts as a step around the best observation, before there is a cell
_REMEMBERED = 8  # cells whose hyper-parameters are kept, so that they need not be learned at every ask
_AUTO_CELLS_DRAWN = 16  # names the stream


class AutoCells:
    """Trials go in, in the order of telling; places to look at and models near them come out.

    Parameters
    ----------
    surrogates
        Of the run.
    seed
        Names the streams.
    """

    def __init__(self, surrogates: Surrogates, seed: int) -> None:
        self.seed = seed
        self.trust_regions: TrustRegions | None = None
        self._choices = np.array([axis.is_choice for axis in surrogates.domain.axes], dtype=np.bool_)
        self._turns: Alternation | None = None
        self._tree = MedianTree(surrogates.domain.dimension, CAPACITY)
        self._violated = Growing(np.bool_)  # whether a trial was told with a constraint that does not hold
        self._learned_from = 0  # trials told at the last move of the cell
        self._rows = ROWS + ROWS_PER_AXIS * surrogates.domain.dimension
        self._known: dict[tuple[int, int], LearnedModel] = {}  # what was learned lately, by the cell and its age

    @property
    def begun(self) -> bool:
        """Whether a cell zooms."""
        return self._turns is not None

    def settle(self, surrogates: Surrogates) -> None:
        """Find the place that a cell zooms into, if one has begun to: before the surrogates know of later trials.

        By what is learned here and now: a run is rebuilt without what was learned earlier. That takes the time of
        several suggestions, and so waits until the next trial is told, or asked for in the cell.
        """
        if self._turns is None or self.trust_regions is not None:
            return
        surrogates = self.around(surrogates, self._highest(surrogates))
        mean, _ = surrogates.model.current().ensemble.predict(surrogates.domain.features(surrogates.model.x)).mixture()
        chances = surrogates.constraints.current()
        best = int(chances.order(mean, surrogates.domain.features(surrogates.model.x))[0])
        self.trust_regions = TrustRegions(surrogates.model.x[best], self._choices, self.seed)

    def tell(self, surrogates: Surrogates, updates: Sequence[Observation | Failure | Pruned]) -> None:
        """Take in trials, in this order, which the surrogates know of already: only one as long as no cell zooms."""
        told = [one for one in updates if isinstance(one, Observation)]
        self._violated.extend([_is_violated(one) for one in told])
        if self.trust_regions is None or self._turns is None:
            if surrogates.model.trials >= BEGIN and told:
                self._begin(surrogates, told[-1].number + 1)
            return
        values = [_value(one) for one in updates]
        self._turns.tell_many(np.array([one.number for one in updates]), np.array(values))
        last = self.trust_regions.tell_many(np.array([one.x for one in updates]), values)
        if last is not None:
            later = sum(isinstance(one, Observation) for one in updates[last + 1 :])
            self._learned_from = surrogates.model.trials - later

    def tell_many(self, surrogates: Surrogates, observations: Sequence[Observation]) -> None:
        """Take in many trials at once: a cell zooms into the best of them, not through all of them in turn."""
        self._violated.extend([_is_violated(one) for one in observations])
        if not self.begun and surrogates.model.trials >= BEGIN:
            self._begin(surrogates, max(one.number for one in observations) + 1)

    def _grown(self, surrogates: Surrogates) -> MedianTree:
        """Return the cells with all trials in them; they are put there when that is asked for."""
        self._tree.add(surrogates.model.places)
        return self._tree

    def is_local(self, number: int) -> bool:
        """Whether a trial is to be asked for around the best place."""
        return self._turns is not None and number >= self._turns.first and self._turns.is_local(number)

    def ask_locally(self, surrogates: Surrogates, number: int, running: Array) -> Proposal:
        """Ask for a point of the cell that zooms.

        Parameters
        ----------
        surrogates
            Of the run.
        number
            The trial's.
        running
            Points that are being evaluated, shape (p, D).
        """
        self.settle(surrogates)
        assert self.trust_regions is not None
        cell, domain = self.trust_regions.cell, surrogates.domain
        near = surrogates.near(cell.centre, cell.sides, self._rows, samples=1)
        key = (-1, self.trust_regions.moves)
        near.model.take_over(self._learned(key, surrogates, cell.centre, cell.sides, self._learned_from))
        rng = generator(self.seed, number, _AUTO_CELLS_DRAWN)
        points = domain.rounded(cell.candidates(CANDIDATES, rng))
        fine = near.may_be_asked(points, near.least_log_chance(self.seed, number))
        for wanted in (fine & ~is_among(points, near.spent(running)), fine):
            if wanted.any():
                points = points[wanted]
                break
        close = nearest_running(running, cell.centre, cell.sides)
        ensemble = near.model.current().ensemble.believing(domain.features(close))
        means, joint = (part[0] for part in ensemble.covariances(domain.features(points)))
        highest = points[int(np.argmax(draws(means, joint, 1, rng)[:, 0]))]
        return Proposal(highest, f"highest of a draw of f in a cell that zooms, {_width(cell.sides)}")

    def most_promising(self, surrogates: Surrogates, running: Array) -> tuple[Surrogates, tuple[Array, Array]]:
        """Return what the trials of the cell with the highest upper bound and their neighbours say, and its box.

        A cell in which points (p, D) are being evaluated comes after those in which none are; one in which more are
        than it can hold, after those with fewer.
        """
        tree = self._grown(surrogates)
        means, homes = surrogates.model.means, tree.homes
        values = OutputTransform.of(means).apply(means)
        count = np.bincount(homes)
        leaves = np.flatnonzero(count)
        mean = np.bincount(homes, values)[leaves] / count[leaves]
        squares = np.bincount(homes, values**2)[leaves] / count[leaves]
        bound = mean + sqrt(2 * log(len(values))) * np.sqrt(np.maximum(squares - mean**2, 0.0))
        busy = np.bincount(tree.leaves_of(running), minlength=len(count))[leaves]
        leaf = int(leaves[np.lexsort((-bound, -(-busy // CAPACITY)))[0]])
        lower, upper = tree.box(leaf)
        centre, sides = 0.5 * (lower + upper), 0.5 * (upper - lower)
        near = surrogates.near(centre, sides, self._rows, box=True, samples=OF_A_CELL)
        since = len(values) - len(values) % generation_size(len(centre))
        near.model.take_over(self._learned((leaf, since), surrogates, centre, sides, since))
        # Faces are left alone: what is asked for here has to count here, also after rounding, or is asked for for ever.
        inset = np.where(upper - lower > 4 * ROUNDING, 2 * ROUNDING, 0.0)
        return near, (np.where(lower > 0.0, lower + inset, lower), np.where(upper < 1.0, upper - inset, upper))

    def best_places(self, surrogates: Surrogates) -> list[tuple[Array, Array]]:
        """Return the cells that zoom, and the surroundings of the highest trial that met the constraints.

        Each is a centre and what counts as a step along each axis, both (D,).
        """
        self.settle(surrogates)
        return [*([] if self.trust_regions is None else self.trust_regions.places), self._highest(surrogates)]

    def _highest(self, surrogates: Surrogates) -> tuple[Array, Array]:
        highest = surrogates.model.places[np.lexsort((-surrogates.model.means, self._violated.view))[0]]
        return highest, np.full(len(highest), _PLACES)

    def around(self, surrogates: Surrogates, place: tuple[Array, Array]) -> Surrogates:
        """Return what the trials nearest to a place say."""
        return surrogates.near(*place, self._rows)

    def averaged_around(
        self, surrogates: Surrogates, place: tuple[Array, Array], known: Surrogates
    ) -> tuple[Surrogates, Array]:
        """Return what all trials say of a place, in averages, and the points (m, D) of those nearest to it.

        `known` is what few say, and how noisy they are.
        """
        centre, sides = place[0], np.maximum(place[1], _PLACES)
        wide = surrogates.averaged(centre, sides, MORE * self._rows, known.model.stated().noise)
        points = surrogates.model.places
        return wide, points[nearest(points, centre, sides, RECOMMENDED_OF)]

    def explain(self, surrogates: Surrogates) -> dict[str, object]:
        """Return what is known of the cells, as plain data."""
        self.settle(surrogates)
        if self.trust_regions is None:
            return {}
        cell = self.trust_regions.cell
        return {
            "zoomed into": self.trust_regions.cells,
            "centre": cell.centre.tolist(),
            "sides": cell.sides.tolist(),
            "turns": [] if self._turns is None else list(self._turns.decided.values()),
            "leaves": len(self._grown(surrogates).leaves),
        }

    def _begin(self, surrogates: Surrogates, number: int) -> None:
        """Let a cell zoom into the best place known, which `settle` finds."""
        self._turns = Alternation(number, generation_size(surrogates.domain.dimension))
        self._learned_from = surrogates.model.trials

    def _learned(
        self, key: tuple[int, int], surrogates: Surrogates, centre: Array, sides: Array, first: int
    ) -> LearnedModel:
        """What is learned near a place from the first so many trials: the same, whenever it is asked for."""
        if key not in self._known:
            self._known = dict(list(self._known.items())[1 - _REMEMBERED :])
            is_leaf = key[0] >= 0
            self._known[key] = surrogates.model.near(
                centre, sides, self._rows, box=is_leaf, first=first, samples=OF_A_CELL if is_leaf else 1
            )
        return self._known[key]


def _value(update: Observation | Failure | Pruned) -> float:
    """For the order of values, which is all that counts: nothing is worse than a violated constraint, or no value."""
    if not isinstance(update, Observation) or _is_violated(update):
        return -inf
    return float(update.values[0] if len(update.values) == 1 else np.mean(update.values))


def _is_violated(observation: Observation) -> bool:
    return bool(observation.constraints) and max(observation.constraints) > 0


def _width(sides: Array) -> str:
    return f"{np.exp(np.mean(np.log(sides))):.2g} wide"
