"""A Cholesky factor that grows: the small solver behind every Gaussian process.

A = U^T U with U upper triangular, kept as panels of 256 columns: panel j is the rectangle above its diagonal block
and that block. A new observation is a new column, one triangular solve, O(n^2); panels are allocated once and never
copied, and the half below the diagonal is not stored: about 4 n^2 bytes. Old columns never change when new ones
come, so dropping the last ones (`truncate`) undoes an append bit for bit.

[GGMS74]: Gill, Golub, Murray, Saunders, Methods for modifying matrix factorizations, 1974.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from quadrat._core.arrays import Array
from quadrat.errors import NumericalFailure

__all__ = ["GrowingCholesky", "JitterPolicy"]

_WIDTH = 256  # columns of a panel: wide enough for matrix products, small enough to waste little
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class JitterPolicy:
    """The one rule for matrices that are singular to working precision.

    A pivot below `relative` times its diagonal entry is lifted to that floor, which is the same as observing that
    point with a little more noise. It is recorded for each observation and logged. With `relative` = 0 (certified
    use) nothing is ever added, and a pivot that is not above its own rounding error raises `NumericalFailure`.

    Parameters
    ----------
    relative
        The floor of a pivot as a share of its diagonal entry, >= 0.

    Examples
    --------
    >>> JitterPolicy(1e-8).shortfall(pivot=0.0, diagonal=2.0, size=3)
    2e-08
    """

    relative: float = 1e-10

    def shortfall(self, pivot: float, diagonal: float, size: int) -> float:
        """Return the addition to the pivot of row `size`, whose entry in A is `diagonal`: usually 0."""
        if self.relative == 0.0:
            if not pivot > self.lost(size) * diagonal:
                raise NumericalFailure(
                    f"the covariance matrix is singular to working precision (pivot {pivot:.3g} of {diagonal:.3g}) and"
                    " jitter is switched off: expected a positive noise variance, or no repeated points"
                )
            return 0.0
        return max(self.relative * diagonal - pivot, 0.0)

    def lost(self, size: int) -> float:
        """Relative size below which a pivot of a matrix of this size is nothing but rounding, or the policy's floor."""
        return self.relative or 4 * np.finfo(np.float64).eps * max(size, 8)


class GrowingCholesky:
    """The factor U of a symmetric positive-definite matrix A = U^T U that gains rows and columns at its end.

    Parameters
    ----------
    policy
        The rule for pivots that rounding has destroyed.

    Examples
    --------
    >>> factor = GrowingCholesky()
    >>> factor.append(np.empty((0, 1)), np.array([[4.0]]))
    >>> factor.append(np.array([[2.0]]), np.array([[5.0]]))  # A = [[4, 2], [2, 5]]
    >>> factor.factor.tolist(), factor.solve(np.array([8.0, 12.0])).tolist()
    ([[2.0, 1.0], [0.0, 2.0]], [1.0, 2.0])
    """

    def __init__(self, policy: JitterPolicy | None = None) -> None:
        self.policy = JitterPolicy() if policy is None else policy
        self.size = 0
        self._above: list[Array] = []  # panel j: rows [0, jb), columns [jb, (j+1)b)
        self._corner: list[Array] = []  # panel j: rows and columns [jb, (j+1)b)
        self._jitter: list[tuple[int, float]] = []

    # --- reading

    @property
    def factor(self) -> Array:
        """U, shape (n, n), assembled; for reading only."""
        full = np.zeros((self.size, self.size), order="F")
        for start, stop, above, corner in self._panels():
            full[:start, start:stop] = above
            full[start:stop, start:stop] = corner[: stop - start]
        return full

    @property
    def nbytes(self) -> int:
        """Bytes held by the panels."""
        return sum(array.nbytes for array in (*self._above, *self._corner))

    @property
    def diagonal(self) -> Array:
        """The diagonal of U, shape (n,)."""
        return np.concatenate([np.empty(0), *(np.diagonal(corner) for _, _, _, corner in self._panels())])

    @property
    def jitter(self) -> Array:
        """What the policy added to each diagonal entry, shape (n,)."""
        added = np.zeros(self.size)
        for index, extra in self._jitter:
            added[index] += extra
        return added

    def logdet(self) -> float:
        """Return log det A."""
        return 2.0 * float(np.log(self.diagonal).sum())

    def half_solve(self, b: Array) -> Array:
        """Return U^-T b for b of shape (n,) or (n, m)."""
        solution = np.array(b, order="F")
        for start, stop, above, corner in self._panels():
            right = solution[start:stop] - above.T @ solution[:start] if start else solution[start:stop]
            solution[start:stop], _ = lapack.dtrtrs(corner, right, trans=1)
        return solution

    def extend_half_solve(self, known: Array, rest: Array) -> Array:
        """Return U^-T b, shape (n,), from its first entries `known` and the `rest` of b: O(n) for each new entry."""
        old = len(known)
        solution = np.concatenate([known, rest])
        for start, stop, above, corner in self._panels():
            if stop <= old:
                continue
            first = max(start, old)
            inner = first - start
            right = solution[first:stop] - above[:, inner:].T @ solution[:start]
            right -= corner[:inner, inner:].T @ solution[start:first]
            solution[first:stop], _ = lapack.dtrtrs(corner[inner : stop - start, inner:], right, trans=1)
        return solution

    def back_solve(self, b: Array) -> Array:
        """Return U^-1 b for b of shape (n,) or (n, m)."""
        solution = np.array(b, order="F")
        for start, stop, above, corner in reversed(list(self._panels())):
            solution[start:stop], _ = lapack.dtrtrs(corner, solution[start:stop])
            if start:
                solution[:start] -= above @ solution[start:stop]
        return solution

    def solve(self, b: Array) -> Array:
        """Return A^-1 b."""
        return self.back_solve(self.half_solve(b))

    def _panels(self) -> Iterator[tuple[int, int, Array, Array]]:
        """Yield (start, stop, above, corner) with the columns in use; whole columns, so that LAPACK need not copy."""
        for j, (above, corner) in enumerate(zip(self._above, self._corner, strict=True)):
            start = j * _WIDTH
            if start >= self.size:
                return
            stop = min(start + _WIDTH, self.size)
            yield start, stop, above[:, : stop - start], corner[:, : stop - start]

    # --- growing and shrinking

    def append(self, cross: Array, block: Array) -> None:
        """Extend A by k rows and columns: `cross` is A[old, new] (n, k), `block` the symmetric A[new, new] (k, k)."""
        n, k = cross.shape
        if k == 0:
            return
        above = self.half_solve(cross)
        corner = block - above.T @ above if n else block.copy()
        if k == 1:
            diagonal, pivot = float(block[0, 0]), float(corner[0, 0])
            extra = self.policy.shortfall(pivot, diagonal, n)
            if extra > 0.0:
                self._report(n, extra, diagonal)
            corner[0, 0] = np.sqrt(pivot + extra)
        else:
            corner, info = lapack.dpotrf(corner, lower=0, clean=1)
            floors = self.policy.lost(n + k) * np.diagonal(block)
            if info != 0 or (np.diagonal(corner) ** 2 < floors).any():
                # Some pivot in the block is lost: halve it until the pivot stands alone and the policy can act.
                half = k // 2
                self.append(cross[:, :half], block[:half, :half])
                self.append(np.vstack([cross[:, half:], block[:half, half:]]), block[half:, half:])
                return
        self._store(np.vstack([above, corner]))

    def _store(self, columns: Array) -> None:
        """Put new columns, shape (n + k, k), into the panels."""
        n, total = self.size, len(columns)
        while len(self._corner) * _WIDTH < total:
            self._above.append(np.zeros((len(self._above) * _WIDTH, _WIDTH), order="F"))
            self._corner.append(np.zeros((_WIDTH, _WIDTH), order="F"))
        for j in range(n // _WIDTH, len(self._corner)):
            start = j * _WIDTH
            first, last = max(n, start), min(total, start + _WIDTH)
            source = columns[:, first - n : last - n]
            self._above[j][:, first - start : last - start] = source[:start]
            self._corner[j][: last - start, first - start : last - start] = source[start:last]
        self.size = total

    def truncate(self, size: int) -> None:
        """Forget all but the first `size` rows and columns, which stay bit for bit the same."""
        self.size = size
        keep = -(-size // _WIDTH)
        del self._above[keep:], self._corner[keep:]
        self._jitter = [(index, extra) for index, extra in self._jitter if index < size]

    def change_diagonal(self, index: int, change: float) -> bool:
        """Add `change` to A_ii, i the `index`, in O(n^2); return False, with nothing done, where that is unstable.

        The trailing block S = R^T R becomes S + change e e^T = R^T (I + change w w^T) R with w = R^-T e, and the
        factor of I + change w w^T is known in closed form [GGMS74]: no loop over columns.
        """
        unit = np.zeros(self.size)
        unit[index] = 1.0
        w = self.half_solve(unit)
        totals = 1.0 + change * np.cumsum(w**2)  # 1 up to the changed row: rows above it keep their values
        if not totals.min() > 1e-6:
            return False
        before = np.concatenate([[1.0], totals[:-1]])
        scale = np.sqrt(totals / before)[:, None]
        mix = (change * w / np.sqrt(totals * before))[:, None]
        for start, stop, above, corner in self._panels():
            if stop <= index:
                continue
            columns = np.vstack([above, corner[: stop - start]])[index:]
            weighted = w[index:stop, None] * columns
            below = weighted[::-1].cumsum(0)[::-1] - weighted  # sum over the rows after each row
            columns = scale[index:stop] * columns + mix[index:stop] * below
            split = max(start - index, 0)
            above[start - split :] = columns[:split]
            corner[max(index - start, 0) : stop - start] = columns[split:]
        return True

    def _report(self, index: int, extra: float, diagonal: float) -> None:
        self._jitter.append((index, extra))
        _log.warning("observation %d: jitter %.3g added to a variance of %.3g, which was lost", index, extra, diagonal)
