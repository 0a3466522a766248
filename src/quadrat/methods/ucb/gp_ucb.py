"""GP-UCB with the three exploration schedules of its paper.

[S12]: Srinivas, Krause, Kakade and Seeger (2012). Information-theoretic regret bounds for Gaussian process
optimization in the bandit setting. IEEE Transactions on Information Theory 58.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log, pi, sqrt
from typing import ClassVar, Literal

from quadrat._core.arrays import as_number, keep_plain
from quadrat.confidence.budget import as_probability
from quadrat.errors import InvalidInput
from quadrat.methods.acquisition import Score, upper_bound
from quadrat.methods.base import Domain, MethodFacts
from quadrat.methods.surrogate import ModelBased, ModelSearch, Surrogate
from quadrat.methods.ucb.ucb1 import finite_arms
from quadrat.partition.unit_cube import as_count

__all__ = ["GPUCB", "Agnostic", "Continuous", "Finite"]

_ARMS_OF_CUBE = 1000


@dataclass(frozen=True, kw_only=True)
class Finite:
    """beta_t = 2 log(|D| t^2 pi^2 / (6 delta)) for f drawn from the process on |D| = `arms` points [S12, theorem 1].

    None is the number of points of a finite space. On the cube it is 1,000 and a heuristic: so many points their own
    experiments put on [0, 1].

    t counts trials told, from 1; delta is that of the method.

    Parameters
    ----------
    arms
        |D|, >= 1, or None.

    Examples
    --------
    >>> round(Finite(arms=1000).beta(t=1, delta=0.05, dimension=2, gain=0.0), 2)
    20.8
    """

    arms: int | None = None

    def __post_init__(self) -> None:
        keep_plain(self)
        if self.arms is not None:
            as_count(self.arms, name="arms", at_least=1)

    def beta(self, t: int, delta: float, dimension: int, gain: float) -> float:  # noqa: ARG002
        """Return beta_t of round t >= 1, D = `dimension`, which fails with probability `delta`, after `gain` nats."""
        arms = _ARMS_OF_CUBE if self.arms is None else self.arms
        return 2 * log(arms * t**2 * pi**2 / (6 * delta))


@dataclass(frozen=True, kw_only=True)
class Continuous:
    """beta_t = 2 log(t^2 2 pi^2/(3 delta)) + 2 D log(t^2 D b r sqrt(log(4 D a/delta))) [S12, theorem 2].

    For f drawn from the process on [0, r]^D, when P(sup |df/dx_j| > L) <= a exp(-(L/b)^2) for every axis j. The cube
    has r = 1; for a kernel of amplitude s and length-scale theta, b is of the order of s/theta.

    Parameters
    ----------
    a, b
        Constants of the tail of the partial derivatives, > 0; b in model units.
    r
        Side of the cube, > 0.

    Examples
    --------
    >>> round(Continuous(b=2.0).beta(t=10, delta=0.05, dimension=2, gain=0.0), 2)
    46.18
    """

    a: float = 1.0
    b: float = 1.0
    r: float = 1.0

    def __post_init__(self) -> None:
        keep_plain(self)
        for name in ("a", "b", "r"):
            as_number(getattr(self, name), name=name, above=0.0)

    def beta(self, t: int, delta: float, dimension: int, gain: float) -> float:  # noqa: ARG002
        """Return beta_t, as `Finite.beta` does of t, delta, dimension and gain; a grid of one point at least."""
        union = 2 * log(t**2 * 2 * pi**2 / (3 * delta))
        # Theorem 2's grid has a point at least: with constants so small that the logarithms turn negative, one.
        root = sqrt(max(log(4 * dimension * self.a / delta), 0.0))
        grid = t**2 * dimension * self.b * self.r * root
        return union + 2 * dimension * log(max(grid, 1.0))


@dataclass(frozen=True, kw_only=True)
class Agnostic:
    """beta_t = 2 B^2 + 300 gamma_t log^3(t/delta) for ||f||_K <= B, bounded noise [S12, theorem 3].

    gamma_t is the gain realised so far unless `information_gain` gives a number. The constants serve the proof: in
    practice this explores and nothing else.

    Parameters
    ----------
    norm_bound
        B, > 0, in model units.
    information_gain
        gamma_t in nats, >= 0; None takes the gain realised so far.

    Examples
    --------
    >>> round(Agnostic(norm_bound=2.0).beta(t=10, delta=0.05, dimension=2, gain=1.0))
    44629
    """

    norm_bound: float = 1.0
    information_gain: float | None = None

    def __post_init__(self) -> None:
        keep_plain(self)
        as_number(self.norm_bound, name="norm_bound", above=0.0)
        if self.information_gain is not None:
            as_number(self.information_gain, name="information_gain", at_least=0.0)

    def beta(self, t: int, delta: float, dimension: int, gain: float) -> float:  # noqa: ARG002
        """Return beta_t of round t >= 1, D = `dimension`, which fails with probability `delta`, after `gain` nats."""
        gamma = gain if self.information_gain is None else self.information_gain
        return 2 * self.norm_bound**2 + 300 * gamma * log(t / delta) ** 3


_FORMS: dict[str, Finite | Continuous | Agnostic] = {
    "finite": Finite(),
    "continuous": Continuous(),
    "agnostic": Agnostic(),
}


@dataclass(frozen=True, kw_only=True)
class GPUCB(ModelBased):
    """Evaluate where mu(x) + sqrt(beta_t) sigma(x) is largest [S12, algorithm 1].

    The theorems take the exact argmax of this index. On the cube it is sought by candidates and climbs
    (`quadrat.methods.acquisition`), here and in all methods that follow GP-UCB, and may be missed in many dimensions.
    Where the space has at most 10,000 points (integers, steps, choices), the index is computed at every one of them,
    and beta_t is that of theorem 1 for so many arms unless `form` says otherwise.

    Parameters
    ----------
    form
        beta_t: `Finite`, `Continuous` or `Agnostic` with their constants, or the name of one for its defaults.
    delta
        Probability with which the bound may fail.
    scale
        What beta_t is multiplied by. 1 is the theorem; [S12, section VI] divides by 5 in all its experiments.
    kernel
        A kernel, used as it is, or `Learned(...)`; None is `Learned()`, the paper's recipe: Matérn with nu = 2.5,
        its length-scale learned from the first `n_initial` trials.
    noise
        Standard deviation of one observation, > 0, in the units of the values.
    n_initial
        Trials that must be told before the model decides, >= 1; until then points are uniform.
    standardise
        Whether the model sees values less their mean and divided by their standard deviation: model units are then
        multiples of that deviation, otherwise the units of the values.
    sketch
        How to sketch the posterior (`quadrat.gp.sketch`), so that a trial costs about the same throughout a run of
        thousands; None keeps it exact. It pays once there are several times q d_eff trials.

    Examples
    --------
    >>> round(GPUCB(form=Finite(arms=100)).beta(t=10, dimension=2, gain=0.0), 2)
    33.23
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="GP-UCB",
        paper="Srinivas, Krause, Kakade and Seeger 2012, IEEE Trans. Information Theory 58",
        assumes="f is a draw of the Gaussian process (finite, continuous) or of norm at most B (agnostic)",
        best_for="research, and finite sets of alike arms: regret bounds for draws of a process",
    )

    form: Finite | Continuous | Agnostic | Literal["finite", "continuous", "agnostic"] = "finite"
    delta: float = 0.001
    scale: float = 1.0

    def check(self) -> None:
        if isinstance(self.form, str) and self.form in _FORMS:
            object.__setattr__(self, "form", _FORMS[self.form])
        if not isinstance(self.form, Finite | Continuous | Agnostic):
            raise InvalidInput(
                f"form: expected Finite(...), Continuous(...), Agnostic(...) or one of {', '.join(_FORMS)}, got "
                f"{self.form!r}"
            )
        object.__setattr__(self, "delta", as_probability(self.delta))
        object.__setattr__(self, "scale", as_number(self.scale, name="scale", above=0.0))

    def start(self, domain: Domain, seed: int) -> ModelSearch:
        arms = None if domain.context or domain.fidelity else finite_arms(domain)
        if arms is None:
            return ModelSearch(self, domain, seed)
        from quadrat.methods.ucb.gp_ucb_arms import GPUCBOnArms

        counted = self.form == Finite()
        method = replace(self, form=Finite(arms=len(arms))) if counted else self
        return GPUCBOnArms(method, domain, arms, seed)

    def beta(self, t: int, dimension: int, gain: float) -> float:
        """Return beta_t, scaled, never negative: round t >= 1, D = `dimension`, `gain` nats gained so far."""
        assert not isinstance(self.form, str)
        return self.scale * max(self.form.beta(t, self.delta, dimension, gain), 0.0)

    def score(self, model: Surrogate) -> tuple[Score, str]:
        root = sqrt(self.beta(model.trials + 1, model.dimension, model.gain))
        return upper_bound(root), f"largest upper confidence bound, sqrt(beta) = {root:.3g}"
