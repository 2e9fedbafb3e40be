"""Inline assembly that only makes threads meet, or orders memory: the calls that say the same.

    asm volatile("bar.sync 0;");                          __syncthreads()
    asm volatile("bar.sync %0, %1;" :: "r"(1), "r"(n));   ws_bar_sync(1, n)        numbered, of n threads
    asm volatile("bar.arrive 2, 64;");                    ws_bar_arrive(2, 64)
    asm volatile("bar.warp.sync %0;" :: "r"(mask));       __syncwarp(mask)
    asm volatile("membar.gl;" ::: "memory");              __threadfence()          cta: …_block(), sys: …_system()

PTX ISA 9.0, 9.7.13. Whatever else stands in the text, all of it stays assembly that is not modelled.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.tree.nodes import Call, Expr, Literal, Name
from warpsmith.tree.types import INT, VOID, FunctionType, Symbol

__all__ = ["AssemblyCall", "call_of", "meetings", "template_of"]

_TEMPLATE: Final = re.compile(r'[^("]*\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
_PIECE: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ESCAPES: Final = {r"\n": "\n", r"\t": "\t", r"\r": "\r"}
_NUMBER: Final = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uU]?\Z")
_OPERAND: Final = re.compile(r"%(\d+)\Z")
_SCOPES: Final = {
    "cta": "__threadfence_block", "gl": "__threadfence", "gpu": "__threadfence", "cluster": "__threadfence",
    "sys": "__threadfence_system",
}  # fmt: skip
_ORDERS: Final = frozenset({"sc", "acq_rel", "acquire", "release"})


class AssemblyCall(Struct, frozen=True):
    """A call of `name`; each operand is a number, or the place (%0) of one among the operands of the assembly."""

    name: str
    numbers: tuple[str, ...] = ()


def template_of(text: str) -> str | None:
    """Return the instructions of inline assembly as they are written; None where they are not written here."""
    found = _TEMPLATE.match(text)
    if found is None:
        return None
    pieces = "".join(_PIECE.findall(found[1]))
    for escape, letter in _ESCAPES.items():
        pieces = pieces.replace(escape, letter)
    return _COMMENT.sub(" ", pieces)


def meetings(template: str) -> tuple[AssemblyCall, ...] | None:
    """Return what the instructions of a template do; None where one of them does something else."""
    made: list[AssemblyCall] = []
    for instruction in filter(None, (part.strip() for part in template.split(";"))):
        name, _, rest = instruction.partition(" ")
        operands = [part.strip() for part in rest.split(",")] if rest.strip() else []
        numbers = tuple(filter(None, map(_number, operands)))
        found = _meeting(name.split("."), numbers) if len(numbers) == len(operands) else None
        if found is None:
            return None
        made.append(found)
    return tuple(made)


def _number(text: str) -> str:
    """Return an operand that is a number, or the place of one; "" where it is neither."""
    return text if _NUMBER.match(text) or _OPERAND.match(text) else ""


def _meeting(parts: Sequence[str], numbers: tuple[str, ...]) -> AssemblyCall | None:
    """Return what one instruction does."""
    base, *more = parts
    left = [part for part in more if part not in ("aligned", "cta")] if base in ("bar", "barrier") else more
    match base, left:
        case (("bar" | "barrier"), ["sync"]) if numbers == ("0",):
            return AssemblyCall("__syncthreads")
        case (("bar" | "barrier"), ["sync"]) if 1 <= len(numbers) <= 2:
            return AssemblyCall("ws_bar_sync", numbers)
        case (("bar" | "barrier"), ["arrive"]) if len(numbers) == 2:
            return AssemblyCall("ws_bar_arrive", numbers)
        case "bar", ["warp", "sync"] if len(numbers) == 1:
            return AssemblyCall("__syncwarp", numbers)
        case "membar", ["cta" | "gl" | "sys" as scope] if not numbers:
            return AssemblyCall(_SCOPES[scope])
        case "fence", [*order, "cta" | "gpu" | "cluster" | "sys" as scope] if not numbers and _ORDERS.issuperset(order):
            return AssemblyCall(_SCOPES[scope])
    return None


def call_of(meeting: AssemblyCall, span: Span, operands: Sequence[Expr]) -> Expr | None:
    """Return the call; None where it names an operand that is not there."""
    given: list[Expr] = []
    for number in meeting.numbers:
        place = _OPERAND.match(number)
        if place is None:
            given.append(Literal(span=span, type=INT, text=number, value=int(number.rstrip("uU"), 0)))
        elif int(place[1]) < len(operands):
            given.append(operands[int(place[1])])
        else:
            return None
    type = FunctionType(VOID, ())
    function = Name(span=span, type=type, symbol=Symbol(meeting.name, meeting.name, type, "function"))
    return Call(span=span, type=VOID, function=function, arguments=tuple(given))
