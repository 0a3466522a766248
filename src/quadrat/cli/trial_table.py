"""Trials as a table that fits the screen: a column for each parameter, or all parameters in one where they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.table import Table

from quadrat.cli.screen import visible

__all__ = ["Line", "plain_table", "shown", "trial_table"]

_GAP = 2  # characters between cells
_SHORTEST_NOTE, _LONGEST_NOTE = 20, 40  # characters: below, a note says nothing; above, it pushes all else away
_SHORTEST_PARAMETERS = 20
_LONGEST_TEXT = 500  # characters of a name or a value


@dataclass(frozen=True)
class Line:
    """A trial: the cells before its parameters, these, and a note that stands in the place of the last cell."""

    cells: Sequence[str]
    params: Mapping[str, Any]
    note: str = ""


def shown(value: object) -> str:
    r"""Return a value as it stands in tables: numbers with six digits, text in one short line without escape sequences.

    Examples
    --------
    >>> shown(1 / 3), shown("tree"), shown("a\nb")
    ('0.333333', 'tree', 'a\\nb')
    """
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    if len(text) > _LONGEST_TEXT:
        text = f"{text[:_LONGEST_TEXT]}... ({len(text) - _LONGEST_TEXT} characters left out)"
    return visible(text).replace("\n", "\\n")


def plain_table(header: Sequence[str]) -> Table:
    """Return an empty table without frames."""
    # The box has a blank of its own between columns.
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, _GAP - 1, 0, 0))
    for name in header:
        table.add_column(name, no_wrap=True, overflow="fold")
    return table


def trial_table(header: Sequence[str], lines: Sequence[Line], width: int) -> Table:
    """Return the trials as a table, at most `width` characters wide if that is possible at all."""
    names = list({name: None for line in lines for name in line.params})
    columns = [[_cell(line.params, name) for line in lines] for name in names]
    names = [shown(name) for name in names]
    before = _width(header, [line.cells for line in lines])
    longest = max((cell_len(line.note) for line in lines), default=0)
    last = _GAP + max(cell_len(cell) for cell in (header[-1], *(line.cells[-1] for line in lines)))
    room = width - sum(_width([name], [[cell] for cell in column]) for name, column in zip(names, columns, strict=True))
    if room >= before + max(0, min(longest, _SHORTEST_NOTE) + _GAP - last):
        note_width = max(min(room - (before - last) - _GAP, _LONGEST_NOTE), last - _GAP)
    else:
        note_width = max(last - _GAP, min(longest, max(_SHORTEST_NOTE, width // 4)))
        room = max(width - before + last - note_width - 2 * _GAP, _SHORTEST_PARAMETERS)
        names, columns = ["parameters"], [[_folded(line.params, room) for line in lines]]
    table = plain_table([*header, *names])
    table.columns[-1].no_wrap = False  # a pair may be longer than the room that there is
    for line, *cells in zip(lines, *columns, strict=True):
        *first, end = line.cells
        table.add_row(*first, _cut(line.note, note_width) if line.note else end, *cells)
    return table


def _width(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return how many characters the columns take, with the gaps behind them."""
    return sum(max(map(cell_len, column)) + _GAP for column in zip(header, *rows, strict=True))


def _cell(params: Mapping[str, Any], name: str) -> str:
    return shown(params[name]) if name in params else ""


def _folded(params: Mapping[str, Any], width: int) -> str:
    """Return all parameters with their names, in lines of this width."""
    lines: list[str] = []
    for name, value in params.items():
        pair = f"{shown(name)}={shown(value)}"
        if lines and cell_len(lines[-1]) + _GAP + cell_len(pair) <= width:
            lines[-1] += " " * _GAP + pair
        else:
            lines.append(pair)
    return "\n".join(lines)


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, max(width - 3, 0)) + "..."
