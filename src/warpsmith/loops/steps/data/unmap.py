"""The host's copy of the data in place of a device's: see Unmap.

Invariant: what is left out are directives and clauses that say which copy of an object is meant, all of those that one
function executes, in the functions that it calls too; every statement stays, in its order.
"""

from __future__ import annotations

from typing import ClassVar, Final

from msgspec import Struct

from warpsmith.base.verdict import Assumed, Proved, Reason, Unknown, Verdict
from warpsmith.loops.place import LoopContext
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import claims_of
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.mapped.clauses import construct_of, is_mapping
from warpsmith.poly.mapped.judge import MappedData, judge_mapped
from warpsmith.tree.nodes import Block, Case, Function, Node, Pragma, Stmt, replace
from warpsmith.tree.program import Program
from warpsmith.tree.shared import is_own
from warpsmith.tree.specializations import can_specialize
from warpsmith.tree.text.directives import Clause, Directive, ListItem
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import rebuild, walk, written_symbols

__all__ = ["Unmap", "mapped_around"]

# clauses that only a construct on a device has
_DEVICE: Final = frozenset({"device", "nowait", "depend", "defaultmap", "map", "async", "wait", "self", "if"})
# what they say of memory is the same on the host
_STANDALONE: Final = frozenset({"data", "enter", "exit", "update"})


class Unmap(Struct, frozen=True):
    """Let the function of a loop, and all that it calls, work on the host's data alone: `target data` and the like go,
    `target update` too, and a `target` construct is what is left of it without the device.

    Legal where host and device always see the same values: no value that only one copy has is read in the other one
    (OpenMP 5.2, 5.8; OpenACC 3.3, 2.7). Then one copy does.

    Step: loop=f/i

    Before:
        void f(int n, double *a, double *b)
        {
        #pragma omp target data map(to: a[0:n]) map(from: b[0:n])
            {
        #pragma omp target teams distribute parallel for
                for (int i = 0; i < n; i++)
                    b[i] = 2 * a[i];
            }
        }

    After:
        void f(int n, double *a, double *b)
        {
            {
        #pragma omp teams distribute parallel for
                for (int i = 0; i < n; i++)
                    b[i] = 2 * a[i];
            }
        }
    """

    name: ClassVar[str] = "unmap"

    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether one copy of the data does."""
        place = LoopContext.of(program, self.loop)
        found = mapped_around(facts, place.function)
        if not found:
            text = f"{place.function.symbol.name} executes no data directives"
            return Unknown((Reason("STP002", text, place.loop.header),))
        granted: dict[Assumed, None] = {}
        for one in found:
            if not isinstance(one.verdict, Proved):
                return one.verdict
            granted |= dict.fromkeys(one.verdict.assumptions)
            for unit, function in program.functions():
                own = is_own(unit, function) or can_specialize(unit, function)
                if function.symbol in one.functions and not own and _changes(function):
                    text = f"{function.symbol.name} has data directives in text that is not rewritten"
                    return Unknown((Reason("STP002", text, function.symbol.span or place.loop.header),))
        return Proved(tuple(granted))

    def apply(self, program: Program) -> Program:
        """Return the program without the data directives."""
        place = LoopContext.of(program, self.loop)
        found = mapped_around(Facts.about(program, PolyOptions()), place.function)
        wanted = frozenset[Symbol]().union(*(one.functions for one in found))
        for _, function in tuple(program.functions()):
            if function.symbol in wanted and _changes(function):
                program = program.with_function(function, _without(function))
        return program


def mapped_around(facts: Facts, function: Function) -> list[MappedData]:
    """Return the verdicts on all data directives that have to do with a function."""
    every = judge_mapped(facts)
    wanted = {function.symbol}
    found: list[MappedData] = []
    while True:
        more = [one for one in every if one not in found and one.functions & wanted]
        if not more:
            return found
        found += more
        wanted = wanted.union(*(one.functions for one in more))


def _changes(function: Function) -> bool:
    return any(isinstance(n, Pragma) and _is_of_device(n) for n in walk(function.body))


def _is_of_device(pragma: Pragma) -> bool:
    directive = pragma.directive
    return directive is not None and not pragma.left_out and construct_of(directive) not in ("", "wait")


def _without(function: Function) -> Function:
    """Return a function without what its directives say of a device."""
    owned = {id(claim.pragma): claim.firstprivate & written_symbols(claim.marked) for claim in claims_of(function)}

    def kept(stmt: Stmt) -> Stmt | None:
        if not isinstance(stmt, Pragma) or not _is_of_device(stmt):
            return stmt
        return _plain(stmt, owned.get(id(stmt), frozenset()))

    def listed(statements: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(new for stmt in statements if (new := kept(stmt)) is not None)

    def change(node: Node) -> Node:
        match node:
            case Block(statements=statements) if any(kept(s) is not s for s in statements):
                return replace(node, statements=listed(statements))
            case Case(body=statements) if any(kept(s) is not s for s in statements):
                return replace(node, body=listed(statements))
            case _:
                return node

    return rebuild(function, change)


def _plain(pragma: Pragma, owned: frozenset[Symbol]) -> Pragma | None:
    """Return what a directive says of threads; None where it says nothing of them."""
    directive = pragma.directive
    assert directive is not None
    if _STANDALONE.intersection(directive.words):
        return None
    words = tuple(word for word in directive.words if word != "target")
    if not words:
        return None
    clauses = [c for c in directive.clauses if c.name not in _DEVICE and not is_mapping(directive, c)]
    named = frozenset(v.name for c in clauses for v in c.variables)
    own = sorted(s.name for s in owned if s.name not in named)
    if own:
        clauses.append(Clause("firstprivate", f"firstprivate({', '.join(own)})", tuple(map(ListItem, own))))
    text = " ".join([f"#pragma {directive.family}", *words, *(clause.text for clause in clauses)])
    return replace(pragma, text=text, directive=Directive(directive.family, words, tuple(clauses), directive.unknown))
