"""A run as figures read it: its trials, recommendations on the way, cells, and predictions.

A view is made from an optimizer, from the result of `maximize` or `minimize`, or from an Optuna study. It is of the run
as it is then: make a new one when a live run has gone on. Earlier recommendations and cells are found by letting the
run happen again, when they are first asked for, and are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from optuna.distributions import CategoricalDistribution

from quadrat._core.arrays import Array, Bools
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.gp import LeaveOneOut
from quadrat.loop import Result
from quadrat.methods.auto.method import Auto
from quadrat.methods.auto.surrogate import LARGEST
from quadrat.methods.lp.method import LPGPUCB
from quadrat.optimizer import CertificateReport, Optimizer, Recommendation, TrialRecord
from quadrat.optimizer.earlier import earlier, finished_order
from quadrat.optimizer.importing import Study, is_study
from quadrat.optimizer.reports import why_in_study
from quadrat.plots.parameter_axis import ParameterAxis, axes_of
from quadrat.plots.style import number, plain
from quadrat.space import Fidelity, Space
from quadrat.space.space import context_of
from quadrat.studies.distributions import OwnSpace, Searched

if TYPE_CHECKING:
    from quadrat.studies.recommendation import StudyRun

__all__ = [
    "LINES",
    "BestSoFar",
    "Checkpoint",
    "Kind",
    "PartitionView",
    "Predictions",
    "RoundView",
    "RunView",
    "Source",
    "params_text",
    "study_axes",
    "trial_text",
]


def study_axes(searched: Searched) -> tuple[ParameterAxis, ...]:
    """Return the axes of a search; choices are searched by their place."""
    axes = axes_of(searched.space)
    if isinstance(searched, OwnSpace):
        return axes
    return tuple(_shown(axis, searched) for axis in axes)


def _shown(axis: ParameterAxis, searched: Searched) -> ParameterAxis:
    distribution = searched.of_axis[axis.name]
    if isinstance(distribution, CategoricalDistribution):
        return replace(axis, labels=tuple(map(str, distribution.choices)))
    return axis


LINES = 24  # parameters that are listed; the rest is counted


def params_text(params: Mapping[str, Any], most: int = LINES) -> str:
    """Return parameters line by line, as text that a figure shows as it is; at most so many, and how many more."""
    lines = [f"{plain(name, 40)} = {_value(value)}" for name, value in list(params.items())[:most]]
    left_out = len(params) - len(lines)
    return "<br>".join([*lines, f"and {left_out} more"] if left_out else lines)


def trial_text(record: TrialRecord, most: int = LINES) -> str:
    """Return a trial's number, outcome and at most so many parameters, line by line."""
    if record.state == "complete":
        assert record.value is not None
        head = f"<b>trial {record.number}: {number(record.value, 6)}</b>"
        if record.sem is not None:
            head += f" ± {number(record.sem, 3)}"
        if len(record.values) > 1:
            head += f" (mean of {len(record.values)})"
        if record.feasible is False:
            broken = [plain(name, 30) for name, value in record.constraints.items() if value > 0]
            head += f"<br>constraint violated: {', '.join(broken)}"
    elif record.state == "failed":
        head = f"<b>trial {record.number}: failed</b><br>{plain(record.failure or '', 80)}"
    else:
        head = f"<b>trial {record.number}: pending</b>"
    return f"{head}<br>{params_text(record.params, most)}"


def _value(value: object) -> str:
    return number(value, 6) if isinstance(value, float) else plain(value, 40)


Kind: TypeAlias = Literal["credible 90 %", "certified"]
"""The kind of an interval: a fitted model's 90 % credible one, or bounds that hold under stated assumptions."""

CHECKPOINTS = 20  # moments of a run at which it is looked at again, at most
REPLAYED = 300  # trials of a run that is looked at again without being asked for it: longer ones take their time


@dataclass(frozen=True)
class BestSoFar:
    """The best seen over time; one entry for each finished trial from the first that counts on."""

    finished: tuple[int, ...]  # how many trials had finished
    value: tuple[float, ...]  # the best value among them, in the user's units
    number: tuple[int, ...]  # the trial that had it


@dataclass(frozen=True)
class Checkpoint:
    """The recommendation and certificate after so many finished trials, in the user's parameters and units."""

    finished: int
    recommendation: Recommendation
    certificate: CertificateReport

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the recommended value, whichever kind it has."""
        return self.recommendation.certified_interval or self.recommendation.credible_interval


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions at m points, in the user's direction: arrays (m,); NaN ends and kind None without intervals."""

    value: Array
    low: Array
    high: Array
    kind: Kind | None


@dataclass(frozen=True)
class RoundView:
    """One pass through the loop of LP-GP-UCB: in which trial, "evaluate" or "split", and why."""

    trial: int
    action: str
    condition: str


@dataclass(frozen=True, eq=False)
class PartitionView:
    """Cells that tile the unit cube, after so many finished trials."""

    finished: int
    lower: Array  # corners, shape (m, D)
    upper: Array
    bound: Array  # no value in the cell is better, shape (m,), in the user's direction; NaN while nothing is known
    is_index: bool = False  # whether bounds are of standardised values under a learned kernel, and do not hold
    # For each cell, from methods that say so: the bound that counts, and its observations; and every round so far.
    active: tuple[str, ...] = ()
    points: tuple[int, ...] = ()
    rounds: tuple[RoundView, ...] = ()

    def __len__(self) -> int:
        return len(self.bound)

    def holding(self, point: Array, free: tuple[int, ...]) -> Bools:
        """Return which cells a plane through a point (D,) meets, shape (m,); it runs along the axes in `free`."""
        inside = (self.lower <= point) & ((point < self.upper) | (self.upper == 1.0))
        inside[:, list(free)] = True
        return np.asarray(inside.all(axis=1))


def partition_of(optimizer: Optimizer, finished: int) -> PartitionView:
    """Return the cells of a run as of now; a method without cells with bounds is refused."""
    explained = optimizer.explain()["search"]
    assert isinstance(explained, dict)
    cells = explained.get("cells")
    if not (isinstance(cells, list) and cells) or not {"lower", "upper"} <= cells[0].keys() or _bound(cells[0]) is None:
        raise NotAvailable(
            f"cells: expected a method that divides the space into cells with bounds and has begun to, got"
            f" {type(optimizer.method).__name__} after {finished} trials; LPGPUCB, LP0 and level-set methods have them"
        )
    sign = 1.0 if optimizer.direction == "maximize" else -1.0
    bound = sign * np.array([_bound(cell) for cell in cells], dtype=np.float64)
    rounds = explained.get("rounds")
    return PartitionView(
        finished,
        np.array([cell["lower"] for cell in cells], dtype=np.float64),
        np.array([cell["upper"] for cell in cells], dtype=np.float64),
        np.where(np.isfinite(bound), bound, np.nan),
        isinstance(optimizer.method, LPGPUCB) and optimizer.method.kernel is None,
        tuple(cell["active"] for cell in cells) if "active" in cells[0] else (),
        tuple(cell["points"] for cell in cells) if "points" in cells[0] else (),
        tuple(_round(one) for one in rounds) if isinstance(rounds, list) else (),
    )


def _bound(cell: Mapping[str, Any]) -> float | None:
    """The upper bound of a cell, as LP-GP-UCB or a search for a level set calls it."""
    bound = cell.get("bound", cell.get("high"))
    return None if bound is None else float(bound)


def _round(one: Mapping[str, Any]) -> RoundView:
    return RoundView(int(one["trial"]), str(one["action"]), str(one["condition"]))


@dataclass(frozen=True, eq=False)
class RunView:
    """A run as figures see it.

    Attributes
    ----------
    optimizer, show
        The optimizer, and a function from the parameters that it searches to the user's.
    records, finished
        All trials, in the parameters, numbers and units of the user; and the places in `records` of the complete and
        failed ones, in the order of finishing.
    axes, title
        The parameters as axes of figures; and the name of a study, empty otherwise.
    missing, uncertified
        Parameters of a study's trials that its space lacks; and why nothing is certified although the method of a study
        certifies.

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(-1, 1), y=qd.Float(-1, 1))
    >>> run = qd.minimize(lambda p: p["x"] ** 2 + p["y"], space, n_trials=10, method="RandomSearch")
    >>> view = RunView.of(run)
    >>> len(view.records), [axis.name for axis in view.axes], view.recommendation.best_seen.value == run.best_seen.value
    (10, ['x', 'y'], True)
    """

    optimizer: Optimizer
    records: tuple[TrialRecord, ...]
    finished: tuple[int, ...]
    axes: tuple[ParameterAxis, ...]
    title: str = ""
    show: Callable[[Mapping[str, Any]], dict[str, Any]] = field(default=dict, repr=False)
    missing: tuple[str, ...] = ()
    uncertified: str | None = None

    @classmethod
    def of(cls, source: Source) -> RunView:
        """Return the view of a run from any `source`: an optimizer, a result, a study; a view is returned as it is."""
        if isinstance(source, RunView):
            return source
        if isinstance(source, Optimizer):
            return _of_optimizer(source)
        if isinstance(source, Result):
            if source._optimizer is None:
                raise NotAvailable(
                    "run: expected a result as maximize or minimize returned it, got a copy, which has the trials but"
                    " not the model; make figures before it is copied or pickled, or add its trials to an Optimizer"
                )
            return _of_optimizer(source._optimizer)
        if is_study(source):
            from quadrat.studies.notes import kept_method, why_uncertified
            from quadrat.studies.recommendation import run_of

            kept = kept_method(source)  # type: ignore[arg-type]  # an Optuna study, as `is_study` says
            uncertified = why_uncertified(source, kept)  # type: ignore[arg-type]
            run = run_of(source, method=None if uncertified else kept)  # type: ignore[arg-type]
            return _of_study(run, str(getattr(source, "study_name", "")), uncertified)
        raise InvalidInput(
            "run: expected an Optimizer, the Result of maximize or minimize, or an Optuna study, got"
            f" {type(source).__name__}"
        )

    # --- trials

    @property
    def space(self) -> Space:
        """What is searched."""
        return self.optimizer.space

    @property
    def direction(self) -> str:
        """Either "maximize" or "minimize"."""
        return self.optimizer.direction

    @property
    def maximizes(self) -> bool:
        """Whether larger values are better."""
        return self.direction == "maximize"

    @property
    def method(self) -> str:
        """The name of the method."""
        return type(self.optimizer.method).__name__

    @cached_property
    def units(self) -> Array:
        """The point of each trial on the unit cube, shape (n, D); NaN on axes whose parameter does not exist there."""
        inner = self.optimizer.trials[: len(self.records)]
        points = self.space.to_units([record.params for record in inner])
        if any(parameter.when is not None for parameter in self.space.values()) and len(points):
            points = np.where(self.space.exists(points), points, np.nan)
        return points

    @cached_property
    def values(self) -> Array:
        """The value of each trial, shape (n,); NaN unless it is complete."""
        return np.array([np.nan if record.value is None else record.value for record in self.records], dtype=np.float64)

    @cached_property
    def counts(self) -> Bools:
        """Which trials can be the best: complete, constraints met where there are any, at the target fidelity."""
        constrained = any(record.constraints for record in self.records)
        name = self.space.fidelity
        target = None if name is None else self.space[name]
        return np.array(
            [
                record.state == "complete"
                and (not constrained or record.feasible is True)
                and (not isinstance(target, Fidelity) or name is None or record.params[name] == target.target)
                for record in self.records
            ],
            dtype=np.bool_,
        )

    @cached_property
    def best_so_far(self) -> BestSoFar:
        """The best seen over time."""
        order = np.array(self.finished, dtype=np.intp)
        sign = 1.0 if self.maximizes else -1.0
        values = np.where(self.counts[order], sign * self.values[order], -np.inf) if len(order) else np.empty(0)
        running = np.maximum.accumulate(values)
        first = int(np.argmax(running > -np.inf)) if np.isfinite(running).any() else len(running)
        rises = np.append(True, running[1:] > running[:-1])
        holder = np.maximum.accumulate(np.where(rises, np.arange(len(running)), 0)) if len(running) else order
        return BestSoFar(
            tuple(range(first + 1, len(running) + 1)),
            tuple((sign * running[first:]).tolist()),
            tuple(self.records[int(order[i])].number for i in holder[first:]),
        )

    # --- recommendations

    @cached_property
    def recommendation(self) -> Recommendation | None:
        """What to use, in the user's parameters; None as long as no trial is complete.

        Where the space has contexts, for the context of the best seen.
        """
        inner = self._inner_recommendation
        return None if inner is None else self._shown(inner)

    @cached_property
    def certificate(self) -> CertificateReport:
        """How far from the optimum it can be, or why nobody can tell; in the context of `recommendation`."""
        return self._certificate_of(self.optimizer)

    @cached_property
    def point(self) -> Array:
        """The recommended point on the unit cube, shape (D,), which slices go through."""
        inner = self._inner_recommendation
        if inner is None:
            raise NotAvailable("run: expected at least one complete trial, got none; tell a value first")
        return self.space.to_unit(inner.params)

    @property
    def replays_by_itself(self) -> bool:
        """Whether the run is so short that looking at it again takes seconds at most."""
        return len(self.finished) <= REPLAYED

    def checkpoints(self, most: int = CHECKPOINTS) -> tuple[Checkpoint, ...]:
        """Return the recommendations after so many finished trials, at up to `most` moments of the run.

        The last is now. The run happens again for it, once, and the answer is kept. In contexts there is no single
        recommendation: then there are none.
        """
        if most not in self._checkpoints:
            self._checkpoints[most] = () if self.space.contexts else self._looked_at_again(most)
        return self._checkpoints[most]

    def _looked_at_again(self, most: int) -> tuple[Checkpoint, ...]:
        if self.recommendation is None:
            return ()
        last = Checkpoint(len(self.finished), self.recommendation, self.certificate)
        complete = np.array([self.records[i].state == "complete" for i in self.finished])
        first = int(np.argmax(complete)) + 1
        found = [
            Checkpoint(stop, self._shown(then.recommend()), self._certificate_of(then))
            for stop, then in earlier(self.optimizer, self._stops(first, most))
        ]
        return (*found, last)

    def _stops(self, first: int, most: int) -> list[int]:
        """The moments before now at which the run is looked at again, from the `first` possible one."""
        last = len(self.finished)
        return [stop for stop in spread(first, last, most) if stop < last] if most > 1 else []

    @cached_property
    def _checkpoints(self) -> dict[int, tuple[Checkpoint, ...]]:
        return {}

    @cached_property
    def _inner_recommendation(self) -> Recommendation | None:
        return None if self.optimizer.best_seen is None else self.optimizer.recommend(self._context)

    @property
    def _context(self) -> dict[str, Any] | None:
        best = self.optimizer.best_seen
        return context_of(self.space, best.params) if self.space.contexts and best is not None else None

    def _certificate_of(self, optimizer: Optimizer) -> CertificateReport:
        if self.uncertified is not None:
            return CertificateReport(None, self.uncertified)
        if self.space.contexts and self._context is None:
            return CertificateReport(None, "no trial is complete yet")
        report = optimizer.certificate(self._context)
        return report if report.params is None else replace(report, params=self.show(report.params))

    def _shown(self, recommendation: Recommendation) -> Recommendation:
        """A recommendation in the user's parameters and numbers."""
        best = recommendation.best_seen
        record = self.records[best.number]
        return replace(
            recommendation,
            params=self.show(recommendation.params),
            best_seen=replace(best, number=record.number, params=record.params),
            why=why_in_study(recommendation.why, best.number, record.number, self.missing),
        )

    # --- predictions

    def predictions(self, units: Array) -> Predictions:
        """Return the predictions of the method at points `units` (m, D) of the unit cube, where it has a model."""
        found = self.optimizer.predict(self.space.from_units(units))
        kind: Kind | None = None
        if found and found[0].credible_interval is not None:
            kind = "credible 90 %"
        elif found and found[0].certified_interval is not None:
            kind = "certified"
        nothing = (np.nan, np.nan)
        intervals = [one.certified_interval or one.credible_interval or nothing for one in found]
        low, high = np.array(intervals, dtype=np.float64).reshape(-1, 2).T
        return Predictions(np.array([one.value for one in found], dtype=np.float64), low, high, kind)

    @cached_property
    def leave_one_out(self) -> LeaveOneOut:
        """Each outcome beside its prediction from all others, with the user's numbers of trials; refused without."""
        return self.optimizer.leave_one_out().renumbered([record.number for record in self.records])

    @property
    def fit_warning(self) -> str | None:
        """That the model fits badly, and what to do; None where nothing says so, or where nobody can tell."""
        try:
            return self.leave_one_out.warning
        except NotAvailable:
            return None

    @property
    def believes_locally(self) -> bool:
        """Whether the model is of the trials around the best place alone, as that of Auto is in long runs."""
        complete = sum(record.state == "complete" for record in self.records)
        return isinstance(self.optimizer.method, Auto) and complete > LARGEST

    # --- cells

    def partition(self) -> PartitionView:
        """Return the cells of the method, with their bounds in the user's direction."""
        return self.partitions(1)[-1]

    def partitions(self, most: int) -> tuple[PartitionView, ...]:
        """Return the cells as they were at up to `most` moments of the run, the last now; the answer is kept."""
        if most not in self._partitions:
            last = partition_of(self.optimizer, len(self.finished))
            found = []
            for stop, then in earlier(self.optimizer, self._stops(1, most)):
                with suppress(NotAvailable):  # where the kernel is learned first, there are no cells at first
                    found.append(partition_of(then, stop))
            self._partitions[most] = (*found, last)
        return self._partitions[most]

    @cached_property
    def _partitions(self) -> dict[int, tuple[PartitionView, ...]]:
        return {}


Source: TypeAlias = RunView | Optimizer | Result | Study
"""The run of a figure: an optimizer, a result of `maximize` or `minimize`, an Optuna study, or a `RunView`."""


def spread(first: int, last: int, most: int) -> list[int]:
    """Return up to `most` whole numbers from `first` to `last`, both included, about evenly spaced."""
    return sorted({round(stop) for stop in np.linspace(first, last, max(min(most, last - first + 1), 1)).tolist()})


def _of_optimizer(optimizer: Optimizer) -> RunView:
    return RunView(optimizer, optimizer.trials, finished_order(optimizer), axes_of(optimizer.space))


def _of_study(run: StudyRun, name: str, uncertified: str | None) -> RunView:
    from quadrat.studies.running_trials import why_chosen

    records = tuple(
        replace(record, number=trial.number, params=dict(trial.params), why=why_chosen(trial))
        for record, trial in zip(run.optimizer.trials, run.trials, strict=True)
    )
    return RunView(
        run.optimizer,
        records,
        finished_order(run.optimizer),
        study_axes(run.searched),
        name,
        run.show,
        run.missing,
        uncertified,
    )
