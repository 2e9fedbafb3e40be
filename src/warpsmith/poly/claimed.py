"""Finds the claims of a function: every loop behind an OpenMP or OpenACC pragma, with the parallel region around it.

    omp parallel ── Region(pragma, body) ── omp for ── Claim(loops, clauses of both)

Data sharing follows OpenMP 5.2, 5.1.1 and 5.1.2: what the region or the loop declares is each thread's own, the
counters of the loops that the pragma covers too, and else what the clauses say; in a `target` or an OpenACC compute
construct a scalar that no clause names is firstprivate. Where the region stands in a caller, each of its threads has
called the function: what that declares is each thread's own, and so are parameters that it changes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.tree.claims import Claim, Protected, Protection
from warpsmith.tree.nodes import (
    Block,
    Case,
    DeclStmt,
    Empty,
    For,
    Function,
    Loop,
    Name,
    Node,
    Other,
    Pragma,
    Stmt,
    Verbatim,
    While,
)
from warpsmith.tree.program import Program
from warpsmith.tree.text.directives import Directive, words_of
from warpsmith.tree.types import Scalar, Symbol
from warpsmith.tree.walk import names, walk, written_symbols

__all__ = [
    "ParallelRegion",
    "claims_of",
    "find_covered_inside",
    "find_protected_in",
    "marked_statements",
    "regions_of",
    "threadprivate",
]

_THREADPRIVATE = re.compile(r"\s*#\s*pragma\s+omp\s+threadprivate\s*\(([^)]*)\)")
_PROTECTING: Mapping[str, Protection] = {"atomic": "atomic", "critical": "critical", "ordered": "ordered"}
_THREAD_NUMBERS = frozenset({"omp_get_thread_num", "omp_get_team_num", "omp_get_ancestor_thread_num"})
_UNREAD_INSIDE = frozenset({
    "task", "taskloop", "sections", "section", "single", "barrier", "cancel", "scan", "taskwait", "taskgroup",
    "cancellation", "flush",
})  # fmt: skip


class ParallelRegion(Struct, frozen=True, eq=False):
    """A statement that an OpenMP construct lets several threads run."""

    pragma: Pragma
    directive: Directive
    body: Stmt


def marked_statements(node: Node, *, any_build: bool = False) -> Iterator[tuple[tuple[Pragma, ...], Stmt]]:
    """Yield every statement below `node` that directives stand in front of, with these; the end of a preprocessor
    conditional may stand between. `any_build`: also the directives that the build at hand leaves out."""
    for part in walk(node):
        run: tuple[Stmt, ...] = part.statements if isinstance(part, Block) else ()
        run = part.body if isinstance(part, Case) else run
        pragmas: list[Pragma] = []
        for statement in run:
            if isinstance(statement, Pragma):
                meant = any_build or not statement.left_out
                if meant and statement.directive is not None and not statement.directive.stands_alone:
                    pragmas.append(statement)
                continue
            if isinstance(statement, Verbatim) and statement.text.startswith("#"):
                continue
            if pragmas:
                yield tuple(pragmas), statement
            pragmas = []


@functools.lru_cache(maxsize=256)
def regions_of(function: Function) -> tuple[ParallelRegion, ...]:
    """Return the statements of `function` that several threads run, outer ones first."""
    return tuple(
        ParallelRegion(pragma, pragma.directive, stmt)
        for pragmas, stmt in marked_statements(function.body)
        for pragma in pragmas
        if pragma.directive is not None and pragma.directive.starts_threads
    )


def find_protected_in(node: Node) -> tuple[Protected, ...]:
    """Return the statements below `node` under `atomic`, `critical` and `ordered`."""
    found: list[Protected] = []
    for pragmas, stmt in marked_statements(node):
        for pragma in pragmas:
            directive = pragma.directive
            word = directive.words[0] if directive is not None and directive.words else ""
            kind = _PROTECTING.get(word)
            if directive is not None and kind is not None:
                name = next((c.argument for c in directive.clauses if not c.name), "")
                found.append(Protected(kind, name, stmt, directive))
    return tuple(found)


def threadprivate(program: Program) -> frozenset[Symbol]:
    """Return the variables of which every host thread has its own."""
    listed: set[str] = set()
    for unit in program.units:
        for item in unit.items:
            found = _THREADPRIVATE.match(item.text) if isinstance(item, Other) else None
            listed |= {name.strip() for name in found[1].split(",")} if found is not None else set()
        listed = listed.union(*map(_threadprivate_in, unit.functions))
    if not listed:
        return frozenset()
    used = (n.symbol for _, function in program.functions() for n in names(function.body) if n.symbol.name in listed)
    return frozenset(s for s in used if s.storage in ("global", "static", "static local"))


@functools.lru_cache(maxsize=4096)
def _threadprivate_in(function: Function) -> frozenset[str]:
    pragmas = (n.directive for n in walk(function.body) if isinstance(n, Pragma) and n.directive is not None)
    found = (d for d in pragmas if d.words == ("threadprivate",))
    return frozenset(v.name for d in found for c in d.clauses for v in c.variables)


def claims_of(function: Function, own: frozenset[Symbol] = frozenset()) -> tuple[Claim, ...]:
    """Return the claims of `function`, those of a block in the order of its text and before those of the blocks in it;
    `own` are the program's threadprivate variables."""
    regions = [(r, frozenset(map(id, walk(r.body))), _find_declared(r.body)) for r in regions_of(function)]
    found: list[Claim] = []
    for pragmas, stmt in marked_statements(function.body):
        for pragma in pragmas:
            directive = pragma.directive
            if directive is None or not isinstance(stmt, For | While):
                continue
            if directive.shares_loop or directive.is_simd:
                alone = "parallel" in directive.words
                around = (
                    [] if alone else [r for r in reversed(regions) if id(stmt) in r[1] and r[0].pragma is not pragma]
                )
                declared = own.union(*(names for _, _, names in around))
                if not around and directive.shares_work_of_callers:
                    declared |= _find_automatic(function)
                found.append(_claim(pragma, directive, stmt, [r for r, _, _ in around], declared))
    return tuple(found)


def find_covered_inside(loop: For) -> frozenset[For]:
    """Return the loops inside `loop` that pragmas of their own cover."""
    found: set[For] = set()
    for pragmas, stmt in marked_statements(loop.body):
        for pragma in pragmas:
            directive = pragma.directive
            if directive is not None and isinstance(stmt, For) and (directive.shares_loop or directive.is_simd):
                found.update(_find_covered(directive, stmt)[0])
    return frozenset(found)


def _claim(
    pragma: Pragma, directive: Directive, loop: Loop, around: Sequence[ParallelRegion], own: frozenset[Symbol]
) -> Claim:
    """`own`: the variables that each thread has for itself without a clause."""
    used = _find_used(loop)
    lists = [directive, *(outer.directive for outer in around)]
    sharing = _Sharing.of(lists, used)
    loops, problems = _find_covered(directive, loop)
    inner, unread = _find_owned_inside(loop)
    claim = Claim(
        kind="simd" if directive.is_simd else "threads",
        pragma=pragma,
        directive=directive,
        marked=loop,
        loops=loops,
        region=around[0].pragma if around else None,
        private=sharing.find_named("private") | frozenset(s for s in used.values() if s in own),
        firstprivate=sharing.find_named("firstprivate", "copyin"),
        lastprivate=sharing.find_named("lastprivate"),
        linear=sharing.find_named("linear"),
        reductions=sharing.reductions(),
        inner=inner,
        protected=find_protected_in(loop),
        unclaimed=(*problems, *_find_not_understood(lists, loop), *unread),
    )
    return replace(claim, firstprivate=claim.firstprivate | _by_default(claim, lists, used))


def _find_used(loop: Loop) -> Mapping[str, Symbol]:
    """Return the variables that the loop uses and does not declare, by name."""
    inside = _find_declared(loop)
    found = {n.symbol.name: n.symbol for n in names(loop) if n.symbol not in inside}
    found |= {n.variable.name: n.variable for n in walk(loop) if isinstance(n, For) and n.variable not in inside}
    opaque = (s for n in walk(loop) for s in (*getattr(n, "reads", ()), *getattr(n, "writes", ())))
    return {s.name: s for s in opaque if s not in inside} | found


def _find_declared(node: Node) -> frozenset[Symbol]:
    """Return the automatic variables that are declared below `node`."""
    declared = {d.symbol for n in walk(node) if isinstance(n, DeclStmt) for d in n.declarations}
    counters = {n.variable for n in walk(node) if isinstance(n, For) and n.declares}
    return frozenset(s for s in declared | counters if s.storage == "local")


def _find_automatic(function: Function) -> frozenset[Symbol]:
    """Return the variables that each call of a function has for itself, and gives values to."""
    return _find_declared(function.body) | (written_symbols(function.body) & frozenset(function.parameters))


class _Sharing(Struct, frozen=True):
    """The lists of the loop's directive, then of its region's: the inner one decides."""

    lists: tuple[Mapping[str, tuple[Symbol, ...]], ...]
    combined: tuple[Mapping[Symbol, str], ...]

    @classmethod
    def of(cls, directives: list[Directive], used: Mapping[str, Symbol]) -> _Sharing:
        lists: list[Mapping[str, tuple[Symbol, ...]]] = []
        combined: list[Mapping[Symbol, str]] = []
        for directive in directives:
            found: dict[str, tuple[Symbol, ...]] = {}
            operators: dict[Symbol, str] = {}
            for clause in directive.clauses:
                symbols = tuple(used[v.name] for v in clause.variables if v.name in used)
                name = clause.name
                if directive.family == "acc" and name == "copyin":
                    name = "shared"
                if name == "reduction":
                    operators |= {s: _OPERATORS.get(clause.operator, clause.operator) for s in symbols}
                found[name] = (*found.get(name, ()), *symbols)
            lists.append(found)
            combined.append(operators)
        return cls(tuple(lists), tuple(combined))

    def find_named(self, *clauses: str) -> frozenset[Symbol]:
        """Return the variables that the innermost directive which names them has in one of `clauses`."""
        found: set[Symbol] = set()
        decided: set[Symbol] = set()
        for level in self.lists:
            found |= {s for clause in clauses for s in level.get(clause, ()) if s not in decided}
            decided |= {s for clause in _SHARING for s in level.get(clause, ())}
        return frozenset(found)

    def reductions(self) -> Mapping[Symbol, str]:
        """Return the accumulators with their operators."""
        found: dict[Symbol, str] = {}
        decided: set[Symbol] = set()
        for level, operators in zip(self.lists, self.combined, strict=True):
            found |= {s: op for s, op in operators.items() if s not in decided}
            decided |= {s for clause in _SHARING for s in level.get(clause, ())}
        return found

    def find_decided(self) -> frozenset[Symbol]:
        return frozenset(s for level in self.lists for symbols in level.values() for s in symbols)


_OWNED = ("private", "firstprivate", "lastprivate", "linear", "reduction")
_SHARING = ("private", "firstprivate", "lastprivate", "linear", "reduction", "shared", "copyin")
_OPERATORS = {"-": "+", "and": "&&", "or": "||"}


def _by_default(claim: Claim, lists: list[Directive], used: Mapping[str, Symbol]) -> frozenset[Symbol]:
    """Return the scalars that are firstprivate because a device construct takes them by value."""
    offloaded = any(
        "target" in d.words or (d.family == "acc" and "parallel" in d.words and "loop" in d.words) for d in lists
    )
    if not offloaded:
        return frozenset()
    named = _Sharing.of(lists, used).find_decided() | {loop.variable for loop in claim.loops}
    return frozenset(s for s in used.values() if isinstance(s.type, Scalar) and s not in named and _is_variable(s))


def _is_variable(symbol: Symbol) -> bool:
    return symbol.storage not in ("function", "enumerator")


def _find_covered(directive: Directive, loop: Loop) -> tuple[tuple[For, ...], list[str]]:
    """Return the counted loops that the directive covers, and what is wrong with them."""
    if not isinstance(loop, For):
        return (), [f"the loop is not a counted one: {loop.reason}"]
    wanted = directive.argument("collapse") or "1"
    if not wanted.isdecimal() or int(wanted) < 1:
        return (loop,), [f"collapse({wanted}): the number of loops is not a number"]
    found = [loop]
    while len(found) < int(wanted):
        inside = [s for s in _statements(found[-1].body) if not isinstance(s, Empty)]
        if len(inside) != 1 or not isinstance(inside[0], For):
            text = f"collapse({wanted}): only {len(found)} counted loops stand directly inside one another"
            return tuple(found), [text]
        found.append(inside[0])
    return tuple(found), []


def _statements(body: Stmt) -> tuple[Stmt, ...]:
    if isinstance(body, Block):
        return tuple(inner for s in body.statements for inner in _statements(s))
    return (body,)


def _find_not_understood(directives: list[Directive], loop: Loop) -> Iterator[str]:
    for directive in directives:
        yield from (f"the clause {text} is not understood" for text in directive.unknown)
        for clause in directive.clauses:
            in_order = clause.name == "ordered" and not clause.argument and not directive.has("collapse")
            if clause.name not in words_of("judged") and not in_order:
                yield f"the clause {clause.text} is not judged"
            if clause.name in ("private", "firstprivate", "lastprivate") and any(v.section for v in clause.variables):
                yield f"the clause {clause.text} names a part of a variable"
    called = {n.symbol.name for n in names(loop) if n.symbol.storage == "function"}
    for name in sorted(called & _THREAD_NUMBERS):
        yield f"{name}() inside the loop has another value in each thread"
    for node in walk(loop):
        inner = node.directive if isinstance(node, Pragma) else None
        if inner is not None and inner.family == "omp" and _UNREAD_INSIDE.intersection(inner.words):
            yield f"{inner.title} inside the loop (line {node.span.line}) is not judged"


def _find_owned_inside(loop: Loop) -> tuple[frozenset[Symbol], list[str]]:
    """Return the variables that every iteration of a loop inside has for itself, where nothing else names them, and
    which lists of pragmas inside say something else. A loop inside whose pragma is right computes what it computes
    alone, sums and last values included: only what its iterations own is no variable of the loop around it."""
    owned: dict[Symbol, set[int]] = {}
    titles: dict[Symbol, str] = {}
    read: set[int] = set()
    for pragmas, stmt in marked_statements(loop.body):
        for pragma in pragmas:
            directive = pragma.directive
            if directive is None or not isinstance(stmt, For) or not (directive.shares_loop or directive.is_simd):
                continue
            read.add(id(pragma))
            named = {
                n: s for n, s in _find_used(stmt).items() if n in directive.list_variables("private", "firstprivate")
            }
            for symbol in named.values():
                owned.setdefault(symbol, set()).update(map(id, walk(stmt)))
                titles.setdefault(symbol, _title_inside(directive, pragma))
    unread = [
        f"the lists of {_title_inside(node.directive, node)} are not judged"
        for node in walk(loop)
        if isinstance(node, Pragma) and node.directive is not None and id(node) not in read
        and node.directive.list_variables(*_OWNED)
    ]  # fmt: skip
    outside = {symbol for symbol, inside in owned.items() if _is_used_outside(loop, symbol, inside)}
    unread += [
        f"{s.name} is used also outside of {titles[s]}, which owns it" for s in sorted(outside, key=lambda s: s.key)
    ]
    return frozenset(owned.keys() - outside), unread


def _title_inside(directive: Directive, pragma: Pragma) -> str:
    return f"{directive.title} inside the loop (line {pragma.span.line})"


def _is_used_outside(loop: Loop, symbol: Symbol, inside: set[int]) -> bool:
    rest = [n for n in walk(loop) if id(n) not in inside]
    named = any(n.symbol == symbol for n in rest if isinstance(n, Name))
    counted = any(n.variable == symbol for n in rest if isinstance(n, For))
    return named or counted or any(symbol in (*getattr(n, "reads", ()), *getattr(n, "writes", ())) for n in rest)
