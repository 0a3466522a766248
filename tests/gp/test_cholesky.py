"""The growing factor against refactoring."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quadrat._core.arrays import Array
from quadrat.errors import NumericalFailure
from quadrat.gp import GrowingCholesky, JitterPolicy


def covariance(n: int, seed: int = 0, noise: float = 0.1) -> Array:
    points = np.random.default_rng(seed).random((n, 3))
    distance = np.linalg.norm(points[:, None] - points[None], axis=-1)
    return np.asarray(np.exp(-distance)) + noise * np.eye(n)


def grow(A: Array, sizes: list[int]) -> GrowingCholesky:
    chol, n = GrowingCholesky(), 0
    for k in sizes:
        chol.append(A[:n, n : n + k], A[n : n + k, n : n + k])
        n += k
    return chol


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.integers(0, 1000))
def test_any_sequence_of_appends_equals_refactoring(sizes: list[int], seed: int) -> None:
    n = sum(sizes)
    A = covariance(n, seed)
    chol = grow(A, sizes)
    assert chol.size == n
    if n:
        np.testing.assert_allclose(chol.factor, np.linalg.cholesky(A).T, atol=1e-13)
        b = np.random.default_rng(seed).normal(size=(n, 3))
        np.testing.assert_allclose(chol.solve(b), np.linalg.solve(A, b), atol=1e-10)
        np.testing.assert_allclose(chol.factor.T @ chol.half_solve(b), b, atol=1e-12)
        assert chol.logdet() == pytest.approx(np.linalg.slogdet(A)[1], abs=1e-10)


@pytest.mark.parametrize("sizes", [[600], [1] * 300 + [300], [255, 1, 1, 255, 88], [256, 256, 88]], ids=str)
def test_growth_across_panels(sizes: list[int]) -> None:
    A = covariance(600)
    chol = grow(A, sizes)
    np.testing.assert_allclose(chol.factor, np.linalg.cholesky(A).T, atol=1e-12)
    b = np.random.default_rng(0).normal(size=(600, 2))
    np.testing.assert_allclose(chol.solve(b), np.linalg.solve(A, b), atol=1e-9)
    assert chol.logdet() == pytest.approx(np.linalg.slogdet(A)[1], abs=1e-9)
    for old in (0, 1, 255, 256, 300, 599, 600):
        extended = chol.extend_half_solve(chol.half_solve(b[:, 0])[:old], b[old:, 0])
        np.testing.assert_allclose(extended, chol.half_solve(b[:, 0]), atol=1e-11)
    chol.truncate(300)
    np.testing.assert_allclose(chol.factor, np.linalg.cholesky(A[:300, :300]).T, atol=1e-12)


@pytest.mark.parametrize("n", [1000, 2000])
def test_storage_is_about_half_of_a_square(n: int) -> None:
    chol = GrowingCholesky()
    chol.append(np.zeros((0, n)), np.eye(n))
    assert chol.nbytes <= 0.8 * 8 * n**2


def test_truncating_restores_every_bit() -> None:
    A = covariance(40)
    chol = grow(A[:30, :30], [30])
    before = chol.factor.copy()
    chol.append(A[:30, 30:], A[30:, 30:])
    chol.truncate(30)
    np.testing.assert_array_equal(chol.factor, before)


@pytest.mark.parametrize(("n", "index"), [(20, 0), (20, 7), (20, 19), (600, 3), (600, 255), (600, 256), (600, 599)])
@pytest.mark.parametrize("change", [-0.09, 0.5, 30.0])
def test_changing_a_diagonal_entry_equals_refactoring(n: int, index: int, change: float) -> None:
    A = covariance(n)
    chol = grow(A, [n])
    assert chol.change_diagonal(index, change)
    A[index, index] += change
    np.testing.assert_allclose(chol.factor, np.linalg.cholesky(A).T, atol=1e-12)


def test_an_unstable_change_is_declined_and_leaves_the_factor_alone() -> None:
    A = covariance(20)
    chol = grow(A, [20])
    before = chol.factor.copy()
    assert not chol.change_diagonal(3, -1.0)
    np.testing.assert_array_equal(chol.factor, before)


def test_jitter_acts_only_on_lost_pivots_and_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    A = np.ones((3, 3))
    A[2, :2] = A[:2, 2] = 0.5
    with caplog.at_level(logging.WARNING):
        chol = grow(A, [3])
    np.testing.assert_allclose(chol.jitter, [0.0, 1e-10, 0.0], atol=1e-13)
    assert "observation 1" in caplog.text
    np.testing.assert_allclose(chol.factor.T @ chol.factor, A + np.diag(chol.jitter), atol=1e-15)
    chol.truncate(1)
    assert (chol.jitter == 0).all()
    regular = grow(covariance(10), [10])
    assert (regular.jitter == 0).all()


def test_without_jitter_a_singular_matrix_raises_and_says_why() -> None:
    chol = GrowingCholesky(JitterPolicy(relative=0.0))
    with pytest.raises(NumericalFailure, match=r"singular.*jitter is switched off.*noise variance"):
        chol.append(np.zeros((0, 2)), np.ones((2, 2)))


def test_empty_factor() -> None:
    chol = GrowingCholesky()
    assert chol.logdet() == 0.0
    assert chol.half_solve(np.zeros((0, 4))).shape == (0, 4)


@pytest.mark.parametrize("diagonal", [1e-4, 1.0, 1e4])
def test_what_counts_as_lost_is_a_share_of_the_diagonal(diagonal: float) -> None:
    """A pivot is nothing but rounding below 4 eps max(n, 8) of its diagonal entry, whatever the units."""
    strict, edge = JitterPolicy(relative=0.0), 32 * np.finfo(np.float64).eps * diagonal
    assert strict.shortfall(1.01 * edge, diagonal, 3) == 0.0
    with pytest.raises(NumericalFailure, match="singular"):
        strict.shortfall(0.99 * edge, diagonal, 3)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_jitter_in_a_block_has_the_units_of_the_matrix(scale: float) -> None:
    """A pivot of 1e-12 of its diagonal entry is lifted to 1e-10 of it, in a block as alone; one of 1e-8 is not."""
    for pivot, lifted in ((1e-12, 1e-10), (1e-8, 1e-8)):
        A = scale * np.array([[1.0, 1.0], [1.0, 1.0 + pivot]])
        for sizes in ([2], [1, 1]):
            chol = grow(A, sizes)
            assert chol.factor[1, 1] ** 2 == pytest.approx(scale * lifted, rel=1e-3)
            assert chol.jitter[1] == pytest.approx(scale * (lifted - pivot), rel=1e-3, abs=0.0)
