"""What a run returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from quadrat._core.html import Piece, block, pairs
from quadrat._core.printing import at_most, labelled
from quadrat.errors import NotAvailable
from quadrat.methods.statements import Gain, Mixture
from quadrat.optimizer import BestSeen, Optimizer, TrialRecord
from quadrat.optimizer.certification import MAX_CELLS, Certification
from quadrat.optimizer.notebook import progress_curve, progress_of
from quadrat.optimizer.run_assumptions import RunAssumptions
from quadrat.optimizer.stated import Stated
from quadrat.optimizer.trial import number_text, seen_text, settings_text

__all__ = ["Result", "result_html"]


@dataclass(frozen=True, repr=False)
class Result(Stated):
    """The recommended point, what is believed or certified of it, and everything that was tried.

    Values are in the user's direction and units. `credible_interval` and `gain` are fitted: what a model believes that
    learned from the data, as sure as the model is. `certified_interval` and `certificate` hold with probability
    1 - delta under the assumptions that the method states. A method gives one of these pairs, or none; what it does not
    give is None.

    Attributes
    ----------
    params, value
        The recommended parameters and the estimate of the objective there.
    credible_interval
        90 % of the fitted model's belief on the objective at `params`; `interval(level)` gives other shares.
    gain
        What the fitted model believes of how much better than `params` anything that meets the constraints could be:
        `gain.mean`, `gain.quantile(level)`, `gain.chance_at_most(x)`. `estimated_gain` is its mean,
        `estimated_gain_upper` what it is at most with 90 %.
    certified_interval
        Bounds on the objective at `params`.
    certificate
        How far `params` can be from the optimum, in the units of the objective.
    certificate_reason
        Why `certificate` is None.
    rejected
        How the data contradict the stated assumptions; None when they do not, or when there are none.
    best_seen
        The luckiest observation, of those whose constraints held: trial number, parameters and value.
    why
        One sentence: why `params` is not the best seen, or that it is; and where constraints held in no trial, that.
    trials, n_trials
        The record of every trial, and how many there are.
    message
        Why the run ended.
    direction
        "maximize" or "minimize".
    estimated_feasibility
        The chance, in [0, 1], that all constraints hold at `params`, by the fitted model; None without constraints.
    distribution, delta, too_few, noise, noise_stated
        As of a `Recommendation`.

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(-1, 1))
    >>> found = qd.minimize(lambda p: p["x"] ** 2, space, n_trials=20, method="RandomSearch", seed=1)
    >>> found.n_trials, found.message, found.best_seen.value < 0.01
    (20, 'all 20 trials done', True)
    """

    params: dict[str, Any]
    value: float
    credible_interval: tuple[float, float] | None
    gain: Gain | None
    certified_interval: tuple[float, float] | None
    certificate: float | None
    certificate_reason: str | None
    rejected: str | None
    best_seen: BestSeen
    why: str
    trials: tuple[TrialRecord, ...] = field(compare=False)
    n_trials: int
    message: str
    direction: str
    estimated_feasibility: float | None = None
    distribution: Mixture | None = None
    delta: float | None = None
    too_few: str | None = None
    noise: float | None = None
    noise_stated: bool = False
    # For figures, and for the warning that the model fits badly; a copy from another process goes without it.
    _optimizer: Optimizer | None = field(default=None, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_optimizer": None}  # models and a user's constraint need not be picklable

    @classmethod
    def of(cls, optimizer: Optimizer, message: str) -> Result:
        """Return the result of the run of an `optimizer` that ended as `message` says.

        Raises
        ------
        NotAvailable
            No trial is complete.
        """
        best = optimizer.recommend()
        report = optimizer.certificate()
        trials = optimizer.trials
        return cls(
            params=best.params,
            value=best.value,
            credible_interval=best.credible_interval,
            gain=best.gain,
            certified_interval=best.certified_interval,
            certificate=report.value,
            certificate_reason=report.reason,
            rejected=report.rejected,
            best_seen=best.best_seen,
            why=best.why,
            trials=trials,
            n_trials=len(trials),
            message=message,
            direction=optimizer.direction,
            estimated_feasibility=best.estimated_feasibility,
            distribution=best.distribution,
            delta=best.delta,
            too_few=best.too_few,
            noise=best.noise,
            noise_stated=best.noise_stated,
            _optimizer=optimizer,
        )

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
        """Return what stated assumptions certify of the run, whatever its method.

        Parameters
        ----------
        assumptions, params, stated_before_data, every_value_counts, failures_ignore_noise, max_cells
            As of `Optimizer.certify`.

        Returns
        -------
        Certification
            With probability 1 - delta all of it holds; or how the data reject the assumptions.

        Raises
        ------
        InvalidInput, NotAvailable
            As of `Optimizer.certify`; or this result is a copy, which goes without its optimizer.
        """
        if self._optimizer is None:
            raise NotAvailable(
                "certify: expected the result that maximize or minimize returned, got a copy of it, which goes without"
                " its optimizer; make an Optimizer, add_trials with these trials, and certify that"
            )
        return self._optimizer.certify(
            assumptions,
            params=params,
            stated_before_data=stated_before_data,
            every_value_counts=every_value_counts,
            failures_ignore_noise=failures_ignore_noise,
            max_cells=max_cells,
        )

    def to_frame(self) -> Any:
        """Return the trials as a pandas DataFrame, one row a trial.

        Columns: number, state, value (the mean), sem, replicates, failure, why, then params_NAME for each parameter;
        and where there are constraints, feasible, then constraints_NAME for each.

        Raises
        ------
        NotAvailable
            pandas is not installed.
        """
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise NotAvailable("to_frame: expected pandas to be installed, got none; pip install pandas") from error
        return pandas.DataFrame([_row(record) for record in self.trials])

    def __repr__(self) -> str:
        return labelled(self._title(), self._lines())

    def _repr_html_(self) -> str:
        from quadrat.loop.result import result_html

        return result_html(self, self._title(), [(label, text) for label, text in self._lines() if text])

    def _title(self) -> str:
        states = [record.state for record in self.trials]
        counts = ", ".join(f"{states.count(s)} {s}" for s in ("complete", "failed", "pending") if s in states)
        return f"Result of {self.direction}, {self.n_trials} trial{'s' * (self.n_trials != 1)} ({counts})"

    def _lines(self) -> list[tuple[str, str]]:
        """Return what there is to say, each with its label; nothing where a method does not say it."""
        return [
            ("params", settings_text(self.params)),
            ("value", number_text(self.value)),
            *self._said(),
            ("constraints", self._constraints()),
            ("certificate", self._certificate()),
            ("best seen", seen_text(self.best_seen)),
            ("", self.why),
            ("warning", self._fit_warning()),
            ("ended", self.message),
        ]

    def _fit_warning(self) -> str:
        return "" if self._optimizer is None else self._optimizer._fit_warning() or ""

    def _constraints(self) -> str:
        if self.estimated_feasibility is None:
            return ""
        told = [record for record in self.trials if record.feasible is not None]
        held = sum(record.feasible is True for record in told)
        chance = f"met by params with a chance of {100 * self.estimated_feasibility:.3g} %  (fitted)"
        return f"{', '.join(told[0].constraints)}: {chance}, and in {held} of {len(told)} trials"

    def _certificate(self) -> str:
        if self.certificate is None:
            return f"none: {self.certificate_reason}"
        return f"within {at_most(self.certificate)} of the optimum, under the stated assumptions"


def _row(record: TrialRecord) -> dict[str, Any]:
    row = {
        "number": record.number,
        "state": record.state,
        "value": record.value,
        "sem": record.sem,
        "replicates": len(record.values),
        "failure": record.failure,
        "why": record.why,
    }
    row |= {f"params_{name}": value for name, value in record.params.items()}
    if record.constraints:
        row["feasible"] = record.feasible
    return row | {f"constraints_{name}": value for name, value in record.constraints.items()}


def result_html(result: Result, title: str, lines: Sequence[tuple[str, str]]) -> str:
    """Return a result as HTML, with the first line of its repr as title, and the others, each with its label."""
    rows: list[tuple[str, Piece]] = list(lines)
    progress = progress_of(result.trials, result.direction)
    # Values of different fidelities are not compared. A curve of them ends elsewhere than at the best seen.
    drawn = progress_curve(progress) if progress and progress[-1] == result.best_seen.value else None
    if drawn is not None:
        rows.append(("progress", drawn))
    return block(title, [pairs(rows)])
