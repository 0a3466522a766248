"""A series of numbers as one line of characters."""

from __future__ import annotations

from collections.abc import Sequence

from quadrat.heights import heights

__all__ = ["ASCII", "BLOCKS", "sparkline"]

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-:=+*#"
"""For terminals that cannot show blocks: from low to high by how much ink a character has."""


def sparkline(values: Sequence[float], width: int, levels: str = BLOCKS) -> tuple[str, bool]:
    """Return the line, a character for each number or for several, and whether its scale is logarithmic.

    Parameters
    ----------
    values
        In order; what is not finite is left out.
    width
        How many characters there may be.
    levels
        Characters from the lowest number to the highest.

    Examples
    --------
    >>> sparkline([8.0, 4.0, 4.0, 2.0, 1.0], 80)
    ('█▄▄▂▁', False)
    >>> sparkline([8.0, 4.0, 4.0, 2.0, 1.0], 3, ASCII)
    ('#:_', False)
    """
    found = heights(values, width)
    top = len(levels) - 1
    return "".join(levels[round(height * top)] for height in found.heights), found.log
