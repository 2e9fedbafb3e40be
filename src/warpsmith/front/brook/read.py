"""The door: a text of Brook+ becomes kernels as trees, and functions of host code; or all that is wrong is told.

    text ─► words ─► heads of definitions ─► kernels, and what they call ─► Program
                                         └─► host functions, which are run, never compiled

What is wrong in host code is no mistake of the kernels: it is told when that function is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.brook.cursor import BrookCursor
from warpsmith.front.brook.definitions import MOST_TOLD, find_definitions
from warpsmith.front.brook.functions import BrookFunctions
from warpsmith.front.brook.kernels import make_kernel
from warpsmith.front.brook.kinds import TYPE_NAMES
from warpsmith.front.brook.nodes import BrookDefinition, BrookKernel
from warpsmith.front.brook.tokens import BrookTextError, BrookWord, split_words
from warpsmith.tree.nodes import Function
from warpsmith.tree.program import Program, Unit

__all__ = ["BrookText", "read_brook"]

_LARGEST: Final = 4 << 20


class BrookText(Struct, frozen=True):
    """A text that was read: its words, what it defines, and its kernels with the functions that they call; `aside`:
    what host code has that is not read, by its name."""

    file: SourceFile
    words: tuple[BrookWord, ...]
    definitions: Mapping[str, BrookDefinition]
    kernels: Mapping[str, BrookKernel]
    program: Program
    findings: tuple[Finding, ...]
    aside: Mapping[str, Finding] = field(default_factory=dict)


def read_brook(file: SourceFile, *, guarded: bool = True) -> BrookText:
    """Return what a file holds, with what is wrong in it; `guarded`: kernels leave out threads beyond their domain."""
    if len(file.text) > _LARGEST:
        finding = Finding("INP003", "error", f"{file.path} has more than {_LARGEST:,} bytes", Span(file, 0, 0))
        return BrookText(file, (), {}, {}, Program(()), (finding,))
    try:
        words = split_words(file)
    except BrookTextError as error:
        return BrookText(file, (), {}, {}, Program(()), (error.finding,))
    defined = find_definitions(BrookCursor(words), TYPE_NAMES)
    definitions, wrong = defined.found, defined.wrong
    functions = BrookFunctions(words, definitions)
    kernels: dict[str, BrookKernel] = {}
    for definition in definitions.values():
        if len(wrong) >= MOST_TOLD:
            break
        try:
            if definition.starts:
                kernels[definition.name] = make_kernel(functions, definition, guarded=guarded)
            elif definition.form != "function":
                functions.function(definition.name)
        except BrookTextError as error:
            wrong.append(error.finding)
    return BrookText(file, words, definitions, kernels, _program(file, functions, kernels), _once(wrong), defined.aside)


def _program(file: SourceFile, functions: BrookFunctions, kernels: Mapping[str, BrookKernel]) -> Program:
    made: tuple[Function, ...] = (*functions.made.values(), *(one.function for one in kernels.values()))
    items = tuple(sorted((one for one in made if one.device and not one.device.ours), key=lambda one: one.span.start))
    return Program((Unit(file, "opencl", items, made, (), ()),))


def _once(wrong: list[Finding]) -> tuple[Finding, ...]:
    """Return each finding once, in the order of the text: a function may be read for several kernels."""
    found = {(one.message, one.span.start if one.span else 0): one for one in wrong}
    return tuple(sorted(found.values(), key=lambda one: one.span.start if one.span else 0))
