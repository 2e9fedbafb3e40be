"""Statements of Brook+ as trees: those of C without goto and switch.

float x = 1, y;    float4 v;    if  for  while  do  break  continue  return
in host code: T *p, T a[N], T s<Y, X>, iter T s<Y, X> = iter(first, last)
"""

from __future__ import annotations

from typing import Final

from warpsmith.front.brook.cursor import BrookCursor, BrookScope, HostStream, Variable
from warpsmith.front.brook.expressions import BrookExpressions, Callables
from warpsmith.front.brook.kinds import element_of, shown_type
from warpsmith.front.brook.operators import converted
from warpsmith.front.brook.tokens import BrookTextError, BrookWord
from warpsmith.tree.nodes import (
    Block,
    Break,
    Continue,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    If,
    InitList,
    Literal,
    Return,
    Stmt,
    VarDecl,
    While,
)
from warpsmith.tree.types import VOID, Array, Opaque, Pointer, Symbol, Type

__all__ = ["STREAM", "BrookStatements"]

STREAM: Final = Opaque("a stream")
"""The type of a stream of host code; its declaration has the extents, the slowest first, in place of a value; one that
counts has a list of the extents, and then its first and last value."""
_MOST_ELEMENTS: Final = 1 << 28


class BrookStatements(BrookExpressions):
    """Reads the body of one function. `prefix` makes keys of its variables its own; `result`: what it returns."""

    def __init__(
        self,
        cursor: BrookCursor,
        scope: BrookScope,
        callables: Callables,
        prefix: str,
        result: Type,
        *,
        host: bool = False,
    ) -> None:
        super().__init__(cursor, scope, callables, host=host)
        self.prefix, self.result = prefix, result
        self.elements: dict[str, Type] = {}
        self._loops = 0

    def block(self) -> Block:
        """Read `{ … }`."""
        cursor = self.cursor
        first = cursor.expect("{", "to begin a block")
        cursor.enter()
        self.scope.open()
        statements: list[Stmt] = []
        while not cursor.stands("}"):
            if cursor.word.kind == "end":
                raise BrookTextError(first.span, "this block has no end", "expected '}' before the end of the text")
            statements.append(self.statement())
        cursor.take()
        self.scope.close()
        cursor.leave()
        return Block(span=cursor.since(first), statements=tuple(statements))

    def statement(self) -> Stmt:
        """Read one statement."""
        cursor, first = self.cursor, self.cursor.word
        cursor.begin_statement()
        if first.kind == "word":
            match first.text:
                case "if":
                    return self._if()
                case "for" | "while" | "do":
                    return self._loop()
                case "break" | "continue":
                    return self._jump()
                case "return":
                    return self._return()
                case "goto" | "switch" | "case" | "default" | "struct" | "typedef":
                    helps = "if, for, while, do, break, continue, return"
                    raise BrookTextError(first.span, f"{first.shown} is not read here", f"expected {helps}")
                case _:
                    pass
        if cursor.stands("{"):
            return self.block()
        if cursor.accepts(";"):
            return Empty(span=first.span)
        if cursor.stands("iter") and self.host:
            return self._iterators()
        return self.declaration() if self._declares() else self._plain()

    def _declares(self) -> bool:
        word, ahead = self.cursor.word, self.cursor.ahead()
        if word.kind != "word" or ahead.text == "(":
            return False
        return word.text in ("const", "static") or word.text in self.kinds or self._looks_declared()

    def _looks_declared(self) -> bool:
        """Return whether two names stand side by side, of which the first should be a type."""
        word, ahead = self.cursor.word, self.cursor.ahead()
        if ahead.kind == "word" and self.scope.find(word.text) is None:
            raise BrookTextError(word.span, f"{word.shown} is no type of Brook+", "float, int, uint, double, float4 …")
        return False

    def _plain(self) -> Stmt:
        first = self.cursor.word
        value = self.expression()
        self.cursor.expect(";", "behind the statement")
        return ExprStmt(span=self.cursor.since(first), expr=value)

    # --- declarations

    def declaration(self) -> Stmt:
        """Read a declaration and its semicolon."""
        cursor, first = self.cursor, self.cursor.word
        cursor.begin_statement()
        cursor.accepts("static")
        type = self._base_type()
        found = [self._declarator(type)]
        while cursor.accepts(","):
            found.append(self._declarator(type))
        cursor.expect(";", "behind the declaration")
        return DeclStmt(span=cursor.since(first), declarations=tuple(found))

    def _base_type(self) -> Type:
        host, self.host = self.host, False
        try:
            return self.type_name()
        finally:
            self.host = host

    def _declarator(self, type: Type) -> VarDecl:
        cursor, first = self.cursor, self.cursor.word
        while self.host and cursor.accepts("*"):
            type = Pointer(type)
        name = cursor.expect_name("the name of a variable")
        if cursor.stands("<"):
            return self._stream(name, type)
        if cursor.stands("["):
            type = self._array(name, type)
        if type == VOID:
            raise BrookTextError(name.span, f"'{name.text}' has no type", "void is the result of functions only")
        symbol = Symbol(name.text, self.key(name), type, "local", name.span)
        init: Expr | None = None
        if cursor.accepts("="):
            init = self._initial(type)
        self.scope.declare(name, Variable(symbol))
        return VarDecl(span=cursor.since(first), symbol=symbol, init=init)

    def key(self, word: BrookWord) -> str:
        """Return a key that no other variable has."""
        return f"{self.prefix}:{word.span.start}:{self.cursor.at}:{word.text}"

    def _initial(self, type: Type) -> Expr:
        cursor = self.cursor
        if not cursor.stands("{"):
            return converted(self.assignment(), type, "the variable")
        first = cursor.take()
        items: list[Expr] = []
        while not cursor.stands("}"):
            if items:
                cursor.expect(",", "or '}' behind a value")
            of = type.of if isinstance(type, Array) else element_of(type)
            items.append(converted(self.assignment(), of, "an element"))
        cursor.take()
        return InitList(span=cursor.since(first), type=type, items=tuple(items))

    def _array(self, name: BrookWord, type: Type) -> Type:
        if not self.host:
            helps = "use float4, or give the array as a gather"
            raise BrookTextError(name.span, f"'{name.text}' is an array, and threads of kernels have none", helps)
        extents: list[Expr] = []
        while self.cursor.stands("["):
            extents.append(self._subscript())
        for extent in reversed(extents):
            known = extent.value if isinstance(extent, Literal) else None
            type = Array(type, extent, known if isinstance(known, int) else None)
        return type

    def _stream(self, name: BrookWord, type: Type, *, counts: bool = False) -> VarDecl:
        cursor = self.cursor
        if not self.host:
            helps = "kernels get their streams as parameters"
            raise BrookTextError(name.span, f"'{name.text}' is declared as a stream in a kernel", helps)
        cursor.take()
        extents: list[Expr] = []
        while not cursor.stands(">"):
            if extents:
                cursor.expect(",", "or '>' behind an extent")
            # what binds more loosely than + would take the '>' that closes the list
            extents.append(self.binary(9))
        cursor.take()
        span = cursor.since(name)
        if not extents:
            raise BrookTextError(span, f"'{name.text}' does not say how many elements it has", "float s<1024>;")
        items: tuple[Expr, ...] = tuple(extents)
        if counts:
            items = (InitList(span=span, type=STREAM, items=items), *self._ends(type))
        elif cursor.stands("="):
            raise BrookTextError(cursor.word.span, "streams have no initial value", "streamRead(s, array) fills one")
        symbol = Symbol(name.text, self.key(name), STREAM, "local", name.span)
        self.elements[symbol.key] = type
        self.scope.declare(name, HostStream(symbol, type))
        return VarDecl(span=span, symbol=symbol, init=InitList(span=span, type=STREAM, items=items))

    def _iterators(self) -> Stmt:
        """Read `iter float2 s<Y, X> = iter(first, last);`."""
        cursor, first = self.cursor, self.cursor.take()
        type = self._base_type()
        found: list[VarDecl] = []
        while not found or cursor.accepts(","):
            name = cursor.expect_name("the name of a stream")
            if not cursor.stands("<"):
                raise cursor.unexpected("'<' before the extents of the stream: iter float s<64> = iter(0, 64);")
            found.append(self._stream(name, type, counts=True))
        cursor.expect(";", "behind the declaration")
        return DeclStmt(span=cursor.since(first), declarations=tuple(found))

    def _ends(self, type: Type) -> tuple[Expr, Expr]:
        """Read `= iter(first, last)`."""
        cursor = self.cursor
        cursor.expect("=", "and iter(first, last) behind the extents")
        cursor.expect("iter", "(first, last) behind '='")
        cursor.expect("(", "behind 'iter'")
        first = converted(self.assignment(), type, "the first value")
        cursor.expect(",", "between the two values")
        last = converted(self.assignment(), type, "the last value")
        cursor.expect(")", "behind the two values")
        return first, last

    # --- control

    def _condition(self, word: str) -> Expr:
        self.cursor.expect("(", f"behind '{word}'")
        value = self.check_number(self.expression(), "a condition")
        self.cursor.expect(")", f"behind the condition of '{word}'")
        return value

    def _nested(self) -> Stmt:
        self.cursor.enter()
        self.scope.open()
        made = self.statement()
        self.scope.close()
        self.cursor.leave()
        return made

    def _if(self) -> Stmt:
        cursor, first = self.cursor, self.cursor.take()
        condition = self._condition("if")
        then = self._nested()
        other = self._nested() if cursor.accepts("else") else None
        return If(span=cursor.since(first), condition=condition, then=then, other=other)

    def _loop(self) -> Stmt:
        self._loops += 1
        self.scope.open()
        match self.cursor.word.text:
            case "for":
                made = self._for()
            case "while":
                made = self._while()
            case _:
                made = self._do()
        self.scope.close()
        self._loops -= 1
        return made

    def _for(self) -> Stmt:
        cursor, first = self.cursor, self.cursor.take()
        cursor.expect("(", "behind 'for'")
        init: Stmt | None = None
        if not cursor.accepts(";"):
            init = self.declaration() if self._declares() else self._plain()
        condition = None if cursor.stands(";") else self.check_number(self.expression(), "a condition")
        cursor.expect(";", "behind the condition of 'for'")
        advance = None if cursor.stands(")") else self.expression()
        cursor.expect(")", "behind the head of 'for'")
        header = cursor.since(first)
        body = self._nested()
        return While(
            span=cursor.since(first), form="for", init=init, condition=condition, advance=advance, body=body,
            header=header, reason="",
        )  # fmt: skip

    def _while(self) -> Stmt:
        cursor, first = self.cursor, self.cursor.take()
        condition = self._condition("while")
        header = cursor.since(first)
        body = self._nested()
        return While(
            span=cursor.since(first), form="while", init=None, condition=condition, advance=None, body=body,
            header=header, reason="",
        )  # fmt: skip

    def _do(self) -> Stmt:
        cursor, first = self.cursor, self.cursor.take()
        body = self._nested()
        cursor.expect("while", "behind the body of 'do'")
        condition = self._condition("while")
        cursor.expect(";", "behind the condition")
        return While(
            span=cursor.since(first), form="do", init=None, condition=condition, advance=None, body=body,
            header=first.span, reason="",
        )  # fmt: skip

    def _jump(self) -> Stmt:
        word = self.cursor.take()
        if not self._loops:
            raise BrookTextError(word.span, f"{word.shown} stands in no loop")
        self.cursor.expect(";", f"behind {word.shown}")
        span = self.cursor.since(word)
        return Break(span=span) if word.text == "break" else Continue(span=span)

    def _return(self) -> Stmt:
        cursor, first = self.cursor, self.cursor.take()
        value: Expr | None = None
        if not cursor.stands(";"):
            value = self.expression()
            if self.result == VOID:
                raise BrookTextError(value.span, "this function returns nothing", "write to an out stream")
            value = converted(value, self.result, "the result")
        elif self.result != VOID:
            raise BrookTextError(first.span, f"this function returns {shown_type(self.result)}", "return a value")
        cursor.expect(";", "behind 'return'")
        return Return(span=cursor.since(first), value=value)
