"""From what a search guesses to what a user is told."""

from __future__ import annotations

from typing import Any

from quadrat.methods.base import Guess, Method
from quadrat.optimizer.direction import Direction
from quadrat.optimizer.recommendation import BestSeen, Recommendation, why_recommended

__all__ = ["recommendation_of"]


def recommendation_of(
    guess: Guess,
    params: dict[str, Any],
    best: BestSeen,
    *,
    direction: Direction,
    method: Method,
    certified: bool,
    evaluated: bool,
) -> Recommendation:
    """Return a guess in the user's direction.

    Parameters
    ----------
    guess
        What the search believes.
    params, evaluated
        The parameters at its point, and whether a trial was there.
    best
        The best seen beside it.
    direction, method
        Of the run.
    certified
        Whether the run has a certificate.
    """
    interval = None if guess.interval is None else direction.turn_interval(guess.interval)
    certifies = guess.certified or method.facts.certifies  # then its intervals are never a fitted model's
    return Recommendation(
        params=params,
        value=direction.turn(guess.value),
        certified_interval=interval if guess.certified and certified else None,
        credible_interval=None if certifies else interval,
        estimated_gain=guess.gain,
        estimated_gain_upper=guess.gain_upper,
        best_seen=best,
        why=why_recommended(
            params,
            best,
            best_word=direction.best,
            certified=guess.certified and certified,
            evaluated=evaluated,
            feasibility=guess.feasibility,
        ),
        estimated_feasibility=guess.feasibility,
    )
