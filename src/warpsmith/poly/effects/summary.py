"""The summary of a function, as its callers see it."""

from __future__ import annotations

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.poly.pointers.pointers import Root
from warpsmith.tree.types import Symbol

__all__ = ["Summary"]


class Summary(Struct, frozen=True):
    """A function as its callers see it. `loads`, `stores`: roots that a caller can know (entry of a parameter or
    global, object of a global or static, unknown). `returns`: None if the value is not an address that we know."""

    reads: frozenset[Symbol] = frozenset()
    writes: frozenset[Symbol] = frozenset()
    loads: frozenset[Root] = frozenset()
    stores: frozenset[Root] = frozenset()
    retains: frozenset[int] = frozenset()
    returns: frozenset[Root] = frozenset()
    calls_unknown: bool = False
    io: bool = False
    asserts: bool = False
    allocates: bool = False
    reason: str = ""
    span: Span | None = None
