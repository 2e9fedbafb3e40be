"""User assertions (`--assume`), read as text.

n >= 1, n % 32 == 0, 2*n < m      a condition on integers that do not change
parallel(f/i)                     this loop's iterations may run in any order
injective(idx)                    no two elements of idx are equal
noalias(a, b)                     a and b name different memory
same_value(a)                     threads that write one element of a at the same time write one value there
reachable(a)                      every element between the ends of what a loop may touch of a exists
full_teams(f)                     the teams of f's target constructs have all the threads that thread_limit allows
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Final

from warpsmith.poly.isl.affine import AffineReader, compare
from warpsmith.poly.isl.formula import Formula, both
from warpsmith.poly.isl.polynomial import Polynomial, atom, constant
from warpsmith.tree.program import Assumption

__all__ = ["WORDS", "condition", "grants", "names_in"]

WORDS: Final = {"parallel": 1, "injective": 1, "noalias": 2, "reachable": 1, "same_value": 1, "full_teams": 1}


_CALL: Final = re.compile(r"\s*(\w+)\s*\((.*)\)\s*")


def grants(assumptions: tuple[Assumption, ...], word: str, *arguments: str) -> Assumption | None:
    """Return the assumption `word(arguments)`, or None; blanks do not count, nor does the order of `noalias`'s."""
    wanted = sorted(arguments) if word == "noalias" else list(arguments)
    for assumption in assumptions:
        found = _CALL.fullmatch(assumption.text)
        if found is None or found[1] != word:
            continue
        given = [part.strip() for part in found[2].split(",")]
        if (sorted(given) if word == "noalias" else given) == wanted:
            return assumption
    return None


def names_in(text: str) -> tuple[str, ...] | None:
    """Return the variables, arrays or loops that an assumption speaks of; None where it is of no form that is known.

    >>> names_in("noalias(a, b)"), names_in("parallel(f/i)"), names_in("n % 32 == 0 && n >= 2*m")
    (('a', 'b'), ('f/i',), ('n', 'n', 'm'))
    >>> names_in("garbage(("), names_in("injective(a, b)"), names_in("n")
    (None, None, None)
    """
    found = _CALL.fullmatch(text)
    if found is not None:
        given = tuple(part.strip() for part in found[2].split(","))
        return given if WORDS.get(found[1]) == len(given) and all(given) else None
    parts = _comparisons(text)
    if parts is None or not all(isinstance(part, ast.Compare) for part in parts):
        return None
    nodes = [node for part in parts for node in ast.walk(part)]
    if not all(isinstance(node, _READ) for node in nodes if isinstance(node, ast.expr | ast.operator | ast.cmpop)):
        return None
    return tuple(node.id for node in nodes if isinstance(node, ast.Name))


def _comparisons(text: str) -> list[ast.expr] | None:
    """Return the conditions that `&&` joins, None where the text cannot be read."""
    try:
        tree = ast.parse(text.strip().replace("&&", " and "), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    return tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]


def condition(text: str, names: Mapping[str, str], affine: AffineReader) -> Formula | None:
    """Return an affine comparison as a formula over the atoms that `names` gives for the user's names, or None."""
    parts = _comparisons(text)
    if parts is None:
        return None
    formulas = [_compare(part, names, affine) for part in parts]
    known = [f for f in formulas if f is not None]
    return both(known) if len(known) == len(formulas) else None


_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


_READ: Final = (
    ast.Compare, ast.Name, ast.Constant, ast.UnaryOp, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Mod,
    *_OPERATORS,
)  # fmt: skip
"""What a condition may be made of."""


def _compare(node: ast.expr, names: Mapping[str, str], affine: AffineReader) -> Formula | None:
    if not isinstance(node, ast.Compare):
        return None
    sides = [_value(side, names, affine) for side in (node.left, *node.comparators)]
    parts: list[Formula] = []
    for op, a, b in zip(node.ops, sides, sides[1:], strict=False):
        if type(op) not in _OPERATORS or a is None or b is None:
            return None
        parts.append(compare(_OPERATORS[type(op)], a, b))
    return affine.vocabulary.linear_formula(both(parts))


def _value(node: ast.expr, names: Mapping[str, str], affine: AffineReader) -> Polynomial | None:
    match node:
        case ast.Constant(value=int(number)):
            return constant(number)
        case ast.Name(id=name) if name in names:
            return atom(names[name])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _value(operand, names, affine)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _value(left, names, affine), _value(right, names, affine)
            return None if a is None or b is None else _binary(op, a, b, affine)
        case _:
            return None


def _binary(op: ast.operator, a: Polynomial, b: Polynomial, affine: AffineReader) -> Polynomial | None:
    match op:
        case ast.Add():
            return a + b
        case ast.Sub():
            return a - b
        case ast.Mult():
            return a * b
        case ast.Mod() if b.number is not None and b.number > 0:
            quotient = affine.quotient(a, b.number, floor=False)
            return None if quotient is None else a - quotient.scale(b.number)
        case _:
            return None
