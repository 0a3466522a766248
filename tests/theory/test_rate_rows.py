from __future__ import annotations

import pytest

from quadrat.errors import InvalidInput
from quadrat.theory import CATALOGUE, Bound, Certainty, Power, Rate


def test_power_is_a_number_or_a_reason() -> None:
    assert Power(0.5).certainty is Certainty.PROVED
    assert Power.unknown("nobody knows").exponent is None
    with pytest.raises(InvalidInput, match="with certainty UNKNOWN and a reason"):
        Power(None)
    with pytest.raises(InvalidInput, match="reason"):
        Power(None, Certainty.UNKNOWN)
    with pytest.raises(InvalidInput, match=r"got 0\.5"):
        Power(0.5, Certainty.PROVED, reason="why?")


def test_rate_reads_its_exponents() -> None:
    method = CATALOGUE[1]
    row = Rate(method, Power(0.1), Power(1.1), "nu > 1")
    assert row.vacuous
    assert row.sublinear is False
    assert Rate(method, Power(-0.5), Power(0.5), "").sublinear
    missing = Rate(method, Power.unknown("a"), Power.unknown("a"), "", "b")
    assert missing.sublinear is None
    assert not missing.vacuous
    assert missing.remark == "a b"


def test_catalogue_has_unique_keys_and_says_everything() -> None:
    assert len({method.key for method in CATALOGUE}) == len(CATALOGUE)
    for method in CATALOGUE:
        assert all((method.key, method.title, method.source, method.idea, method.cost))
    assert [method.key for method in CATALOGUE if method.bound is Bound.LOWER] == ["lower-bound"]


def test_certainties_are_ordered_and_explained() -> None:
    assert [certainty.rank for certainty in Certainty] == list(range(len(Certainty)))
    assert all(certainty.meaning.endswith(".") for certainty in Certainty)
