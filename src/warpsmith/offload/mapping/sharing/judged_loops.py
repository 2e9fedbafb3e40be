"""Which loops of a thread the lanes of a warp may go through together.

    double s = y[i];                       every lane computes s
    for (j = 0; j < n; j++)                lane l has iterations l, l + 32, …, and an s of its own
        s += A[i][j] * x[j];               behind the loop the warp combines them: every lane has the same s again
    y[i] = s;                              one lane stores

Such a loop combines values in variables of the thread, and what else it sets is set anew in each iteration and used
nowhere else; it stores only where its iterations were proved to be independent. Outside of such loops all lanes compute
the same, and take the same way.

Invariant: what a thread stores it stores once, with a value that differs from the loop's own only in the order in which
it was combined.
Limits: counted loops that count up; pointers of the thread's own, and calls that do more than compute, are not
followed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.offload.values.reductions import Accumulator
from warpsmith.poly.dependences.iteration_values import only_computes
from warpsmith.poly.dependences.reductions import scalar_reductions
from warpsmith.poly.dependences.updates import has_effect
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import Reduction
from warpsmith.poly.isl.bound_values import constant
from warpsmith.poly.pointers.control import ends_early
from warpsmith.tree.nodes import (
    Assign,
    Call,
    Expr,
    ExprStmt,
    For,
    Name,
    Node,
    Stmt,
    Switch,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.types import Pointer, Scalar, Symbol, is_float, is_integer
from warpsmith.tree.walk import names, peel, root_symbol, statements_of, walk, written_symbols

__all__ = ["JudgedLoop", "OneStore", "SharingQuestion", "find_stores", "judge_loop", "own_variables"]

_COMBINED: Final = ("+", "*", "min", "max", "&", "|", "^")
_ROUNDED: Final = ("+", "*")


class JudgedLoop(Struct, frozen=True):
    """A loop that lanes may go through together, what they combine behind it, and whether each lane `stores` to
    memory."""

    loop: For
    together: tuple[Accumulator, ...]
    stores: bool


class SharingQuestion(Struct, frozen=True):
    """What loops are judged by: the thread's body, its own variables, what it stores, which loops have iterations that
    are `independent` but for the variables that they combine, and whether floating-point numbers are combined in the
    order that they have (`precise`)."""

    body: Stmt
    own: frozenset[Symbol]
    stores: tuple[OneStore, ...]
    independent: Callable[[For], bool]
    precise: bool


class OneStore(Struct, frozen=True):
    """A statement that stores to what `root` names, and that one lane runs."""

    stmt: ExprStmt
    root: Symbol


def own_variables(body: Stmt, locals: Sequence[Symbol]) -> frozenset[Symbol]:
    """Return the variables of a thread: those declared in its body, its counters, and those of the kernel."""
    declared = {part.symbol for part in walk(body) if isinstance(part, VarDecl)}
    return frozenset({*declared, *locals, *(part.variable for part in walk(body) if isinstance(part, For))})


def find_stores(body: Stmt, own: frozenset[Symbol], summaries: Summaries) -> tuple[OneStore, ...] | Reason:
    """Return the statements of a thread that store, or why not all of what it does can be left to one lane."""
    stores: list[OneStore] = []
    effects = {id(part): part for part in walk(body) if has_effect(part)}
    for part in walk(body):
        why = _why_not(part, own, summaries)
        if why is not None:
            return Reason("STP002", why, part.span)
        if not isinstance(part, ExprStmt):
            continue
        target = _target(part.expr)
        root = None if target is None else root_symbol(target)
        if target is None or root in own:
            continue
        inner = [one for one in walk(part.expr) if id(one) in effects and one is not peel(part.expr)]
        if root is None or inner:
            return Reason("STP002", "a statement stores, and does something else besides", part.span)
        stores.append(OneStore(part, root))
    seen = {id(peel(one.stmt.expr)) for one in stores}
    for one in effects.values():
        target = _target(one)
        if id(one) not in seen and (target is None or root_symbol(target) not in own):
            return Reason("STP002", "something is stored inside an expression", one.span)
    return tuple(stores)


def _why_not(part: Node, own: frozenset[Symbol], summaries: Summaries) -> str | None:
    if isinstance(part, Verbatim | VerbatimExpr | Switch):
        return "lanes of a warp do not share loops beside a statement of this kind"
    if isinstance(part, Call) and not only_computes(part, summaries):
        return "a function that does more than compute is called"
    if isinstance(part, VarDecl) and isinstance(part.symbol.type, Pointer):
        return f"'{part.symbol.name}' is a pointer of each thread's own"
    return None


def _target(expr: Node) -> Expr | None:
    """Return what an expression changes by itself."""
    inner = peel(expr) if isinstance(expr, Expr) else expr
    if isinstance(inner, Assign):
        return inner.target
    return inner.operand if isinstance(inner, Unary) and has_effect(inner) else None


# --- one loop


def judge_loop(loop: For, question: SharingQuestion) -> JudgedLoop | Reason:
    """Say whether lanes may go through one loop of a thread's body together."""
    found = scalar_reductions(loop)
    inside = {id(part) for part in walk(loop)}
    stores = [one for one in question.stores if id(one.stmt) in inside]
    why = _why_not_counted(loop) or _why_not_changed(loop, stores, question)
    why = why or _why_not_carried(loop, {one.variable for one in found}, question.body)
    reasons = [w for one in found if (w := _why_not_combined(one, precise=question.precise)) is not None]
    if why is None and not found and not stores:
        why = "the loop combines nothing, and stores nothing: it has nothing that lanes could share"
    if why is not None or reasons:
        return Reason("STP002", why or reasons[0], loop.header)
    return JudgedLoop(loop, tuple(_accumulator(one) for one in found), bool(stores))


def _why_not_changed(loop: For, stores: Sequence[OneStore], question: SharingQuestion) -> str | None:
    if ends_early(loop.body):
        return "the loop may end early"
    stored = {id(peel(one.stmt.expr)) for one in stores}
    for part in walk(loop):
        target = _target(part) if has_effect(part) and id(part) not in stored else None
        # an array of the thread is in every lane, which has some iterations only
        if target is not None and not (isinstance(root := peel(target), Name) and root.symbol in question.own):
            return "the loop changes an array of each thread's own"
    if stores and not question.independent(loop):
        return "the loop stores to memory, and its iterations are not known to be independent there"
    return None


def _why_not_carried(loop: For, combined: set[Symbol], body: Stmt) -> str | None:
    declared = {part.symbol for part in walk(loop.body) if isinstance(part, VarDecl)}
    counters = {part.variable for part in walk(loop) if isinstance(part, For)}
    private = written_symbols(loop.body) - combined - declared - counters
    carried = next((s for s in private if not _is_set_anew(s, loop, body)), None)
    shared = {s for s in counters | declared if _count(s, body) != _count(s, loop)}
    live = next((s for s in shared if not _is_counted(s, body)), None)
    one = live if carried is None else carried
    if one is None:
        return None
    return f"'{one.name}' goes on from one iteration of the loop to the next, or is used behind it"


def _why_not_counted(loop: For) -> str | None:
    type, bound = loop.variable.type, loop.bound.type
    if loop.step < 1 or loop.relation not in ("<", "<="):
        return "the loop does not count up to its bound"
    if not isinstance(type, Scalar) or not isinstance(bound, Scalar) or type.bits < 32:
        return "the loop has a narrow counter"
    first = constant(loop.lower)
    if type.kind != bound.kind and constant(loop.bound) is None and (first is None or first < 0):
        return "the loop compares a signed number with an unsigned one"
    return None


def _is_set_anew(symbol: Symbol, loop: For, body: Stmt) -> bool:
    """Whether each iteration sets a variable before it uses it, and nothing outside of the loop uses it."""
    if _count(symbol, body) != _count(symbol, loop):
        return False
    first = next((s for s in statements_of(loop.body) if _count(symbol, s)), None)
    if not isinstance(first, ExprStmt):
        return False
    inner = peel(first.expr)
    if not isinstance(inner, Assign) or inner.op != "=":
        return False
    target = peel(inner.target)
    return isinstance(target, Name) and target.symbol == symbol and not _count(symbol, inner.value)


def _is_counted(symbol: Symbol, body: Stmt) -> bool:
    """Whether every use of a counter in a body is inside of a loop that counts with it."""
    counting = [part for part in walk(body) if isinstance(part, For) and part.variable == symbol]
    inside = {id(use) for loop in counting for part in (loop.body, loop.bound) for use in names(part)}
    return all(id(use) in inside for use in names(body) if use.symbol == symbol)


def _count(symbol: Symbol, node: Node) -> int:
    return sum(1 for use in names(node) if use.symbol == symbol)


def _why_not_combined(one: Reduction, *, precise: bool) -> str | None:
    type = one.variable.type
    if one.companions or one.location is not None or one.op not in _COMBINED:
        return f"lanes cannot combine '{one.variable.name}' by its operation alone"
    if not isinstance(type, Scalar) or type.volatile or type.bits > 64 or not (is_float(type) or is_integer(type)):
        return f"'{one.variable.name}' has a type that lanes cannot combine"
    if precise and is_float(type) and one.op in _ROUNDED:
        return f"--precise-fp keeps the order in which '{one.variable.name}' is summed"
    return None


def _accumulator(one: Reduction) -> Accumulator:
    type = one.variable.type
    assert isinstance(type, Scalar), "judged before"
    plain = Scalar(type.name, type.bits, type.kind)
    element = Name(span=one.span, type=one.variable.type, symbol=one.variable)
    return Accumulator(one.op, one.variable, "sum", plain, element, ())
