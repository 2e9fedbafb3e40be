"""The oracle for whole functions: runs one, records every access, and says for which entries a loop carries a conflict.

    for (i) { … t = a[i]; b[i] = t; … }        entry of the loop ──► cell ──► iterations that read it, that write it

A loop is parallel when in none of its entries two iterations touch one element with one of them writing. A scalar is
private to an iteration that writes it first, and an object that an iteration declares is another one in each. A scalar
that is read after the loop must be written by the last iteration, and no iteration may leave the loop. Nothing is
decided by reasoning, so a conflict that data decide is only seen where the data make it happen: run with several.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress

from msgspec import Struct, field

from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Index,
    Literal,
    Loop,
    Name,
    Return,
    Stmt,
    Unary,
    VarDecl,
    While,
)
from warpsmith.tree.types import Array, Symbol
from warpsmith.tree.walk import peel

__all__ = ["Cell", "Entry", "run"]

Number = int | float
# the object (a local one has a number that each declaration makes anew), and where in it
Cell = tuple[str, int, int]
Data = Callable[[str, int], Number]


class Entry(Struct, eq=False):
    """One execution of a loop: `names` are the integers in sight; `bad`: two of its iterations conflict."""

    loop: Loop
    names: dict[str, int]
    now: int = -1
    left: bool = False
    flows: bool = False
    readers: dict[Cell, set[int]] = field(default_factory=lambda: defaultdict(set))
    writers: dict[Cell, set[int]] = field(default_factory=lambda: defaultdict(set))
    owners: dict[Cell, set[int]] = field(default_factory=lambda: defaultdict(set))

    def touch(self, cell: Cell, *, write: bool, scalar: bool) -> None:
        if self.now in self.owners[cell]:
            return
        if scalar and write and self.now not in self.readers[cell]:
            self.owners[cell].add(self.now)
            return
        (self.writers if write else self.readers)[cell].add(self.now)

    @property
    def repeats(self) -> bool:
        return self.now > 0

    @property
    def bad(self) -> bool:
        if self.left or self.flows:
            return True
        if any(mine and self.readers[cell] for cell, mine in self.owners.items()):
            return True
        return any(len(mine | self.readers[cell]) > 1 for cell, mine in self.writers.items())


class _BreakError(Exception):
    pass


class _ReturnError(Exception):
    pass


def run(function: Function, sizes: Mapping[str, int], data: Data) -> list[Entry]:
    """Run a function whose integer parameters are `sizes` on arrays that start as `data(name, element)`."""
    machine = _Machine(dict(sizes), data)
    with suppress(_ReturnError):
        machine.statement(function.body)
    return machine.entries


class _Machine:
    def __init__(self, sizes: dict[str, int], data: Data) -> None:
        self.sizes, self.data = sizes, data
        self.memory: dict[Cell, Number] = {}
        self.objects: dict[Symbol, int] = {}
        self.counters: dict[Symbol, int] = {}
        self.entries: list[Entry] = []
        self.open: list[Entry] = []
        # loops that are over, whose last iteration did not write the scalar: nobody may read it
        self.pending: dict[Cell, list[Entry]] = {}

    # --- statements

    def statement(self, stmt: Stmt) -> None:
        match stmt:
            case Block():
                for inner in stmt.statements:
                    self.statement(inner)
            case DeclStmt():
                for declaration in stmt.declarations:
                    self.declare(declaration)
            case ExprStmt():
                self.value(stmt.expr)
            case If():
                chosen = stmt.then if self.value(stmt.condition) else stmt.other
                if chosen is not None:
                    self.statement(chosen)
            case For():
                self.counted(stmt)
            case While():
                self.loop(stmt)
            case _:
                self.jump(stmt)

    def declare(self, declaration: VarDecl) -> None:
        """Make a new object."""
        self.objects[declaration.symbol] = self.objects.get(declaration.symbol, 0) + 1
        if declaration.init is not None:
            self.store(self.scalar(declaration.symbol), self.value(declaration.init), scalar=True)

    def jump(self, stmt: Stmt) -> None:
        if isinstance(stmt, Break):
            raise _BreakError
        assert isinstance(stmt, Return), type(stmt)
        if stmt.value is not None:
            self.value(stmt.value)
        raise _ReturnError

    def counted(self, loop: For) -> None:
        first, entry = self.value(loop.lower), self.enter(loop)
        assert isinstance(first, int)
        at, last = first, self.value(loop.bound)
        while _computed(loop.relation, at, last):
            self.counters[loop.variable] = at
            if not self.body(entry, loop.body):
                break
            at += loop.step
        self.counters[loop.variable] = at
        self.leave(entry)

    def loop(self, loop: While) -> None:
        if loop.init is not None:
            self.statement(loop.init)
        entry = self.enter(loop)
        while loop.condition is None or self.value(loop.condition):
            if not self.body(entry, loop.body):
                break
            if loop.advance is not None:
                self.value(loop.advance)
        self.leave(entry)

    def body(self, entry: Entry, body: Stmt) -> bool:
        """Run an iteration; False where it left the loop."""
        entry.now += 1
        try:
            self.statement(body)
        except _BreakError:
            entry.left = True
        except _ReturnError:
            entry.left = True
            raise
        return not entry.left

    def enter(self, loop: Loop) -> Entry:
        counters = {symbol.name: value for symbol, value in self.counters.items()}
        entry = Entry(loop, {**self.sizes, **counters})
        self.entries.append(entry)
        self.open.append(entry)
        return entry

    def leave(self, entry: Entry) -> None:
        assert self.open.pop() is entry
        for cell, mine in entry.owners.items():
            if mine and entry.now not in mine:
                self.pending.setdefault(cell, []).append(entry)

    # --- memory

    def scalar(self, symbol: Symbol) -> Cell:
        return symbol.key, self.objects.get(symbol, 0), 0

    def load(self, cell: Cell, *, scalar: bool) -> Number:
        for entry in self.open:
            entry.touch(cell, write=False, scalar=scalar)
        for entry in self.pending.get(cell, ()):
            entry.flows = True
        name = cell[0].rpartition(":")[2]
        return self.memory[cell] if cell in self.memory else self.data(name, cell[2])

    def store(self, cell: Cell, value: Number, *, scalar: bool) -> Number:
        for entry in self.open:
            entry.touch(cell, write=True, scalar=scalar)
        self.pending.pop(cell, None)
        self.memory[cell] = value
        return value

    def place(self, target: Expr) -> tuple[Cell, bool]:
        """Return the cell that an expression names, and whether it is a scalar."""
        target = peel(target)
        if isinstance(target, Name):
            return self.scalar(target.symbol), True
        assert isinstance(target, Index)
        index, base = self.value(target.index), peel(target.base)
        assert isinstance(index, int)
        if isinstance(base, Index):
            row, base = self.value(base.index), peel(base.base)
            index += int(row) * self.sizes["w"]
        assert isinstance(base, Name)
        symbol = base.symbol
        return (symbol.key, self.objects.get(symbol, 0) if isinstance(symbol.type, Array) else 0, index), False

    # --- expressions

    def value(self, expr: Expr) -> Number:
        match expr:
            case Literal():
                assert expr.value is not None
                return expr.value
            case Name() | Index():
                return self.read(expr)
            case Cast():
                return self.value(expr.operand)
            case Conditional():
                return self.value(expr.then if self.value(expr.condition) else expr.other)
            case Binary():
                return _computed(expr.op, self.value(expr.left), self.value(expr.right))
            case Assign() | Unary() | Call():
                return self.other(expr)
            case _:
                raise AssertionError(type(expr))

    def read(self, expr: Name | Index) -> Number:
        """Return the value of a counter or a size, which nobody traces, or of a cell."""
        if isinstance(expr, Name):
            if expr.symbol in self.counters:
                return self.counters[expr.symbol]
            if expr.symbol.name in self.sizes:
                return self.sizes[expr.symbol.name]
        cell, scalar = self.place(expr)
        return self.load(cell, scalar=scalar)

    def other(self, expr: Assign | Unary | Call) -> Number:
        match expr:
            case Unary(op="-"):
                return -self.value(expr.operand)
            case Unary():
                assert expr.op in ("x++", "x--"), expr.op
                cell, scalar = self.place(expr.operand)
                old = self.load(cell, scalar=scalar)
                self.store(cell, old + (1 if expr.op == "x++" else -1), scalar=scalar)
                return old
            case Call():
                name = peel(expr.function)
                assert isinstance(name, Name)
                if name.symbol.name in _STORES:
                    target, value = map(_behind, expr.arguments[:2])
                    cell, scalar = self.place(target)
                    return self.store(cell, self.value(value), scalar=scalar)
                return _FUNCTIONS[name.symbol.name](*map(self.value, expr.arguments))
            case Assign():
                return self.assigned(expr)

    def assigned(self, expr: Assign) -> Number:
        value = self.value(expr.value)
        cell, scalar = self.place(expr.target)
        if expr.op != "=":
            value = _computed(expr.op[:-1], self.load(cell, scalar=scalar), value)
        return self.store(cell, value, scalar=scalar)


def _behind(expr: Expr) -> Expr:
    """Return what `&` is taken of."""
    expr = peel(expr)
    while isinstance(expr, Cast):
        expr = peel(expr.operand)
    return peel(expr.operand) if isinstance(expr, Unary) and expr.op == "&" else expr


_STORES = ("set", "deep", "memcpy")
"""Functions that store their second argument where their first leads."""
_FUNCTIONS: Mapping[str, Callable[..., Number]] = {"fmax": max, "fmin": min, "fabs": abs}


def _computed(op: str, left: Number, right: Number) -> Number:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return math.trunc(left / right) if isinstance(left, int) and isinstance(right, int) else left / right
        case "%":
            return math.fmod(left, right) if isinstance(left, float) else int(math.fmod(left, right))
        case _:
            tests = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}
            return int({**tests, "==": left == right, "!=": left != right}[op])
