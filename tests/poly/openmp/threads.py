"""Runs a function as OpenMP threads would, in the order that a seed picks: the oracle for what a pragma claims.

Every access of memory is a point at which another thread may go on. Each thread has its own copies of what the clauses
name, with garbage in the private ones; what reduces starts at the neutral element and is combined at the end. Without
a seed the function runs on one thread, as if it had no pragmas, and every access of the claimed loop is recorded with
its iteration. All numbers are integers, so that orders of sums make no difference.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping

from msgspec import Struct, field

from warpsmith.poly.claimed import marked_statements
from warpsmith.tree.claims import Claim
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Conditional,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Index,
    Literal,
    Name,
    Pragma,
    Return,
    Stmt,
    Unary,
    VarDecl,
)
from warpsmith.tree.types import Array, Symbol
from warpsmith.tree.walk import peel

Cell = tuple[str, int]
Steps = Generator[None, None, int]
NEUTRAL = {"+": 0, "*": 1, "max": -(10**9), "min": 10**9, "&": -1, "|": 0, "^": 0, "&&": 1, "||": 0}


class Access(Struct):
    """One access of an iteration of the claimed loop."""

    iteration: tuple[int, ...]
    cell: Cell
    write: bool


class Thread(Struct):
    """Who runs: the objects that its names stand for, and the iteration it is in."""

    names: dict[Symbol, str]
    iteration: tuple[int, ...] = ()
    calm: int = 0


class Machine(Struct, dict=True):
    """One run of `function`; `seed` None: on one thread."""

    function: Function
    claim: Claim
    sizes: Mapping[str, int]
    seed: int | None = None
    memory: dict[Cell, int] = field(default_factory=dict)
    trace: list[Access] = field(default_factory=list)
    made: int = 0
    result: int | None = None

    def run(self) -> dict[Cell, int]:
        """Return the arrays as the function leaves them, and what it returns."""
        self.random = random.Random(self.seed)
        thread = Thread({})
        for symbol in self.function.parameters:
            thread.names[symbol] = symbol.name
            if symbol.name in self.sizes:
                self.memory[symbol.name, 0] = self.sizes[symbol.name]
        for _ in self.stmt(self.function.body, thread):
            pass
        kept = {s.name for s in self.function.parameters} - set(self.sizes)
        return {c: v for c, v in self.memory.items() if c[0] in kept} | {("", 0): self.result or 0}

    # --- statements

    def stmt(self, stmt: Stmt, thread: Thread) -> Steps:
        match stmt:
            case Block(statements=parts):
                for part in parts:
                    yield from self.guarded(part, thread)
            case DeclStmt(declarations=declared):
                for one in declared:
                    yield from self.declare(one, thread)
            case If(condition=condition, then=then, other=other):
                chosen = then if (yield from self.value(condition, thread)) else other
                if chosen is not None:
                    yield from self.stmt(chosen, thread)
            case For():
                yield from self.loop(stmt, thread)
            case ExprStmt() | Return():
                yield from self.simple(stmt, thread)
            case Empty() | Pragma():
                pass
            case _:
                raise AssertionError(type(stmt))
        return 0

    def simple(self, stmt: ExprStmt | Return, thread: Thread) -> Steps:
        if isinstance(stmt, ExprStmt):
            yield from self.value(stmt.expr, thread)
        else:
            self.result = 0 if stmt.value is None else (yield from self.value(stmt.value, thread))
        return 0

    def guarded(self, stmt: Stmt, thread: Thread) -> Steps:
        """What is atomic or critical is done without another thread in between."""
        protected = any(p.statement is stmt for p in self.claim.protected)
        thread.calm += protected
        yield from self.stmt(stmt, thread)
        thread.calm -= protected
        return 0

    def declare(self, one: VarDecl, thread: Thread) -> Steps:
        self.made += 1
        thread.names[one.symbol] = f"{one.symbol.name}#{self.made}"
        if one.init is not None:
            self.memory[thread.names[one.symbol], 0] = yield from self.value(one.init, thread)
        return 0

    def loop(self, loop: For, thread: Thread) -> Steps:
        if loop.declares:
            self.made += 1
            thread.names[loop.variable] = f"{loop.variable.name}#{self.made}"
        claimed = self.claim.loops[:1] == (loop,)
        if claimed and self.seed is not None:
            yield from self.threads(thread)
            return 0
        shared = dict(thread.names)
        if thread.iteration and self.seed is not None:
            self.own_inside(loop, thread)
        yield from self.rounds(loop, thread)
        thread.names |= shared
        return 0

    def own_inside(self, loop: For, thread: Thread) -> None:
        """Give the thread variables of its own while it runs a loop inside the claimed one: what its pragma lists."""
        pragmas = next((found for found, stmt in marked_statements(self.function.body) if stmt is loop), ())
        listed = {n for p in pragmas if p.directive is not None for n in p.directive.list_variables("private")}
        for symbol in [s for s in thread.names if s.name in listed]:
            self.made += 1
            thread.names[symbol] = f"{symbol.name}#{self.made}"

    def rounds(self, loop: For, thread: Thread) -> Steps:
        at = yield from self.value(loop.lower, thread)
        while True:
            yield from self.store((thread.names[loop.variable], 0), at, thread)
            bound = yield from self.value(loop.bound, thread)
            if not _computed(loop.relation, at, bound):
                break
            before = thread.iteration
            if loop in self.claim.loops:
                thread.iteration = (*before, at)
            yield from self.stmt(loop.body, thread)
            thread.iteration = before
            at += loop.step
        return 0

    # --- threads

    def threads(self, master: Thread) -> Steps:
        """Run the claimed loops on three threads, each with its iterations in their order."""
        points = yield from self.points(self.claim.loops, master)
        team = [Thread(self.own(master)) for _ in range(3)]
        shares: list[list[tuple[int, ...]]] = [[], [], []]
        for point in points:
            self.random.choice(shares).append(point)
        starts = {point: self.linear_starts(master, number) for number, point in enumerate(points)}
        running = [self.share(thread, share, starts) for thread, share in zip(team, shares, strict=True)]
        live = list(zip(team, running, strict=True))
        while live:
            thread, steps = self.random.choice(live)
            while True:
                try:
                    next(steps)
                except StopIteration:
                    live.remove((thread, steps))
                    break
                if not thread.calm:
                    break
        self.join(master, team, [bool(points) and points[-1] in share for share in shares])
        yield
        return 0

    def own(self, master: Thread) -> dict[Symbol, str]:
        names = dict(master.names)
        counters = {loop.variable for loop in self.claim.loops}
        for symbol in self.claim.owned | counters:
            self.made += 1
            names[symbol] = f"{symbol.name}#{self.made}"
            if symbol in self.claim.firstprivate:
                for (name, index), value in list(self.memory.items()):
                    if name == master.names[symbol]:
                        self.memory[names[symbol], index] = value
            elif symbol in self.claim.reductions:
                self.memory[names[symbol], 0] = NEUTRAL[self.claim.reductions[symbol]]
        return names

    def linear_starts(self, master: Thread, number: int) -> dict[Symbol, int]:
        """Return what the linear variables hold at the start of an iteration."""
        found: dict[Symbol, int] = {}
        for clause in (c for c in self.claim.directive.clauses if c.name == "linear"):
            listed = {item.name for item in clause.variables}
            for symbol in (s for s in self.claim.linear if s.name in listed):
                found[symbol] = self.load_now((master.names[symbol], 0)) + number * int(clause.argument or "1")
        return found

    def share(
        self, thread: Thread, points: list[tuple[int, ...]], starts: Mapping[tuple[int, ...], Mapping[Symbol, int]]
    ) -> Steps:
        for point in points:
            for symbol, value in starts[point].items():
                self.memory[thread.names[symbol], 0] = value
            thread.iteration = point
            for loop, number in zip(self.claim.loops, point, strict=True):
                self.memory[thread.names[loop.variable], 0] = number
            yield from self.stmt(self.claim.loops[-1].body, thread)
        return 0

    def points(self, loops: tuple[For, ...], master: Thread) -> Generator[None, None, list[tuple[int, ...]]]:
        loop, found = loops[0], list[tuple[int, ...]]()
        if loop.variable not in master.names or loop.declares:
            self.made += 1
            master.names[loop.variable] = f"{loop.variable.name}#{self.made}"
        kept = self.memory.get((master.names[loop.variable], 0))
        at = yield from self.value(loop.lower, master)
        while _computed(loop.relation, at, (yield from self.value(loop.bound, master))):
            self.memory[master.names[loop.variable], 0] = at
            inner = [()] if len(loops) == 1 else (yield from self.points(loops[1:], master))
            found += [(at, *rest) for rest in inner]
            at += loop.step
        if kept is not None:
            self.memory[master.names[loop.variable], 0] = kept
        return found

    def join(self, master: Thread, team: list[Thread], last: list[bool]) -> None:
        for symbol, op in self.claim.reductions.items():
            cell = master.names[symbol], 0
            for thread in team:
                self.memory[cell] = _computed(op, self.memory.get(cell, 0), self.memory[thread.names[symbol], 0])
        for symbol in self.claim.lastprivate | self.claim.linear:
            for thread, is_last in zip(team, last, strict=True):
                if is_last:
                    self.memory[master.names[symbol], 0] = self.load_now((thread.names[symbol], 0))

    # --- memory and expressions

    def load_now(self, cell: Cell) -> int:
        if cell in self.memory:
            return self.memory[cell]
        garbage = "#" in cell[0] and self.seed is not None
        return self.random.randint(-999, 999) if garbage else (sum(map(ord, cell[0])) * 7 + cell[1] * 3) % 11

    def load(self, cell: Cell, thread: Thread) -> Steps:
        yield
        if thread.iteration:
            self.trace.append(Access(thread.iteration, cell, False))
        return self.load_now(cell)

    def store(self, cell: Cell, value: int, thread: Thread) -> Steps:
        yield
        if thread.iteration:
            self.trace.append(Access(thread.iteration, cell, True))
        self.memory[cell] = value
        return value

    def place(self, target: Expr, thread: Thread) -> Generator[None, None, Cell]:
        target = peel(target)
        if isinstance(target, Name):
            return thread.names[target.symbol], 0
        assert isinstance(target, Index)
        index = yield from self.value(target.index, thread)
        base = peel(target.base)
        if isinstance(base, Index):
            row = yield from self.value(base.index, thread)
            index, base = index + 100 * row, peel(base.base)
        assert isinstance(base, Name)
        return thread.names[base.symbol], index

    def value(self, expr: Expr, thread: Thread) -> Steps:
        expr = peel(expr)
        match expr:
            case Literal(value=int(number)):
                return number
            case Name() | Index():
                assert not isinstance(expr.type, Array)
                return (yield from self.load((yield from self.place(expr, thread)), thread))
            case Assign(op=op, target=target, value=value):
                new = yield from self.value(value, thread)
                cell = yield from self.place(target, thread)
                if op != "=":
                    new = _computed(op[:-1], (yield from self.load(cell, thread)), new)
                return (yield from self.store(cell, new, thread))
            case Unary(op=("x++" | "x--" | "++x" | "--x") as op, operand=operand):
                cell = yield from self.place(operand, thread)
                old = yield from self.load(cell, thread)
                return (yield from self.store(cell, old + (1 if "+" in op else -1), thread))
            case Unary(op="-", operand=operand):
                return -(yield from self.value(operand, thread))
            case Conditional(condition=condition, then=then, other=other):
                chosen = then if (yield from self.value(condition, thread)) else other
                return (yield from self.value(chosen, thread))
            case Binary(op=("&&" | "||") as op, left=left, right=right):
                one = bool((yield from self.value(left, thread)))
                return int(one) if one == (op == "||") else int(bool((yield from self.value(right, thread))))
            case Binary(op=op, left=left, right=right):
                return _computed(op, (yield from self.value(left, thread)), (yield from self.value(right, thread)))
            case _:
                raise AssertionError(type(expr))


def _computed(op: str, left: int, right: int) -> int:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" | "%":
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return quotient if op == "/" else left - quotient * right
        case "max" | "min":
            return max(left, right) if op == "max" else min(left, right)
        case "&":
            return left & right
        case "|":
            return left | right
        case "^":
            return left ^ right
        case "&&" | "||":
            return int(bool(left and right) if op == "&&" else bool(left or right))
        case _:
            tests = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}
            return int({**tests, "==": left == right, "!=": left != right}[op])
