from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.partition import LargestVariation, LongestSide, PartitionTree


def test_ties_go_to_the_lowest_axis() -> None:
    assert LongestSide()(np.array([0.5, 1.0, 1.0])) == 1
    assert LargestVariation(lambda sides: np.zeros_like(sides))(np.ones(3)) == 0


def test_weights_are_inverse_length_scales() -> None:
    tree = PartitionTree(2, axis_rule=LongestSide([4.0, 1.0]))
    node, axes = 0, []
    for _ in range(5):
        sides = tree.cell(node).sides
        node, _ = tree.split(node)
        axes.append(int(np.argmax(sides != tree.cell(node).sides)))
    assert axes == [0, 0, 0, 1, 0]  # 4, 2, 1 against 1: the tie goes to axis 0


def test_the_rule_makes_all_cells_of_a_depth_alike_and_is_asked_once_a_depth() -> None:
    """The axis depends on depth alone. 2^6 cells, each with the sides of its depth."""
    calls = []

    def variation(sides: Array) -> Array:
        calls.append(sides)
        return np.asarray(np.sqrt(1.0 - np.exp(-((sides / np.array([0.2, 0.5, 1.0])) ** 2))))

    tree = PartitionTree(3, axis_rule=LargestVariation(variation))
    for _ in range(6):
        for leaf in tree.leaves().tolist():
            tree.split(leaf)
    for depth in range(7):
        nodes = np.flatnonzero(tree.depths == depth)
        assert len(nodes) == 2**depth
        assert len(np.unique(tree.upper[nodes] - tree.lower[nodes], axis=0)) == 1
    assert len(calls) == 6


def test_shares_of_depth_add_up_to_one() -> None:
    """Kraft: the leaves of any tree satisfy sum 2^-J = 1, so no share is given twice."""
    tree = PartitionTree(3)
    for node in (0, 1, 2, 5, 3, 9):
        tree.split(node)
    assert float(np.sum(2.0 ** -tree.depths[tree.leaves()])) == 1.0


@pytest.mark.parametrize("weights", [[1.0, 0.0], [1.0, -1.0], [1.0, np.nan], [1.0, 1.0, 1.0]])
def test_bad_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(InvalidInput, match="weights: expected"):
        PartitionTree(2, axis_rule=LongestSide(weights)).split(0)


def test_bad_rules_are_named_when_used() -> None:
    with pytest.raises(InvalidInput, match="axis_rule: expected an integer from 0 to 1, got 5"):
        PartitionTree(2, axis_rule=lambda sides: 5 * len(sides) // 2).split(0)
    for variation in (lambda sides: sides[:1], lambda sides: np.nan * sides):
        with pytest.raises(InvalidInput, match="variation: expected 2 numbers"):
            PartitionTree(2, axis_rule=LargestVariation(variation)).split(0)
