"""What is stated of a recommended point, and the words for it: the same in a recommendation and in a result."""

from __future__ import annotations

from typing import Any

from quadrat._core.arrays import as_number
from quadrat._core.printing import between
from quadrat.errors import NotAvailable
from quadrat.methods.auto.output_transform import LEAST_SPREAD
from quadrat.methods.statements import CREDIBLE_LEVEL, Gain, Mixture
from quadrat.optimizer.history import History
from quadrat.optimizer.trial import interval_text, number_text

__all__ = ["AS_SURE", "TOO_FEW", "UNVISITED", "Stated", "gain_words", "too_few_trials"]

AS_SURE = "as sure as the model is"
TOO_FEW = "too few trials to say"
UNVISITED = "rests on regions that nobody has visited"

_LEVELS = (0.5, 0.8, 0.9)  # that plain data have
_KINDS = 3  # of values, with fewer of which nothing is known of the noise
_FEW = 100  # trials: where so many do not tell, it is not for their number


class Stated:
    """What a recommendation and a result state of the value at a point, and of what is left to gain.

    Attributes
    ----------
    credible_interval
        90 % of what the fitted model believes; None without such a model.
    certified_interval
        Holds with probability 1 - delta under the stated assumptions; None where nothing is certified. Never both.
    delta
        The chance with which what is certified may fail; None where nothing is.
    distribution
        What the fitted model believes of the value; None without such a model.
    gain
        What it believes of how much better anything could be; None without an estimate.
    too_few
        Why there are too few trials to rely on the model's statements; None where there are enough.
    noise
        Standard deviation of one measurement, as the model has learned it; None for a method that learns none.
    noise_stated
        Whether the noise was stated and not learned.
    """

    credible_interval: tuple[float, float] | None
    certified_interval: tuple[float, float] | None
    delta: float | None
    distribution: Mixture | None
    gain: Gain | None
    too_few: str | None
    noise: float | None
    noise_stated: bool

    @property
    def estimated_gain(self) -> float | None:
        """The mean of `gain`, >= 0; None without one."""
        return None if self.gain is None else self.gain.mean

    @property
    def estimated_gain_upper(self) -> float | None:
        """What the gain is at most with 90 %, as the model believes; never below the mean. None without one."""
        return None if self.gain is None else self.gain.upper

    def interval(self, level: float = CREDIBLE_LEVEL) -> tuple[float, float]:
        """Return the interval of a `level` for the value at the recommended point.

        A fitted model has one for every level in (0, 1), central, and as sure as the model is. A method that certifies
        has one interval, which holds with probability 1 - delta: it is returned for that level and for all below, for
        which it holds too.

        Raises
        ------
        NotAvailable
            There is no interval of this level.
        InvalidInput
            The level is not in (0, 1).
        """
        if self.distribution is not None:
            return self.distribution.interval(level)
        asked = as_number(level, name="level", above=0.0, at_most=1.0)
        if self.certified_interval is not None and self.delta is not None:
            if asked <= 1 - self.delta:
                return self.certified_interval
            raise NotAvailable(
                f"interval: expected a level of at most {1 - self.delta:g}, which this method certifies, got {asked:g};"
                " a smaller delta, stated before the data, certifies more"
            )
        if self.credible_interval is not None:
            if asked == CREDIBLE_LEVEL:
                return self.credible_interval
            raise NotAvailable(
                f"interval: expected level {CREDIBLE_LEVEL}, which is all this method has, got {asked:g}"
            )
        raise NotAvailable(
            "interval: expected a method with a model or certified bounds, such as Auto, got one without"
        )

    def _said(self) -> list[tuple[str, str]]:
        """Return what is printed of it, each line with its label."""
        interval = self.certified_interval
        said = "" if interval is None else f"{between(interval)}  (under the stated assumptions)"
        certified = ("certified interval", said)
        if self.too_few is not None and self.credible_interval is not None:
            return [("credible interval", f"{TOO_FEW}: {self.too_few}"), certified]
        if self.distribution is not None and self.distribution.is_certain:
            why = "as it is stated that there is no noise" if self.noise_stated else "all repeats gave the same"
            lines = [("credible interval", f"{number_text(self.distribution.value)} exactly, {why}")]
        else:
            lines = [("credible interval", interval_text(self.credible_interval, f"90 % credible: {AS_SURE}"))]
        if self.gain is not None:
            lines.append(("estimated gain", f"{gain_words(self.gain, 6)}  ({AS_SURE})"))
            lines.append(("", f"the upper value {UNVISITED}" if self.gain.rests_on_unvisited else ""))
        if self.noise is not None:
            found = f"{number_text(self.noise)} in one result, standard deviation" if self.noise > 0 else "none"
            how = "as stated" if self.noise_stated else AS_SURE if self.noise > 0 else "all repeats gave the same"
            lines.append(("noise", f"{found}  ({how})"))
        return [*lines, certified]

    def _data(self) -> dict[str, Any]:
        """Return it as plain data."""
        gain, belief = self.gain, self.distribution
        return {
            "certified_interval": self.certified_interval,
            "credible_interval": self.credible_interval,
            "intervals": {} if belief is None else {str(level): belief.interval(level) for level in _LEVELS},
            "estimated_gain": self.estimated_gain,
            "estimated_gain_upper": self.estimated_gain_upper,
            "gain_quantiles": {} if gain is None else {str(level): gain.quantile(level) for level in _LEVELS},
            "gain_unvisited": None if gain is None else gain.unvisited,
            "delta": self.delta,
            "too_few": self.too_few,
            "noise": self.noise,
        }


def gain_words(gain: Gain, digits: int) -> str:
    """Return what is left to gain, in words."""
    upper = f"at most {gain.upper:.{digits}g} with 90 %"
    return upper if gain.mean >= gain.upper else f"{gain.mean:.{digits}g} on average, {upper}"


def too_few_trials(
    parameters: int, history: History, interval: tuple[float, float] | None, *, noise_stated: bool = False
) -> str | None:
    """Return why a run has too few trials for a model's statements; None where it has enough.

    A plane through D + 1 values fits all of them: with D parameters it takes D + 2 until one is left over by which a
    model can be judged. Where the 90 % interval is wider than the range of all values told, the model knows less of the
    value than whoever looks at the list. And values of one kind, or of two such as pass and fail, do not say how much
    noise there is, unless it was stated, for all of them or with each. Values that agree but for rounding say nothing.
    """
    count = history.count("complete")
    if count < parameters + 2:
        values = f"{count} value{'' if count == 1 else 's'}"
        return f"{values} for {parameters} parameter{'' if parameters == 1 else 's'}"
    if interval is None:
        return None
    told = [value for number in history.numbers("complete") for value in history.values(number)]
    kinds = len(set(told))
    known = noise_stated or all(history.record(number).sem is not None for number in history.numbers("complete"))
    if kinds < _KINDS and not known:
        return "all results are the same" if kinds == 1 else "all results are one of two values; tell means of several"
    if count > _FEW:
        return None
    spread = max(told) - min(told)
    if 0 < spread <= LEAST_SPREAD * max(map(abs, told)):
        return (
            "results differ in their last digits alone, which may be rounding; tell how far they are from a fixed value"
        )
    if 0 < spread < interval[1] - interval[0]:  # where all are equal, nothing is known of the scale
        return f"the 90 % interval is wider than the range of all values, {number_text(spread)}"
    return None
