"""The forms that one associative update takes in the text.

    s += a[i];   s = s + a + b;   s = x - y + s;   c++;          sum
    s = c ? s + x : s;                                           the same under a condition
    t = s;  t = t + a[i];  s = t;                                the same through a temporary
    if (x > m) m = x;   m = x > m ? x : m;   m = fmax(m, x);     max
    if (x > m && ok[i]) { m = x; at = i; }                       max with its location
    if (c) found = 1;                                            or, if found is a truth value

Invariant: an update's new value is `old op value`, and the value depends neither on the accumulator nor on what else
the update writes; `nodes` are all uses of the accumulator that belong to the update, and `passed` all uses of the
temporaries that hold it in between. Converting to the accumulator's type at each update leaves the order free.
Limits: members of structs are no accumulators; temporaries are followed inside one block only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec.structs
from msgspec import Struct

from warpsmith.poly.pointers.accesses import direct_call
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
    If,
    Index,
    Literal,
    Name,
    Node,
    Stmt,
    Unary,
    VerbatimExpr,
)
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol, Type, is_float, is_integer
from warpsmith.tree.walk import names, peel, rebuild, root_symbol, same, statements_of, walk, written_symbols

__all__ = [
    "AssociativeUpdate",
    "TargetForm",
    "chained_updates",
    "combines",
    "form_of",
    "has_effect",
    "is_truth_value",
    "update_of",
]

_OPERATORS = {"+": "+", "-": "+", "*": "*", "&": "&", "|": "|", "^": "^", "&&": "&&", "||": "||"}
_ONE_WAY = ("-",)
_EXTREMES = {"fmax": "max", "fmaxf": "max", "fmin": "min", "fminf": "min"}
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class AssociativeUpdate(Struct, frozen=True):
    """`target = target op value`; `nodes` are all uses of the target that belong to the update.

    `op`: + * & | ^ && || min max (a subtraction of the value is +). `companions`: what is assigned together with a new
    extreme; `strict`: an equal value is no new extreme. `passed`: uses of temporaries that carry the target's value.
    `value`: then, the new value with what they hold in their place.
    `constant`: the statement is `found = 1` (op ||) or `all = 0` (op &&), which is an update only of a truth value.
    """

    op: str
    target: Expr
    symbol: Symbol
    node: Node
    nodes: tuple[Expr, ...]
    companions: tuple[Assign, ...] = ()
    strict: bool = True
    passed: tuple[Name, ...] = ()
    value: Expr | None = None
    constant: bool = False


class TargetForm(Struct, frozen=True):
    """An expression as `target op values`; `op` is "" for the target itself. `conditions` decide what is computed."""

    op: str
    uses: tuple[Expr, ...]
    values: tuple[Expr, ...] = ()
    conditions: tuple[Expr, ...] = ()


def update_of(node: Node) -> AssociativeUpdate | None:
    """Return the update that an expression or an `if` is."""
    match node:
        case Assign(op="="):
            form = form_of(node.value, peel(node.target))
            return _constant(node) if form is None or not form.op else _update(form, node.target, node)
        case Assign() if node.op[:-1] in _OPERATORS:
            return _update(TargetForm(_OPERATORS[node.op[:-1]], (), (node.value,)), node.target, node)
        case Unary() if "++" in node.op or "--" in node.op:
            return _update(TargetForm("+", ()), node.operand, node)
        case If(other=None):
            return _of_branch(node)
        case _:
            return None


def chained_updates(block: Block) -> Iterator[AssociativeUpdate]:
    """Yield the updates of `block` that go through temporaries: `t = s; t = t + x; s = t;`."""
    held: dict[Symbol, _Held] = {}
    for stmt in block.statements:
        made = _split_assigned(stmt)
        if made is None:
            if held:
                _forget(held, written_symbols(stmt))
            continue
        symbol, target, value = made
        expanded = _expand_value(value, held)
        if isinstance(target, Name) and expanded.passed:
            node = target if not isinstance(stmt, ExprStmt) else peel(stmt.expr)
            update = _of_chain(node, target, expanded)
            if update is not None:
                yield update
        _forget(held, {symbol})
        if not _reads(expanded.value, symbol) and not any(has_effect(n) for n in walk(value)):
            new = _convert_value(expanded.value, symbol)
            mine = ((target, new),) if isinstance(target, Name) else ()
            held[symbol] = _Held(new, (*expanded.passed, *mine))


def is_truth_value(expr: Expr) -> bool:
    """Whether an expression is certainly 0 or 1."""
    expr = peel(expr)
    match expr:
        case Literal(value=value):
            return value in (0, 1)
        case Binary(op=op, left=left, right=right):
            if op in ("&", "|", "^"):
                return is_truth_value(left) and is_truth_value(right)
            return op in (*_COMPARISONS, "&&", "||")
        case Conditional(then=then, other=other):
            return is_truth_value(then) and is_truth_value(other)
        case Cast(operand=operand):
            return _is_bool(expr.type) or is_truth_value(operand)
        case Unary(op="!"):
            return True
        case _:
            return _is_bool(expr.type)


# --- temporaries


class _Held(Struct, frozen=True):
    """What a temporary holds, in terms of older values; `passed`: the uses of temporaries on the way, with what each
    of them held there."""

    value: Expr
    passed: tuple[tuple[Name, Expr], ...]


def _split_assigned(stmt: Stmt) -> tuple[Symbol, Expr | None, Expr] | None:
    """Return (variable, its use as a target, new value) of `t = e;`, `t += e;` and `double t = e;`."""
    if isinstance(stmt, DeclStmt) and len(stmt.declarations) == 1:
        (declared,) = stmt.declarations
        return None if declared.init is None else (declared.symbol, None, declared.init)
    inner = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    target = peel(inner.target) if isinstance(inner, Assign) else None
    if not isinstance(inner, Assign) or not isinstance(target, Name):
        return None
    if inner.op == "=":
        return target.symbol, target, inner.value
    if inner.op[:-1] not in _OPERATORS:
        return None
    value = Binary(span=inner.span, type=inner.type, op=inner.op[:-1], left=target, right=inner.value)
    return target.symbol, target, value


def _forget(held: dict[Symbol, _Held], written: set[Symbol]) -> None:
    for symbol in list(held):
        if symbol in written or any(_reads(held[symbol].value, other) for other in written):
            del held[symbol]


def _expand_value(value: Expr, held: dict[Symbol, _Held]) -> _Held:
    """Return `value` with what temporaries hold in their place."""
    passed: list[tuple[Name, Expr]] = []

    def change(node: Node) -> Node:
        if not isinstance(node, Name) or node.symbol not in held:
            return node
        passed.extend((*held[node.symbol].passed, (node, held[node.symbol].value)))
        return held[node.symbol].value

    return _Held(rebuild(value, change), tuple(dict.fromkeys(passed)))


def _convert_value(value: Expr, symbol: Symbol) -> Expr:
    if value.type == symbol.type:
        return value
    return Cast(span=value.span, type=symbol.type, operand=value)


def _of_chain(node: Node, target: Name, expanded: _Held) -> AssociativeUpdate | None:
    """Return the update where the accumulator's old value came through a temporary."""
    carriers = tuple(n for n, value in expanded.passed if _reads(value, target.symbol))
    form = form_of(expanded.value, target) if carriers else None
    update = _update(form, target, node, carriers) if form is not None and form.op else None
    return None if update is None else msgspec.structs.replace(update, value=expanded.value)


# --- one statement


def _constant(node: Assign) -> AssociativeUpdate | None:
    """`found = 1`, `all = 0`."""
    target, value = peel(node.target), peel(node.value)
    if not isinstance(target, Name) or not isinstance(target.type, Scalar) or target.type.volatile:
        return None
    if not is_integer(target.type) or not isinstance(value, Literal) or value.value not in (0, 1):
        return None
    return AssociativeUpdate(
        "||" if value.value else "&&", node.target, target.symbol, node, (node.target,), constant=True
    )


def form_of(value: Expr, target: Expr) -> TargetForm | None:
    """Return `value` as an update of `target`, or None."""
    value = peel(value)
    if same(value, target):
        return TargetForm("", (value,))
    match value:
        case Cast(type=type, operand=operand) if type == target.type:
            return form_of(operand, target)
        case Binary(op=op) if op in _OPERATORS:
            return _operation(value, target)
        case Conditional():
            return _choice(value, target)
        case Call():
            return _call(value, target)
        case _:
            return None


def _operation(value: Binary, target: Expr) -> TargetForm | None:
    """`(s + a) + b`, `a + (s + b)`: the target stands in one operand, below operations of the same kind only."""
    op = _OPERATORS[value.op]
    if _holds(value.left, target) and _holds(value.right, target):
        return None
    mine, rest = (value.right, value.left) if _holds(value.right, target) else (value.left, value.right)
    if mine is value.right and value.op in _ONE_WAY:
        return None
    inner = form_of(mine, target)
    if inner is None or inner.op not in ("", op):
        return None
    return TargetForm(op, inner.uses, (*inner.values, rest), inner.conditions)


def _choice(value: Conditional, target: Expr) -> TargetForm | None:
    """`x > m ? x : m`, and `c ? s + x : s` where c does not read s."""
    condition, then, other = peel(value.condition), peel(value.then), peel(value.other)
    found = _extreme(condition, then, other)
    if found is not None and (same(then, target) or same(other, target)):
        mine, rest = (then, other) if same(then, target) else (other, then)
        return TargetForm(found[0], (mine, *_equal(condition, target)), (rest,))
    symbol = root_symbol(target)
    if symbol is None or _reads(condition, symbol):
        return None
    arms = form_of(then, target), form_of(other, target)
    if arms[0] is None or arms[1] is None or len({arm.op for arm in arms if arm and arm.op}) != 1:
        return None
    one, two = arms[0], arms[1]
    conditions = (condition, *one.conditions, *two.conditions)
    return TargetForm(one.op or two.op, (*one.uses, *two.uses), (*one.values, *two.values), conditions)


def _call(call: Call, target: Expr) -> TargetForm | None:
    """`fmax(m, x)`."""
    name = direct_call(call)
    op = _EXTREMES.get(name.name) if name is not None else None
    if op is None or len(call.arguments) != 2:
        return None
    for mine, rest in (call.arguments, reversed(call.arguments)):
        if same(peel(mine), target):
            return TargetForm(op, (mine,), (rest,))
    return None


def _of_branch(node: If) -> AssociativeUpdate | None:
    """`if (x > m) m = x;`, with other conditions by && and other variables set beside m."""
    conditions = list(_conjuncts(node.condition))
    assigned: list[Assign] = []
    for stmt in statements_of(node.then):
        inner = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
        if not isinstance(inner, Assign) or inner.op != "=":
            return None
        assigned.append(inner)
    for chosen in assigned:
        target = peel(chosen.target)
        for condition in conditions:
            found = _extreme(condition, peel(chosen.value), target)
            if found is None:
                continue
            others = tuple(c for c in conditions if c is not condition)
            companions = tuple(a for a in assigned if a is not chosen)
            form = TargetForm(found[0], tuple(_equal(condition, target)), (chosen.value,), others)
            return _with_companions(_update(form, chosen.target, node), companions, strict=found[1])
    return None


def _with_companions(
    update: AssociativeUpdate | None, companions: tuple[Assign, ...], *, strict: bool
) -> AssociativeUpdate | None:
    """Return the update with what it sets beside the extreme: distinct variables, to values free of all of them."""
    if update is None:
        return None
    targets = [peel(a.target) for a in companions]
    written = {t.symbol for t in targets if isinstance(t, Name)} | {update.symbol}
    if len(written) != len(targets) + 1 or not all(isinstance(t.type, Scalar) for t in targets):
        return None
    read = [n for a in companions for n in walk(a.value)]
    if any(has_effect(n) or (isinstance(n, Name) and n.symbol in written) for n in read):
        return None
    if companions and not _is_kept_whole(update.target.type, _value_type(update)):
        return None
    return msgspec.structs.replace(update, companions=companions, strict=strict)


def _value_type(update: AssociativeUpdate) -> Type:
    node = update.node
    assert isinstance(node, If), "companions stand in a branch"
    inside = [peel(s.expr) for s in statements_of(node.then) if isinstance(s, ExprStmt)]
    return next(a.value.type for a in inside if isinstance(a, Assign) and a.target is update.target)


def _conjuncts(condition: Expr) -> Iterator[Expr]:
    condition = peel(condition)
    if isinstance(condition, Binary) and condition.op == "&&":
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition


def _extreme(condition: Expr, then: Expr, other: Expr) -> tuple[str, bool] | None:
    """Return what `condition ? then : other` computes of the two where the condition compares just them, and whether
    it does so strictly."""
    if not isinstance(condition, Binary) or condition.op not in ("<", "<=", ">", ">="):
        return None
    left, right = peel(condition.left), peel(condition.right)
    greater, strict = condition.op in (">", ">="), condition.op in ("<", ">")
    if same(left, then) and same(right, other):
        return ("max" if greater else "min"), strict
    if same(left, other) and same(right, then):
        return ("min" if greater else "max"), strict
    return None


def _equal(condition: Expr, target: Expr) -> Iterator[Expr]:
    """Yield the operands of the comparison that are the target."""
    if isinstance(condition, Binary):
        yield from (side for side in (condition.left, condition.right) if same(peel(side), peel(target)))


def _update(form: TargetForm, target: Expr, node: Node, passed: tuple[Name, ...] = ()) -> AssociativeUpdate | None:
    """Return the update if its values and the target's own subscripts do not read the accumulator or change it."""
    symbol, bare = root_symbol(target), peel(target)
    if symbol is None or not _is_plain(bare) or not combines(form.op, bare.type, form.values):
        return None
    operands = (*form.values, *form.conditions)
    if any(_holds(value, bare) or not _reads_elements_only(value, symbol) for value in operands):
        return None
    if any(has_effect(part) for value in operands for part in walk(value)):
        return None
    inner = [n for part in walk(bare) if isinstance(part, Index) for n in names(part.index)]
    if any(n.symbol == symbol for n in inner) or any(has_effect(part) for part in walk(bare)):
        return None
    return AssociativeUpdate(form.op, target, symbol, node, (target, *form.uses), passed=passed)


def combines(op: str, type: Type, values: Iterable[Expr]) -> bool:
    """Whether converting to the accumulator's type at every update leaves the order free (`int s; s += 0.5;` not)."""
    if isinstance(type, Scalar) and type.volatile:
        return False
    if op in ("&&", "||"):
        return is_integer(type) or is_float(type)
    if op in ("min", "max"):
        return all(_keeps_order(type, value.type) for value in values)
    if _is_bool(type):
        return op in ("&", "|")
    return is_float(type) or (is_integer(type) and not any(is_float(value.type) for value in values))


def _keeps_order(accumulator: Type, value: Type) -> bool:
    """Whether comparing a value with the accumulator, and storing it there, agree with one order of all numbers."""
    if is_float(accumulator):
        return is_float(value) or is_integer(value)
    return _is_kept_whole(accumulator, value)


def _is_kept_whole(accumulator: Type, value: Type) -> bool:
    """Whether every value of one type is a value of the other."""
    if not isinstance(accumulator, Scalar) or not isinstance(value, Scalar) or _is_bool(accumulator):
        return False
    if is_float(accumulator):
        return value.bits <= accumulator.bits if is_float(value) else is_integer(value)
    if not is_integer(accumulator) or not is_integer(value):
        return False
    if accumulator.kind == value.kind:
        return value.bits <= accumulator.bits
    return accumulator.kind == "signed" and (value.kind == "bool" or value.bits < accumulator.bits)


def _is_bool(type: Type) -> bool:
    return isinstance(type, Scalar) and type.kind == "bool"


def _is_plain(target: Expr) -> bool:
    """Whether the target is a scalar variable or an element of an array, at once or row by row."""
    if isinstance(target, Name):
        return not isinstance(target.type, Pointer | Array)
    while isinstance(target, Index):
        target = peel(target.base)
    return isinstance(target, Name)


def has_effect(node: Node) -> bool:
    """Whether evaluating the node itself changes something (calls are judged elsewhere)."""
    return isinstance(node, Assign | VerbatimExpr) or (isinstance(node, Unary) and ("++" in node.op or "--" in node.op))


def _holds(expr: Expr, target: Expr) -> bool:
    """Whether the target itself stands in an expression."""
    kind = type(target)
    return any(type(part) is kind and same(part, target) for part in walk(expr))


def _reads_elements_only(value: Expr, symbol: Symbol) -> bool:
    """Whether a value reads nothing of an accumulator but other elements of its array: whether those are really others
    is the dependence test's question."""
    bases: set[int] = set()
    for part in walk(value):
        if isinstance(part, Index) and isinstance(part.type, Scalar):
            base = peel(part.base)
            while isinstance(base, Index):
                base = peel(base.base)
            bases.add(id(base))
    return all(id(n) in bases for n in names(value) if n.symbol == symbol)


def _reads(expr: Expr, symbol: Symbol) -> bool:
    return any(n.symbol == symbol for n in names(expr))
