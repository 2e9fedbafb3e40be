"""Kernels that the parser cannot take: those with errors in them, and those that call functions with errors.

__device__ int f(…) { error }  ◄── g ◄── kernel k       k is read, but for what f gives: lost in part
template <int B> k … error     ◄── k<128><<<…>>>(…)     the parser makes no instance: k<128> is lost, as it is written
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.tree.nodes import Function, Name
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = ["LostKernel", "find_parameters", "find_partly_lost", "find_spelled"]

_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_PLAIN: Final = frozenset({
    "bool", "char", "const", "double", "false", "float", "int", "long", "short", "signed", "true", "unsigned",
})  # fmt: skip


class LostKernel(Struct, frozen=True):
    """A kernel that has errors in it, or calls a function that has. `name`: as one writes it; `span`: where it is
    named, `extent`: all of it; `written`: its parameters' names as they stand there, where the parser has none."""

    name: str
    parameters: tuple[Symbol, ...]
    span: Span
    extent: Span
    written: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return self.written or tuple(parameter.name for parameter in self.parameters)


def find_partly_lost(functions: Iterable[Function], gone: set[Symbol]) -> Iterator[LostKernel]:
    """Yield the kernels among `functions` from which calls lead to one of the functions `gone`."""
    if not gone:
        return
    by_symbol = {function.symbol: function for function in functions}
    named = {symbol: _find_named(function) for symbol, function in by_symbol.items()}
    reached = set(gone)
    changed = True
    while changed:
        more = {symbol for symbol, names in named.items() if symbol not in reached and names & reached}
        changed = bool(more)
        reached |= more
    for symbol, function in by_symbol.items():
        if symbol in reached and function.device is not None and function.device.kernel:
            name = symbol.label or symbol.name
            yield LostKernel(name, function.parameters, symbol.span or function.span, function.span)


def _find_named(function: Function) -> set[Symbol]:
    return {node.symbol for node in walk(function.body) if isinstance(node, Name)}


def find_spelled(name: str, text: str, device_text: str) -> list[str]:
    """Return the instances of a kernel template that are launched with their arguments written out, as far as these are
    known outside of functions of the host.

    >>> find_spelled("k", "void f() { const int n = 2; k<128><<<1, 2>>>(); k<n><<<1, 2>>>(); }", "")
    ['k<128>']
    """
    known = set(_WORD.findall(device_text)) | _PLAIN
    found = re.findall(rf"\b{re.escape(name)}\s*<(?!<)([^;(){{}}]*?)>\s*<\s*<\s*<", text)
    written = (" ".join(arguments.split()) for arguments in found)
    return [f"{name}<{one}>" for one in dict.fromkeys(written) if one and set(_WORD.findall(one)) <= known]


def find_parameters(name: str, text: str) -> tuple[str, ...]:
    """Return the names of a function's parameters as its text has them.

    >>> find_parameters("k", "__global__ void k(const T *in, float (&a)[4], int n = f(1, 2)) {")
    ('in', 'a', 'n')
    """
    start = re.search(rf"\b{re.escape(name)}\s*\(", text)
    if start is None:
        return ()
    parts, depth, at = [""], 1, start.end()
    while at < len(text) and depth:
        depth += (text[at] in "([{<") - (text[at] in ")]}>")
        parts = [*parts, ""] if text[at] == "," and depth == 1 else [*parts[:-1], parts[-1] + text[at]]
        at += 1
    declared = (re.sub(r"\[[^\]]*\]", "", part.partition("=")[0]) for part in parts)
    words = [_WORD.findall(one) for one in declared]
    return tuple(found[-1] for found in words if found)
