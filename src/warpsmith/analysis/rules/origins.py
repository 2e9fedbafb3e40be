"""What a value is made of: the parameters, indices and loads at the ends of its expression, phis looked through.

`same_number` numbers expressions, so that two that must be equal have one number (value numbering, Alpern, Wegman and
Zadeck, POPL 1988; here for pure ops only, without phis).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from warpsmith.analysis.facts import KernelFacts
from warpsmith.ssa.nodes import Address, Constant, Instruction, Memory, Operand, Param, Phi, Query, Undefined, Value
from warpsmith.ssa.ops import OPS

__all__ = ["Numbers", "Origin", "is_compiled", "origin"]

_MOST = 4000


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an expression ends. `registers` are special registers, `loads` the loads whose values it uses, `unknown`
    other instructions that are no pure op (calls, exchanges), `loop`: it changes from iteration to iteration."""

    parameters: frozenset[str]
    registers: frozenset[str]
    symbols: frozenset[str]
    loads: tuple[Instruction, ...]
    unknown: tuple[Instruction, ...]
    loop: bool

    @property
    def of_thread(self) -> bool:
        """Whether the thread's own index takes part."""
        return any(name.startswith(("tid", "laneid", "lanemask")) for name in self.registers)

    @property
    def of_block(self) -> bool:
        """Whether the index of the block takes part."""
        return any(name.startswith("ctaid") for name in self.registers)

    @property
    def plain(self) -> bool:
        """Whether it follows from indices and parameters alone."""
        return not self.loads and not self.unknown

    @property
    def of_launch(self) -> bool:
        """Whether it is the same number in all threads of the launch: parameters, sizes and constants."""
        sizes = all(name.startswith(("ntid", "nctaid")) for name in self.registers)
        return self.plain and sizes and not self.symbols


def origin(facts: KernelFacts, *operands: Operand, through_loads: bool = False) -> Origin:
    """Return what `operands` are made of; `through_loads`: the addresses of loads are looked through as well."""
    definitions = facts.warp_level.definitions
    parameters, registers, symbols = set[str](), set[str](), set[str]()
    loads, unknown = list[Instruction](), list[Instruction]()
    loop = False
    seen: set[Value] = set()
    pending = list(operands)
    while pending and len(seen) < _MOST:
        operand = pending.pop()
        if not isinstance(operand, Value) or operand in seen:
            continue
        seen.add(operand)
        made = definitions.get(operand)
        if isinstance(made, Phi):
            loop = loop or _carries(facts, operand, made)
            pending += [value for _, value in made.incoming]
            continue
        if made is None:
            continue
        match made.detail:
            case Param():
                parameters.add(made.detail.parameter)
            case Query():
                registers.add(made.detail.register)
            case Address():
                symbols.add(made.detail.symbol)
            case Memory():
                loads.append(made)
                pending += made.operands[:1] if through_loads else ()
            case _ if OPS[made.op].pure:
                pending += made.operands
            case _:
                unknown.append(made)
    return Origin(
        frozenset(parameters), frozenset(registers), frozenset(symbols), tuple(loads), tuple(unknown), loop
    )  # fmt: skip


def _carries(facts: KernelFacts, value: Value, phi: Phi) -> bool:
    """Whether a phi stands at the head of a loop."""
    home = facts.warp_level.homes[value]
    return any(cycle.header == home for cycle in facts.warp_level.graph.cycles_around(home))


def is_compiled(facts: KernelFacts) -> bool:
    """Whether a compiler has been over the kernel (PTX), so that what it could improve is improved."""
    return facts.span is not None and ".entry" in facts.span.text


@dataclass(slots=True)
class Numbers:
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
                self._of[value] = self._interned(made, value)
        return self._of[wanted]

    def _interned(self, made: Instruction, value: Value) -> object:
        operands = tuple(self._of[o] if isinstance(o, Value) and o in self._of else self.of(o) for o in made.operands)
        key = (made.op, value.type, made.detail, operands)
        return self._keys.setdefault(key, value)

    _keys: dict[object, object] = field(default_factory=dict)
