"""Errata on the rates: the figures that the page quotes; test_rates.py checks each claim for all nu and D."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from quadrat.kernels import Matern
from quadrat.theory import (
    MaternRange,
    hierarchical_gain_power,
    information_type,
    matern_lower_bound,
    matern_range,
    partitioned_gp_ucb,
    rates,
    srinivas_gain_power,
    theorem_exponents,
)

Documented = Callable[[str, str], None]


def test_figures_of_the_second_smoothness_case(documented: Documented) -> None:
    """nu = 5, D = 2: stated n^.75; what the proof gives for every n is n^.875."""
    result = theorem_exponents(4, 1.0, 2, srinivas_gain_power(5.0, 2))
    documented("E47", f"{result.smoothness.cumulative:.3f}")
    documented("E47", f"{result.proved.cumulative:.3f}")


def test_figures_of_the_special_budgets(documented: Documented) -> None:
    """nu = 2.5, D = 2: stated simple regret, and the one that holds for every n; the spacing of the good budgets.

    The accounting of the proof: budgets n_l = r_l^-(2 nu + D) with r_(l+1) = r_l^nu: n_(l+1) = n_l^nu.
    """
    result = theorem_exponents(2, 0.5, 2, srinivas_gain_power(2.5, 2))
    assert result.every_budget.simple == pytest.approx(-1 / 7)
    documented("E48", f"{result.smoothness.simple:.3f}")
    documented("E48", f"{result.every_budget.simple:.3f}")
    documented("E48", f"{1000**2.5:.1e}")


def test_figures_of_the_condition_on_the_gain(documented: Documented) -> None:
    """nu = 2.5, D = 2: the bound behind rho_0 is n^.545, at least sqrt n; gamma_n itself is at most n^.286."""
    used, known = srinivas_gain_power(2.5, 2), Matern(2.5).information_gain_rate(2).power
    assert used >= 0.5 > known
    documented("E49", f"{used:.3f}")
    documented("E49", f"{known:.3f}")


def test_figures_of_the_signs(documented: Documented) -> None:
    """nu = 2.5, D = 2: as printed simple regret would vanish like n^-.045; the bound is n^+.045 and says nothing."""
    meant = information_type(srinivas_gain_power(2.5, 2)).simple
    assert meant > 0
    documented("E50", f"{-meant:.3f}")
    b_nu = rates(Matern(2.5), 2)["lp-gp-ucb-k"].cumulative_exponent
    assert b_nu is not None
    lower = matern_lower_bound(2.5, 2).cumulative
    assert -b_nu < 0 < lower
    documented("E50", f"{-b_nu:.3f}")
    documented("E50", f"{lower:.3f}")


def test_figures_of_the_threshold(documented: Documented) -> None:
    """D = 2, nu = 4 is at most D(D+1) = 6, yet the bound on gamma_n is n^.43; at D(D+1)/2 = 3 it is sqrt n."""
    assert srinivas_gain_power(3.0, 2) == pytest.approx(0.5)
    documented("E51", f"{srinivas_gain_power(4.0, 2):.2f}")


def test_figures_of_the_hierarchical_gain(documented: Documented) -> None:
    """c_nu with its bracket closed, nu = 2.5, D = 2; and r^-2 evaluations of a cell of side .1, not r^2."""
    assert hierarchical_gain_power(2.5, 2) == pytest.approx(2 * 5 / (4 * 2.5 + 2 * 7))
    documented("E52", f"{hierarchical_gain_power(2.5, 2):.3f}")
    documented("E52", f"{0.1**2:.2f}")
    documented("E52", f"{0.1**-2:.0f} evaluations")


def test_figures_against_the_partitioned_gp(documented: Documented) -> None:
    """nu = 2.5, D = 2, above (D+2)/2: e_nu is the smaller exponent, and always below 1/2 + c_nu."""
    best = rates(Matern(2.5), 2)["lp-gp-ucb"].cumulative_exponent
    assert best is not None
    janz = partitioned_gp_ucb(2.5, 2).cumulative
    other = 0.5 + hierarchical_gain_power(2.5, 2)
    assert janz < best < other
    documented("E53", f"{best:.3f}")
    documented("E53", f"{janz:.3f}")
    documented("E53", f"{other:.3f}")


def test_figures_of_the_first_range(documented: Documented) -> None:
    """D = 6, nu = 21, the end of I_1: the summary states (D+1)/(D+2); its own other bound is smaller."""
    assert matern_range(21.0, 6) is MaternRange.I1
    documented("E54", f"{0.5 + hierarchical_gain_power(21.0, 6):.3f}")
    documented("E54", f"{7 / 8:.3f}")


def test_figures_of_the_second_range(documented: Documented) -> None:
    """D = 3, nu just above 6: the summary states n^-.2; running with nu' = 6 gives n^-.4."""
    assert matern_range(6.1, 3) is MaternRange.I2
    rough = rates(Matern(6.0), 3)["lp-gp-ucb"].simple_exponent
    assert rough is not None
    documented("E55", f"{rough:.1f}")
    documented("E55", f"{-1 / 5:.1f}")


def test_figures_of_the_gain_along_the_run(documented: Documented) -> None:
    """nu = 2.5, D = 2: along the run n^.417; at most, by the paper's source n^.545, by the newer one n^.286."""
    along, quoted = hierarchical_gain_power(2.5, 2), srinivas_gain_power(2.5, 2)
    newer = Matern(2.5).information_gain_rate(2).power
    assert newer < along < quoted
    for power in (along, quoted, newer):
        documented("E56", f"{power:.3f}")
    for nu in (1.01, 1.5, 2.5, 4.0, 10.0, 100.0):
        for dimension in range(1, 12):
            assert Matern(nu).information_gain_rate(dimension).power < hierarchical_gain_power(nu, dimension)
