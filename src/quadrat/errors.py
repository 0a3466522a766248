"""Errors that Quadrat raises. Each says what was expected, what came and, where it is known, how to mend it.

Every class inherits twice: from `QuadratError`, to catch all of ours at once, and from the built-in that a
caller would expect.
"""

from __future__ import annotations

__all__ = ["InvalidInput", "NotAvailable", "NumericalFailure", "QuadratError"]


class QuadratError(Exception):
    """Base of all errors raised on purpose by this package."""


class InvalidInput(QuadratError, ValueError):
    """An argument has the wrong type, shape or value."""


class NotAvailable(QuadratError, ValueError):
    """The object asked cannot give this quantity, because it does not exist or is not known for it."""


class NumericalFailure(QuadratError, ArithmeticError):
    """A computation that is exact on paper broke down in floating point, and no remedy was allowed."""
