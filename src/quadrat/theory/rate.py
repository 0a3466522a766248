"""One line of the table of rates: a method, the powers of n that bound its regrets, and how far to trust them.

Signs: regret is at most of order n^exponent (log n)^(some power). A simple regret that decays has a negative
exponent; a cumulative regret that grows less than linearly has one below 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from quadrat.errors import InvalidInput

__all__ = ["Algorithm", "Bound", "Certainty", "Power", "Rate"]


class Bound(Enum):
    """Which side of the regret a statement bounds.

    Examples
    --------
    >>> from quadrat.theory import CATALOGUE
    >>> [method.key for method in CATALOGUE if method.bound is Bound.LOWER]
    ['lower-bound']
    """

    UPPER = "upper"
    LOWER = "lower"


class Certainty(Enum):
    """How far a stated exponent is backed by a proof, best first.

    Examples
    --------
    >>> Certainty.PROVED.rank, Certainty.PROVED.meaning
    (0, 'holds for every budget n, with the corrections of docs/errata.md.')
    """

    PROVED = "proved"
    CONDITIONAL = "conditional"
    SPARSE = "sparse n"
    GAP = "gap in proof"
    UNKNOWN = "not known"

    @property
    def meaning(self) -> str:
        """One sentence on the meaning of the word."""
        return _MEANINGS[self]

    @property
    def rank(self) -> int:
        """0 for the most certain."""
        return list(Certainty).index(self)


_MEANINGS = {
    Certainty.PROVED: "holds for every budget n, with the corrections of docs/errata.md.",
    Certainty.CONDITIONAL: "rests on an information-gain rate that assumes uniformly bounded Mercer eigenfunctions.",
    Certainty.SPARSE: "holds along a sparse sequence of budgets only (the source says 'n large enough').",
    Certainty.GAP: "stated by its source, whose proof leaves out a case; the note gives what the proof does cover.",
    Certainty.UNKNOWN: "no statement applies; the note says why.",
}


@dataclass(frozen=True)
class Power:
    """n^exponent, up to logarithms, or None with the reason.

    Parameters
    ----------
    exponent
        The power of n; None when no statement applies.
    certainty, reason
        How far the exponent is proved, and why it is None (empty otherwise).
    log_power
        The power of log n where it is tracked; None where logarithms are ignored.

    Examples
    --------
    >>> str(Power(-0.25)), str(Power(0.5, log_power=3.0)), str(Power.unknown("no lower bound is known"))
    ('n^-0.250', 'n^0.500 (log n)^3', '-')
    """

    exponent: float | None
    certainty: Certainty = Certainty.PROVED
    log_power: float | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        unknown = self.certainty is Certainty.UNKNOWN
        if (self.exponent is None) != unknown or unknown != bool(self.reason):
            raise InvalidInput(
                "Power: expected an exponent, or None with certainty UNKNOWN and a reason;"
                f" got {self.exponent!r}, {self.certainty.value!r} and reason {self.reason!r}"
            )

    @classmethod
    def unknown(cls, reason: str) -> Power:
        """Return the power without an exponent, and the `reason`."""
        return cls(None, Certainty.UNKNOWN, reason=reason)

    def __str__(self) -> str:
        if self.exponent is None:
            return "-"
        logs = f" (log n)^{self.log_power:g}" if self.log_power else ""
        return f"n^{self.exponent:.3f}{logs}"


@dataclass(frozen=True)
class Algorithm:
    """The subject of a row: an algorithm with its analysis, or a bound on all algorithms.

    Parameters
    ----------
    key, title
        A short name without spaces, unique in the catalogue, and the name to print.
    source, idea
        The authors of the proof, and one sentence on the algorithm.
    cost
        Arithmetic and memory for a budget of n evaluations in D dimensions.
    bound
        Whether the row bounds regret from above or from below.

    Examples
    --------
    >>> from quadrat.theory import CATALOGUE
    >>> CATALOGUE[1].key, CATALOGUE[1].title
    ('gp-ucb', 'GP-UCB')
    """

    key: str
    title: str
    source: str
    idea: str
    cost: str
    bound: Bound = Bound.UPPER


@dataclass(frozen=True)
class Rate:
    """The regrets of one method for one kernel and dimension.

    Parameters
    ----------
    method
        The algorithm or bound, its source and cost.
    simple, cumulative
        Simple regret f(x*) - f(z_n) of the recommended point, and cumulative regret, the sum over t of f(x*) - f(x_t).
    condition, note
        The parameters for which the statement is made, and a remark for readers of the number.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> from quadrat.theory import rates
    >>> row = rates(Matern(2.5), 1)["lp-gp-ucb"]
    >>> row.sublinear, row.simple_exponent < 0, row.vacuous
    (True, True, False)
    """

    method: Algorithm
    simple: Power
    cumulative: Power
    condition: str
    note: str = ""

    @property
    def simple_exponent(self) -> float | None:
        """Simple regret is of order n^simple_exponent: negative means that it decays."""
        return self.simple.exponent

    @property
    def cumulative_exponent(self) -> float | None:
        """Cumulative regret is of order n^cumulative_exponent: below 1 means that the average regret vanishes."""
        return self.cumulative.exponent

    @property
    def sublinear(self) -> bool | None:
        """Whether the stated cumulative regret grows less than linearly; None when nothing is stated."""
        return None if self.cumulative.exponent is None else self.cumulative.exponent < 1

    @property
    def vacuous(self) -> bool:
        """Whether an upper bound says no more than that regret is at most linear in n."""
        return self.method.bound is Bound.UPPER and self.sublinear is False

    @property
    def remark(self) -> str:
        """The note, after the reason for each exponent that is missing."""
        reasons = dict.fromkeys(power.reason for power in (self.simple, self.cumulative) if power.reason)
        return " ".join(text for text in (*reasons, self.note) if text)
