"""Privatization: see Privatize.

Invariant: an iteration's own copy holds what the one variable held wherever the iteration reads it, since the iteration
has written it before.
Limits: a value that is needed after the loop; arrays whose extents are not numbers; parameters that are pointers.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec.structs
from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown, Verdict
from warpsmith.loops.analysis.shape import does_not_fit, find_marked, statements
from warpsmith.loops.analysis.substitute import fixed_text, with_symbols
from warpsmith.loops.analysis.uses import element_of, mentions, uses, variable
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.storage import before
from warpsmith.poly.analyze import Facts
from warpsmith.poly.legality.privacy import private_in, read_after
from warpsmith.tree.nodes import Block, DeclStmt, For, Function, Pragma, Stmt, VarDecl, replace
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.types import Array, Scalar, Symbol, Type

__all__ = ["Privatize", "own_block"]


class Privatize(Struct, frozen=True):
    """Declare a variable again inside the body of a loop, so that every iteration has its own.

    Legal where each iteration writes every element that it reads before it reads it, and nothing reads the variable
    after the loop (D. Maydan, S. Amarasinghe, M. Lam: Array-data flow analysis and its use in array privatization,
    POPL 1993). For a scalar, or an array whose extents are numbers.

    Step: loop=f/i variable=t

    Before:
        void f(int n, double a[n][4])
        {
            double t[4];
            for (int i = 0; i < n; i++) {
                for (int k = 0; k < 4; k++)
                    t[k] = a[i][3 - k];
                for (int k = 0; k < 4; k++)
                    a[i][k] = t[k];
            }
        }

    After:
        void f(int n, double a[n][4])
        {
            double t[4];
            for (int i = 0; i < n; i++) {
                double t[4];
                for (int k = 0; k < 4; k++)
                    t[k] = a[i][3 - k];
                for (int k = 0; k < 4; k++)
                    a[i][k] = t[k];
            }
        }
    """

    name: ClassVar[str] = "privatize"

    loop: str
    variable: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the variable is private to the iterations and dead after the loop."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        symbol = variable(place, self.variable)
        if isinstance(symbol, Reason):
            return Unknown((symbol,))
        stop = _obstacle(place, loop, symbol)
        if stop is not None:
            return stop
        if read_after(facts, place.function, loop, symbol):
            text = f"the value of {symbol.name} is needed after the loop"
            return does_not_fit(text, loop, f"{symbol.name} is not read after the loop", "expand it instead")
        verdict = private_in(facts, place.function, loop, symbol)
        granted = None if isinstance(verdict, Proved) else _find_claimed(facts, place.function, loop, symbol)
        return verdict if granted is None else Proved((granted,))

    def apply(self, program: Program) -> Program:
        """Return the program with the variable declared in the loop's body."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        symbol = variable(place, self.variable)
        assert isinstance(symbol, Symbol)
        again = msgspec.structs.replace(
            Fresh.of(program).again(symbol), storage="local", type=_drop_qualifiers(symbol.type)
        )
        body = with_symbols(loop.body, {symbol: again})
        new = replace(loop, body=own_block(body, again))
        return with_run(program, place.function, (loop,), (new,))


def own_block(body: Stmt, symbol: Symbol) -> Block:
    """Return the body of a loop as a block that starts with the declaration of `symbol`."""
    parts = statements(body)
    span = before(parts[0].span if parts else body.span)
    declared = DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=symbol, init=None),))
    if isinstance(body, Block):
        return replace(body, statements=(declared, *parts))
    return Block(span=body.span, statements=(declared, *parts))


def _drop_qualifiers(type: Type) -> Type:
    return msgspec.structs.replace(type, const=False) if isinstance(type, Scalar) else type


def _obstacle(place: LoopContext, loop: For, symbol: Symbol) -> Unknown | None:
    """Return what does not fit, or None."""
    kind = element_of(symbol.type)
    if kind is None:
        return does_not_fit(f"{symbol.name} is not a number or an array of numbers", loop)
    if not _is_constant_size(symbol.type):
        return does_not_fit(f"the extents of {symbol.name} are not numbers", loop, "expand it instead")
    if mentions(loop.lower, symbol) or mentions(loop.bound, symbol) or loop.variable == symbol:
        return does_not_fit(f"the loop's own header uses {symbol.name}", loop)
    used = uses(loop.body, symbol, kind[1])
    if isinstance(used, Reason):
        return Unknown((used,))
    fixed = fixed_text(loop.body, frozenset({symbol}))
    if fixed is not None:
        return does_not_fit(f"{symbol.name} is named in text that is not modelled", fixed)
    pragma = find_marked(place.function, loop)
    if pragma is not None and not _is_claim(pragma, loop):
        return does_not_fit("a pragma tells the compiler about this loop", loop, "remove the pragma")
    return None


def _is_claim(pragma: Pragma, loop: For) -> bool:
    """Whether the pragma only says that the iterations of this very loop may run on many threads: then they still may
    when each has more variables of its own."""
    before = pragma.span.file is loop.span.file and pragma.span.start < loop.span.start
    return before and pragma.directive is not None and pragma.directive.shares_loop


def _find_claimed(facts: Facts, function: Function, loop: For, symbol: Symbol) -> Assumption | None:
    """Return the user's word that every thread has its own `symbol`, where it may be taken."""
    if facts.options.claims != "trust":
        return None
    for one in facts.of(function).of(loop).claims:
        claim = one.claim
        usable = one.understood and not isinstance(one.verdict, Refuted)
        if usable and symbol in claim.private and claim.loops[:1] == (loop,):
            text = f"the claim in line {claim.span.line} is true: {claim.text}"
            return Assumption(text, "granted", None, claim.span)
    return None


def _is_constant_size(type: Type) -> bool:
    while isinstance(type, Array):
        if type.count is None:
            return False
        type = type.of
    return isinstance(type, Scalar)
