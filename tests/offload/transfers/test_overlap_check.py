"""The check of copies that go on beside other work, on scopes written by hand: what it finds, and what it lets pass."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.offload.transfers.test_transfer_check import Hand
from warpsmith.offload.plan import DeviceBuffer
from warpsmith.offload.transfers.overlap_check import check_overlap
from warpsmith.offload.transfers.placement import PointAccess
from warpsmith.tree.nodes import (
    Call,
    Copy,
    CopyWait,
    DeclStmt,
    DeviceAlloc,
    Expr,
    Index,
    Name,
    Node,
    Stmt,
    VarDecl,
    VerbatimExpr,
)
from warpsmith.tree.nodes import replace as replace_node
from warpsmith.tree.types import INT, FunctionType, Pointer, Symbol


class Beside(Hand):
    """Statements about the object x: its copies begin only."""

    def begin(self, *, to_device: bool, bytes: Expr | None = None) -> Stmt:
        copy = self.copy(to_device=to_device)
        assert isinstance(copy, Copy)
        return replace_node(copy, overlaps=True, bytes=bytes or copy.bytes)

    def variable(self, name: str = "n") -> Name:
        return Name(span=self.span(), type=INT, symbol=Symbol(name, name, INT, "local"))

    def allocated(self, bytes: Expr) -> Stmt:
        made = self.alloc()
        assert isinstance(made, DeviceAlloc)
        return replace_node(made, bytes=bytes)

    def moves(self, name: str = "n") -> Stmt:
        """Host code that gives a variable another value."""
        made = self.host()
        self.moving[made] = name
        return made

    def wait(self, *, by_host: bool) -> Stmt:
        buffer, host = self.gpu()
        return CopyWait(span=self.span(), buffer=buffer, variable=host, by_host=by_host)


def said(make: Callable[[Beside], list[Stmt]]) -> list[str]:
    p = Beside()
    statements = tuple(make(p))
    return [found.rpartition(": ")[2] for found in check_overlap(statements, p.offload_region(statements), p)]


def test_what_is_waited_for_is_right() -> None:
    def make(p: Beside) -> list[Stmt]:
        return [
            p.alloc(), p.begin(to_device=True), p.host("x"), p.wait(by_host=False), p.run("x", "x"),
            p.wait(by_host=True), p.host("x"), p.begin(to_device=False), p.run("x"), p.wait(by_host=True),
            p.host("x", "x"), p.free(),
        ]  # fmt: skip

    assert said(make) == []


def test_the_host_knows_what_it_has_waited_for_and_so_do_kernels() -> None:
    def make(p: Beside) -> list[Stmt]:
        return [p.alloc(), p.begin(to_device=True), p.wait(by_host=True), p.run("x"), p.host("", "x"), p.free()]

    assert said(make) == []


@pytest.mark.parametrize("begins", [True, False])
def test_a_copy_back_comes_after_what_kernels_have_waited_for(begins: bool) -> None:
    def make(p: Beside) -> list[Stmt]:
        back = [p.begin(to_device=False), p.wait(by_host=True)] if begins else [p.copy(to_device=False)]
        return [p.alloc(), p.begin(to_device=True), p.wait(by_host=False), p.run("x", "x"), *back, p.free()]

    assert said(make) == []


def test_a_kernel_may_write_what_it_waits_for_to_be_read() -> None:
    def make(p: Beside) -> list[Stmt]:
        return [
            p.alloc(), p.begin(to_device=False), p.wait(by_host=False), p.run("", "x"), p.wait(by_host=True), p.free(),
        ]  # fmt: skip

    assert said(make) == []


@pytest.mark.parametrize(
    ("make", "finding"),
    [
        (lambda p: [p.begin(to_device=True), p.run("x"), p.wait(by_host=True)],
         "a kernel uses what a copy may still write"),
        (lambda p: [p.begin(to_device=False), p.run("", "x"), p.wait(by_host=True)],
         "a kernel writes what a copy may still read"),
        (lambda p: [p.begin(to_device=True), p.wait(by_host=False), p.host("", "x"), p.wait(by_host=True)],
         "the host writes what a copy may still read"),
        (lambda p: [p.begin(to_device=False), p.host("x"), p.wait(by_host=True)],
         "the host touches what a copy may still write"),
        (lambda p: [p.begin(to_device=False), p.wait(by_host=False), p.host("x"), p.wait(by_host=True)],
         "the host touches what a copy may still write"),
        (lambda p: [p.begin(to_device=True), p.wait(by_host=False), p.free(), p.wait(by_host=True)],
         "a copy is under way where its buffer is copied, given or freed"),
        (lambda p: [p.begin(to_device=True), p.copy(to_device=False), p.wait(by_host=True)],
         "a copy is under way where its buffer is copied, given or freed"),
        (lambda p: [p.begin(to_device=True)], "a copy is under way where the scope is left"),
        (lambda p: [p.begin(to_device=True), p.when([p.finish()]), p.wait(by_host=True)],
         "a copy is under way where the scope is left"),
        (lambda p: [p.begin(to_device=True), p.when([p.wait(by_host=True)])],
         "a copy is under way where the scope is left"),
        (lambda p: [p.loop(p.wait(by_host=False), p.begin(to_device=True)), p.wait(by_host=True)],
         "a copy is under way where its buffer is copied, given or freed"),
        (lambda p: [p.begin(to_device=True), p.loop(p.when([p.leave()]), p.wait(by_host=False)), p.run("x"),
                    p.wait(by_host=True)],
         "a kernel uses what a copy may still write"),
    ],
)  # fmt: skip
def test_what_is_not_waited_for_is_found(make: Callable[[Beside], list[Stmt]], finding: str) -> None:
    assert finding in said(make)


def test_what_may_leave_the_scope_is_found() -> None:
    p = Beside()
    stmt = p.host()
    p.leaving = {stmt}
    statements = (p.begin(to_device=True), stmt, p.wait(by_host=True))
    (found,) = check_overlap(statements, p.offload_region(statements), p)
    assert found.endswith("a copy is under way where the scope may be left")


def test_a_kernel_that_may_end_the_program_is_found() -> None:
    p = Beside(objects=("x", "y"))
    kernel = p.run("y")
    p.leaving = {p.drafts[-1].statements[0]}
    statements = (p.begin(to_device=True), kernel, p.wait(by_host=True))
    (found,) = check_overlap(statements, p.offload_region(statements), p)
    assert found.endswith("a copy is under way where the scope may be left")


def test_other_objects_may_be_touched() -> None:
    p = Beside(objects=("x", "y"))
    statements = (p.begin(to_device=False), p.host("", "y"), p.run("x", "y"), p.wait(by_host=True))
    region = p.offload_region(statements)
    assert check_overlap(statements, replace(region, drafts=tuple(p.drafts)), p) == ()


CHANGES = "what an early copy was made with changes before it is waited for"
MEMORY = "where an early copy lies, or how much it moves, is read from memory"


@pytest.mark.parametrize("to_device", [True, False])
def test_the_size_of_an_early_copy_does_not_change_under_way(to_device: bool) -> None:
    def make(p: Beside, *between: Stmt) -> list[Stmt]:
        return [p.begin(to_device=to_device, bytes=p.variable()), *between, p.wait(by_host=True), p.moves()]

    assert said(lambda p: make(p, p.moves("m"))) == []
    assert said(lambda p: make(p, p.moves())) == [CHANGES]


@pytest.mark.parametrize(("to_device", "findings"), [(True, []), (False, [CHANGES])])
def test_kernels_that_wait_end_what_is_early_of_a_copy_to_the_device(to_device: bool, findings: list[str]) -> None:
    def make(p: Beside) -> list[Stmt]:
        begun = p.begin(to_device=to_device, bytes=p.variable())
        return [begun, p.wait(by_host=False), p.moves(), p.wait(by_host=True)]

    assert said(make) == findings


@pytest.mark.parametrize(("apart", "findings"), [(False, [CHANGES]), (True, [])])
def test_the_size_of_an_allocation_that_may_have_come_early_does_not_change_either(
    apart: bool, findings: list[str]
) -> None:
    """Where a statement stands between the two, the allocation stands where it stood."""

    def make(p: Beside) -> list[Stmt]:
        between = [p.host()] if apart else []
        return [p.allocated(p.variable()), *between, p.begin(to_device=True), p.moves(), p.wait(by_host=True), p.free()]

    assert said(make) == findings


def _function() -> Symbol:
    return Symbol("size", "size", FunctionType(INT, ()), "function")


@pytest.mark.parametrize(
    "size",
    [
        lambda p: Index(span=p.span(), type=INT, base=_pointer(p), index=p.expr()),
        lambda p: Call(span=p.span(), type=INT, function=_called(p), arguments=()),
        lambda p: VerbatimExpr(span=p.span(), type=INT, text="n++", reads=(), writes=(), calls=False, reason=""),
    ],
)
def test_the_size_of_an_early_copy_is_not_read_from_memory(size: Callable[[Beside], Expr]) -> None:
    def make(p: Beside, bytes: Expr) -> list[Stmt]:
        return [p.begin(to_device=True, bytes=bytes), p.wait(by_host=True)]

    assert said(lambda p: make(p, size(p))) == [MEMORY]
    assert said(lambda p: make(p, p.variable())) == []


def _pointer(p: Beside) -> Expr:
    return Name(span=p.span(), type=Pointer(INT), symbol=Symbol("q", "q", Pointer(INT), "local"))


def _called(p: Beside) -> Expr:
    symbol = _function()
    return Name(span=p.span(), type=symbol.type, symbol=symbol)


@pytest.mark.parametrize(("name", "findings"), [("x", [CHANGES]), ("n", [CHANGES]), ("other", [])])
def test_a_declaration_is_not_passed_by_a_copy_that_needs_it(name: str, findings: list[str]) -> None:
    def make(p: Beside) -> list[Stmt]:
        symbol = p.gpu()[1] if name == "x" else Symbol(name, name, INT, "local")
        declared = DeclStmt(span=p.span(), declarations=(VarDecl(span=p.span(), symbol=symbol, init=None),))
        return [p.begin(to_device=True, bytes=p.variable()), declared, p.wait(by_host=True)]

    assert said(make) == findings


@pytest.mark.parametrize("to_device", [True, False])
@pytest.mark.parametrize("begins", [True, False])
def test_a_copy_that_lands_may_change_the_size_of_an_early_one(to_device: bool, begins: bool) -> None:
    """The size of x is read from the memory that y leads to: `int *y = &n`."""

    class Leads(Beside):
        def access(self, node: Node, buffer: DeviceBuffer) -> PointAccess:
            reads = isinstance(node, Name) and node.symbol.name == "n" and buffer.host.name == "y"
            return PointAccess(host_use=True) if reads else super().access(node, buffer)

    def findings(size: str) -> list[str]:
        p = Leads(objects=("x", "y"))
        region = p.offload_region(())
        y = region.buffers[1]
        copy = p.copy(to_device=to_device)
        assert isinstance(copy, Copy)
        lands = replace_node(copy, buffer=y.symbol, variable=y.host, overlaps=begins)
        waits = [CopyWait(span=p.span(), buffer=y.symbol, variable=y.host, by_host=True)] if begins else []
        run = (p.begin(to_device=True, bytes=p.variable(size)), lands, *waits, p.wait(by_host=True))
        return [found.rpartition(": ")[2] for found in check_overlap(run, region, p)]

    assert findings("m") == []
    assert findings("n") == ([] if to_device else [CHANGES] * (1 + begins))
