"""An optimizer whose suggestions and answers are written down, and the registry of scripted runs.

A trace has two parts. "settled" does not depend on the last bits of a computation: points of the initial design, states
of trials, reasons, how many of everything there are. "computed" is the rest. On the machine kind that recorded a trace
both are compared bit for bit; elsewhere only "settled" is, see `tests.traces.comparing`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from tests.traces import plain as form
from tests.traces.plain import Plain, plain

import quadrat as qd

__all__ = ["RUNS", "Trace", "Watched", "estimate", "noise", "tell_mean", "traced"]

Trace: TypeAlias = dict[str, Plain]
RUNS: dict[str, Callable[[], Trace]] = {}
"""All runs by name; the first line of a run's docstring says what it covers."""


def traced(run: Callable[[], Trace]) -> Callable[[], Trace]:
    """Register a run under the name of its function."""
    assert run.__name__ not in RUNS, f"two runs are named {run.__name__}"
    RUNS[run.__name__] = run
    return run


def noise(number: int, size: float = 0.1) -> float:
    """Return a number in [-size / 2, size / 2) that looks random: the same on every machine."""
    return size * ((0.6180339887498949 * (number + 1)) % 1.0 - 0.5)


def estimate(mean: float, sem: float) -> Any:
    """Return a mean with its standard error, as an objective of the installed version returns it."""
    made = getattr(qd, "Estimate", None)  # versions without it take a tuple
    return (mean, sem) if made is None else made(mean, sem)


def tell_mean(optimizer: qd.Optimizer, trial: qd.Trial, mean: float, sem: float) -> None:
    """Tell a mean with its standard error, in the form that the installed version takes."""
    tell: Any = optimizer.tell
    if "sem" in inspect.signature(tell).parameters:
        tell(trial, mean, sem=sem)
    else:
        tell(trial, (mean, sem))


class Watched:
    """An optimizer, and everything that it said.

    Parameters
    ----------
    optimizer
        The optimizer.
    at
        Parameters at which its predictions are written down with every answer.
    """

    def __init__(self, optimizer: qd.Optimizer, at: Sequence[Mapping[str, Any]] = ()) -> None:
        self.optimizer = optimizer
        self._at = at
        self._suggestions: list[Plain] = []
        self._answers: list[Plain] = []
        self._reasons: list[Plain] = []

    def ask(self, params: Mapping[str, Any] | None = None, context: Mapping[str, Any] | None = None) -> qd.Trial:
        """Ask, and write down what was suggested."""
        trial = self.optimizer.ask(params, context=context)
        self._suggestions.append(form.suggestion(trial))
        return trial

    def answer(self, context: Mapping[str, Any] | None = None, **options: Any) -> None:
        """Write down the recommendation, the certificate and the predictions."""
        found = self.optimizer.recommend(context, **options)
        report = self.optimizer.certificate(context)
        self._answers.append(
            {
                "recommendation": form.recommendation(found),
                "certificate": form.certificate(report),
                "predictions": self._predictions(),
            }
        )
        believed = ("certified_interval", "credible_interval", "estimated_gain", "estimated_feasibility", "worst_case")
        self._reasons.append(
            {
                "reason": report.reason,
                "rejected": report.rejected is not None,
                "believed": [name for name in believed if getattr(found, name) is not None],
            }
        )

    def _predictions(self) -> Plain:
        try:
            found = self.optimizer.predict(self._at)
        except qd.NotAvailable as error:
            return {"error": str(error)}
        return [[plain(one.value), plain(one.credible_interval), plain(one.certified_interval)] for one in found]

    def trace(self, design: int, *, fails_by_place: bool = False, **more: Plain) -> Trace:
        """Return the trace.

        Parameters
        ----------
        design
            How many of the first suggestions do not depend on what was told.
        fails_by_place
            Whether the suggestions decide which trials fail, so that the states of trials are computed too.
        more
            Further computed data, by name.
        """
        trials = self.optimizer.trials
        best = self.optimizer.best_seen
        ends = {
            "states": [trial.state for trial in trials],
            "failures": [trial.failure for trial in trials if trial.failure is not None],
        }
        return {
            "settled": {
                "method": type(self.optimizer.method).__name__,
                "direction": self.optimizer.direction,
                "suggestions": len(self._suggestions),
                "design": self._suggestions[:design],
                "reasons": self._reasons,
                **({} if fails_by_place else ends),
            },
            "computed": {
                "suggestions": self._suggestions[design:],
                "answers": self._answers,
                "best_seen": None if best is None else [best.number, plain(best.params), plain(best.value)],
                "cost": plain(self.optimizer.cost),
                **(ends if fails_by_place else {}),
                **more,
            },
        }
