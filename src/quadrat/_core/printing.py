"""Values as people read them: numbers of Python, and arrays as lists of a few digits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

import numpy as np

__all__ = ["at_least", "at_most", "between", "labelled", "printed"]

_MOST = 12  # numbers of an array that are printed one by one
_DIGITS = 6


def printed(instance: Any) -> str:
    """Return the text of a dataclass, for its `__repr__`, without the types of NumPy.

    An array is a list of numbers with six digits; a large one is its shape and its range.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Found:
    ...     value: float
    ...     point: np.ndarray
    ...     __repr__ = printed
    >>> Found(np.float64(0.1), np.array([1 / 3, 2.0]))
    Found(value=0.1, point=[0.333333, 2.0])
    >>> Found(0.1, np.linspace(0, 1, 1000))
    Found(value=0.1, point=<shape (1000,), from 0 to 1>)
    """
    assert is_dataclass(instance)
    shown = [f"{part.name}={_text(getattr(instance, part.name))}" for part in fields(instance) if part.repr]
    return f"{type(instance).__name__}({', '.join(shown)})"


def labelled(title: str, lines: list[tuple[str, str]]) -> str:
    """Return a title with lines below it, each after its label; lines without a text are left out.

    Examples
    --------
    >>> print(labelled("Result", [("value", "0.5"), ("gain", ""), ("best seen", "0.4")]))
    Result
      value      0.5
      best seen  0.4
    """
    width = max(len(label) for label, _ in lines)
    return "\n".join([title, *(f"  {label:<{width}}  {text}" for label, text in lines if text)])


def at_least(bound: float, digits: int = _DIGITS) -> str:
    """Return a lower bound with a few digits, rounded down, so that what is printed holds where the bound does.

    Examples
    --------
    >>> at_least(0.12399, 3), at_most(0.12301, 3), between((-0.12301, 0.12301), 3)
    ('0.123', '0.124', '-0.124 to 0.124')
    """
    return _outward(bound, ROUND_FLOOR, digits)


def at_most(bound: float, digits: int = _DIGITS) -> str:
    """Return an upper bound with a few digits, rounded up."""
    return _outward(bound, ROUND_CEILING, digits)


def between(interval: tuple[float, float], digits: int = _DIGITS) -> str:
    """Return the ends of a certified interval, rounded outwards."""
    return f"{at_least(interval[0], digits)} to {at_most(interval[1], digits)}"


def _outward(bound: float, rounding: str, digits: int) -> str:
    return f"{float(Context(prec=digits, rounding=rounding).create_decimal(repr(float(bound)))):.{digits}g}"


def _text(value: object) -> str:
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, np.ndarray):
        return _array_text(value)
    if isinstance(value, tuple) and type(value) is tuple:
        return f"({', '.join(map(_text, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_text(key)}: {_text(entry)}' for key, entry in value.items())}}}"
    return repr(value)


def _array_text(array: np.ndarray[Any, Any]) -> str:
    if array.dtype.kind != "f":
        return repr(array.tolist()) if array.size <= _MOST else f"<shape {array.shape}>"
    if array.size <= _MOST:
        rounded = [float(f"{number:.{_DIGITS}g}") for number in array.ravel().tolist()]
        return repr(np.array(rounded).reshape(array.shape).tolist())
    return f"<shape {array.shape}, from {np.min(array):.{_DIGITS}g} to {np.max(array):.{_DIGITS}g}>"
