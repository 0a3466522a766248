"""What to do next, in one sentence and with how sure that is, by rules: the first that applies."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from quadrat._core.printing import at_most
from quadrat.methods.statements import Gain
from quadrat.optimizer.method_choice import DEFAULT_METHOD, keeps_limits
from quadrat.optimizer.reports import CertificateReport, Recommendation
from quadrat.optimizer.stated import TOO_FEW, UNVISITED, gain_words

if TYPE_CHECKING:
    from quadrat.optimizer.optimizer import Optimizer

__all__ = ["Action", "Advice", "Situation", "advise", "noise_of", "situation_of", "stop_reason"]

MANY_FAILURES = 0.25  # of the trials that ended
FEWEST_TO_STOP = 5  # complete trials before a gain ends a run: the scale of fewer values is hardly known, nor is a gain
_FEWEST_FAILURES = 3  # two may be bad luck
_LIKELY = 0.5  # the chance below which a recommended point is not believed to meet the constraints
_LONGEST = 90  # characters of a reason

Action: TypeAlias = Literal["stop", "measure again", "go on", "mend"]


@dataclass(frozen=True)
class Advice:
    """What to do next.

    Attributes
    ----------
    action
        "stop"; "measure again", the trial with the number `trial`; "go on"; or "mend" something first.
    text
        The same in a sentence, with the reason.
    chance
        The chance, as sure as the model is, that no more is left to gain than was asked about: `stop_at_gain`, or else
        the noise of one result. None where nobody knows.
    trial
        The trial that is best measured again; None where none is, or where the recommended point was not tried.

    Examples
    --------
    >>> import quadrat as qd
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="minimize", seed=0)
    >>> for _ in range(10):
    ...     trial = optimizer.ask()
    ...     optimizer.tell(trial, (trial.params["x"] - 0.3) ** 2)
    >>> optimizer.advice(stop_at_gain=0.01).action
    'stop'
    """

    action: Action
    text: str
    chance: float | None = None
    trial: int | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Situation:
    """The state of a run."""

    recommendation: Recommendation
    certificate: CertificateReport
    noise: float | None  # standard deviation of one result, in the units of the objective, where it is known
    ended: int  # trials, with or without a value
    failures: tuple[str, ...]  # the reason of each failed trial, or ""
    running: int  # trials
    why_ended: str  # the reason why the run ended, or ""
    method: str
    trial: int | None = None  # the number of one at the recommended point
    limit: float | None = None  # what is little to the user (`stop_at_gain`)
    guards: bool = False  # whether the method keeps limits
    stopped: str = ""  # why a method that keeps limits has stopped, or ""


def situation_of(optimizer: Optimizer, found: Recommendation, certificate: CertificateReport) -> Situation:
    """Return the state of the run of an optimizer, which recommends and certifies this."""
    trials, guards = optimizer.trials, keeps_limits(optimizer.method)
    search: Any = optimizer.explain()["search"] if guards else {}
    return Situation(
        recommendation=found,
        certificate=certificate,
        noise=noise_of(optimizer),
        ended=sum(record.state != "pending" for record in trials),
        failures=tuple(record.failure or "" for record in trials if record.state == "failed"),
        running=sum(record.state == "pending" for record in trials),
        why_ended="",
        method=type(optimizer.method).__name__,
        trial=next((record.number for record in trials if record.values and record.params == found.params), None),
        guards=guards,
        stopped=search.get("stopped") or "",
    )


def noise_of(optimizer: Optimizer) -> float | None:
    """Return the standard deviation of one result in the user's units, stated or else fitted; None without either."""
    stated = getattr(optimizer.method, "noise", None)
    if isinstance(stated, int | float) and not isinstance(stated, bool):
        return float(stated)
    search: Any = optimizer.explain()["search"]
    found = search.get("noise")
    return found if isinstance(found, float) else None


def stop_reason(found: Recommendation, limit: float) -> str | None:
    """Return why a run may stop that is to leave at most `limit` to gain; None as long as it may not.

    At most that is left with 90 %, as sure as the model is. Where there are too few trials to say, nothing stops.
    """
    gain = found.gain
    if gain is None or found.too_few is not None or gain.upper > limit:
        return None
    chance = _percent(gain.chance_at_most(limit))
    return f"with {chance} at most {limit:g} is left to gain, and with 90 % at most {gain.upper:.4g}"


def advise(now: Situation) -> Advice:
    """Return what to do next."""
    for rule in (_limits, _assumptions, _failures, _constraints, _certified, _no_model, _too_few):
        said = rule(now)
        if said is not None:
            return said
    assert now.recommendation.gain is not None
    return _gain(now, now.recommendation.gain)


def _limits(now: Situation) -> Advice | None:
    if not now.stopped:
        return None
    cure = ""
    if now.certificate.rejected is not None:
        cure = (
            ". State other safe settings, a larger norm bound or more noise; Auto asks for none of these, but keeps no"
            " limit"
        )
    return Advice("mend", f"Evaluate nothing more in this run: {now.stopped}{cure}.")


def _assumptions(now: Situation) -> Advice | None:
    if now.certificate.rejected is None:
        return None
    return Advice(
        "mend",
        "Do not rely on bounds of this run: the data contradict the stated assumptions. State a larger norm bound or"
        " more noise, or use Auto, which fits both.",
    )


def _failures(now: Situation) -> Advice | None:
    failed, ended = len(now.failures), now.ended
    if failed < _FEWEST_FAILURES or failed < MANY_FAILURES * ended:
        return None
    [(reason, count)] = Counter(now.failures).most_common(1)
    why = f"; the most frequent reason, {count} times: {_short(reason)}" if reason else ""
    return Advice(
        "mend",
        f"Look at failures first: {failed} of {ended} trials failed{why}. Narrow the space to what works, or tell what"
        " fails as a constraint.",
    )


def _constraints(now: Situation) -> Advice | None:
    found = now.recommendation
    chance = found.estimated_feasibility
    if chance is None or (found.best_seen.feasible is not False and chance >= _LIKELY):
        return None
    return Advice(
        "go on",
        f"Do not use it yet: the recommended point meets all constraints with a chance of only {100 * chance:.3g} %. Go"
        " on, widen the space or loosen a constraint.",
    )


def _certified(now: Situation) -> Advice | None:
    certified = now.certificate.value
    if certified is None:
        return None
    if now.limit is not None and certified <= now.limit:
        return Advice(
            "stop", f"Stop: nothing is more than {at_most(certified, 3)} better, and {now.limit:g} is little to you."
        )
    if now.limit is None and now.noise is not None and certified <= now.noise:
        less = "which is less than the noise of one result"
        return Advice("stop", f"Stop: nothing is more than {at_most(certified, 3)} better, {less}.")
    left = f"Stop if {at_most(certified, 3)} is little to you, and go on if not"
    return Advice("go on", f"{left}: nothing is better by more than that{_else(now)}.")


def _no_model(now: Situation) -> Advice | None:
    if now.recommendation.gain is not None:
        return None
    if now.guards:
        why = (
            f"{now.method} has no estimate of it. The default method, Auto, has one, but keeps no limit: add these"
            " trials to it to look, and evaluate nothing that it suggests."
        )
    elif (
        now.method == DEFAULT_METHOD
    ):  # which estimates it unless the space's own constraint leaves it too few settings
        why = "too few settings that meet the space's constraint are known."
    else:
        why = f"{now.method} has no estimate of it. Add these trials to the default method, Auto, which has one."
    return Advice("go on", f"Nobody knows what is left to gain: {why}")


def _too_few(now: Situation) -> Advice | None:
    too_few = now.recommendation.too_few
    if too_few is None:
        return None
    return Advice("go on", f"Go on: {TOO_FEW} what is left to gain ({too_few}){_else(now)}.")


def _gain(now: Situation, gain: Gain) -> Advice:
    limit = now.noise if now.limit is None else now.limit
    chance = None if limit is None else gain.chance_at_most(limit)
    if limit == 0 and gain.upper == 0:
        return Advice("stop", "Stop: nothing that is left to try is better.", chance)
    if limit is not None and chance is not None and gain.upper <= limit:
        hidden = "" if now.limit is not None else ", less than what noise hides in one result"
        return Advice("stop", f"Stop: with {_percent(chance)} at most {limit:.3g} is left{hidden}.", chance)
    again = _again(now, gain)
    if again is not None:
        return Advice("measure again", again, chance, now.trial)
    rests = f"; the upper value {UNVISITED}" if gain.rests_on_unvisited else ""
    words = gain_words(gain, 3).replace(" on average", " to be gained on average")
    words = words if " on average" in words else f"{words} to be gained"
    return Advice("go on", f"Go on: {words}{rests}{_else(now)}.", chance)


def _again(now: Situation, gain: Gain) -> str | None:
    """Return why the recommended point is better measured again than others are tried; None where it is not.

    Less is left elsewhere than is unknown of the value itself: that noise alone makes unknown, because it was measured.
    """
    interval = now.recommendation.credible_interval
    if not now.noise or now.trial is None or interval is None or gain.upper > (interval[1] - interval[0]) / 2:
        return None
    return (
        f"Measure trial {now.trial} again: noise hides what it is worth ({interval[0]:.4g} to {interval[1]:.4g} with"
        f" 90 %), and at most {gain.upper:.3g} is left elsewhere (90 %)."
    )


def _percent(chance: float) -> str:
    """Return a chance in per cent: never 100, which a model cannot know."""
    return "more than 99 %" if chance > 0.995 else f"{100 * chance:.0f} %"


def _else(now: Situation) -> str:
    """What follows from how the run ended."""
    if now.running:
        return f"; {now.running} {'trial is' if now.running == 1 else 'trials are'} still running"
    return f" (the run ended: {_short(now.why_ended)})" if now.why_ended else ""


def _short(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
