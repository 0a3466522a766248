"""The way in: all known rates for a kernel in a given dimension."""

from __future__ import annotations

from quadrat.errors import InvalidInput
from quadrat.kernels import GammaExponential, Kernel, Matern, SquaredExponential
from quadrat.theory.kernel_rates import general_rates, squared_exponential_rates
from quadrat.theory.matern_rates import matern_rates
from quadrat.theory.rate import Rate
from quadrat.theory.table import RateTable
from quadrat.theory.whole import as_whole

__all__ = ["rates"]


def rates(kernel: Kernel, dimension: int) -> RateTable:
    """Return how fast the regret of each method is known to shrink or grow with the budget n.

    Only the family of the kernel, its shape (nu, a, q) and the dimension matter: length-scales and amplitude change
    constants, never exponents.

    Parameters
    ----------
    kernel
        Any kernel of `quadrat.kernels`. Sums and products get the rows that their parts allow.
    dimension
        D >= 1, the dimension of the cube.

    Returns
    -------
    RateTable
        One row for each method of `CATALOGUE`.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> table = rates(Matern(1.5), 2)
    >>> [round(table[key].cumulative_exponent, 3) for key in ("lp-gp-ucb", "pi-gp-ucb", "lower-bound")]
    [0.75, 0.773, 0.7]
    >>> table["gp-ucb"].vacuous
    True
    """
    if not isinstance(kernel, Kernel):
        raise InvalidInput(f"kernel: expected a kernel of quadrat.kernels, such as Matern(2.5), got {kernel!r}")
    dimension = as_whole(dimension, name="dimension", at_least=1)
    kernel.check_dimension(dimension)
    return RateTable(kernel, dimension, _rows(kernel, dimension))


def _rows(kernel: Kernel, dimension: int) -> tuple[Rate, ...]:
    match kernel:
        case Matern(nu=nu):
            return matern_rates(nu, dimension)
        case SquaredExponential() | GammaExponential(a=2.0):
            return squared_exponential_rates(kernel, dimension)
        case _:
            return general_rates(kernel, dimension)
