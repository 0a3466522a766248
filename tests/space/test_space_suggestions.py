from __future__ import annotations

from quadrat.errors import did_you_mean


def test_near_words_only() -> None:
    assert did_you_mean("chioces", ["choices", "when"]) == " (did you mean 'choices'?)"
    assert did_you_mean(3, ["choices", "when"]) == ""
