"""The origin of a value: the parameters, indices and loads at the ends of its expression, phis looked through.

`same_number` numbers expressions, so that two that must be equal have one number (value numbering, Alpern, Wegman and
Zadeck, POPL 1988; here for pure ops only, without phis).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct, field

from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.ssa.nodes import (
    Address,
    Barrier,
    Callee,
    Constant,
    Convert,
    Exchange,
    Fence,
    Float,
    Instruction,
    Memory,
    NoWrap,
    Operand,
    Param,
    Query,
    Text,
    Undefined,
    Value,
)
from warpsmith.ssa.ops import OPS

__all__ = ["Numbers", "ValueOrigin", "is_compiled", "origin"]

_MOST = 4000
_SHOWN = 2


class ValueOrigin(Struct, frozen=True):
    """Where an expression ends. `registers` are special registers, `loads` the first of the loads whose values it uses,
    `unknown`: an instruction that is no pure op (a call, an exchange); `loop`: it changes in a loop."""

    parameters: frozenset[str] = frozenset()
    registers: frozenset[str] = frozenset()
    symbols: frozenset[str] = frozenset()
    loads: tuple[Instruction, ...] = ()
    unknown: bool = False
    loop: bool = False

    @property
    def of_thread(self) -> bool:
        """Whether the thread's own index takes part."""
        return any(name.startswith(("tid", "laneid", "lanemask")) for name in self.registers)

    @property
    def of_block(self) -> bool:
        """Whether the index of the block takes part."""
        return any(name.startswith("ctaid") for name in self.registers)

    @property
    def of_time(self) -> bool:
        """Whether it is the clock alone that may make it differ between lanes, which those of a warp read at once."""
        timed = any(name.startswith(("clock", "globaltimer")) for name in self.registers)
        return timed and self.plain and not self.of_thread

    @property
    def plain(self) -> bool:
        """Whether it follows from indices and parameters alone."""
        return not self.loads and not self.unknown

    @property
    def of_launch(self) -> bool:
        """Whether it is the same number in all threads of the launch: parameters, sizes and constants."""
        sizes = all(name.startswith(("ntid", "nctaid")) for name in self.registers)
        return self.plain and sizes and not self.symbols


def origin(facts: KernelFacts, *operands: Operand) -> ValueOrigin:
    """Return what `operands` are made of."""
    known = _origins(facts)
    return _join([known[o] for o in reversed(operands) if isinstance(o, Value) and o in known])


@lru_cache(maxsize=1)
def _origins(facts: KernelFacts) -> dict[Value, ValueOrigin]:
    """Return what each value of a kernel is made of: sweeps until the loops agree."""
    graph = facts.warp_level.graph
    blocks = {block.name: block for block in facts.function.blocks}
    found: dict[Value, ValueOrigin] = {}
    changed = True
    while changed:
        changed = False
        for name in graph.order:
            heads = any(cycle.header == name for cycle in graph.cycles_around(name))
            for phi in blocks[name].phis:
                come = [found[o] for _, o in reversed(phi.incoming) if isinstance(o, Value) and o in found]
                changed = _grow_origins(found, phi.result, [*come, _CARRIED] if heads else come) or changed
            for i in blocks[name].instructions:
                ends = _ends(i)
                parts = [ends] if ends is not None else [found[o] for o in reversed(i.operands) if isinstance(o, Value)]
                for value in i.results:
                    changed = _grow_origins(found, value, parts) or changed
    return found


_NOTHING: Final = ValueOrigin()
_CARRIED: Final = ValueOrigin(loop=True)


def _ends(i: Instruction) -> ValueOrigin | None:
    """Return where an expression ends with an instruction; None where it goes on with its operands."""
    match i.detail:
        case Param(name):
            return ValueOrigin(parameters=frozenset({name}))
        case Query(register):
            return ValueOrigin(registers=frozenset({register}))
        case Address(symbol):
            return ValueOrigin(symbols=frozenset({symbol}))
        case Memory():
            return ValueOrigin(loads=(i,))
        case Barrier() | Callee() | Convert() | Exchange() | Fence() | Float() | NoWrap() | Text() | None:
            return None if OPS[i.op].pure else ValueOrigin(unknown=True)


def _grow_origins(found: dict[Value, ValueOrigin], value: Value, parts: Sequence[ValueOrigin]) -> bool:
    """Add to what a value is made of; return whether that was new."""
    old = found.get(value)
    new = _join(parts if old is None else [old, *parts])
    found[value] = new
    return new != old


def _join(parts: Sequence[ValueOrigin]) -> ValueOrigin:
    """Return all of it together."""
    first = parts[0] if parts else _NOTHING
    if all(part is first or part is _NOTHING for part in parts):
        return first
    return ValueOrigin(
        first.parameters.union(*(part.parameters for part in parts)),
        first.registers.union(*(part.registers for part in parts)),
        first.symbols.union(*(part.symbols for part in parts)),
        tuple(dict.fromkeys(load for part in parts for load in part.loads))[:_SHOWN],
        any(part.unknown for part in parts),
        any(part.loop for part in parts),
    )


def is_compiled(facts: KernelFacts) -> bool:
    """Whether a compiler has been over the kernel (PTX), so that what it could improve is improved."""
    return facts.function.listing is not None


class Numbers(Struct):
    """Numbers of expressions: the same number, the same value in the same thread."""

    facts: KernelFacts
    _of: dict[Value, object] = field(default_factory=dict)

    def of(self, operand: Operand) -> object:
        """Return the number of an operand."""
        match operand:
            case Constant():
                return ("constant", operand.type, operand.bits)
            case Undefined():
                return object()
            case Value():
                return self._value(operand)

    def _value(self, wanted: Value) -> object:
        pending = [wanted]
        while pending:
            value = pending[-1]
            made = self.facts.warp_level.definitions.get(value)
            if value in self._of:
                pending.pop()
            elif not isinstance(made, Instruction) or not OPS[made.op].pure or len(made.results) != 1:
                self._of[value] = value
            else:
                left = [o for o in made.operands if isinstance(o, Value) and o not in self._of]
                if left and len(pending) < _MOST:
                    pending += left
                    continue
                self._of[value] = self._intern(made, value)
        return self._of[wanted]

    def _intern(self, made: Instruction, value: Value) -> object:
        operands = tuple(self._of[o] if isinstance(o, Value) and o in self._of else self.of(o) for o in made.operands)
        key = (made.op, value.type, made.detail, operands)
        return self._keys.setdefault(key, value)

    _keys: dict[object, object] = field(default_factory=dict)
