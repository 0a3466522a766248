"""Partitions: the moves between them, the likelihood that compares them, and what is learned."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.gp import GaussianProcess, Observations
from quadrat.methods.additive.groups import (
    AdditivePart,
    Evidence,
    Learning,
    learn_groups,
    moves,
    ordered,
    random_groups,
    singletons,
    sweep,
)
from quadrat.methods.additive.model import AdditiveFit, Groups, fit_additive, inherited


def after(groups: Groups, size: int) -> set[Groups]:
    return {ordered((set(groups) - set(gone)) | set(come)) for gone, come in moves(groups, size)}


def partitions(axes: tuple[int, ...]) -> list[list[tuple[int, ...]]]:
    """All of them."""
    if not axes:
        return [[]]
    found = []
    for rest in partitions(axes[1:]):
        found.append([(axes[0],), *rest])
        found += [[*rest[:i], (axes[0], *group), *rest[i + 1 :]] for i, group in enumerate(rest)]
    return found


def test_moves_by_hand() -> None:
    assert after(((0,), (1,), (2,)), 2) == {((0, 1), (2,)), ((0, 2), (1,)), ((0,), (1, 2))}
    swapped = {((0, 2), (1, 3)), ((0, 3), (1, 2))}
    apart = {((0,), (1,), (2, 3)), ((0, 1), (2,), (3,))}
    assert after(((0, 1), (2, 3)), 2) == swapped | apart
    larger = {((0,), (1, 2, 3)), ((0, 2, 3), (1,)), ((0, 1, 2), (3,)), ((0, 1, 3), (2,))}
    assert after(((0, 1), (2, 3)), 3) == swapped | apart | larger


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_moves_reach_every_partition_and_no_other(size: int) -> None:
    reached = {singletons(5)}
    edge = set(reached)
    while edge:
        edge = {other for groups in edge for other in after(groups, size)} - reached
        reached |= edge
    wanted = {ordered(groups) for groups in partitions(tuple(range(5))) if max(map(len, groups)) <= size}
    assert reached == wanted
    for groups in wanted:
        assert groups not in after(groups, size)


def test_random_partitions() -> None:
    rng = np.random.default_rng(0)
    drawn = [random_groups(5, 2, rng) for _ in range(200)]
    assert {tuple(sorted(map(len, groups))) for groups in drawn} == {(1, 2, 2)}
    assert len(set(drawn)) == 15  # 5 for the single axis, 3 for the pairs of the others


def example(n: int = 50) -> Observations:
    rng = np.random.default_rng(1)
    x = rng.random((n, 4))
    return Observations.merge(x, np.sin(6 * x[:, 0] * x[:, 2]) + x[:, 1] ** 2 + 0.1 * rng.standard_normal(n))


def test_the_evidence_is_that_of_the_process() -> None:
    """Up to n log(2 pi) / 2, for the groups of the fit; with others the parts are as stated."""
    data = example()
    fit = fit_additive(data, ((0, 2), (1,), (3,)), nu=2.5, noise_variance=0.01)
    evidence = Evidence(data, fit)
    gp = GaussianProcess(fit.kernel, noise_variance=0.01, mean=fit.mean)
    gp.add(data.x, data.y)
    matrix = np.sum([evidence.matrix(evidence.part(group, False)) for group in fit.groups], axis=0)
    assert evidence(matrix) - len(data) * np.log(2 * np.pi) / 2 == pytest.approx(gp.log_evidence, abs=1e-8)
    variances = np.array(fit.amplitudes) ** 2
    kept, fresh = evidence.part((0, 1), False), evidence.part((0, 1), True)
    assert kept.lengthscales == fit.lengthscales[:2]
    assert kept.amplitude**2 == pytest.approx(variances[0] / 2 + variances[1])
    assert fresh.lengthscales[0] == pytest.approx(np.exp(np.log(fit.lengthscales).mean()))
    assert fresh.amplitude**2 == pytest.approx(2 * variances.sum() / 4)
    assert inherited(fit, fit.groups) == pytest.approx(fit.amplitudes)


def test_a_sweep_never_lowers_the_evidence() -> None:
    data = example()
    fit = fit_additive(data, ((0, 1), (2, 3)), nu=2.5, noise_variance=0.01)
    moved = sweep(data, fit, 2)
    assert moved.groups != fit.groups

    def evidence(of: AdditiveFit) -> float:
        gp = GaussianProcess(of.kernel, noise_variance=0.01, mean=of.mean)
        gp.add(data.x, data.y)
        return gp.log_evidence

    assert evidence(moved) > evidence(fit)


@pytest.mark.parametrize("start", [((0, 1), (2, 3)), ((0, 3), (1, 2)), None])
def test_the_groups_are_found_from_any_start(start: Groups | None) -> None:
    data = example(60)
    previous = None if start is None else fit_additive(data, start, nu=2.5, noise_variance=0.01)
    got = learn_groups(data, 2, np.random.default_rng(0), nu=2.5, noise_variance=0.01, previous=previous)
    assert (0, 2) in got.groups
    if previous is not None:
        assert got.log_posterior > previous.log_posterior


def test_moves_find_what_random_partitions_miss() -> None:
    """Ten axes in pairs, 945 partitions: moves find the true one, ten random ones do not."""
    rng = np.random.default_rng(2)
    x = rng.random((120, 10))
    y = np.sum([np.sin(5 * x[:, i] * x[:, i + 5] + i) for i in range(5)], axis=0) + 0.05 * rng.standard_normal(120)
    data = Observations.merge(x, y)
    true = tuple((i, i + 5) for i in range(5))
    found = learn_groups(data, 2, np.random.default_rng(0), nu=2.5, noise_variance=None)
    drawn = learn_groups(data, 2, np.random.default_rng(0), nu=2.5, noise_variance=None, by="random")
    assert found.groups == true
    assert drawn.groups != true
    assert found.log_posterior > drawn.log_posterior + 10


def test_a_sweep_keeps_the_matrices_of_its_groups_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the 66 pairs and 12 single axes of D = 12 a sweep tries all; never more than some matrices are alive."""
    rng = np.random.default_rng(0)
    x = rng.random((20, 12))
    data = Observations.merge(x, np.sin(6 * x[:, 0] * x[:, 2]) + 0.1 * rng.standard_normal(20))
    fit = fit_additive(data, singletons(12), nu=2.5, noise_variance=0.01)
    alive = most = 0
    made = Evidence.matrix

    def gone() -> None:
        nonlocal alive
        alive -= 1

    def matrix(self: Evidence, part: AdditivePart) -> Array:
        nonlocal alive, most
        found = made(self, part)
        weakref.finalize(found, gone)
        alive += 1
        most = max(most, alive)
        return found

    monkeypatch.setattr(Evidence, "matrix", matrix)
    sweep(data, fit, 2)
    assert 12 <= most <= 12 + 3


@pytest.mark.parametrize("by", ["moves", "random"])
def test_groups_are_learned_from_some_of_many_observations(monkeypatch: pytest.MonkeyPatch, by: Learning) -> None:
    """Beyond the limit from a seeded subset, hyper-parameters from all; up to it from everything, as without one."""
    data = example(60)
    before = learn_groups(data, 2, np.random.default_rng(0), nu=2.5, noise_variance=0.01, by=by)
    monkeypatch.setattr("quadrat.methods.additive.groups._LEARNED_FROM", 60)
    assert learn_groups(data, 2, np.random.default_rng(0), nu=2.5, noise_variance=0.01, by=by) == before
    monkeypatch.setattr("quadrat.methods.additive.groups._LEARNED_FROM", 40)
    sizes: list[int] = []
    fitted = fit_additive

    def spied(data: Observations, *args: Any, **options: Any) -> AdditiveFit:
        sizes.append(len(data))
        return fitted(data, *args, **options)

    monkeypatch.setattr("quadrat.methods.additive.groups.fit_additive", spied)
    some, again = (
        learn_groups(data, 2, np.random.default_rng(seed), nu=2.5, noise_variance=0.01, by=by) for seed in (0, 0)
    )
    assert some == again
    assert sizes.count(60) == 2  # each ends with a fit to all
    assert set(sizes) == {40, 60}
    assert (0, 2) in some.groups
