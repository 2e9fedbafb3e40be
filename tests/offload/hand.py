"""Real C text with facts written by hand: what offload does must not depend on how clever poly is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from warpsmith.base.verdict import Proved, Unknown
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.offload.expressions import number
from warpsmith.offload.fragments import Draft, DraftChoice, OffloadRegion, OffloadRequest
from warpsmith.offload.mapping.kernels import BuiltKernel, build
from warpsmith.offload.names import Names
from warpsmith.offload.plan import DeviceBuffer, OffloadOptions
from warpsmith.poly.facts import FunctionFacts, LoopFacts, PolyOptions, ReferenceFact
from warpsmith.poly.isl.bound_values import constant
from warpsmith.tree.nodes import Assign, Binary, Expr, For, Function, Index, Loop, Name, Unary
from warpsmith.tree.program import Program, Unit
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol, element_type
from warpsmith.tree.walk import loop_names, names, peel, root_symbol, walk, written_symbols


def load(text: str, directory: Path) -> Program:
    path = directory / "input.c"
    path.write_text(text)
    loaded = load_program([str(path)], FrontOptions())
    assert not loaded.findings, loaded.findings
    return loaded.program


def request(
    program: Program,
    function: str,
    parallel: Sequence[str],
    live_out: Sequence[str] = (),
    options: OffloadOptions | None = None,
) -> OffloadRequest:
    unit, found = next((u, f) for u, f in program.functions() if f.symbol.name == function)
    facts = _facts(unit, found, set(parallel), set(live_out))
    return OffloadRequest(program, facts, options or OffloadOptions(), PolyOptions(), Names(program).scope())


def build_all(request: OffloadRequest, choice: DraftChoice) -> dict[str, BuiltKernel]:
    """Return what becomes of every draft when each array has a buffer from its first element on."""
    symbols = dict.fromkeys(u.symbol for d in choice.drafts for u in d.uses if u.kind != "value")
    zero = number(0, request.facts.function.span)
    buffers = tuple(
        DeviceBuffer(_device(request, s), s, zero, zero, (), not isinstance(s.type, Array | Pointer)) for s in symbols
    )
    offload_region = OffloadRegion((request.facts.function.body,), choice.drafts, buffers, ())
    name = request.facts.function.symbol.name
    return {d.region: build(request, offload_region, d, f"ws_{name}_k{i + 1}") for i, d in enumerate(choice.drafts)}


def draft(choice: DraftChoice, region: str) -> Draft:
    return next(d for d in choice.drafts if d.region == region)


def _device(request: OffloadRequest, symbol: Symbol) -> Symbol:
    text = request.names.fresh(f"{symbol.name}_gpu")
    element = element_type(symbol.type)
    plain = replace(element, const=False) if isinstance(element, Scalar) else element
    return Symbol(text, f"device:{text}", Pointer(plain), "device")


def _facts(unit: Unit, function: Function, parallel: set[str], live_out: set[str]) -> FunctionFacts:
    found = []
    for loop, id in loop_names(function).items():
        scalars = tuple(sorted((s for s in written_symbols(loop) if isinstance(s.type, Scalar)), key=lambda s: s.key))
        found.append(
            LoopFacts(
                id=id,
                loop=loop,
                function=function,
                depth=id.count("/"),
                category="parallel" if id in parallel else "sequential",
                verdict=Proved() if id in parallel else Unknown(()),
                private=scalars,
                live_out=tuple(s for s in scalars if s.name in live_out),
                reductions=(),
                reasons=(),
                accesses=tuple(_accesses(loop)),
            )
        )
    return FunctionFacts.known(unit, function, found)


def _accesses(loop: Loop) -> Iterator[ReferenceFact]:
    inner = {id(p.base) for p in walk(loop) if isinstance(p, Index)}
    written = {id(p.target) for p in walk(loop) if isinstance(p, Assign)}
    for part in walk(loop):
        if isinstance(part, Index) and id(part) not in inner:
            base = root_symbol(part)
            if base is None:
                continue
            yield ReferenceFact(part, base, part.type, id(part) in written, _strides(part), True)


def _strides(access: Index) -> Mapping[Symbol, int | None]:
    found: dict[Symbol, int | None] = {}
    step: Expr = access
    size: int | None = 1
    while isinstance(step, Index):
        for symbol in {n.symbol for n in names(step.index)}:
            more = _coefficient(step.index, symbol)
            now = found.get(symbol, 0)
            total = None if more is None or size is None or now is None else now + more * size
            if total != 0:
                found[symbol] = total
        step = peel(step.base)
        size = _row(step.type, size)
    return found


def _row(type: object, size: int | None) -> int | None:
    row = type.of if isinstance(type, Array) else type.to if isinstance(type, Pointer) else None
    return None if size is None or not isinstance(row, Array) or row.count is None else size * row.count


def _coefficient(expr: Expr, symbol: Symbol) -> int | None:
    if not any(n.symbol == symbol for n in names(expr)):
        return 0
    match peel(expr):
        case Name():
            return 1
        case Unary(op="-", operand=operand):
            inner = _coefficient(operand, symbol)
            return None if inner is None else -inner
        case Binary(op="+" | "-" as op, left=left, right=right):
            a, b = _coefficient(left, symbol), _coefficient(right, symbol)
            return None if a is None or b is None else a + b if op == "+" else a - b
        case Binary(op="*", left=left, right=right):
            for factor, other in ((constant(left), right), (constant(right), left)):
                inner = _coefficient(other, symbol)
                if factor is not None and inner is not None:
                    return factor * inner
    return None


def head(program: Program, address: str) -> For:
    """Return the loop with an address such as `lu/k/i`."""
    for _, function in program.functions():
        for loop, name in loop_names(function).items():
            if name == address and isinstance(loop, For):
                return loop
    raise KeyError(address)
