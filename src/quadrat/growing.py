"""An array that grows at its end: appending a row costs the same however many there are."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Growing"]

S = TypeVar("S", bound=np.generic)


class Growing(Generic[S]):
    """Rows of one dtype and one shape, appended in O(1) amortised by doubling the buffer.

    Appending writes behind the last row or into a new buffer, never over a row, so a view taken earlier keeps
    showing the rows there were.

    Parameters
    ----------
    dtype
        Of the entries.
    row
        Shape of one row; () makes a vector.

    Examples
    --------
    >>> ages = Growing(np.intp)
    >>> ages.append(7)
    >>> ages.extend([8, 9])
    >>> ages.view.tolist()
    [7, 8, 9]
    """

    __slots__ = ("size", "values")

    def __init__(self, dtype: type[S], row: tuple[int, ...] = ()) -> None:
        self.values: NDArray[S] = np.empty((4, *row), dtype=dtype)
        self.size = 0

    @classmethod
    def of(cls, rows: NDArray[S]) -> Growing[S]:
        """Return the rows of an array, copied."""
        grown = cls(rows.dtype.type, rows.shape[1:])
        grown.values, grown.size = np.array(rows), len(rows)
        return grown

    def __len__(self) -> int:
        return self.size

    @property
    def view(self) -> NDArray[S]:
        """The rows so far, read-only, without a copy."""
        rows = self.values[: self.size]
        rows.flags.writeable = False
        return rows

    def append(self, row: Any) -> None:
        """Add one row."""
        if self.size == len(self.values):
            self._make_room(1)
        self.values[self.size] = row
        self.size += 1

    def extend(self, rows: Any) -> None:
        """Add several rows."""
        more = len(rows)
        if self.size + more > len(self.values):
            self._make_room(more)
        self.values[self.size : self.size + more] = rows
        self.size += more

    def _make_room(self, more: int) -> None:
        bigger = np.empty(
            (max(2 * len(self.values), self.size + more), *self.values.shape[1:]), dtype=self.values.dtype
        )
        bigger[: self.size] = self.values[: self.size]
        self.values = bigger
