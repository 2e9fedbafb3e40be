"""Array contraction: see Contract.

    for (i …) { t[i] = a[i]; b[i] = t[i]; }       every use in an iteration is of one element, written there first

Invariant: the scalar holds the element that the iteration uses from its write to the end of the iteration; no other
iteration, and nothing after the loop, reads it.
Limits: subscripts that are not linear, or that are written in different ways.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec.structs
from msgspec import Struct

from warpsmith.base.verdict import Reason, Unknown, Verdict
from warpsmith.loops.analysis.shape import does_not_fit, find_marked
from warpsmith.loops.analysis.uses import VariableUse, element_of, mentions, uses, variable
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import Linear, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.steps.data.privatize import own_block
from warpsmith.poly.analyze import Facts
from warpsmith.poly.legality.privacy import private_in, read_after
from warpsmith.tree.nodes import DeclStmt, For, Function, Node, SizeOf, VarDecl, replace
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Symbol
from warpsmith.tree.walk import rebuild, walk

__all__ = ["Contract"]


class Contract(Struct, frozen=True):
    """Replace a local array by a scalar where each iteration uses only one element, its own.

    Legal where each iteration writes the element before it reads it, all subscripts in the body have one value, and
    nothing reads the array after the loop (V. Sarkar, G. Gao: Optimization of array accesses by collective loop
    transformations, ICS 1991). The array goes where nothing else uses it.

    Step: loop=f/i variable=t

    Before:
        void f(int n, const double a[n], double b[n])
        {
            double t[n];
            for (int i = 0; i < n; i++) {
                t[i] = a[i] * a[i];
                b[i] = t[i] + 1.0 / t[i];
            }
        }

    After:
        void f(int n, const double a[n], double b[n])
        {
            for (int i = 0; i < n; i++) {
                double t_one;
                t_one = a[i] * a[i];
                b[i] = t_one + 1.0 / t_one;
            }
        }
    """

    name: ClassVar[str] = "contract"

    loop: str
    variable: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether every iteration uses one element only, and writes it first."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        symbol = variable(place, self.variable)
        if isinstance(symbol, Reason):
            return Unknown((symbol,))
        found = _uses(place, loop, symbol)
        if isinstance(found, Unknown):
            return found
        changing = _changing(facts, place.function, loop)
        forms = {tuple(Linear.of(index) for index in one.subscripts) for one in found}
        only = next(iter(forms))
        if len(forms) > 1 or any(form is None or form.symbols & changing for form in only):
            return does_not_fit(f"an iteration uses more than one element of {symbol.name}", loop)
        if read_after(facts, place.function, loop, symbol):
            return does_not_fit(f"{symbol.name} is read after the loop", loop, f"{symbol.name} is not read after it")
        return private_in(facts, place.function, loop, symbol)

    def apply(self, program: Program) -> Program:
        """Return the program with a scalar in place of the array's element."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        symbol = variable(place, self.variable)
        assert isinstance(symbol, Symbol)
        kind = element_of(symbol.type)
        assert kind is not None
        element = msgspec.structs.replace(kind[0], const=False)
        scalar = Fresh.of(program).variable(f"{symbol.name}_one", element, symbol)
        found = _uses(place, loop, symbol)
        assert isinstance(found, list)
        nodes = {id(one.node) for one in found}
        body = rebuild(loop.body, lambda node: use(scalar, node.span) if id(node) in nodes else node)
        new = replace(loop, body=own_block(body, scalar))
        changed = with_run(program, place.function, (loop,), (new,))
        return _drop_declaration(changed, place.function.symbol, symbol)


def _uses(place: LoopContext, loop: For, symbol: Symbol) -> list[VariableUse] | Unknown:
    """Return the uses of the array in the loop, or what does not fit."""
    kind = element_of(symbol.type)
    if not isinstance(symbol.type, Array) or symbol.storage != "local" or kind is None:
        return does_not_fit(f"{symbol.name} is not a local array of numbers", loop)
    if mentions(loop.lower, symbol) or mentions(loop.bound, symbol):
        return does_not_fit(f"the loop's own header uses {symbol.name}", loop)
    if find_marked(place.function, loop) is not None:
        return does_not_fit("a pragma tells the compiler about this loop", loop, "remove the pragma")
    found = uses(loop.body, symbol, kind[1])
    if isinstance(found, Reason):
        return Unknown((found,))
    return found or does_not_fit(f"{symbol.name} is not used in the loop", loop)


def _changing(facts: Facts, function: Function, loop: For) -> frozenset[Symbol]:
    """Return the variables that an iteration may change."""
    inside = {node.variable for node in walk(loop.body) if isinstance(node, For)}
    inside |= {node.symbol for node in walk(loop.body) if isinstance(node, VarDecl)}
    done = facts.origin(function).effects(loop.body)
    return done.direct_writes | done.element_writes | frozenset(inside)


def _drop_declaration(program: Program, function: Symbol, symbol: Symbol) -> Program:
    """Return the program without the declaration of an array that nothing names any more."""
    holder = next(f for _, f in program.functions() if f.symbol == function)
    if mentions(holder.body, symbol) or any(_measures(node, symbol) for node in walk(holder.body)):
        return program
    for node in walk(holder.body):
        if isinstance(node, DeclStmt) and any(d.symbol == symbol for d in node.declarations):
            kept = tuple(d for d in node.declarations if d.symbol != symbol)
            new = (replace(node, declarations=kept),) if kept else ()
            return with_run(program, holder, (node,), new)
    return program


def _measures(node: Node, symbol: Symbol) -> bool:
    """Whether a text that is kept may name the array (sizeof)."""
    return isinstance(node, SizeOf) and symbol.name in node.text
