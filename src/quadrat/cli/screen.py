"""Where the command prints: as wide as the terminal, 80 columns where there is none, no colours in pipes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from textwrap import fill
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment

from quadrat._core.html import column_heights

__all__ = ["ASCII", "BLOCKS", "Printable", "Screen", "brief", "refold", "refusal", "sparkline", "visible"]

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-:=+*#"
"""For terminals that cannot show blocks: from low to high by how much ink a character has."""


def sparkline(values: Sequence[float], width: int, levels: str = BLOCKS) -> tuple[str, bool]:
    """Return numbers as a line of characters, from low to high by `levels`, and whether its scale is logarithmic.

    Examples
    --------
    >>> sparkline([8.0, 4.0, 4.0, 2.0, 1.0], 3, ASCII)
    ('#:_', False)
    """
    found = column_heights(values, width)
    top = len(levels) - 1
    return "".join(levels[round(height * top)] for height in found.heights), found.log


_WIDEST = 120  # lines longer than this are hard to read
_LONGEST_LINE, _MOST_LINES = 2000, 200  # characters of a line, and lines of a text, of which the rest is left out
_LABEL = re.compile(r" *(\[\d+\]|[A-Za-z][A-Za-z ]*:) ")


class Screen:
    """Standard output, or another stream in its place."""

    def __init__(self, file: TextIO | None = None) -> None:
        self.width = min(shutil.get_terminal_size().columns, _WIDEST)
        self._console = Console(file=file, width=self.width, highlight=False, markup=False, emoji=False)

    def can_show(self, characters: str) -> bool:
        """Return whether the terminal has these characters."""
        try:
            characters.encode(self._console.encoding)
        except (UnicodeEncodeError, LookupError):
            return False
        return not self._console.legacy_windows

    def show(self, what: RenderableType) -> None:
        """Print a table or a line, without trailing blanks in pipes."""
        clean = visible(what) if isinstance(what, str) else Printable(what)
        if self._console.is_terminal:
            self._console.print(clean)
            return
        with self._console.capture() as captured:
            self._console.print(clean)
        self._console.file.writelines(line.rstrip() + "\n" for line in captured.get().splitlines())

    def say(self, text: str) -> None:
        """Print paragraphs, folded to the width of the screen; very long ones are cut."""
        self._console.file.write(refold(visible(brief(text)), self.width) + "\n")


class Printable:
    """A table, or whatever else rich can draw, in which control characters are written out."""

    def __init__(self, inner: RenderableType) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._inner, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._inner)


def refusal(error: Exception) -> str:
    """Return what an error says, with the cure that a command has in the place of the one that Python has.

    Examples
    --------
    >>> refusal(ValueError("got no space; pass search_space=qd.Space(...) that has every parameter"))
    'got no space; pass --space FILE that has every parameter'
    """
    return re.sub(r"search_space=(qd\.Space\(\.\.\.\))?", "--space FILE", str(error))


def brief(text: str) -> str:
    """Return a text without the ends of lines, and without the lines, that no terminal is to show: errors of any size.

    Examples
    --------
    >>> brief("x" * 10**7)[-34:]
    'x... (9998000 characters left out)'
    """
    lines = text.split("\n", _MOST_LINES)
    rest = lines.pop() if len(lines) > _MOST_LINES else ""
    cut = [
        line
        if len(line) <= _LONGEST_LINE
        else f"{line[:_LONGEST_LINE]}... ({len(line) - _LONGEST_LINE} characters left out)"
        for line in lines
    ]
    return "\n".join([*cut, *([f"... ({len(rest)} characters left out)"] if rest else [])])


def visible(text: str) -> str:
    r"""Return a text in which control characters, but for ends of lines, are written out: none reaches a terminal.

    Names come from storages, which others may write to.

    Examples
    --------
    >>> visible("two\nlines, \x1b[31mone red")
    'two\nlines, \\x1b[31mone red'
    """
    if text.replace("\n", "").isprintable():
        return text
    return "".join(one if one.isprintable() or one == "\n" else _written_out(one) for one in text)


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode()


def refold(text: str, width: int) -> str:
    r"""Fold again the paragraphs of a text that was folded for another width.

    A paragraph is one line, or a line that begins with a label (``[1]`` or ``cost:``) and those below it that are
    indented as far as the label is long.
    """
    paragraphs: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        label = _LABEL.match(line)
        if paragraphs and paragraphs[-1][0] and indent == len(paragraphs[-1][0]):
            paragraphs[-1][1].append(line.strip())
        else:
            start = label.group() if label else ""
            paragraphs.append((start, [line[len(start) :]]))
    return "\n".join(
        fill(" ".join(lines), width, initial_indent=start, subsequent_indent=" " * len(start), break_on_hyphens=False)
        if start
        else lines[0]
        for start, lines in paragraphs
    )
