"""What to do next, in one sentence, by rules: the first that applies."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from quadrat.optimizer import CertificateReport, Recommendation
from quadrat.optimizer.method_choice import DEFAULT_METHOD
from quadrat.plots.style import number

__all__ = ["Situation", "next_step"]

MANY_FAILURES = 0.25  # of the trials that ended
_FEWEST_FAILURES = 3  # two may be bad luck
_LIKELY = 0.5  # the chance below which a recommended point is not believed to meet the constraints
_LONGEST = 90  # characters of a reason


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


def next_step(now: Situation) -> str:
    """Return what to do next."""
    for rule in (_assumptions, _failures, _constraints, _certified, _no_model):
        said = rule(now)
        if said is not None:
            return said
    return _gain(now)


def _assumptions(now: Situation) -> str | None:
    if now.certificate.rejected is None:
        return None
    return (
        "Do not rely on bounds of this run: the data contradict the stated assumptions. State a larger norm bound or"
        " more noise, or use Auto, which fits both."
    )


def _failures(now: Situation) -> str | None:
    failed, ended = len(now.failures), now.ended
    if failed < _FEWEST_FAILURES or failed < MANY_FAILURES * ended:
        return None
    [(reason, count)] = Counter(now.failures).most_common(1)
    why = f"; the most frequent reason, {count} times: {_short(reason)}" if reason else ""
    return (
        f"Look at failures first: {failed} of {ended} trials failed{why}. Narrow the space to what works, or tell what"
        " fails as a constraint."
    )


def _constraints(now: Situation) -> str | None:
    found = now.recommendation
    chance = found.estimated_feasibility
    if chance is None or (found.best_seen.feasible is not False and chance >= _LIKELY):
        return None
    return (
        f"Do not use it yet: the recommended point meets all constraints with a chance of only {100 * chance:.3g} %. Go"
        " on, widen the space or loosen a constraint."
    )


def _certified(now: Situation) -> str | None:
    certified = now.certificate.value
    if certified is None:
        return None
    left = number(certified, 3)
    if now.noise is not None and certified <= now.noise:
        return f"Stop: nothing is more than {left} better, which is less than the noise of one result."
    return f"Stop if {left} is little to you, and go on if not: nothing is better by more than that{_else(now)}."


def _no_model(now: Situation) -> str | None:
    if now.recommendation.estimated_gain is not None:
        return None
    if now.method == DEFAULT_METHOD:  # which estimates it unless the space's own constraint leaves it too few settings
        return "Nobody knows what is left to gain: too few settings that meet the space's constraint are known."
    return (
        f"Nobody knows what is left to gain: {now.method} has no estimate of it. Add these trials to the default"
        " method, Auto, which has one."
    )


def _gain(now: Situation) -> str:
    found = now.recommendation
    gain, most = found.estimated_gain, found.estimated_gain_upper
    assert gain is not None
    if most is None:  # an expected gain alone is no reason to stop
        return f"Go on if you can: {number(gain, 3)} could still be gained, perhaps more{_else(now)}."
    if now.noise is not None and most <= now.noise:
        return (
            f"Stop: at most {number(most, 3)} could still be gained (90 %), less than the noise of one result,"
            f" {number(now.noise, 3)}."
        )
    if found.credible_interval is not None:
        low, high = found.credible_interval
        if most <= (high - low) / 2:
            return (
                f"Stop searching: at most {number(most, 3)} could still be gained (90 %), less than what is unknown of"
                " the recommended value itself. Measure it again if you need its value."
            )
    if now.noise is not None and gain <= now.noise:
        return f"Little is expected of more trials, but up to {number(most, 3)} is not excluded{_else(now)}."
    return f"Go on if you can: {number(gain, 3)} could still be gained, perhaps {number(most, 3)}{_else(now)}."


def _else(now: Situation) -> str:
    """What follows from how the run ended."""
    if now.running:
        return f"; {now.running} {'trial is' if now.running == 1 else 'trials are'} still running"
    return f" (the run ended: {_short(now.why_ended)})" if now.why_ended else ""


def _short(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
