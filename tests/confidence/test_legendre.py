from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest

from quadrat.confidence import LegendreBasis
from quadrat.errors import InvalidInput
from quadrat.partition import Cell


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_orthonormal_on_the_cell(degree: int, dimension: int) -> None:
    """Exactly, by Gauss quadrature of sufficient order."""
    lower = np.linspace(0.1, 0.3, dimension)
    basis = LegendreBasis(Cell(lower, lower + 0.25), degree)
    nodes, weights = np.polynomial.legendre.leggauss(6)
    grid = np.array(list(product(nodes, repeat=dimension)))
    mass = np.array([np.prod(w) for w in product(weights / 2, repeat=dimension)])
    phi = basis(lower + 0.25 * (grid + 1) / 2)
    np.testing.assert_allclose(phi.T @ (mass[:, None] * phi), np.eye(len(basis)), atol=1e-12)
    assert len(basis) == comb(dimension + degree, degree) == basis.exponents.shape[0]


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_its_span_is_all_polynomials(degree: int) -> None:
    rng = np.random.default_rng(degree)
    X = rng.uniform(0.2, 0.6, (40, 2))
    basis = LegendreBasis(Cell([0.2, 0.2], [0.6, 0.6]), degree)
    monomials = np.stack([X[:, 0] ** i * X[:, 1] ** j for i in range(4) for j in range(4) if i + j <= degree], 1)
    residual = monomials - basis(X) @ np.linalg.lstsq(basis(X), monomials, rcond=None)[0]
    assert np.abs(residual).max() < 1e-10


def test_high_dimensions_are_cheap_or_refused() -> None:
    assert len(LegendreBasis(Cell.unit(50), 2).exponents) == comb(52, 2)
    with pytest.raises(InvalidInput, match="too many polynomials"):
        _ = LegendreBasis(Cell.unit(100), 3).exponents
    with pytest.raises(InvalidInput, match="degree: expected an integer >= 0"):
        LegendreBasis(Cell.unit(1), -1)
