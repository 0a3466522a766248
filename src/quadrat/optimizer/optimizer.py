"""The optimizer: it translates between a user's parameters, directions and failures and a search on the unit cube."""

from __future__ import annotations

import logging
import operator
import warnings
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from quadrat._core.arrays import Array, as_number
from quadrat._core.blas_threads import with_own_numerics
from quadrat.confidence import CertificateCurve
from quadrat.errors import InvalidInput, NotAvailable, QuadratWarning
from quadrat.gp import LeaveOneOut
from quadrat.methods.base import DOES_NOT_CERTIFY, Method
from quadrat.optimizer.advice import Advice, advise, situation_of, stop_reason
from quadrat.optimizer.certification import MAX_CELLS, Certification, Statements, certification_of
from quadrat.optimizer.importing import Study, Table, gather_batch, plain_params
from quadrat.optimizer.incumbent import allowed_trials, best_in_context, point_to_use
from quadrat.optimizer.level_sets import LevelSetReport, level_set_of
from quadrat.optimizer.method_choice import check_method, require, resolve, what_changed
from quadrat.optimizer.outcome import Direction, Measured, Outcome, Reading, ReplicateWatch, read_measured
from quadrat.optimizer.replay import replay
from quadrat.optimizer.reports import (
    CertificateReport,
    Predicted,
    Recommendation,
    curve_of,
    predictions_of,
    recommendation_of,
    report_of,
    why_not_certified,
)
from quadrat.optimizer.robust import robust_recommendation
from quadrat.optimizer.run import VERSION, Event, Run, check_header, copied, nothing_feasible_in_context
from quadrat.optimizer.run_assumptions import RunAssumptions
from quadrat.optimizer.safe_region import SafeRegionReport, limit_warning_of, safe_region_of
from quadrat.optimizer.trial import BestSeen, Trial, TrialRecord
from quadrat.randomness import generator
from quadrat.space import Space
from quadrat.space.space import context_point

__all__ = ["Optimizer"]

_logger = logging.getLogger(__name__)
_TOLD = "told by the user"  # why a trial that was added is in the run


@with_own_numerics
def _rebuilt(
    kind: type[Optimizer], space: Space, direction: str, method: Method, seed: int, events: list[Event]
) -> Optimizer:
    """Return an optimizer in which all that is in the log happened: how a copy is made."""
    optimizer = kind(space, direction=direction, method=method, seed=seed)
    replay(optimizer._run, events)
    return optimizer


class Optimizer:
    """Ask for a trial, evaluate it, tell its outcome, as often as you like; then ask for a recommendation.

    A suggestion is a pure function of the seed, the trial's number, what was told, in order, and what was pending when
    it was asked. So `state` and `from_state` rebuild a run, and its next suggestion is the same bit for bit (same
    machine, same wheels). `copy.deepcopy` and `pickle` do the same: a copy is rebuilt from the log, and can be told the
    trials that were asked before. While it computes, BLAS has one thread. An optimizer is not safe to share between
    threads.

    Parameters
    ----------
    space
        What to search.
    direction
        "maximize" or "minimize"; there is no default, because the wrong one is found out last.
    method
        A method, the name of one (`quadrat methods` lists them), or a text with its options, such as
        "Auto(n_initial=8)"; None is `DEFAULT_METHOD`.
    seed
        A non-negative integer that names all randomness of the run.
    noise
        Standard deviation of the noise in one measurement, for the default method: 0 where the objective always gives
        the same at the same point. None lets the method learn it. Beside a `method` it is refused.

    Raises
    ------
    InvalidInput
        An argument that is none of these; or a space whose constraint fewer than 1 in 1,000 uniform settings meet.

    Examples
    --------
    >>> from quadrat.space import Float, Space
    >>> optimizer = Optimizer(Space(x=Float(-1, 1)), direction="minimize", method="RandomSearch", seed=0)
    >>> for _ in range(30):
    ...     trial = optimizer.ask()
    ...     optimizer.tell(trial, trial.params["x"] ** 2)
    >>> abs(optimizer.recommend().params["x"]) < 0.1
    True

    Old results are loaded at once, from lists, a DataFrame or an Optuna study:

    >>> optimizer.add_trials([{"x": 0.5}, {"x": -0.5}, {"x": 0.0}], [0.25, 0.25, float("nan")])
    range(30, 33)
    >>> optimizer
    <Optimizer: minimize with RandomSearch, 32 complete, 1 failed, 0 pending>
    """

    def __init__(
        self,
        space: Space,
        *,
        direction: str,
        method: str | Method | None = None,
        seed: int = 0,
        noise: float | None = None,
    ) -> None:
        if not isinstance(space, Space):
            raise InvalidInput(f"space: expected a Space, such as Space(x=Float(0, 1)), got {space!r:.80}")
        generator(seed)  # refuses what is not a seed
        self._space = space
        self._direction = Direction.read(direction)
        self._method = resolve(method, noise)
        check_method(self._method, space)
        self._seed = operator.index(seed)
        self._run = Run(space, self._direction, self._method, self._seed)
        self._search, self._history = self._run.search, self._run.history
        self._watch = ReplicateWatch()
        self._mark = zlib.crc32(repr((space, self.direction, self._method, self._seed)).encode())

    @property
    def space(self) -> Space:
        """What is searched."""
        return self._space

    @property
    def direction(self) -> str:
        """Either "maximize" or "minimize"."""
        return self._direction.value

    @property
    def method(self) -> Method:
        """The method, as configured."""
        return self._method

    @property
    def trials(self) -> tuple[TrialRecord, ...]:
        """All trials so far, by number."""
        return self._history.records

    def trial(self, number: int) -> TrialRecord:
        """Return the record of the trial with this `number`."""
        return self._history.record(number)

    @property
    def best_seen(self) -> BestSeen | None:
        """The luckiest observation, of those whose constraints held where there are any; None until one is complete.

        A trial that was added where the space's own constraint forbids it counts only where no other is complete.
        """
        best = self._history.best_seen
        if best is None or self._space.feasible(best.params):
            return best
        allowed = self._history.best_of(allowed_trials(self._run))
        return best if allowed is None else self._history.seen(allowed)

    @property
    def cost(self) -> float:
        """What all trials begun so far cost: of their fidelities, or 1 each where the space has no `Fidelity`."""
        return self._history.cost

    # --- ask and tell

    @with_own_numerics
    def ask(self, params: Mapping[str, Any] | None = None, *, context: Mapping[str, Any] | None = None) -> Trial:
        """Return the next trial; as many may be pending as you can evaluate at once.

        Parameters
        ----------
        params
            The parameters to evaluate, where you want to choose them yourself, such as today's setting; None leaves
            the choice to the method.
        context
            Where the space has contexts, what they are in this trial: values by name. The method chooses the others.

        Returns
        -------
        Trial
            Its number, its parameters, and why they were chosen.

        Raises
        ------
        InvalidInput
            Parameters or a context that are not in the space; or other trials are pending and the method takes one at
            a time.
        """
        if self._history.count("pending"):
            first = self._history.numbers("pending")[0]
            require(self._method, "pending points", f"trial {first} is pending: tell its outcome first")
        if params is None:
            return self._begin(*self._run.propose(context_point(self._space, context)), "method")
        if context is not None:
            raise InvalidInput("context: expected none beside params, which hold the contexts too; leave one out")
        chosen = self._checked(params)
        if not self._space.feasible(chosen):
            raise InvalidInput(f"params: expected ones that the space's constraint allows, got {chosen!r:.120}")
        return self._begin(chosen, "chosen by the user", "user")

    @with_own_numerics
    def tell(
        self,
        trial: Trial | int,
        value: Outcome | Measured,
        *,
        sem: float | None = None,
        constraints: Mapping[str, float] | None = None,
        reason: str | None = None,
    ) -> None:
        """Take in the outcome of a pending trial.

        Parameters
        ----------
        trial
            What `ask` returned, or its number.
        value
            A number; a list or vector of replicates, each measured independently; an `Estimate`, which is a number with
            its standard error; or `FAILED`. NaN and infinities count as failures. The point of a failed trial is not
            asked again. Or `Measured`, which is one of these together with constraints. A tuple is refused, because
            it may be several objectives or a mean with its standard error.
        sem
            The standard error of `value`, a positive number in the same units, where `value` is one number:
            ``tell(trial, 0.83, sem=0.02)`` is ``tell(trial, Estimate(0.83, 0.02))``. None where it is not known.
        constraints
            A number for each constraint, by name: it holds where its number is <= 0, so that "at most 8" is told as
            used - 8. NaN and infinities count as failures. The first trial told with constraints sets their names: all
            later ones have the same, unless they failed. Auto handles constraints; a method that does not is refused.
        reason
            Why it failed, for the record.

        Raises
        ------
        InvalidInput
            The trial was already told, was never asked, or belongs to another optimizer; the value is none of these; a
            standard error beside replicates or `FAILED`; constraints that are not numbers, or not those of this run.
        """
        number = self._number(trial)
        self._history.require_pending(number)
        self._finish(number, self._read(value, sem, constraints, reason))

    @with_own_numerics
    def add(
        self,
        params: Mapping[str, Any],
        value: Outcome | Measured,
        *,
        sem: float | None = None,
        constraints: Mapping[str, float] | None = None,
    ) -> TrialRecord:
        """Take in an outcome that was not asked for, such as an earlier result; it becomes a trial of its own.

        Results without constraints can be added before the first with some; whether these hold there is then not known.

        Parameters
        ----------
        params
            Where it was measured, by name; it may violate the space's constraint.
        value, sem, constraints
            As of `tell`.

        Returns
        -------
        TrialRecord
            Of the new trial.

        Raises
        ------
        InvalidInput
            Parameters that are not in the space, or what `tell` refuses.
        """
        checked = self._checked(params)
        reading = self._read(value, sem, constraints)  # all is checked before anything changes
        number = self._begin(checked, _TOLD, "user").number
        self._finish(number, reading)
        return self.trial(number)

    @with_own_numerics
    def add_trials(
        self,
        params: Iterable[Mapping[str, Any]] | Table | Study,
        values: Iterable[Outcome | Measured] | str | None = None,
        *,
        constraints: Iterable[Mapping[str, float] | None] | None = None,
        skip_outside: bool = False,
    ) -> range:
        """Take in many results at once, such as those of an earlier search: quicker than one `add` after another.

        Everything is checked first: where something is refused, nothing was added. The method learns from all of them
        together, so its later suggestions need not be those that it would make after as many `add`.

        Parameters
        ----------
        params
            A list of mappings from names to values. Or a table with a column for each parameter (a pandas DataFrame,
            or what works like one), whose cells are None or NaN where a parameter does not exist. Or an Optuna study
            of the same direction: failed trials are failed here, its constraints come along, and what is running or
            waiting is left out. So are pruned trials, which have no result; how many these are is logged.
        values
            An outcome for each, anything that `add` takes: mind that NaN is a failure, and so is an empty cell of a
            column. With a table, also the name of its column that has them; with a study, nothing. Where standard
            errors are known, a list of `Estimate`.
        constraints
            A mapping for each, or None where there are none, as in `add`.
        skip_outside
            Whether to leave out trials whose parameters are not in the space; how many these are is logged. By default
            they are refused.

        Returns
        -------
        range
            The numbers of the new trials.

        Raises
        ------
        InvalidInput
            What `add` refuses, with the trial that is meant; lists of different lengths; columns that are no
            parameters; a study of another direction or of several objectives, or with pruned trials where the method
            certifies.
        """
        batch = gather_batch(
            params,
            values,
            constraints,
            space=self._space,
            direction=self._direction,
            names=self._history.constraint_names,
            method=self._method,
            skip_outside=skip_outside,
        )
        failed = sum(reading.failure is not None for reading in batch.readings)
        if failed:
            _logger.warning("%d of the %d trials added had failed", failed, len(batch))
        numbers = self._run.add(batch, _TOLD)
        for reading in batch.readings:
            self._watch.see(reading)
        return numbers

    # --- answers

    @with_own_numerics
    def recommend(
        self,
        context: Mapping[str, Any] | None = None,
        *,
        robust_to: float | Mapping[str, float] | None = None,
    ) -> Recommendation:
        """Return the point to use according to everything told, with the best seen beside it.

        Where there are constraints, a point that is believed to meet them; where there is none, the likeliest one. A
        point that the space's own constraint does not allow is recommended only where no complete trial is at one that
        it allows, and `why` says so.

        Parameters
        ----------
        context
            Where the space has contexts, the one to recommend for, seen before or not: values by name. The best seen
            is then the best in that context; in a context without complete trials, the best of all.
        robust_to
            How far whoever uses the point may miss it, to each side, as a share of each Float's range on its scale: a
            number, or numbers by name. Then the point whose worst case within reach is believed to be best, whatever
            the method; a model is fitted for it, so that nothing is certified. `StableOpt` also searches for it.

        Returns
        -------
        Recommendation
            The point, what is believed of it, and the best seen.

        Raises
        ------
        NotAvailable
            No trial is complete.
        InvalidInput
            A context where there is none, none where there are some, or one in which no feasible point was found.
        """
        point = context_point(self._space, context)
        best = self.best_seen
        if best is None:
            raise NotAvailable(
                f"recommend: expected at least one complete trial, got {self._history.summary()}; tell a value first"
            )
        if robust_to is not None:
            found = robust_recommendation(self._space, self._history, self._direction, robust_to, best, self._seed)
            warning = limit_warning_of(self._search, self._space.to_unit(found.params))
            return found if warning is None else replace(found, why=f"{found.why} {warning}")
        chosen = point_to_use(self._run, point)
        if point is not None and not self._space.feasible(chosen.params):
            raise nothing_feasible_in_context()
        found = recommendation_of(
            chosen.incumbent,
            chosen.params,
            best if context is None else best_in_context(self._run, context, best),
            direction=self._direction,
            method=self._method,
            certified=chosen.incumbent.certified and self._is_certified(),
            evaluated=chosen.evaluated,
            history=self._history,
        )
        warning = limit_warning_of(self._search, chosen.incumbent.x)
        if warning is not None:
            found = replace(found, why=f"{found.why} {warning}")
        if self._space.feasible(found.params):
            return found
        return replace(found, why=f"{found.why} No complete trial is at a point that the space's constraint allows.")

    def advice(self, context: Mapping[str, Any] | None = None, *, stop_at_gain: float | None = None) -> Advice:
        """Return what to do next, with how sure that is: stop, measure a trial again, go on, or mend something first.

        Parameters
        ----------
        context
            Where the space has contexts, the one to advise on.
        stop_at_gain
            What is little to you, in the units of the objective: it is time to stop when at most this is left to gain
            with 90 %. None compares with the noise of one result.

        Returns
        -------
        Advice
            What to do, in a word and in a sentence, as sure as the model is. Where the model fits badly at some
            trials, or sees outliers, the text says that too.

        Raises
        ------
        NotAvailable
            No trial is complete.
        InvalidInput
            As of `recommend`, or a negative gain.
        """
        limit = None if stop_at_gain is None else as_number(stop_at_gain, name="stop_at_gain", at_least=0.0)
        now = situation_of(self, self.recommend(context), self.certificate(context))
        found, warning = advise(replace(now, limit=limit)), self._fit_warning()
        return found if warning is None else replace(found, text=f"{found.text} {warning}")

    @with_own_numerics
    def _stop_reason(self, limit: float) -> str | None:
        """Return why a run that is to leave at most `limit` to gain may stop; None as long as it may not."""
        return None if self._search.leaves_more_than(limit) else stop_reason(self.recommend(), limit)

    def _fit_warning(self) -> str | None:
        """Return that the model fits badly at some trials, or sees outliers; None where nothing says so."""
        try:
            return self.leave_one_out().warning_of_trials
        except NotAvailable:
            return None

    @with_own_numerics
    def predict(self, params: Sequence[Mapping[str, Any]]) -> tuple[Predicted, ...]:
        """Return what the method believes of the objective at these parameters, in your direction: one answer for each.

        Parameters
        ----------
        params
            Several, each from names to values.

        Returns
        -------
        tuple of Predicted
            The estimate and its interval at each.

        Raises
        ------
        NotAvailable
            No trial is complete, or the method has no model that it could say it by.
        InvalidInput
            Parameters that are not in the space.
        """
        return predictions_of(self._space, self._method, self._history, self._direction, self._search, params)

    @with_own_numerics
    def leave_one_out(self) -> LeaveOneOut:
        """Return each outcome beside the prediction of it from all other outcomes: whether the model fits.

        In your direction and units. Trials at one point are one observation, their mean, and are left out together.
        Nothing is computed twice: a prediction without one observation follows from the model of all of them.

        Returns
        -------
        LeaveOneOut
            Observed and predicted values, with `warning`, a text where the model fits badly.

        Raises
        ------
        NotAvailable
            The method has no model of all trials: it fits none, there are too few trials, or more than one model holds.
        """
        found = self._search.leave_one_out() if self._history.count("complete") else None
        if found is None:
            raise NotAvailable(
                "leave_one_out: expected a run of Auto, the default method, with 5 to 256 complete trials, got"
                f" {type(self._method).__name__} with {self._history.summary()}"
            )
        return found if self._direction is Direction.MAXIMIZE else found.turned()

    @with_own_numerics
    def certificate(self, context: Mapping[str, Any] | None = None) -> CertificateReport:
        """Return how far from the optimum the recommended point can still be, or why that is not known.

        The point, `params` of the report, is the one that `recommend` returns: of the points tried and the centres of
        cells, the one with the best guaranteed value. The bound is that of pairs of points (`quadrat.confidence.
        certified_gap`), or that of the maximum less what is guaranteed at the point, if that is smaller.

        Only methods with stated assumptions certify, only where every parameter is a Float without steps or
        conditions, and only from plain values: a standard error is an estimate, which nothing certified rests on.
        Contexts may be anything: in a context, the optimum is the one of that context, and all certificates hold at
        once, for all contexts and times, with probability 1 - delta.

        Parameters
        ----------
        context
            Where the space has contexts, the one that is meant: values by name.

        Returns
        -------
        CertificateReport
            The bound and the point that it is about, or the reason why there is none.
        """
        point = context_point(self._space, context)
        reason: str | None = DOES_NOT_CERTIFY
        if self._method.facts.certifies:
            reason = why_not_certified(self._space, self._method, self._history)
        if reason is not None:
            return CertificateReport(None, reason)
        chosen = point_to_use(self._run, point)
        return report_of(self._direction, self._search, chosen.x, chosen.params)

    @with_own_numerics
    def certify(
        self,
        assumptions: RunAssumptions,
        *,
        params: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        stated_before_data: bool = False,
        every_value_counts: bool = False,
        failures_ignore_noise: bool = False,
        max_cells: int = MAX_CELLS,
    ) -> Certification:
        """Return what stated assumptions certify of this run, whatever its method: of the point recommended and others.

        Parameters
        ----------
        assumptions
            Kernel, norm bound, noise, offset and delta, in your units.
        params
            A further setting to certify, or a list of them.
        stated_before_data, every_value_counts, failures_ignore_noise
            What you say of the run, because its results cannot show it (see `Statements`). The first two have to be
            True; the third where trials failed or have not ended.
        max_cells
            Effort: more make certificates narrower and take longer. They hold with any.

        Returns
        -------
        Certification
            With probability 1 - delta all of it holds; or how the data reject the assumptions.

        Raises
        ------
        InvalidInput
            A statement that is lacking; assumptions or settings that do not belong to the space.
        NotAvailable
            A run that cannot be certified: the sentence says why, and what to do.
        """
        said = Statements(stated_before_data, every_value_counts, failures_ignore_noise)
        return certification_of(self._run, assumptions, said, params=params, max_cells=max_cells)

    @with_own_numerics
    def level_set(self) -> LevelSetReport:
        """Return where the objective lies above and below the method's threshold, as far as that is decided.

        Returns
        -------
        LevelSetReport
            Cells that tile the space, each with its label.

        Raises
        ------
        NotAvailable
            The space has parameters that are no Floats: cells are ranges of numbers.
        InvalidInput
            The method has no threshold (`LevelSet` and `MultiScaleLevelSet` have).
        """
        require(self._method, "level sets", "level_set() is for methods with a threshold")
        return level_set_of(self._space, self._method, self._history, self._direction, self._search)

    @with_own_numerics
    def safe_region(self) -> SafeRegionReport:
        """Return where no limit is broken, as far as that is certified, and what could be reached at most.

        Returns
        -------
        SafeRegionReport
            Cells that tile the space, each with its label, and how much better anything within reach can be.

        Raises
        ------
        NotAvailable
            The method certifies nothing (`FittedSafe`).
        InvalidInput
            The method keeps no limits (`Safe` does).
        """
        require(self._method, "safe regions", "safe_region() is for methods that keep limits")
        return safe_region_of(self._space, self._method, self._history, self._direction, self._search)

    @with_own_numerics
    def certificate_curve(self, norm_bounds: Sequence[float] | Array) -> CertificateCurve:
        """Return what each norm bound would certify from the outcomes so far, all else as the method assumes.

        Parameters
        ----------
        norm_bounds
            Values of B > 0, shape (m,).

        Returns
        -------
        CertificateCurve
            One certificate for each.

        Raises
        ------
        NotAvailable
            The method states no kernel and noise, or this run cannot be certified whatever B is.
        """
        return curve_of(self._space, self._method, self._history, self._direction, norm_bounds)

    @with_own_numerics
    def explain(self) -> dict[str, object]:
        """Return what is known of the run, as plain data.

        Under "search" stands what the search itself says, on the unit cube, larger values better ("turned" tells
        whether they are the negatives of yours); under "trials" the log of trials, in your units.
        """
        return {
            "method": repr(self._method),
            "direction": self.direction,
            "turned": self._direction is Direction.MINIMIZE,
            "search": self._search.explain(),
            "trials": [asdict(record) for record in self.trials],
        }

    # --- state

    def state(self) -> dict[str, Any]:
        """Return everything from which `from_state` rebuilds the run, as plain data that JSON can hold."""
        return {
            "version": VERSION,
            "direction": self.direction,
            "seed": self._seed,
            "space": self._space.to_dict(),
            "method": repr(self._method),
            "method_version": self._method.version,
            "events": [copied(event) for event in self._run.events],
        }

    @classmethod
    def from_state(cls, space: Space, state: Mapping[str, Any], *, method: str | Method | None = None) -> Optimizer:
        """Rebuild a run by asking and telling again what was asked and told.

        Where asking leaves no trace, only the last suggestion is made again. One that differs is logged as a warning.

        Parameters
        ----------
        space, method
            Those of the run.
        state
            What `state` returned.

        Returns
        -------
        Optimizer
            One that goes on as the other would have.

        Raises
        ------
        InvalidInput
            Not a state, or one of another space or method.
        """
        chosen = resolve(method)
        check_header(state, space, chosen)
        news = what_changed(chosen, state.get("method_version"))
        if news is not None:
            warnings.warn(f"state: {news}", QuadratWarning, stacklevel=2)
        return _rebuilt(cls, space, state["direction"], chosen, state["seed"], state["events"])

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a pickle holds: the log, not the models. A constraint that is a lambda cannot be pickled."""
        return _rebuilt, (type(self), *self._made_of())

    def __copy__(self) -> Optimizer:
        return _rebuilt(type(self), *self._made_of())  # two optimizers must not share a search

    def __deepcopy__(self, memo: dict[int, Any]) -> Optimizer:
        return _rebuilt(type(self), *self._made_of())  # the space and the method never change: they are shared

    def _made_of(self) -> tuple[Space, str, Method, int, list[Event]]:
        """Return the arguments of `_rebuilt`."""
        return self._space, self.direction, self._method, self._seed, [copied(event) for event in self._run.events]

    # --- the two sides of the cube

    def _checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters of the user's as plain data; refuses what is not in the space."""
        self._space.to_unit(params)
        return plain_params([params], self._space)[0]

    def _begin(self, params: Mapping[str, Any], why: str, by: str) -> Trial:
        x = self._space.to_unit(params)
        return Trial(self._run.begin(params, x, why, by), dict(params), why, _mark=self._mark_of(x))

    def _finish(self, number: int, reading: Reading) -> None:
        if reading.failure is not None:
            _logger.warning("trial %d failed: %s", number, reading.failure)
        self._run.finish(number, reading)
        self._watch.see(reading)

    def _read(self, value: object, sem: object, constraints: object, reason: str | None = None) -> Reading:
        names = self._history.constraint_names
        return read_measured(value, constraints, sem=sem, names=names, method=self._method, reason=reason)

    def _number(self, trial: Trial | int) -> int:
        if isinstance(trial, Trial):
            known = trial.number < self._history.next_number
            if not known or trial._mark != self._mark_of(self._history.point(trial.number)):
                raise InvalidInput(f"trial: expected a trial of this optimizer, got {trial!r:.120} of another one")
            return trial.number
        try:
            if isinstance(trial, bool):
                raise TypeError
            return operator.index(trial)
        except TypeError:
            raise InvalidInput(f"trial: expected what ask() returned, or its number, got {trial!r:.80}") from None

    def _is_certified(self) -> bool:
        """Whether what the search certifies of a point stands in this run."""
        return why_not_certified(self._space, self._method, self._history) is None

    def _mark_of(self, x: Array) -> int:
        return zlib.crc32(x.tobytes(), self._mark)

    def __repr__(self) -> str:
        return f"<Optimizer: {self.direction} with {type(self._method).__name__}, {self._history.summary()}>"

    def _repr_html_(self) -> str:
        from quadrat.optimizer.notebook import optimizer_html

        return optimizer_html(self, self._history.summary())
