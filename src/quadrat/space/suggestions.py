"""The nearest known word to one that is not known, for error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["did_you_mean"]

_LONGEST = 200  # characters of a word that somebody mistyped; comparing takes their square


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

    text = str(word)
    near = difflib.get_close_matches(text, list(known), n=1) if len(text) <= _LONGEST else []
    return f" (did you mean {near[0]!r}?)" if near else ""
