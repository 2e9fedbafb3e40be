"""Memory that each iteration of a loop allocates, uses and gives back: nobody else can reach it.

    for (i …) {
        double *t = malloc(m * sizeof *t);      m elements
        if (!t) exit(1);                        a test that there is memory
        for (j …) t[j] = …                      its elements, and nothing else of it
        free(t);                                at most once on each way, and t is not used behind it
    }

Invariant: no address in the memory of a `Scratch` is known outside of the iteration, nor to the iteration behind a
`free`; so any other memory of that size does as well that the iteration has for itself, all zero where `zero` says so.
Limits: declarations at the top of the body; sizes that are products of sums of variables; helpers that use elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.loops.linear import Linear
from warpsmith.poly.effects.sizes.extents import asked_elements
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import (
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Continue,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Index,
    Literal,
    Member,
    Name,
    Node,
    Return,
    Stmt,
    Unary,
    VarDecl,
)
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.types import Pointer, Record, Scalar, Symbol, Type, is_integer
from warpsmith.tree.walk import children, names, peel, statements_of

__all__ = ["Scratch", "find_scratch", "other_tests", "scratch_names"]

_ALLOCATES = {"malloc": False, "calloc": True, "new[]": False, "new[]()": True}
_FREES = ("free", "delete[]")
_LAST = ("exit", "abort", "_Exit", "_exit", "quick_exit")
# they read and write what they are given, and their values are not used
_FILLS = ("memset", "memcpy", "memmove")
_DEEPEST = 4
_ADDRESS_BITS = 64

Definitions = Mapping[Symbol, Function]


class Scratch(Struct, frozen=True):
    """The memory of `declared`: the product of `counts` elements, all `zero` at first or with no value. `frees`: the
    statements that free it; `tests`: those that leave the iteration where there is none."""

    declared: VarDecl
    counts: tuple[Linear, ...]
    zero: bool
    frees: tuple[Stmt, ...]
    tests: tuple[If, ...]


def scratch_names(loop: For) -> tuple[str, ...]:
    """Return the pointers that the body of a loop declares at its top with memory of their own."""
    return tuple(one.symbol.name for one in _find_declared(loop) if _find_allocation(one) is not None)


def find_scratch(loop: For, name: str, definitions: Definitions) -> Scratch | Reason:
    """Return the memory that `name` leads to in each iteration, or why it is not the iteration's alone."""
    declared = next((one for one in _find_declared(loop) if one.symbol.name == name), None)
    call = _find_allocation(declared) if declared is not None else None
    if declared is None or call is None:
        return Reason("STP002", f"the loop's body does not start {name} with memory of its own", loop.header)
    symbol, function = declared.symbol, direct_call(call)
    if function is None or function in definitions or not _holds_numbers(symbol.type):
        return Reason("STP002", f"what {name} leads to is not memory for numbers, of malloc or new", declared.span)
    asked = asked_elements(call, symbol)
    counts = tuple(Linear.of(_unwiden(factor)) for factor in asked) if asked is not None else (None,)
    known = tuple(count for count in counts if count is not None)
    if len(known) < len(counts):
        text = f"how many elements {name} has is not a product of sums of variables"
        return Reason("STP002", text, call.span)
    body = statements_of(loop.body)
    tests = tuple(stmt for stmt in body if isinstance(stmt, If) and _is_memory_test(stmt, symbol))
    named = next((part for stmt in tests for part in other_tests(stmt, symbol) if _names(part, symbol)), None)
    if named is not None:
        return Reason("STP002", f"{name} is tested for more than that there is memory: {_text(named)}", named.span)
    frees = tuple(_find_frees(loop.body, symbol, top=True))
    gone = tuple(stmt for stmt in tests if not other_tests(stmt, symbol))
    if any(isinstance(part, Return) for part in _walk(loop.body, gone)):
        return Reason("STP002", f"the function may end in the loop, with the memory of {name}", loop.header)
    met = _find_other_use(loop.body, symbol, (declared, *tests, *frees), definitions)
    if met is not None:
        return Reason("STP002", f"{_describe(met, name)}: {_text(met)}", met.span)
    again = _find_used_behind(body, frees, symbol)
    if again is not None:
        return Reason("STP002", f"{name} is used or freed again after it was freed: {_text(again)}", again.span)
    return Scratch(declared, known, _ALLOCATES[function.name], frees, tests)


def _find_declared(loop: For) -> Iterator[VarDecl]:
    """Yield the variables that the body declares at its top."""
    for stmt in statements_of(loop.body) if isinstance(loop.body, Block) else ():
        if isinstance(stmt, DeclStmt):
            yield from (one for one in stmt.declarations if one.symbol.storage == "local")


def _find_allocation(declared: VarDecl) -> Call | None:
    """Return the call that a pointer gets its memory from, where it is declared."""
    value = _uncast(declared.init) if declared.init is not None else None
    function = direct_call(value) if isinstance(value, Call) else None
    return value if isinstance(value, Call) and function is not None and function.name in _ALLOCATES else None


def _holds_numbers(type: Type) -> bool:
    """Whether a pointer leads to numbers, or to structs of nothing but numbers."""
    to = type.to if isinstance(type, Pointer) and not type.reference else None
    if isinstance(to, Record):
        return bool(to.fields) and not to.union and all(isinstance(part.type, Scalar) for part in to.fields)
    return isinstance(to, Scalar) and to.kind != "void" and not to.volatile


def _uncast(expr: Expr) -> Expr:
    expr = peel(expr)
    while isinstance(expr, Cast):
        expr = peel(expr.operand)
    return expr


def _unwiden(factor: Expr) -> Expr:
    """Return a factor without casts to larger integers: below zero there is no memory with them or without."""
    factor = peel(factor)
    while isinstance(factor, Cast):
        target, source = factor.type, peel(factor.operand).type
        if not (
            is_integer(target) and is_integer(source) and isinstance(target, Scalar) and isinstance(source, Scalar)
        ):
            break
        if target.bits < source.bits or target.bits < _ADDRESS_BITS:
            break
        factor = peel(factor.operand)
    return factor


def _is(expr: Expr, symbol: Symbol) -> bool:
    expr = _uncast(expr)
    return isinstance(expr, Name) and expr.symbol == symbol


# --- tests and frees


def _is_memory_test(stmt: If, symbol: Symbol) -> bool:
    """Whether a statement is `if (!t) …` and leaves the iteration, or the program, where there is no memory."""
    parts = tuple(_find_alternatives(stmt.condition))
    return stmt.other is None and _ends(stmt.then) and any(_is_null_test(part, symbol) for part in parts)


def other_tests(stmt: If, symbol: Symbol) -> tuple[Expr, ...]:
    """Return what else `if (!t || …)` tests."""
    return tuple(part for part in _find_alternatives(stmt.condition) if not _is_null_test(part, symbol))


def _find_alternatives(condition: Expr) -> Iterator[Expr]:
    condition = peel(condition)
    if isinstance(condition, Binary) and condition.op == "||":
        yield from _find_alternatives(condition.left)
        yield from _find_alternatives(condition.right)
    else:
        yield condition


def _is_null_test(condition: Expr, symbol: Symbol) -> bool:
    if isinstance(condition, Unary) and condition.op == "!":
        return _is(condition.operand, symbol)
    if isinstance(condition, Binary) and condition.op == "==":
        sides = condition.left, condition.right
        return any(_is(one, symbol) for one in sides) and any(_is_null(one) for one in sides)
    return False


def _names(node: Node, symbol: Symbol) -> bool:
    return any(n.symbol == symbol for n in names(node))


def _is_null(expr: Expr) -> bool:
    expr = _uncast(expr)
    return isinstance(expr, Literal) and expr.value == 0


def _ends(stmt: Stmt) -> bool:
    last = statements_of(stmt)[-1:] or (stmt,)
    if isinstance(last[0], ExprStmt):
        call = peel(last[0].expr)
        function = direct_call(call) if isinstance(call, Call) else None
        return function is not None and function.name in _LAST
    return isinstance(last[0], Continue | Break | Return)


def _find_frees(stmt: Stmt, symbol: Symbol, *, top: bool) -> Iterator[Stmt]:
    """Yield the statements that free the memory: at the top of the body, or as the last thing before its iteration
    ends."""
    run = statements_of(stmt)
    for number, part in enumerate(run):
        if isinstance(part, ExprStmt) and _is_free(part, symbol):
            if top or _leaves_without(run[number + 1 :], symbol):
                yield part
        elif isinstance(part, If):
            for arm in (part.then, part.other):
                if arm is not None:
                    yield from _find_frees(arm, symbol, top=False)
        elif isinstance(part, Block):
            yield from _find_frees(part, symbol, top=False)


def _leaves_without(run: tuple[Stmt, ...], symbol: Symbol) -> bool:
    """Whether statements end the iteration, or the program, and do not name the pointer."""
    return bool(run) and _ends(run[-1]) and not any(_names(stmt, symbol) for stmt in run)


def _is_free(stmt: ExprStmt, symbol: Symbol) -> bool:
    call = peel(stmt.expr)
    function = direct_call(call) if isinstance(call, Call) else None
    named = function is not None and function.name in _FREES
    return isinstance(call, Call) and named and len(call.arguments) == 1 and _is(call.arguments[0], symbol)


def _find_used_behind(body: tuple[Stmt, ...], frees: tuple[Stmt, ...], symbol: Symbol) -> Stmt | None:
    """Return a statement of the body that names the pointer behind the one that frees its memory."""
    at = next((number for number, stmt in enumerate(body) if stmt in frees), len(body))
    return next((stmt for stmt in body[at + 1 :] if _names(stmt, symbol)), None)


# --- uses


def _walk(node: Node, apart: tuple[Node, ...]) -> Iterator[Node]:
    pending = [node]
    while pending:
        current = pending.pop()
        if any(current is one for one in apart):
            continue
        yield current
        pending += children(current)


def _find_other_use(
    node: Node, symbol: Symbol, apart: tuple[Node, ...], definitions: Definitions, depth: int = 0
) -> Node | None:
    """Return a part of `node`, not in `apart`, that does more with a pointer than to read and write elements."""
    elements: set[int] = set()
    for part in _walk(node, apart):
        if symbol in getattr(part, "writes", ()) or symbol in getattr(part, "reads", ()):
            return part
        taken = _find_place(part, symbol)
        if taken is not None:
            elements.add(id(taken))
        elif isinstance(part, Unary) and part.op == "&" and _leads_to(part.operand, symbol):
            return part
        elif isinstance(part, Call):
            elements |= {
                id(_uncast(a))
                for k, a in enumerate(part.arguments)
                if _is(a, symbol) and _uses_elements(part, k, definitions, depth)
            }
        elif isinstance(part, ExprStmt) and isinstance(call := peel(part.expr), Call):
            function = direct_call(call)
            if function is not None and function.name in _FILLS and function not in definitions:
                elements |= {id(_uncast(a)) for a in call.arguments if _is(a, symbol)}
    used = (part for part in _walk(node, apart) if isinstance(part, Name) and part.symbol == symbol)
    return next((part for part in used if id(part) not in elements), None)


def _find_place(part: Node, symbol: Symbol) -> Expr | None:
    """Return the name of the pointer where a part is what it leads to: `t[j]`, `*t`, `t->x`."""
    if isinstance(part, Index) or (isinstance(part, Member) and part.arrow):
        pointer = peel(part.base)
    elif isinstance(part, Unary) and part.op == "*":
        pointer = peel(part.operand)
    else:
        return None
    return pointer if isinstance(pointer, Name) and pointer.symbol == symbol else None


def _leads_to(place: Expr, symbol: Symbol) -> bool:
    """Whether an lvalue is in the memory, or the pointer itself."""
    place = peel(place)
    while isinstance(place, Index | Member | Unary):
        place = peel(place.operand if isinstance(place, Unary) else place.base)
    return isinstance(place, Name) and place.symbol == symbol


def _uses_elements(call: Call, number: int, definitions: Definitions, depth: int) -> bool:
    """Whether a function of the program only reads and writes elements of what it is given."""
    symbol = direct_call(call)
    function = definitions.get(symbol) if symbol is not None else None
    if function is None or number >= len(function.parameters) or depth >= _DEEPEST:
        return False
    parameter = function.parameters[number]
    if not isinstance(parameter.type, Pointer) or parameter.type.reference:
        return False
    return _find_other_use(function.body, parameter, (), definitions, depth + 1) is None


def _describe(met: Node, name: str) -> str:
    if isinstance(met, Name):
        return f"more is done with {name} than its elements are used and it is freed once, at the end"
    return f"an address in the memory of {name} may be kept"


def _text(node: Node) -> str:
    words = show_expression(node) if isinstance(node, Expr) else " ".join(node.span.text.split())
    return words if len(words) <= 60 else f"{words[:57]}..."
