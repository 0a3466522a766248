from __future__ import annotations

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.partition import Cell, Partition, PartitionTree, draw, draw_plane, printed_partition


@pytest.fixture
def tree() -> PartitionTree:
    """Two dimensions, ten points, finest around (0.3, 0.6)."""
    tree = PartitionTree(2)
    tree.add_many([[0.3, 0.6], [0.31, 0.62], [0.26, 0.55], [0.33, 0.7], [0.4, 0.9]])
    tree.add_many([[0.1, 0.1], [0.2, 0.8], [0.7, 0.3], [0.9, 0.9], [1.0, 1.0]])
    for _ in range(6):
        tree.split(tree.locate([0.3, 0.6]))
    return tree


def lines(text: str) -> str:
    return "\n" + text + "\n"


def test_tree_in_text(tree: PartitionTree) -> None:
    shown = draw(tree, label=lambda node: f"U = {1 + 1 / (1 + tree.depth(node)):.2f}" if tree.is_leaf(node) else "")
    assert (
        lines(shown)
        == """
7 cells, 10 points, depth 6

cell                                             node  points  label
[0, 1] x [0, 1]                                     0      10
├─ [0, 0.5) x [0, 1]                                1       7
│  ├─ [0, 0.5) x [0, 0.5)                           3       1  U = 1.33
│  └─ [0, 0.5) x [0.5, 1]                           4       6
│     ├─ [0, 0.25) x [0.5, 1]                       5       1  U = 1.25
│     └─ [0.25, 0.5) x [0.5, 1]                     6       5
│        ├─ [0.25, 0.5) x [0.5, 0.75)               7       4
│        │  ├─ [0.25, 0.375) x [0.5, 0.75)          9       4
│        │  │  ├─ [0.25, 0.375) x [0.5, 0.625)     11       3  U = 1.14
│        │  │  └─ [0.25, 0.375) x [0.625, 0.75)    12       1  U = 1.14
│        │  └─ [0.375, 0.5) x [0.5, 0.75)          10       0  U = 1.17
│        └─ [0.25, 0.5) x [0.75, 1]                 8       1  U = 1.20
└─ [0.5, 1] x [0, 1]                                2       3  U = 1.50
"""
    )


def test_deep_trees_are_summed_up(tree: PartitionTree) -> None:
    assert (
        lines(draw(tree, max_depth=2))
        == """
7 cells, 10 points, depth 6

cell                                  node  points
[0, 1] x [0, 1]                          0      10
├─ [0, 0.5) x [0, 1]                     1       7
│  ├─ [0, 0.5) x [0, 0.5)                3       1
│  └─ [0, 0.5) x [0.5, 1]  … 5 cells     4       6
└─ [0.5, 1] x [0, 1]                     2       3
"""
    )


def test_many_axes_show_only_those_that_are_cut() -> None:
    tree = PartitionTree(8)
    tree.split(tree.split(0, 3)[1], 5)
    assert (
        lines(draw(tree))
        == """
3 cells, 0 points, depth 2

cell                                  node  points
[0, 1]^8                                 0       0
├─ x3 in [0, 0.5)                        1       0
└─ x3 in [0.5, 1]                        2       0
   ├─ x3 in [0.5, 1], x5 in [0, 0.5)     3       0
   └─ x3 in [0.5, 1], x5 in [0.5, 1]     4       0
"""
    )


def test_one_cell_reads_as_one() -> None:
    tree = PartitionTree(1)
    tree.add(0.5)
    assert draw(tree).startswith("1 cell, 1 point, depth 0\n")


def test_plane(tree: PartitionTree) -> None:
    assert (
        lines(draw_plane(tree, width=32))
        == """
 1 ┌───────┬───────┬───────────────┐
   │       │       │               │
   │       │   1   │               │
   │       │       │               │
   │   1   ├───┬───┤               │
   │       │ 1 │   │               │
   │       ├───┤ 0 │               │
   │       │ 3 │   │               │
x1 ├───────┴───┴───┤       3       │
   │               │               │
   │               │               │
   │               │               │
   │       1       │               │
   │               │               │
   │               │               │
   │               │               │
 0 └───────────────┴───────────────┘
   0              x0               1
"""
    )


def test_small_cells_are_shaded_inside_their_ancestor(tree: PartitionTree) -> None:
    assert (
        lines(draw_plane(tree, width=16))
        == """
 1 ┌───┬───┬───────┐
   │   │ 1 │       │
   │ 1 ├─┬─┤       │
   │   │▒│0│       │
x1 ├───┴─┴─┤   3   │
   │       │       │
   │   1   │       │
   │       │       │
 0 └───────┴───────┘
   0      x0       1
   ▒ cells too small to draw one by one
"""
    )


def test_slices_of_more_dimensions_name_where_they_are() -> None:
    tree = PartitionTree(3)
    tree.split_all_axes(0)
    tree.add([0.1, 0.1, 0.1])
    picture = draw_plane(tree, width=8, axes=(2, 0), at=[0.5, 0.2, 0.5])
    assert (
        lines(picture)
        == """
 1 ┌───┬───┐
   │ 0 │ 0 │
x0 ├───┼───┤
   │ 1 │ 0 │
 0 └───┴───┘
   0  x2   1
   slice at x1 = 0.2
"""
    )


def test_partitions_show_their_labels() -> None:
    assert (
        lines(draw_plane(printed_partition(Cell.unit(2), 0.4), width=20))
        == """
 1 ┌───────┬───────┬───┐
   │   2   │   5   │ 8 │
   ├───────┼───────┼───┤
   │       │       │   │
   │   1   │   4   │ 7 │
x1 │       │       │   │
   ├───────┼───────┼───┤
   │       │       │   │
   │   0   │   3   │ 6 │
   │       │       │   │
 0 └───────┴───────┴───┘
   0        x0         1
"""
    )


def test_cells_of_a_partition_without_room_for_a_box_are_shaded() -> None:
    thin = Partition(
        np.array([[0.0, 0.0], [0.0, 0.5], [0.0, 0.55], [0.0, 0.6], [0.0, 0.65]]),
        np.array([[1.0, 0.5], [1.0, 0.55], [1.0, 0.6], [1.0, 0.65], [1.0, 1.0]]),
        Cell.unit(2),
        np.arange(5),
    )
    assert (
        lines(draw_plane(thin, width=24, label=lambda cell: "abcde"[cell]))
        == """
 1 ┌───────────────────────┐
   │                       │
   │           e           │
   │                       │
   ├───────────────────────┤
   │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│
x1 ├───────────────────────┤
   │                       │
   │                       │
   │           a           │
   │                       │
   │                       │
 0 └───────────────────────┘
   0          x0           1
   ▒ cells too small to draw one by one
"""
    )


@pytest.mark.parametrize("axes", [(0, 0), (0, 2), (0,), (-1, 0)])
def test_axes_must_exist(tree: PartitionTree, axes: tuple[int, int]) -> None:
    with pytest.raises(InvalidInput, match="axes: expected"):
        draw_plane(tree, axes=axes)


def test_other_wrong_arguments(tree: PartitionTree) -> None:
    with pytest.raises(InvalidInput, match="width: expected an integer >= 8"):
        draw_plane(tree, width=3)
    with pytest.raises(InvalidInput, match="max_depth: expected an integer >= 0"):
        draw(tree, max_depth=-1)
    with pytest.raises(InvalidInput, match="expected a partition of the unit cube"):
        draw_plane(printed_partition(Cell([0.0], [0.5]), 0.2))
    with pytest.raises(InvalidInput, match="at: expected"):
        draw_plane(tree, at=[0.5, 2.0])
