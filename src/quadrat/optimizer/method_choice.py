"""Which method to use when the user names one, gives one or says nothing; and what it must be able to handle."""

from __future__ import annotations

from quadrat.errors import InvalidInput
from quadrat.methods.base import Ability, Method
from quadrat.space import Space

__all__ = ["DEFAULT_METHOD", "check_method", "keeps_limits", "require", "resolve", "what_changed"]

DEFAULT_METHOD = "Auto"
"""The name of the method where none is given."""


def resolve(method: str | Method | None, noise: float | None = None) -> Method:
    """Return the method that is meant, by itself, by name or in words (`read_method`); None means `DEFAULT_METHOD`.

    `noise` is the standard deviation of one measurement, for the default method; None lets it learn that.
    """
    if noise is not None:
        if method is not None:
            raise InvalidInput(
                f"noise: expected None beside a method, which has its own, got {noise!r} and {method!r:.80};"
                " give it to the method, such as method=Auto(noise=0.1)"
            )
        from quadrat.methods.auto.method import Auto

        return Auto(noise=noise)
    if isinstance(method, Method):
        return method
    if isinstance(method, str) and "(" in method:
        from quadrat.methods.registry import read_method

        return read_method(method)
    from quadrat.methods.registry import get  # here, because a method that is at hand needs no names

    return get(DEFAULT_METHOD if method is None else method)


def check_method(method: Method, space: Space) -> None:
    """Refuse a method for a space with parameters that it cannot handle."""
    if space.contexts:
        require(method, "contexts", f"the space has the contexts {', '.join(map(repr, space.contexts))}")
    if space.fidelity is not None:
        require(method, "fidelities", f"the space has the fidelity {space.fidelity!r}")


def require(method: Method, ability: Ability, why: str) -> None:
    """Refuse a method that cannot handle what the run needs, and list those that can; `why` says what that is."""
    if ability in method.facts.handles:
        return
    from quadrat.methods.registry import that_handle

    able = ", ".join(that_handle(ability)) or "none yet"
    raise InvalidInput(f"method: expected one that handles {ability} ({able}), got {type(method).__name__}; {why}")


def keeps_limits(method: Method) -> bool:
    """Return whether a method proposes only points that pass a test of safety: then nothing may choose in its place."""
    return "safe regions" in method.facts.handles


def what_changed(method: Method, version: object) -> str | None:
    """Return what to tell whoever goes on with trials of a `version` of the method; None where it is no older.

    What is no number is 1: before methods had versions, none was named.
    """
    before = version if type(version) is int else 1
    if before >= method.version:
        return None
    by = f"version {before} of {type(method).__name__}"
    return f"these trials were chosen by {by}; suggestions now come from version {method.version}"
