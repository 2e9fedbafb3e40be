"""Associative updates: the accumulators and the running sums of a loop, by their form in the text.

    s += a[i];            sum            if (x > m) m = x;              max
    p = p * a[i];         product        h[b[i]]++;                     histogram
    s += a[i]; b[i] = s;  scan           a[i] = a[i-1] + b[i];          scan in place

Invariant: a reduction's accumulator is used in the loop by updates with one operator only, and an update's value does
not depend on it; so the loop's effect on it is the combination of all values in any order (exactly for integers, up to
rounding for floating point).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from warpsmith.poly.facts import Reduction
from warpsmith.poly.library import library_function
from warpsmith.poly.pointers import is_persistent
from warpsmith.poly.touches import direct_call
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
    Index,
    Literal,
    Loop,
    Name,
    Node,
    Stmt,
    Unary,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol, Type, is_float, is_integer
from warpsmith.tree.walk import names, peel, root_symbol, same, walk

__all__ = ["Update", "array_reductions", "array_scans", "scalar_reductions", "scalar_scans", "updates"]

_OPERATORS = {"+": "+", "-": "+", "*": "*", "&": "&", "|": "|", "^": "^", "&&": "&&", "||": "||"}
_ONE_WAY = ("-",)
_EXTREMES = {"fmax": "max", "fmaxf": "max", "fmin": "min", "fminf": "min"}


@dataclass(frozen=True, slots=True)
class Update:
    """`target = target op value`; `nodes` are all uses of the target that belong to the update.
    `op`: + * & | ^ && || min max (a subtraction of the value is +)."""

    op: str
    target: Expr
    symbol: Symbol
    node: Node
    nodes: tuple[Expr, ...]


def updates(loop: Loop) -> tuple[Update, ...]:
    """Return every statement in `loop` that has the form of an associative update."""
    statements = (n for n in walk(loop.body) if isinstance(n, ExprStmt | If))
    found = (_of_node(peel(n.expr) if isinstance(n, ExprStmt) else n) for n in statements)
    return _outermost([update for update in found if update is not None])


def _outermost(found: list[Update]) -> tuple[Update, ...]:
    """Leave out the assignment inside `if (x > m) m = x`, which is the whole statement's."""
    inner = {n for update in found if isinstance(update.node, If) for n in walk(update.node.then)}
    return tuple(update for update in found if update.node not in inner)


def scalar_reductions(loop: Loop) -> tuple[Reduction, ...]:
    """Return the scalars that the loop only updates, all by the same operator, and uses for nothing else."""
    return tuple(_reductions(loop, lambda update: isinstance(peel(update.target), Name)))


def array_reductions(loop: Loop) -> tuple[Reduction, ...]:
    """Return the arrays whose elements the loop only updates (`c[j] += …`, `h[b[i]]++`), by one operator, and touches
    nowhere else in the loop by that name. Whether the loop carries the update at all is the dependence test's answer;
    that no other name reaches the array is aliasing's."""
    return tuple(_reductions(loop, lambda update: isinstance(peel(update.target), Index)))


def scalar_scans(loop: Loop) -> tuple[Reduction, ...]:
    """Return the scalars that each iteration updates once, by one operator, and whose running value it reads too."""
    found: list[Reduction] = []
    top = _statements(loop.body)
    for update in updates(loop):
        target = peel(update.target)
        others = [n for n in names(loop) if n.symbol == update.symbol and n not in update.nodes]
        at_top = any(isinstance(s, ExprStmt) and peel(s.expr) is update.node for s in top)
        if isinstance(target, Name) and at_top and others and not _is_written(loop, update.symbol, update.node):
            found.append(Reduction(update.op, update.symbol, update.node.span))
    return tuple(found)


def array_scans(loop: Loop) -> tuple[Reduction, ...]:
    """Return the arrays with the one statement `a[i] = a[i - c] op e` (c > 0, e does not read a, no other use of a in
    the loop): a running sum in place."""
    if not isinstance(loop, For):
        return ()
    found: list[Reduction] = []
    for stmt in _statements(loop.body):
        node = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
        scan = _scan(node, loop) if isinstance(node, Assign) else None
        if scan is not None and sum(n.symbol == scan.variable for n in names(loop.body)) == 2:
            found.append(scan)
    return tuple(found)


def _reductions(loop: Loop, wanted: Callable[[Update], bool]) -> Iterator[Reduction]:
    """Yield the accumulators among the targets that `wanted` picks."""
    if any(isinstance(n, Verbatim | VerbatimExpr) for n in walk(loop)):
        return
    all_updates = [update for update in updates(loop) if wanted(update)]
    for symbol in dict.fromkeys(update.symbol for update in all_updates):
        mine = [update for update in all_updates if update.symbol == symbol]
        belonging = {n for update in mine for part in update.nodes for n in walk(part) if isinstance(n, Name)}
        only = all(n in belonging for n in _uses(loop, symbol))
        counter = isinstance(loop, For) and loop.variable == symbol
        if only and not counter and not _is_reached_by_calls(loop, symbol) and len({update.op for update in mine}) == 1:
            yield Reduction(mine[0].op, symbol, mine[0].node.span)


def _is_reached_by_calls(loop: Loop, symbol: Symbol) -> bool:
    """Whether a function called in the loop may name the accumulator itself."""
    calls = [direct_call(n) for n in walk(loop) if isinstance(n, Call)]
    return is_persistent(symbol) and any(c is None or library_function(c.name) is None for c in calls)


def _uses(loop: Loop, symbol: Symbol) -> Iterator[Name]:
    return (n for n in names(loop) if n.symbol == symbol)


def _of_node(node: Node) -> Update | None:
    match node:
        case Assign(op="="):
            return _of_assignment(node)
        case Assign() if node.op[:-1] in _OPERATORS:
            return _update(_OPERATORS[node.op[:-1]], node.target, node, (node.target,), (node.value,))
        case Unary() if "++" in node.op or "--" in node.op:
            return _update("+", node.operand, node, (node.operand,), ())
        case If(other=None):
            return _of_condition(node)
        case _:
            return None


def _of_assignment(node: Assign) -> Update | None:
    value = _bare(node.value)
    match value:
        case Binary() if value.op in _OPERATORS:
            return _of_operation(node, value)
        case Conditional():
            condition = _bare(value.condition)
            then, other = _bare(value.then), _bare(value.other)
            op = _extreme(condition, then, other)
            target = then if same(then, peel(node.target)) else other
            if op is None or not same(target, peel(node.target)):
                return None
            rest = other if target is then else then
            return _update(op, node.target, node, (node.target, target, *_equal(condition, node.target)), (rest,))
        case Call():
            return _of_call(node, value)
        case _:
            return None


def _of_operation(node: Assign, value: Binary) -> Update | None:
    """`s = s + a + b` leans left: the target stands at the left end of a chain of one operator, or at the right end of
    the last operation."""
    op, target = _OPERATORS[value.op], peel(node.target)
    if value.op not in _ONE_WAY and same(_bare(value.right), target):
        return _update(op, node.target, node, (node.target, value.right), (value.left,))
    operands: list[Expr] = []
    left: Expr = value
    while isinstance(left, Binary) and _OPERATORS.get(left.op) == op:
        operands.append(left.right)
        left = _bare(left.left)
    if not same(left, target):
        return None
    return _update(op, node.target, node, (node.target, left), tuple(operands))


def _of_call(node: Assign, call: Call) -> Update | None:
    """`m = fmax(m, x)`."""
    name = direct_call(call)
    op = _EXTREMES.get(name.name) if name is not None else None
    if op is None or len(call.arguments) != 2:
        return None
    for mine, rest in (call.arguments, reversed(call.arguments)):
        if same(_bare(mine), peel(node.target)):
            return _update(op, node.target, node, (node.target, mine), (rest,))
    return None


def _of_condition(node: If) -> Update | None:
    """`if (x > m) m = x;`."""
    inner = _statements(node.then)
    stmt = inner[0] if len(inner) == 1 else None
    assignment = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    if not isinstance(assignment, Assign) or assignment.op != "=":
        return None
    target, condition = peel(assignment.target), _bare(node.condition)
    op = _extreme(condition, _bare(assignment.value), target)
    if op is None:
        return None
    mine = (assignment.target, *_equal(condition, target))
    return _update(op, assignment.target, node, mine, (assignment.value,))


def _extreme(condition: Expr, then: Expr, other: Expr) -> str | None:
    """Return what `condition ? then : other` computes of the two where the condition compares just them."""
    if not isinstance(condition, Binary) or condition.op not in ("<", "<=", ">", ">="):
        return None
    left, right = _bare(condition.left), _bare(condition.right)
    greater = condition.op in (">", ">=")
    if same(left, then) and same(right, other):
        return "max" if greater else "min"
    if same(left, other) and same(right, then):
        return "min" if greater else "max"
    return None


def _equal(condition: Expr, target: Expr) -> Iterator[Expr]:
    """Yield the operands of the comparison that are the target."""
    if isinstance(condition, Binary):
        yield from (side for side in (condition.left, condition.right) if same(_bare(side), peel(target)))


def _update(op: str, target: Expr, node: Node, mine: tuple[Expr, ...], values: Iterable[Expr]) -> Update | None:
    """Return the update if its values and the target's own subscripts do not read the accumulator or change it."""
    symbol = root_symbol(target)
    bare = peel(target)
    values = tuple(values)
    if symbol is None or not _is_plain(bare) or not _combines(op, bare.type, values):
        return None
    if any(n.symbol == symbol for value in values for n in names(value)):
        return None
    if any(_has_effect(part) for value in values for part in walk(value)):
        return None
    inner = [n for part in walk(bare) if isinstance(part, Index) for n in names(part.index)]
    if any(n.symbol == symbol for n in inner) or any(_has_effect(part) for part in walk(bare)):
        return None
    return Update(op, target, symbol, node, mine)


def _combines(op: str, type: Type, values: tuple[Expr, ...]) -> bool:
    """Whether converting to the accumulator's type at every update leaves the order free (`int s; s += 0.5;` not)."""
    if op in ("&&", "||"):
        return True
    if isinstance(type, Scalar) and type.kind == "bool":
        return op in ("&", "|")
    return is_float(type) or (is_integer(type) and not any(is_float(value.type) for value in values))


def _is_plain(target: Expr) -> bool:
    """Whether the target is a scalar variable or an element of an array, at once or row by row."""
    if isinstance(target, Name):
        return not isinstance(target.type, Pointer | Array)
    while isinstance(target, Index):
        target = peel(target.base)
    return isinstance(target, Name)


def _has_effect(node: Node) -> bool:
    return isinstance(node, Assign | VerbatimExpr) or (isinstance(node, Unary) and ("++" in node.op or "--" in node.op))


def _bare(expr: Expr) -> Expr:
    """Return the expression without macro uses around it; casts change values and stay."""
    return peel(expr)


def _statements(stmt: Stmt) -> tuple[Stmt, ...]:
    return stmt.statements if isinstance(stmt, Block) else (stmt,)


def _is_written(loop: Loop, symbol: Symbol, apart_from: Node) -> bool:
    """Whether something but the node writes the scalar."""
    for node in walk(loop.body):
        target: Expr | None = None
        if isinstance(node, Assign):
            target = peel(node.target)
        elif isinstance(node, Unary) and ("++" in node.op or "--" in node.op or node.op == "&"):
            target = peel(node.operand)
        if node is not apart_from and isinstance(target, Name) and target.symbol == symbol:
            return True
    return any(isinstance(n, Verbatim | VerbatimExpr) for n in walk(loop.body))


def _scan(node: Assign, loop: For) -> Reduction | None:
    """`a[i] = a[i - c] op e` with i the counter and c in the direction in which the loop runs."""
    target, value = peel(node.target), peel(node.value)
    if not (node.op == "=" and isinstance(target, Index) and isinstance(value, Binary) and value.op in _OPERATORS):
        return None
    base = peel(target.base)
    sides = ((value.left, value.right), (value.right, value.left))
    for earlier, rest in sides[: 1 if value.op in _ONE_WAY else 2]:
        previous = peel(earlier)
        if not (isinstance(base, Name) and isinstance(previous, Index) and same(peel(previous.base), base)):
            continue
        back = _offset(target.index, loop.variable), _offset(previous.index, loop.variable)
        if back[0] is None or back[1] is None or (back[0] - back[1]) * loop.step <= 0:
            continue
        if not any(n.symbol == base.symbol for n in names(rest)):
            return Reduction(_OPERATORS[value.op], base.symbol, node.span)
    return None


def _offset(index: Expr, counter: Symbol) -> int | None:
    """Return c of `i + c`, None for any other subscript."""
    index = peel(index)
    while isinstance(index, Cast):
        index = peel(index.operand)
    if isinstance(index, Name):
        return 0 if index.symbol == counter else None
    if not (isinstance(index, Binary) and index.op in ("+", "-")):
        return None
    left, right = peel(index.left), peel(index.right)
    if (
        isinstance(left, Name)
        and left.symbol == counter
        and isinstance(right, Literal)
        and isinstance(right.value, int)
    ):
        return right.value if index.op == "+" else -right.value
    return None
