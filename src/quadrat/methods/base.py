"""What a method is: a frozen configuration that starts a search; a search asks, is told, recommends.

A search works on the unit cube and always maximises. It never sees parameters or directions: the optimizer translates.
It holds no random state: whatever it draws comes from `generator(seed, trial number, ...)`, so that it is rebuilt, bit
for bit, by asking and telling again what was asked and told, together what was told together.

A method works on the cube. Where a parameter is an integer or a choice, many points of the cube are one setting: the
model should see the point that stands for all of them, and choices have no order, so that any two are equally far
apart. `Domain` says so without naming parameters; the optimizer makes one from its space.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import sqrt
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from quadrat._core.arrays import Array, Bools, Ints
from quadrat._core.printing import printed
from quadrat.confidence import Certificate
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.gp.leave_one_out import LeaveOneOut
from quadrat.methods.statements import Gain, Mixture
from quadrat.randomness import generator

__all__ = [
    "ABOVE",
    "BELOW",
    "CREDIBLE",
    "DOES_NOT_CERTIFY",
    "PROBES",
    "THIN",
    "UNDECIDED",
    "Ability",
    "Axis",
    "Classification",
    "Domain",
    "Failure",
    "FidelityAxis",
    "Incumbent",
    "Method",
    "MethodFacts",
    "Observation",
    "Proposal",
    "Pruned",
    "Search",
    "Update",
    "as_coordinates",
    "probed",
    "refuse_context",
    "sample_if_thin",
]

PROBES = 4097
"""Coordinates at which an axis is rounded to find its values: some in every bin, where these are few."""

THIN = 0.01
"""The share of the cube below which the points that may be evaluated are too few for candidates to meet them."""

_SAMPLED, _FEWEST = 64, 32  # uniform feasible points to look for, and those without which nothing is said of all
_DRAWN, _BATCH = 51_200, 256  # uniform points that are drawn for them, in all and at a time
_SAMPLE_STREAM = 0xFEA5  # names the stream of the sample, which belongs to no run


def probed(rounded: Callable[[Array], Array]) -> tuple[Array, Ints]:
    """Return the coordinates that stand for values of an axis, ascending, and how many of the probes met each.

    Parameters
    ----------
    rounded
        From coordinates on the axis, shape (n,), to those that stand for them, (n,).
    """
    return np.unique(rounded(np.linspace(0.0, 1.0, PROBES)), return_counts=True)


def sample_if_thin(
    draw: Callable[[int, np.random.Generator], Array], feasible: Callable[[Array], Bools] | None
) -> Array | None:
    """Return what `Domain.thin_sample` is, for the set of rounded points from which `draw` draws so many, (n, D)."""
    rng, drawn = generator(_SAMPLE_STREAM), 0
    found = draw(0, rng)
    while feasible is not None and len(found) < _SAMPLED and drawn < _DRAWN:
        points = draw(_BATCH, rng)
        found, drawn = np.vstack([found, points[feasible(points)]]), drawn + len(points)
    if len(found) >= THIN * drawn:
        return found[:0]
    return found if len(found) >= _FEWEST else None


@dataclass(frozen=True)
class Axis:
    """One axis of the cube.

    Attributes
    ----------
    values
        The coordinates that stand for its values, ascending, where they are few; None for a continuum, or for integers
        so many that rounding moves a point little.
    ordered
        Whether neighbouring values are alike.
    """

    values: tuple[float, ...] | None = None
    ordered: bool = True

    @property
    def is_choice(self) -> bool:
        """Whether its values are choices without order."""
        return not self.ordered and self.values is not None and len(self.values) > 1

    def index(self, coordinates: Array) -> Ints:
        """Return the number of the value nearest to each coordinate."""
        values = np.array(self.values)
        return np.searchsorted((values[1:] + values[:-1]) / 2, coordinates)


@dataclass(frozen=True)
class FidelityAxis:
    """The axis whose values are levels of fidelity, from the cheapest to the target, which is the last.

    Attributes
    ----------
    axis
        Its number.
    coordinates
        Where the levels lie on it, ascending, shape (M,).
    costs
        What one evaluation at each level costs, ascending, > 0.
    """

    axis: int
    coordinates: tuple[float, ...]
    costs: tuple[float, ...]


@dataclass(frozen=True)
class Domain:
    """The cube with what is behind it.

    Parameters
    ----------
    axes
        One for each coordinate.
    round
        From points (n, D) to the points that stand for their settings, (n, D); None where every point is its own.
    exists
        From rounded points (n, D) to whether each axis counts there, (n, D); None where all do.
    feasible
        From rounded points (n, D) to whether they may be evaluated, (n,); None where all may.
    context
        Axes that are given from outside, trial by trial: a search chooses the others.
    fidelity
        The axis that says how accurate, and how costly, an evaluation is; None where all are alike.
    names
        What users call the axes; empty where they have no names.
    continuous
        Whether each axis is a continuum wherever a point lies: no steps, and no condition under which it exists. Empty
        where all smooth axes are.
    listing
        Returns the points that stand for all settings that may be evaluated, (m, D), each once, where the space is
        finite and they are few, else None; None where it is not known to be.
    encode
        From a setting, values by name, to its point, (D,); None where there are no names.

    Examples
    --------
    >>> domain = Domain((Axis(), Axis((1 / 6, 0.5, 5 / 6), ordered=False)))
    >>> domain.features(np.array([[0.2, 0.5]])).round(3).tolist()
    [[0.2, 0.0, 0.707, 0.0]]
    """

    axes: Sequence[Axis]
    round: Callable[[Array], Array] | None = None
    exists: Callable[[Array], Bools] | None = None
    feasible: Callable[[Array], Bools] | None = None
    context: tuple[int, ...] = ()
    fidelity: FidelityAxis | None = None
    names: tuple[str, ...] = ()
    continuous: tuple[bool, ...] = ()
    listing: Callable[[], Array | None] | None = None
    encode: Callable[[Mapping[str, Any]], Array] | None = None

    @classmethod
    def cube(cls, dimension: int) -> Domain:
        """Return the plain cube [0, 1]^D, D = `dimension` >= 1."""
        return cls((Axis(),) * dimension)

    @property
    def dimension(self) -> int:
        """D."""
        return len(self.axes)

    @cached_property
    def smooth(self) -> Bools:
        """Which axes may be climbed along, shape (D,)."""
        return np.array([axis.values is None for axis in self.axes])

    @cached_property
    def continua(self) -> Bools:
        """Which axes may be missed by a little, shape (D,): integers so many that they count as smooth may not."""
        return np.array(self.continuous, dtype=np.bool_) if self.continuous else self.smooth

    def called(self, axis: int) -> str:
        """Return what users call an axis: its name, or where it has none, its number."""
        return repr(self.names[axis]) if self.names else f"axis {axis}"

    @cached_property
    def settings(self) -> Array | None:
        """What `listing` returns; None without it."""
        return None if self.listing is None else self.listing()

    @cached_property
    def groups(self) -> tuple[int, ...]:
        """The axis that each column of `features` belongs to."""
        counts = [len(axis.values) if axis.values is not None and axis.is_choice else 1 for axis in self.axes]
        return tuple(int(i) for i in np.repeat(np.arange(self.dimension), counts))

    @cached_property
    def _levels(self) -> tuple[Ints, Bools, Array, Array]:
        """The axis of each column of `features`, whether it stands for a level, and between which coordinates, (F,)."""
        axis, choices = np.array(self.groups), [i for i, axis in enumerate(self.axes) if axis.is_choice]
        lower, upper = np.full(len(axis), -np.inf), np.full(len(axis), np.inf)
        for i in choices:
            values = np.array(self.axes[i].values)
            borders, first = (values[1:] + values[:-1]) / 2, self.columns[i]
            lower[first + 1 : first + len(values)] = upper[first : first + len(borders)] = borders
        return axis, np.isin(axis, choices), lower, upper

    @cached_property
    def columns(self) -> Ints:
        """The first column of `features` of each axis, shape (D,)."""
        return np.array([self.groups.index(i) for i in range(self.dimension)])

    def rounded(self, points: Array) -> Array:
        """Return the points that stand for the settings at these, shape (n, D)."""
        return points if self.round is None or not len(points) else self.round(points)

    def allowed(self, points: Array) -> Bools:
        """Return which of these rounded points may be evaluated, shape (n,)."""
        return np.ones(len(points), dtype=np.bool_) if self.feasible is None else self.feasible(points)

    def permitted(self, points: Array) -> Array:
        """Return those of the points (m, D) whose settings may be evaluated; all of them where none may."""
        if self.feasible is None:
            return points
        allowed = self.allowed(self.rounded(points))
        return points[allowed] if allowed.any() else points

    @cached_property
    def thin_sample(self) -> Array | None:
        """Feasible points to examine, beside other candidates, before anything is said of all feasible points.

        Uniform among the feasible points, (k, D), where these are less than 1 % of the cube: of 1,000 candidates a few
        would be feasible or none, and f would seem to have nothing to offer elsewhere. With 32 of them, a part that
        holds a tenth of the feasible points is missed with a chance of 3 %. Empty where the feasible share is 1 % or
        more. None where 51,200 uniform points have fewer than 32 feasible ones: then nothing can be said of all.
        """
        return sample_if_thin(lambda n, rng: self.rounded(rng.random((n, self.dimension))), self.feasible)

    def features(self, points: Array) -> Array:
        """Return what the model sees of rounded points, shape (n, F): a choice becomes one column for each value.

        Any two different choices are at distance 1, like the two ends of an axis. A choice that does not exist at a
        point is none of its values there; a number that does not exist has the same coordinate everywhere.
        """
        if not any(axis.is_choice for axis in self.axes):
            return points
        axis, is_level, lower, upper = self._levels
        found = points[:, axis]
        here = is_level & (lower < found) & (found <= upper)
        if self.exists is not None:
            here &= self.exists(points)[:, axis]
        return np.where(is_level, sqrt(0.5) * here, found)

    def slopes(self, gradients: Array) -> Array:
        """Return gradients (n, D) along the axes from those along the columns of `features`; 0 where not smooth."""
        return np.where(self.smooth, gradients[:, self.columns], 0.0)

    def neighbours(self, point: Array, rng: np.random.Generator, most: int = 12) -> Array:
        """Return rounded points that differ from `point`, (D,), on one axis that is not smooth; shape (m, D).

        Both neighbours where values are ordered, and up to `most` others, drawn with `rng`, where they are not.
        """
        found = []
        for i, axis in enumerate(self.axes):
            if axis.values is None:
                continue
            here = int(axis.index(point[i : i + 1])[0])
            others = [here - 1, here + 1] if axis.ordered else rng.permutation(len(axis.values))[:most].tolist()
            for other in others:
                if 0 <= other < len(axis.values) and other != here:
                    moved = point.copy()
                    moved[i] = axis.values[other]
                    found.append(moved)
        others = self.rounded(np.array(found).reshape(-1, self.dimension))
        return np.asarray(others[(others != point).any(axis=1)])  # what does not exist there has no neighbours


def as_coordinates(domain: Domain) -> Domain:
    """Return the domain for a model to which every axis is a coordinate, choices included."""
    return replace(domain, axes=[replace(axis, ordered=True) for axis in domain.axes])


CREDIBLE = 1.6448536269514722
"""The normal quantile of .95: a credible interval of 90 % reaches so many deviations to each side."""

DOES_NOT_CERTIFY = "this method does not certify: it needs stated assumptions (LPGPUCB has them)"
"""Why a method without stated assumptions has no certificate."""

LARGEST_SUM, _LARGEST_SQUARE = 1e280, 1e100


@dataclass(frozen=True)
class Observation:
    """One finished trial, as a search sees it.

    Attributes
    ----------
    number
        The trial's number.
    x
        The point, shape (D,): the rounded one, where the space rounds.
    values
        Everything measured there, shape (r,), r >= 1, larger is better. What lies beyond +-1e280 counts as that: sums
        of values must be numbers.
    variance
        Noise variance of the mean of `values` where the teller knew a standard error; None otherwise.
    constraints
        One value for each constraint, which holds where its value is <= 0; always in the same order. Empty where none
        were told: once a trial has some, all later ones do.

    Examples
    --------
    >>> import numpy as np
    >>> Observation(0, np.array([0.5]), np.array([1.0, 1.2])).values.mean().round(2).item()
    1.1
    """

    number: int
    x: Array
    values: Array
    variance: float | None = None
    constraints: tuple[float, ...] = ()

    __repr__ = printed

    def __post_init__(self) -> None:
        if not np.abs(self.values).max() <= LARGEST_SUM:
            object.__setattr__(self, "values", np.clip(self.values, -LARGEST_SUM, LARGEST_SUM))

    @property
    def tame_values(self) -> Array:
        """The values, shape (r,), for models in the units told, whose squares must be numbers: within +-1e100."""
        return np.clip(self.values, -_LARGEST_SQUARE, _LARGEST_SQUARE)


@dataclass(frozen=True)
class Failure:
    """One trial at x, shape (D,), that ended without a value."""

    number: int
    x: Array

    __repr__ = printed


@dataclass(frozen=True)
class Pruned:
    """One trial at x, shape (D,), that was stopped before it had a value: nothing failed, and f is not known there."""

    number: int
    x: Array

    __repr__ = printed


Update: TypeAlias = Observation | Failure | Pruned | tuple[Observation, ...]
"""News for a search: one trial that was told, failed or was pruned, or several told at once."""


@dataclass(frozen=True)
class Proposal:
    """A point to evaluate, and why.

    Attributes
    ----------
    x
        The point on the unit cube, shape (D,).
    why
        One phrase.

    Examples
    --------
    >>> import numpy as np
    >>> from quadrat.methods import RandomSearch
    >>> from quadrat.methods.base import Domain
    >>> RandomSearch().start(Domain.cube(2), seed=0).ask(0, np.empty((0, 2))).why
    'uniform'
    """

    x: Array
    why: str

    __repr__ = printed


@dataclass(frozen=True)
class Incumbent:
    """A recommended point and what is believed of f there.

    Attributes
    ----------
    x
        The point on the unit cube, shape (D,).
    value
        The estimate of f there; larger is better.
    interval
        Lower and upper end of what f is there; None for searches without a model.
    certified
        Whether `interval` holds with probability 1 - delta, or is a 90 % credible interval.
    distribution
        What the model believes of f there, of which `interval` is 90 %; None without one. Never certified.
    gain
        What the model believes of max f - f(x); None without one. Never certified.
    feasibility
        An estimate of the chance, in [0, 1], that all constraints hold at x; None where there are none.
    noise
        Standard deviation of one measurement, as the model has learned it; None for a search that learns none.

    Examples
    --------
    >>> import numpy as np
    >>> from quadrat.methods import RandomSearch
    >>> from quadrat.methods.base import Domain
    >>> search = RandomSearch().start(Domain.cube(1), seed=0)
    >>> search.tell(Observation(0, np.array([0.5]), np.array([1.0])))
    >>> search.recommend()  # doctest: +ELLIPSIS
    Incumbent(x=[0.5], value=1.0, interval=None, certified=False, distribution=None, gain=None, ...)
    """

    x: Array
    value: float
    interval: tuple[float, float] | None = None
    certified: bool = False
    distribution: Mixture | None = None
    gain: Gain | None = None
    feasibility: float | None = None
    noise: float | None = None

    __repr__ = printed

    @classmethod
    def believed(
        cls,
        x: Array,
        belief: Mixture,
        gain: Gain | None,
        feasibility: float | None = None,
        noise: float | None = None,
    ) -> Incumbent:
        """Return what a fitted model says of the point x, shape (D,): the median of its `belief`, and 90 % of it.

        `gain` is what is left to gain, `feasibility` the chance that constraints hold, and `noise` the standard
        deviation of one measurement; None where there is none.
        """
        return cls(x, belief.value, belief.interval(), False, belief, gain, feasibility, noise)


BELOW, UNDECIDED, ABOVE = -1, 0, 1
"""The labels of cells."""


@dataclass(frozen=True, eq=False)
class Classification:
    """Cells that tile the cube, and what is known of f over each.

    Attributes
    ----------
    lower, upper
        Corners of the cells, shape (m, D).
    label
        `ABOVE` where f > threshold - accuracy everywhere in the cell, `BELOW` where f < threshold + accuracy, else
        `UNDECIDED`; shape (m,).
    low, high
        Bounds of f over each cell, shape (m,).
    threshold, accuracy
        What f is compared with, and how far within which either label is right.
    delta
        All labels hold at once with probability at least 1 - delta, where `reason` is None.
    reason
        Why nothing is guaranteed; None where the labels are certified.
    rejection
        How the data contradict the assumptions; None where they do not. Otherwise no bound means anything: every label
        is `UNDECIDED`, and `reason` says so too.

    Examples
    --------
    >>> halves = np.array([[0.0], [0.5]])
    >>> found = Classification(
    ...     halves, halves + 0.5, np.array([BELOW, ABOVE]), np.zeros(2), np.ones(2), 0.5, accuracy=0.5, delta=0.05
    ... )
    >>> found.volume(ABOVE)
    0.5
    """

    lower: Array
    upper: Array
    label: Ints
    low: Array
    high: Array
    threshold: float
    accuracy: float
    delta: float
    reason: str | None = None
    rejection: str | None = None

    __repr__ = printed

    @property
    def volumes(self) -> Array:
        """Volume of each cell, shape (m,); they add up to 1."""
        return np.asarray(np.prod(self.upper - self.lower, axis=1))

    def volume(self, label: int) -> float:
        """Return how much of the cube has this label."""
        return float(self.volumes[self.label == label].sum())


class Search(ABC):
    """A method at work. The optimizer calls these and nothing else.

    `tell`, `tell_many`, `fail` and, unless `asking_changes_nothing`, `ask` change a search. Nothing else does: an
    answer (`recommend`, `predict`, `leave_one_out`, `certificate`, `level_set`, `explain`) is the same whichever
    answers were given before.

    Attributes
    ----------
    asking_changes_nothing
        Whether `ask` leaves no trace: whatever is asked of the search later, it answers the same, bit for bit, as if
        `ask` had not been called. A run is then rebuilt by telling alone, which spares one suggestion a trial.

    Examples
    --------
    >>> import numpy as np
    >>> from quadrat.methods import SobolSearch
    >>> from quadrat.methods.base import Domain
    >>> search = SobolSearch().start(Domain.cube(1), seed=0)
    >>> for number in range(8):
    ...     x = search.ask(number, np.empty((0, 1))).x
    ...     search.tell(Observation(number, x, -((x - 0.3) ** 2)))
    >>> search.recommend().x.round(1).tolist()
    [0.3]
    """

    asking_changes_nothing: ClassVar[bool] = False

    @abstractmethod
    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        """Propose the point of trial `number`.

        Parameters
        ----------
        number
            The trial's number, from 0; it names the random stream.
        pending
            Points asked but not told, and points whose evaluation failed or was pruned, shape (p, D): not worth asking
            again now. In a domain with contexts, each has a context of its own.
        context
            Shape (D,): coordinates on the axes that the context fixes, NaN on those that are free. The proposal has
            these coordinates there. None in a domain without contexts, and for a method that does not handle them.

        Returns
        -------
        Proposal
            The point and one phrase that says why.
        """

    @abstractmethod
    def tell(self, observation: Observation) -> None:
        """Take in the `observation` of one finished trial."""

    def tell_many(self, observations: Sequence[Observation]) -> None:
        """Take in the `observations` of finished trials, in this order; a search may learn once, after the last."""
        for one in observations:
            self.tell(one)

    def fail(self, number: int, x: Array) -> None:  # noqa: B027  # most searches only avoid the point
        """Take in one trial `number` at x, shape (D,), that ended without a value."""

    def prune(self, number: int, x: Array) -> None:
        """Take in one trial `number` at x, shape (D,), that was stopped before it had a value.

        For a search that learns nothing from failures this is the same as one: the point is not asked for again.
        """
        self.fail(number, x)

    def exhausted(self, pending: Array) -> str | None:  # noqa: ARG002
        """Return why nothing is left to ask for beside what is `pending`; None as long as something is."""
        return None

    def update(self, news: Update) -> None:
        """Take in `news` of any kind: one trial told, failed or pruned, or several told at once."""
        if isinstance(news, Observation):
            self.tell(news)
        elif isinstance(news, Failure):
            self.fail(news.number, news.x)
        elif isinstance(news, Pruned):
            self.prune(news.number, news.x)
        else:
            self.tell_many(news)

    def rebuild(self, updates: Sequence[Update]) -> None:
        """Take in all `updates` of an earlier search, in this order, and be as that search was.

        Whatever no later answer rests on may be left out.
        """
        for one in updates:
            self.update(one)

    @abstractmethod
    def recommend(self, context: Array | None = None) -> Incumbent:
        """Return the best point according to what was told; at least one trial was.

        In a `context`, as of `ask`, the best point there: the context need not have been seen before.
        """

    def leaves_more_than(self, limit: float) -> bool:  # noqa: ARG002
        """Whether more than `limit` is surely left to gain, by a look that costs less than `recommend`; else False."""
        return False

    def predict(self, points: Array) -> tuple[Array, Array, Array] | None:  # noqa: ARG002
        """Return what is believed of f at points (m, D), rounded where the space rounds; at least one trial was told.

        Mean, lower and upper end of the interval that `recommend` has, each shape (m,). None where there is no model,
        or where it means nothing since the data contradict it.
        """
        return None

    def leave_one_out(self) -> LeaveOneOut | None:
        """Return what was told, larger values better, beside its prediction from all else that was told.

        None where there is no model of everything told, or too little was told.
        """
        return None

    def certificate(self, point: Array) -> Certificate | str:  # noqa: ARG002
        """Return how far from the optimum a point (D,) can be, or why nobody can tell; in contexts, in its own."""
        return DOES_NOT_CERTIFY

    # --- level sets

    def level_set(self) -> Classification | str:
        """Return which cells lie above and below the method's threshold, or the reason why nobody can tell."""
        return "this method looks for a maximum and has no threshold"

    def explain(self) -> dict[str, object]:
        """Return what the search knows, as plain data: cells with their bounds, a log of rounds, fitted values."""
        return {}


def refuse_context(search: Search, context: Array | None) -> None:
    """Refuse a context, for a search that cannot choose in one; the optimizer has refused its method before.

    Raises
    ------
    NotAvailable
        There is one.
    """
    if context is not None:
        raise NotAvailable(f"context: expected a method that handles contexts, got {type(search).__name__}")


Ability: TypeAlias = Literal[
    "pending points",
    "replicates",
    "standard errors",
    "integers and choices",
    "failures",
    "constraints",
    "contexts",
    "fidelities",
    "level sets",
    "safe regions",
]
"""What a method may be made for. All but the second to the fifth are refused, with the methods that handle them, where
the method at hand does not say so in its facts; these are what it learns from."""


@dataclass(frozen=True)
class MethodFacts:
    """What `quadrat methods` and docs/methods.md say of a method.

    Attributes
    ----------
    title
        Its name in full.
    paper
        Where it comes from.
    assumes
        What it takes for granted of f.
    best_for
        When to choose it.
    certifies
        Whether anything that it says holds with probability 1 - delta.
    handles
        What it can do beside asking one point after another, such as "pending points" or "constraints".

    Examples
    --------
    >>> from quadrat.methods import RandomSearch
    >>> RandomSearch.facts.assumes
    'nothing'
    """

    title: str
    paper: str
    assumes: str
    best_for: str = ""
    certifies: bool = False
    handles: tuple[Ability, ...] = field(default=("pending points", "replicates"))

    def __post_init__(self) -> None:
        unknown = [word for word in self.handles if word not in get_args(Ability)]
        if unknown:
            known = ", ".join(map(repr, get_args(Ability)))
            raise InvalidInput(f"handles: expected some of {known}, got {unknown[0]!r}")


class Method(ABC):
    """A frozen configuration; subclasses are frozen dataclasses with keyword options and a `facts` class attribute.

    To use a method, hand it to `maximize`, `minimize` or `Optimizer`. To write one, say in `start` how a search begins.

    Attributes
    ----------
    facts
        What `quadrat methods` and docs/methods.md say of it.
    estimates_gain
        Whether its searches recommend with `Incumbent.gain`, on which `stop_at_gain` rests.
    version
        Raised when the method makes other suggestions than before from the same trials. Studies and states name it, so
        that whoever goes on with an older one is told.

    Examples
    --------
    >>> import numpy as np
    >>> from dataclasses import dataclass
    >>> from quadrat.methods.design import DesignSearch
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Halton(Method):
    ...     facts = MethodFacts(title="Halton's sequence", paper="Halton 1960", assumes="nothing")
    ...
    ...     def start(self, domain, seed):
    ...         from scipy.stats import qmc
    ...
    ...         points = qmc.Halton(domain.dimension, seed=seed).random(100)
    ...         return DesignSearch(lambda number: points[number], "next point of Halton's sequence")
    >>> Halton().start(Domain.cube(2), seed=0).ask(0, np.empty((0, 2))).why
    "next point of Halton's sequence"
    """

    facts: ClassVar[MethodFacts]
    estimates_gain: ClassVar[bool] = False
    version: ClassVar[int] = 1

    @abstractmethod
    def start(self, domain: Domain, seed: int) -> Search:
        """Begin a search over [0, 1]^D.

        Parameters
        ----------
        domain
            The cube, and which values, names, contexts, fidelities and constraints stand behind its axes;
            `Domain.cube(dimension)` is the plain one. Many methods see its dimension alone.
        seed
            Names all randomness of the search.

        Returns
        -------
        Search
            One that was told nothing.

        Raises
        ------
        InvalidInput
            The method cannot search this domain.
        """

    def turned(self) -> Method:
        """Return the method for -f in the place of f: one with a threshold turns it, most are the same for both."""
        return self

    def why_not_certified(self) -> str | None:
        """Return why a search of this form, whatever the space, cannot certify although the method does, or None."""
        return None
