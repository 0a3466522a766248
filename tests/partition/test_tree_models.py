from __future__ import annotations

import pytest

from quadrat.errors import InvalidInput
from quadrat.partition import PartitionTree
from quadrat.randomness import generator


def test_nearest_model_equals_a_walk_to_the_root() -> None:
    """Random order of splits and attachments to leaves: the O(1) answer equals climbing."""
    rng, tree = generator(8), PartitionTree(2)
    own: dict[int, str] = {}
    for step in range(300):
        if rng.random() < 0.6:
            tree.split(int(rng.choice(tree.leaves())))
        else:
            node = int(rng.choice(tree.leaves()))
            own[node] = f"model {step}"
            tree.attach(node, own[node])
        for node in rng.integers(tree.n_nodes, size=5).tolist():
            above: int | None = node
            while above is not None and above not in own:
                above = tree.parent(above)
            assert tree.nearest_model(node) == (None if above is None else own[above])


def test_a_model_is_handed_back_as_it_is() -> None:
    tree, model = PartitionTree(1), object()
    assert tree.nearest_model(0) is None
    tree.attach(0, model)
    assert tree.nearest_model(tree.split(0)[1]) is model
    with pytest.raises(InvalidInput, match="expected any object but None"):
        tree.attach(1, None)
    with pytest.raises(InvalidInput, match="expected a leaf, got node 0"):
        tree.attach(0, model)
