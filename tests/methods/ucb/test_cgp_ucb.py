from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from quadrat.gp import GaussianProcess, Observations
from quadrat.kernels import Matern, Product, Sum
from quadrat.methods.base import Axis, Domain
from quadrat.methods.surrogate import Learned
from quadrat.methods.ucb.cgp_ucb import columns, composed, learn_composed

CHOICE = Domain((Axis(), Axis((1 / 6, 0.5, 5 / 6), ordered=False), Axis()), context=(1,))
FORM = Learned(lengthscales=(0.1, 5.0))


def test_columns_of_actions_and_contexts() -> None:
    assert columns(CHOICE) == ([0, 4], [1, 2, 3])
    assert columns(Domain.cube(2)) == ([0, 1], [])


@pytest.mark.parametrize("composition", ["product", "sum"])
def test_composed_kernels_by_their_definition(composition: Literal["product", "sum"]) -> None:
    """Krause and Ong 2011, section 5: k((s, z), (s', z')) = k_S(s, s') k_Z(z, z'), or the sum of both."""
    of_actions, of_contexts = Matern(2.5, [0.3, 0.6]), Matern(1.5, 0.8, amplitude=1.3)
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.random(8), rng.choice([1 / 6, 0.5, 5 / 6], 8), rng.random(8)])
    features = CHOICE.features(points)
    left, right = of_actions(features[:, [0, 4]]), of_contexts(features[:, 1:4])
    expected = left * right if composition == "product" else left + right
    np.testing.assert_allclose(composed(of_actions, of_contexts, CHOICE, composition)(features), expected)


def test_without_contexts_the_kernel_of_actions_is_left() -> None:
    points = np.random.default_rng(0).random((5, 2))
    kernel = composed(Matern(2.5, 0.3), Matern(2.5, 9.0), Domain.cube(2), "product")
    np.testing.assert_allclose(kernel(points), Matern(2.5, 0.3)(points))


def drawn(
    scales: tuple[float, float], composition: Literal["product", "sum"], n: int = 80
) -> tuple[Domain, Observations]:
    """A draw of the process on one action and one context, with these length-scales."""
    domain = Domain((Axis(), Axis()), context=(1,))
    rng = np.random.default_rng(3)
    points = rng.random((n, 2))
    kernel = composed(Matern(2.5, scales[0]), Matern(2.5, scales[1]), domain, composition)
    values = np.linalg.cholesky(kernel(points) + 1e-8 * np.eye(n)) @ rng.standard_normal(n)
    return domain, Observations.merge(points, values + 0.05 * rng.standard_normal(n), 0.05**2)


@pytest.mark.parametrize("scales", [(0.2, 1.5), (1.0, 0.2)])
def test_lengthscales_of_actions_and_contexts_are_learned_apart(scales: tuple[float, float]) -> None:
    domain, data = drawn(scales, "product")
    kernel = learn_composed(FORM, domain, "product", data)
    assert isinstance(kernel, Product)
    assert kernel.variance == pytest.approx(1.0)
    logs = dict(zip(kernel.hyperparameter_names, kernel.hyperparameters, strict=True))
    found = np.exp([logs["left.lengthscale[0]"], logs["right.lengthscale[0]"]])
    assert (found / scales > 0.4).all()
    assert (found / scales < 2.5).all()


def test_a_sum_learns_how_much_is_due_to_the_context() -> None:
    domain = Domain((Axis(), Axis()), context=(1,))
    rng = np.random.default_rng(0)
    points = rng.random((60, 2))
    data = Observations.merge(points, np.sin(6 * points[:, 0]) + 0.1 * points[:, 1], 1e-4)
    kernel = learn_composed(FORM, domain, "sum", data)
    assert isinstance(kernel, Sum)
    assert kernel.left.variance > 4 * kernel.right.variance


def test_learning_again_starts_from_the_fit_before_and_is_no_worse() -> None:
    domain, data = drawn((0.3, 0.8), "product", 30)

    def evidence(kernel: object) -> float:
        assert isinstance(kernel, Product)
        gp = GaussianProcess(kernel, noise_variance=0.0)
        gp.add(data.x, data.y, data.noise_variance(0.0))
        return gp.log_evidence

    first = learn_composed(FORM, domain, "product", data)
    again = learn_composed(FORM, domain, "product", data, first)
    assert evidence(again) == pytest.approx(evidence(first), abs=0.05)


def test_the_columns_of_a_choice_share_a_lengthscale() -> None:
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.random(30), rng.choice([1 / 6, 0.5, 5 / 6], 30), rng.random(30)])
    data = Observations.merge(CHOICE.features(points), np.sin(5 * points[:, 0]) + points[:, 1], 0.01)
    kernel = learn_composed(FORM, CHOICE, "product", data)
    assert isinstance(kernel, Product)
    assert [name.split(".")[-1] for name in kernel.right.hyperparameter_names] == ["lengthscale[0]", "amplitude"]
    assert len(kernel.left.hyperparameter_names) == 3
