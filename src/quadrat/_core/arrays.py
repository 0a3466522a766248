"""Array types and the checks that every public entry point shares.

Points are float64 matrices, one row a point; a single point may be given as a vector where the dimension is
known. Everything is checked once, at the border; inner code trusts its arrays.
"""

from __future__ import annotations

import re
from dataclasses import fields
from math import isfinite
from operator import index
from typing import Any, Generic, SupportsIndex, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quadrat.errors import InvalidInput

__all__ = [
    "Array",
    "ArrayLike",
    "Bools",
    "Growing",
    "Ints",
    "as_number",
    "as_points",
    "as_vector",
    "as_whole",
    "keep_plain",
    "read_decimal",
]

Array: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Bools: TypeAlias = NDArray[np.bool_]

_DECIMAL = re.compile(r"[+-]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|nan|inf(inity)?)", re.ASCII | re.IGNORECASE)


def as_points(points: ArrayLike, *, dimension: int | None = None, name: str = "points") -> Array:
    """Return `points` as a finite, C-contiguous float64 matrix of shape (n, D), or raise `InvalidInput`.

    A vector is one point of `dimension` entries, or n points where `dimension` is 1; None accepts any D. Errors call
    the argument `name`.
    """
    matrix = _as_floats(points, name)
    if matrix.ndim == 1 and dimension is not None:
        matrix = matrix[:, None] if dimension == 1 else matrix[None, :]
    if matrix.ndim != 2:
        raise InvalidInput(f"{name}: expected a matrix of shape (n, D), one row a point, got shape {matrix.shape}")
    if dimension is not None and matrix.shape[1] != dimension:
        raise InvalidInput(f"{name}: expected {dimension} columns, one for each dimension, got shape {matrix.shape}")
    if matrix.shape[1] == 0:
        raise InvalidInput(f"{name}: expected at least one column, got shape {matrix.shape}")
    _require_finite(matrix, name)
    return np.ascontiguousarray(matrix)


def as_vector(values: ArrayLike, *, length: int | None = None, name: str = "values") -> Array:
    """Return `values` as a finite float64 vector, or raise `InvalidInput`; a scalar is repeated `length` times."""
    vector = _as_floats(values, name)
    if vector.ndim == 0:
        vector = np.full(1 if length is None else length, float(vector))
    if vector.ndim != 1:
        raise InvalidInput(f"{name}: expected a vector, got shape {vector.shape}")
    if length is not None and vector.shape[0] != length:
        raise InvalidInput(f"{name}: expected {length} entries, got {vector.shape[0]}")
    _require_finite(vector, name)
    return np.ascontiguousarray(vector)


def as_number(
    value: object,
    *,
    name: str,
    above: float = -np.inf,
    at_least: float = -np.inf,
    at_most: float = np.inf,
) -> float:
    """Return `value` as a finite float inside the stated range, or raise `InvalidInput` with the range."""
    try:
        if isinstance(value, bool | np.bool_ | str):
            raise TypeError
        number = float(value)  # type: ignore[arg-type]  # that it may not convert is what is being tested
        if not (isfinite(number) and number > above and number >= at_least and number <= at_most):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        limits = [
            text
            for text, stated in (
                (f"> {above:g}", above > -np.inf),
                (f">= {at_least:g}", at_least > -np.inf),
                (f"<= {at_most:g}", at_most < np.inf),
            )
            if stated
        ]
        wanted = " ".join(["a finite number", *([" and ".join(limits)] if limits else [])])
        raise InvalidInput(f"{name}: expected {wanted}, got {value!r}") from None
    return number


def read_decimal(text: str) -> float | None:
    """Return the number that people mean by a text; None where it is no decimal number, nor nan or inf.

    Python's `float` also reads 1_5 as 15, and digits of other scripts: of a typing mistake it makes another number.

    Examples
    --------
    >>> read_decimal("-1.5e3"), read_decimal("nan"), read_decimal("1_5"), read_decimal("1,5"), read_decimal("0x1f")
    (-1500.0, nan, None, None, None)
    """
    text = text.strip()
    return float(text) if _DECIMAL.fullmatch(text) else None


def as_whole(value: object, *, name: str, at_least: int = 1) -> int:
    """Return `value` as an int no smaller than `at_least`; truth values and fractions are refused."""
    try:
        number = at_least - 1 if isinstance(value, bool | np.bool_) else index(cast(SupportsIndex, value))
    except TypeError:
        number = at_least - 1
    if number < at_least:
        raise InvalidInput(f"{name}: expected a whole number >= {at_least}, got {value!r}")
    return number


def _as_floats(values: ArrayLike, name: str) -> Array:
    try:
        # Truth values, texts and complex numbers convert, and mean a mistake.
        if np.asarray(values).dtype.kind in "bUSc":
            raise TypeError
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name}: expected numbers, got {type(values).__name__} {values!r:.80}") from None


def _require_finite(array: Array, name: str) -> None:
    finite = np.isfinite(array)
    if not finite.all():
        where = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise InvalidInput(
            f"{name}: expected finite numbers, got {array[where]} at index {where if len(where) > 1 else where[0]}"
            f" ({int((~finite).sum())} of {array.size} entries are not finite)"
        )


S = TypeVar("S", bound=np.generic)


class Growing(Generic[S]):
    """Rows of one dtype and one shape, appended in O(1) amortised by doubling the buffer.

    Appending never writes over a row, so a view taken earlier keeps showing its rows. `row` is the shape of one row;
    () makes a vector.

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
        room = max(2 * len(self.values), self.size + more)
        bigger = np.empty((room, *self.values.shape[1:]), dtype=self.values.dtype)
        bigger[: self.size] = self.values[: self.size]
        self.values = bigger


def keep_plain(instance: Any) -> None:
    """Turn the NumPy scalars among the fields of a frozen dataclass into the same numbers of Python."""
    for part in fields(instance):
        value = getattr(instance, part.name)
        if isinstance(value, np.generic):
            object.__setattr__(instance, part.name, value.item())
