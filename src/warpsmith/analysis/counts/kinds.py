"""Instructions of the kernel IR as those that a multiprocessor executes.

    a · b in a loop of neither  → counted before it
    fmul, fadd  → one multiply-add, where nothing else uses the product          (nvcc's default, -fmad=true)
    mul, add    → one, for the same reason (IMAD)
    param, address, bitcast, zext → none: operands and registers
    64-bit sums → two of 32 bits, products four; a division the sequence that stands for it

Loops that are unrolled because they index an array in registers are only what they do. Limits: what else a compiler
unrolls, makes of indices that change evenly, or finds twice is not known here: these are counts of the IR, and SASS may
have fewer or more. The lengths of divisions and of 64-bit functions are from memory, not confirmed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from warpsmith.analysis.resources.unrolled import Unrolled, find_unrolled
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock, Branch, Constant, Function, Instruction, Memory, Operand, Switch, Value
from warpsmith.ssa.ops import OPS

__all__ = ["BlockKinds", "block_kinds"]

_INTEGER_DIVISION: Final = 20
_FLOAT_DIVISION: Final = 8
_WIDE_FUNCTION: Final = 20
"""Instructions that stand for a division of 32-bit integers, of floats, for a function of 64 bits."""

_PRODUCTS: Final = {"fmul": ("fadd", "fsub"), "mul": ("add",), "smulwide": ("add",), "umulwide": ("add",)}


class BlockKinds(Struct, frozen=True):
    """One visit of a block of code by a warp. `batches`: how often it waits for memory, loads that nothing waits for
    between being one; `flops` and those of 64 bits are of each lane."""

    instructions: Mapping[str, int]
    batches: int
    flops: int
    wide: int


def block_kinds(function: Function, graph: Graph) -> dict[str, BlockKinds]:
    """Return what each block of code that can be reached is made of; what a loop does not change stands before it."""
    uses = Counter(o for block in function.blocks for o in _operands(block) if isinstance(o, Value))
    unrolled = find_unrolled(function, graph)
    gone = unrolled.accesses | unrolled.free
    made = {v: i for _, i in function.instructions() for v in i.results}
    homes = _homes(function, graph)
    held: dict[str, list[Instruction]] = {name: [] for name in graph.order}
    for block, i in function.instructions():
        if block.name in graph.rank and i not in gone:
            held[homes.get(i, block.name)].append(i)
    blocks = {block.name: block for block in function.blocks}
    return {name: _kinds_of(blocks[name], held[name], (uses, made), unrolled) for name in graph.order}


def _homes(function: Function, graph: Graph) -> dict[Instruction, str]:
    """Return the block that each pure instruction is executed in once it is taken out of the loops that do not change
    it."""
    where = {phi.result: block.name for block in function.blocks for phi in block.phis}
    homes: dict[Instruction, str] = {}
    blocks = {block.name: block for block in function.blocks}
    for name in graph.order:
        for i in blocks[name].instructions:
            home = name
            while OPS[i.op].pure and (around := graph.cycles_around(home)):
                cycle = around[-1]
                if any(where.get(o) in cycle.blocks for o in i.operands if isinstance(o, Value)):
                    break
                home = graph.dominator[cycle.header]
            homes[i] = home
            where.update(dict.fromkeys(i.results, home))
    return homes


def _operands(block: BasicBlock) -> Iterable[Operand]:
    for phi in block.phis:
        yield from (operand for _, operand in phi.incoming)
    for i in block.instructions:
        yield from i.operands


def _kinds_of(
    block: BasicBlock,
    held: Iterable[Instruction],
    code: tuple[Mapping[Value, int], Mapping[Value, Instruction]],
    unrolled: Unrolled,
) -> BlockKinds:
    found: Counter[str] = Counter()
    flops = wide = 0
    for i in held:
        operations = _flops(i)
        flops += operations
        wide += operations if i.results and i.results[0].type.bits == 64 else 0
        if not _is_fused(i, *code):
            for kind, count in _kinds(i):
                found[kind] += count
    if isinstance(block.terminator, Branch | Switch) and block.name not in unrolled.ends:
        found["control"] += 1
    return BlockKinds(found, _batches(block, unrolled), flops, wide)


def _is_fused(i: Instruction, uses: Mapping[Value, int], made: Mapping[Value, Instruction]) -> bool:
    """Whether a sum is one instruction with the product that it is of."""
    for operand in i.operands:
        product = made.get(operand) if isinstance(operand, Value) else None
        if product is not None and i.op in _PRODUCTS.get(product.op, ()) and uses[product.result] == 1:
            return True
    return False


def _flops(i: Instruction) -> int:
    if i.op == "ffma":
        return 2
    return int(i.op in ("fadd", "fsub", "fmul", "fdiv", "sqrt", "rsqrt", "rcp"))


def _kinds(i: Instruction) -> Iterable[tuple[str, int]]:
    """Yield the kinds of machine instructions that stand for one op, with how many."""
    if isinstance(i.detail, Memory):
        yield "memory", 1
        return
    bits = max((o.type.bits for o in (*i.operands, *i.results)), default=32)
    wide = bits == 64
    match OPS[i.op].cost:
        case "divide":
            yield from _division(i, wide=wide)
        case "convert":
            yield from _conversion(i)
        case "alu" if i.op != "query":
            yield "integer", 1 + wide
        case "multiply":
            yield "multiply", 4 if wide and i.op == "mul" else 1
        case cost:
            yield from _ONE.get((cost, wide), _ONE.get((cost, False), ()))


_ONE: Final[Mapping[tuple[str, bool], tuple[tuple[str, int], ...]]] = {
    ("float", False): (("single", 1),),
    ("float", True): (("double", 1),),
    ("special", False): (("special", 1),),
    ("special", True): (("double", _WIDE_FUNCTION),),
    ("exchange", False): (("memory", 1),),
    ("barrier", False): (("barriers", 1),),
}
"""What stands for other ops, by their cost and whether they have 64 bits; for operands and registers nothing."""


def _division(i: Instruction, *, wide: bool) -> Iterable[tuple[str, int]]:
    if i.result.type.kind != "float":
        divisor = i.operands[1]
        if isinstance(divisor, Constant) and divisor.bits:
            yield from _division_by_number(i, divisor.bits, 4 if wide else 1)
        else:
            yield "integer", _INTEGER_DIVISION * (4 if wide else 1)
    elif wide:
        yield "double", _WIDE_FUNCTION
    else:
        yield "single", _FLOAT_DIVISION
        yield "special", 1


def _division_by_number(i: Instruction, divisor: int, factor: int) -> Iterable[tuple[str, int]]:
    """Yield what compilers make of a number they know: shifts, or the high half of a product, shifted."""
    if divisor & (divisor - 1) == 0:
        yield "integer", factor * (1 if i.op.startswith("u") else 3)
        return
    yield "multiply", factor * (2 if i.op.endswith("rem") else 1)
    yield "integer", factor * 2


def _conversion(i: Instruction) -> Iterable[tuple[str, int]]:
    if i.op in ("zext", "trunc"):
        return
    yield ("integer" if i.op == "sext" else "convert"), 1


def _batches(block: BasicBlock, unrolled: Unrolled) -> int:
    """Return how often a warp waits for memory: loads are on the way together until something needs one of them."""
    waits, pending = 0, set[Value]()
    for i in block.instructions:
        if pending.intersection(o for o in i.operands if isinstance(o, Value)):
            waits, pending = waits + 1, set()
        if i in unrolled.accesses or not isinstance(i.detail, Memory):
            continue
        if i.results and i.detail.space not in ("shared", "constant", "param"):
            pending.update(i.results)
    return waits + bool(pending)
