"""Where the command prints: as wide as the terminal, 80 columns where there is none, no colours in pipes."""

from __future__ import annotations

import re
import shutil
from textwrap import fill

from rich.console import Console, RenderableType

__all__ = ["Screen", "refold", "visible"]

_WIDEST = 120  # lines longer than this are hard to read
_LABEL = re.compile(r" *(\[\d+\]|[A-Za-z][A-Za-z ]*:) ")


class Screen:
    """Standard output."""

    def __init__(self) -> None:
        self.width = min(shutil.get_terminal_size().columns, _WIDEST)
        self._console = Console(width=self.width, highlight=False, markup=False, emoji=False)

    def can_show(self, characters: str) -> bool:
        """Return whether the terminal has these characters."""
        try:
            characters.encode(self._console.encoding)
        except (UnicodeEncodeError, LookupError):
            return False
        return not self._console.legacy_windows

    def show(self, what: RenderableType) -> None:
        """Print a table or a line, without trailing blanks in pipes."""
        if self._console.is_terminal:
            self._console.print(what)
            return
        with self._console.capture() as captured:
            self._console.print(what)
        self._console.file.writelines(line.rstrip() + "\n" for line in captured.get().splitlines())

    def say(self, text: str) -> None:
        """Print paragraphs, folded to the width of the screen."""
        self._console.file.write(refold(visible(text), self.width) + "\n")


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

    Examples
    --------
    >>> print(refold("[1] one two\n    three four five\n[2] six", 16))
    [1] one two
        three four
        five
    [2] six
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
