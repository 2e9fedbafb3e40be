"""Into which memory generic addresses lead, where that is known; accesses then say it.

    to_generic(x, shared)          leads to shared memory, and so do what is added to it, and phis and selects of such
    load generic v                 becomes a load of shared memory at the same address in that space

As LLVM's InferAddressSpaces: optimistic, so that a pointer that walks through an array keeps its space around a loop.
An address that was a number in between (bitcast) leads anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from msgspec.structs import replace

from warpsmith.ssa.nodes import (
    BasicBlock,
    Constant,
    Function,
    Instruction,
    Memory,
    Operand,
    Phi,
    Space,
    Text,
    Undefined,
    Value,
)
from warpsmith.ssa.types import I64

__all__ = ["with_spaces"]

_ANY: Final = "any"
"""Not known yet: takes the space of whatever it meets."""
_NONE: Final = ""
"""A number, or an address of which nothing is known."""
_MOVED: Final = ("shared", "local")
"""Spaces whose addresses are other numbers than the generic ones."""


def with_spaces(function: Function) -> Function:
    """Return `function` with the spaces of its accesses as far as they are known."""
    makers: dict[Value, Instruction | Phi] = {}
    for block in function.blocks:
        makers.update((phi.result, phi) for phi in block.phis)
        makers.update((i.results[0], i) for i in block.instructions if i.op in _FLOW and len(i.results) == 1)
    if not any(isinstance(m, Instruction) and m.op == "to_generic" for m in makers.values()):
        return function
    spaces = _spaces(makers)
    return _Writer(function, makers, spaces).write_function()


_FLOW: Final = frozenset(("to_generic", "add", "sub", "select"))


def _spaces(makers: Mapping[Value, Instruction | Phi]) -> dict[Value, str]:
    """Return the space into which each value leads: all start as `any` and fall until nothing changes."""
    found: dict[Value, str] = {v: _ANY for v in makers if v.type == I64}
    users: dict[Value, list[Value]] = {}
    for value in found:
        for operand in _find_given(makers[value]):
            if isinstance(operand, Value):
                users.setdefault(operand, []).append(value)
    pending = list(found)
    while pending:
        value = pending.pop()
        now = _space(makers[value], found)
        if now != found[value]:
            found[value] = now
            pending += users.get(value, [])
    return found


def _find_given(maker: Instruction | Phi) -> tuple[Operand, ...]:
    if isinstance(maker, Phi):
        return tuple(operand for _, operand in maker.incoming)
    return maker.operands


def _space(maker: Instruction | Phi, found: Mapping[Value, str]) -> str:
    if isinstance(maker, Phi):
        return _meet_spaces([_of(operand, found) for _, operand in maker.incoming])
    if maker.op == "to_generic":
        text = maker.detail.text if isinstance(maker.detail, Text) else ""
        return text if text in get_args(Space) and text != "generic" else _NONE
    if maker.op == "select":
        return _meet_spaces([_of(operand, found) for operand in maker.operands[1:]])
    left, right = (_NONE if isinstance(o, Constant) else _of(o, found) for o in maker.operands)
    if maker.op == "sub":
        return left if right in (_NONE, _ANY) else _NONE
    known = {left, right} - {_NONE, _ANY}
    if len(known) == 1 and left != right:
        return known.pop()
    return _ANY if not known and _ANY in (left, right) else _NONE


def _of(operand: Operand, found: Mapping[Value, str]) -> str:
    match operand:
        case Value():
            return found.get(operand, _NONE)
        case Undefined():
            return _ANY
        case Constant():
            # no address is null, so nothing is accessed there
            return _NONE if operand.bits else _ANY


def _meet_spaces(spaces: list[str]) -> str:
    known = set(spaces) - {_ANY}
    return _ANY if not known else known.pop() if len(known) == 1 else _NONE


class _Writer:
    """Writes the function with the same addresses in their own spaces besides the generic ones."""

    def __init__(
        self, function: Function, makers: Mapping[Value, Instruction | Phi], spaces: Mapping[Value, str]
    ) -> None:
        self.function = function
        self.spaces = spaces
        # an address in its own space, for each generic one whose space has addresses of its own
        self.own: dict[Value, Value] = {
            v: Value(I64, v.name) for v, space in spaces.items() if space in _MOVED and not _is_made_of(makers[v])
        }
        self.base: dict[Value, Operand] = {
            v: maker.operands[0]
            for v, maker in makers.items()
            if spaces.get(v) in _MOVED and isinstance(maker, Instruction) and maker.op == "to_generic"
        }

    def write_function(self) -> Function:
        """Return the function."""
        return replace(self.function, blocks=tuple(self._block(block) for block in self.function.blocks))

    def _move_address(self, operand: Operand) -> Operand:
        """Return an address in its own space; what is only added to one stays as it is."""
        if isinstance(operand, Value):
            return self.base.get(operand) or self.own.get(operand, operand)
        return operand

    def _block(self, block: BasicBlock) -> BasicBlock:
        phis = list(block.phis)
        for phi in block.phis:
            if phi.result in self.own:
                incoming = tuple((name, self._move_address(operand)) for name, operand in phi.incoming)
                phis.append(Phi(self.own[phi.result], incoming, phi.span))
        made: list[Instruction] = []
        for i in block.instructions:
            made.append(self._access(i))
            if len(i.results) == 1 and i.results[0] in self.own:
                operands = tuple(map(self._move_address, i.operands))
                made.append(replace(i, operands=operands, results=(self.own[i.results[0]],)))
        return replace(block, phis=tuple(phis), instructions=tuple(made))

    def _access(self, i: Instruction) -> Instruction:
        address = i.operands[0] if i.operands else None
        if not isinstance(i.detail, Memory) or i.detail.space != "generic" or not isinstance(address, Value):
            return i
        space = self.spaces.get(address, _NONE)
        if space in ("", _ANY, "generic", "param"):
            return i
        detail = replace(i.detail, space=space)
        return replace(i, operands=(self._move_address(address), *i.operands[1:]), detail=detail)


def _is_made_of(maker: Instruction | Phi) -> bool:
    return isinstance(maker, Instruction) and maker.op == "to_generic"
