"""The updates of an accumulator in a kernel's text.

    s += a[i];                s += a[i];                     s is the thread's own: its symbol changes, not the text
    C[i][k] += A[i][j];       C_part += A[i][j];
    h[b[i]]++;                atomicAdd(&h[b[i]], 1);
    if (c && x > m[j])        if (c)
        m[j] = x;                 atomicMax(&m[j], x);

Invariant: what is not an update stays the very same node. A function of the device without a name in CUDA (a product, a
maximum of doubles) is called by the symbol of `atomic_function`, which emit names and defines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from warpsmith.offload.expressions import binary, name, wide
from warpsmith.offload.values.reductions import Accumulator
from warpsmith.poly.dependences.reductions import AssociativeUpdate
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Expr,
    ExprStmt,
    For,
    If,
    Literal,
    Name,
    Node,
    Stmt,
    Unary,
    replace,
)
from warpsmith.tree.types import INT, VOID, FunctionType, Pointer, Scalar, Symbol, is_float
from warpsmith.tree.walk import peel, rebuild, statements_of, walk

__all__ = ["ATOMIC_KEY", "Own", "atomic_function", "combine_updates", "neutral"]

ATOMIC_KEY = "atomic:"
_NATIVE = {
    "+": "atomicAdd",
    "&": "atomicAnd",
    "|": "atomicOr",
    "^": "atomicXor",
    "min": "atomicMin",
    "max": "atomicMax",
}
_ANY_OPERATION = ("int", "unsigned int", "unsigned long long")


class Own(Struct, frozen=True):
    """What every thread has of its own for one accumulator: the variable, those that stand for its companions, and the
    one that holds the number of the iteration that set them (None without companions)."""

    variable: Symbol
    companions: Mapping[Symbol, Symbol]
    when: Symbol | None


def combine_updates(body: Stmt, head: For, together: Iterable[Accumulator], own: Mapping[Accumulator, Own]) -> Stmt:
    """Return the body of the innermost mapped loop `head`, still in the host's names, with each thread's `own`
    accumulators in place of what they stand for, and with indivisible updates of the others."""
    scalars = {one.symbol: mine.variable for one, mine in own.items() if one.is_scalar}
    scalars |= {host: new for mine in own.values() for host, new in mine.companions.items()}
    targets = {id(node): mine.variable for one, mine in own.items() for u in one.updates for node in u.nodes}
    atomic = {id(u.node): (one, u) for one in together if one not in own for u in one.updates}
    located = {id(u.node): mine.when for one, mine in own.items() if mine.when is not None for u in one.updates}

    def change(node: Node) -> Node:
        if isinstance(node, Name) and node.symbol in scalars:
            return name(scalars[node.symbol], node.span)
        return name(targets[id(node)], node.span) if id(node) in targets else node

    def update_node(node: Node) -> Node:
        if isinstance(node, If) and (when := located.get(id(node))) is not None:
            return replace(node, then=_with_number(node.then, when, head))
        return _atomic(*atomic[id(node)]) if id(node) in atomic else node

    return rebuild(rebuild(body, update_node), change)


def _with_number(then: Stmt, when: Symbol, head: For) -> Stmt:
    """Return the branch of an update with the number of its iteration stored too; only the order of numbers counts."""
    span = then.span
    counter = name(head.variable, span)
    first, last = (counter, head.lower) if head.step > 0 else (head.lower, counter)
    number = binary("-", wide(first), last)
    store = Assign(span=span, type=when.type, op="=", target=name(when, span), value=number)
    return Block(span=span, statements=(*statements_of(then), ExprStmt(span=span, expr=store)))


def neutral(one: Accumulator) -> Expr:
    """Return the value that changes nothing when it is combined by + * or ^."""
    span = one.element.span
    value = 1 if one.op == "*" else 0
    if not is_float(one.type):
        return Literal(span=span, type=one.type, text=str(value), value=value)
    text = f"{value}.0{'f' if one.type.bits == 32 else ''}"
    literal = Literal(span=span, type=one.type, text=text, value=float(value))
    return Unary(span=span, type=one.type, op="-", operand=literal) if one.op == "+" else literal


def atomic_function(op: str, type: Scalar) -> Symbol:
    """Return the device function that combines a value into a place indivisibly: CUDA's own where there is one for the
    type, else one that emit defines (its key starts with ATOMIC_KEY and the operation)."""
    signature = FunctionType(VOID, (Pointer(type), type), False)
    native = type.name in _ANY_OPERATION or (is_float(type) and op == "+")
    if native and op in _NATIVE:
        return Symbol(_NATIVE[op], f"cuda:{_NATIVE[op]}", signature, "function", None)
    return Symbol(f"atomic {op} {type.name}", f"{ATOMIC_KEY}{op}:{type.name}", signature, "function", None)


def _atomic(one: Accumulator, update: AssociativeUpdate) -> Expr | Stmt:
    """Return what stands in place of an update: an expression for an expression, a statement for a branch."""
    node = update.node
    span = node.span
    function = atomic_function(one.op, one.type)
    place = Unary(span=span, type=Pointer(one.type), op="&", operand=update.target)
    call = Call(span=span, type=VOID, function=name(function, span), arguments=(place, _value(one.type, update)))
    if not isinstance(node, If):
        return call
    statement: Stmt = ExprStmt(span=span, expr=call)
    for condition in reversed(_conditions(update)):
        statement = If(span=span, condition=condition, then=statement, other=None)
    return statement


def _value(type: Scalar, update: AssociativeUpdate) -> Expr:
    """Return what the update combines with its target of this type."""
    node = update.node
    match node:
        case Unary(op=op):
            one = Literal(span=node.span, type=INT, text="1", value=1)
            return one if "++" in op else _negative(one)
        case Assign(op="=", value=value):
            return _rest(type, peel(value), update)
        case Assign(op=op, value=value):
            return _negative(_convert_to_target(type, value)) if op == "-=" else value
        case If(then=then):
            (inner,) = [s.expr for s in statements_of(then) if isinstance(s, ExprStmt)]
            assignment = peel(inner)
            assert isinstance(assignment, Assign), "the branch sets the extreme"
            return assignment.value
        case _:
            raise AssertionError("an update of another form is refused before")


def _rest(type: Scalar, value: Expr, update: AssociativeUpdate) -> Expr:
    """Return `value` without the target."""
    if isinstance(value, Call):
        return next(a for a in value.arguments if not _holds(a, update))
    if isinstance(value, Conditional):
        return value.other if _holds(value.then, update) else value.then
    assert isinstance(value, Binary), "the target stands in an operation"
    mine, other = (value.left, value.right) if _holds(value.left, update) else (value.right, value.left)
    if not isinstance(peel(mine), Binary):
        return _negative(_convert_to_target(type, other)) if value.op == "-" else _convert_to_target(type, other)
    rest = _rest(type, peel(mine), update)
    return Binary(span=value.span, type=value.type, op=value.op, left=rest, right=other)


def _convert_to_target(type: Scalar, value: Expr) -> Expr:
    """Return an operand in the type in which it met the target: what is left of `h - u` must not wrap as u alone."""
    given = value.type
    same_type = isinstance(given, Scalar) and given.name == type.name
    finer = is_float(given) and (not is_float(type) or not isinstance(given, Scalar) or given.bits > type.bits)
    return value if same_type or finer else Cast(span=value.span, type=type, operand=value)


def _holds(expr: Expr, update: AssociativeUpdate) -> bool:
    mine = {id(node) for node in update.nodes}
    return any(id(part) in mine for part in walk(expr))


def _negative(value: Expr) -> Expr:
    return Unary(span=value.span, type=value.type, op="-", operand=value)


def _conditions(update: AssociativeUpdate) -> list[Expr]:
    """Return the conditions beside the comparison with the target."""
    if not isinstance(update.node, If):
        return []
    return [c for c in _conjuncts(update.node.condition) if not _holds(c, update)]


def _conjuncts(condition: Expr) -> list[Expr]:
    inner = peel(condition)
    if isinstance(inner, Binary) and inner.op == "&&":
        return [*_conjuncts(inner.left), *_conjuncts(inner.right)]
    return [condition]
