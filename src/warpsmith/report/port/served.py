"""Which kernel serves which loop of the user, when steps came in between.

    for (i) for (j) S;    wavefront    for (w) for (i) { j = w - i; S; }    i: a loop of a kernel, j: its body is there

A loop that is still there, by header and counter, is served by the kernel that holds it, and so is one that steps have
given a counter. A loop that is gone is served where all of its statements are, unless its counter became a host loop
around them.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved
from warpsmith.loops.fallbacks import fallback_loops
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import Fragment, Plan
from warpsmith.poly.facts import FunctionFacts, LoopFacts
from warpsmith.tree.nodes import ExprStmt, For, Function, Loop, While
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.program import Program
from warpsmith.tree.walk import loops, walk

__all__ = ["Served"]

Key = tuple[Span, str]


class Served(Struct, frozen=True):
    """`held`: loops in kernels; `bodies`: statements in kernels; `left`: the loops of the prepared program; `around`:
    names of the host counters around each fragment; `parallel`: loops all of whose pieces are parallel; `serial`: the
    other loops; `statements`: those in kernels, as the user wrote them; `texts`: where all statements of the prepared
    program stand; `now`: the loops of the prepared program by their headers, those that only run where a test fails
    left out; `tested`: the text of loops with such a test before them."""

    held: dict[Key, Fragment]
    bodies: dict[Span, Fragment]
    around: dict[str, frozenset[str]]
    left: frozenset[Key]
    parallel: frozenset[Key]
    serial: tuple[For, ...]
    statements: tuple[tuple[ExprStmt, Fragment], ...]
    texts: frozenset[Span]
    now: dict[Span, tuple[LoopFacts, ...]]
    tested: frozenset[Span]

    @classmethod
    def of(cls, prepared: Prepared, plan: Plan | None) -> Served:
        """Look at the loops and kernels once."""
        held: dict[Key, Fragment] = {}
        bodies: dict[Span, Fragment] = {}
        statements: list[tuple[ExprStmt, Fragment]] = []
        written = {stmt.span: stmt for stmt in _statements(prepared.original.program)}
        for fragment in plan.fragments if plan else ():
            for node in (n for stmt in fragment.statements for n in walk(stmt)):
                if isinstance(node, ExprStmt):
                    bodies.setdefault(node.span, fragment)
                    statements.append((written.get(node.span, node), fragment))
            held |= {_key(loop): fragment for stmt in fragment.statements for loop, _ in loops(stmt)}
        around = {f.region: frozenset(_host_counters(f)) for f in (plan.fragments if plan else ())}
        spare = {key for _, function in prepared.program.functions() for key in fallback_loops(function)}
        every = [f for function in _find_known(prepared) for f in function.loops]
        known = [f for f in every if id(f.loop) not in spare]
        tested = frozenset(f.loop.span for f in every if id(f.loop) in spare)
        serial = tuple(f.loop for f in known if f.category != "parallel" and isinstance(f.loop, For))
        texts = frozenset(stmt.span for stmt in _statements(prepared.program))
        left = frozenset(_key(f.loop) for f in known)
        now: dict[Span, tuple[LoopFacts, ...]] = {}
        for facts in known:
            now[facts.loop.header] = (*now.get(facts.loop.header, ()), facts)
        return cls(held, bodies, around, left, _all_parallel(known), serial, tuple(statements), texts, now, tested)

    def kernel(self, loop: Loop) -> Fragment | None:
        """Return the fragment that serves a loop of the user's program."""
        direct = self._find_counted(loop) if isinstance(loop, While) else self.held.get(_key(loop))
        if direct is not None or _key(loop) in self.left:
            return direct
        inside = [n for n in walk(loop.body) if isinstance(n, ExprStmt)]
        found = [fragment for stmt in inside if (fragment := self._holder(stmt)) is not None]
        name = loop.variable.name if isinstance(loop, For) else ""
        if len(found) < len(inside) or not found or any(name in self.around[f.region] for f in found):
            return None
        return found[-1]

    def holder_of_statements(self, loop: Loop) -> Fragment | None:
        """Return the fragment in which the statements of a loop run, all of them in kernels, though the host counts."""
        inside = [n for n in walk(loop.body) if isinstance(n, ExprStmt)]
        found = [fragment for stmt in inside if (fragment := self._holder(stmt)) is not None]
        return found[-1] if found and len(found) == len(inside) else None

    def _find_counted(self, loop: While) -> Fragment | None:
        """Return the fragment that holds a loop to which steps gave a counter, maybe where another file includes it."""
        text = _place(loop.header)
        return next((fragment for (header, _), fragment in self.held.items() if _place(header) == text), None)

    def _holder(self, stmt: ExprStmt) -> Fragment | None:
        """Return the fragment that runs a statement; two like ones may have become one."""
        if stmt.span in self.bodies or stmt.span in self.texts:
            return self.bodies.get(stmt.span)
        text = print_expr(stmt.expr)  # counters that are declared in each loop differ, and have one name
        found = (f for like, f in self.statements if print_expr(like.expr) == text)
        return next((fragment for fragment in found if fragment.function.span.contains(stmt.span)), None)

    def is_made_parallel(self, loop: Loop) -> bool:
        """Whether the loop is parallel after the steps, or its iterations became threads of other loops."""
        if _key(loop) in self.left:
            return _key(loop) in self.parallel
        if isinstance(loop, While) and (now := self.now.get(loop.header)):
            return all(facts.category == "parallel" and isinstance(facts.verdict, Proved) for facts in now)
        return self.kernel(loop) is not None and not any(_counts_on(other, loop) for other in self.serial)

    def find_combined(self, loop: Loop) -> LoopFacts | None:
        """Return what is known after the steps of a loop that carries nothing then but associative updates; where it is
        several loops then, of the first that has such."""
        now = self.now.get(loop.header, ())
        combined = [f for f in now if f.category in ("reduction", "scan") and isinstance(f.combined, Proved)]
        plain = [f for f in now if f.category == "parallel" and isinstance(f.verdict, Proved)]
        return combined[0] if combined and len(combined) + len(plain) == len(now) else None

    def find_ordered(self, loop: Loop) -> LoopFacts | None:
        """Return what is known after the steps of a loop whose iterations then stay in order."""
        now = self.now.get(loop.header, ())
        return now[0] if now and all(facts.category == "sequential" for facts in now) else None


def _find_known(prepared: Prepared) -> Iterator[FunctionFacts]:
    """Yield what is known of every function of the prepared program; what is as written need not be judged again."""
    written = {id(function) for _, function in prepared.original.program.functions()}
    for _, function in prepared.program.functions():
        yield (prepared.original if id(function) in written else prepared.facts).of(function)


def _statements(program: Program) -> Iterator[ExprStmt]:
    parts = (node for _, function in program.functions() for node in walk(function.body))
    return (node for node in parts if isinstance(node, ExprStmt))


def _counts_on(other: For, loop: Loop) -> bool:
    """Whether a loop made from the text of `loop` counts with its counter, one value after the other."""
    mine = isinstance(loop, For) and other.variable == loop.variable and other.span.file is loop.span.file
    return mine and other.span.start < loop.span.end and loop.span.start < other.span.end


def _key(loop: Loop) -> Key:
    return loop.header, loop.variable.name if isinstance(loop, For) else ""


def _all_parallel(known: list[LoopFacts]) -> frozenset[Key]:
    found = {_key(f.loop) for f in known if f.category == "parallel" and isinstance(f.verdict, Proved)}
    return frozenset(found - {_key(f.loop) for f in known if f.category != "parallel"})


def _host_counters(fragment: Fragment) -> Iterator[str]:
    """Yield the names of the counters of the loops around a fragment."""
    function: Function = fragment.function
    first = fragment.statements[0]
    for loop, _ in loops(function.body):
        if isinstance(loop, For) and any(part is first for part in walk(loop.body)):
            yield loop.variable.name


def _place(span: Span) -> tuple[str, int, int]:
    return span.file.path, span.start, span.end
