"""A tree of cells as text, one line a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from quadrat.partition.cell import box_text, interval_text
from quadrat.partition.tree import PartitionTree
from quadrat.partition.unit_cube import as_count

__all__ = ["draw"]

_WHOLE_BOX = 3  # axes; beyond it only the axes that are cut are written


def draw(tree: PartitionTree, *, max_depth: int = 6, label: Callable[[int], str] | None = None) -> str:
    """Return the tree as indented text: each cell, its node number, the observations in it, and a label.

    Parameters
    ----------
    tree
        What to draw.
    max_depth
        Cells below it are summed up in the line of their ancestor.
    label
        node -> text for a last column, such as its bound; None leaves the column out.

    Returns
    -------
    str
        Several lines.

    Examples
    --------
    >>> tree = PartitionTree(1)
    >>> _ = tree.add_many([[0.1], [0.6], [0.7]]), tree.split(0), tree.split(2)
    >>> print(draw(tree))
    3 cells, 3 points, depth 2
    <BLANKLINE>
    cell               node  points
    [0, 1]                0       3
    ├─ [0, 0.5)           1       1
    └─ [0.5, 1]           2       2
       ├─ [0.5, 0.75)     3       2
       └─ [0.75, 1]       4       0
    """
    max_depth = as_count(max_depth, name="max_depth", at_least=0)
    rows = [("cell", "node", "points", "label" if label else "")]
    for node, indent, hidden in _walk(tree, max_depth):
        note = f"  … {hidden:,} cells" if hidden else ""
        rows.append(
            (indent + _cell_text(tree, node) + note, str(node), f"{tree.count(node):,}", label(node) if label else "")
        )
    wide, number, points = (max(len(row[i]) for row in rows) for i in range(3))
    lines = [
        f"{cell:<{wide}}  {node:>{number}}  {count:>{points}}  {text}".rstrip() for cell, node, count, text in rows
    ]
    n_leaves, n = tree.n_leaves, len(tree.points)
    title = (
        f"{n_leaves:,} {'cell' if n_leaves == 1 else 'cells'}, {n:,} {'point' if n == 1 else 'points'}, "
        f"depth {int(tree.depths.max())}"
    )
    return "\n".join([title, "", *lines])


def _walk(tree: PartitionTree, max_depth: int) -> Iterator[tuple[int, str, int]]:
    """Yield (node, the lines that lead to it, leaves left out below it), each parent before its children."""
    pending = [(0, "", "")]
    while pending:
        node, indent, below = pending.pop()
        children = tree.children(node)
        cut_off = bool(children) and tree.depth(node) >= max_depth
        yield node, indent, _leaves_below(tree, node) if cut_off else 0
        if children and not cut_off:
            first, last = children
            pending.append((last, below + "└─ ", below + "   "))
            pending.append((first, below + "├─ ", below + "│  "))


def _leaves_below(tree: PartitionTree, node: int) -> int:
    leaves, pending = 0, [node]
    while pending:
        children = tree.children(pending.pop())
        pending += children
        leaves += not children
    return leaves


def _cell_text(tree: PartitionTree, node: int) -> str:
    lower, upper = tree.lower[node], tree.upper[node]
    if tree.dimension <= _WHOLE_BOX:
        return box_text(lower, upper)
    cut = [
        f"x{axis} in {interval_text(a, b)}"
        for axis, (a, b) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True))
        if b - a < 1.0
    ]
    return ", ".join(cut) or f"[0, 1]^{tree.dimension}"
