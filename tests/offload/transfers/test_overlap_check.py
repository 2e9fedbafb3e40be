"""The check of copies that go on beside other work, on scopes written by hand: what it finds, and what it lets pass."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.offload.transfers.test_transfer_check import Hand
from warpsmith.offload.transfers.overlap_check import check_overlap
from warpsmith.tree.nodes import Copy, CopyWait, Stmt
from warpsmith.tree.nodes import replace as replace_node


class Beside(Hand):
    """Statements about the object x: its copies begin only."""

    def begin(self, *, to_device: bool) -> Stmt:
        copy = self.copy(to_device=to_device)
        assert isinstance(copy, Copy)
        return replace_node(copy, overlaps=True)

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
