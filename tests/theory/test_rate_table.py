from __future__ import annotations

from typing import Any

import pytest

from quadrat.errors import InvalidInput
from quadrat.kernels import (
    GammaExponential,
    Kernel,
    Matern,
    OnAxes,
    PiecewisePolynomial,
    RationalQuadratic,
    SquaredExponential,
)
from quadrat.theory import Certainty, rates

KERNELS: list[Kernel] = [
    Matern(0.5),
    Matern(1.0),
    Matern(2.5, [0.1, 0.3]),
    SquaredExponential(),
    RationalQuadratic(0.7),
    GammaExponential(0.6),
    GammaExponential(2.0),
    PiecewisePolynomial(0, 2),
    PiecewisePolynomial(2, 2),
    Matern(0.5) + Matern(1.5),
    Matern(0.5) * Matern(1.5),
    OnAxes(Matern(1.5), [0]),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_kernel_gets_a_table_that_prints(kernel: Kernel) -> None:
    """Columns line up, every missing number has its reason, and everything is explained."""
    table = rates(kernel, 2)
    assert len(table) == len(table.rows) == len(list(table))
    text, explained = table.to_text(), table.explain()
    lines = text.splitlines()
    start = lines[2].index("simple")
    for row, line in zip(table, lines[4:], strict=False):
        assert line.startswith(row.method.title)
        assert line[start:].startswith(str(row.simple))
        assert row.method.cost.split()[0] in explained
        for power in (row.simple, row.cumulative):
            assert (power.exponent is None) == bool(power.reason)
        if row.simple.exponent is None:
            assert "-" in line[start:]
    assert max(map(len, lines[4:])) <= 120
    for word in ("simple:", "cumulative:", "excess:", "status:", *(f"{c.value}:" for c in Certainty)):
        assert word in explained


def test_lookup() -> None:
    table = rates(Matern(1.5), 2)
    assert table["bpe"].method.key == "bpe"
    with pytest.raises(InvalidInput, match="expected one of lower-bound, gp-ucb"):
        table["nothing"]


def test_excess_over_the_lower_bound() -> None:
    table = rates(Matern(1.5), 2)
    assert table.excess(table["lp-gp-ucb-0"]) == pytest.approx(0.05)
    other = rates(RationalQuadratic(1.0), 2)
    assert other.excess(other["bpe"]) is None


def test_vacuous_bounds_are_marked() -> None:
    line = next(line for line in rates(Matern(1.5), 2).to_text().splitlines() if line.startswith("GP-UCB "))
    assert "n^1.167*" in line


def test_squared_exponential_differs_in_logarithms_only() -> None:
    table = rates(SquaredExponential(), 3)
    for row in table:
        assert row.simple_exponent == -0.5
        assert row.cumulative_exponent == 0.5
    assert table["lower-bound"].cumulative.log_power == 0.75
    assert table["igp-ucb"].cumulative.log_power == 4.0
    assert table["gp-ucb"].cumulative.log_power == 5.5
    assert table["lp-gp-ucb-0"].cumulative.log_power == 4.0


def test_gamma_exponential_two_is_a_squared_exponential() -> None:
    assert rates(GammaExponential(2.0), 2).rows == rates(SquaredExponential(), 2).rows


@pytest.mark.parametrize(
    ("kernel", "smooth", "informed"),
    [
        (RationalQuadratic(0.7), 3 / 4, 1 / 2),
        (GammaExponential(0.6), 2.3 / 2.6, 2.3 / 2.6),
        (GammaExponential(1.0), 2.5 / 3, 2.5 / 3),
        (PiecewisePolynomial(0, 2), 2.5 / 3, 2.5 / 3),
        (PiecewisePolynomial(1, 2), 3 / 4, 3 / 4),
        (PiecewisePolynomial(3, 2), 3 / 4, 1 / 2 + 2 / 9),
    ],
    ids=repr,
)
def test_other_kernels_use_the_corrected_holder_exponent(kernel: Kernel, smooth: float, informed: float) -> None:
    """By hand in two dimensions: (alpha + D)/(2 alpha + D), then the smaller of it and 1/2 + the gain's power."""
    table = rates(kernel, 2)
    assert table["lp-gp-ucb-0"].cumulative_exponent == pytest.approx(smooth)
    assert table["lp-gp-ucb-0-vakili"].cumulative_exponent == pytest.approx(informed)
    assert table["lower-bound"].cumulative_exponent is None
    assert "No lower bound" in table["lower-bound"].remark


def test_nu_one_ignores_a_logarithm_and_says_so() -> None:
    table = rates(Matern(1.0), 2)
    assert table["lp-gp-ucb-0"].cumulative_exponent == pytest.approx(0.75)
    assert "not Lipschitz" in table["lp-gp-ucb-0"].note
    assert table["gp-threds"].cumulative_exponent is None


def test_certainties_of_the_rows_with_polynomials() -> None:
    """I_1: sparse budgets. Above D(D+1)/2 a gap, which k = 0 fills; far above, the information-type bound is proved."""
    certainties = [rates(Matern(nu), 2)["lp-gp-ucb-k"].simple.certainty for nu in (0.5, 2.5, 5.0, 19.0)]
    assert certainties == [Certainty.PROVED, Certainty.SPARSE, Certainty.GAP, Certainty.PROVED]
    assert rates(Matern(5.0), 2)["lp-gp-ucb"].simple.certainty is Certainty.PROVED


@pytest.mark.parametrize(
    ("kernel", "dimension", "message"),
    [
        ("matern", 2, "kernel: expected a kernel"),
        (Matern(1.5), 0, "dimension: expected a whole number >= 1"),
        (Matern(1.5), 2.0, "dimension: expected a whole number >= 1"),
        (Matern(1.5), True, "dimension: expected a whole number >= 1"),
        (Matern(1.5, [0.1, 0.2]), 3, "."),
        (PiecewisePolynomial(1, 2), 3, "."),
    ],
    ids=str,
)
def test_bad_input(kernel: Any, dimension: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        rates(kernel, dimension)
