"""What an optimizer answers: a recommendation, the best seen beside it, a certificate or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["BestSeen", "CertificateReport", "Recommendation", "WorstCase", "why_in_study", "why_recommended"]


@dataclass(frozen=True)
class BestSeen:
    """The luckiest observation: the trial with the best mean over its own replicates, noise included.

    Where constraints were told, it is the best of the trials in which all of them held; where they held in none, the
    one that violated them least.

    Attributes
    ----------
    number, params
        The trial.
    value
        That mean, in the user's units.
    feasible
        Whether its constraints held, as told; None in a run without constraints.

    Examples
    --------
    >>> import quadrat as qd
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="minimize", method="RandomSearch")
    >>> optimizer.add_trials([{"x": 0.2}, {"x": 0.4}], [1.0, 0.5])
    range(0, 2)
    >>> optimizer.best_seen
    BestSeen(number=1, params={'x': 0.4}, value=0.5, feasible=None)
    """

    number: int
    params: dict[str, Any]
    value: float
    feasible: bool | None = None


@dataclass(frozen=True)
class WorstCase:
    """What is believed of the worst that can happen where the recommended point is missed; estimates.

    Attributes
    ----------
    value
        The median belief of the worst value within reach, in the user's units.
    credible_interval
        90 % of that belief.
    params
        Where within reach the estimate is worst.

    Examples
    --------
    >>> import quadrat as qd
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="minimize")
    >>> optimizer.add_trials([{"x": i / 10} for i in range(11)], [(i / 10 - 0.3) ** 2 for i in range(11)])
    range(0, 11)
    >>> worst = optimizer.recommend(robust_to=0.1).worst_case
    >>> round(worst.value, 2), worst.credible_interval[0] <= worst.value <= worst.credible_interval[1]
    (0.01, True)
    """

    value: float
    credible_interval: tuple[float, float]
    params: dict[str, Any]


@dataclass(frozen=True)
class Recommendation:
    """The point to use, and what is believed of f there, in the user's direction and units.

    Attributes
    ----------
    params
        The recommended parameters.
    value
        The estimate of f there.
    certified_interval
        Holds f there with probability 1 - delta under the stated assumptions; None where nothing is certified.
    credible_interval
        A 90 % interval of the fitted model, an estimate; None without such a model. Never both.
    estimated_gain
        An estimate, >= 0, of how much better than this point anything could be; None without one.
    estimated_gain_upper
        What the fitted model believes it to be at most, with 90 %; an estimate too. None without one.
    best_seen
        The luckiest observation.
    why
        One sentence: why the two differ, or that they are the same; and where constraints held in no trial, that.
    estimated_feasibility
        An estimate of the chance, in [0, 1], that all constraints hold at `params`; None in a run without constraints.
    worst_case
        Where a point was asked for that is robust to being missed, the worst within reach of it; None otherwise.

    Examples
    --------
    >>> import quadrat as qd
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="minimize")
    >>> optimizer.add_trials([{"x": i / 10} for i in range(11)], [(i / 10 - 0.3) ** 2 for i in range(11)])
    range(0, 11)
    >>> advice = optimizer.recommend()
    >>> round(advice.params["x"], 1), advice.certified_interval, len(advice.credible_interval)
    (0.3, None, 2)
    """

    params: dict[str, Any]
    value: float
    certified_interval: tuple[float, float] | None
    credible_interval: tuple[float, float] | None
    estimated_gain: float | None
    best_seen: BestSeen
    why: str
    estimated_feasibility: float | None = None
    estimated_gain_upper: float | None = None
    worst_case: WorstCase | None = None


@dataclass(frozen=True)
class CertificateReport:
    """How far from the optimum `params` can still be, or why nobody can tell.

    Attributes
    ----------
    value
        |f(x*) - f(params)| is at most this with probability 1 - delta; None where nothing is certified.
    reason
        Why `value` is None; None when it is not.
    rejected
        How the data contradict the stated assumptions; None when they do not.
    params, certified_interval
        The point that the certificate is about, and bounds on f there; None without a certificate.
    best_possible
        No point is better than this, in the user's direction; None without a certificate.

    Examples
    --------
    >>> CertificateReport(None, "no trial is complete yet")
    CertificateReport(value=None, reason='no trial is complete yet')
    """

    value: float | None
    reason: str | None = None
    rejected: str | None = None
    params: dict[str, Any] | None = None
    certified_interval: tuple[float, float] | None = None
    best_possible: float | None = None

    def __repr__(self) -> str:
        shown = ("value", "reason", "rejected", "params", "certified_interval", "best_possible")
        said = {name: getattr(self, name) for name in shown}
        parts = [f"{name}={got!r}" for name, got in said.items() if name == "value" or got is not None]
        return f"CertificateReport({', '.join(parts)})"


def why_in_study(why: str, inner: int, number: int, missing: Sequence[str]) -> str:
    """Return what `why_recommended` says of a run made from a study, with the study's number of the best seen.

    Parameters
    ----------
    why
        Its sentence.
    inner, number
        The number of the best seen in the run and in the study.
    missing
        Parameters that trials have and the search space has not: what is recommended is then a part of a setting.
    """
    if missing:
        names = ", ".join(map(repr, missing))
        return f"The search space lacks {names}, so this is a part of a setting; the best seen is trial {number}."
    return why.replace(f"rial {inner}", f"rial {number}", 1)  # it names the best seen, if any


def why_recommended(
    params: dict[str, Any],
    best: BestSeen,
    *,
    best_word: str,
    certified: bool,
    evaluated: bool,
    feasibility: float | None = None,
) -> str:
    """Return one sentence on why the recommended `params` and the best seen differ, or that they do not.

    Parameters
    ----------
    params, best
        The two.
    best_word
        "highest" or "lowest".
    certified, evaluated
        Whether the method certifies, and whether a trial was at `params`.
    feasibility
        The chance that constraints hold at `params`, by the model; None in a run without constraints.
    """
    meets = "" if feasibility is None else f"a chance of {100 * feasibility:.3g} % to meet all constraints"
    if best.feasible is False:
        return (
            f"In no trial did all constraints hold (trial {best.number} violated them least); the model gives the"
            f" recommended point {meets}."
        )
    if params == best.params:
        belief = f"; the model gives it {meets}" if meets else ""
        return f"The recommended point is also the best seen, in trial {best.number}{belief}."
    among = " of the trials in which all constraints held" if best.feasible else ""
    seen = f"Trial {best.number} gave the {best_word} result{among}, {best.value:.6g}, noise included"
    if certified:
        return f"{seen}; the recommended point has the best guaranteed value."
    if not evaluated:
        return f"{seen}; the model expects more of the recommended point, which was not tried itself."
    if feasibility is None:
        return f"{seen}; the recommended point has the {best_word} estimate given all results."
    if feasibility < 0.5:
        return f"{seen}; the model believes in none, and the recommended point has the best chance: {meets}."
    return f"{seen}; the recommended point has the {best_word} estimate where they are believed to hold, with {meets}."
