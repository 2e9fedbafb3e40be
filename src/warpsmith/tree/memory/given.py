"""Calls by which host code asks the port's run time for memory that CUDA gives.

    malloc(n)                      ws_managed_malloc(n)           memory that the host and the device share
    posix_memalign(&p, 4096, n)    ws_pinned_posix_memalign(…)    page-locked memory

So are calloc, realloc and aligned_alloc. They take and return what the functions of the C library do, which serve them
where CUDA gives none; `free` is the C library's (emit/runtime/given.cu).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from warpsmith.tree.nodes import Name, Node
from warpsmith.tree.types import INT, SIZE_T, FunctionType, Pointer, Scalar, Symbol

__all__ = ["MANAGED", "PINNED", "is_managed", "is_pinned"]

_VOID: Final = Pointer(Scalar("void", 0, "void"))
_TYPES: Final = {
    "malloc": FunctionType(_VOID, (SIZE_T,)),
    "calloc": FunctionType(_VOID, (SIZE_T, SIZE_T)),
    "realloc": FunctionType(_VOID, (_VOID, SIZE_T)),
    "aligned_alloc": FunctionType(_VOID, (SIZE_T, SIZE_T)),
    "posix_memalign": FunctionType(INT, (Pointer(_VOID), SIZE_T, SIZE_T)),
}


def _named(kind: str) -> Mapping[str, Symbol]:
    return {n: Symbol(f"ws_{kind}_{n}", f"ws_{kind}_{n}", type, "function") for n, type in _TYPES.items()}


MANAGED: Final = _named("managed")
"""The functions for shared memory, by the names of those in whose place they are called."""

PINNED: Final = _named("pinned")
"""Those for page-locked memory."""

_MANAGED: Final = frozenset(MANAGED.values())
_PINNED: Final = frozenset(PINNED.values())


def is_managed(node: Node) -> bool:
    """Whether a node names a function for shared memory."""
    return isinstance(node, Name) and node.symbol in _MANAGED


def is_pinned(node: Node) -> bool:
    """Whether a node names a function for page-locked memory."""
    return isinstance(node, Name) and node.symbol in _PINNED
