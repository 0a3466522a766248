"""Add-GP-UCB: upper confidence bounds for functions that are sums over groups of axes.

f(x) = sum_j f^(j)(x^(j)), the groups of axes disjoint. The acquisition adds the groups' own upper bounds,
sum_j [mu_j + sqrt(beta_t) sigma_j], so that it is maximised group by group: D dimensions cost no more than the largest
group [K15].

Groups are given, or learned with the hyper-parameters. The recommended point has the highest posterior mean of all
points of the cube, evaluated or not: group by group it is found as easily, and in many dimensions it combines what
different evaluations had good. Where that point may not be evaluated, since the space is constrained across groups, it
is the evaluated one of highest mean.

References
----------
[K15]  Kandasamy, Schneider and Poczos (2015). High dimensional Bayesian optimisation and bandits via additive models.
       ICML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, pi, sqrt
from typing import ClassVar, Literal, get_args

import numpy as np

from quadrat._core.arrays import Array, as_number, keep_plain
from quadrat.confidence.budget import as_probability
from quadrat.errors import InvalidInput
from quadrat.gp import Observations
from quadrat.methods.acquisition import excesses, expected_gain, points_around
from quadrat.methods.additive.groups import Learning, learn_groups, ordered, singletons
from quadrat.methods.additive.model import AdditiveFit, AdditiveModel, GroupPosterior, Groups, fit_additive
from quadrat.methods.base import (
    Domain,
    Incumbent,
    Method,
    MethodFacts,
    Observation,
    Proposal,
    Search,
    refuse_context,
)
from quadrat.methods.statements import Gain, Mixture
from quadrat.partition.unit_cube import as_count
from quadrat.randomness import generator

__all__ = ["AddGPUCB", "Practical", "Theorem"]

# Names of streams beside (seed, trial number), which draws the initial points.
_ACQUISITION, _GAIN, _GROUPS, _BEST = 1, 2, 3, 4
_CANDIDATES, _DRAWS = 96, 256  # points of each group at which f^(j) is drawn, and how often
_FEWEST, _MOST = 10, 100  # initial trials
_ASIDE = 0.05  # how far a proposal steps aside that is pending already


@dataclass(frozen=True, kw_only=True)
class Practical:
    """beta_t = scale d log(2 t), d the size of the largest group: the form that [K15] takes in practice.

    Their scale is .2, for deviations that include what groups trade with each other. Centred ones are smaller.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        keep_plain(self)
        as_number(self.scale, name="scale", above=0.0)

    def beta(self, t: int, groups: Groups) -> float:
        """Return beta_t."""
        return self.scale * max(map(len, groups)) * log(2 * t)


@dataclass(frozen=True, kw_only=True)
class Theorem:
    """beta_t = 2 log(M pi^2 t^2 / (2 delta)) + 2 d log(D t^3) [K15].

    For f drawn from the process, M groups of at most d of the D axes.
    """

    delta: float = 0.1

    def __post_init__(self) -> None:
        keep_plain(self)
        as_probability(self.delta)

    def beta(self, t: int, groups: Groups) -> float:
        """Return beta_t."""
        dimension, largest = sum(map(len, groups)), max(map(len, groups))
        return 2 * log(len(groups) * pi**2 * t**2 / (2 * self.delta)) + 2 * largest * log(dimension * t**3)


_FORMS: dict[str, Practical | Theorem] = {"practical": Practical(), "theorem": Theorem()}


@dataclass(frozen=True, kw_only=True)
class AddGPUCB(Method):
    """Evaluate where sum_j [mu_j(x^(j)) + sqrt(beta_t) sigma_j(x^(j))] is largest [K15].

    Parameters
    ----------
    groups
        Disjoint groups of parameters that cover all, by name, [["heat", "time"], ["salt"]], or by the number of their
        axis from 0, [[0, 1], [2]]. None learns them.
    group_size
        The largest group that is learned; groups that are given may have any size.
    learning
        "moves" improves groups step by step, "random" takes the best of ten random partitions at a time, as [K15].
    form
        beta_t: `Practical` or `Theorem` with their constants, or the name of one for its defaults.
    centred
        Whether sigma_j is the deviation of f^(j)(x) less the average of f^(j) over the observed points, free of the
        constants that groups may trade with each other; False takes [K15]'s.
    nu
        Smoothness of the Matérn kernel of every group.
    noise
        Standard deviation of one observation, in the units of the values; None learns it.
    n_initial
        Trials that must be told before the model decides, >= 1; until then points are uniform. The model learns then
        and whenever there are 40 % more. None takes 2 D where groups are given and 4 D where they are learned, from
        10 to 100: trials near the best point show how f changes there and little of which axes act together.

    Examples
    --------
    >>> AddGPUCB(groups=[[2, 0], [1]]).groups
    ((0, 2), (1,))
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="Add-GP-UCB",
        paper="Kandasamy, Schneider and Poczos 2015, ICML",
        assumes="f is a sum of draws of Gaussian processes on disjoint groups of axes",
        best_for="ten or more parameters that act in small groups",
    )
    estimates_gain: ClassVar[bool] = True

    groups: Sequence[Sequence[int]] | Sequence[Sequence[str]] | None = None
    group_size: int = 2
    learning: Learning = "moves"
    form: Practical | Theorem | Literal["practical", "theorem"] = "practical"
    centred: bool = True
    nu: float = 2.5
    noise: float | None = None
    n_initial: int | None = None

    def __post_init__(self) -> None:
        keep_plain(self)
        if self.groups is not None:
            named = _named(self.groups)
            object.__setattr__(self, "groups", as_groups(self.groups) if named is None else named)
        object.__setattr__(self, "group_size", as_count(self.group_size, name="group_size", at_least=1))
        if self.learning not in get_args(Learning):
            raise InvalidInput(f'learning: expected "moves" or "random", got {self.learning!r}')
        if isinstance(self.form, str) and self.form in _FORMS:
            object.__setattr__(self, "form", _FORMS[self.form])
        if not isinstance(self.form, Practical | Theorem):
            raise InvalidInput(
                f"form: expected Practical(...), Theorem(...) or one of {', '.join(_FORMS)}, got {self.form!r}"
            )
        object.__setattr__(self, "nu", as_number(self.nu, name="nu", above=0.0))
        if self.noise is not None:
            object.__setattr__(self, "noise", as_number(self.noise, name="noise", above=0.0))
        if self.n_initial is not None:
            object.__setattr__(self, "n_initial", as_count(self.n_initial, name="n_initial", at_least=1))

    def beta(self, t: int, groups: Groups) -> float:
        """Return beta_t for round t >= 1 with these groups."""
        assert not isinstance(self.form, str)
        return self.form.beta(t, groups)

    def start(self, domain: Domain, seed: int) -> AdditiveSearch:
        """Begin a search, named by `seed`, in a domain whose names the groups may use."""
        named = None if self.groups is None else _named(self.groups)
        if named is None:
            return AdditiveSearch(self, domain, seed)
        unknown = [name for group in named for name in group if name not in domain.names]
        if unknown:
            known = ", ".join(domain.names) or "none"
            raise InvalidInput(f"groups: expected names of parameters that vary ({known}), got {unknown[0]!r}")
        numbers = [[domain.names.index(name) for name in group] for group in named]
        return AdditiveSearch(replace(self, groups=numbers), domain, seed)


def _named(groups: object) -> tuple[tuple[str, ...], ...] | None:
    """Return groups of names; None where they are something else."""
    if not isinstance(groups, Sequence) or not all(isinstance(group, Sequence) for group in groups):
        return None
    found = tuple(tuple(group) for group in groups)
    names = all(isinstance(name, str) for group in found for name in group)
    return found if found and all(found) and names and not any(isinstance(group, str) for group in groups) else None


def as_groups(groups: object) -> Groups:
    """Return groups of axis numbers in their usual order; refuse what is none, empty or not disjoint."""
    wanted = "groups: expected disjoint groups of axis numbers from 0, such as [[0, 1], [2]]"
    try:
        found = [tuple(as_count(axis, name="axis", at_least=0) for axis in group) for group in groups]  # type: ignore[attr-defined]
    except (TypeError, InvalidInput):
        raise InvalidInput(f"{wanted}, got {groups!r}") from None
    if not found or not all(found):
        raise InvalidInput(f"{wanted}, none of them empty, got {groups!r}")
    axes = [axis for group in found for axis in group]
    twice = sorted({axis for axis in axes if axes.count(axis) > 1})
    if twice:
        raise InvalidInput(f"{wanted}, got axis {twice[0]} more than once; leave it in one group")
    return ordered(found)


def _require_cover(groups: Groups, domain: Domain) -> None:
    """Refuse groups that leave out an axis of the domain, or have one that it does not have."""
    axes, wanted = {axis for group in groups for axis in group}, set(range(domain.dimension))
    if axes == wanted:
        return
    missing, strange = sorted(wanted - axes), sorted(axes - wanted)
    problem = f"none for {domain.called(missing[0])}" if missing else f"axis {strange[0]}"
    alone = repr(domain.names[(missing or [0])[0]]) if domain.names else str((missing or [0])[0])
    all_of = ", ".join(domain.names) or f"the axes 0 to {domain.dimension - 1}"
    got = [[domain.names[i] if i in wanted and domain.names else i for i in group] for group in groups]
    raise InvalidInput(
        f"groups: expected a group for each of {all_of}, got {problem} in {got!r}; what acts alone is a group such as "
        f"[{alone}]"
    )


class AdditiveSearch(Search):
    """Add-GP-UCB at work."""

    asking_changes_nothing = True

    def __init__(self, method: AddGPUCB, domain: Domain, seed: int) -> None:
        self.method, self.domain, self.dimension, self.seed = method, domain, domain.dimension, seed
        self._given: Groups | None = None
        if method.groups is not None:
            self._given = as_groups(method.groups)
            _require_cover(self._given, domain)
        dimension = domain.dimension
        learns = method.groups is None and method.group_size > 1
        usual = min(max(_FEWEST, (4 if learns else 2) * dimension), _MOST)
        self.n_initial = usual if method.n_initial is None else method.n_initial
        self.model = AdditiveModel(self._learn, dimension, self.n_initial)

    def _learn(self, data: Observations, previous: AdditiveFit | None, trials: int) -> AdditiveFit:
        noise = None if self.method.noise is None else self.method.noise**2
        given = self._given
        if given is None and (trials < self.n_initial or self.method.group_size == 1):
            given = singletons(self.dimension)
        if given is not None:
            return fit_additive(data, given, nu=self.method.nu, noise_variance=noise, previous=previous)
        return learn_groups(
            data,
            self.method.group_size,
            generator(self.seed, trials, _GROUPS),
            nu=self.method.nu,
            noise_variance=noise,
            previous=previous,
            by=self.method.learning,
        )

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        refuse_context(self, context)
        if not self.model.settled:
            of = f"{self.model.trials} of {self.n_initial} initial trials told"
            return Proposal(generator(self.seed, number).random(self.dimension), f"uniform: {of}")
        root = sqrt(self.method.beta(self.model.trials + 1, self.model.fit.groups))
        rng = generator(self.seed, number, _ACQUISITION)
        with self.model.groups(pending, centred=self.method.centred) as posterior:
            x, value = posterior.maximise(root, rng)
        why = f"largest sum of {len(self.model.fit.groups)} groups' upper bounds, sqrt(beta) = {root:.3g} ({value:.4g})"
        if len(pending) and (pending == x).all(axis=1).any():
            moved = np.abs(x + _ASIDE * rng.standard_normal(self.dimension))  # reflected at the faces of the cube
            return Proposal(1 - np.abs(1 - moved), f"{why}; aside, as it is pending")
        return Proposal(x, why)

    def tell(self, observation: Observation) -> None:
        self.model.tell(observation)

    def tell_many(self, observations: Sequence[Observation]) -> None:
        self.model.tell_many(observations)

    def recommend(self, context: Array | None = None) -> Incumbent:
        """Return the point of highest posterior mean, found group by group, with a 90 % credible interval."""
        refuse_context(self, context)
        trials = self.model.trials
        with self.model.groups() as posterior:
            x = self._permitted(posterior.maximise(0.0, generator(self.seed, trials, _BEST))[0])
            gain = self._gain(posterior, x, generator(self.seed, trials, _GAIN))
        at = self.model.gp.predict(x[None, :])
        return Incumbent.believed(x, Mixture(at.mean, at.deviation), gain)

    def _permitted(self, x: Array) -> Array:
        """Return the point that stands for x, (D,), or where it may not be evaluated, the best that was told."""
        point = self.domain.rounded(x[None, :])
        if self.domain.allowed(point)[0]:
            return np.asarray(point[0])
        told = self.domain.permitted(self.model.gp.x)
        return np.array(told[int(np.argmax(self.model.gp.predict_mean(told)))])

    def _gain(self, posterior: GroupPosterior, x: Array, rng: np.random.Generator) -> Gain | None:
        """Return what is believed of max f - f(x) = sum_j [max f^(j) - f^(j)(x^(j))], from below; never a bound.

        Each f^(j) is drawn jointly at points of its own few axes, which lie far denser than points of the cube could.
        Draws take the groups as independent. Where a constraint forbids some points, groups may not choose
        alone: then f is drawn jointly at feasible points of the cube, as `expected_gain` says, which may return None.
        """
        if self.domain.feasible is not None:
            return expected_gain(self.model.gp, x, rng, self.domain)
        drawn = np.zeros(_DRAWS)
        for j, group in enumerate(posterior.fit.groups):
            here = x[list(group)]
            points = np.vstack([here[None, :], points_around(here, _CANDIDATES - 1, rng)])
            drawn += excesses(posterior.predict(j, points).mean, posterior.covariance(j, points), _DRAWS, rng)
        return Gain(drawn)  # every group's few axes are visited

    def explain(self) -> dict[str, object]:
        if not self.model.trials:
            return {"trials": 0}
        fit, names = self.model.fit, self.domain.names
        return {
            "trials": self.model.trials,
            "initial design complete": self.model.settled,
            "groups": [[names[axis] if names else axis for axis in group] for group in fit.groups],
            "groups were": "learned" if self._given is None else "given",
            "lengthscales": list(fit.lengthscales),
            "amplitudes": list(fit.amplitudes),
            "noise": sqrt(fit.noise_variance),
            "mean": fit.mean,
            "log evidence": self.model.gp.log_evidence,
        }
