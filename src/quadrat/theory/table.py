"""The table of rates for one kernel and dimension: look up, compare, print, explain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import fill

from quadrat._core.arrays import as_whole
from quadrat.errors import InvalidInput
from quadrat.kernels import GammaExponential, Kernel, Matern, SquaredExponential
from quadrat.theory.kernel_rates import general_rates, squared_exponential_rates
from quadrat.theory.matern_rates import matern_rates
from quadrat.theory.rate import Certainty, Rate

__all__ = ["RateTable", "rates"]

_WIDTH = 110
_COLUMNS = (
    (
        "simple",
        "f(x*) - f(z_n), the regret of the one point recommended after n evaluations, is at most of this order."
        " A negative power decays. (In the row of the lower bound, at least of this order for some f.)",
    ),
    (
        "cumulative",
        "The sum over the n evaluations of f(x*) - f(x_t) is at most of this order. Below n^1 the average regret"
        " vanishes; at or above n^1 the statement is vacuous, and marked *.",
    ),
    (
        "excess",
        "The cumulative exponent less that of the lower bound: 0 is order-optimal up to powers of log n.",
    ),
    ("status", "How far the simple and the cumulative exponent are proved; one word when they agree."),
)


@dataclass(frozen=True)
class RateTable:
    """Rates of all methods, in the order of the catalogue.

    Parameters
    ----------
    kernel, dimension, rows
        The kernel, the dimension, and one `Rate` for each method.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> from quadrat.theory import rates
    >>> table = rates(Matern(2.5), 2)
    >>> table.keys[:3], round(table.excess(table["lp-gp-ucb"]), 3)
    (('lower-bound', 'gp-ucb', 'igp-ucb'), 0.107)
    """

    kernel: Kernel
    dimension: int
    rows: tuple[Rate, ...]

    def __iter__(self) -> Iterator[Rate]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: str) -> Rate:
        for row in self.rows:
            if row.method.key == key:
                return row
        raise InvalidInput(f"key: expected one of {', '.join(self.keys)}; got {key!r}")

    @property
    def keys(self) -> tuple[str, ...]:
        """The key of each row's method."""
        return tuple(row.method.key for row in self.rows)

    def excess(self, row: Rate) -> float | None:
        """Return by how much the cumulative exponent of `row` exceeds the lower bound's; None when one is unknown."""
        lower = self["lower-bound"].cumulative_exponent
        if lower is None or row.cumulative_exponent is None:
            return None
        return row.cumulative_exponent - lower

    def to_text(self) -> str:
        """Return the table as aligned columns, then the notes."""
        cells = [("method", "simple", "cumulative", "excess", "status")]
        notes: dict[str, int] = {}
        for row in self.rows:
            mark = ""
            if row.remark:
                number = notes.setdefault(row.remark, len(notes) + 1)
                mark = f" [{number}]"
            cells.append((row.method.title + mark, *self._numbers(row), _status(row)))
        widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells
        ]
        lines.insert(1, "  ".join("-" * width for width in widths))
        head = f"Regret after n evaluations, up to logarithms: {self.kernel!r}, D = {self.dimension}"
        foot = [_wrap(f"[{number}] ", text) for text, number in notes.items()]
        return "\n".join([head, "", *lines, *([""] if foot else []), *foot])

    def explain(self) -> str:
        """Return the meaning of each column, and the idea, source, conditions and cost of each method."""
        lines = ["Columns"]
        lines += [_wrap(f"  {name}: ", text) for name, text in _COLUMNS]
        lines += ["", "Status"]
        lines += [_wrap(f"  {certainty.value}: ", certainty.meaning) for certainty in Certainty]
        lines += ["", "Methods"]
        for row in self.rows:
            lines.append(f"  {row.method.title} ({row.method.key})")
            for name, text in (
                ("idea", row.method.idea),
                ("source", row.method.source),
                ("holds for", row.condition),
                ("cost", row.method.cost),
                ("note", row.remark),
            ):
                if text:
                    lines.append(_wrap(f"    {name}: ", text))
        return "\n".join(lines)

    def _numbers(self, row: Rate) -> tuple[str, str, str]:
        excess = self.excess(row)
        return (
            str(row.simple),
            str(row.cumulative) + ("*" if row.vacuous else ""),
            "-" if excess is None else f"{abs(excess) if abs(excess) < 5e-4 else excess:.3f}",
        )


def _status(row: Rate) -> str:
    return " / ".join(dict.fromkeys(power.certainty.value for power in (row.simple, row.cumulative)))


def _wrap(label: str, text: str) -> str:
    return fill(text, _WIDTH, initial_indent=label, subsequent_indent=" " * len(label), break_on_hyphens=False)


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
    dimension = as_whole(dimension, name="dimension")
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
