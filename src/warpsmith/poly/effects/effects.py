"""The effects of a piece of program: the variables and objects that it may touch, and whether it talks to the world.

    p = a;  p[i] = s;  printf("%d", n);      direct writes p, reads p i s n; element writes p and a; io

Invariant: whatever executing the node may read or write, of what its function can name, stands in the answer; and so
does whether it may write anything else.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.poly.effects.device import device_blocker
from warpsmith.poly.effects.memory_effects import MemoryEffects
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.accesses import MemoryAccess, node_accesses
from warpsmith.poly.pointers.pointers import UNKNOWN, Provenance, Root
from warpsmith.tree.named import find_named
from warpsmith.tree.nodes import For, Function, Node, Stmt, VarDecl
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Symbol
from warpsmith.tree.walk import walk

__all__ = ["Effects", "device_blocker", "effects", "find_captured", "find_changed_in", "find_escaped"]

_LASTING = ("global", "static", "static local")


class Effects(Struct, frozen=True):
    """`direct_*`: the variable's own value (a scalar, a pointer's address, a whole struct). `element_*`: what an array
    holds or a pointer points to, under the symbol of every base that may reach it (`p = a; p[i] = 0` writes elements of
    `p` and of `a`). Variables declared inside the node are left out. `calls_unknown`, `io`, `asserts`, `allocates`:
    what calls do; `reason` and `span` name the first such construct ("" and None where there is none).
    `unnamed_writes`: memory may be written that nothing in the function can name, such as what a pointer in an object
    leads to that a call is given."""

    direct_reads: frozenset[Symbol] = frozenset()
    direct_writes: frozenset[Symbol] = frozenset()
    element_reads: frozenset[Symbol] = frozenset()
    element_writes: frozenset[Symbol] = frozenset()
    calls_unknown: bool = False
    io: bool = False
    asserts: bool = False
    allocates: bool = False
    reason: str = ""
    span: Span | None = None
    unnamed_writes: bool = False

    @property
    def reads(self) -> frozenset[Symbol]:
        """Everything that may be read, directly or as an element."""
        return self.direct_reads | self.element_reads

    @property
    def writes(self) -> frozenset[Symbol]:
        """Everything that may be written, directly or as an element."""
        return self.direct_writes | self.element_writes


def effects(
    program: Program, node: Node, function: Function | None = None, summaries: Summaries | None = None
) -> Effects:
    """Return what executing `node` (Expr, Stmt or Function) may do; calls are followed through definitions.

    `function` is the one that `node` stands in, found by span where it is not given. Pass `Summaries.of(program)` to
    ask many times.
    """
    known = summaries if summaries is not None else Summaries.of(program)
    around = function if function is not None else known.function_of(node)
    if around is None:
        return known.remember(("effects", node), lambda: _effects(known, node, None))
    return known.remember_of(around, node, "effects", lambda: _effects(known, node, around))


def find_changed_in(function: Function, summaries: Summaries) -> frozenset[Symbol]:
    """Return what a whole function may write, its own variables included, but for the values with which it declares
    them: `int n = 0; scanf("%d", &n);` writes n."""
    where = summaries.provenance(function)
    done = summaries.effects_of((t for t in node_accesses(function.body) if not _declares(t)), where)
    visible = summaries.remember("visible", lambda: _visible(summaries))
    writes, elements = _split(done.stores, done.store_bases, where, visible)
    return frozenset(done.writes | writes | elements)


def _declares(access: MemoryAccess) -> bool:
    declares = isinstance(access.node, VarDecl) or (isinstance(access.node, For) and access.node.declares)
    return access.kind == "write" and declares


def _effects(known: Summaries, node: Node, around: Function | None) -> Effects:
    done = known.memory_effects(node.body if isinstance(node, Function) else node, around)
    where = known.provenance(around) if around is not None else None
    own = _find_declared(node)
    visible = known.remember("visible", lambda: _visible(known))
    reads, read_elements = _split(done.loads, done.load_bases, where, visible)
    writes, written_elements = _split(done.stores, done.store_bases, where, visible)
    return Effects(
        frozenset((done.reads | reads) - own),
        frozenset((done.writes | writes) - own),
        frozenset(read_elements - own),
        frozenset(written_elements - own),
        done.calls_unknown,
        done.io,
        done.asserts,
        done.allocates,
        *_reason(done),
        unnamed_writes=UNKNOWN in done.stores and not written_elements,
    )


def _visible(known: Summaries) -> frozenset[Root]:
    """Return the objects that any function may have a pointer to."""
    held = known.find_held()
    return frozenset(Root("object", s) for s in known.globals if isinstance(s.type, Array) or s in held)


def find_escaped(program: Program, function: Function, summaries: Summaries | None = None) -> frozenset[Symbol]:
    """Return the variables of `function` whose address may be held by something else: `&x` stored or given to a call
    that may keep it, an array whose name is; and those that one of its own pointers may name."""
    known = summaries if summaries is not None else Summaries.of(program)
    where = known.provenance(function)
    held = set(where.escaped).union(*where.roots.values())
    return frozenset(root.symbol for root in held if root.kind == "object" and root.symbol is not None)


def _reason(done: MemoryEffects) -> tuple[str, Span | None]:
    return done.reason, done.span


def _find_declared(node: Node) -> set[Symbol]:
    """Return the variables that live only inside `node`."""
    own = {n.symbol for n in walk(node) if isinstance(n, VarDecl) and n.symbol.storage == "local"}
    own |= {n.variable for n in walk(node) if isinstance(n, For) and n.declares}
    return own


def _split(
    roots: Iterable[Root], named: set[Symbol], where: Provenance | None, visible: frozenset[Root]
) -> tuple[set[Symbol], set[Symbol]]:
    """Return the variables whose own value the roots are, and the bases whose elements they are; `visible` are the
    objects that any function may have a pointer to."""
    accessed = frozenset(roots)
    known = set(accessed)
    elements = set(named)
    if where is not None and accessed:
        elements |= {symbol for symbol, held in where.roots.items() if where.meet(held, accessed)}
        if any(root.kind == "unknown" for root in accessed):
            elements |= where.deep
            known |= where.escaped | visible
    symbols = {root.symbol: root for root in known if root.symbol is not None and root.symbol.storage != "function"}
    direct = {s for s, root in symbols.items() if root.kind == "object" and not isinstance(s.type, Array)}
    return direct, elements | (set(symbols) - direct)


def find_captured(program: Program, function: Function, part: Stmt, summaries: Summaries | None) -> list[Symbol]:
    """Return the variables of other functions whose elements a statement of `function` may touch, by calling a lambda
    that has captured them: nothing in the function names them, nor are they global."""
    done = effects(program, part, function, summaries)
    named = {symbol for node in walk(function.body) for symbol in find_named(node)}.union(function.parameters)
    touched = done.element_reads | done.element_writes
    return sorted((s for s in touched - named if s.storage not in _LASTING), key=lambda symbol: symbol.key)
