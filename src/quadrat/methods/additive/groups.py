"""Which axes belong together: groups learned by marginal likelihood.

[K15, section on unknown decompositions] draws several partitions at random and keeps the one of highest marginal
likelihood. Of the partitions of 20 axes into pairs, 654,729,075, a few random ones hardly ever contain a good one, so
here the best one is improved: one axis moves to another group or becomes one of its own, two axes of different groups
change places, or two groups merge, as long as the likelihood grows (a search for the mode where [W17] samples the
posterior by Gibbs steps). Hyper-parameters are held while partitions are compared and learned again between sweeps.

References
----------
[K15]  Kandasamy, Schneider and Poczos (2015). High dimensional Bayesian optimisation and bandits via additive models.
       ICML.
[W17]  Wang, Li, Jegelka and Kohli (2017). Batched high-dimensional Bayesian optimization via structural kernel
       learning. ICML.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import sqrt
from typing import Literal, TypeAlias

import numpy as np
from scipy.linalg import lapack

from quadrat._core.arrays import Array
from quadrat.gp import Observations
from quadrat.kernels import Matern
from quadrat.methods.additive.model import AdditiveFit, Groups, fit_additive, inherited

__all__ = ["Learning", "improve", "learn_groups", "ordered", "random_groups", "singletons"]

Move: TypeAlias = tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]
"""Groups that go, and groups that come in their place."""

Learning: TypeAlias = Literal["moves", "random"]
"""How groups are learned."""

_LEAST_GAIN = 1e-6  # nats: rounding alone must not shuffle the groups
_SWEEPS = 12
_STARTS = 5  # random partitions that moves start from, beside single axes and what was learned before
_LEARNED_FROM = 256  # observations at most: thousands of moves are tried, and each costs the cube of their number
_RANDOM = 10  # partitions drawn beside the earlier one


def singletons(dimension: int) -> Groups:
    """Return every axis on its own."""
    return tuple((i,) for i in range(dimension))


def ordered(groups: Iterable[Iterable[int]]) -> Groups:
    """Return groups with their axes ascending, by their first axis: equal partitions become equal tuples."""
    return tuple(sorted(tuple(sorted(group)) for group in groups))


def random_groups(dimension: int, size: int, rng: np.random.Generator) -> Groups:
    """Return a random partition into groups of `size` axes, the last one smaller where they do not divide D [K15]."""
    axes = rng.permutation(dimension).tolist()
    return ordered(axes[i : i + size] for i in range(0, dimension, size))


@dataclass(frozen=True)
class AdditivePart:
    """A group and the hyper-parameters of its kernel."""

    group: tuple[int, ...]
    lengthscales: tuple[float, ...]
    amplitude: float


class Evidence:
    """Log evidence of partitions with hyper-parameters held, up to a constant.

    A group that the fit does not have is tried twice. Inherited: every axis keeps its length-scale, and brings its
    share of its old group's variance. Fresh: the typical length-scale and amplitude, because what an axis does only
    together with another is not seen in what was learned of it alone.

    Matrices are made whenever they are asked for: D axes have D^2/2 pairs, too many to keep one of n x n for each.
    """

    def __init__(self, data: Observations, fit: AdditiveFit) -> None:
        self.fit = fit
        self._x = data.x
        self._y = data.y - fit.mean
        self._noise = data.noise_variance(fit.noise_variance)
        self._variance = np.array(inherited(fit, singletons(data.x.shape[1]))) ** 2
        self._typical = float(np.exp(np.mean(np.log(fit.lengthscales)))), float(np.sqrt(self._variance.mean()))
        self._own = {
            group: AdditivePart(group, tuple(fit.lengthscales[i] for i in group), amplitude)
            for group, amplitude in zip(fit.groups, fit.amplitudes, strict=True)
        }

    def part(self, group: tuple[int, ...], fresh: bool) -> AdditivePart:
        """Return the hyper-parameters of one group."""
        if group in self._own:
            return self._own[group]
        if fresh:
            scale, amplitude = self._typical
            return AdditivePart(group, (scale,) * len(group), amplitude * sqrt(len(group)))
        amplitude = float(np.sqrt(self._variance[list(group)].sum()))
        return AdditivePart(group, tuple(self.fit.lengthscales[i] for i in group), amplitude)

    def matrix(self, part: AdditivePart) -> Array:
        """Return the kernel matrix of one group, shape (n, n)."""
        kernel = Matern(self.fit.nu, part.lengthscales, amplitude=part.amplitude)
        return np.asarray(kernel(np.ascontiguousarray(self._x[:, list(part.group)])))

    def __call__(self, matrix: Array) -> float:
        """Return -y' A^-1 y / 2 - log det A / 2 with A the matrix plus noise; -inf where it is singular."""
        a = matrix.copy()
        a.flat[:: len(a) + 1] += self._noise
        factor, info = lapack.dpotrf(a.T, lower=1, clean=0, overwrite_a=1)
        if info != 0:
            return -np.inf
        half, _ = lapack.dtrtrs(factor, self._y, lower=1)
        return -0.5 * float(half @ half) - float(np.log(np.diagonal(factor)).sum())


def moves(groups: Groups, size: int) -> Iterator[Move]:
    """Yield every change of two groups by one axis, one exchange or a merger that leaves none above `size` axes."""
    for group in groups:
        if len(group) > 2:  # of a pair, one axis alone is the other alone
            for axis in group:
                yield (group,), (without(group, axis), (axis,))
        elif len(group) == 2:
            yield (group,), ((group[0],), (group[1],))
    for left, right in combinations(groups, 2):
        if len(left) + len(right) <= size:
            yield (left, right), (joined(left, *right),)
        for source, target in ((left, right), (right, left)):
            # An axis that is alone and moves is a merger.
            if len(source) > 1 and len(target) < size:
                for axis in source:
                    yield (source, target), (without(source, axis), joined(target, axis))
        if len(left) > 1 or len(right) > 1:
            for i in left:
                for j in right:
                    yield (left, right), (joined(without(left, i), j), joined(without(right, j), i))


def without(group: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """Return the group less one axis."""
    return tuple(i for i in group if i != axis)


def joined(group: tuple[int, ...], *axes: int) -> tuple[int, ...]:
    """Return the group with more axes, ascending."""
    return tuple(sorted((*group, *axes)))


def sweep(data: Observations, fit: AdditiveFit, size: int) -> AdditiveFit:
    """Try every move, then make those that gain, the best first, as long as their groups are still there.

    The fit that is returned has its hyper-parameters carried over, not yet learned.
    """
    evidence = Evidence(data, fit)
    left = {group: evidence.part(group, False) for group in fit.groups}
    matrices = {group: evidence.matrix(part) for group, part in left.items()}  # of the groups in `left`, no others
    matrix = np.asarray(np.sum(list(matrices.values()), axis=0))
    now = evidence(matrix)

    def changed(move: Move, fresh: bool) -> Array:
        gone, come = move
        after: Array = matrix.copy()
        for group in come:
            after += evidence.matrix(evidence.part(group, fresh))
        for group in gone:
            after -= matrices[group]
        return after

    gains = [
        (evidence(changed(move, fresh)) - now, move, fresh)
        for move in moves(fit.groups, size)
        for fresh in (False, True)
    ]
    for _, move, fresh in sorted((found for found in gains if found[0] > _LEAST_GAIN), key=lambda found: -found[0]):
        gone, come = move
        if all(group in left for group in gone):
            trial = changed(move, fresh)
            value = evidence(trial)
            if value - now > _LEAST_GAIN:  # others were made meanwhile
                matrix, now = trial, value
                for group in gone:
                    del left[group], matrices[group]
                for group in come:
                    left[group] = evidence.part(group, fresh)
                    matrices[group] = evidence.matrix(left[group])
    groups = ordered(left)
    scales = dict(pair for group in groups for pair in zip(group, left[group].lengthscales, strict=True))
    return replace(
        fit,
        groups=groups,
        lengthscales=tuple(scales[i] for i in range(len(scales))),
        amplitudes=tuple(left[group].amplitude for group in groups),
    )


def improve(
    data: Observations, fit: AdditiveFit, size: int, *, noise_variance: float | None, sweeps: int = _SWEEPS
) -> AdditiveFit:
    """Return a fit at least as good whose groups no single move improves, or after so many sweeps."""
    for _ in range(sweeps):
        moved = sweep(data, fit, size)
        if moved.groups == fit.groups:
            break
        better = fit_additive(data, moved.groups, nu=fit.nu, noise_variance=noise_variance, previous=moved)
        if better.log_posterior <= fit.log_posterior:
            break
        fit = better
    return fit


def learn_groups(
    data: Observations,
    size: int,
    rng: np.random.Generator,
    *,
    nu: float,
    noise_variance: float | None,
    previous: AdditiveFit | None = None,
    by: Learning = "moves",
) -> AdditiveFit:
    """Return groups of at most `size` axes and hyper-parameters of high posterior density.

    Parameters
    ----------
    data
        Merged observations. Groups are learned from 256 of them at most, drawn at random; hyper-parameters from all.
    size
        The largest group.
    rng
        Draws partitions, and which observations groups are learned from where they are many.
    nu, noise_variance
        Of `fit_additive`.
    previous
        What was learned before, from fewer data; otherwise moves start from single axes.
    by
        "moves", or "random" for the best of some random partitions and the previous one [K15].
    """
    dimension = data.x.shape[1]
    if len(data) > _LEARNED_FROM:
        some = data.subset(np.sort(rng.permutation(len(data))[:_LEARNED_FROM]))
        found = learn_groups(some, size, rng, nu=nu, noise_variance=noise_variance, previous=previous, by=by)
        return fit_additive(data, found.groups, nu=nu, noise_variance=noise_variance, previous=found)
    if by == "random":
        drawn = {random_groups(dimension, size, rng) for _ in range(_RANDOM)} | (
            {previous.groups} if previous else set()
        )
        fits = [fit_additive(data, groups, nu=nu, noise_variance=noise_variance) for groups in sorted(drawn)]
        return max(fits, key=lambda fit: fit.log_posterior)
    # Moves end where no single one helps. What few data suggested may be such an end: others start anew beside it.
    starts = [singletons(dimension), *(random_groups(dimension, size, rng) for _ in range(_STARTS))]
    fits = [fit_additive(data, groups, nu=nu, noise_variance=noise_variance) for groups in starts]
    if previous is not None:
        fits.insert(0, fit_additive(data, previous.groups, nu=nu, noise_variance=noise_variance, previous=previous))
    ends = [improve(data, start, size, noise_variance=noise_variance) for start in fits]
    return max(ends, key=lambda fit: fit.log_posterior)
