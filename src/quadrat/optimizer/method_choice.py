"""Which method to use when the user names one, gives one or says nothing."""

from __future__ import annotations

from quadrat.methods.base import Method

__all__ = ["DEFAULT_METHOD", "resolve"]

DEFAULT_METHOD = "Auto"


def resolve(method: str | Method | None) -> Method:
    """Return the method that is meant; None means `DEFAULT_METHOD`."""
    if isinstance(method, Method):
        return method
    from quadrat.methods.registry import get  # here, because a method that is at hand needs no names

    return get(DEFAULT_METHOD if method is None else method)
