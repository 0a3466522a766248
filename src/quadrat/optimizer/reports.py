"""What an optimizer answers, in the user's direction and units: recommendations, certificates, predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from quadrat._core.arrays import Array
from quadrat._core.printing import labelled
from quadrat.confidence import CertificateCurve, certificate_curve
from quadrat.errors import NotAvailable
from quadrat.kernels import Kernel
from quadrat.methods.base import Incumbent, Method, Search
from quadrat.methods.statements import Gain, Mixture
from quadrat.optimizer.history import History
from quadrat.optimizer.importing import plain_params
from quadrat.optimizer.outcome import Direction
from quadrat.optimizer.stated import AS_SURE, Stated, too_few_trials
from quadrat.optimizer.trial import BestSeen, interval_text, number_text, seen_text, settings_text
from quadrat.space import Space

__all__ = [
    "CertificateReport",
    "Predicted",
    "Recommendation",
    "WorstCase",
    "curve_of",
    "predictions_of",
    "recommendation_of",
    "report_of",
    "why_in_study",
    "why_not_certified",
    "why_recommended",
]


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

    def _lines(self) -> list[tuple[str, str]]:
        """Return what a recommendation prints of it."""
        reach = interval_text(self.credible_interval, f"90 % credible: {AS_SURE}")
        return [("worst within reach", f"{number_text(self.value)} at {settings_text(self.params)}"), ("", reach)]


@dataclass(frozen=True)
class Recommendation(Stated):
    """The point to use, and what is believed of f there, in the user's direction and units.

    What a fitted model states is as sure as the model is, and no more: the credible interval, any other `interval`, and
    the gain. What is certified holds under the stated assumptions.

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
    gain
        What the fitted model believes of how much better than this point anything could be: `gain.mean`,
        `gain.quantile(level)`, `gain.chance_at_most(x)`, and `gain.unvisited`, how far the upper value rests on regions
        that nobody has visited. None without an estimate. `estimated_gain` is its mean, `estimated_gain_upper` what it
        is at most with 90 %.
    best_seen
        The luckiest observation.
    why
        One sentence: why the two differ, or that they are the same; and where constraints held in no trial, that.
    estimated_feasibility
        An estimate of the chance, in [0, 1], that all constraints hold at `params`; None in a run without constraints.
    worst_case
        Where a point was asked for that is robust to being missed, the worst within reach of it; None otherwise.
    distribution
        What the fitted model believes of f there; None without such a model. `interval(level)` gives its intervals.
    delta
        `certified_interval` holds with probability 1 - delta; None where nothing is certified.
    too_few
        Why there are too few trials to rely on interval and gain; None where there are enough. Printed instead of them.
    noise
        Standard deviation of one measurement, as the model has learned it; None for a method that learns none.
    noise_stated
        Whether the noise was stated and not learned.

    Examples
    --------
    >>> import quadrat as qd
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="minimize")
    >>> optimizer.add_trials([{"x": i / 10} for i in range(11)], [(i / 10 - 0.3) ** 2 for i in range(11)])
    range(0, 11)
    >>> found = optimizer.recommend()
    >>> round(found.params["x"], 1), found.certified_interval, found.interval(0.9) == found.credible_interval
    (0.3, None, True)
    >>> found.interval(0.5)[0] > found.interval(0.99)[0], found.gain.chance_at_most(0.5)
    (True, 1.0)
    >>> print(found)  # doctest: +ELLIPSIS
    Recommendation
      params              x=...
      value               ...
      credible interval   ... to ...  (90 % credible: as sure as the model is)
      estimated gain      ... on average, at most ... with 90 %  (as sure as the model is)
      noise               ... in one result, standard deviation  (as sure as the model is)
      best seen           0 in trial 3: x=0.3
                          ...
    """

    params: dict[str, Any]
    value: float
    certified_interval: tuple[float, float] | None
    credible_interval: tuple[float, float] | None
    gain: Gain | None
    best_seen: BestSeen
    why: str
    estimated_feasibility: float | None = None
    worst_case: WorstCase | None = None
    distribution: Mixture | None = None
    delta: float | None = None
    too_few: str | None = None
    noise: float | None = None
    noise_stated: bool = False

    def __repr__(self) -> str:
        meets = self.estimated_feasibility
        lines = [
            ("params", settings_text(self.params)),
            ("value", number_text(self.value)),
            *self._said(),
            ("constraints", "" if meets is None else f"met with a chance of {100 * meets:.3g} %  (fitted)"),
            *([] if self.worst_case is None else self.worst_case._lines()),
            ("best seen", seen_text(self.best_seen)),
            ("", self.why),
        ]
        return labelled("Recommendation", lines)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data that JSON can hold: of distributions, intervals and quantiles of a few levels."""
        return {
            "params": self.params,
            "value": self.value,
            **self._data(),
            "best_seen": asdict(self.best_seen),
            "why": self.why,
            "estimated_feasibility": self.estimated_feasibility,
            "worst_case": None if self.worst_case is None else asdict(self.worst_case),
        }


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

    `inner` is its number in the run. Where the search space lacks parameters that trials have, the `missing` ones, what
    is recommended is a part of a setting.
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

    `best_word` is "highest" or "lowest"; `certified` is whether the method certifies, `evaluated` whether a trial was
    at `params`; `feasibility` is the chance that constraints hold there, None in a run without constraints.
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


def recommendation_of(
    incumbent: Incumbent,
    params: dict[str, Any],
    best: BestSeen,
    *,
    direction: Direction,
    method: Method,
    certified: bool,
    evaluated: bool,
    history: History,
) -> Recommendation:
    """Return a guess in the user's direction.

    `params` are the parameters at its point, and `evaluated` is whether a trial was there; `best` is the best seen, and
    `certified` whether the run, which has this `history`, has a certificate.
    """
    interval = None if incumbent.interval is None else direction.turn_interval(incumbent.interval)
    certifies = incumbent.certified or method.facts.certifies  # then its intervals are never a fitted model's
    belief = None if certifies else incumbent.distribution
    stated = incumbent.noise is not None and getattr(method, "noise", None) is not None
    return Recommendation(
        params=params,
        value=direction.turn(incumbent.value),
        certified_interval=interval if incumbent.certified and certified else None,
        credible_interval=None if certifies else interval,
        gain=incumbent.gain,
        best_seen=best,
        why=why_recommended(
            params,
            best,
            best_word=direction.best,
            certified=incumbent.certified and certified,
            evaluated=evaluated,
            feasibility=incumbent.feasibility,
        ),
        estimated_feasibility=incumbent.feasibility,
        distribution=None if belief is None else direction.turn_distribution(belief),
        delta=getattr(method, "delta", None) if incumbent.certified and certified else None,
        too_few=None
        if certifies or interval is None
        else too_few_trials(len(params), history, interval, noise_stated=stated),
        noise=incumbent.noise,
        noise_stated=stated,
    )


def why_not_certified(space: Space, method: Method, history: History) -> str | None:
    """Return why nothing can be certified in this run, whatever the search says; None if something can."""
    # A context has exactly the coordinates of its values: f is a function on the cube times these.
    rough = [name for name in space.discontinuous if not space[name].context]
    standard_errors = history.standard_errors
    if rough:
        return (
            f"expected a space of Floats without steps or conditions, got {', '.join(rough)}: the assumptions are"
            " about a function on the whole cube"
        )
    if standard_errors:
        return "expected plain values, got a standard error: it is an estimate, and nothing certified rests on those"
    if not history.count("complete"):
        return f"no trial is complete yet ({history.summary()})"
    return method.why_not_certified()


def report_of(direction: Direction, search: Search, x: Array, params: dict[str, Any]) -> CertificateReport:
    """Return what the search certifies of the point x, shape (D,), which has these parameters, in the user's direction.

    Whether the run can be certified at all is `why_not_certified`'s to say.
    """
    got = search.certificate(x)
    if isinstance(got, str):
        return CertificateReport(None, got)
    if got.rejection is not None:
        return CertificateReport(None, got.rejection, rejected=got.rejection)
    return CertificateReport(
        got.value,
        params=params,
        certified_interval=direction.turn_interval(got.certified_interval),
        best_possible=direction.turn(got.maximum),
    )


def curve_of(
    space: Space, method: Method, history: History, direction: Direction, norm_bounds: Sequence[float] | Array
) -> CertificateCurve:
    """Return the certificate of the run under each norm bound, all else as the method states it."""
    kernel, noise = getattr(method, "kernel", None), getattr(method, "noise", None)
    if not isinstance(kernel, Kernel) or not isinstance(noise, float | int):
        raise NotAvailable(
            f"certificate_curve: expected a method that states its kernel and noise, got {type(method).__name__};"
            " LPGPUCB does, and so can quadrat.confidence.certificate_curve(kernel, X, y, noise=...)"
        )
    if space.contexts:
        raise NotAvailable(
            "certificate_curve: expected a space without contexts, got some; certificate(context) has them"
        )
    reason = why_not_certified(space, method, history)
    if reason is not None:
        raise NotAvailable(f"certificate_curve: {reason}")
    observed = [
        (history.point(number), value) for number in history.numbers("complete") for value in history.values(number)
    ]
    return certificate_curve(
        kernel,
        np.array([x for x, _ in observed]),
        np.array([direction.turn(value) for _, value in observed]),
        noise=float(noise),
        norm_bounds=norm_bounds,
        delta=getattr(method, "delta", 0.05),
        holder=getattr(method, "holder", None),
    )


@dataclass(frozen=True)
class Predicted:
    """What is believed of the objective at some parameters, in the user's direction and units.

    Attributes
    ----------
    params
        The parameters.
    value
        The estimate of the objective there.
    credible_interval
        90 % of the fitted model's belief, an estimate; None where the method states assumptions instead.
    certified_interval
        Holds the objective there, and at all points and times at once, with probability 1 - delta under the stated
        assumptions; None where nothing is certified. Never both.

    Examples
    --------
    >>> from quadrat.optimizer import Optimizer
    >>> from quadrat.space import Float, Space
    >>> optimizer = Optimizer(Space(x=Float(-1, 1)), direction="minimize", seed=0)
    >>> optimizer.add_trials([{"x": i / 5} for i in range(-5, 6)], [(i / 5) ** 2 for i in range(-5, 6)])
    range(0, 11)
    >>> [at] = optimizer.predict([{"x": 0.5}])
    >>> abs(at.value - 0.25) < 0.02, at.certified_interval
    (True, None)
    """

    params: dict[str, Any]
    value: float
    credible_interval: tuple[float, float] | None
    certified_interval: tuple[float, float] | None


def predictions_of(
    space: Space,
    method: Method,
    history: History,
    direction: Direction,
    search: Search,
    params: Sequence[Mapping[str, Any]],
) -> tuple[Predicted, ...]:
    """Return what a search believes at these parameters, as the user sees it; refuse where it has no model."""
    points = space.to_units(params)
    if not history.count("complete"):
        raise NotAvailable(
            f"predict: expected at least one complete trial, got {history.summary()}; tell a value first"
        )
    if not len(points):
        return ()
    found = search.predict(points)
    if found is None:
        raise NotAvailable(
            "predict: expected a method with a model of the objective that the data do not contradict, got"
            f" {type(method).__name__} (certificate() says what it knows); {_who_predicts(space)}"
        )
    # As of a recommendation: intervals of a method that certifies are never a fitted model's.
    fitted = not method.facts.certifies
    certified = not fitted and why_not_certified(space, method, history) is None
    return tuple(
        Predicted(
            one,
            direction.turn(mean),
            direction.turn_interval((low, high)) if fitted else None,
            direction.turn_interval((low, high)) if certified else None,
        )
        for one, mean, low, high in zip(plain_params(params, space), *(part.tolist() for part in found), strict=True)
    )


def _who_predicts(space: Space) -> str:
    """Return what to do instead, in a space of this kind."""
    if space.contexts:
        return "in contexts LPGPUCB has one"
    if space.fidelity is not None:
        return "with fidelities none has, and recommend() says what is expected of the best setting"
    return "Auto, the default, has one"
