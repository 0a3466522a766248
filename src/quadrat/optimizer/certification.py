"""Certifying a run after the fact: what stated assumptions say of its results, whatever method chose the points.

The band of `quadrat.confidence.AdaptiveBand` holds for points that anything chose from the past: Auto, any sampler of
Optuna's, a person. So a run can be searched by the method that finds the most, and its answer certified. What that
needs, beside the assumptions, is said of the results and checked where they show it (each `_check` below is one
condition); the rest the user states.

- Every point was chosen before its noise was drawn, and noise is sub-Gaussian given the past.
- Every value counts as it was measured: none was pruned, left out, corrected, rounded or averaged by what it was.
- Whether and when a result came did not depend on its noise. When to stop is free.
- Assumptions, delta and coordinates were fixed without the results.

All statements of one certification are about one event: with probability 1 - delta all of them hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from quadrat._core.arrays import Array
from quadrat._core.printing import at_least, at_most, between, labelled
from quadrat.confidence import AdaptiveBand, Certificate, certify
from quadrat.confidence.interval import Interval
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels import Kernel
from quadrat.kernels.stationary import Stationary
from quadrat.optimizer.history import History
from quadrat.optimizer.importing import plain_params
from quadrat.optimizer.incumbent import point_to_use
from quadrat.optimizer.run import Run
from quadrat.optimizer.run_assumptions import RunAssumptions
from quadrat.optimizer.trial import number_text, settings_text
from quadrat.space import Space

__all__ = [
    "MAX_CELLS",
    "Certification",
    "CertifiedPoint",
    "Statements",
    "certification_of",
    "check_assumptions",
    "check_missing",
    "check_pruned",
    "check_stated",
    "listed",
    "missing_notes",
]

MAX_CELLS = 4096
"""Cells of the branch and bound for the best value still possible: more make certificates narrower and take longer."""

_MOST_POINTS = 5000  # distinct settings: the six factors of the band take n^3 operations and n^2 numbers each
_ENOUGH_VALUES = 5  # on one grid before that is taken for rounding
_STEPS = (1.0, 2.0, 2.5, 5.0)  # to which people and instruments round, times powers of ten
_HARMLESS = 1e-9  # of B s: what bands allow their own rounding
_LARGEST = 1e100  # beyond which no value is taken for a rounded one: that stated noise is as large is refused
_BY_CHANCE = 1e-3  # that values on a finer step, which noise explains, all lie on a coarser one
_MANY_TO_ONE_SIDE = 5  # values with symmetric noise are so with probability 1/16
_COPIED = 1e-5  # relative: a length-scale that was copied from a fit, perhaps printed with six digits


@dataclass(frozen=True)
class Statements:
    """What the user says of a run that its results cannot show.

    Attributes
    ----------
    stated_before_data
        The assumptions were chosen without the results.
    every_value_counts
        Every value that was measured is there, as it was measured, each with noise of its own.
    failures_ignore_noise
        Which trials failed, timed out or have not ended did not depend on the noise.
    """

    stated_before_data: bool = False
    every_value_counts: bool = False
    failures_ignore_noise: bool = False

    def __post_init__(self) -> None:
        for name, said in vars(self).items():
            if not isinstance(said, bool):
                raise InvalidInput(f"{name}: expected True or False, got {said!r:.80}")


@dataclass(frozen=True)
class CertifiedPoint:
    """A setting and what is certified of it, in the user's direction and units.

    Attributes
    ----------
    params
        The setting.
    certified_interval
        The objective there lies in it.
    remaining_regret
        No setting of the space is better than this one by more.

    Examples
    --------
    >>> point = CertifiedPoint({"x": 0.5}, certified_interval=(0.7, 0.9), remaining_regret=0.1)
    >>> point.params, point.remaining_regret
    ({'x': 0.5}, 0.1)
    """

    params: dict[str, Any]
    certified_interval: tuple[float, float]
    remaining_regret: float

    def _text(self) -> str:
        return f"{between(self.certified_interval)}; at most {at_most(self.remaining_regret)} can be gained"


@dataclass(frozen=True, repr=False)
class Certification:
    """What stated assumptions certify of a run: with probability 1 - delta all of it holds.

    Attributes
    ----------
    recommended
        The setting that the method of the run recommends; None where the data reject the assumptions.
    best
        The setting with the best guaranteed value, which may be another; None where the data reject the assumptions.
    asked
        The settings that were asked for, in order; empty where the data reject the assumptions.
    best_possible
        No setting of the space is better than this; None where the data reject the assumptions.
    rejected
        How the data contradict the assumptions; None when they do not. Then nothing is certified.
    assumptions
        On which it rests.
    rests_on
        The same in words: kernel with length-scales in both units, norm, offset, noise and what the user stated.
    notes
        What a reader should know of the results: such as failed trials, or numbers that are missing.
    direction
        "maximize" or "minimize".
    n_values, n_trials
        How many values of how many complete trials count.

    Examples
    --------
    >>> import quadrat as qd
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize", method="SobolSearch")
    >>> for _ in range(30):
    ...     trial = optimizer.ask()
    ...     optimizer.tell(trial, -((trial.params["x"] - 0.3) ** 2))
    >>> stated = qd.RunAssumptions(
    ...     kernel=qd.Matern(2.5), lengthscales={"x": 0.5}, norm_bound=1.0, offset=0.0, noise=0.01
    ... )
    >>> found = optimizer.certify(stated, stated_before_data=True, every_value_counts=True)
    >>> round(found.recommended.params["x"], 1), found.recommended.remaining_regret < 0.1, found.rejected
    (0.3, True, None)
    """

    recommended: CertifiedPoint | None
    best: CertifiedPoint | None
    asked: tuple[CertifiedPoint, ...]
    best_possible: float | None
    rejected: str | None
    assumptions: RunAssumptions
    rests_on: tuple[str, ...]
    notes: tuple[str, ...]
    direction: str
    n_values: int
    n_trials: int

    def __repr__(self) -> str:
        title = (
            f"Certified of {self.direction}, with probability {at_least(1 - self.assumptions.delta)}, all of it at once"
        )
        lines: list[tuple[str, str]] = []
        if self.rejected is not None:
            title = f"Nothing is certified of {self.direction}: the results contradict the assumptions"
            lines.append(("rejected", self.rejected))
        for label, point in [("recommended", self.recommended), ("best guaranteed", self.best)]:
            if point is not None:
                lines += [(label, settings_text(point.params)), ("", point._text())]
        for point in self.asked:
            lines += [("asked for", settings_text(point.params)), ("", point._text())]
        if self.best_possible is not None:
            word, way = ("more", at_most) if self.direction == "maximize" else ("less", at_least)
            lines.append(("best possible", f"nowhere {word} than {way(self.best_possible)}"))
        values, trials = (f"{n} {word}{'' if n == 1 else 's'}" for n, word in
                          [(self.n_values, "value"), (self.n_trials, "complete trial")])  # fmt: skip
        lines.append(("results", f"{values} of {trials}"))
        lines += [("note" if i == 0 else "", note) for i, note in enumerate(self.notes)]
        lines += [("rests on" if i == 0 else "", text) for i, text in enumerate(self.rests_on)]
        return labelled(title, lines)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data that JSON can hold."""
        return {
            "recommended": None if self.recommended is None else asdict(self.recommended),
            "best": None if self.best is None else asdict(self.best),
            "asked": [asdict(point) for point in self.asked],
            "best_possible": self.best_possible,
            "rejected": self.rejected,
            "assumptions": self.assumptions.to_dict(),
            "rests_on": list(self.rests_on),
            "notes": list(self.notes),
            "direction": self.direction,
            "n_values": self.n_values,
            "n_trials": self.n_trials,
        }

    def shown(self, show: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Certification:
        """Return the same with settings as `show` has them."""

        def turned(point: CertifiedPoint | None) -> CertifiedPoint | None:
            return None if point is None else replace(point, params=show(point.params))

        asked = tuple(replace(point, params=show(point.params)) for point in self.asked)
        return replace(self, recommended=turned(self.recommended), best=turned(self.best), asked=asked)


def certification_of(
    run: Run,
    assumptions: RunAssumptions,
    statements: Statements,
    *,
    params: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None,
    max_cells: int,
) -> Certification:
    """Return what the assumptions certify of a run.

    Parameters
    ----------
    run
        With its results.
    assumptions, statements
        What is stated of it.
    params
        Further settings to certify.
    max_cells
        Effort of the branch and bound.

    Raises
    ------
    InvalidInput
        No `RunAssumptions`, a statement that is lacking, or settings that are not in the space.
    NotAvailable
        A run that cannot be certified: the sentence says why, and what to do.
    """
    check_assumptions(assumptions)
    given = assumptions.on(_checked_space(run.space))
    asked = listed(params)
    asked_at = run.space.to_units(asked) if asked else np.empty((0, run.space.dimension))
    _check_outcomes(run.history)
    check_stated(statements)
    failed, unfinished = run.history.count("failed"), run.history.count("pending")
    check_missing(statements, failed=failed, unfinished=unfinished)
    _check_copied(given.kernel, run)
    x, y = _observations(run.history)
    _check_digits(assumptions, given.ceiling, y)
    rounded = _check_rounded(assumptions, y)
    points, rows = np.unique(x, axis=0, return_inverse=True)
    if len(points) > _MOST_POINTS:
        raise NotAvailable(
            f"certify: expected at most {_MOST_POINTS:,} different settings, got {len(points):,}: the bound takes n^3"
            " operations; certify a study of the first of them"
        )

    direction = run.direction
    notes = [*missing_notes(failed, unfinished), *_notes(run.history, assumptions.values_within, rows.ravel(), y)]
    notes += [*rounded, *_far_off(assumptions, given.ceiling, y), *_forbidden(run.space, asked)]
    certification = Certification(
        None, None, (), None, None, assumptions, _rests_on(assumptions, run.space, statements), tuple(notes),
        direction.value, len(y), run.history.count("complete"),
    )  # fmt: skip
    outside = _outside(assumptions, y)
    if outside is not None:
        return replace(certification, rejected=outside)

    band = AdaptiveBand(given, assumptions.delta)
    band.add(x, np.array([direction.turn(value - assumptions.centre) for value in y.tolist()]))

    if band.rejection is not None:
        return replace(certification, rejected=_plain(band.rejection))

    def certified(point: Array | None) -> Certificate:
        return certify(band, dimension=run.space.dimension, point=point, max_cells=max_cells)

    bounds = _Bounds(assumptions, direction.turn)
    first = certified(None)  # of the point with the highest lower bound
    best_x, best_params = _best_point(run, band, first.point)
    recommended_params = point_to_use(run, None).params
    best = first if np.array_equal(best_x, first.point) else certified(best_x)
    others = [run.space.to_unit(recommended_params), *asked_at]
    found = [best, *(best if np.array_equal(point, best_x) else certified(point) for point in others)]
    rejected = next((one.rejection for one in found if one.rejection is not None), None)
    if rejected is None and any(bounds.left(one).is_empty(given.ceiling) for one in (first, *found)):
        rejected = band.rejected_because("no value of the objective within values_within is left at some point")
    if rejected is not None:
        return replace(certification, rejected=_plain(rejected))
    named = [best_params, recommended_params, *plain_params(asked, run.space)]
    highest = bounds.highest(min(one.maximum for one in found))
    done = [bounds.point(setting, one, highest) for setting, one in zip(named, found, strict=True)]
    return replace(
        certification,
        best=done[0],
        recommended=done[1],
        asked=tuple(done[2:]),
        best_possible=bounds.shown(highest),
    )


def _plain(rejection: str) -> str:
    """Return why a band rejects the assumptions, without the numbers of its proof."""
    return re.sub(r" \(regulariser [^()]*\)", "", rejection)


@dataclass(frozen=True)
class _Bounds:
    """From bounds on the turned objective minus its offset to bounds on the user's.

    Where values are known to lie within limits, so does the objective, and no bound exceeds these.
    """

    assumptions: RunAssumptions
    turn: Callable[[float], float]

    def _limits(self) -> tuple[float, float]:
        if self.assumptions.values_within is None:
            return -np.inf, np.inf
        low, high = sorted(self.turn(end - self.assumptions.centre) for end in self.assumptions.values_within)
        return low, high

    def shown(self, value: float) -> float:
        """Return a value in the user's direction and units."""
        return self.turn(value) + self.assumptions.centre

    def highest(self, maximum: float) -> float:
        """Return what the turned objective exceeds nowhere."""
        return min(maximum, self._limits()[1])

    def left(self, found: Certificate) -> Interval:
        """Return what both the band and the limits leave at a point; nothing where they contradict each other."""
        least, most = self._limits()
        low, high = found.certified_interval
        return Interval(np.array([max(low, least)]), np.array([min(high, most)]))

    def point(self, params: dict[str, Any], found: Certificate, highest: float) -> CertifiedPoint:
        """Return what is certified of a setting."""
        least, most = self._limits()
        low, high = (min(max(end, least), most) for end in found.certified_interval)
        regret = min(found.value, max(highest - low, 0.0) + 1e-9 * max(abs(highest), abs(low)))
        ends = sorted((self.shown(low), self.shown(high)))
        return CertifiedPoint(params, (ends[0], ends[1]), regret)


def _best_point(run: Run, band: AdaptiveBand, point: Array) -> tuple[Array, dict[str, Any]]:
    """Return the nearest to the point with the highest lower bound that the user can set, and its parameters."""
    number = run.history.first_at(point)
    if number is not None:
        params = run.history.params(number)
        if run.space.feasible(params):
            return point, params
    else:
        params = run.space.from_unit(run.space.round(point))
        if run.space.feasible(params):
            return run.space.to_unit(params), params
    complete = run.history.numbers("complete")
    allowed = [number for number in complete if run.space.feasible(run.history.params(number))] or complete
    points = np.array([run.history.point(number) for number in allowed])
    best = int(np.argmax(band.interval(points).lower))
    return points[best], run.history.params(allowed[best])


def _observations(history: History) -> tuple[Array, Array]:
    """Return every single value, replicates one by one: points (n, D), and values in the user's units, (n,)."""
    told = [
        (history.point(number), value) for number in history.numbers("complete") for value in history.values(number)
    ]
    return np.array([x for x, _ in told]), np.array([value for _, value in told])


# --- the conditions, one by one


def check_assumptions(assumptions: object) -> None:
    """Refuse what is no `RunAssumptions`."""
    if isinstance(assumptions, RunAssumptions):
        return
    hint = "; say its offset, and what its length-scales are shares of" if hasattr(assumptions, "norm_bound") else ""
    raise InvalidInput(
        "assumptions: expected RunAssumptions(kernel=, lengthscales=, norm_bound=, offset=, noise=), got"
        f" {assumptions!r:.120}{hint}"
    )


def _checked_space(space: Space) -> Space:
    """Return a space of Floats alone; refuse any other."""
    if space.contexts:
        raise NotAvailable(
            f"certify: expected a space without contexts, got {', '.join(space.contexts)}; LPGPUCB certifies in"
            " contexts"
        )
    rough = [name for name in space.discontinuous if not space[name].context]
    if rough:
        raise NotAvailable(
            f"certify: expected Floats without steps or conditions, got {', '.join(rough)}: the assumptions are about a"
            " function on the whole cube, and one that jumps is in no ball; hold these parameters fixed in a study of"
            " their own, and certify that"
        )
    return space


def _check_outcomes(history: History) -> None:
    if history.standard_errors:
        raise NotAvailable(
            "certify: expected plain values, got a standard error: it is an estimate, and may be too small; tell the"
            " single values, as replicates, and state the noise of one of them"
        )
    if not history.count("complete"):
        raise NotAvailable(
            f"certify: expected at least one complete trial, got {history.summary()}; tell a value first"
        )


def check_pruned(pruned: int) -> None:
    """Refuse a study of which so many trials were pruned."""
    if pruned:
        were = "trial was" if pruned == 1 else "trials were"
        raise NotAvailable(
            f"certify: expected no pruned trials, got a study of which {pruned} {were} pruned: a pruner goes by the"
            " values seen, and leaves the lucky ones; run a study without a pruner"
        )


def check_stated(statements: Statements) -> None:
    """Refuse a run of which the user does not say what has to be true of every run."""
    if not statements.stated_before_data:
        raise InvalidInput(
            "stated_before_data: expected True, which says that kernel, norm bound, noise, offset and delta were chosen"
            " without these results; assumptions that were fitted to the results certify nothing, so take other data or"
            " what is known of the process"
        )
    if not statements.every_value_counts:
        raise InvalidInput(
            "every_value_counts: expected True, which says that every value that was measured is there, as it was"
            " measured and with noise of its own: none was pruned, left out, corrected or rounded, none is a mean of a"
            " number of values that the values decided, and no setting was chosen when its value was known"
        )


def check_missing(statements: Statements, *, failed: int, unfinished: int) -> None:
    """Refuse a run in which so many trials have no value, unless the user says that the noise is not why."""
    if statements.failures_ignore_noise or not (failed or unfinished):
        return
    counts = [(failed, "failed"), (unfinished, "not ended")]
    has = " and ".join(f"{count} {word}" for count, word in counts if count)
    raise InvalidInput(
        f"failures_ignore_noise: expected True, because of the trials {has}: it says that which ones failed, timed out"
        " or are late did not depend on their noise, as it does of those that are broken off when the value looks bad"
    )


def listed(params: object) -> list[Mapping[str, Any]]:
    """Return one setting, several or none as a list of them."""
    if params is None:
        return []
    several = [params] if isinstance(params, Mapping) else params
    if (
        not isinstance(several, Sequence)
        or isinstance(several, str)
        or not all(isinstance(one, Mapping) for one in several)
    ):
        raise InvalidInput(f"params: expected a setting, or a list of them, got {params!r:.120}")
    return list(several)


def missing_notes(failed: int, unfinished: int) -> list[str]:
    """Return what a reader should know of trials without a value."""
    counts = [(failed, "failed"), (unfinished, "not ended")]
    return [f"trials {word}: {count}; stated not to depend on the noise" for count, word in counts if count]


def _check_copied(kernel: Kernel, run: Run) -> None:
    """Refuse a kernel whose length-scales are those of the model that was fitted to these results."""
    if not isinstance(kernel, Stationary):
        return
    stated = np.atleast_1d(np.asarray(kernel.lengthscales, dtype=np.float64))
    if all(float(f"{scale:.2g}") == scale for scale in stated.tolist()):
        return  # round numbers are nobody's fit
    for fitted in _lengthscales_in(run.search.explain()):
        if fitted.shape == stated.shape and np.allclose(fitted, stated, rtol=_COPIED, atol=0.0):
            raise NotAvailable(
                f"certify: expected length-scales that were stated, got {', '.join(f'{one:.6g}' for one in stated)},"
                " which are those of the model fitted to these results; state them from other data, or from what is"
                " known of the process"
            )


def _lengthscales_in(data: object) -> list[Array]:
    """Return all lists of length-scales in plain data."""
    if isinstance(data, Mapping):
        here = [data[name] for name in ("lengthscale", "lengthscales") if name in data]
        own = [np.atleast_1d(np.asarray(one, dtype=np.float64)) for one in here if one is not None]
        return own + [found for one in data.values() for found in _lengthscales_in(one)]
    if isinstance(data, Kernel):
        return [np.atleast_1d(np.asarray(getattr(data, "lengthscales", []), dtype=np.float64))]
    return [found for one in data for found in _lengthscales_in(one)] if isinstance(data, list | tuple) else []


def _check_digits(assumptions: RunAssumptions, ceiling: float, y: Array) -> None:
    """Refuse numbers that end before the noise begins, such as large ones in single precision; `ceiling` is B s.

    Numbers of one size lie on a grid, however they came about. Where its step is no more than the rounding that the
    band itself allows for, nothing is lost.
    """
    largest = float(np.abs(y).max())
    if assumptions.values_within is not None or largest > _LARGEST:
        return
    single = len(y) >= _ENOUGH_VALUES and largest < 1e30 and bool(np.all(y == y.astype(np.float32)))
    step = float(np.spacing(np.float32(largest) if single else np.float64(largest)))
    if step <= max(2 * assumptions.sigma, _HARMLESS * ceiling):
        return
    raise NotAvailable(
        f"certify: expected values with all their digits, got {len(y)} {'in single precision' if single else 'values'},"
        f" of up to {largest:.4g}, whose last digit is worth {step:.2g}, more than twice the noise of"
        f" {assumptions.sigma:g}: they were rounded to it; take the offset off before the value is stored"
        f"{', or store it in double precision' if single else ''}"
    )


def _check_rounded(assumptions: RunAssumptions, y: Array) -> list[str]:
    """Refuse values that are all multiples of a step of more than twice the noise; a note where they are few.

    Values on a grid whose mean is between two of its points scatter by at least half a step. With less noise than that
    the objective itself would have to lie on the grid everywhere: it jumps, or its values were rounded.
    """
    step = _step_of(assumptions, y)
    if step is None:
        return []
    finest = max(one for one in _steps_below(2 * assumptions.sigma))
    what = f"values that all lie on a grid of step {step:g}, more than twice the noise of {assumptions.sigma:g}"
    if len(y) < _ENOUGH_VALUES or (finest / step) ** len(y) > _BY_CHANCE:
        return [f"{what}: if they were rounded to it, nothing is certified; so few ({len(y)}) do not show it"]
    raise NotAvailable(
        f"certify: expected values with all their digits, got {len(y)} {what}: rounding is no noise of mean 0; tell the"
        " values as they were measured; if the objective has such values where it was evaluated, without rounding, a"
        f" noise of {step / 2:g} is as true"
    )


def _step_of(assumptions: RunAssumptions, y: Array) -> float | None:
    """Return the largest round step above twice the noise of which all values, or all differences, are multiples."""
    finest, largest = 2 * assumptions.sigma, max(float(np.abs(y).max()), abs(assumptions.centre))
    if assumptions.values_within is not None or largest > _LARGEST:
        return None
    if not np.any(y) or not np.any(y - assumptions.centre):  # multiples of any step
        return max(_steps_below(10 * finest))
    single = largest < 1e30 and np.array_equal(y.astype(np.float32).astype(np.float64), y)
    error = 4 * float(np.finfo(np.float32 if single else np.float64).eps) * largest
    for step in sorted(_steps_below(2 * largest), reverse=True):
        if step <= finest or error > 0.01 * step:  # finer multiples cannot be told from other numbers
            return None
        for values in (y, y - assumptions.centre, y - y[0]):
            multiples = values / step
            if np.all(np.abs(multiples - np.rint(multiples)) <= error / step) and np.abs(multiples).max() > 0.5:
                return step
    return None


def _steps_below(most: float) -> list[float]:
    """Return the round steps of up to `most`, and of at least a 1e18th of it."""
    top = int(np.floor(np.log10(most)))
    steps = [one * 10.0**exponent for exponent in range(top - 18, top + 1) for one in _STEPS]
    return [step for step in steps if step <= most]


def _outside(assumptions: RunAssumptions, y: Array) -> str | None:
    """Return how the values contradict the limits that were stated for them; None where they do not."""
    if assumptions.values_within is None:
        return None
    low, high = assumptions.values_within
    beyond = y[(y < low) | (y > high)]
    if not len(beyond):
        return None
    return (
        f"assumptions rejected by the data: every value was stated to lie within {low:g} to {high:g}, and"
        f" {number_text(float(beyond[0]))} does not"
    )


def _notes(history: History, within: tuple[float, float] | None, rows: np.ndarray[Any, Any], y: Array) -> list[str]:
    """Return what else a reader should know."""
    notes = []
    pairs, times = np.unique(np.column_stack([rows, y]), axis=0, return_counts=True)
    if within is None and (times > 1).any():
        notes.append(
            f"{int((times - 1).sum())} of {len(pairs) + int((times - 1).sum())} values repeat the value of the same"
            " setting to the last digit: true of an objective without noise, or else of one that repeats its random"
            " numbers, of which nothing is certified"
        )
    if history.constraint_names:
        notes.append(
            f"measured constraints ({', '.join(history.constraint_names)}) are not certified; the regret is against all"
            " settings, whether they meet them or not"
        )
    return notes


def _far_off(assumptions: RunAssumptions, ceiling: float, y: Array) -> list[str]:
    """Return a note where all values lie on one side of all that the objective can be; `ceiling` is B s."""
    low, high = assumptions.centre - ceiling, assumptions.centre + ceiling
    if len(y) < _MANY_TO_ONE_SIDE or not ((y < low).all() or (y > high).all()):
        return []
    side = "below" if y[0] < low else "above"
    return [
        f"all {len(y)} values lie {side} everything that the assumptions let the objective be, which is {low:g} to"
        f" {high:g}: they would all have noise to the same side; check offset, norm bound and noise"
    ]


def _forbidden(space: Space, asked: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return notes where the space has a known constraint."""
    if not space.is_constrained:
        return []
    notes = [
        "the known constraint of the space does not count: the regret is against all settings, also those it forbids"
    ]
    forbidden = [settings_text(params) for params in plain_params(asked, space) if not space.feasible(params)]
    if forbidden:
        notes.append(f"asked for, but forbidden by the known constraint of the space: {'; '.join(forbidden)}")
    return notes


def _rests_on(assumptions: RunAssumptions, space: Space, statements: Statements) -> tuple[str, ...]:
    """Return the assumptions in words, with all that was stated of the run."""
    within = assumptions.values_within
    how = "" if within is None else f", because every value lies within {within[0]:g} to {within[1]:g}"
    said = ["chosen without the results", "every value counts as it was measured"]
    if statements.failures_ignore_noise:
        said.append("failures ignore the noise")
    return (
        assumptions.described(space),
        f"the objective minus {assumptions.centre:g} has norm at most {assumptions.norm_bound:g}",
        f"noise is sub-Gaussian with constant {assumptions.sigma:g}{how}",
        f"stated: {', '.join(said)}",
    )
