"""Which words a kernel takes for addresses: arguments and what it loads, where an address begins with them; and which
for more than one number: those that have bit-fields.

load [p + 4·i]      p = param [a+0]           the argument a
                    p = load [q + 8]          the word at q + 8, a pointer inside a structure
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from warpsmith.ssa.nodes import Callee, Function, Instruction, Memory, Operand, Param, Phi, Value

__all__ = ["Addressing", "addressing"]

_ON_CHIP = ("shared", "local")
_KEPT = ("shared", "local", "generic")


class Addressing(Struct, frozen=True):
    """`loads` that give addresses; `parameters`, with an offset into them, that are addresses; `packed`: loads of words
    with bit-fields; `places`: which parameters have an address, by number."""

    loads: frozenset[Instruction]
    parameters: frozenset[tuple[str, int]]
    packed: frozenset[Instruction] = frozenset()
    places: frozenset[int] = frozenset()


def addressing(function: Function, functions: Sequence[Function] = ()) -> Addressing:
    """Return what the addresses of a function begin with, and those of the `functions` that it calls."""
    known = {one.name: one for one in functions if one.blocks}
    called: dict[str, Addressing] = {}
    pending = [function.name]
    while pending:
        # what is taken for an address grows until it stays: functions may call each other
        for name in [*pending]:
            one = known.get(name, function)
            pending += [other for other in _called(one) if other in known and other not in pending]
        found = {name: _addressing(known.get(name, function), called) for name in pending}
        if found == called:
            break
        called = found
    everything = called.values()
    return Addressing(
        frozenset(load for one in everything for load in one.loads),
        called[function.name].parameters,
        frozenset(load for one in everything for load in one.packed),
    )


def _addressing(function: Function, called: Mapping[str, Addressing]) -> Addressing:
    """Return what the addresses of one function begin with, by what is known of those that it calls."""
    made: dict[Operand, Instruction | Phi] = {phi.result: phi for block in function.blocks for phi in block.phis}
    made |= {value: i for _, i in function.instructions() for value in i.results}
    pending = [i.operands[0] for _, i in function.instructions() if _is_far(i)]
    pending += [operand for _, i in function.instructions() for operand in _handed_on(i, called)]
    kept = [i for _, i in function.instructions() if i.op == "store" and _space(i) in _KEPT]
    loads: set[Instruction] = set()
    parameters: set[tuple[str, int]] = set()
    seen: set[Operand] = set()
    while pending:
        operand = pending.pop()
        if operand in seen or not isinstance(operand, Value):
            continue
        seen.add(operand)
        i = made[operand]
        if isinstance(i, Instruction) and isinstance(i.detail, Param):
            parameters.add((i.detail.parameter, i.detail.offset))
        elif isinstance(i, Instruction) and i.op == "load":
            loads.add(i)
            # what was put aside in memory of the kernel's own
            again = kept if _space(i) in _KEPT and operand.type.bytes == 8 else []
            pending += [o for store in again for o in store.operands[1:] if o.type.bytes == 8]
        else:
            pending += _begins(i)
    names = [parameter.name for parameter in function.parameters]
    places = frozenset(names.index(name) for name, _ in parameters if name in names)
    return Addressing(frozenset(loads), frozenset(parameters), frozenset(_packed(function)), places)


def _called(function: Function) -> Iterator[str]:
    for _, i in function.instructions():
        if isinstance(i.detail, Callee):
            yield i.detail.name


def _handed_on(i: Instruction, called: Mapping[str, Addressing]) -> Iterator[Operand]:
    """Yield what a call gives to parameters that are addresses."""
    if isinstance(i.detail, Callee) and i.detail.name in called:
        for number, operand in enumerate(i.operands):
            if number in called[i.detail.name].places:
                yield operand


def _packed(function: Function) -> Iterator[Instruction]:
    taken = {i.operands[0] for _, i in function.instructions() if i.op in ("sextract", "uextract")}
    taken |= {i.operands[1] for _, i in function.instructions() if i.op == "insert"}
    for _, i in function.instructions():
        if i.op == "load" and i.results[0] in taken:
            yield i


def _begins(i: Instruction | Phi) -> Iterator[Operand]:
    """Yield the operands that an address may begin with."""
    if isinstance(i, Phi):
        yield from (operand for _, operand in i.incoming)
    elif i.op == "select":
        yield from i.operands[1:]
    elif i.op == "add":
        yield from i.operands
    elif i.op in ("sub", "to_generic", "from_generic", "bitcast"):
        yield i.operands[0]


def _space(i: Instruction) -> str:
    return i.detail.space if isinstance(i.detail, Memory) else ""


def _is_far(i: Instruction) -> bool:
    """Whether this touches memory of the device."""
    return isinstance(i.detail, Memory) and bool(i.operands) and _space(i) not in _ON_CHIP
