"""The loops that a construct is: over its teams, and in them over the threads of each phase.

#pragma omp target teams distribute …
for (int team = 0; team < T; team++) {
    float part[B];
    float sum_of[B];                      a thread's own variable that phases share
#pragma omp parallel for
    for (int t = 0; t < B; t++) { int gid = team * B + t; sum_of[t] = a[gid]; part[t] = sum_of[t]; }
#pragma omp parallel for
    for (int t = 0; t < B; t++) { … }
}
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.front.teams.construct import NotReadError
from warpsmith.front.teams.copies import at_start, changed, copy_of
from warpsmith.front.teams.phases import Around, Phase, RegionPlan, TeamItem, needed
from warpsmith.tree.nodes import (
    Assign,
    Block,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Index,
    InitList,
    Literal,
    Name,
    Node,
    Pragma,
    Stmt,
    VarDecl,
)
from warpsmith.tree.text.directives import Directive
from warpsmith.tree.types import INT, Array, Pointer, Record, Scalar, Symbol, Type

__all__ = ["RegionWriter", "counted_loop"]


class RegionWriter(Struct, frozen=True):
    """What is written for one region. `thread`: the counter; `threads`: how many there are, `count`: where that is
    known; `names`: makes a name that is no word of the file."""

    plan: RegionPlan
    pragma: Pragma
    thread: Symbol
    threads: Expr
    count: int | None
    names: Callable[[str], str]
    reading: tuple[str, ...]

    def statements(self) -> tuple[Stmt, ...]:
        """Return the statements of the team that do what the region does."""
        arrays: dict[Symbol, Symbol] = {}
        made: list[Stmt] = []
        for symbol, declaration in self.plan.split.items():
            if self.count is None:
                text = (
                    f"{symbol.name} is used on both sides of a barrier, and how many threads there are is no constant"
                )
                raise NotReadError(text, declaration.span)
            place = at_start(declaration.span)
            number = Literal(span=place, type=INT, text=str(self.count), value=self.count)
            type = Array(_unfixed(symbol.type, declaration), number, self.count)
            name = self.names(f"{symbol.name}_of")
            arrays[symbol] = replace(symbol, name=name, key=f"{symbol.key}:{name}", type=type)
            made.append(DeclStmt(span=place, declarations=(VarDecl(span=place, symbol=arrays[symbol], init=None),)))
        return (*made, *self._items(self.plan.items, arrays))

    def _items(self, items: tuple[TeamItem, ...], arrays: dict[Symbol, Symbol]) -> tuple[Stmt, ...]:
        found: list[Stmt] = []
        for item in items:
            if isinstance(item, Phase):
                found += self._phase(item, arrays)
            elif isinstance(item, Around):
                found.append(self._around(item, arrays))
            elif isinstance(item, DeclStmt):
                found.append(item)
        return tuple(found)

    def _around(self, item: Around, arrays: dict[Symbol, Symbol]) -> Stmt:
        stmt, place = item.stmt, at_start(item.stmt.span)
        arms = [Block(span=place, statements=self._items(arm, arrays)) for arm in item.arms]
        if isinstance(stmt, If):
            other = arms[1] if len(arms) > 1 else None
            return replace(stmt, span=place, intact=False, then=arms[0], other=other)
        if isinstance(stmt, Block):
            return arms[0]
        return replace(stmt, span=place, intact=False, body=arms[0])

    def _phase(self, phase: Phase, arrays: dict[Symbol, Symbol]) -> tuple[Stmt, ...]:
        """Return the loop over the threads that do what stands between two barriers."""
        place = at_start(phase.span)
        body: list[Stmt] = []
        for symbol in needed(self.plan, phase):
            declared = copy_of(self.plan.again[symbol])
            body.append(DeclStmt(span=place, declarations=(replace(declared, span=place, intact=False),)))
        for stmt in phase.statements:
            kept = self._split(stmt, arrays)
            body += [] if kept is None else [kept]
        head = self.pragma.span
        whole = Span(head.file, min(head.start, phase.span.start), max(head.end, phase.span.end))
        loop = counted_loop(self.thread, copy_of(self.threads), tuple(body), whole, head)
        directive = Directive("omp", ("parallel", "for"))
        pragma = Pragma(span=place, text="#pragma omp parallel for", directive=directive, reading=self.reading)
        return (pragma, loop)

    def _split(self, stmt: Stmt, arrays: dict[Symbol, Symbol]) -> Stmt | None:
        """Return a statement with the elements of the threads in place of their own variables."""
        if isinstance(stmt, DeclStmt) and stmt.declarations[0].symbol in arrays:
            declared = stmt.declarations[0]
            if declared.init is None:
                return None
            if isinstance(declared.init, InitList) or isinstance(declared.symbol.type, Array):
                raise NotReadError(f"{declared.symbol.name} has a list of first values", stmt.span)
            place = at_start(stmt.span)
            target = self._element(arrays[declared.symbol], place)
            value = changed(declared.init, self._change(arrays))
            made = Assign(span=place, type=target.type, op="=", target=target, value=value)
            return ExprStmt(span=place, expr=made)
        return changed(stmt, self._change(arrays))

    def _change(self, arrays: dict[Symbol, Symbol]) -> Callable[[Node], Node]:
        def change(node: Node) -> Node:
            if isinstance(node, Name) and node.symbol in arrays:
                return self._element(arrays[node.symbol], at_start(node.span))
            return node

        return change

    def _element(self, array: Symbol, place: Span) -> Index:
        assert isinstance(array.type, Array)
        base = Name(span=place, type=array.type, symbol=array)
        at = Name(span=place, type=self.thread.type, symbol=self.thread)
        return Index(span=place, type=array.type.of, base=base, index=at)


def counted_loop(counter: Symbol, count: Expr, body: tuple[Stmt, ...], span: Span, header: Span) -> For:
    """Return `for (counter = 0; counter < count; counter++) { body }`, made for the text at `span`."""
    place = at_start(span)
    zero = Literal(span=place, type=INT, text="0", value=0)
    inner = Block(span=place, statements=body)
    return For(
        span=span, variable=counter, declares=True, lower=zero, relation="<", bound=count, step=1, body=inner,
        header=header,
    )  # fmt: skip


def _unfixed(type: Type, declaration: VarDecl) -> Type:
    """Return the type of a variable that is set after it is declared."""
    match type:
        case Scalar():
            return replace(type, const=False, spelling=type.spelling.replace("const ", "").replace(" const", ""))
        case Pointer(reference=False):
            return replace(type, const=False)
        case Record():
            return replace(type, const=False)
        case Array(of=inner):
            return replace(type, of=_unfixed(inner, declaration))
        case _:
            raise NotReadError(f"{declaration.symbol.name} cannot be an element of an array", declaration.span)
