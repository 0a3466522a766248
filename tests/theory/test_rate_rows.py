from __future__ import annotations

import pytest

from quadrat.errors import InvalidInput
from quadrat.kernels import SquaredExponential
from quadrat.theory import CATALOGUE, Bound, Certainty, Power, Rate, rates


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


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_no_rate_for_squared_exponentials_beats_the_lower_bound_by_a_logarithm(dimension: int) -> None:
    """Of rows whose powers of log n are tracked; an upper bound of n^.5 alone is below n^.5 (log n)^(D/4)."""
    table = rates(SquaredExponential(), dimension)
    lower = table["lower-bound"].cumulative.log_power
    assert lower is not None
    for key in ("gp-ucb", "igp-ucb", "lp-gp-ucb-0", "rips", "gp-threds", "bpe"):
        power = table[key].cumulative
        assert (power.exponent, power.log_power is not None) == (0.5, True)
        assert power.log_power is not None
        assert power.log_power > lower
    for key in ("rips", "gp-threds", "bpe"):
        assert table[key].cumulative.log_power == (dimension + 1) / 2
