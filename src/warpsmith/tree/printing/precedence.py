"""Operator precedence of C, and where parentheses stand: those that the grammar needs, and those that gcc -Wall wants.

Levels, loosest first: comma 1, assignment 2, ?: 3, || 4, && 5, | 6, ^ 7, & 8, == 9, < 10, << 11, + 12, * 13,
prefix and cast 14, postfix 15, a single word 16.
"""

from __future__ import annotations

from warpsmith.tree.free_store import FREES, MAKES
from warpsmith.tree.library_texts import TEXTS
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    For,
    Index,
    InitList,
    Literal,
    MacroUse,
    Member,
    Name,
    Node,
    SizeOf,
    Unary,
    VarDecl,
    VerbatimExpr,
)

__all__ = ["ASSIGNMENT", "COMMA", "POSTFIX", "PREFIX", "PRIMARY", "level", "needs_parentheses", "slot_level"]

COMMA, ASSIGNMENT, CONDITIONAL, SHIFT, PREFIX, POSTFIX, PRIMARY = 1, 2, 3, 11, 14, 15, 16

_BINARY = {
    ",": 1, "||": 4, "&&": 5, "|": 6, "^": 7, "&": 8, "==": 9, "!=": 9, "<": 10, ">": 10, "<=": 10, ">=": 10,
    "<<": 11, ">>": 11, "+": 12, "-": 12, "*": 13, "/": 13, "%": 13,
}  # fmt: skip
_COMPARISONS = (9, 10)
_LEVELS: dict[type[Node], int] = {
    VerbatimExpr: COMMA,
    Assign: ASSIGNMENT,
    Conditional: CONDITIONAL,
    Cast: PREFIX,
    SizeOf: PREFIX,
    Call: POSTFIX,
    Index: POSTFIX,
    Member: POSTFIX,
    Name: PRIMARY,
    InitList: PRIMARY,
}
_SLOTS: dict[type[Node], int] = {Cast: PREFIX, Member: POSTFIX, InitList: ASSIGNMENT, VarDecl: ASSIGNMENT}


def level(expr: Expr) -> int:
    """Return how tightly the printed form of `expr` holds together."""
    match expr:
        case Binary():
            return _BINARY[expr.op]
        case Unary():
            return POSTFIX if expr.op.startswith("x") else PREFIX
        case Literal():
            return PREFIX if expr.text[:1] in ("-", "+") else PRIMARY
        case MacroUse():
            return level(expr.expansion)
        case Call(function=Name(symbol=symbol)) if symbol.name in MAKES | FREES:
            return PREFIX
        case _:
            return _LEVELS[type(expr)]


def slot_level(parent: Node, child: Expr) -> int:
    """Return the loosest level that may stand without parentheses where `child` stands in `parent`."""
    match parent:
        case Binary():
            own = _BINARY[parent.op]
            return own + (child is parent.right)
        case Assign():
            return PREFIX if child is parent.target else ASSIGNMENT
        case Conditional():
            return CONDITIONAL if child is parent.other else COMMA if child is parent.then else CONDITIONAL + 1
        case Unary():
            return POSTFIX if parent.op.startswith("x") else PREFIX
        case Call(function=Name(symbol=symbol)) if symbol.name in TEXTS:
            return POSTFIX
        case Call():
            return POSTFIX if child is parent.function else ASSIGNMENT
        case Index():
            return POSTFIX if child is parent.base else COMMA
        case For():
            return SHIFT if child is parent.bound else ASSIGNMENT
        case _:
            return _SLOTS.get(type(parent), COMMA)


def needs_parentheses(parent: Node, child: Expr) -> bool:
    """Whether `child`, printed inside `parent`, must or should (gcc -Wparentheses) stand in parentheses."""
    inner = level(child)
    if inner < slot_level(parent, child):
        return True
    while isinstance(child, MacroUse):
        child = child.expansion
    if isinstance(parent, Unary) and isinstance(child, Unary | Literal):
        return not parent.op.startswith("x") and inner == PREFIX and parent.op[0] in "+-&" and _first(child) in "+-&"
    return isinstance(parent, Binary) and _surprising(_BINARY[parent.op], child)


def _surprising(outer: int, child: Expr) -> bool:
    """Whether gcc suggests parentheses around `child` as an operand of a binary operator of level `outer`."""
    if isinstance(child, Unary) and child.op == "!":
        return outer in (6, 7, 8, 9, 10)
    if not isinstance(child, Binary):
        return False
    inner = _BINARY[child.op]
    if outer == 4:
        return inner == 5
    if outer in (6, 7, 8):
        return inner in (7, 8, 9, 10, 12) and inner != outer
    if outer in _COMPARISONS:
        return inner in _COMPARISONS
    return outer == 11 and inner == 12


def _first(expr: Unary | Literal) -> str:
    return expr.text[0] if isinstance(expr, Literal) else expr.op[0]
