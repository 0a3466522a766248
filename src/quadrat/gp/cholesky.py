"""A Cholesky factor that grows: the small solver behind every Gaussian process.

A = U^T U with U upper triangular, stored column by column in a buffer with some room to spare. A new observation
is a new column: one triangular solve, O(n^2), and nothing is copied. Old columns never change when new ones come,
so dropping the last ones (`truncate`) undoes an append bit for bit.

[GGMS74]: Gill, Golub, Murray, Saunders, Methods for modifying matrix factorizations, 1974.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from quadrat.arrays import Array
from quadrat.errors import NumericalFailure

__all__ = ["GrowingCholesky", "JitterPolicy"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class JitterPolicy:
    """The one rule for matrices that are singular to working precision.

    A pivot below `relative` times its diagonal entry is lifted to that floor, which is the same as observing that
    point with a little more noise. It is recorded for each observation and logged. With `relative` = 0 (certified
    use) nothing is ever added, and a pivot that is not positive raises `NumericalFailure`.
    """

    relative: float = 1e-10

    def shortfall(self, pivot: float, diagonal: float) -> float:
        """Return what has to be added to a pivot, usually 0."""
        if self.relative == 0.0:
            if not pivot > 0.0:
                raise NumericalFailure(
                    f"the covariance matrix is singular to working precision (pivot {pivot:.3g} of {diagonal:.3g}) and"
                    " jitter is switched off: expected a positive noise variance, or no repeated points"
                )
            return 0.0
        return max(self.relative * diagonal - pivot, 0.0)


class GrowingCholesky:
    """The factor U of a symmetric positive-definite matrix A = U^T U that gains rows and columns at its end.

    Parameters
    ----------
    policy
        What to do about pivots that rounding has destroyed.
    """

    def __init__(self, policy: JitterPolicy | None = None) -> None:
        self.policy = JitterPolicy() if policy is None else policy
        self.size = 0
        self._buffer: Array = np.zeros((0, 0), order="F")
        self._jitter: list[tuple[int, float]] = []

    # --- reading

    @property
    def factor(self) -> Array:
        """U, shape (n, n), a read-only view."""
        view = self._buffer[: self.size, : self.size]
        view.flags.writeable = False
        return view

    @property
    def nbytes(self) -> int:
        """Bytes held by the buffer."""
        return self._buffer.nbytes

    @property
    def jitter(self) -> Array:
        """What the policy added to each diagonal entry, shape (n,)."""
        added = np.zeros(self.size)
        for index, extra in self._jitter:
            added[index] += extra
        return added

    def logdet(self) -> float:
        """Return log det A."""
        return 2.0 * float(np.log(np.diagonal(self._buffer)[: self.size]).sum())

    def half_solve(self, b: Array, *, overwrite: bool = False) -> Array:
        """Return U^-T b for b of shape (n,) or (n, m); overwrites only Fortran-ordered b."""
        return self._triangular(b, transposed=True, overwrite=overwrite)

    def back_solve(self, b: Array, *, overwrite: bool = False) -> Array:
        """Return U^-1 b for b of shape (n,) or (n, m)."""
        return self._triangular(b, transposed=False, overwrite=overwrite)

    def solve(self, b: Array) -> Array:
        """Return A^-1 b."""
        return self.back_solve(self.half_solve(b), overwrite=True)

    def _triangular(self, b: Array, *, transposed: bool, overwrite: bool) -> Array:
        if self.size == 0 or b.size == 0:
            return np.zeros_like(b)
        # All rows of the buffer and the first n columns are contiguous: LAPACK reads them in place, lda = capacity.
        solution, _ = lapack.dtrtrs(self._buffer[:, : self.size], b, trans=int(transposed), overwrite_b=int(overwrite))
        return np.asarray(solution)

    # --- growing and shrinking

    def append(self, cross: Array, block: Array) -> None:
        """Extend A by k rows and columns.

        Parameters
        ----------
        cross
            A[old, new], shape (n, k).
        block
            A[new, new], shape (k, k), symmetric.
        """
        n, k = cross.shape
        if k == 0:
            return
        above = self.half_solve(cross)
        corner = block - above.T @ above if n else block.copy()
        if k == 1:
            diagonal, pivot = float(block[0, 0]), float(corner[0, 0])
            extra = self.policy.shortfall(pivot, diagonal)
            if extra > 0.0:
                self._report(n, extra, diagonal)
            corner[0, 0] = np.sqrt(pivot + extra)
        else:
            corner, info = lapack.dpotrf(corner, lower=0, clean=1)
            floors = self.policy.relative * np.diagonal(block)
            if info != 0 or (np.diagonal(corner) ** 2 < floors).any():
                # Some pivot in the block is lost: halve it until the pivot stands alone and the policy can act.
                half = k // 2
                self.append(cross[:, :half], block[:half, :half])
                self.append(np.vstack([cross[:, half:], block[:half, half:]]), block[half:, half:])
                return
        self._reserve(n + k)
        self._buffer[:n, n : n + k] = above
        self._buffer[n : n + k, n : n + k] = corner
        self.size = n + k

    def truncate(self, size: int) -> None:
        """Forget all but the first `size` rows and columns; what remains is bit for bit what it was."""
        self.size = size
        self._jitter = [(index, extra) for index, extra in self._jitter if index < size]

    def change_diagonal(self, index: int, change: float) -> bool:
        """Replace A_ii by A_ii + change in O(n^2); return False, with nothing done, where that would be unstable.

        The trailing block S = R^T R becomes S + change e e^T = R^T (I + change w w^T) R with w = R^-T e, and the
        factor of I + change w w^T is known in closed form [GGMS74]: no loop over columns.
        """
        n = self.size
        trailing = self._buffer[index:n, index:n]
        unit = np.zeros(n)
        unit[index] = 1.0
        w = self.half_solve(unit)[index:]
        totals = 1.0 + change * np.cumsum(w**2)
        if not totals.min() > 1e-6:
            return False
        before = np.concatenate([[1.0], totals[:-1]])
        pivots = np.sqrt(totals / before)
        weighted = w[:, None] * trailing
        below = weighted[::-1].cumsum(0)[::-1] - weighted  # sum over the rows after each row
        trailing *= pivots[:, None]
        trailing += (change * w / np.sqrt(totals * before))[:, None] * below
        return True

    def _report(self, index: int, extra: float, diagonal: float) -> None:
        self._jitter.append((index, extra))
        _log.warning(
            "observation %d: jitter %.3g added to a variance of %.3g to keep the matrix regular", index, extra, diagonal
        )

    def _reserve(self, size: int) -> None:
        if size <= self._buffer.shape[0]:
            return
        # Room for a ninth more each way: 1.235 n^2 numbers at most, and copying costs O(n) an append on average.
        capacity = size + max(size // 9, 8) if size > 64 else 72
        grown = np.zeros((capacity, capacity), order="F")
        grown[: self.size, : self.size] = self._buffer[: self.size, : self.size]
        self._buffer = grown
