"""From a fragment with an offload region to a kernel and the launch that replaces the fragment.

    for (i = k + 1; i < N; i++)          ws_lu_k1(A_gpu, N, k);
        A[i*N + k] /= A[k*N + k];   →    kernel ws_lu_k1(double *A_gpu, int N, int k), i on x, 256 threads a block

Invariant: the kernel's parameters are all that its text names besides its own variables, functions and enumerators; no
name of it is a word of C++ or CUDA or collides with another of the unit's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec.structs
from msgspec import Struct

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.offload.decisions import Decided
from warpsmith.offload.expressions import binary, name
from warpsmith.offload.fragments import Draft, HostUse, OffloadRegion, OffloadRequest
from warpsmith.offload.mapping.halo.kernel import tile_with_halo
from warpsmith.offload.mapping.halo.passes import tile_passes
from warpsmith.offload.mapping.mapping import ThreadMapping, choose_mapping, large_axes
from warpsmith.offload.mapping.narrow import narrow_conditions
from warpsmith.offload.mapping.own_variables import OwnVariables
from warpsmith.offload.mapping.ranges import guard, launch_ranges
from warpsmith.offload.mapping.registers import keep_in_registers
from warpsmith.offload.mapping.sharing.shared_loops import SharedLoops, SharingRequest, share_loops
from warpsmith.offload.mapping.spaces.constants import PlacedConstant, place_constants
from warpsmith.offload.mapping.tiled_text import TiledBody
from warpsmith.offload.mapping.tiles import TileSearch
from warpsmith.offload.mapping.tiling import TileRequest, Tiling, tile_kernel
from warpsmith.offload.names import is_reserved
from warpsmith.offload.plan import CostEstimate, Fragment
from warpsmith.offload.values.kernel_text import (
    Rewriter,
    drop_pragmas,
    flat_rows,
    kernel_pointer,
    return_for_continue,
    shared_type,
)
from warpsmith.offload.values.reductions import Accumulator
from warpsmith.offload.values.running import kernel_scans
from warpsmith.offload.values.updates import Own, combine_updates, neutral
from warpsmith.poly.facts import statement_spans
from warpsmith.poly.isl.bound_values import constant
from warpsmith.tree.nodes import (
    Block,
    Cast,
    Expr,
    For,
    Function,
    Index,
    Launch,
    Name,
    Node,
    Pragma,
    Stmt,
    VarDecl,
    replace,
)
from warpsmith.tree.program import WARP, Axis, Combine, Kernel, KernelParameter, MappedLoop, Program, SharingThreads
from warpsmith.tree.types import LONG_LONG, Array, Pointer, Scalar, Symbol, Type, is_integer
from warpsmith.tree.walk import loop_names, loops, peel, walk

__all__ = ["BuiltKernel", "build"]

_INDEX: Final = "Index"
_FEW: Final = 32_768
"""Threads that are a block of 256 for each of 128 multiprocessors."""


class BuiltKernel(Struct, frozen=True):
    """A kernel in its fragment, and the host statements that replace the draft's."""

    fragment: Fragment
    launch: tuple[Stmt, ...]


def build(request: OffloadRequest, offload_region: OffloadRegion, draft: Draft, kernel_name: str) -> BuiltKernel:
    """Return the kernel `kernel_name` of `draft` and its launch.

    Raises RefusedError where the fragment's text cannot be written as a kernel.
    """
    buffers = {buffer.host: buffer for buffer in offload_region.buffers}
    parameters = _parameters(request, draft, {h: b.symbol for h, b in buffers.items()}, kernel_name)
    own = _own_accumulators(request, draft, kernel_name)
    rewriter = _rewriter(request, draft, parameters, kernel_name)
    heads = tuple(f.loop for f in draft.loops if isinstance(f.loop, For))
    mapping = _mapping(request, draft, heads)
    constants = place_constants(request, offload_region, draft, parameters, mapping)
    rewriter.buffers = {**rewriter.buffers, **{one.parameter.host: one.variable for one in constants}}
    parts = _Parts(kernel_name, parameters, rewriter, heads, mapping, own, constants=constants)
    if mapping is not None:
        parts = _with_text(request, offload_region, draft, parts)
    if parts.narrow:
        rewriter.index = _index_type(request)
    kernel = _kernel(request, draft, parts)
    mapping = parts.mapping
    span = statement_spans(draft.statements)
    arguments = tuple(
        _argument(p, buffers[p.host].symbol, buffers[p.host].lower)
        if p.host in buffers and p.kind != "value"
        else name(p.host, span)
        for p in parameters
    )
    launch = Launch(span=span, kernel=kernel_name, arguments=arguments, region=draft.region)
    assumptions = tuple(dict.fromkeys((*draft.assumptions, *offload_region.guards)))
    fragment = _fragment(request, draft, kernel, mapping)
    fragment = msgspec.structs.replace(
        fragment,
        assumptions=assumptions,
        holds_at=offload_region.holds_at,
        constants=tuple(one.told for one in constants),
    )
    if parts.shared is not None:
        fragment = msgspec.structs.replace(fragment, shared=parts.shared.loops, notes=parts.shared.notes)
    if parts.tiling is not None:
        fragment = msgspec.structs.replace(
            fragment, tiles=parts.tiling.tiles, halos=parts.tiling.halos, iterations=parts.tiling.iterations
        )
    return BuiltKernel(fragment, (launch, *draft.finals))


class _Parts(Struct, frozen=True):
    name: str
    parameters: tuple[KernelParameter, ...]
    rewriter: Rewriter
    heads: tuple[For, ...]
    mapping: ThreadMapping | None
    accumulators: Mapping[Accumulator, Own]
    text: Stmt | None = None
    narrow: tuple[Expr, ...] = ()
    tiling: Tiling | None = None
    constants: tuple[PlacedConstant, ...] = ()
    shared: SharedLoops | None = None

    @property
    def passed(self) -> frozenset[Symbol]:
        """The host's variables that keep what they are worth at the launch."""
        return frozenset(p.host for p in self.parameters if p.kind == "value" and is_integer(p.host.type))


def _narrow(draft: Draft, parts: _Parts) -> tuple[Expr, ...]:
    """Return under which conditions a kernel may compute its indices in 32 bits; none where it only has 64. Threads
    that combine values have kernels of other forms."""
    if parts.text is None or not parts.rewriter.flat or draft.accumulators or draft.scan is not None:
        return ()
    return narrow_conditions(parts.heads, parts.text, parts.rewriter.flat, parts.passed)


def _index_type(request: OffloadRequest) -> Scalar:
    """Return the type over which a kernel is a template; other kernels have one of the same name."""
    name = _INDEX
    while request.names.is_taken(name):
        name += "_"
    return Scalar(name, 64, "signed")


def _with_text(request: OffloadRequest, region: OffloadRegion, draft: Draft, parts: _Parts) -> _Parts:
    """Return the parts with the thread's body, with what it keeps in registers and in shared memory."""
    variables = OwnVariables(request, parts.name)
    mapping = parts.mapping
    assert mapping is not None, "loops are mapped"
    search = TileSearch(request, region, draft, parts.heads)
    if draft.passes is not None:
        asked = TileRequest(search, mapping, parts.heads[-1].body, variables)
        passing = tile_passes(asked)
        return msgspec.structs.replace(parts, text=passing.body.body, tiling=passing, mapping=passing.mapping)
    text = drop_pragmas(keep_in_registers(request, region, draft, variables))
    asked = TileRequest(search, mapping, text, variables)
    tiling = tile_with_halo(asked) or tile_kernel(asked)
    if tiling is None:
        parts = msgspec.structs.replace(parts, text=text)
        parts = msgspec.structs.replace(parts, narrow=_narrow(draft, parts))
        asking = SharingRequest(request, region, draft, parts.heads, mapping, text, variables, parts.passed)
        shared = share_loops(asking)
        return parts if shared is None else msgspec.structs.replace(parts, text=shared.body, shared=shared)
    return msgspec.structs.replace(parts, text=tiling.body.body, tiling=tiling, mapping=tiling.mapping)


def _mapping(request: OffloadRequest, draft: Draft, heads: tuple[For, ...]) -> ThreadMapping | None:
    if not heads:
        return None
    options, accesses = request.options, draft.loops[0].accesses
    decision = Decided.of(request.program, request.facts.function).threads(draft.loops[0].loop)
    return choose_mapping(accesses, heads, options.block_volume, options.sizes or {}, decision, model=options.model)


def _parameters(
    request: OffloadRequest, draft: Draft, buffers: Mapping[Symbol, Symbol], kernel_name: str
) -> tuple[KernelParameter, ...]:
    """Return the parameters: buffers, then cells, then values, each group in order of first use."""
    order = {"buffer": 0, "cell": 1, "value": 2}
    bare = frozenset(s for statement in draft.statements for s in _bare(statement))
    return tuple(
        _parameter(request, use, buffers, (kernel_name, bare))
        for use in sorted(draft.uses, key=lambda u: order[u.kind])
    )


def _bare(statement: Stmt) -> Iterator[Symbol]:
    """Yield the variables named other than to subscript them: such a pointer may lose its const on the way."""
    subscripted = {id(peel(part.base)) for part in walk(statement) if isinstance(part, Index)}
    for part in walk(statement):
        if isinstance(part, Name) and id(part) not in subscripted:
            yield part.symbol


def _parameter(
    request: OffloadRequest, use: HostUse, buffers: Mapping[Symbol, Symbol], kernel: tuple[str, frozenset[Symbol]]
) -> KernelParameter:
    kernel_name, bare = kernel
    host = use.symbol
    type: Type
    match use.kind:
        case "value":
            text, type = _own_name(request, host), host.type
        case "cell":
            # a constant whose declaration is a kernel's is set there
            text, type = buffers[host].name, buffers[host].type if use.written else Pointer(host.type)
        case "buffer":
            text, type = buffers[host].name, kernel_pointer(host.type)
    type = shared_type(type, request.facts.function.span)
    symbol = Symbol(text, f"{kernel_name}:{text}", type, "parameter", host.span)
    return KernelParameter(symbol, host, use.kind, use.written or (use.kind == "buffer" and host in bare))


def _own_name(request: OffloadRequest, symbol: Symbol) -> str:
    if not symbol.name.isidentifier():
        return request.names.fresh(symbol.name)  # a member of a class or a namespace
    return request.names.fresh(f"{symbol.name}_arg") if is_reserved(symbol.name) else symbol.name


def _own_accumulators(request: OffloadRequest, draft: Draft, kernel_name: str) -> dict[Accumulator, Own]:
    """Return each accumulator of which every thread has one of its own, and the variables: by the user's names for
    scalars, a new one for an element."""

    def variable(text: str, type: Type) -> Symbol:
        return Symbol(text, f"{kernel_name}:own:{text}", type, "local", draft.statements[-1].span)

    own: dict[Accumulator, Own] = {}
    for one in draft.accumulators:
        if one.form == "sum":
            host = one.symbol
            text = _own_name(request, host) if one.is_scalar else request.names.fresh(f"{host.name}_part")
            beside = {s: variable(_own_name(request, s), s.type) for s in one.companions}
            when = variable(request.names.fresh(f"{text}_when"), LONG_LONG) if beside else None
            own[one] = Own(variable(text, one.type), beside, when)
    return own


def _combines(parts: _Parts) -> tuple[Combine, ...]:
    made: list[Combine] = []
    for one, own in parts.accumulators.items():
        target = parts.rewriter.expr(one.element)
        places = [(new, parts.rewriter.expr(name(host, one.element.span))) for host, new in own.companions.items()]
        start = target if one.keeps else neutral(one)
        made.append(Combine(one.op, own.variable, target, start, one.keeps, tuple(places), own.when, one.strict))
    return tuple(made)


def _rewriter(
    request: OffloadRequest, draft: Draft, parameters: tuple[KernelParameter, ...], kernel_name: str
) -> Rewriter:
    kinds: dict[str, dict[Symbol, Symbol]] = {"value": {}, "cell": {}, "buffer": {}}
    for parameter in parameters:
        kinds[parameter.kind][parameter.host] = parameter.symbol
    rows = {host: flat_rows(host.type) for host in kinds["buffer"]}
    return Rewriter(
        values=kinds["value"],
        cells=kinds["cell"],
        buffers=kinds["buffer"],
        renamed={s: _make_own(request, s, kernel_name) for s in _own_variables(draft) if _needs_new(request, s)},
        flat={host: tuple(e for e in extents if e is not None) for host, extents in rows.items() if extents},
        moved=frozenset(u.symbol for u in draft.uses if u.device_only),
        function=request.facts.function.span,
    )


def _own_variables(draft: Draft) -> Iterator[Symbol]:
    """Yield the variables that the kernel declares itself: its counters, its locals, and what its body declares."""
    yield from dict.fromkeys((*draft.locals, *(s for statement in draft.statements for s in _find_declared(statement))))


def _find_declared(node: Node) -> Iterator[Symbol]:
    for part in walk(node):
        if isinstance(part, VarDecl):
            yield part.symbol
        elif isinstance(part, For):
            yield part.variable


def _needs_new(request: OffloadRequest, symbol: Symbol) -> bool:
    known = shared_type(symbol.type, request.facts.function.span) is symbol.type
    return is_reserved(symbol.name) or symbol.storage != "local" or not known


def _make_own(request: OffloadRequest, symbol: Symbol, kernel_name: str) -> Symbol:
    text = _own_name(request, symbol)
    type = shared_type(symbol.type, request.facts.function.span)
    return Symbol(text, f"{kernel_name}:{text}", type, "local", symbol.span)


def _kernel(request: OffloadRequest, draft: Draft, parts: _Parts) -> Kernel:
    heads, mapping, rewriter = parts.heads, parts.mapping, parts.rewriter
    tiled = None if parts.tiling is None else parts.tiling.body
    alone = mapping is not None and not parts.accumulators and draft.scan is None
    sliced = large_axes(heads, mapping) if mapping is not None and alone else ()
    strided: tuple[Axis, ...] = ()
    if mapping is not None and parts.accumulators:
        _check_shape(draft, mapping)
        strided = mapping.axes
    # a kernel with running values walks over tiles: all threads must get to the next one
    body = _body(draft, parts, bool(strided) or draft.scan is not None)
    inner = tuple(_head(rewriter, head, body) for head in heads)
    ranges = launch_ranges(inner)
    assert ranges is not None, "the nest was chosen because its ranges can be written"
    counters = [head.variable for head in inner]
    return Kernel(
        name=parts.name,
        function=request.facts.function.symbol.name,
        region=draft.region,
        span=statement_spans(draft.statements),
        mapped=tuple(
            MappedLoop(_from_first(head, rewriter, tiled), axis, facts.id)
            for head, axis, facts in zip(inner, mapping.axes if mapping else (), draft.loops, strict=True)
        ),
        launch=ranges,
        block=mapping.block if mapping else (1, 1, 1),
        parameters=parts.parameters,
        locals=tuple(rewriter.symbol(s) for s in draft.locals if tiled is None or _names(parts.text, s)),
        body=body,
        functions=_functions(request.program, body),
        guards=tuple(guard(head, counters[:i]) for i, head in enumerate(inner)),
        strided=strided,
        sliced=sliced,
        reductions=_combines(parts),
        reordered=_is_reordered(draft, parts),
        scans=kernel_scans(draft.scan, rewriter),
        index=rewriter.index.name if parts.narrow else "",
        narrow=tuple(rewriter.expr(condition) for condition in parts.narrow),
        inside=_inside(parts),
        shared=() if tiled is None else tiled.shared,
        positions=() if tiled is None else tiled.positions,
        elements=(1, 1, 1) if tiled is None else tiled.elements,
        turn=None if tiled is None else tiled.turn,
        turns=1 if draft.passes is None else draft.passes.turns + len(draft.passes.nests),
        few=_FEW if tiled is None and alone and _is_long(request, draft, mapping) else 0,
        constants=tuple((one.parameter.symbol, one.variable) for one in parts.constants),
        sharing=None if parts.shared is None else _sharing(rewriter, parts.shared.threads),
    )


def _inside(parts: _Parts) -> Symbol | None:
    """Return the variable that tells a thread whether it is one of the launch, where all of a block run the body."""
    if parts.tiling is not None:
        return parts.tiling.body.inside
    return None if parts.shared is None else parts.shared.inside


def _is_reordered(draft: Draft, parts: _Parts) -> bool:
    scanned = draft.scan is not None and draft.scan.is_rounded
    shared = parts.shared is not None and parts.shared.reordered
    return scanned or shared or any(one.is_rounded for one in draft.accumulators)


def _sharing(rewriter: Rewriter, one: SharingThreads) -> SharingThreads:
    return msgspec.structs.replace(one, long=tuple(rewriter.expr(condition) for condition in one.long))


def _is_long(request: OffloadRequest, draft: Draft, mapping: ThreadMapping | None) -> bool:
    """Whether threads along x go through loops, in blocks that nobody has asked for: where they are few, each block
    should have few of them, so that all multiprocessors have some."""
    decision = Decided.of(request.program, request.facts.function).threads(draft.loops[0].loop)
    asked = decision is not None and bool(decision.block)
    long = any(True for _ in loops(draft.loops[-1].loop.body))
    return mapping is not None and mapping.axes == ("x",) and mapping.block[0] > WARP and long and not asked


def _names(text: Stmt | None, symbol: Symbol) -> bool:
    """Whether a text names a variable that it does not declare itself: a loop over tiles has a counter of its own."""
    assert text is not None, "the body of a nest"
    parts = [*walk(text)]
    declared = any(isinstance(part, VarDecl) and part.symbol == symbol for part in parts)
    counted = any(isinstance(part, For) and part.variable == symbol and not part.declares for part in parts)
    return counted or (not declared and any(isinstance(part, Name) and part.symbol == symbol for part in parts))


def _check_shape(draft: Draft, mapping: ThreadMapping) -> None:
    """Refuse a block (a step may give one) whose threads cannot be combined: they are whole warps, a power of two."""
    x, y, z = mapping.block
    threads = x * y * z
    located = any(one.companions for one in draft.accumulators)
    if threads % 32 or threads & (threads - 1) or (located and mapping.axes != ("x",)):
        text = "the threads of a reduction's block must be a power of two, at least 32"
        if located:
            text += ", along x where the place of an extreme is wanted"
        raise RefusedError(Finding("STP003", "error", text, draft.loops[0].loop.header))


def _body(draft: Draft, parts: _Parts, walks: bool) -> Stmt:
    if not parts.heads:
        statements = tuple(parts.rewriter.stmt(drop_pragmas(s)) for s in draft.statements if not isinstance(s, Pragma))
        return Block(span=statement_spans(draft.statements), statements=statements)
    assert parts.text is not None, "the body of the innermost loop becomes the thread's"
    source = parts.text if draft.scan is None else drop_pragmas(draft.scan.body)
    body = parts.rewriter.stmt(combine_updates(source, parts.heads[-1], draft.accumulators, parts.accumulators))
    return body if walks else return_for_continue(body)


def _head(rewriter: Rewriter, head: For, body: Stmt) -> For:
    """Return a mapped loop in the kernel's names, its `!=` as the comparison that a partial block needs."""
    relation = ("<" if head.step > 0 else ">") if head.relation == "!=" else head.relation
    return replace(
        head,
        variable=rewriter.symbol(head.variable),
        lower=rewriter.expr(head.lower),
        bound=rewriter.expr(head.bound),
        relation=relation,
        body=body,
    )


def _from_first(head: For, rewriter: Rewriter, tiled: TiledBody | None) -> For:
    """Return a mapped loop whose counter is that of the first of several iterations, where a thread has several."""
    firsts = {} if tiled is None else {rewriter.symbol(counter): first for counter, first in tiled.firsts.items()}
    return replace(head, variable=firsts[head.variable]) if head.variable in firsts else head


def _functions(program: Program, body: Stmt) -> tuple[Symbol, ...]:
    """Return the functions with a definition that the body calls, directly or not, callees first."""
    known = {f.symbol: f for _, f in program.functions()}
    found: dict[Symbol, None] = {}

    def visit(node: Node, around: frozenset[Symbol]) -> None:
        for part in walk(node):
            if isinstance(part, Name) and part.symbol in known and part.symbol not in around | found.keys():
                visit(known[part.symbol].body, around | {part.symbol})
                found[part.symbol] = None

    visit(body, frozenset())
    return tuple(found)


def _argument(parameter: KernelParameter, buffer: Symbol, lower: Expr) -> Expr:
    """Return the pointer to pass: the buffer's start less the first element that it stands for."""
    value: Expr = name(buffer, lower.span)
    if parameter.kind == "buffer" and constant(lower) != 0:
        value = binary("-", value, lower, buffer.type)
    wanted = parameter.symbol.type
    if isinstance(wanted, Pointer) and isinstance(wanted.to, Array):
        value = Cast(span=lower.span, type=wanted, operand=value)
    return value


def _fragment(request: OffloadRequest, draft: Draft, kernel: Kernel, mapping: ThreadMapping | None) -> Fragment:
    function: Function = request.facts.function
    addresses = loop_names(function)
    inside = [loop for s in draft.statements for loop, _ in loops(s)]
    axes = (
        {
            f.loop.variable.name: axis
            for f, axis in zip(draft.loops, mapping.axes, strict=True)
            if isinstance(f.loop, For)
        }
        if mapping
        else {}
    )
    model: CostEstimate | None = mapping.model if mapping else None
    return Fragment(
        region=draft.region,
        kind=draft.kind,
        function=function,
        statements=draft.statements,
        kernel=kernel,
        mapping=axes,
        loops=tuple(addresses[loop] for loop in inside),
        assumptions=draft.assumptions,
        model=model,
    )
