"""Memory of iterations, allocated before the loop: see HoistAllocation.

Invariant: the parts of the block do not overlap, each is as large as what its iteration asked for, and nothing but the
iteration uses it (loops/scratch.py).
"""

from __future__ import annotations

import re
from functools import reduce
from math import prod
from typing import ClassVar

import msgspec.structs
from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.analysis.extremes import Cover, cover_of, is_writable, wide, wide_expr
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.substitute import with_symbols
from warpsmith.loops.fresh import Fresh, declared_symbols
from warpsmith.loops.linear import Linear, number, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.scratch import Scratch, find_scratch, other_tests
from warpsmith.loops.writing.pragma_lines import closing_lines, open_lists, pragma_in_the_way, run_with_pragmas
from warpsmith.loops.writing.storage import Room, after, allocation, before, has_memory_functions, release
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Expr,
    For,
    Function,
    If,
    InitList,
    Member,
    Node,
    SizeOf,
    Stmt,
    VarDecl,
    replace,
)
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.types import INT, LONG_LONG, Array, Pointer, Record, Scalar, Symbol, byte_size
from warpsmith.tree.walk import peel, rebuild, statements_of, walk

__all__ = ["HoistAllocation", "array_count"]

_OWN = ("local", "parameter", "enumerator")
# more is memory before the loop: each thread of a device would have it in its own
_MOST_BYTES = 1 << 11


class HoistAllocation(Struct, frozen=True):
    """Allocate the memory that every iteration allocates and frees before the loop, a part of one block for each.

    Legal where the iteration uses nothing of the memory but its elements, and frees it once, or never: then nobody sees
    where it is. The size must not change in the loop. Where the memory cannot be had the program ends; tests for that
    go. Zeros of calloc are zeros of one calloc. A few elements, by a constant number, are an array of the body.

    Step: loop=f/i variable=t

    Before:
        #include <stdlib.h>

        void f(int n, int m, double a[n][m])
        {
            for (int i = 0; i < n; i++) {
                double *t = malloc(m * sizeof *t);
                for (int j = 0; j < m; j++)
                    t[j] = a[i][m - 1 - j];
                for (int j = 0; j < m; j++)
                    a[i][j] = t[j] * j;
                free(t);
            }
        }

    After:
        #include <stdlib.h>

        void f(int n, int m, double a[n][m])
        {
            double *t_all = malloc((n > 0 && m > 0 ? (size_t)n * m : 1) * sizeof(double));
            if (!t_all || (n > 0 && m > 0 && (double)n * m > 1e15))
                abort();
            for (int i = 0; i < n; i++) {
                double *t = t_all + (long long)i * m;
                for (int j = 0; j < m; j++)
                    t[j] = a[i][m - 1 - j];
                for (int j = 0; j < m; j++)
                    a[i][j] = t[j] * j;
            }
            free(t_all);
        }
    """

    name: ClassVar[str] = "hoist-allocation"

    loop: str
    variable: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the memory is the iteration's alone, and how much all iterations need can be written."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        found = find_scratch(loop, self.variable, _definitions(program))
        if isinstance(found, Reason):
            return Unknown((found,))
        stop = None
        if array_count(loop, found) is None:
            stop = pragma_in_the_way(place) or _find_obstacle(facts, place, loop, found)
        if stop is not None:
            return Unknown((stop,))
        return names_hold(self, program, self.loop, Proved(tuple(_find_guards(found))))

    def apply(self, program: Program) -> Program:
        """Return the program with the memory allocated before the loop."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        found = find_scratch(loop, self.variable, _definitions(program))
        assert isinstance(found, Scratch), "the step was checked"
        pointer, size = found.declared.symbol, array_count(loop, found)
        assert isinstance(pointer.type, Pointer)
        element = pointer.type.to
        element = msgspec.structs.replace(element, const=False) if isinstance(element, Scalar | Record) else element
        if size is not None:
            array = Array(element, number(size, found.declared.span), size)
            own = msgspec.structs.replace(Fresh.of(program).again(pointer), type=array)
            made = with_symbols(_rewrite(loop, found, _zeros(found)), {pointer: own})
            return with_run(program, place.function, (loop,), (made,))
        cover = cover_of(loop, {})
        assert cover is not None, "the step was checked"
        storage = Fresh.of(program).variable(f"{pointer.name}_all", Pointer(element), pointer)
        counts = (_count(cover), *found.counts)
        room = Room(counts, counts, checked=True)
        first = allocation(place.unit, storage, room, before(loop.span), zero=found.zero)
        run = run_with_pragmas(place)
        new = _rewrite(loop, found, _part(loop, found, (storage, cover), found.declared.span))
        last = release(storage, after(loop.span))
        changed = (*closing_lines(run), *first, *map(open_lists, run[:-1]), new, last)
        return with_run(program, place.function, run, changed)


def array_count(loop: For, found: Scratch) -> int | None:
    """Return the number of elements of the array that does as well, where that is a small constant."""
    symbol = found.declared.symbol
    assert isinstance(symbol.type, Pointer)
    size = byte_size(symbol.type.to)
    count = prod(form.constant for form in found.counts)
    if any(form.terms for form in found.counts) or size is None or not 0 < count * size <= _MOST_BYTES:
        return None
    for part in walk(loop.body):
        # a pointer and an array are not written alike there
        if isinstance(part, SizeOf) and re.search(rf"(?<![*\w])\(?\s*{symbol.name}\b\s*\)?$", part.text):
            return None
        if isinstance(part, Member) and part.arrow and peel(part.base).type == symbol.type:
            return None
    return count


def _zeros(found: Scratch) -> Expr | None:
    """Return the first values of the array."""
    span = found.declared.span
    return InitList(span=span, type=found.declared.symbol.type, items=(number(0, span),)) if found.zero else None


def _definitions(program: Program) -> dict[Symbol, Function]:
    return {function.symbol: function for _, function in program.functions()}


def _count(cover: Cover) -> Linear:
    """Return how many values a counter takes at most."""
    return cover.high.shift(1).minus(cover.low)


def _find_obstacle(facts: Facts, place: LoopContext, loop: For, found: Scratch) -> Reason | None:
    """Return what else is in the way."""
    name, cover = found.declared.symbol.name, cover_of(loop, {})
    if cover is None:
        text = f"how often {loop.variable.name} runs is not a sum of variables and numbers"
        return Reason("STP002", text, loop.header)
    if not has_memory_functions(place.unit):
        text = "malloc is not declared in this file"
        return Reason("STP002", text, loop.header, legal_if=("#include <stdlib.h>",))
    forms = (_count(cover), cover.low, *found.counts)
    changed = facts.origin(place.function).effects(loop).direct_writes.union(declared_symbols(loop), (loop.variable,))
    hidden = facts.origin(place.function).hidden
    moving = next((s for form in forms for s in sorted(form.symbols, key=lambda s: s.key) if s in changed), None)
    if moving is not None:
        text = f"{moving.name}, on which the size of {name} depends, changes in the loop"
        return Reason("STP002", text, found.declared.span)
    seen = next((s for form in forms for s in form.symbols if s in hidden or s.storage not in _OWN), None)
    if seen is not None:
        text = f"{seen.name}, on which the size of {name} depends, may be changed through its address"
        return Reason("STP002", text, found.declared.span)
    if not all(map(is_writable, forms)):
        return Reason("STP002", f"the size of all memory of {name} might overflow", loop.header)
    return None


def _find_guards(found: Scratch) -> list[Assumption]:
    """Return what must hold for tests of the memory to be left out: where a size is negative there is none."""
    guards: list[Assumption] = []
    for count in found.counts if found.tests else ():
        signed = any(isinstance(s.type, Scalar) and s.type.kind == "signed" for s in count.symbols)
        if count.terms and signed:
            span = found.declared.span
            condition = Binary(span=span, type=INT, op=">=", left=wide_expr(count, span), right=number(0, span))
            text = f"the size of {found.declared.symbol.name} is not negative"
            guards.append(Assumption(text, "guarded", condition, span))
    return guards


def _rewrite(loop: For, found: Scratch, value: Expr | None) -> For:
    """Return the loop with another value in place of memory of its own, and without what frees or tests that."""
    symbol = found.declared.symbol

    def change(node: Node) -> Node:
        if isinstance(node, VarDecl) and node.symbol == symbol:
            return replace(node, init=value)
        if isinstance(node, Block) and any(stmt in found.frees for stmt in node.statements):
            return replace(node, statements=tuple(stmt for stmt in node.statements if stmt not in found.frees))
        return node

    body: list[Stmt] = []
    for stmt in statements_of(loop.body):
        rest = other_tests(stmt, symbol) if isinstance(stmt, If) and stmt in found.tests else ()
        if stmt in found.frees or (stmt in found.tests and not rest):
            continue
        kept = replace(stmt, condition=reduce(_either, rest)) if isinstance(stmt, If) and rest else stmt
        body.append(rebuild(kept, change))
    assert isinstance(loop.body, Block), "the memory is declared in it"
    return replace(loop, body=replace(loop.body, statements=tuple(body)))


def _either(left: Expr, right: Expr) -> Expr:
    return Binary(span=left.span, type=INT, op="||", left=left, right=right)


def _part(loop: For, found: Scratch, made: tuple[Symbol, Cover], span: Span) -> Expr:
    """Return the address of an iteration's part of the block."""
    storage, cover = made
    slot: Expr = use(loop.variable, span)
    if cover.low != Linear():
        slot = Binary(span=span, type=LONG_LONG, op="-", left=wide(slot), right=wide_expr(cover.low, span))
    for count in found.counts:
        size = wide_expr(count, span)
        right = wide(size) if _is_unsigned(size) else size
        slot = Binary(span=span, type=LONG_LONG, op="*", left=wide(slot), right=right)
    return Binary(span=span, type=storage.type, op="+", left=use(storage, span), right=slot)


def _is_unsigned(expr: Expr) -> bool:
    return isinstance(expr.type, Scalar) and expr.type.kind == "unsigned"
