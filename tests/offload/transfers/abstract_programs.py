"""Programs made of nothing but accesses: host uses and writes, kernels, control flow. And a machine that runs them.

The machine counts versions: a write makes a new version of the object on its side, a copy carries a version over. A use
of any version but the newest is a wrong result of the port.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence, Set

from msgspec import Struct, field

from warpsmith.base.source import SourceFile, Span
from warpsmith.offload.fragments import Draft, HostUse, OffloadRegion
from warpsmith.offload.plan import DeviceBuffer, TransferScheme
from warpsmith.offload.transfers.placement import PointAccess
from warpsmith.offload.transfers.transfers import MovedStatements, insert_copies
from warpsmith.tree.nodes import (
    Block,
    Break,
    Continue,
    Copy,
    DeviceAlloc,
    DeviceFree,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Launch,
    Literal,
    Node,
    Return,
    Stmt,
    Switch,
    While,
)
from warpsmith.tree.nodes import Case as CaseNode
from warpsmith.tree.types import DOUBLE, INT, VOID, FunctionType, Pointer, Symbol

FILE = SourceFile("abstract.c", " " * 100_000)


class Program(Struct):
    """A function body under construction: what its nodes do, and its kernels."""

    objects: tuple[str, ...] = ("x",)
    live: frozenset[str] = frozenset({"x", "y"})
    accesses: dict[tuple[Node, str], PointAccess] = field(default_factory=dict)
    drafts: list[Draft] = field(default_factory=list)
    covers: set[tuple[Draft, Symbol]] = field(default_factory=set)
    leaving: set[Node] = field(default_factory=set)
    moving: dict[Node, str] = field(default_factory=dict)
    position: int = 0

    def span(self) -> Span:
        self.position += 2
        return Span(FILE, self.position, self.position + 1)

    def symbol(self, name: str) -> Symbol:
        return Symbol(name, name, Pointer(DOUBLE), "parameter")

    def expr(self, use: str = "", write: str = "") -> Expr:
        """An expression that uses the objects named in `use` and writes a part of those in `write`."""
        node = Literal(span=self.span(), type=INT, text="1", value=1)
        self.note(node, use, write, "")
        return node

    def host(self, use: str = "", write: str = "", whole: str = "") -> Stmt:
        node = ExprStmt(span=self.span(), expr=self.expr())
        self.note(node, use, write, whole)
        return node

    def note(self, node: Node, use: str, write: str, whole: str) -> None:
        for name in {*use, *write, *whole}:
            self.accesses[(node, name)] = PointAccess(
                host_use=name in use or name in write, host_write=name in write or name in whole
            )

    def kernel(self, use: str = "", write: str = "", whole: str = "") -> Stmt:
        """A fragment: reads `use`, writes a part of `write`, all of `whole`."""
        stmt = ExprStmt(span=self.span(), expr=self.expr())
        uses = tuple(
            HostUse(self.symbol(n), "buffer", n in use, n in write or n in whole)
            for n in sorted({*use, *write, *whole})
        )
        draft = Draft(f"k{len(self.drafts)}", "nest", (stmt,), (), uses, (), (), ())
        self.drafts.append(draft)
        self.covers |= {(draft, self.symbol(n)) for n in whole}
        return stmt

    def block(self, *statements: Stmt) -> Block:
        return Block(span=self.span(), statements=statements)

    def when(self, then: Sequence[Stmt], other: Sequence[Stmt] | None = None, use: str = "") -> If:
        span = self.span()
        alternative = self.block(*other) if other is not None else None
        return If(span=span, condition=self.expr(use), then=self.block(*then), other=alternative)

    def loop(self, *body: Stmt) -> For:
        span = self.span()
        counter = Symbol(f"i{span.start}", f"i{span.start}", INT, "local")
        return For(
            span=span, variable=counter, declares=True, lower=self.expr(), relation="<", bound=self.expr(), step=1,
            body=self.block(*body), header=span,
        )  # fmt: skip

    def repeat(self, form: str, body: Sequence[Stmt], use: str = "", write: str = "") -> While:
        span = self.span()
        condition = self.expr(use, write)
        return While(
            span=span, form="do" if form == "do" else "while", init=None, condition=condition, advance=None,
            body=self.block(*body), header=span, reason="",
        )  # fmt: skip

    def switch(self, *cases: Sequence[Stmt], default: bool = False) -> Switch:
        labels: list[tuple[Expr | None, ...]] = [(self.expr(),) for _ in cases]
        if default:
            labels[-1] = (None,)
        return Switch(
            span=self.span(),
            value=self.expr(),
            cases=tuple(
                CaseNode(span=self.span(), labels=n, body=tuple(c)) for n, c in zip(labels, cases, strict=True)
            ),
        )

    def leave(self) -> Break:
        return Break(span=self.span())

    def again(self) -> Continue:
        return Continue(span=self.span())

    def finish(self) -> Return:
        return Return(span=self.span(), value=None)

    # --- the port

    def access(self, node: Node, buffer: DeviceBuffer) -> PointAccess:
        return self.accesses.get((node, buffer.host.name), PointAccess())

    def may_leave(self, node: Node) -> bool:
        return node in self.leaving

    def may_stop(self, draft: Draft) -> bool:
        return draft.statements[0] in self.leaving

    def changes(self, node: Node, symbols: Set[Symbol]) -> bool:
        return any(symbol.name in self.moving.get(node, "") for symbol in symbols)

    def lives_on(self, buffer: DeviceBuffer) -> bool:
        return buffer.host.name in self.live

    def offload_region(self, scope: tuple[Stmt, ...]) -> OffloadRegion:
        zero, many = self.expr(), Literal(span=self.span(), type=INT, text="64", value=64)
        buffers = tuple(
            DeviceBuffer(
                Symbol(f"{n}_gpu", f"{n}_gpu", Pointer(DOUBLE), "device"), self.symbol(n), zero, many, scope, cell=False
            )
            for n in self.objects
        )
        return OffloadRegion(scope, tuple(self.drafts), buffers, (), frozenset(self.covers))

    def function(self, scope: tuple[Stmt, ...]) -> Function:
        name = Symbol("f", "f", FunctionType(VOID, ()), "function")
        return Function(span=self.span(), symbol=name, parameters=(), body=self.block(*scope), static=False)

    def port(self, *scope: Stmt, scheme: TransferScheme = "optimized") -> MovedStatements:
        """Return the scope with its copies; raises RuntimeError where the static check finds fault."""
        launches: dict[Draft, tuple[Stmt, ...]] = {
            d: (Launch(span=d.statements[0].span, kernel=d.region, arguments=(), region=d.region),) for d in self.drafts
        }
        return insert_copies(self.function(scope), self.offload_region(scope), launches, self, scheme)


class StaleError(Exception):
    """The port computed with old data."""


class _JumpError(Exception):
    def __init__(self, kind: str) -> None:
        self.kind = kind


class Machine(Struct):
    """Runs ported statements, branches drawn from `rng`, and trip counts too where `trips` does not set them."""

    program: Program
    offload_region: OffloadRegion
    rng: random.Random
    trips: int | None = None
    newest: dict[str, int] = field(default_factory=dict)
    host: dict[str, int] = field(default_factory=dict)
    device: dict[str, int | None] = field(default_factory=dict)
    copies: int = 0

    def execute(self, statements: tuple[Stmt, ...]) -> None:
        """Run once; raises StaleError."""
        self.newest = dict.fromkeys(self.program.objects, 0)
        self.host = dict.fromkeys(self.program.objects, 0)
        self.device = {}
        with contextlib.suppress(_JumpError):
            self.run(statements)
        if self.device:
            raise StaleError("a buffer is left behind")
        for name in self.program.live & set(self.program.objects):
            if self.host[name] != self.newest[name]:
                raise StaleError(f"{name} at the end")

    def run(self, statements: Sequence[Stmt]) -> None:
        for stmt in statements:
            self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        match stmt:
            case Launch():
                self.launch(stmt)
            case Copy() | DeviceAlloc() | DeviceFree():
                self.move(stmt)
            case Block() | If() | For() | While() | Switch():
                self.compound(stmt)
            case Break() | Continue() | Return():
                raise _JumpError(type(stmt).__name__.lower())
            case _:
                self.evaluate(stmt)

    def compound(self, stmt: Block | If | For | While | Switch) -> None:
        match stmt:
            case Block():
                self.run(stmt.statements)
            case If():
                self.evaluate(stmt.condition)
                if self.rng.random() < 0.5:
                    self.statement(stmt.then)
                elif stmt.other is not None:
                    self.statement(stmt.other)
            case Switch():
                self.switch(stmt)
            case _:
                self.loop(stmt)

    def loop(self, stmt: For | While) -> None:
        trips = self.rng.randrange(4) if self.trips is None else self.trips
        form = stmt.form if isinstance(stmt, While) else "for"
        if isinstance(stmt, For):
            self.evaluate(stmt.lower)
        condition = stmt.bound if isinstance(stmt, For) else stmt.condition
        assert condition is not None
        if form != "do":
            self.evaluate(condition)
        else:
            trips += 1
        for _ in range(trips):
            try:
                self.statement(stmt.body)
            except _JumpError as jump:
                if jump.kind == "return":
                    raise
                if jump.kind == "break":
                    return
            self.evaluate(condition)

    def switch(self, stmt: Switch) -> None:
        self.evaluate(stmt.value)
        default = any(label is None for case in stmt.cases for label in case.labels)
        start = self.rng.randrange(len(stmt.cases) + (0 if default else 1))
        try:
            for case in stmt.cases[start:]:
                self.run(case.body)
        except _JumpError as jump:
            if jump.kind != "break":
                raise

    def evaluate(self, node: Node) -> None:
        for buffer in self.offload_region.buffers:
            name, access = buffer.host.name, self.program.access(node, buffer)
            if access.host_use and self.host[name] != self.newest[name]:
                raise StaleError(f"host uses {name}")
            if access.host_write:
                self.newest[name] += 1
                self.host[name] = self.newest[name]

    def launch(self, stmt: Launch) -> None:
        draft = next(d for d in self.offload_region.drafts if d.region == stmt.region)
        for use in draft.uses:
            name = use.symbol.name
            partial = use.written and (draft, use.symbol) not in self.offload_region.covers
            if (use.read or partial) and self.device.get(name) != self.newest[name]:
                raise StaleError(f"{draft.region} uses {name}")
            if use.written:
                self.newest[name] += 1
                self.device[name] = self.newest[name]

    def move(self, stmt: Copy | DeviceAlloc | DeviceFree) -> None:
        name = next(b.host.name for b in self.offload_region.buffers if b.symbol == stmt.buffer)
        if not isinstance(stmt, DeviceAlloc) and name not in self.device:
            raise StaleError(f"{name} has no buffer")
        match stmt:
            case DeviceAlloc():
                self.device[name] = None
            case DeviceFree():
                del self.device[name]
            case Copy(to_device=True):
                self.copies += 1
                self.device[name] = self.host[name]
            case Copy():
                self.copies += 1
                value = self.device[name]
                self.host[name] = -1 if value is None else value


def random_program(rng: random.Random) -> tuple[Program, tuple[Stmt, ...]]:
    """A program of one or two objects with every control form; it has at least one kernel."""
    while True:
        program = Program(objects=("x", "y") if rng.random() < 0.3 else ("x",))
        program.live = frozenset(n for n in program.objects if rng.random() < 0.7)
        scope = _statements(program, rng, 3, loop=False)
        if program.drafts:
            return program, scope


def _statements(program: Program, rng: random.Random, depth: int, *, loop: bool) -> tuple[Stmt, ...]:
    result: list[Stmt] = [_statement(program, rng, depth, loop=loop) for _ in range(rng.randrange(1, 5))]
    if loop and rng.random() < 0.25:
        result.append(program.when([program.leave() if rng.random() < 0.5 else program.again()]))
    if rng.random() < 0.08:
        result.append(program.when([program.host(use="x"), program.finish()]))
    if rng.random() < 0.3:
        rng.shuffle(result)
    return tuple(result)


def _statement(program: Program, rng: random.Random, depth: int, *, loop: bool) -> Stmt:
    name = rng.choice(program.objects)
    kind = rng.choice("hhkkk" if depth == 0 else "hhkkkiilldws")

    def inside(looping: bool = loop) -> tuple[Stmt, ...]:
        return _statements(program, rng, depth - 1, loop=looping)

    match kind:
        case "h":
            return program.host(**{rng.choice(["use", "write", "whole"]): name})
        case "k":
            return program.kernel(*rng.choice([(name, ""), ("", name), (name, name), ("", "", name)]))
        case "i":
            other = inside() if rng.random() < 0.6 else () if rng.random() < 0.2 else None
            return program.when(inside(), other, use=name if rng.random() < 0.15 else "")
        case "l":
            return program.loop(*inside(looping=True))
        case "s":
            cases = [
                [*inside(), program.leave()] if rng.random() < 0.6 else inside() for _ in range(rng.randrange(1, 4))
            ]
            return program.switch(*cases, default=rng.random() < 0.5)
        case _:
            touched = rng.random()
            use, write = (name if touched < 0.3 else ""), (name if touched > 0.9 else "")
            return program.repeat("do" if kind == "d" else "while", inside(looping=True), use, write)
