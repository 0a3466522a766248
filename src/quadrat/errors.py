"""Errors that Quadrat raises, and its warning. Each error says what was expected, what came and how to mend it.

Every class inherits twice: from `QuadratError`, to catch all of ours at once, and from the built-in that a
caller would expect.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "InvalidInput",
    "NotAvailable",
    "NumericalFailure",
    "QuadratError",
    "QuadratWarning",
    "SpaceExhausted",
    "did_you_mean",
    "shortened",
]

_LONGEST = 1000  # characters of a message about data: somebody reads it


class QuadratError(Exception):
    """Base of all errors raised on purpose by this package.

    Examples
    --------
    >>> import quadrat as qd
    >>> try:
    ...     qd.Float(1, 0)
    ... except QuadratError as error:
    ...     print(type(error).__name__)
    InvalidInput
    """


class InvalidInput(QuadratError, ValueError):
    """An argument has the wrong type, shape or value.

    Examples
    --------
    >>> import quadrat as qd
    >>> qd.Space(x=qd.Float(0, 1)).to_unit({"x": 2})
    Traceback (most recent call last):
    quadrat.errors.InvalidInput: params: parameter 'x': expected a number from 0.0 to 1.0, got 2
    """


class NotAvailable(QuadratError, ValueError):
    """The object asked cannot give this quantity, because it does not exist or is not known for it.

    Examples
    --------
    >>> import quadrat as qd
    >>> qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize").recommend()
    Traceback (most recent call last):
    quadrat.errors.NotAvailable: recommend: expected at least one complete trial, ...
    """


class SpaceExhausted(NotAvailable):
    """Nothing is left to evaluate: the space is finite, every setting was evaluated, and the objective has no noise.

    Examples
    --------
    >>> import quadrat as qd
    >>> optimizer = qd.Optimizer(qd.Space(n=qd.Int(1, 2)), direction="maximize", noise=0)
    >>> for _ in range(2):
    ...     trial = optimizer.ask()
    ...     optimizer.tell(trial, trial.params["n"])
    >>> optimizer.ask()
    Traceback (most recent call last):
    quadrat.errors.SpaceExhausted: all 2 settings evaluated, and the objective has no noise: ...
    """


class NumericalFailure(QuadratError, ArithmeticError):
    """A computation that is exact on paper broke down in floating point, and no remedy was allowed.

    Examples
    --------
    >>> import quadrat as qd
    >>> exact = qd.gp.GaussianProcess(qd.SquaredExponential(10.0), noise_variance=0.0, jitter=False)
    >>> exact.add([[i / 50] for i in range(50)], [0.0] * 50)
    Traceback (most recent call last):
    quadrat.errors.NumericalFailure: ...
    """


class QuadratWarning(UserWarning):
    """Quadrat goes on, but does something that the user may not want; the message says how to mend it.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():  # in a script that knows better
    ...     warnings.simplefilter("ignore", category=QuadratWarning)
    ...     warnings.warn("parameter 'x' is drawn at random", QuadratWarning)
    >>> issubclass(QuadratWarning, UserWarning)
    True
    """


def shortened(message: str) -> str:
    """Return a message whose middle is left out where it is very long: data that is wrong may be of any size."""
    if len(message) <= _LONGEST:
        return message
    half = _LONGEST // 2
    return f"{message[:half]} ... ({len(message) - 2 * half} characters left out) ... {message[-half:]}"


_LONGEST_WORD = 200  # characters of a word that somebody mistyped; comparing takes their square


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return " (did you mean '...'?)" with the nearest known word, or "" where none is near.

    Examples
    --------
    >>> did_you_mean("hihg", ["low", "high"]), did_you_mean("zzz", ["low", "high"])
    (" (did you mean 'high'?)", '')
    """
    import difflib

    text = str(word)
    near = difflib.get_close_matches(text, list(known), n=1) if len(text) <= _LONGEST_WORD else []
    return f" (did you mean {near[0]!r}?)" if near else ""
