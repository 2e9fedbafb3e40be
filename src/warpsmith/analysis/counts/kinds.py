"""Instructions of the kernel IR as those that a multiprocessor executes.

    a · b in a loop of neither  → counted before it
    fmul, fadd  → one multiply-add, where nothing else uses the product          (nvcc's default, -fmad=true)
    mul, add    → one, for the same reason (IMAD); so are shl, add (LEA) and two sums (IADD3)
    param, address, bitcast, zext → none: operands and registers
    64-bit sums → two of 32 bits, products four; a division the sequence that stands for it

Of loops that are unrolled only what they do is left (unrolling.py). Limits: what else a compiler finds twice is not
known here: these are counts of the IR, and SASS may have fewer or more. The lengths of divisions and of 64-bit
functions are from memory, not confirmed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import Final

from msgspec import Struct

from warpsmith.analysis.counts.unrolling import Unrolling, find_unrolling, iterations_together
from warpsmith.analysis.resources.unrolled import Unrolled, find_unrolled
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock, Branch, Constant, Function, Instruction, Memory, Operand, Switch, Value
from warpsmith.ssa.ops import OPS

__all__ = ["BlockKinds", "block_kinds"]

_INTEGER_DIVISION: Final = 20
_FLOAT_DIVISION: Final = 8
_WIDE_FUNCTION: Final = 20
"""Instructions that stand for a division of 32-bit integers, of floats, for a function of 64 bits."""

_LONG: Final = 1e9

_PRODUCTS: Final = {
    "fmul": ("fadd", "fsub"), "mul": ("add",), "smulwide": ("add",), "umulwide": ("add",), "shl": ("add",),
    "add": ("add", "sub"), "sub": ("add", "sub"),
}  # fmt: skip


class BlockKinds(Struct, frozen=True):
    """One visit of a block of code by a warp, on average. `batches`: how often it waits for memory, loads that nothing
    waits for between being one; `shared_batches`: for shared memory; `beside`: it waits here for what was copied to
    shared memory while it went on; `flops` and those of 64 bits are of each lane."""

    instructions: Mapping[str, float]
    batches: float
    shared_batches: float
    flops: int
    wide: int
    beside: bool = False


class _Code(Struct, frozen=True):
    """What the instructions of a function are made of, and what is left of its loops."""

    uses: Mapping[Value, int]
    made: Mapping[Value, Instruction]
    unrolled: Unrolled
    unrolling: Unrolling
    trips: Mapping[str, float]
    arrivals: Set[str]

    def together(self, header: str | None) -> float:
        """Return how many iterations of a loop go as one."""
        return 1.0 if header is None else iterations_together(self.trips.get(header, _LONG))


def block_kinds(
    function: Function, graph: Graph, unrolling: Unrolling | None = None, trips: Mapping[str, float] | None = None
) -> dict[str, BlockKinds]:
    """Return what each block of code that can be reached is made of; what a loop does not change stands before it.
    `trips`: iterations of loops, by header; others are taken to be many."""
    uses = Counter(o for block in function.blocks for o in _operands(block) if isinstance(o, Value))
    unrolled = find_unrolled(function, graph)
    left = find_unrolling(function, graph) if unrolling is None else unrolling
    gone = unrolled.accesses | unrolled.free | left.free
    made = {v: i for _, i in function.instructions() for v in i.results}
    homes = _homes(function, graph, left)
    held: dict[str, list[Instruction]] = {name: [] for name in graph.order}
    for block, i in function.instructions():
        if block.name in graph.rank and i not in gone:
            held[homes.get(i, block.name)].append(i)
    blocks = {block.name: block for block in function.blocks}
    code = _Code(uses, made, unrolled, left, trips or {}, _find_arrivals(graph, blocks))
    return {name: _kinds_of(blocks[name], held[name], code) for name in graph.order}


def _homes(function: Function, graph: Graph, left: Unrolling) -> dict[Instruction, str]:
    """Return the block that each pure instruction is executed in once it is taken out of the loops that do not change
    it: of a sum with a counter that is unrolled, the other part alone."""
    where = {phi.result: block.name for block in function.blocks for phi in block.phis}
    homes: dict[Instruction, str] = {}
    blocks = {block.name: block for block in function.blocks}
    for name in graph.order:
        for i in blocks[name].instructions:
            home = graph.dominator[left.once[i]] if i in left.once else name
            parts = [o for o in i.operands if isinstance(o, Value) and not (i in left.once and o in left.numbers)]
            while OPS[i.op].pure and (around := graph.cycles_around(home)):
                cycle = around[-1]
                if any(where.get(o) in cycle.blocks for o in parts):
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


def _kinds_of(block: BasicBlock, held: Iterable[Instruction], code: _Code) -> BlockKinds:
    found: dict[str, float] = {}
    flops = wide = 0
    left, fused = code.unrolling, set[Instruction]()
    for i in held:
        operations = _flops(i)
        flops += operations
        wide += operations if i.results and i.results[0].type.bits == 64 else 0
        if _is_fused(i, code, fused):
            fused.add(i)
            continue
        copies = left.share.get(i, 1.0) / code.together(left.rare.get(i))
        for kind, count in _kinds(i):
            found[kind] = found.get(kind, 0.0) + count * copies
    if isinstance(block.terminator, Branch | Switch) and block.name not in code.unrolled.ends | left.ends:
        found["control"] = found.get("control", 0.0) + 1 / code.together(left.rare_ends.get(block.name))
    together = left.together.get(block.name) or code.together(left.stretches.get(block.name))
    batches, inside = (_batches(block, code, shared=shared) / together for shared in (False, True))
    counted = {kind: count for kind, count in found.items() if count}
    return BlockKinds(counted, batches, inside, flops, wide, block.name in code.arrivals)


def _is_fused(i: Instruction, code: _Code, fused: Set[Instruction]) -> bool:
    """Whether a sum is one instruction with the product or the sum that it is of; one is one with one other alone."""
    for operand in i.operands:
        product = code.made.get(operand) if isinstance(operand, Value) else None
        if product is None or i.op not in _PRODUCTS.get(product.op, ()) or code.uses[product.result] != 1:
            continue
        if product not in fused and product not in code.unrolling.free and product not in code.unrolled.free:
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


def _find_arrivals(graph: Graph, blocks: Mapping[str, BasicBlock]) -> set[str]:
    """Return the blocks with the barriers before which what is copied beside the warps has arrived: those of the
    innermost loop around each copy that has some."""
    found: set[str] = set()
    for name in graph.order:
        if any(map(_is_beside, blocks[name].instructions)):
            loops = ({b for b in cycle.blocks if _waits(blocks[b])} for cycle in reversed(graph.cycles_around(name)))
            found |= next(filter(None, loops), set())
    return found


def _waits(block: BasicBlock) -> bool:
    return any(i.op == "barrier" for i in block.instructions)


def _is_beside(i: Instruction) -> bool:
    """Whether a load brings bytes to shared memory while the thread goes on."""
    return isinstance(i.detail, Memory) and i.detail.cached == "beside"


def _batches(block: BasicBlock, code: _Code, *, shared: bool) -> int:
    """Return how often a warp waits for memory: loads are on the way together until something needs one of them."""
    waits, pending = 0, set[Value]()
    for i in block.instructions:
        if pending.intersection(o for o in i.operands if isinstance(o, Value)):
            waits, pending = waits + 1, set()
        if i in code.unrolled.accesses or not isinstance(i.detail, Memory) or i.detail.space in ("constant", "param"):
            continue
        if i.results and (i.detail.space == "shared") == shared and not _is_beside(i):
            pending.update(i.results)
    return waits + bool(pending)
