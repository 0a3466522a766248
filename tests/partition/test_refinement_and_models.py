from __future__ import annotations

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.partition import PartitionTree
from quadrat.randomness import generator


@pytest.mark.parametrize(("target", "rounded"), [(0.3, 0.25), (0.25, 0.25), (0.2499, 0.125), (1.0, 1.0), (3.0, 2.0)])
def test_targets_are_rounded_down_to_powers_of_two(target: float, rounded: float) -> None:
    """r_tilde rounded DOWN, exact powers of two kept."""
    assert PartitionTree(2).refine(0, target) == rounded


def test_targets_are_inherited_and_reached_on_demand() -> None:
    tree = PartitionTree(2)
    left, right = tree.split(0)
    tree.refine(left, 0.3)
    assert tree.pending().tolist() == [left]
    assert (tree.pending_target(left), tree.pending_target(right), tree.pending_target(0)) == (0.25, None, None)
    splits = 0
    while len(tree.pending()):
        node = int(tree.pending()[0])
        assert tree.pending_target(node) == 0.25
        tree.split(node)
        splits += 1
    inside = [leaf for leaf in tree.leaves().tolist() if leaf != right]
    assert len(inside) == 8
    assert splits == 7  # a half square of 1/2 x 1 is 2 x 4 squares of side 1/4
    assert {tuple(tree.cell(leaf).sides.tolist()) for leaf in inside} == {(0.25, 0.25)}
    assert all(tree.pending_target(leaf) is None for leaf in inside)


def test_targets_only_tighten() -> None:
    tree = PartitionTree(1)
    tree.refine(0, 0.25)
    assert tree.refine(0, 0.5) == 0.25
    child = tree.split(0)[0]
    assert tree.refine(child, 0.01) == 0.0078125
    assert tree.pending_target(tree.split(child)[0]) == 0.0078125


@pytest.mark.parametrize("target", [0.0, -1.0, np.nan, "small"])
def test_bad_targets_are_refused(target: object) -> None:
    with pytest.raises(InvalidInput, match="target_side: expected a finite number > 0"):
        PartitionTree(1).refine(0, target)  # type: ignore[arg-type]


def test_nearest_model_equals_a_walk_to_the_root() -> None:
    """Random order of splits and attachments, to leaves and inner nodes: the O(1) answer equals climbing."""
    rng, tree = generator(8), PartitionTree(2)
    own: dict[int, str] = {}
    for step in range(300):
        if rng.random() < 0.6:
            tree.split(int(rng.choice(tree.leaves())))
        else:
            node = int(rng.integers(tree.n_nodes))
            own[node] = f"model {step}"
            tree.attach(node, own[node])
        for node in rng.integers(tree.n_nodes, size=5).tolist():
            above: int | None = node
            while above is not None and above not in own:
                above = tree.parent(above)
            assert tree.model_owner(node) == above
            assert tree.nearest_model(node) == (None if above is None else own[above])


def test_a_model_is_handed_back_as_it_is() -> None:
    tree, model = PartitionTree(1), object()
    assert tree.nearest_model(0) is None
    assert tree.model_owner(0) is None
    tree.attach(0, model)
    assert tree.nearest_model(tree.split(0)[1]) is model
    with pytest.raises(InvalidInput, match="expected any object but None"):
        tree.attach(0, None)
