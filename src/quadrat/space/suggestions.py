"""The nearest known word to one that is not known, for error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return " (did you mean '...'?)" with the nearest known word, or "" where none is near.

    Examples
    --------
    >>> did_you_mean("hihg", ["low", "high"])
    " (did you mean 'high'?)"
    >>> did_you_mean("zzz", ["low", "high"])
    ''
    """
    import difflib

    near = difflib.get_close_matches(str(word), list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
