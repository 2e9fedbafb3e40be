"""May the rest rely on this function? Shapes and types by the op table, definitions before uses, phis complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Function,
    Instruction,
    Operand,
    Phi,
    Return,
    Switch,
    Value,
    successors,
    terminator_operands,
)
from warpsmith.ssa.ops import OPS, Domain, Shape
from warpsmith.ssa.types import I1, I32, I64, Kind, Type

__all__ = ["faults"]

_KINDS: dict[Domain, tuple[Kind, ...]] = {
    "integer": ("integer",),
    "float": ("float",),
    "predicate": ("predicate",),
    "bits": ("integer", "float"),
    "logic": ("integer", "predicate"),
    "any": ("integer", "float", "predicate"),
}


_END = 1 << 30
"""A place behind every instruction of a block."""


def faults(function: Function) -> tuple[str, ...]:
    """Return what is wrong with `function`, a sentence each; none where it is well-formed."""
    found = list(_structure(function))
    return tuple(found or (_uses(function) if function.blocks else ()))


def _structure(function: Function) -> Iterator[str]:
    """Yield faults of single blocks and instructions."""
    names = [block.name for block in function.blocks]
    if len(set(names)) < len(names) or "" in names:
        yield "two blocks have one name, or one has none"
    defined: set[Value] = set()
    for block in function.blocks:
        results = [phi.result for phi in block.phis] + [v for i in block.instructions for v in i.results]
        for value in results:
            if value in defined:
                yield f"{block.name}: %{value.name} is defined twice"
            defined.add(value)
        for instruction in block.instructions:
            yield from (f"{block.name}: {instruction.op}: {fault}" for fault in _instruction(instruction))
        yield from (f"{block.name}: there is no block {n}" for n in successors(block.terminator) if n not in names)
        yield from _ending(function, block)


def _ending(function: Function, block: BasicBlock) -> Iterator[str]:
    match block.terminator:
        case Branch(condition=condition) if condition.type != I1:
            yield f"{block.name}: the condition of its branch is no predicate"
        case Switch(value=value) if value.type.kind != "integer":
            yield f"{block.name}: the value of its switch is no integer"
        case Return(operands=operands) if tuple(o.type for o in operands) != function.results:
            yield f"{block.name}: it returns other types than the function"


def _uses(function: Function) -> Iterator[str]:
    """Yield faults of phis, and uses that their definition does not dominate."""
    graph = Graph.of(function)
    place: dict[Value, tuple[str, int]] = {}
    for block in function.blocks:
        place |= {phi.result: (block.name, -1) for phi in block.phis}
        place |= {value: (block.name, n) for n, i in enumerate(block.instructions) for value in i.results}
    for block in function.blocks:
        if block.name not in graph.predecessors:
            continue
        for phi in block.phis:
            yield from _phi(phi, block, place, graph)
        for number, instruction in enumerate(block.instructions):
            for operand in instruction.operands:
                yield from _find_reached(operand, place, graph, block.name, number)
        for operand in terminator_operands(block.terminator):
            yield from _find_reached(operand, place, graph, block.name, len(block.instructions))


def _phi(phi: Phi, block: BasicBlock, place: dict[Value, tuple[str, int]], graph: Graph) -> Iterator[str]:
    if {name for name, _ in phi.incoming} != set(graph.predecessors[block.name]):
        yield f"{block.name}: the phi %{phi.result.name} does not name its predecessors"
    for name, operand in phi.incoming:
        if operand.type != phi.result.type:
            yield f"{block.name}: the phi %{phi.result.name} has an operand of another type"
        yield from _find_reached(operand, place, graph, name, _END)


def _find_reached(
    operand: Operand, place: dict[Value, tuple[str, int]], graph: Graph, block: str, number: int
) -> Iterator[str]:
    if not isinstance(operand, Value):
        return
    if operand not in place:
        yield f"{block}: %{operand.name} is used and never defined"
        return
    home, at = place[operand]
    before = at < number if home == block else graph.dominates(home, block)
    if not before:
        yield f"{block}: %{operand.name} is used where its definition may not have run"


def _instruction(instruction: Instruction) -> Iterator[str]:
    op = OPS.get(instruction.op)
    if op is None:
        yield "there is no such op"
        return
    given = tuple(operand.type for operand in instruction.operands)
    made = tuple(value.type for value in instruction.results)
    own = _OWN.get(op.shape, _first)(given, made)
    if not _RULES[op.shape](given, made) or any(type.kind not in _KINDS[op.domain] for type in own):
        yield f"({', '.join(map(str, given))}) → ({', '.join(map(str, made))}) is not its shape"


_Types = tuple[Type, ...]


def _first(given: _Types, made: _Types) -> _Types:
    return given[:1]


_OWN: dict[Shape, Callable[[_Types, _Types], _Types]] = {
    "select": lambda given, made: made,
    "query": lambda given, made: made,
    "param": lambda given, made: made,
    "address": lambda given, made: made,
    "load": lambda given, made: made,
    "convert": lambda given, made: made,
    "store": lambda given, made: given[1:],
    "atomic": lambda given, made: given[1:],
    "barrier": lambda given, made: (),
    "fence": lambda given, made: (),
    "warp": lambda given, made: (),
    "free": lambda given, made: (),
}
"""Where the type T of a shape is found; elsewhere it is operand 0's."""

_ADDRESSES = ((I32,), (I64,))


def _barrier_types(given: _Types) -> tuple[_Types, ...]:
    """Return what a barrier may give: nothing of numbers; a vote or a count of a predicate, else the type it is of."""
    if given[-1:] == (I1,):
        return (I1,), (I32,)
    return ((), given[-1:]) if len(given) > 1 else ((),)


_RULES: dict[Shape, Callable[[_Types, _Types], bool]] = {
    "unary": lambda given, made: len(made) == 1 and given == made,
    "binary": lambda given, made: len(made) == 1 and given == made * 2,
    "ternary": lambda given, made: len(made) == 1 and given == made * 3,
    "shift": lambda given, made: len(made) == 1 and given == (*made, I32),
    "compare": lambda given, made: len(given) == 2 and given[0] == given[1] and made == (I1,),
    "test": lambda given, made: len(given) == 1 and made == (I1,),
    "select": lambda given, made: len(made) == 1 and given == (I1, *made, *made),
    "count": lambda given, made: len(given) == 1 and made == (I32,),
    "wide": lambda given, made: len(given) == 2 and given[0] == given[1] and _bits(made) == (2 * given[0].bits,),
    "carry": lambda given, made: len(made) == 2 and made[1] == I1 and given in (made[:1] * 2, (*made[:1] * 2, I1)),
    "extract": lambda given, made: len(made) == 1 and given == (*made, I32, I32),
    "insert": lambda given, made: len(made) == 1 and given == (*made, *made, I32, I32),
    "permute": lambda given, made: given in ((I32,) * 3, (I32,) * 4) and made == (I32,),
    "convert": lambda given, made: len(given) == len(made) == 1,
    "query": lambda given, made: not given and made in _ADDRESSES,
    "param": lambda given, made: not given and len(made) >= 1,
    "address": lambda given, made: not given and made in _ADDRESSES,
    "load": lambda given, made: given in _ADDRESSES and len(set(made)) == 1,
    "store": lambda given, made: given[:1] in _ADDRESSES and len(set(given[1:])) == 1 and not made,
    "atomic": lambda given, made: (
        given[:1] in _ADDRESSES and len(given) in (2, 3) and len(set(given[1:])) == 1 and made in ((), given[1:2])
    ),
    "vote": lambda given, made: given in ((I1,), (I1, I32)) and made in ((I1,), (I32,)),
    "shuffle": lambda given, made: given[1:] in ((I32, I32), (I32, I32, I32)) and made in (given[:1], (*given[:1], I1)),
    "match": lambda given, made: given[1:] in ((), (I32,)) and made in ((I32,), (I32, I1)),
    "reduce": lambda given, made: given in ((I32,), (I32, I32)) and made == (I32,),
    "barrier": lambda given, made: set(given[:-1]) <= {I32} and len(given) <= 3 and made in _barrier_types(given),
    "fence": lambda given, made: not given and not made,
    "warp": lambda given, made: given in ((), (I32,)) and not made,
    "free": lambda given, made: True,
}


def _bits(types: _Types) -> tuple[int, ...]:
    return tuple(type.bits for type in types)
