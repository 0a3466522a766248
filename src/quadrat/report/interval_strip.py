"""An interval, the estimate in it and the best seen, drawn on one line."""

from __future__ import annotations

import math
from html import escape

from quadrat.optimizer.settings_text import number_text

__all__ = ["interval_strip"]

_MARGIN = 5.0  # per cent at each side
_TOP, _HEIGHT, _MIDDLE = 9, 16, 17  # pixels


def interval_strip(interval: tuple[float, float], value: float, seen: float, kind: str) -> str:
    """Return a drawing with its key as HTML; nothing where an end is not finite.

    Parameters
    ----------
    interval, value
        Of the recommended point.
    seen
        The best value that was seen, noise included.
    kind
        What the interval is called.
    """
    low, high = min(interval[0], seen, value), max(interval[1], seen, value)
    if not math.isfinite(low) or not math.isfinite(high - low) or high <= low:
        return ""

    def at(x: float) -> float:
        return _MARGIN + (100 - 2 * _MARGIN) * (x - low) / (high - low)

    said = (
        f"{kind} interval from {number_text(interval[0])} to {number_text(interval[1])}, estimate {number_text(value)},"
        f" best seen {number_text(seen)}"
    )
    left, right = at(interval[0]), at(interval[1])
    fill = "var(--certified)" if kind == "certified" else "var(--band)"
    opacity = ' fill-opacity="0.45"' if kind == "certified" else ""
    return (
        f'<svg class="strip" role="img" aria-label="{escape(said)}">'
        f'<line x1="0" x2="100%" y1="{_MIDDLE}" y2="{_MIDDLE}" stroke="var(--line)"/>'
        f'<rect x="{left:.2f}%" width="{max(right - left, 0.5):.2f}%" y="{_TOP}" height="{_HEIGHT}" rx="4"'
        f' fill="{fill}"{opacity}/>'
        f'<line x1="{at(value):.2f}%" x2="{at(value):.2f}%" y1="{_TOP - 4}" y2="{_TOP + _HEIGHT + 4}"'
        ' stroke="var(--accent)" stroke-width="3"/>'
        f'<circle cx="{at(seen):.2f}%" cy="{_MIDDLE}" r="5" fill="var(--seen)"/></svg>'
        f'<ul class="key" aria-hidden="true"><li class="k-{"certified" if kind == "certified" else "band"}">'
        f'{escape(kind)}</li><li class="k-value">estimate</li><li class="k-seen">best seen</li></ul>'
    )
