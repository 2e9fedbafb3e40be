"""SSA while building: variables of the source become values as blocks are written.

Braun, Buchwald, Hack, Leißa, Mallon, Zwinkau: Simple and Efficient Construction of Static Single Assignment Form (CC
2013). A block whose predecessors are not all known yet is open: reading a variable there makes a phi, which is filled
in when the block is sealed. A phi whose operands are one value (and itself) is that value.

    b.start("head")      write to a block
    b.end(Branch(…))     its terminator
    b.seal("head")       once every predecessor has ended; finish() seals the rest
"""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Constant,
    Detail,
    Exit,
    Instruction,
    Jump,
    Operand,
    Phi,
    Return,
    Switch,
    Terminator,
    Undefined,
    Unreachable,
    Value,
    successors,
)
from warpsmith.ssa.types import Type

__all__ = ["Builder", "constant"]


class _Open(Struct):
    """A block that is being written."""

    name: str
    phis: dict[Value, dict[str, Operand]] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)
    terminator: Terminator | None = None
    predecessors: list[str] = field(default_factory=list)
    sealed: bool = False
    waiting: dict[Hashable, Value] = field(default_factory=dict)
    variables: dict[Hashable, Operand] = field(default_factory=dict)
    calls: tuple[Span, ...] = ()


class Builder:
    """Writes the blocks of one function. Variables are any hashable keys, each of one type."""

    def __init__(self, entry: str = "entry") -> None:
        self._blocks: dict[str, _Open] = {}
        self._started: dict[str, None] = {}
        self._numbers: dict[str, int] = {}
        self._replaced: dict[Value, Operand] = {}
        self._users: dict[Value, set[Value]] = {}
        self._home: dict[Value, _Open] = {}
        self._open: set[Value] = set()
        self._unfilled: list[tuple[Hashable, Value]] = []
        self.span: Span | None = None
        self.calls: tuple[Span, ...] = ()
        self.start(entry)
        self.seal(entry)

    @property
    def block(self) -> str:
        """The block that is being written."""
        return self._current.name

    @property
    def ended(self) -> bool:
        """Whether the current block has its terminator."""
        return self._current.terminator is not None

    @property
    def is_empty(self) -> bool:
        """Whether the current block has no instruction yet."""
        return not self._current.instructions

    def belongs_to(self, calls: tuple[Span, ...]) -> None:
        """Say through which calls control came to the current block."""
        self.calls = self._current.calls = calls

    def start(self, name: str) -> None:
        """Write to block `name` from now on; it belongs to the calls that `calls` names."""
        self._current = self._block(name)
        self._current.calls = self.calls
        self._started[name] = None

    def is_started(self, name: str) -> bool:
        """Whether a block has been written to."""
        return name in self._started

    def fresh(self, stem: str) -> str:
        """Return a name that no block has."""
        number = self._numbers.get(stem, 0)
        while (name := f"{stem}{number or ''}") in self._blocks:
            number += 1
        self._numbers[stem] = number
        self._block(name)
        return name

    def reserve(self, name: str) -> None:
        """Keep a name for a block that comes later."""
        self._block(name)

    def emit(
        self, op: str, operands: tuple[Operand, ...], type: Type, detail: Detail | None = None, name: str = ""
    ) -> Value:
        """Append an instruction with one result, and return that."""
        (value,) = self.emit_many(op, operands, (type,), detail, name)
        return value

    def emit_many(
        self,
        op: str,
        operands: tuple[Operand, ...],
        types: tuple[Type, ...],
        detail: Detail | None = None,
        name: str = "",
    ) -> tuple[Value, ...]:
        """Append an instruction with a result of each of `types`."""
        results = tuple(Value(type, name) for type in types)
        self._current.instructions.append(Instruction(op, operands, results, detail, self.span))
        return results

    def end(self, terminator: Terminator) -> None:
        """End the current block."""
        if self._current.terminator is not None:
            raise ValueError(f"block {self._current.name} has ended already")
        self._current.terminator = terminator
        for name in successors(terminator):
            block = self._block(name)
            if block.sealed:
                raise ValueError(f"block {name} is sealed: no edge may be added")
            block.predecessors.append(self._current.name)

    def write(self, variable: Hashable, operand: Operand) -> None:
        """Let `variable` be `operand` from here on."""
        self._current.variables[variable] = operand

    def read(self, variable: Hashable, type: Type) -> Operand:
        """Return what `variable` is here; Undefined where nothing was written on the way."""
        found = self._read(variable, type, self._current)
        self._fill()
        return self._now(found)

    def now(self, operand: Operand) -> Operand:
        """Return what an operand has become since it was given: a phi that was one value is that value."""
        return self._now(operand)

    def leads_to(self, name: str) -> bool:
        """Whether a block that has ended goes to block `name`."""
        return name in self._blocks and bool(self._blocks[name].predecessors)

    def seal(self, name: str) -> None:
        """Say that every predecessor of the block has ended."""
        block = self._block(name)
        if block.sealed:
            return
        block.sealed = True
        self._unfilled += block.waiting.items()
        self._open -= set(block.waiting.values())
        block.waiting.clear()
        self._fill()

    def finish(self) -> tuple[BasicBlock, ...]:
        """Return the blocks in the order in which they were started; those that nothing leads to are left out."""
        for name in list(self._blocks):
            self.seal(name)
        entry = next(iter(self._blocks))
        reached, pending = {entry}, [entry]
        while pending:
            terminator = self._blocks[pending.pop()].terminator
            new = [] if terminator is None else [n for n in successors(terminator) if n not in reached]
            reached |= set(new)
            pending += new
        ordered = dict.fromkeys((*self._started, *self._blocks))
        return tuple(self._make_block(self._blocks[name], reached) for name in ordered if name in reached)

    # --- how

    def _block(self, name: str) -> _Open:
        return self._blocks.setdefault(name, _Open(name))

    def _read(self, variable: Hashable, type: Type, block: _Open) -> Operand:
        """Return what `variable` is at the end of `block`; a phi that this needs waits in `_unfilled`."""
        passed: list[_Open] = []
        seen: set[str] = set()
        # blocks that only lead to each other have no first one: the walk ends where it has been
        while variable not in block.variables and block.sealed and len(block.predecessors) == 1:
            if block.name in seen:
                break
            passed.append(block)
            seen.add(block.name)
            block = self._blocks[block.predecessors[0]]
        found = self._here(variable, type, block)
        for other in passed:
            other.variables[variable] = found
        return found

    def _here(self, variable: Hashable, type: Type, block: _Open) -> Operand:
        if variable in block.variables:
            return self._now(block.variables[variable])
        if block.sealed and not block.predecessors:
            return Undefined(type)
        value = Value(type, _label(variable))
        block.phis[value] = {}
        self._home[value] = block
        block.variables[variable] = value
        if block.sealed:
            self._unfilled.append((variable, value))
        else:
            block.waiting[variable] = value
            self._open.add(value)
        return value

    def _fill(self) -> None:
        """Give the phis that wait their operands, which may make more of them; by recursion it would be deep."""
        filled: list[Value] = []
        while self._unfilled:
            variable, value = self._unfilled.pop()
            block = self._home[value]
            for name in dict.fromkeys(block.predecessors):
                operand = self._read(variable, value.type, self._blocks[name])
                block.phis[value][name] = operand
                if isinstance(operand, Value):
                    self._users.setdefault(operand, set()).add(value)
            filled.append(value)
        self._simplify(filled)

    def _simplify(self, pending: list[Value]) -> None:
        """Replace the phis that are one value, and then those that have become so."""
        while pending:
            value = pending.pop()
            phis = self._home[value].phis
            operands = {self._now(o) for o in phis.get(value, {}).values()} - {value}
            if value not in phis or len(operands) > 1 or value in self._open:
                continue
            replacement: Operand = next(iter(operands), Undefined(value.type))
            del phis[value]
            self._replaced[value] = replacement
            users = self._users.pop(value, set()) - {value}
            if isinstance(replacement, Value):
                self._users.setdefault(replacement, set()).update(users)
            pending += [user for user in users if user in self._home]

    def _now(self, operand: Operand) -> Operand:
        while isinstance(operand, Value) and operand in self._replaced:
            operand = self._replaced[operand]
        return operand

    def _make_block(self, block: _Open, reached: set[str]) -> BasicBlock:
        phis = tuple(
            Phi(value, tuple((name, self._now(operand)) for name, operand in incoming.items() if name in reached))
            for value, incoming in block.phis.items()
        )
        instructions = tuple(
            Instruction(i.op, tuple(map(self._now, i.operands)), i.results, i.detail, i.span)
            for i in block.instructions
        )
        return BasicBlock(block.name, phis, instructions, self._ending(block.terminator or Unreachable()), block.calls)

    def _ending(self, terminator: Terminator) -> Terminator:
        match terminator:
            case Branch():
                condition = self._now(terminator.condition)
                made = (condition, terminator.then, terminator.other, terminator.uniform, terminator.predicated)
                return Branch(*made, terminator.span, terminator.construct)
            case Switch():
                value = self._now(terminator.value)
                return Switch(value, terminator.cases, terminator.other, terminator.uniform, terminator.span)
            case Return():
                return Return(tuple(map(self._now, terminator.operands)), terminator.span)
            case Exit() | Jump() | Unreachable():
                return terminator


def _label(variable: Hashable) -> str:
    """Return what people call a variable: a key of several parts begins with its name."""
    named = variable[0] if isinstance(variable, tuple) and variable else variable
    return named.lstrip("%") if isinstance(named, str) else ""


def constant(type: Type, number: int) -> Constant:
    """Return the integer constant `number`, as many of its bits as `type` has.

    >>> from warpsmith.ssa.types import I8
    >>> constant(I8, -1).bits
    255
    """
    return Constant(type, number & ((1 << type.bits) - 1))
