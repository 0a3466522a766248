"""The look of figures, and text that stays text."""

from __future__ import annotations

from typing import Any

import pytest

from quadrat.errors import NotAvailable
from quadrat.optimizer import TrialRecord
from quadrat.plots.run_view import params_text, trial_text
from quadrat.plots.style import PALETTE, finish, graph_objects, log_axis, plain, tinted


def test_plain_text_has_no_tags_formulas_or_lines() -> None:
    assert plain("a < b & <b>c</b>\n$x$") == "a &lt; b &amp; &lt;b&gt;c&lt;/b&gt; &#36;x&#36;"
    assert plain("x" * 100, 10) == "x" * 9 + "…"
    assert plain("<" * 100, 3) == "&lt;&lt;…", "cut before it is escaped: no half entities"


def test_hovers_name_parameters_and_failures() -> None:
    record = TrialRecord(7, {"a<b>": 0.123456789, "kind": "<i>"}, "", "complete", (1.0, 2.0), 0.25, None, {"c": 1.0})
    text = trial_text(record)
    assert text.startswith("<b>trial 7: 1.5</b> ± 0.25 (mean of 2)<br>constraint violated: c<br>")
    assert "a&lt;b&gt; = 0.123457<br>kind = &lt;i&gt;" in text
    failed = trial_text(TrialRecord(8, {"x": 1}, "", "failed", failure="<oom>"))
    assert failed == "<b>trial 8: failed</b><br>&lt;oom&gt;<br>x = 1"
    assert params_text({f"p{i}": i for i in range(30)}, 4).endswith("p3 = 3<br>and 26 more")


def test_finish_gives_one_look() -> None:
    figure = finish(graph_objects().Figure(), "Title", "word " * 60, height=500)
    assert figure.layout.title.text.startswith("<b>Title</b><br>")
    assert figure.layout.title.text.count("<br>") == 3, "wrapped"
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.colorway == PALETTE
    assert tinted("#0072B2", 0.5) == "rgba(0, 114, 178, 0.5)"


def test_log_axes_label_what_they_hold() -> None:
    assert log_axis([1.0, 3.0])["dtick"] == "D1"
    assert log_axis([1.0, 100.0])["dtick"] == "D2"
    assert log_axis([1e-6, 1.0])["dtick"] == 1
    assert log_axis([1e-12, 1.0])["dtick"] == 2


def test_without_plotly_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, *arguments: Any) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("quadrat.plots.style.import_module", refuse)
    with pytest.raises(NotAvailable, match=r"pip install 'quadrat\[plots\]'"):
        graph_objects()
