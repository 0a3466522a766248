"""Section 3 (theorem, propositions, summary of improvements) and related work: the exponents, as corrected."""

from __future__ import annotations

from itertools import pairwise
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quadrat.kernels import GammaExponential, Matern
from quadrat.theory import (
    Certainty,
    MaternRange,
    adapted_regularisation,
    crossover,
    hierarchical_gain_power,
    information_type,
    matern_lower_bound,
    matern_range,
    matern_ranges,
    order_optimal,
    partitioned_gp_ucb,
    rates,
    srinivas_gain_power,
    theorem_exponents,
)

NU = st.floats(0.01, 20.0)
SMOOTH = st.floats(1.0, 20.0, exclude_min=True)
D = st.integers(1, 10)
CLOSE = 1e-9  # exponents are ratios of small numbers: rounding only


@pytest.mark.parametrize(
    ("nu", "dimension", "paper", "janz", "lower"),
    [
        (1.5, 1, 0.667, 0.667, 0.625),
        (1.5, 2, 0.750, 0.773, 0.700),
        (1.5, 3, 0.800, 0.833, 0.750),
        (2.5, 1, 0.667, 0.625, 0.583),
        (2.5, 2, 0.750, 0.731, 0.643),
        (2.5, 3, 0.800, 0.800, 0.688),
        (0.5, 1, 0.750, None, 0.750),
        (0.5, 2, 0.833, None, 0.833),
        (0.5, 3, 0.875, None, 0.875),
    ],
)
def test_cumulative_exponents_worked_out_by_hand(
    nu: float, dimension: int, paper: float, janz: float | None, lower: float
) -> None:
    """To the three digits written, half a unit in the last place."""
    table = rates(Matern(nu), dimension)
    assert table["lp-gp-ucb"].cumulative_exponent == pytest.approx(paper, abs=5e-4)
    assert table["lower-bound"].cumulative_exponent == pytest.approx(lower, abs=5.1e-4)
    found = table["pi-gp-ucb"].cumulative_exponent
    assert found is None if janz is None else found == pytest.approx(janz, abs=5e-4)


@given(NU, D)
def test_no_upper_bound_beats_the_lower_bound(nu: float, dimension: int) -> None:
    """Every row, both regrets, nu in (0, 20], D up to 10."""
    table = rates(Matern(nu), dimension)
    lower = matern_lower_bound(nu, dimension)
    for row in table.rows[1:]:  # the first is the lower bound itself
        if row.simple_exponent is not None:
            assert row.simple_exponent >= lower.simple - CLOSE, row.method.key
        if row.cumulative_exponent is not None:
            assert row.cumulative_exponent >= lower.cumulative - CLOSE, row.method.key


@given(st.floats(0.01, 0.49), D)
def test_the_condition_nu_above_one_matters_for_janz(nu: float, dimension: int) -> None:
    """Below nu = 1/2 the formula e_nu would beat the lower bound, so it cannot hold there."""
    formula = (dimension * (2 * dimension + 3) + 2 * nu) / (dimension * (2 * dimension + 4) + 4 * nu)
    assert formula < matern_lower_bound(nu, dimension).cumulative


@given(SMOOTH, D)
def test_janz_is_better_exactly_above_half_of_d_plus_two(nu: float, dimension: int) -> None:
    """Summary, item (ii), claims an improvement on e_nu for all nu > 1; it holds for nu < (D+2)/2 only."""
    janz = partitioned_gp_ucb(nu, dimension).cumulative
    lipschitz = (dimension + 1) / (dimension + 2)
    if abs(nu - (dimension + 2) / 2) > 1e-6:
        assert (janz < lipschitz) == (nu > (dimension + 2) / 2)
    assert janz < 0.5 + hierarchical_gain_power(nu, dimension)  # the other k = 0 bound never helps against it
    best = rates(Matern(nu), dimension)["lp-gp-ucb"].cumulative_exponent
    assert best is not None
    if nu > (dimension + 2) / 2 + 1e-6:
        assert janz < best


@given(NU, D)
def test_ranges_tile_the_half_line(nu: float, dimension: int) -> None:
    bounds = [pair for pair in matern_ranges(dimension).values() if pair[0] < pair[1]]
    assert bounds[0][0] == 0.0
    assert bounds[-1][1] == float("inf")
    assert all(left[1] == right[0] for left, right in pairwise(bounds))
    low, high = matern_ranges(dimension)[matern_range(nu, dimension)]
    assert low < nu <= high


@given(NU, D)
def test_on_each_range_the_stated_exponents_are_the_smallest_of_the_propositions(nu: float, dimension: int) -> None:
    """Summary of improvements, both regrets, with I_1 corrected above (D^2+5D+12)/4 for the cumulative one."""
    best = rates(Matern(nu), dimension)["lp-gp-ucb"]
    inside = matern_range(nu, dimension)
    lower, lipschitz = matern_lower_bound(nu, dimension), 1 / (dimension + 2)
    if inside is MaternRange.I0:
        simple, cumulative = lower
    elif inside is MaternRange.I3:
        simple, cumulative = information_type(hierarchical_gain_power(nu, dimension))
    else:
        simple = lower.simple if inside is MaternRange.I1 else -lipschitz
        cumulative = 1 - lipschitz
        if nu > crossover(dimension):
            cumulative = 0.5 + hierarchical_gain_power(nu, dimension)
    assert best.simple_exponent == pytest.approx(simple, abs=CLOSE)
    assert best.cumulative_exponent == pytest.approx(cumulative, abs=CLOSE)


def test_i2_is_not_empty_exactly_up_to_five_dimensions() -> None:
    found = [d for d in range(1, 50) if matern_ranges(d)[MaternRange.I2][0] < matern_ranges(d)[MaternRange.I2][1]]
    assert found == [1, 2, 3, 4, 5]


def test_the_summary_is_not_the_best_of_the_propositions_in_six_dimensions() -> None:
    """At nu = 21, D = 6, in I_1, where the summary states n^(7/8); the proposition for k = 0 gives n^0.86."""
    assert matern_range(21.0, 6) is MaternRange.I1
    assert rates(Matern(21.0), 6)["lp-gp-ucb"].cumulative_exponent == pytest.approx(0.86)
    assert (6 + 1) / (6 + 2) == 0.875


@given(SMOOTH, D)
def test_crossover_of_the_two_bounds_for_k_zero(nu: float, dimension: int) -> None:
    if abs(nu - crossover(dimension)) > 1e-6:
        better = hierarchical_gain_power(nu, dimension) + 0.5 < (dimension + 1) / (dimension + 2)
        assert better == (nu > crossover(dimension))


@given(SMOOTH, D)
def test_printed_signs_of_the_proposition_with_polynomials_are_typos(nu: float, dimension: int) -> None:
    """As printed, simple regret n^(1/2 - p) and cumulative regret n^(-b_nu): the second would beat the lower bound.

    The meant threshold is nu <= D(D+1)/2: there, and only there, the bound on gamma_n is at least sqrt(n).
    """
    power = srinivas_gain_power(nu, dimension)
    if abs(nu - dimension * (dimension + 1) / 2) > 1e-6:
        assert (power >= 0.5) == (nu <= dimension * (dimension + 1) / 2)
    row = rates(Matern(nu), dimension)["lp-gp-ucb-k"]
    assert row.cumulative_exponent is not None
    assert -row.cumulative_exponent < matern_lower_bound(nu, dimension).cumulative
    assert row.simple_exponent is not None
    assert row.simple_exponent <= power - 0.5 + CLOSE


@given(NU, D)
def test_adapted_regularisation_is_the_published_matern_exponent(nu: float, dimension: int) -> None:
    """(nu + 2D)/(2nu + 2D), sublinear for all nu, between the order-optimal exponent and that of GP-UCB."""
    power = Matern(nu).information_gain_rate(dimension).power
    found = adapted_regularisation(power).cumulative
    assert found == pytest.approx((nu + 2 * dimension) / (2 * nu + 2 * dimension), abs=CLOSE)
    assert order_optimal(power).cumulative < found < min(1.0, information_type(power).cumulative)


@given(NU, D)
def test_order_optimal_methods_meet_the_lower_bound(nu: float, dimension: int) -> None:
    found = order_optimal(Matern(nu).information_gain_rate(dimension).power)
    assert found == pytest.approx(tuple(matern_lower_bound(nu, dimension)), abs=CLOSE)


@given(NU, NU, D)
def test_smoother_is_easier(first: float, second: float, dimension: int) -> None:
    """Cumulative exponents fall with nu. The row with polynomials does not: its bound rises with nu on I_1."""
    low, high = sorted((first, second))
    rough, smooth = rates(Matern(low), dimension), rates(Matern(high), dimension)
    for row in rough:
        other = smooth[row.method.key]
        if row.method.key != "lp-gp-ucb-k" and row.cumulative_exponent is not None:
            assert other.cumulative_exponent is not None
            assert other.cumulative_exponent <= row.cumulative_exponent + CLOSE, row.method.key


def test_polynomials_make_the_cumulative_bound_worse_as_nu_grows() -> None:
    """b_nu = 1 - 1/(2nu + D) on I_1, in 3 dimensions: .833 at nu = 1.5, .917 at nu = 4.5; k = 0 has .8 for both."""
    found = [rates(Matern(nu), 3)["lp-gp-ucb-k"].cumulative_exponent for nu in (1.5, 4.5)]
    assert found == pytest.approx([5 / 6, 11 / 12])


@given(NU, st.integers(1, 9))
def test_more_dimensions_are_harder(nu: float, dimension: int) -> None:
    few, more = rates(Matern(nu), dimension), rates(Matern(nu), dimension + 1)
    for key in (
        "lower-bound",
        "gp-ucb",
        "gp-ucb-vakili",
        "gp-ucb-adapted",
        "pi-gp-ucb",
        "lp-gp-ucb-0",
        "lp-gp-ucb",
        "bpe",
    ):
        one, two = few[key].cumulative_exponent, more[key].cumulative_exponent
        if one is not None:
            assert two is not None
            assert two >= one - CLOSE, key


@pytest.mark.parametrize(("nu", "dimension"), [(1.5, 2), (2.5, 2), (4.5, 3), (5.5, 3)])
def test_simple_regret_with_polynomials_needs_special_budgets(nu: float, dimension: int) -> None:
    """Remark on "n large enough": cells go from side r to r^nu, so the budgets are as sparse as r^-(2nu + D).

    The proof's accounting, followed level by level: level l costs r_l^-(2nu+D) evaluations, each of regret r_l, and
    leaves a simple regret of r_l^nu. At the end of a level the stated exponent is reached; just before the end of
    the next one only -1/(2nu+D) is. The cumulative exponent 1 - 1/(2nu+D) is an upper bound for both.
    """
    degree = int(nu)
    result = theorem_exponents(degree, nu - degree, dimension, srinivas_gain_power(nu, dimension))
    assert result.simple_certainty is Certainty.SPARSE
    rate = 2 * nu + dimension
    side = 1e-3
    cost_log = -rate * log(side)
    assert nu * log(side) / cost_log == pytest.approx(result.smoothness.simple)
    later_log = nu * cost_log  # the budget that ends the next level, of side r^nu
    assert nu * log(side) / later_log == pytest.approx(result.every_budget.simple)
    for budget_log in (cost_log, (cost_log + later_log) / 2, later_log):
        finished = (cost_log + log(side)) / budget_log
        unfinished = 1 + nu * log(side) / budget_log if budget_log > cost_log else 0.0
        assert max(finished, unfinished) <= result.smoothness.cumulative + CLOSE


@given(st.floats(1.01, 20.0), st.integers(1, 6))
def test_second_smoothness_case_is_unproved_exactly_where_it_would_help(nu: float, dimension: int) -> None:
    """Theorem, gamma_n = o(sqrt n), k >= 1: the proof needs half of the evaluations in cells of side >= rho_0.

    Those cells take at most rho_0^-(D+2) evaluations, rho_0 = gamma_n/sqrt(n): fewer than n just when the stated
    n^((D+1)/(D+2)) is smaller than sqrt(n) gamma_n. k = 0 has the same bound with a proof.
    """
    power = srinivas_gain_power(nu, dimension)
    degree = -int(-nu // 1) - 1  # ceil(nu) - 1
    if power >= 0.5 or degree == 0:
        return
    result = theorem_exponents(degree, nu - degree, dimension, power)
    large_cells = (0.5 - power) * (dimension + 2)
    if abs(large_cells - 1) > 1e-9:
        assert (result.cumulative_certainty is Certainty.GAP) == (large_cells < 1)
    flat = theorem_exponents(0, 1.0, dimension, power)
    assert flat.cumulative_certainty is Certainty.PROVED
    assert flat.best == pytest.approx(tuple(result.best), abs=CLOSE)


def test_second_smoothness_case_by_numbers() -> None:
    """With nu = 5, D = 2: rho_0 = n^-.125; larger cells take n^.5 evaluations; one cell of that side, n^1.25 to split.

    So nearly all n evaluations fall in cells of side rho_0 with regret n^-.125: n^.875, not the stated n^.75.
    """
    power = srinivas_gain_power(5.0, 2)
    rho = power - 0.5
    assert rho == pytest.approx(-0.125)
    assert -rho * (2 + 2) == pytest.approx(0.5)
    assert -rho * 2 * 5 == pytest.approx(1.25)
    result = theorem_exponents(4, 1.0, 2, power)
    assert result.smoothness.cumulative == pytest.approx(0.75)
    assert result.proved.cumulative == pytest.approx(0.875)


@given(st.floats(0.05, 0.95), D)
def test_holder_exponent_one_half_is_false_for_rough_gamma_exponentials(a: float, dimension: int) -> None:
    """With the paper's alpha = 1/2 the regret for GE(a < 1) would beat the lower bound of a space of equal norm.

    The spectral density of GE(a) lies between multiples of the Matérn one with nu = a/2, so both spaces have the
    same functions and, up to constants, the same lower bound. With alpha = a/2 the rates agree.
    """
    lower = matern_lower_bound(a / 2, dimension)
    printed = theorem_exponents(0, 0.5, dimension).best
    corrected = rates(GammaExponential(a), dimension)["lp-gp-ucb-0"]
    assert printed.cumulative < lower.cumulative
    assert corrected.cumulative_exponent == pytest.approx(lower.cumulative, abs=CLOSE)
    assert corrected.simple_exponent == pytest.approx(lower.simple, abs=CLOSE)


def test_running_with_a_rougher_kernel_beats_the_summary_on_i2() -> None:
    """A smoother ball lies in a multiple of a rougher one, so nu' = D(D+1)/2 may be used for any nu above it.

    That gives a simple regret of n^(-(D+1)/(2D+4)); the summary states n^(-1/(D+2)) on I_2: worse for D = 2, ..., 5.
    """
    for dimension in range(2, 6):
        border = dimension * (dimension + 1) / 2
        rough = rates(Matern(border), dimension)["lp-gp-ucb"].simple_exponent
        assert rough is not None
        assert rough == pytest.approx(-(dimension + 1) / (2 * dimension + 4))
        stated = rates(Matern(border + 0.1), dimension)["lp-gp-ucb"].simple_exponent
        assert stated == pytest.approx(-1 / (dimension + 2))
        assert rough < -1 / (dimension + 2)
