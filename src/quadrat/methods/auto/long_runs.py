"""Cells that carry the load of long runs: models of bounded size, near a place, and where to look next.

Two ways of asking take turns from `BEGIN` trials on, and the one that finds better values gets more of them (`Turns`):

- all over the space, by expected improvement. As long as one model can see all observations it searches the whole cube.
  Beyond that, the cube is divided into cells that hold a bounded number of trials each (`MedianTree`); the cell with
  the highest upper bound is searched, by a model of its trials and of their neighbours across its faces.
  The bound is the mean of the values told in the cell plus sqrt(2 log n) standard deviations of them: about the highest
  of n values, if they were normal;
- around the best place, in a cell that zooms (`Zooming`). Of a number of candidates that the cell draws, the one is
  asked for at which a draw of f from the model around it is highest [Thompson sampling, as in E19].

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
from quadrat.methods.auto.feasibility import Beliefs
from quadrat.methods.auto.surrogate import LearnedModel, Units
from quadrat.methods.auto.trust_region import Turns, Zooming, generation_size
from quadrat.methods.base import Failed, Proposal, Pruned, Told
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


def highest_of_a_draw(beliefs: Beliefs, running: Array, seed: int, number: int) -> Array:
    """Return the candidate, shape (D,), at which a draw of f under a draw of its settings is highest.

    Of those that may be asked for and are none of the points (p, D) that run; where there are none, of those that may;
    of all, where none may.
    """
    rng, domain = generator(seed, number, _DRAWN), beliefs.domain
    _, ensemble = beliefs.model.current()
    evaluated = beliefs.points
    features = domain.features(evaluated)
    means = ensemble.predict(features).mean.mean(axis=0)
    best = evaluated[beliefs.constraints.current().order(means, features)[:BEST]]
    anywhere = rng.random((UNIFORM, domain.dimension))
    points = domain.rounded(np.vstack([anywhere, scattered(best, NEAR, SCALES, rng)]))
    fine = beliefs.may_be_asked(points, beliefs.least_log_chance(seed, number))
    for wanted in (fine & ~is_among(points, running), fine):
        if wanted.any():
            points = points[wanted]
            break
    setting = int(rng.integers(len(ensemble)))
    mean, joint = (part[setting] for part in ensemble.covariances(domain.features(points)))
    highest: Array = points[int(np.argmax(draws(mean, joint, 1, rng)[:, 0]))]
    return highest


BEGIN = 100  # trials told before a cell zooms in: earlier there is no place to zoom into
ROWS, ROWS_PER_AXIS = 100, 5  # trials of a model near a place, and more of them for every axis
MORE = 2  # times as many averages, for what is recommended
RECOMMENDED_OF = 2000  # trials nearest to the best place, of which one is recommended
CAPACITY = 64  # trials of a cell
CANDIDATES = 64  # of a cell that zooms, of which one is asked for
_PLACES = 0.1  # of the cube's side: what counts as a step around the best observation, before there is a cell
_REMEMBERED = 8  # cells whose hyper-parameters are kept, so that they need not be learned at every ask
_AUTO_CELLS_DRAWN = 16  # names the stream


class AutoCells:
    """Trials go in, in the order of telling; places to look at and models near them come out.

    Parameters
    ----------
    beliefs
        Of the run.
    seed
        Names the streams.
    """

    def __init__(self, beliefs: Beliefs, seed: int) -> None:
        self.seed = seed
        self.zooming: Zooming | None = None
        self._choices = np.array([axis.is_choice for axis in beliefs.domain.axes], dtype=np.bool_)
        self._turns: Turns | None = None
        self._tree = MedianTree(beliefs.domain.dimension, CAPACITY)
        self._violated = Growing(np.bool_)  # whether a trial was told with a constraint that does not hold
        self._learned_from = 0  # trials told at the last move of the cell
        self._rows = ROWS + ROWS_PER_AXIS * beliefs.domain.dimension
        self._known: dict[tuple[int, int], LearnedModel] = {}  # what was learned lately, by the cell and its age

    @property
    def begun(self) -> bool:
        """Whether a cell zooms."""
        return self.zooming is not None

    def tell(self, beliefs: Beliefs, happened: Sequence[Told | Failed | Pruned]) -> None:
        """Take in trials, in this order, which the beliefs know of already: only one as long as no cell zooms."""
        told = [one for one in happened if isinstance(one, Told)]
        self._violated.extend([_is_violated(one) for one in told])
        if self.zooming is None or self._turns is None:
            if beliefs.model.trials >= BEGIN and told:
                self._begin(beliefs, told[-1].number + 1)
            return
        values = [_value(one) for one in happened]
        self._turns.tell_many(np.array([one.number for one in happened]), np.array(values))
        last = self.zooming.tell_many(np.array([one.x for one in happened]), values)
        if last is not None:
            later = sum(isinstance(one, Told) for one in happened[last + 1 :])
            self._learned_from = beliefs.model.trials - later

    def tell_many(self, beliefs: Beliefs, told: Sequence[Told]) -> None:
        """Take in many trials at once: a cell zooms into the best of them, not through all of them in turn."""
        self._violated.extend([_is_violated(one) for one in told])
        if self.zooming is None and beliefs.model.trials >= BEGIN:
            self._begin(beliefs, max(one.number for one in told) + 1)

    def _grown(self, beliefs: Beliefs) -> MedianTree:
        """Return the cells with all trials in them; they are put there when that is asked for."""
        self._tree.add(beliefs.model.places)
        return self._tree

    def is_zooming(self, number: int) -> bool:
        """Whether a trial is to be asked for around the best place."""
        return self._turns is not None and number >= self._turns.first and self._turns.is_zooming(number)

    def zoom(self, beliefs: Beliefs, number: int, running: Array) -> Proposal:
        """Ask for a point of the cell that zooms.

        Parameters
        ----------
        beliefs
            Of the run.
        number
            The trial's.
        running
            Points that are being evaluated, shape (p, D).
        """
        assert self.zooming is not None
        cell, domain = self.zooming.cell, beliefs.domain
        near = beliefs.near(cell.centre, cell.sides, self._rows, settings=1)
        key = (-1, self.zooming.moves)
        near.model.take_over(self._learned(key, beliefs, cell.centre, cell.sides, self._learned_from))
        rng = generator(self.seed, number, _AUTO_CELLS_DRAWN)
        points = domain.rounded(cell.candidates(CANDIDATES, rng))
        fine = near.may_be_asked(points, near.least_log_chance(self.seed, number))
        for wanted in (fine & ~is_among(points, near.spent(running)), fine):
            if wanted.any():
                points = points[wanted]
                break
        close = nearest_running(running, cell.centre, cell.sides)
        ensemble = near.model.current()[1].believing(domain.features(close))
        means, joint = (part[0] for part in ensemble.covariances(domain.features(points)))
        highest = points[int(np.argmax(draws(means, joint, 1, rng)[:, 0]))]
        return Proposal(highest, f"highest of a draw of f in a cell that zooms, {_width(cell.sides)}")

    def most_promising(self, beliefs: Beliefs, running: Array) -> tuple[Beliefs, tuple[Array, Array]]:
        """Return what the trials of the cell with the highest upper bound and their neighbours say, and its box.

        A cell in which points (p, D) are being evaluated comes after those in which none are; one in which more are
        than it can hold, after those with fewer.
        """
        tree = self._grown(beliefs)
        means, homes = beliefs.model.means, tree.homes
        values = Units.of(means).seen(means)
        count = np.bincount(homes)
        leaves = np.flatnonzero(count)
        mean = np.bincount(homes, values)[leaves] / count[leaves]
        squares = np.bincount(homes, values**2)[leaves] / count[leaves]
        bound = mean + sqrt(2 * log(len(values))) * np.sqrt(np.maximum(squares - mean**2, 0.0))
        busy = np.bincount(tree.leaves_of(running), minlength=len(count))[leaves]
        leaf = int(leaves[np.lexsort((-bound, -(-busy // CAPACITY)))[0]])
        lower, upper = tree.box(leaf)
        centre, sides = 0.5 * (lower + upper), 0.5 * (upper - lower)
        near = beliefs.near(centre, sides, self._rows, box=True, settings=1)
        since = len(values) - len(values) % generation_size(len(centre))
        near.model.take_over(self._learned((leaf, since), beliefs, centre, sides, since))
        # Faces are left alone: what is asked for here has to count here, also after rounding, or is asked for for ever.
        inset = np.where(upper - lower > 4 * ROUNDING, 2 * ROUNDING, 0.0)
        return near, (np.where(lower > 0.0, lower + inset, lower), np.where(upper < 1.0, upper - inset, upper))

    def best_places(self, beliefs: Beliefs) -> list[tuple[Array, Array]]:
        """Return the cells that zoom, and the surroundings of the highest trial that met the constraints.

        Each is a centre and what counts as a step along each axis, both (D,).
        """
        return [*([] if self.zooming is None else self.zooming.places), self._highest(beliefs)]

    def _highest(self, beliefs: Beliefs) -> tuple[Array, Array]:
        highest = beliefs.model.places[np.lexsort((-beliefs.model.means, self._violated.view))[0]]
        return highest, np.full(len(highest), _PLACES)

    def around(self, beliefs: Beliefs, place: tuple[Array, Array], settings: int | None = None) -> Beliefs:
        """Return what the trials nearest to a place say."""
        return beliefs.near(*place, self._rows, settings=settings)

    def averaged_around(self, beliefs: Beliefs, place: tuple[Array, Array], known: Beliefs) -> tuple[Beliefs, Array]:
        """Return what all trials say of a place, in averages, and the points (m, D) of those nearest to it.

        `known` is what few say, and how noisy they are.
        """
        centre, sides = place[0], np.maximum(place[1], _PLACES)
        wide = beliefs.averaged(centre, sides, MORE * self._rows, known.model.noise)
        points = beliefs.model.places
        return wide, points[nearest(points, centre, sides, RECOMMENDED_OF)]

    def explain(self, beliefs: Beliefs) -> dict[str, object]:
        """Return what is known of the cells, as plain data."""
        if self.zooming is None:
            return {}
        cell = self.zooming.cell
        return {
            "zoomed into": self.zooming.cells,
            "centre": cell.centre.tolist(),
            "sides": cell.sides.tolist(),
            "turns": [] if self._turns is None else list(self._turns.decided.values()),
            "leaves": len(self._grown(beliefs).leaves),
        }

    def _begin(self, beliefs: Beliefs, number: int) -> None:
        """Let a cell zoom into the best place known.

        By what is learned here and now: a run is rebuilt without what was learned earlier.
        """
        beliefs = self.around(beliefs, self._highest(beliefs), settings=1)
        mean, _ = beliefs.model.current()[1].predict(beliefs.domain.features(beliefs.model.x)).mixture()
        chances = beliefs.constraints.current()
        best = int(chances.order(mean, beliefs.domain.features(beliefs.model.x))[0])
        self.zooming = Zooming(beliefs.model.x[best], self._choices, self.seed)
        self._turns = Turns(number, generation_size(beliefs.domain.dimension))
        self._learned_from = beliefs.model.trials

    def _learned(self, key: tuple[int, int], beliefs: Beliefs, centre: Array, sides: Array, first: int) -> LearnedModel:
        """What is learned near a place from the first so many trials: the same, whenever it is asked for."""
        if key not in self._known:
            self._known = dict(list(self._known.items())[1 - _REMEMBERED :])
            is_leaf = key[0] >= 0
            self._known[key] = beliefs.model.near(centre, sides, self._rows, box=is_leaf, first=first, settings=1)
        return self._known[key]


def _value(happened: Told | Failed | Pruned) -> float:
    """For the order of values, which is all that counts: nothing is worse than a violated constraint, or no value."""
    if not isinstance(happened, Told) or _is_violated(happened):
        return -inf
    return float(happened.values[0] if len(happened.values) == 1 else np.mean(happened.values))


def _is_violated(told: Told) -> bool:
    return bool(told.constraints) and max(told.constraints) > 0


def _width(sides: Array) -> str:
    return f"{np.exp(np.mean(np.log(sides))):.2g} wide"
