"""Small pieces of HTML for notebooks: tables and curves, without scripts, style sheets or anything from elsewhere.

Text is escaped here. Colours are those of the page: the text's own, and greys that are
half transparent, which can be read on white and on black.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

__all__ = ["ColumnHeights", "Markup", "Piece", "bar", "block", "column_heights", "curve", "pairs", "table"]

_DECADES = 100.0  # ratio of the largest to the smallest size, from which on a linear scale shows one step and a line


@dataclass(frozen=True)
class ColumnHeights:
    """Heights from 0, the smallest number, to 1, the largest, all 0.5 where all are equal; `log`: of logarithms."""

    heights: tuple[float, ...]
    log: bool


def column_heights(values: Sequence[float], columns: int) -> ColumnHeights:
    """Return numbers as heights, at most as many as there are columns, which are at least 1.

    Of more numbers than columns, evenly spaced ones are kept, the first and the last among them. The scale is
    logarithmic where all of these have one sign and their sizes differ by a factor of 100 or more. Numbers that are not
    finite are left out.

    Examples
    --------
    >>> column_heights([1000.0, 10.0, 10.0, 0.1], 2)
    ColumnHeights(heights=(1.0, 0.0), log=True)
    """
    finite = [float(value) for value in values if math.isfinite(value)]
    count, last = min(len(finite), columns), len(finite) - 1
    kept = [finite[round(column * last / (count - 1))] for column in range(count)] if count > 1 else finite[-1:]
    sizes = [abs(value) for value in kept]
    one_sign = all(value > 0 for value in kept) or all(value < 0 for value in kept)
    log = bool(kept) and one_sign and max(sizes) / _DECADES >= min(sizes)
    scaled = [math.copysign(1, value) * math.log(abs(value)) for value in kept] if log else kept
    if not scaled:
        return ColumnHeights((), log=False)
    low, high = min(scaled), max(scaled)
    if high == low:
        return ColumnHeights((0.5,) * count, log)
    unit = 1.0 if math.isfinite(high - low) else 0.25  # large numbers of opposite signs: their difference overflows
    span = high * unit - low * unit
    return ColumnHeights(tuple((value * unit - low * unit) / span for value in scaled), log)


_LINE = "1px solid rgba(128,128,128,.35)"
_CELL = "text-align:left;vertical-align:top;padding:2px 12px 2px 0;background:none;color:inherit;"
_FRAME = "margin:0;border:0;table-layout:auto;border-collapse:collapse;font-size:inherit;color:inherit;background:none;"
_WIDTH, _HEIGHT, _EDGE = 180, 28, 2  # of a curve, in pixels; the edge keeps its line inside
_COLUMNS = 90  # points of a curve: one for two pixels


@dataclass(frozen=True)
class Markup:
    """HTML that is safe as it stands."""

    html: str


Piece: TypeAlias = str | Markup
"""Text, which is escaped, or HTML, which is not."""


def block(title: str, parts: Iterable[Piece]) -> str:
    """Return a titled block, one part below the other, for `_repr_html_`."""
    inside = "".join(f'<div style="margin-top:4px">{_html(part)}</div>' for part in parts)
    return f'<div style="color:inherit;line-height:1.45"><div><b>{escape(title)}</b></div>{inside}</div>'


def table(header: Sequence[str], rows: Iterable[Sequence[Piece]]) -> Markup:
    """Return a table with a line below its header."""
    head = "".join(f'<th style="{_CELL}font-weight:600;border-bottom:{_LINE}">{escape(name)}</th>' for name in header)
    return Markup(f'<table style="{_FRAME}"><thead><tr>{head}</tr></thead><tbody>{_rows(rows)}</tbody></table>')


def pairs(rows: Iterable[tuple[str, Piece]]) -> Markup:
    """Return labels with their pieces, a row each."""
    body = "".join(
        f'<tr style="background:none"><th style="{_CELL}font-weight:normal;opacity:.7;white-space:nowrap">'
        f'{escape(label)}</th><td style="{_CELL}">{_html(piece)}</td></tr>'
        for label, piece in rows
    )
    return Markup(f'<table style="{_FRAME}"><tbody>{body}</tbody></table>')


def curve(values: Sequence[float], label: str) -> Markup | None:
    """Return numbers in order as a line of steps without axes, with its label; None where there are fewer than two."""
    found = column_heights(values, _COLUMNS)
    count = len(found.heights)
    if count < 2:
        return None
    step, rise = (_WIDTH - 2 * _EDGE) / count, _HEIGHT - 2 * _EDGE
    path = "".join(
        f"{'M' if column == 0 else 'L'}{_EDGE + column * step:.4g} {y:.4g}H{_EDGE + (column + 1) * step:.4g}"
        for column, y in enumerate(_EDGE + (1 - height) * rise for height in found.heights)
    )
    text = f"{label}{' (log scale)' if found.log else ''}"
    return Markup(
        f'<svg role="img" aria-label="{escape(text)}" width="{_WIDTH}" height="{_HEIGHT}"'
        f' viewBox="0 0 {_WIDTH} {_HEIGHT}" style="vertical-align:middle;margin-right:8px">'
        f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
        f'<span style="opacity:.7">{escape(text)}</span>'
    )


def bar(shares: Iterable[tuple[str, float]]) -> Markup:
    """Return shares of a whole, each in [0, 1], as one bar: from dark to light in the order given."""
    parts, x = [], 0.0
    for place, (label, share) in enumerate(shares):
        width = share * _WIDTH
        parts.append(
            f'<rect x="{x:.4g}" y="0" width="{width:.4g}" height="10" fill="currentColor"'
            f' fill-opacity="{0.85 / 3**place:.3g}"><title>{escape(f"{label}: {100 * share:.3g} %")}</title></rect>'
        )
        x += width
    return Markup(
        f'<svg role="img" width="{_WIDTH}" height="10" viewBox="0 0 {_WIDTH} 10" style="vertical-align:middle;'
        f'border:{_LINE}">{"".join(parts)}</svg>'
    )


def _rows(rows: Iterable[Sequence[Piece]]) -> str:
    cells = ("".join(f'<td style="{_CELL}">{_html(piece)}</td>' for piece in row) for row in rows)
    return "".join(f'<tr style="background:none">{row}</tr>' for row in cells)


def _html(piece: Piece) -> str:
    return piece.html if isinstance(piece, Markup) else escape(piece).replace("\n", "<br>")
