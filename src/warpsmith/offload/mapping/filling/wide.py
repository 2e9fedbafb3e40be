"""Which reads a thread may load several neighbors of at once: those that are neighbors in the array and in the tile.

    B[k][j] by k and j:   a row of the tile is a row of B                          two doubles, four floats
    A[j][k] by j and k:   rows of the tile are padded, so that columns of it       one at a time
                          meet different banks

Invariant: so many elements behind the first one in a row of the tile is as many behind it in the array. Whether
addresses are multiples of what is loaded at once is tested where it is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.offload.mapping.tile_shape import Layout, TileShape
from warpsmith.offload.mapping.tiles import SharedRead
from warpsmith.tree.nodes import Binary, Expr, For
from warpsmith.tree.walk import same

__all__ = ["find_conjuncts", "find_width"]

_MOST_BYTES: Final = 16
"""What a thread loads at once."""
_LEAST_BYTES: Final = 4


def find_width(read: SharedRead, layout: Layout, shape: TileShape, loop: For) -> int:
    """Return how many neighbors of a read a thread loads at once: as many as are asked for, or one."""
    asked = shape.wide.get(loop, 1)
    if read.element.kind != "float" or not _LEAST_BYTES <= read.bytes <= _MOST_BYTES // asked:
        return 1
    across = layout.extents[-1]
    along_row = read.strides.get(layout.by[-1].variable) == 1
    if asked == 1 or not along_row or layout.padding or across % asked or shape.block.threads % (across // asked):
        return 1
    copied, product = read.held[0] is read.nodes[0], _is_product(read)
    # a product waits in a register until its tile is not in use any more
    return asked if copied or (product and loop not in shape.doubled) else 1


def find_conjuncts(tests: Sequence[Expr]) -> list[Expr]:
    """Return what must hold so that all tests do, each condition once."""
    found: list[Expr] = []
    for test in tests:
        found += [part for part in _split(test) if not any(same(part, other) for other in found)]
    return [copy_tree(part) for part in found]


def _split(test: Expr) -> Iterator[Expr]:
    if isinstance(test, Binary) and test.op == "&&":
        yield from _split(test.left)
        yield from _split(test.right)
    else:
        yield test


def _is_product(read: SharedRead) -> bool:
    """Whether a tile has the product of each element and one value."""
    held = read.held[0]
    return isinstance(held, Binary) and any(part is read.nodes[0] for part in (held.left, held.right))
