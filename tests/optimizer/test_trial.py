"""Parameters as text: the same in every repr."""

from __future__ import annotations

from quadrat.optimizer.trial import number_text, settings_text


def test_floats_have_six_digits_and_others_their_repr() -> None:
    assert settings_text({"a b": 1e-7 / 3, "n": 12345678, "on": True, "kind": "x"}) == (
        "a b=3.33333e-08, n=12345678, on=True, kind='x'"
    )
    assert settings_text({}) == ""
    assert number_text(-0.0000123456789) == "-1.23457e-05"
