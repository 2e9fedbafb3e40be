"""New variables of one kernel, which another kernel may have under the same names."""

from __future__ import annotations

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.offload.fragments import OffloadRequest
from warpsmith.offload.values.kernel_text import shared_type
from warpsmith.tree.text.lexical import name_from
from warpsmith.tree.types import Symbol, Type

__all__ = ["OwnVariables"]


class OwnVariables(Struct):
    """The supply for the kernel `kernel`; it only ever grows."""

    request: OffloadRequest
    kernel: str
    taken: set[str] = field(default_factory=set)

    def make(self, wanted: str, type: Type, span: Span | None) -> Symbol:
        """Return a variable of the kernel, called `wanted` where nothing else is, else `wanted2` and so on."""
        wanted = name_from(wanted, ("cuda", "cu_"))
        name, number = wanted, 1
        while self.request.names.is_taken(name) or name in self.taken:
            number += 1
            name = f"{wanted}{number}"
        self.taken.add(name)
        own = shared_type(type, self.request.facts.function.span)
        return Symbol(name, f"{self.kernel}:{name}", own, "local", span)
