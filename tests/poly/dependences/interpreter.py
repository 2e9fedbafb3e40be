"""Runs functions over scalars, and tells an observer of every read and write: the oracle for scalar analyses."""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol

from msgspec import Struct, field

from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Break,
    Cast,
    Conditional,
    Continue,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Literal,
    Loop,
    MacroUse,
    Name,
    Return,
    Stmt,
    Switch,
    Unary,
    While,
)
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import peel


class Observer(Protocol):
    def read(self, name: Name, value: int) -> None: ...
    def write(self, symbol: Symbol) -> None: ...
    def enter(self, loop: Loop) -> None: ...
    def iteration(self, loop: Loop, ended: bool) -> None: ...
    def leave(self, loop: Loop) -> None: ...
    def after(self, stmt: Stmt) -> None: ...


class OutOfFuelError(Exception):
    pass


class _JumpError(Exception):
    pass


class _BreakError(_JumpError):
    pass


class _ContinueError(_JumpError):
    pass


class _ReturnError(_JumpError):
    pass


class Machine(Struct):
    observer: Observer
    values: dict[Symbol, int] = field(default_factory=dict)
    fuel: int = 3000

    def run(self, function: Function) -> None:
        """Run the function; raises OutOfFuelError."""
        with suppress(_ReturnError):
            self.statement(function.body)

    def statement(self, stmt: Stmt) -> None:
        self.fuel -= 1
        if self.fuel < 0:
            raise OutOfFuelError
        self._do(stmt)
        self.observer.after(stmt)

    def _do(self, stmt: Stmt) -> None:
        match stmt:
            case Block():
                for inner in stmt.statements:
                    self.statement(inner)
            case DeclStmt():
                for symbol, init in ((d.symbol, d.init) for d in stmt.declarations):
                    self._set(symbol, self.value(init)) if init is not None else None
            case If():
                chosen = stmt.then if self.value(stmt.condition) else stmt.other
                if chosen is not None:
                    self.statement(chosen)
            case For():
                self._for(stmt)
            case While():
                self._while(stmt)
            case Switch():
                self._switch(stmt)
            case _:
                self._simple(stmt)

    def _simple(self, stmt: Stmt) -> None:
        match stmt:
            case ExprStmt():
                self.value(stmt.expr)
            case Break():
                raise _BreakError
            case Continue():
                raise _ContinueError
            case Return():
                if stmt.value is not None:
                    self.value(stmt.value)
                raise _ReturnError
            case _:
                assert isinstance(stmt, Empty), type(stmt)

    def _body(self, loop: Loop) -> bool:
        """Run the body once; False after a break."""
        self.observer.iteration(loop, ended=False)
        try:
            self.statement(loop.body)
        except _ContinueError:
            pass
        except _BreakError:
            self.observer.iteration(loop, ended=True)
            return False
        return True

    def _for(self, loop: For) -> None:
        self._set(loop.variable, self.value(loop.lower))
        self.observer.enter(loop)
        name = Name(span=loop.span, type=loop.variable.type, symbol=loop.variable)
        test = Binary(span=loop.span, type=loop.variable.type, op=loop.relation, left=name, right=loop.bound)
        while self.value(test) and self._body(loop):
            self.observer.iteration(loop, ended=True)
            self.values[loop.variable] += loop.step
        self.observer.leave(loop)

    def _while(self, loop: While) -> None:
        if loop.init is not None:
            self._do(loop.init)
        self.observer.enter(loop)
        while True:
            self.observer.iteration(loop, ended=False)
            if loop.form != "do" and loop.condition is not None and not self.value(loop.condition):
                break
            try:
                self.statement(loop.body)
            except _ContinueError:
                pass
            except _BreakError:
                break
            if loop.form == "do":
                if loop.condition is not None and not self.value(loop.condition):
                    self.observer.iteration(loop, ended=True)
                    break
            elif loop.advance is not None:
                self.value(loop.advance)
            self.observer.iteration(loop, ended=True)
        self.observer.leave(loop)

    def _switch(self, switch: Switch) -> None:
        value = self.value(switch.value)
        labels = [[None if label is None else self.value(label) for label in case.labels] for case in switch.cases]
        start = next((k for k, each in enumerate(labels) if value in each), None)
        if start is None:
            start = next((k for k, each in enumerate(labels) if None in each), len(labels))
        try:
            for case in switch.cases[start:]:
                for stmt in case.body:
                    self.statement(stmt)
        except _BreakError:
            pass

    def _set(self, symbol: Symbol, value: int) -> int:
        self.values[symbol] = _wrapped(value)
        self.observer.write(symbol)
        return self.values[symbol]

    def value(self, expr: Expr) -> int:
        match expr:
            case Literal():
                assert isinstance(expr.value, int)
                return expr.value
            case Name():
                value = self.values.setdefault(expr.symbol, 7)
                self.observer.read(expr, value)
                return value
            case MacroUse():
                return self.value(expr.expansion)
            case Cast():
                return self.value(expr.operand)
            case Conditional():
                return self.value(expr.then if self.value(expr.condition) else expr.other)
            case Unary():
                return self._unary(expr)
            case Binary():
                return self._binary(expr)
            case Assign():
                return self._assign(expr)
            case _:
                raise AssertionError(type(expr))

    def _unary(self, expr: Unary) -> int:
        value = self.value(expr.operand)
        if "++" in expr.op or "--" in expr.op:
            target = peel(expr.operand)
            assert isinstance(target, Name)
            new = self._set(target.symbol, value + (1 if "++" in expr.op else -1))
            return new if expr.op.endswith("x") else value
        return {"-": -value, "+": value, "~": ~value, "!": int(not value)}[expr.op]

    def _binary(self, expr: Binary) -> int:
        left = self.value(expr.left)
        if expr.op == "&&":
            return int(bool(left) and bool(self.value(expr.right)))
        if expr.op == "||":
            return int(bool(left) or bool(self.value(expr.right)))
        return computed(expr.op, left, self.value(expr.right))

    def _assign(self, expr: Assign) -> int:
        target = peel(expr.target)
        assert isinstance(target, Name)
        if expr.op == "=":
            return self._set(target.symbol, self.value(expr.value))
        value = self.value(expr.value)
        return self._set(target.symbol, computed(expr.op[:-1], self.value(expr.target), value))


def _wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def computed(op: str, a: int, b: int) -> int:
    match op:
        case "+":
            return _wrapped(a + b)
        case "-":
            return _wrapped(a - b)
        case "*":
            return _wrapped(a * b)
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case ",":
            return b
        case _:
            tests = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}
            return int(tests[op])
