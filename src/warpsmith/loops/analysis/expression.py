"""C expressions in a step's parameters: integers, names of variables in scope, + - * and parentheses.

at="n - 2*(k + 1)"        at="kk": kk is not a variable here (did you mean k?)

sum    = term (("+" | "-") term)*
term   = factor ("*" factor)*
factor = "-" factor | "(" sum ")" | integer | name
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.loops.linear import number, use
from warpsmith.tree.nodes import Binary, Block, Case, DeclStmt, Expr, For, Function, Loop, Node, Stmt, Unary
from warpsmith.tree.types import INT, Symbol, common_type, is_integer
from warpsmith.tree.walk import children, names, walk

__all__ = ["find_declared_before", "parse", "visible"]

_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_]\w*)|(.))", re.DOTALL)
_DEEPEST = 40


def visible(function: Function, loop: Loop) -> dict[str, Symbol]:
    """Return the integer variables that can be named where `loop` stands, by their names; inner ones hide outer."""
    found: dict[str, Symbol] = {}
    for name in names(function):
        if name.symbol.storage not in ("local", "static local", "parameter", "function"):
            found[name.symbol.name] = name.symbol
    for parameter in function.parameters:
        found[parameter.name] = parameter
    for symbol in find_declared_before(function, loop):
        found[symbol.name] = symbol
    return {name: symbol for name, symbol in found.items() if is_integer(symbol.type)}


def find_declared_before(function: Function, stmt: Stmt) -> list[Symbol]:
    """Return the local variables in scope at `stmt`, outermost first."""
    found: list[Symbol] = []
    node: Node = function.body
    while node is not stmt:
        inner = next(child for child in children(node) if any(part is stmt for part in walk(child)))
        run = node.statements if isinstance(node, Block) else node.body if isinstance(node, Case) else ()
        for statement in run:
            if statement is inner:
                break
            if isinstance(statement, DeclStmt):
                found += [declaration.symbol for declaration in statement.declarations]
        if isinstance(node, For) and node.declares:
            found.append(node.variable)
        node = inner
    return found


def parse(text: str, scope: Mapping[str, Symbol], span: Span) -> Expr | str:
    """Return the expression that `text` writes, with `span`, or what is wrong with it."""
    tokens = [match.group().strip() for match in _TOKEN.finditer(text) if match.group().strip()]
    reader = _Reader(tokens, scope, span)
    try:
        result = reader.sum(0)
    except _WrongError as error:
        return str(error)
    if reader.position < len(tokens):
        return f"{text!r}: {tokens[reader.position]!r} is not expected there"
    return result


class _WrongError(Exception):
    """What is wrong, in a sentence."""


class _Reader(Struct):
    tokens: list[str]
    scope: Mapping[str, Symbol]
    span: Span
    position: int = 0

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.position += 1
        return token

    def sum(self, depth: int) -> Expr:
        left = self.term(depth)
        while self.peek() in ("+", "-"):
            left = self.join(self.take(), left, self.term(depth))
        return left

    def term(self, depth: int) -> Expr:
        left = self.factor(depth)
        while self.peek() == "*":
            left = self.join(self.take(), left, self.factor(depth))
        return left

    def join(self, op: str, left: Expr, right: Expr) -> Expr:
        return Binary(span=self.span, type=common_type(left.type, right.type), op=op, left=left, right=right)

    def factor(self, depth: int) -> Expr:
        if depth > _DEEPEST:
            raise _WrongError("the expression is nested too deeply")
        token = self.take()
        if token == "-":
            operand = self.factor(depth + 1)
            return Unary(span=self.span, type=common_type(operand.type, INT), op="-", operand=operand)
        if token == "(":
            inner = self.sum(depth + 1)
            if self.take() != ")":
                raise _WrongError("a ) is missing")
            return inner
        if token.isdecimal():
            if int(token) >= 2**63:
                raise _WrongError(f"the number {token} is too large")
            return number(int(token), self.span)
        if token[:1].isalpha() or token.startswith("_"):
            return self.name(token)
        raise _WrongError(f"{token!r} is not expected there" if token else "the expression ends too early")

    def name(self, name: str) -> Expr:
        symbol = self.scope.get(name)
        if symbol is not None:
            return use(symbol, self.span)
        near = difflib.get_close_matches(name, self.scope, n=1, cutoff=0.4)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise _WrongError(f"{name} is not an integer variable that can be named at the loop{hint}")
