"""How many elements the object behind a name has: declared, or asked of malloc.

    double a[N][M];                           N*M
    double *b = malloc(n * m * sizeof *b);    n*m, as long as neither b, n nor m is written again
    float *d = v.data();  size_t n = v.size();  n, read together
    double *x = s->box;                       3, where box is double[3]

Invariant: the expression, evaluated at the asked place, is the element count of the very object that the name stands
for there. A variable is used in it only if it is not written after the object was made; the making dominates the place
(its block contains it).
Limits: a size is a product with the element's size as a constant factor; sums (`n*8 + 64`) are not taken apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.effects.variables import Variables
from warpsmith.poly.pointers.accesses import bases, direct_call
from warpsmith.tree.containers import DATA, SIZE
from warpsmith.tree.free_store import DEVICE_MAKES
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Index,
    Literal,
    MacroUse,
    Member,
    Name,
    Node,
    SizeOf,
    Stmt,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
    While,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import (
    LONG_LONG,
    Array,
    Pointer,
    Record,
    Scalar,
    Symbol,
    Type,
    byte_size,
    element_type,
    is_integer,
)
from warpsmith.tree.walk import children, names, peel, same, walk

__all__ = ["asked_elements", "is_settled", "known_extent", "product"]


def known_extent(
    program: Program, function: Function, symbol: Symbol, at: Node, summaries: Summaries | None = None
) -> Expr | None:
    """Return the element count (innermost elements) of the whole object that `symbol` names just before `at`, as a
    `long long` host expression valid there; None if it is not known."""
    known = summaries if summaries is not None else Summaries.of(program)
    return known.remember(("extent", function, symbol, at), lambda: _extent(known, function, symbol, at))


def _extent(known: Summaries, function: Function, symbol: Symbol, at: Node) -> Expr | None:
    variables = Variables.of(known, function)
    if isinstance(symbol.type, Array):
        return _declared_size(variables, symbol, at)
    if isinstance(symbol.type, Pointer):
        makings = known.remember(("makings", function), lambda: _makings(function))
        found = _allocated_size(variables, symbol, makings.get(symbol), at) or _of_container(variables, symbol, at)
        return found or _of_array(variables, symbol, at)
    return None


def is_settled(variables: Variables, symbol: Symbol, since: Node) -> bool:
    """Whether no write of `symbol` in the function can happen after `since` was executed."""
    if symbol in variables.always_live() and not _is_constant(symbol):
        return False
    around = [n for n in walk(variables.function) if isinstance(n, For | While) and n.span.contains(since.span)]
    for span in variables.writes_of(symbol):
        later = span.end > since.span.start and not since.span.contains(span)
        if later or any(loop.span.contains(span) for loop in around):
            return False
    return True


def product(factors: Iterable[Expr], span: Span) -> Expr:
    """Return the product of integer expressions, worked out in `long long`."""
    wide = [_wide(factor) for factor in factors]
    if not wide:
        return Literal(span=span, type=LONG_LONG, text="1", value=1)
    return reduce(lambda a, b: Binary(span=span, type=LONG_LONG, op="*", left=a, right=b), wide)


def _is_constant(symbol: Symbol) -> bool:
    return isinstance(symbol.type, Scalar) and symbol.type.const


def _wide(expr: Expr) -> Expr:
    bare = peel(expr)
    if isinstance(bare, Literal) and isinstance(bare.value, int):
        return bare
    if isinstance(expr.type, Scalar) and expr.type.name == LONG_LONG.name:
        return expr
    return Cast(span=expr.span, type=LONG_LONG, operand=expr)


def _declared_size(variables: Variables, symbol: Symbol, at: Node) -> Expr | None:
    """Return the product of a declared array's extents."""
    factors: list[Expr] = []
    inner: Type = symbol.type
    span = symbol.span or at.span
    while isinstance(inner, Array):
        if inner.count is not None:
            factors.append(Literal(span=span, type=LONG_LONG, text=str(inner.count), value=inner.count))
        elif inner.extent is not None:
            factors.append(inner.extent)
        else:
            return None
        inner = inner.of
    made = next((n for n in walk(variables.function) if isinstance(n, VarDecl) and n.symbol == symbol), None)
    if all(isinstance(f, Literal) for f in factors):
        numbers = [f.value for f in factors if isinstance(f, Literal) and isinstance(f.value, int)]
        count = reduce(lambda a, b: a * b, numbers, 1)
        return Literal(span=span, type=LONG_LONG, text=str(count), value=count)
    if made is None or not _are_settled(variables, factors, made):
        return None
    return product(factors, span)


def _are_settled(variables: Variables, factors: list[Expr], since: Node) -> bool:
    """Whether the factors still have the value that they had at `since`."""
    if any(isinstance(n, Assign | Call) for f in factors for n in walk(f)):
        return False
    used = {n.symbol for f in factors for n in names(f)}
    memory = any(
        isinstance(n, Index | Member) or (isinstance(n, Unary) and n.op == "*") for f in factors for n in walk(f)
    )
    return not memory and all(is_settled(variables, symbol, since) for symbol in used)


def _is_load(node: Node) -> bool:
    return isinstance(node, Index | Member) or (isinstance(node, Unary) and node.op not in ("+", "-", "~", "!"))


def _of_container(variables: Variables, symbol: Symbol, at: Node) -> Expr | None:
    """Return the variable that holds the size of a container, which was read together with where its elements are."""
    if symbol.storage != "local" or not isinstance(symbol.type, Pointer) or isinstance(symbol.type.to, Array):
        return None
    block = next((b for b in walk(variables.function.body) if isinstance(b, Block) and _declaration(b, symbol)), None)
    if block is None or not any(part is at for part in walk(block)):
        return None
    reached = next(k for k, stmt in enumerate(block.statements) if any(part is at for part in walk(stmt)))
    first, data = next(iter(_declaration(block, symbol)))
    for last, declared, size in _sizes(block):
        run = block.statements[min(first, last) : max(first, last) + 1]
        alike = same(data.base, size.base) and data.arrow == size.arrow
        if alike and max(first, last) < reached and all(isinstance(s, DeclStmt) and _is_quiet(s) for s in run):
            once = all(len(variables.writes_of(s)) == 1 for s in (symbol, declared))
            kept = not {symbol, declared} & set(variables.always_live())
            held = Name(span=data.span, type=declared.type, symbol=declared)
            return product([held], data.span) if once and kept else None
    return None


def _of_array(variables: Variables, symbol: Symbol, at: Node) -> Expr | None:
    """Return the size of the array in a struct whose address a pointer was given, and no other."""
    if symbol.storage != "local":
        return None
    made = [n for n in walk(variables.function.body) if isinstance(n, VarDecl) and n.symbol == symbol]
    init = peel(made[0].init) if len(made) == 1 and made[0].init is not None else None
    if init is None or not _is_behind(variables.function, made[0], at):
        return None
    chosen = init.condition if isinstance(init, Conditional) and _is_null(init.other) else None
    member = peel(init.then) if isinstance(init, Conditional) and chosen is not None else init
    count = _count_numbers(member.type) if isinstance(member, Member) and not _is_open(member) else None
    if count is None or len(variables.writes_of(symbol)) != 1 or symbol in variables.always_live():
        return None
    if chosen is not None and not _are_settled(variables, [chosen], made[0]):
        return None
    size = Literal(span=init.span, type=LONG_LONG, text=str(count), value=count)
    if chosen is None:
        return size
    none = Literal(span=init.span, type=LONG_LONG, text="0", value=0)
    return Conditional(span=init.span, type=LONG_LONG, condition=chosen, then=size, other=none)


def _is_behind(function: Function, declared: VarDecl, at: Node) -> bool:
    """Whether a place stands in a statement behind a declaration, in the same block."""
    for block in (n for n in walk(function.body) if isinstance(n, Block)):
        for number, stmt in enumerate(block.statements):
            if isinstance(stmt, DeclStmt) and any(d is declared for d in stmt.declarations):
                return any(part is at for later in block.statements[number + 1 :] for part in walk(later))
    return False


def _count_numbers(type: Type) -> int | None:
    """Return how many numbers an array holds; None where that is no constant, or the type is no array."""
    count = 1 if isinstance(type, Array) else None
    while isinstance(type, Array) and count is not None:
        count = None if type.count is None else count * type.count
        type = type.of
    return count if isinstance(type, Scalar) else None


def _is_open(member: Member) -> bool:
    """Whether an array may go on behind the end of its struct: the last member, with one element at most."""
    owner = peel(member.base).type
    owner = owner.to if member.arrow and isinstance(owner, Pointer) else owner
    if not isinstance(owner, Record) or owner.union or not owner.fields or not isinstance(member.type, Array):
        return True
    return owner.fields[-1].name == member.field and (member.type.count or 0) < 2


def _declaration(block: Block, symbol: Symbol) -> list[tuple[int, Member]]:
    """Return where a block declares `symbol` as `v.data()`."""
    return [(k, init) for k, found, init in _members(block, DATA) if found == symbol]


def _sizes(block: Block) -> list[tuple[int, Symbol, Member]]:
    return [found for found in _members(block, SIZE) if found[1].storage == "local"]


def _members(block: Block, field: str) -> Iterator[tuple[int, Symbol, Member]]:
    """Yield the variables that a block declares with this member of a container, and where."""
    for number, stmt in enumerate(block.statements):
        for declaration in stmt.declarations if isinstance(stmt, DeclStmt) else ():
            init = peel(declaration.init) if declaration.init is not None else None
            if isinstance(init, Member) and init.field == field:
                yield number, declaration.symbol, init


def _is_quiet(stmt: Stmt) -> bool:
    """Whether a statement changes no container."""
    changes = (Assign, Call, Verbatim, VerbatimExpr)
    steps = (part for part in walk(stmt) if isinstance(part, Unary) and ("++" in part.op or "--" in part.op))
    return not any(isinstance(part, changes) for part in walk(stmt)) and next(steps, None) is None


class _Making(Struct, frozen=True):
    """The one allocation that a pointer variable gets its value from."""

    node: Node
    call: Call


def _allocated_size(variables: Variables, symbol: Symbol, making: _Making | None, at: Node) -> Expr | None:
    """Return what malloc or calloc was asked for, in elements."""
    if making is None or not _dominates(variables.function, making.node, at):
        return None
    if not is_settled(variables, symbol, making.node):
        return None
    elements = asked_elements(making.call, symbol)
    if elements is None or not _are_settled(variables, elements, making.node):
        return None
    return product(elements, making.node.span)


def asked_elements(call: Call, symbol: Symbol) -> list[Expr] | None:
    """Return the factors of how many elements of what `symbol` leads to a call allocates; None where that is not
    exact."""
    name = direct_call(call)
    counted = {"malloc": (0,), "calloc": (0, 1), "aligned_alloc": (1,), "realloc": (1,)}
    counted |= dict.fromkeys(("new[]", "new[]()"), (0, 1)) | dict.fromkeys(DEVICE_MAKES, (0,))
    indices = counted.get(name.name) if name is not None else None
    if indices is None or len(call.arguments) <= max(indices):
        return None
    size = byte_size(element_type(symbol.type))
    factors = [f for index in indices for f in _factors(call.arguments[index])]
    return _divide_factors(factors, size) if size is not None else None


def _makings(function: Function) -> dict[Symbol, _Making]:
    """Return the one allocation of every variable that gets its value from one call, and from nothing else but null."""
    found: dict[Symbol, list[_Making | None]] = {}
    for node in walk(function.body):
        targets: set[Symbol] = set()
        value: Expr | None = None
        if isinstance(node, VarDecl):
            targets, value = {node.symbol}, node.init
        elif isinstance(node, Assign):
            targets = {b.symbol for b in bases(node.target) if b.symbol is not None and not b.deep}
            value = node.value
        if not targets or value is None or _is_null(value):
            continue
        source = bases(value)
        call = source[0].call if len(source) == 1 and source[0].symbol is None else None
        made = _Making(node, call) if call is not None and _is_direct(value) else None
        for symbol in targets:
            found.setdefault(symbol, []).append(made)
    return {symbol: made for symbol, (made, *more) in found.items() if made is not None and not more}


def _is_null(value: Expr) -> bool:
    return not bases(value)


def _is_direct(value: Expr) -> bool:
    """Whether the value is the call's own result, not an address inside of it."""
    value = peel(value)
    while isinstance(value, Cast):
        value = peel(value.operand)
    return isinstance(value, Call)


def _dominates(function: Function, making: Node, at: Node) -> bool:
    """Whether the innermost block around the allocation also holds the place, later on."""
    if making.span.end > at.span.start:
        return False
    around = [n for n in walk(function) if isinstance(n, Block) and n.span.contains(making.span)]
    innermost = min(around, key=lambda block: block.span.end - block.span.start, default=None)
    if innermost is None or not innermost.span.contains(at.span):
        return False
    return any(_is_statement_of(stmt, making) for stmt in innermost.statements)


def _is_statement_of(stmt: Stmt, making: Node) -> bool:
    """Whether `making` is the statement itself, or certainly done at its head (`if ((p = malloc(n)) == 0)`)."""
    match stmt:
        case ExprStmt():
            return peel(stmt.expr) is making
        case DeclStmt():
            return making in stmt.declarations
        case If():
            return making in set(_certain(stmt.condition))
        case _:
            return False


def _certain(expr: Expr) -> Iterator[Node]:
    """Yield the parts of an expression that are evaluated whenever it is."""
    yield expr
    shortened = isinstance(expr, Binary) and expr.op in ("&&", "||")
    parts = [expr.left] if isinstance(expr, Binary) and shortened else list(children(expr))
    parts = [expr.condition] if isinstance(expr, Conditional) else parts
    for part in parts:
        if isinstance(part, Binary | Unary | Assign | Cast | MacroUse | Conditional):
            yield from _certain(part)


def _factors(expr: Expr) -> Iterator[Expr]:
    """Yield the factors of a product that C works out without wrapping around, widening casts taken off."""
    expr = peel(expr)
    if isinstance(expr, Binary) and expr.op == "*" and not _wraps(expr.type):
        yield from _factors(expr.left)
        yield from _factors(expr.right)
    elif isinstance(expr, Cast) and isinstance(peel(expr.operand), Binary) and not _narrows(expr):
        yield from _factors(expr.operand)
    else:
        yield expr


def _wraps(type: Type) -> bool:
    """Whether arithmetic of the type is modulo a number that sizes may reach."""
    return isinstance(type, Scalar) and type.kind != "signed" and type.bits < 64


def _narrows(cast: Cast) -> bool:
    target, source = cast.type, cast.operand.type
    if not (isinstance(target, Scalar) and isinstance(source, Scalar)):
        return True
    return not is_integer(target) or not is_integer(source) or target.bits < source.bits


def _divide_factors(factors: list[Expr], size: int) -> list[Expr] | None:
    """Return factors whose product is the given one's divided by `size`; None where that is not exact."""
    constant = 1
    rest: list[Expr] = []
    for factor in factors:
        value = factor.value if isinstance(factor, SizeOf | Literal) else None
        if isinstance(value, int):
            constant *= value
        else:
            rest.append(factor)
    if constant % size:
        return None
    count = constant // size
    if count != 1 or not rest:
        span = factors[0].span
        rest.insert(0, Literal(span=span, type=LONG_LONG, text=str(count), value=count))
    return rest
