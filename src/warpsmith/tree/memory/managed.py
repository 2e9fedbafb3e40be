"""Calls by which host code asks the port's run time for memory that the host and the device share.

    malloc(n)                      ws_managed_malloc(n)           as for calloc, realloc, aligned_alloc
    posix_memalign(&p, 4096, n)    ws_managed_posix_memalign(&p, 4096, n)

They take and return what the functions of the C library do, which serve them where there is no shared memory; `free` is
the C library's (emit/runtime/managed.cu).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from warpsmith.tree.nodes import Name, Node
from warpsmith.tree.types import INT, SIZE_T, FunctionType, Pointer, Scalar, Symbol

__all__ = ["MANAGED", "is_managed"]

_VOID: Final = Pointer(Scalar("void", 0, "void"))
_TYPES: Final = {
    "malloc": FunctionType(_VOID, (SIZE_T,)),
    "calloc": FunctionType(_VOID, (SIZE_T, SIZE_T)),
    "realloc": FunctionType(_VOID, (_VOID, SIZE_T)),
    "aligned_alloc": FunctionType(_VOID, (SIZE_T, SIZE_T)),
    "posix_memalign": FunctionType(INT, (Pointer(_VOID), SIZE_T, SIZE_T)),
}
MANAGED: Final[Mapping[str, Symbol]] = {
    name: Symbol(f"ws_managed_{name}", f"ws_managed_{name}", type, "function") for name, type in _TYPES.items()
}
"""The functions, by the names of those in whose place they are called."""

_SYMBOLS: Final = frozenset(MANAGED.values())


def is_managed(node: Node) -> bool:
    """Whether a node names one of them."""
    return isinstance(node, Name) and node.symbol in _SYMBOLS
