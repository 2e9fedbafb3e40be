"""Statements and expressions of a kernel in Brook+, which are C's but for places, arrays and constants.

a[i], a written, i the thread's place      a            the element of the out stream
b[e], b read                               b[e]         a gather
1.0                                        (double)1.0f where the kernel has doubles: Brook+ takes 1.0 for a float
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Final

from warpsmith.targets.brook.names import FUNCTIONS, RESERVED, type_name
from warpsmith.targets.brook.places import BrookAccess, StreamPlaces, bare, keeps_number
from warpsmith.targets.brook.refused import refuse_brook
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    Function,
    If,
    Index,
    Literal,
    MacroUse,
    Name,
    Return,
    Stmt,
    Unary,
    VarDecl,
    While,
)
from warpsmith.tree.types import DOUBLE, FLOAT, Pointer, Scalar, Symbol
from warpsmith.tree.walk import walk

__all__ = ["BrookWriter"]

_INDENT: Final = "    "


class BrookWriter:
    """Writes the body of a function; `called` is asked for the name of one of the file that is called."""

    def __init__(self, function: Function, places: StreamPlaces | None, called: Callable[[Symbol, Call], str]) -> None:
        self.places, self.called = places, called
        inside = (node.symbol for node in walk(function.body) if isinstance(node, VarDecl))
        self._taken = {symbol.name for symbol in (*function.parameters, *inside)}
        self.read: dict[str, Symbol] = {}
        self._names: dict[str, str] = {}

    def name(self, symbol: Symbol) -> str:
        """Return what a variable is called; one of a name that Brook+ has gets another one."""
        if symbol.name not in RESERVED:
            return symbol.name
        if symbol.key not in self._names:
            self._names[symbol.key] = self.fresh(f"{symbol.name}_")
        return self._names[symbol.key]

    def fresh(self, name: str) -> str:
        """Return a name that no variable has."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    # --- statements

    def lines(self, one: Stmt, depth: int) -> Iterator[str]:
        """Yield the lines of a statement; raises InputError."""
        pad = _INDENT * depth
        match one:
            case Block():
                yield f"{pad}{{"
                for inner in one.statements:
                    yield from self.lines(inner, depth + 1)
                yield f"{pad}}}"
            case DeclStmt():
                yield from (f"{pad}{self._declare(declared)};" for declared in one.declarations)
            case ExprStmt():
                yield f"{pad}{self._whole(one.expr)};"
            case If():
                yield f"{pad}if ({self.text(one.condition)})"
                yield from self._nested(one.then, depth)
                if one.other is not None:
                    yield f"{pad}else"
                    yield from self._nested(one.other, depth)
            case While():
                yield from self._loop(one, depth)
            case Break() | Continue() | Empty():
                yield f"{pad}{'break' if isinstance(one, Break) else 'continue' if isinstance(one, Continue) else ''};"
            case Return():
                yield f"{pad}return{f' {self.text(one.value)}' if one.value is not None else ''};"
            case _:
                raise refuse_brook(f"Brook+ has no {getattr(one, 'reason', '') or 'such statement'}", one.span)

    def _nested(self, one: Stmt, depth: int) -> Iterator[str]:
        yield from self.lines(one, depth + (not isinstance(one, Block)))

    def _declare(self, one: VarDecl) -> str:
        if one.symbol.space:
            raise refuse_brook(f"{one.symbol.name} is shared by a block, and Brook+ has no blocks", one.span)
        type = type_name(one.symbol.type, one.span, one.symbol.name)
        axis = self.places.axis(one.init) if one.init is not None and self.places is not None else ""
        text = self._place(None, axis) if axis and one.init else self.text(one.init) if one.init else ""
        init = f" = {text}" if text else ""
        return f"{type} {self.name(one.symbol)}{init}"

    def _loop(self, loop: While, depth: int) -> Iterator[str]:
        pad = _INDENT * depth
        condition = self.text(loop.condition) if loop.condition is not None else ""
        if loop.form == "do":
            yield f"{pad}do"
            yield from self._nested(loop.body, depth)
            yield f"{pad}while ({condition});"
            return
        if loop.form == "while":
            yield f"{pad}while ({condition})"
        else:
            yield f"{pad}for ({self._first(loop)}; {condition}; {self._whole(loop.advance) if loop.advance else ''})"
        yield from self._nested(loop.body, depth)

    def _first(self, loop: While) -> str:
        match loop.init:
            case None | Empty():
                return ""
            case DeclStmt() if len(loop.init.declarations) == 1:
                return self._declare(loop.init.declarations[0])
            case ExprStmt():
                return self._whole(loop.init.expr)
            case _:
                raise refuse_brook("this loop declares several variables", loop.header, "declare them before it")

    # --- expressions

    def _whole(self, e: Expr) -> str:
        """Return an expression that stands by itself."""
        e = e.expansion if isinstance(e, MacroUse) else e
        text = self.text(e)
        return text[1:-1] if isinstance(e, Assign) else text

    def text(self, e: Expr) -> str:
        """Return an expression; raises InputError."""
        axis = self.places.axis(e) if self.places is not None and not isinstance(bare(e), Name) else ""
        if axis:
            return self._place(e, axis)
        match e:
            case MacroUse():
                return self.text(e.expansion)
            case Literal():
                return self._literal(e)
            case Name():
                return self._name(e)
            case Index():
                return self._element(e)
            case Call():
                return self._call(e)
            case _:
                return self._operator(e)

    def _operator(self, e: Expr) -> str:
        match e:
            case Unary():
                return self._unary(e)
            case Binary():
                return f"({self.text(e.left)} {e.op} {self.text(e.right)})"
            case Assign():
                return f"({self.text(e.target)} {e.op} {self.text(e.value)})"
            case Conditional():
                return f"({self.text(e.condition)} ? {self.text(e.then)} : {self.text(e.other)})"
            case Cast():
                return f"({type_name(e.type, e.span, 'this conversion')}){self.text(e.operand)}"
            case _:
                raise refuse_brook(f"Brook+ has no {getattr(e, 'reason', '') or 'such expression'}", e.span)

    def _place(self, e: Expr | None, axis: str) -> str:
        """Return the thread's place along an axis; `e`: what is to have the same type, None where that is converted."""
        if axis == "z" and self.places is not None:
            raise refuse_brook("streams have two axes here, and this is a third", (e or self.places.function).span)
        unsigned = e is not None and isinstance(e.type, Scalar) and (e.type.kind, e.type.bits) == ("unsigned", 32)
        return f"(uint)instance().{axis}" if unsigned else f"instance().{axis}"

    def _literal(self, e: Literal) -> str:
        if isinstance(e.value, int) and isinstance(e.type, Scalar):
            unsigned = e.type.kind == "unsigned" and e.type.bits == 32
            type_name(e.type, e.span, "this number")
            return f"{e.value}{'u' if unsigned else ''}"
        if e.value is None or e.type not in (FLOAT, DOUBLE):
            raise refuse_brook("this is no number of Brook+", e.span)
        try:
            single: float = struct.unpack("<f", struct.pack("<f", e.value))[0]
        except OverflowError:
            single = float("inf")
        if single != e.value:
            raise refuse_brook("this is a double that no float is, and constants of Brook+ are floats", e.span, "1.5f")
        text = f"{single!r}f"
        return text if e.type == FLOAT else f"((double){text})"

    def _name(self, e: Name) -> str:
        if e.symbol.value is not None:
            return str(e.symbol.value)
        if e.symbol.storage not in ("parameter", "local") or isinstance(e.symbol.type, Pointer):
            message = f"{e.symbol.name} is no variable of the thread"
            raise refuse_brook(message, e.span, "arrays are read and written by elements: a[i]")
        type_name(e.symbol.type, e.span, e.symbol.name)
        return self.name(e.symbol)

    def _unary(self, e: Unary) -> str:
        match e.op:
            case "*":
                return self._element(e)
            case "x++" | "x--":
                return f"{self.text(e.operand)}{e.op[1:]}"
            case "++x" | "--x":
                return f"{e.op[:2]}{self.text(e.operand)}"
            case "&":
                raise refuse_brook("Brook+ has no addresses", e.span, "write to a variable")
            case _:
                return f"({e.op}{self.text(e.operand)})"

    def _element(self, e: Index | Unary) -> str:
        access = self.places.access(e) if self.places is not None else None
        if access is None or self.places is None:
            raise refuse_brook("this is an element of what is no array of the launch", e.span, "give it as a parameter")
        type_name(e.type, e.span, f"an element of {access.array.name}")
        if access.array.key in self.places.written:
            return self._own(access)
        self.read[access.array.key] = access.array
        index = access.index
        while isinstance(index, Cast) and keeps_number(index):
            index = index.operand
        return f"{self.name(access.array)}[{self.text(index) if index is not None else '0'}]"

    def _own(self, access: BrookAccess) -> str:
        assert self.places is not None
        if not self.places.is_own(access):
            message = f"{access.array.name} is written by the threads, and read at another place than the own"
            raise refuse_brook(message, access.span, "read from another array, and swap the two")
        return self.name(access.array)

    def _call(self, e: Call) -> str:
        function = bare(e.function)
        if not isinstance(function, Name):
            raise refuse_brook("Brook+ has no pointers to functions", e.span)
        name = function.symbol.name.removeprefix("__builtin_").removeprefix("std::")
        known = FUNCTIONS.get(name)
        if known is not None and function.symbol.storage == "function":
            return f"{known}({', '.join(self._as(one, e) for one in e.arguments)})"
        return f"{self.called(function.symbol, e)}({', '.join(map(self.text, e.arguments))})"

    def _as(self, one: Expr, call: Call) -> str:
        """Return an argument of a function in the type of its result, which C gives it and Brook+ would guess."""
        text = self.text(one)
        return text if one.type == call.type else f"({type_name(call.type, call.span, 'the result')}){text}"
