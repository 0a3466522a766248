"""Numbers and parameters as people read them, the same wherever they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["number_text", "settings_text"]


def number_text(value: float) -> str:
    """Return a number with six digits."""
    return f"{value:.6g}"


def settings_text(params: Mapping[str, Any]) -> str:
    """Return parameters with their names.

    Examples
    --------
    >>> settings_text({"lr": 1 / 3, "kind": "tree", "depth": 3})
    "lr=0.333333, kind='tree', depth=3"
    """
    return ", ".join(
        f"{name}={number_text(value) if isinstance(value, float) else repr(value)}" for name, value in params.items()
    )
