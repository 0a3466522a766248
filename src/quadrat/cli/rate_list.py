"""`quadrat rates`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from rich import box
from rich.table import Table

from quadrat.cli.screen import Screen
from quadrat.errors import InvalidInput
from quadrat.kernels import (
    GammaExponential,
    Kernel,
    Matern,
    PiecewisePolynomial,
    RationalQuadratic,
    SquaredExponential,
)
from quadrat.theory import Rate, RateTable

__all__ = ["kernel_of", "rates_json", "rates_text"]

# Name -> the option that is its shape, that option's default, and the kernel in D dimensions.
_KERNELS: dict[str, tuple[str | None, Any, Callable[[Any, int], Kernel]]] = {
    "matern": ("nu", 2.5, lambda nu, _: Matern(nu)),
    "squared-exponential": (None, None, lambda _, __: SquaredExponential()),
    "rational-quadratic": ("a", 1.0, lambda a, _: RationalQuadratic(a)),
    "gamma-exponential": ("a", 1.0, lambda a, _: GammaExponential(a)),
    "piecewise-polynomial": ("q", 1, PiecewisePolynomial),
}


def kernel_of(name: str, dimension: int, **shapes: float | None) -> Kernel:
    """Return the kernel that the options describe; refuse an option that belongs to another kernel.

    Examples
    --------
    >>> kernel_of("Matern", 2, nu=1.5, a=None).nu
    1.5
    """
    key = name.lower().replace("_", "-")
    if key not in _KERNELS:
        raise InvalidInput(f"--kernel: expected {', '.join(_KERNELS)}; got {name!r}")
    if dimension < 1:
        raise InvalidInput(f"--dimension: expected an integer >= 1, got {dimension}")
    option, default, make = _KERNELS[key]
    for other, value in shapes.items():
        if value is not None and other != option:
            owners = " and ".join(owner for owner, (owned, _, _) in _KERNELS.items() if owned == other)
            raise InvalidInput(f"--{other}: expected with {owners} only, got --kernel {key}; leave it out")
    given = shapes.get(option) if option else None
    return make(default if given is None else given, dimension)


def rates_text(table: RateTable, screen: Screen, *, explain: bool) -> None:
    """Print the table, its notes and, if wanted, what it means."""
    screen.say(f"Regret after n evaluations, up to logarithms: {_title(table)}\n\n")
    notes: dict[str, int] = {}
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for column in ("method", "simple", "cumulative", "excess", "status"):
        shown.add_column(column, no_wrap=column != "method")
    for row in table:
        mark = f" [{notes.setdefault(row.remark, len(notes) + 1)}]" if row.remark else ""
        shown.add_row(row.method.title + mark, str(row.simple), *_cumulative(table, row), _status(row))
    screen.show(shown)
    if any(row.vacuous for row in table):
        screen.say("\n* at or above n^1 a bound is vacuous: regret never grows faster than linearly.")
    if notes:
        screen.say("\n" + "\n".join(f"[{number}] {text}" for text, number in notes.items()))
    if explain:
        screen.say("\n" + table.explain())


def rates_json(table: RateTable) -> str:
    """Return the table as JSON."""
    return json.dumps(
        {
            "kernel": repr(table.kernel),
            "dimension": table.dimension,
            "rows": [_row(table, row) for row in table],
        },
        indent=2,
        ensure_ascii=False,
    )


def _row(table: RateTable, row: Rate) -> Mapping[str, object]:
    return {
        "key": row.method.key,
        "title": row.method.title,
        "source": row.method.source,
        "bound": row.method.bound.value,
        "simple_exponent": row.simple_exponent,
        "simple_certainty": row.simple.certainty.value,
        "cumulative_exponent": row.cumulative_exponent,
        "cumulative_certainty": row.cumulative.certainty.value,
        "excess": table.excess(row),
        "vacuous": row.vacuous,
        "condition": row.condition,
        "note": row.remark,
    }


def _title(table: RateTable) -> str:
    kernel = table.kernel
    shape = next((f"({name}={getattr(kernel, name):g})" for name in ("nu", "a", "q") if hasattr(kernel, name)), "")
    return f"{type(kernel).__name__}{shape}, D = {table.dimension}"


def _cumulative(table: RateTable, row: Rate) -> tuple[str, str]:
    excess = table.excess(row)
    # + 0.0 after rounding: a difference of rounding errors is not "-0.000".
    return f"{row.cumulative}{'*' if row.vacuous else ''}", "-" if excess is None else f"{round(excess, 3) + 0.0:.3f}"


def _status(row: Rate) -> str:
    return " / ".join(dict.fromkeys(power.certainty.value for power in (row.simple, row.cumulative)))
