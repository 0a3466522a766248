"""Trials as a table: it fits the screen, and nothing but a note is ever cut."""

from __future__ import annotations

import pytest
from rich.console import Console

from quadrat.cli.trial_table import Line, trial_table

HEADER = ["number", "value"]


def lines_of(lines: list[Line], width: int) -> list[str]:
    console = Console(width=width, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(trial_table(HEADER, lines, width))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_a_column_for_each_parameter_where_they_fit() -> None:
    lines = lines_of([Line(["0", "1.5"], {"x": 0.123456789, "kind": "tree"}), Line(["1", "2"], {"x": 1.0, "n": 3})], 80)
    assert [line.split() for line in lines[:1] + lines[2:]] == [
        ["number", "value", "x", "kind", "n"],
        ["0", "1.5", "0.123457", "tree"],
        ["1", "2", "1", "3"],
    ]
    assert lines[3].index("3") == lines[0].rindex("n")


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("count", [1, 4, 30])
@pytest.mark.parametrize("note", ["", "short", "far too long " * 20])
def test_whatever_there_is_fits_and_only_notes_are_cut(width: int, count: int, note: str) -> None:
    params: dict[str, object] = {f"concentration_{i}": i + 0.25 for i in range(count)}
    lines = lines_of([Line(["0", "1.5 ± 0.2"], params), Line(["1", ""], params, note.strip())], width)
    assert max(map(len, lines)) <= width
    text = " ".join(lines)
    assert "number" in text
    assert "1.5 ± 0.2" in text
    words = text.replace("=", " ").split()
    for i, value in enumerate(params.values()):
        assert f"concentration_{i}" in words
        assert words.count(str(value)) == 2
    assert ("..." in text) == (len(note) > 20)
    assert note[:15].strip() in text


def test_a_pair_that_is_longer_than_the_room_goes_on_in_the_next_line() -> None:
    lines = lines_of([Line(["0", "1"], {"kind": "x" * 100, "n": 1})], 50)
    assert sum(line.count("x") for line in lines) == 100
    assert max(map(len, lines)) <= 50


def test_no_parameters() -> None:
    assert [line.split() for line in lines_of([Line(["0", ""], {}, "interrupted")], 40)[2:]] == [["0", "interrupted"]]
