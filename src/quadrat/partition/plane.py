"""A picture of a partition in text: the cells as boxes, seen along one or two axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quadrat._core.arrays import Array, ArrayLike, Ints
from quadrat.errors import InvalidInput
from quadrat.partition.cell import contained
from quadrat.partition.tiling import Partition
from quadrat.partition.tree import PartitionTree
from quadrat.partition.unit_cube import as_count, as_unit_point

__all__ = ["draw_plane"]

_LINES = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"  # by arms: 1 up, 2 down, 4 left, 8 right
_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_SHADE = "▒"


def draw_plane(
    cells: PartitionTree | Partition,
    *,
    width: int = 64,
    axes: tuple[int, int] = (0, 1),
    at: ArrayLike | None = None,
    label: Callable[[int], str] | None = None,
) -> str:
    """Return a picture of the cells, the first axis to the right and the second upwards, with a text in each.

    Where cells are too small for boxes of their own, their ancestor is drawn and shaded. With more than two dimensions
    it is the slice through `at`, and the texts are about whole cells, which reach out of the slice.

    Parameters
    ----------
    cells
        A tree, whose leaves are drawn, or a partition of the unit cube.
    width
        Characters across the cube, at least 8; a power of two puts dyadic cuts exactly where they belong.
    axes
        Which two axes; ignored in one dimension.
    at
        A point (D,) of the slice; None is the centre of the cube.
    label
        Leaf of the tree, or label of the partition's cell -> text; it is left out where it does not fit. None writes
        the number of observations (tree) or the label itself (partition).

    Returns
    -------
    str
        Several lines.

    Raises
    ------
    InvalidInput
        No such axis, the same axis twice, or a partition of something else than the unit cube.

    Examples
    --------
    >>> tree = PartitionTree(1)
    >>> _ = tree.add_many([[0.1], [0.6], [0.7]]), tree.split(0), tree.split(2)
    >>> print(draw_plane(tree, width=16))
      ┌───────┬───┬───┐
      │   1   │ 2 │ 0 │
      └───────┴───┴───┘
      0       x0      1
    """
    width = as_count(width, name="width", at_least=8)
    dimension = cells.dimension if isinstance(cells, PartitionTree) else cells.region.dimension
    shown = _checked_axes(axes, dimension)
    slice_point = np.full(dimension, 0.5) if at is None else as_unit_point(at, dimension=dimension, name="at")
    frame = _Frame(shown, slice_point, width)
    if isinstance(cells, PartitionTree):
        boxes = list(_tree_boxes(cells, frame, label))
    elif cells.region.volume == 1.0:
        boxes = list(_partition_boxes(cells, frame, label or str))
    else:
        raise InvalidInput(f"cells: expected a partition of the unit cube, got one of {cells.region}")
    return "\n".join(_framed(_canvas(boxes, frame), frame, shaded=any(box.shaded for box in boxes)))


def _checked_axes(axes: tuple[int, int], dimension: int) -> tuple[int, ...]:
    if dimension == 1:
        return (0,)
    if len(axes) != 2 or axes[0] == axes[1]:
        raise InvalidInput(f"axes: expected two different axes, got {axes!r}")
    return tuple(as_count(axis, name="axes", at_least=0, at_most=dimension - 1) for axis in axes)


@dataclass(frozen=True)
class _Frame:
    """Where the slice lies and how it maps to characters."""

    shown: tuple[int, ...]
    at: Array
    width: int

    @property
    def height(self) -> int:
        return self.width // 2 if len(self.shown) == 2 else 2  # a character is about twice as high as wide

    @property
    def rest(self) -> list[int]:
        return [axis for axis in range(len(self.at)) if axis not in self.shown]

    def meets(self, lower: Array, upper: Array) -> bool:
        """Return whether the slice goes through a box."""
        return bool(contained(self.at[self.rest], lower[self.rest], upper[self.rest]))

    def box(self, lower: Array, upper: Array) -> tuple[int, int, int, int]:
        """Return left, right, top, bottom of a box in characters; the second axis points up."""
        left, right = (round(float(end[self.shown[0]]) * self.width) for end in (lower, upper))
        if len(self.shown) == 1:
            return left, right, 0, self.height
        bottom, top = (self.height - round(float(end[self.shown[1]]) * self.height) for end in (lower, upper))
        return left, right, top, bottom

    def fits(self, lower: Array, upper: Array) -> bool:
        """Return whether a box has a character inside its lines."""
        left, right, top, bottom = self.box(lower, upper)
        return right - left >= 2 and bottom - top >= 2


@dataclass(frozen=True)
class _Box:
    left: int
    right: int
    top: int
    bottom: int
    text: str
    shaded: bool
    outlined: bool = True


def _tree_boxes(tree: PartitionTree, frame: _Frame, label: Callable[[int], str] | None) -> Iterator[_Box]:
    pending = [0]
    while pending:
        node = pending.pop()
        lower, upper = tree.lower[node], tree.upper[node]
        children = [child for child in tree.children(node) if frame.meets(tree.lower[child], tree.upper[child])]
        if children and all(frame.fits(tree.lower[child], tree.upper[child]) for child in children):
            pending += children
            continue
        text = str(tree.count(node)) if label is None else ""
        if label is not None and not children:  # a label describes a leaf, so it cannot stand for several
            text = label(node)
        yield _Box(*frame.box(lower, upper), text, shaded=bool(children))


def _partition_boxes(partition: Partition, frame: _Frame, label: Callable[[int], str]) -> Iterator[_Box]:
    for lower, upper, name in zip(partition.lower, partition.upper, partition.labels.tolist(), strict=True):
        if frame.meets(lower, upper):
            fits = frame.fits(lower, upper)
            yield _Box(*frame.box(lower, upper), label(name) if fits else "", shaded=not fits, outlined=fits)


def _canvas(boxes: list[_Box], frame: _Frame) -> list[str]:
    shape = (frame.height + 1, frame.width + 1)
    arms: Ints = np.zeros(shape, dtype=np.intp)
    inside: NDArray[np.str_] = np.full(shape, " ", dtype="<U1")
    cube = _Box(0, frame.width, 0, frame.height, text="", shaded=False)
    for box in [cube, *boxes]:
        rows, columns = slice(box.top, box.bottom + 1), slice(box.left, box.right + 1)
        if box.shaded:
            inside[rows, columns] = _SHADE
        if box.outlined:
            for row in (box.top, box.bottom):
                arms[row, box.left : box.right] |= _RIGHT
                arms[row, box.left + 1 : box.right + 1] |= _LEFT
            for column in (box.left, box.right):
                arms[box.top : box.bottom, column] |= _DOWN
                arms[box.top + 1 : box.bottom + 1, column] |= _UP
        room = box.right - box.left - 1
        # a text that hid all of the shade would read as one cell
        hides_shade = box.shaded and room * (box.bottom - box.top - 1) <= len(box.text)
        if 0 < len(box.text) <= room and not hides_shade:
            start = box.left + 1 + (room - len(box.text)) // 2
            inside[(box.top + box.bottom) // 2, start : start + len(box.text)] = list(box.text)
    lines = np.array(list(_LINES))[arms]
    return ["".join(row) for row in np.where(arms > 0, lines, inside)]


def _framed(canvas: list[str], frame: _Frame, *, shaded: bool) -> list[str]:
    """Add the names and the ends of the axes, and say what is not seen."""
    margins = [""] * len(canvas)
    if len(frame.shown) == 2:
        margins[0], margins[-1], margins[len(canvas) // 2] = "1", "0", f"x{frame.shown[1]}"
    pad = max(1, *(len(margin) for margin in margins))
    indent = " " * (pad + 1)
    lines = [f"{margin:>{pad}} {row}" for margin, row in zip(margins, canvas, strict=True)]
    lines.append(indent + f"0{f'x{frame.shown[0]}':^{frame.width - 1}}1")
    if frame.rest:
        lines.append(indent + "slice at " + ", ".join(f"x{axis} = {frame.at[axis]:.4g}" for axis in frame.rest))
    if shaded:
        lines.append(indent + f"{_SHADE} cells too small to draw one by one")
    return lines
