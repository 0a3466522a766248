"""A space in a notebook: every parameter with what its repr says, names as text."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping

from quadrat.space import Categorical, Context, Fidelity, Fixed, Float, Int, Space


def rows_of(space: Space) -> list[list[str]]:
    found = ET.fromstring(space._repr_html_())  # noqa: S314  # our own text
    return [["".join(cell.itertext()) for cell in row] for row in found.iter("tr")]


def test_a_row_for_each_parameter_with_numbers_as_in_the_repr() -> None:
    space = Space(
        booster=Categorical(["gbtree", "linear", None]),
        eta=Float(1e-6, 1, log=True),
        share=Float(0, 1, step=0.1),
        width=Int(32, 512, step=32),
        size=Categorical(["S", "M"], ordered=True, when={"booster": "linear"}),
        depth=Int(1, 10, when={"booster": ["gbtree", "linear"]}),
        kind=Fixed("a"),
        day=Context(Int(1, 7)),
        epochs=Fidelity([5, 100], cost=[1, 20]),
    )
    assert rows_of(space) == [
        ["parameter", "type", "values", ""],
        ["booster", "Categorical", "'gbtree', 'linear', None", ""],
        ["eta", "Float", "1e-06 to 1.0", "log scale"],
        ["share", "Float", "0.0 to 1.0", "in steps of 0.1"],
        ["width", "Int", "32 to 512", "in steps of 32"],
        ["size", "Categorical", "'S', 'M'", "ordered, when booster = 'linear'"],
        ["depth", "Int", "1 to 10", "when booster = 'gbtree' or 'linear'"],
        ["kind", "Fixed", "'a'", ""],
        ["day", "Int", "1 to 7", "context"],
        ["epochs", "Fidelity", "5, 100", "cost 1.0, 20.0"],
    ]
    assert "<b>Space: 9 parameters, 8 axes</b>" in space._repr_html_()


def test_a_plain_space_has_no_column_for_remarks() -> None:
    assert rows_of(Space(x=Float(0, 1))) == [["parameter", "type", "values"], ["x", "Float", "0.0 to 1.0"]]
    assert "<b>Space: 1 parameter, 1 axis</b>" in Space(x=Float(0, 1))._repr_html_()


def test_names_choices_and_constraints_are_text() -> None:
    evil = "<script>alert(1)</script>"
    space = Space.from_dict({evil: Categorical([evil, "&"]), "x": Float(0, 1, when=None)})

    def small(params: Mapping[str, object]) -> bool:
        return params["x"] != 2

    small.__name__ = evil
    html = space.subject_to(small)._repr_html_()
    assert "<script" not in html
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 3
    assert "subject to &lt;script" in html


def test_very_many_stay_small() -> None:
    choices = Categorical([f"c{i}" for i in range(1000)])
    html = Space(**{f"x{i}": choices for i in range(300)})._repr_html_()
    assert "... and 240 more" in html
    assert "&#x27;c11&#x27;, ... (1000 in all)" in html
    assert len(re.findall("<tr", html)) == 61
    assert len(html) < 60_000
