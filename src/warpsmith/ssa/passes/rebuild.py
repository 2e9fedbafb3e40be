"""Functions written anew: the engine of every pass that changes code.

Blocks are visited in reverse post-order and emitted through a Builder, phis as its variables; so phis that are one
value vanish, branches on constants become jumps, what nothing leads to is left out, and a block that only one block
leads to is written on to that. `change` sees each instruction with its operands as they are now, and may emit
something else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.ssa.builder import Builder
from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Constant,
    Exit,
    Function,
    Instruction,
    Jump,
    Operand,
    Return,
    Switch,
    Terminator,
    Unreachable,
    Value,
    successors,
)

__all__ = ["Change", "Rebuild", "rebuild_function", "reverse_postorder"]

Change = Callable[["Rebuild", Instruction], "tuple[Operand, ...] | None"]
"""Emit what stands for an instruction and return its results; None: it is emitted as it is."""


def reverse_postorder(function: Function) -> list[str]:
    """Return the blocks that the entry leads to, each before what it leads to but for back edges."""
    blocks = {block.name: block for block in function.blocks}
    entry = function.blocks[0].name
    seen, order = {entry}, []
    stack = [(entry, iter(successors(blocks[entry].terminator)))]
    while stack:
        name, rest = stack[-1]
        for after in rest:
            if after not in seen:
                seen.add(after)
                stack.append((after, iter(successors(blocks[after].terminator))))
                break
        else:
            order.append(name)
            stack.pop()
    return order[::-1]


def rebuild_function(function: Function, *changes: Change) -> Function:
    """Return `function`, with what the first of `changes` to answer makes of each instruction."""
    if not function.blocks:
        return function
    for fold in (True, False):
        work = Rebuild(function, changes, fold=fold)
        work.whole(function)
        if not work.missed:
            break
    return replace(function, blocks=work.builder.finish())


class Rebuild:
    """One function on its way; `made` tells which instruction a new value comes from, `around` is the span of what has
    none of its own; `local` and `same` are what is known within the block that is being written."""

    def __init__(self, function: Function, changes: tuple[Change, ...], *, fold: bool) -> None:
        self.builder = Builder(function.blocks[0].name)
        self.changes = changes
        self.fold = fold
        self.missed = False
        self.around: Span | None = None
        self.made: dict[Value, Instruction] = {}
        self.values: dict[Value, Operand] = {}
        self.local: dict[object, tuple[Operand, ...]] = {}
        self.same: dict[Operand, Operand] = {}

    def whole(self, function: Function) -> None:
        """Write the blocks of the function itself."""
        body = _Body(self, function, {}, None)
        for name in body.order:
            self.builder.reserve(name)
        body.run()

    def inside(self, function: Function, leave: Callable[[Return], Terminator]) -> None:
        """Write the blocks of another function here; `leave` says what its returns become."""
        body = _Body(self, function, {}, leave)
        body.names = {name: self.builder.fresh(name.rstrip("0123456789") or name) for name in body.order}
        entry = body.names[body.order[0]]
        self.builder.end(Jump(entry, self.builder.span))
        body.run()

    def enter(self, name: str, calls: tuple[Span, ...]) -> None:
        """Write to block `name`."""
        self.builder.calls = calls
        self.builder.start(name)
        self.local, self.same = {}, {}

    def operand(self, operand: Operand) -> Operand:
        """Return what an operand of the old code is now."""
        if not isinstance(operand, Value):
            return operand
        return self.builder.now(self.values.get(operand, operand))

    def first(self, operand: Operand) -> Operand:
        """Return the first operand of the block that is known to be the same."""
        return self.same.get(operand, operand)

    def emit(self, i: Instruction) -> tuple[Operand, ...]:
        """Append an instruction whose operands are new ones, and return its results."""
        types = tuple(value.type for value in i.results)
        results = self.builder.emit_many(i.op, i.operands, types, i.detail, i.results[0].name if i.results else "")
        for value in results:
            self.made[value] = replace(i, results=results) if len(results) > 1 else i
        return results

    def definition(self, operand: Operand) -> Instruction | None:
        """Return the instruction that an operand comes from; None for phis and constants."""
        return self.made.get(operand) if isinstance(operand, Value) else None

    def instruction(self, i: Instruction) -> None:
        """Write one instruction of the old code."""
        span = self.builder.span = i.span or self.around
        now = Instruction(i.op, tuple(map(self.operand, i.operands)), i.results, i.detail, span)
        results: tuple[Operand, ...] | None = None
        for change in self.changes:
            results = change(self, now)
            if results is not None:
                break
        if results is None:
            results = self.emit(now)
        self.values.update(zip(i.results, results, strict=True))


class _Body:
    """The blocks of one function, on their way into another or the same."""

    def __init__(
        self, work: Rebuild, function: Function, names: Mapping[str, str], leave: Callable[[Return], Terminator] | None
    ) -> None:
        self.work = work
        self.names = names
        self.leave = leave
        self.written: set[str] = set()
        self.calls: tuple[Span, ...] = ()
        self.blocks = {block.name: block for block in function.blocks}
        self.order = reverse_postorder(function)
        self.open: dict[str, int] = dict.fromkeys(self.order, 0)
        for name in self.order:
            for after in successors(self.blocks[name].terminator):
                self.open[after] += 1

    def run(self) -> None:
        """Write all blocks; the entry may be the block that is being written already."""
        builder, outer = self.work.builder, self.work.builder.calls
        merged = False
        for number, name in enumerate(self.order):
            block = self.blocks[name]
            target = self.names.get(name, name)
            if number == 0:
                self._first(block, target, outer)
            elif not merged:
                if not builder.leads_to(target):
                    self._pass_block(block)
                    continue
                self.work.enter(target, (*outer, *block.calls))
            self.calls = block.calls if not merged or builder.is_empty else self.calls
            self._phis(block)
            for i in block.instructions:
                self.work.instruction(i)
            merged = self._end(block, self.order[number + 1 : number + 2], outer)
            self.written.add(name)
        builder.calls = outer
        missed = (name for name in self.order if name not in self.written)
        self.work.missed = self.work.missed or any(builder.leads_to(self.names.get(name, name)) for name in missed)

    def _first(self, block: BasicBlock, target: str, outer: tuple[Span, ...]) -> None:
        """Begin with the entry, whose predecessors outside are known."""
        if self.work.builder.block == target:
            return
        self.work.enter(target, (*outer, *block.calls))
        if not self.open[block.name]:
            self.work.builder.seal(target)

    def _phis(self, block: BasicBlock) -> None:
        for phi in block.phis:
            key = (phi.result.name, phi.result)
            self.work.values[phi.result] = self.work.builder.read(key, phi.result.type)

    def _end(self, block: BasicBlock, following: list[str], outer: tuple[Span, ...]) -> bool:
        """Write the terminator; return whether the next block is written on to this one."""
        work, builder = self.work, self.work.builder
        terminator = self._now(block.terminator)
        if terminator.span is None and work.around is not None:
            terminator = replace(terminator, span=work.around)
        work.builder.span = terminator.span
        for name in successors(block.terminator):
            for phi in self.blocks[name].phis:
                incoming = next(operand for before, operand in phi.incoming if before == block.name)
                work.builder.write((phi.result.name, phi.result), work.operand(incoming))
        if isinstance(terminator, Jump) and following == [terminator.target] and self._alone(block, following[0]):
            self.open[following[0]] -= 1
            if builder.is_empty:
                builder.belongs_to((*outer, *self.blocks[following[0]].calls))
            return True
        work.builder.end(self._rename_targets(terminator))
        self._pass_block(block)
        return False

    def _alone(self, block: BasicBlock, name: str) -> bool:
        """Whether `block` is all that leads to block `name`, and both come from one call, or one has no code."""
        if self.open[name] != 1 or not isinstance(block.terminator, Jump):
            return False
        if self.work.builder.leads_to(self.names.get(name, name)):
            return False
        after = self.blocks[name]
        idle = not after.instructions and isinstance(after.terminator, Jump)
        return idle or self.work.builder.is_empty or after.calls == self.calls

    def _pass_block(self, block: BasicBlock) -> None:
        """Take note that the edges out of `block` are known, or are none."""
        for name in successors(block.terminator):
            self.open[name] -= 1
            if not self.open[name]:
                self.work.builder.seal(self.names.get(name, name))

    def _now(self, terminator: Terminator) -> Terminator:
        """Return a terminator with operands as they are now; one that a constant decides is a jump."""
        match terminator:
            case Branch():
                condition = self.work.operand(terminator.condition)
                if not self.work.fold:
                    return replace(terminator, condition=condition)
                if terminator.then == terminator.other:
                    return Jump(terminator.then, terminator.span)
                if isinstance(condition, Constant):
                    return Jump(terminator.then if condition.bits else terminator.other, terminator.span)
                return replace(terminator, condition=condition)
            case Switch():
                value = self.work.operand(terminator.value)
                if isinstance(value, Constant) and self.work.fold:
                    found = (block for number, block in terminator.cases if number == value.bits)
                    return Jump(next(found, terminator.other), terminator.span)
                return replace(terminator, value=value)
            case Return():
                return replace(terminator, operands=tuple(map(self.work.operand, terminator.operands)))
            case Exit() | Jump() | Unreachable():
                return terminator

    def _rename_targets(self, terminator: Terminator) -> Terminator:
        """Return a terminator with the names that blocks have now."""
        names = self.names
        match terminator:
            case Return() if self.leave is not None:
                return self.leave(terminator)
            case Jump():
                return replace(terminator, target=names.get(terminator.target, terminator.target))
            case Branch():
                then, other = (names.get(name, name) for name in (terminator.then, terminator.other))
                return replace(terminator, then=then, other=other)
            case Switch():
                cases = tuple((number, names.get(block, block)) for number, block in terminator.cases)
                return replace(terminator, cases=cases, other=names.get(terminator.other, terminator.other))
            case Exit() | Return() | Unreachable():
                return terminator
