"""Search that never evaluates below a limit: certified under stated assumptions, or judged by a fitted model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from quadrat._core.arrays import Array, as_number, keep_plain
from quadrat.confidence import Assumptions, UserHolder
from quadrat.confidence.budget import as_probability
from quadrat.errors import InvalidInput
from quadrat.kernels import Kernel
from quadrat.methods.base import Domain, Method, MethodFacts
from quadrat.methods.safe.bounds import Guard, SafeBounds
from quadrat.methods.safe.fitted import FittedSafeSearch
from quadrat.methods.safe.search import SafeSearch

__all__ = ["FittedSafe", "Safe", "SafeMethod"]


@dataclass(frozen=True, kw_only=True)
class SafeMethod(Method):
    """What methods that keep away from a limit have in common.

    Parameters
    ----------
    threshold, safe
        As of `Safe`.
    """

    safe: Sequence[Mapping[str, Any]] = field(hash=False)
    threshold: float | None = None
    constraints: Any = field(default=(), hash=False)
    _is_turned: ClassVar[bool] = False  # whether this is the method for the negative of what the user minimises

    def __post_init__(self) -> None:
        keep_plain(self)
        object.__setattr__(self, "safe", _as_settings(self.safe))
        if self.threshold is not None:
            object.__setattr__(self, "threshold", as_number(self.threshold, name="threshold"))
        self.check()
        if self.threshold is None and not self.constraint_names:
            raise InvalidInput(
                "threshold: expected a limit of the objective, constraints, or both, got neither: nothing would be"
                " guarded; without a limit use Auto or LPGPUCB"
            )

    def check(self) -> None:
        """Check the options that a method adds."""

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """The names of the constraints that every trial must be told, sorted."""
        return tuple(self.constraints)

    def turned(self) -> Method:
        """Return the method for -f: what must not fall below the threshold must not rise above minus it."""
        found = self if self.threshold is None else replace(self, threshold=-self.threshold)
        if found is not self:
            object.__setattr__(found, "_is_turned", not self._is_turned)  # for sentences, which are in the user's units
        return found

    def stated_points(self, domain: Domain) -> Array:
        """Return where the settings that are stated to be safe lie on the cube, shape (k, D), each once.

        Parameters
        ----------
        domain
            What is behind the cube.

        Returns
        -------
        Array
            Points, shape (k, D).

        Raises
        ------
        InvalidInput
            The space is not one of Floats alone, does not have a setting, or does not allow it.
        """
        name = type(self).__name__
        rough = [domain.called(axis) for axis in np.flatnonzero(~domain.continua).tolist()]
        if rough:
            raise InvalidInput(
                f"space: expected Floats without steps or conditions for {name}, got {', '.join(rough)}: what is known"
                " of the neighbourhood of safe settings is about a function on the whole cube, and says nothing of"
                " integers, choices and steps; fix these, and search the others"
            )
        if domain.encode is not None:
            points = [_encoded(setting, domain.encode) for setting in self.safe]
        else:
            points = [_on_cube(setting, domain) for setting in self.safe]
        found = list({point.tobytes(): point for point in points}.values())
        for point, setting in zip(points, self.safe, strict=True):
            if not domain.allowed(point[None])[0]:
                raise InvalidInput(
                    f"safe: expected settings that the space's constraint allows, got {dict(setting)!r:.120}"
                )
        return np.array(found)


def _as_settings(given: object) -> tuple[dict[str, Any], ...]:
    if isinstance(given, Mapping):
        given = [given]
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(one, Mapping) for one in given):
        raise InvalidInput(
            f"safe: expected settings that are known to be safe, such as [{{'x': 0.5}}], got {given!r:.120}"
        )
    if not given:
        raise InvalidInput(
            "safe: expected at least one setting that is known to be safe, got none: without one, nothing may be"
            " evaluated; state today's setting, if that is safe"
        )
    return tuple({name: _plain(value) for name, value in one.items()} for one in given)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _encoded(setting: Mapping[str, Any], encode: Callable[[Mapping[str, Any]], Array]) -> Array:
    """Return a setting's point; a setting that the space does not have is refused under the option's name."""
    try:
        return encode(setting)
    except InvalidInput as error:
        raise InvalidInput(f"safe: {str(error).removeprefix('params: ')}") from None


def _on_cube(setting: Mapping[str, Any], domain: Domain) -> Array:
    """Return a setting's point where nobody has given the axes names: {"0": .5, "1": .3} is (.5, .3)."""
    try:
        point = np.array([float(setting[str(axis)]) for axis in range(domain.dimension)])
    except (KeyError, TypeError, ValueError):
        point = np.array([np.nan])
    if not ((point >= 0) & (point <= 1)).all() or len(setting) != domain.dimension:
        raise InvalidInput(f"safe: expected a coordinate in [0, 1] for each axis, got {dict(setting)!r:.120}")
    return point


@dataclass(frozen=True, kw_only=True)
class Safe(SafeMethod):
    """Never evaluate below a limit: with probability 1 - delta not once, at any time, in batches too.

    From settings that are stated to be safe the search expands what is certified to be safe, where that could matter
    for the optimum, and improves within. When the data reject the assumptions it stops, with the reason. It guards the
    function f, not what is measured: a measured value may fall below the limit by its noise.

    Parameters
    ----------
    safe
        Settings that are known to be safe, at least one, each from names to values: an assumption, like the others.
    threshold
        The objective is never evaluated where it is below it; where you minimise, never where it is above it. None
        where only constraints are guarded.
    kernel, norm_bound, noise
        The assumptions, fixed before the data: f, on the unit cube and with its offset, has norm at most B =
        `norm_bound` in the kernel's RKHS, and noise is sub-Gaussian with sigma = `noise`, in the units of the values.
    constraints
        Measured constraints that must hold in every trial, with what is assumed of each: a mapping from names to
        `Assumptions`. Each trial is told a number for each, as `Measured`, that is <= 0 where the constraint holds.
    delta
        No evaluation is unsafe, and all else that is certified holds, with probability at least 1 - delta. The
        objective and each of m constraints have delta/(m + 1).
    holder
        The user's own Hölder bound (L, alpha) of the objective, used where it is below the kernel's modulus.

    Examples
    --------
    >>> import quadrat as qd
    >>> method = Safe(threshold=-0.5, safe=[{"x": 0.2}], kernel=qd.Matern(2.5, 0.5), norm_bound=2.0, noise=0.01)
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize", method=method)
    >>> tried = []
    >>> for _ in range(15):
    ...     trial = optimizer.ask()
    ...     tried.append(-((trial.params["x"] - 0.4) ** 2) * 4)
    ...     optimizer.tell(trial, tried[-1])
    >>> min(tried) >= -0.5, abs(optimizer.recommend().params["x"] - 0.4) < 0.05
    (True, True)
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="Safe search: never below a limit, certified",
        paper="after Sui, Gotovos, Burdick and Krause 2015 (SafeOpt) and Sui, Zhuang, Burdick and Yue 2018 (StageOpt)",
        assumes="kernel, norm bound B and noise sigma, and settings that are safe, stated before the data",
        best_for="experiments in which no trial may break a limit",
        certifies=True,
        handles=("pending points", "replicates", "constraints", "safe regions"),
    )

    kernel: Kernel
    norm_bound: float
    noise: float
    constraints: Mapping[str, Assumptions] = field(default_factory=dict, hash=False)
    delta: float = 0.05
    holder: UserHolder | None = None

    def check(self) -> None:
        object.__setattr__(self, "delta", as_probability(self.delta))
        given = self.assumptions()
        if self.threshold is not None and abs(self.threshold) > given.ceiling:
            raise InvalidInput(
                f"threshold: expected a limit that f can reach, within +-{given.ceiling:g} = B s, got"
                f" {self.threshold!r}; norm_bound bounds f with its offset"
            )
        if not isinstance(self.constraints, Mapping) or not all(
            isinstance(name, str) and name and isinstance(one, Assumptions) for name, one in self.constraints.items()
        ):
            raise InvalidInput(
                "constraints: expected a mapping from names to assumptions, such as {'load': Assumptions(Matern(2.5,"
                f" 0.3), norm_bound=1, noise=0.1)}}, got {self.constraints!r:.120}"
            )
        object.__setattr__(self, "constraints", {name: self.constraints[name] for name in sorted(self.constraints)})

    def assumptions(self) -> Assumptions:
        """Return what is assumed of the objective."""
        return Assumptions(self.kernel, self.norm_bound, self.noise, self.holder)

    def start(self, domain: Domain, seed: int) -> SafeSearch:
        stated = self.stated_points(domain)
        guards = [Guard("the objective", self.assumptions(), self.threshold, turned=self._is_turned)]
        guards += [
            Guard(f"the constraint {name!r}", given, 0.0, turned=True) for name, given in self.constraints.items()
        ]
        for guard in guards:
            guard.given.kernel.check_dimension(domain.dimension)
        bounds = SafeBounds(tuple(guards), domain.dimension, delta=self.delta, stated=stated)
        return SafeSearch(bounds, domain, seed, names=self.constraint_names)


@dataclass(frozen=True, kw_only=True)
class FittedSafe(SafeMethod):
    """Keep away from a limit as far as a fitted model can tell: nothing is certified.

    For those who cannot state a norm bound. The default method's surrogate is fitted to what was told, and a point may
    be evaluated where the model gives it a chance of at most `risk` to be unsafe, near a trial that was seen to be
    safe. If the model were right, at most that share of the evaluations would be unsafe; docs/safe_search.md has the
    measured share. It stops, with the reason, where the model believes that a setting stated to be safe is not.

    Parameters
    ----------
    safe, threshold
        As of `Safe`.
    constraints
        Names of the measured constraints that must hold in every trial.
    risk
        The chance of being unsafe that each evaluation may have, as the model believes, in (0, 0.5).
    noise
        Standard deviation of one measurement of the objective, where it is known; None learns it.

    Examples
    --------
    >>> import quadrat as qd
    >>> method = FittedSafe(threshold=-0.5, safe=[{"x": 0.2}])
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize", method=method)
    >>> trial = optimizer.ask()
    >>> trial.params, trial.why
    ({'x': 0.2}, 'stated to be safe')
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="Fitted safe search: away from a limit, as a model believes",
        paper="after Sui, Gotovos, Burdick and Krause 2015, with a learned model in the place of bounds",
        assumes="f is a draw of a Gaussian process whose hyper-parameters are learned; settings that are safe",
        best_for="limits that may be broken now and then, without a norm bound",
        handles=("pending points", "replicates", "standard errors", "constraints", "safe regions"),
    )

    constraints: Sequence[str] = ()
    risk: float = 0.05
    noise: float | None = None

    def check(self) -> None:
        if isinstance(self.constraints, str) or not all(isinstance(name, str) and name for name in self.constraints):
            raise InvalidInput(f"constraints: expected names, such as ('load',), got {self.constraints!r:.120}")
        object.__setattr__(self, "constraints", tuple(sorted(set(self.constraints))))
        object.__setattr__(self, "risk", as_probability(self.risk, name="risk"))
        if self.risk >= 0.5:
            raise InvalidInput(f"risk: expected a chance below 0.5, got {self.risk!r}")
        if self.noise is not None:
            object.__setattr__(self, "noise", as_number(self.noise, name="noise", at_least=0.0))

    def start(self, domain: Domain, seed: int) -> FittedSafeSearch:
        return FittedSafeSearch(
            domain,
            seed,
            stated=self.stated_points(domain),
            limit=self.threshold,
            names=self.constraint_names,
            risk=self.risk,
            noise=self.noise,
            turned=self._is_turned,
        )
