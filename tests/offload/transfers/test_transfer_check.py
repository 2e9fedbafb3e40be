"""The check of copies, on scopes whose copies are written by hand: what it finds wrong, and what it lets pass."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.offload.transfers.abstract_programs import Program
from warpsmith.offload.transfers.transfer_check import check_transfers
from warpsmith.tree.nodes import Copy, DataEnter, DataExit, DeviceAlloc, DeviceFree, Launch, Stmt
from warpsmith.tree.types import Symbol


class Hand(Program):
    """Device statements about the object x."""

    def alloc(self) -> Stmt:
        buffer, host = self.gpu()
        return DeviceAlloc(span=self.span(), buffer=buffer, host=host, bytes=self.expr())

    def free(self) -> Stmt:
        return DeviceFree(span=self.span(), buffer=self.gpu()[0])

    def copy(self, *, to_device: bool) -> Stmt:
        buffer, host = self.gpu()
        return Copy(
            span=self.span(), to_device=to_device, buffer=buffer, host=self.expr(), offset=self.expr(),
            bytes=self.expr(), variable=host, cause=self.span(),
        )  # fmt: skip

    def enter(self, *, copy: bool = True) -> Stmt:
        buffer, host = self.gpu()
        return DataEnter(
            span=self.span(), buffer=buffer, variable=host, address=self.expr(), bytes=self.expr(), copy=copy,
            keep=True, cause=self.span(),
        )  # fmt: skip

    def exit(self, *, written: bool = True) -> Stmt:
        return DataExit(span=self.span(), buffer=self.gpu()[0], written=written)

    def run(self, use: str = "", write: str = "", whole: str = "") -> Stmt:
        self.kernel(use, write, whole)
        region = self.drafts[-1].region
        return Launch(span=self.span(), kernel=region, arguments=(), region=region)

    def gpu(self) -> tuple[Symbol, Symbol]:
        buffer = self.offload_region(()).buffers[0]
        return buffer.symbol, buffer.host


def said(make: Callable[[Hand], list[Stmt]], live: str = "x") -> list[str]:
    p = Hand()
    p.live = frozenset(live)
    statements = tuple(make(p))
    return [found.rpartition(": ")[2] for found in check_transfers(statements, p.offload_region(statements), p)]


def test_a_right_program_has_no_findings() -> None:
    assert said(lambda p: [p.alloc(), p.copy(to_device=True), p.run("x", "x"), p.copy(to_device=False), p.free()]) == []
    assert said(lambda p: [p.alloc(), p.run(whole="x"), p.free()], live="") == []


@pytest.mark.parametrize(
    ("make", "finding"),
    [
        (lambda p: [p.alloc(), p.run("x"), p.free()], "a kernel uses a stale copy"),
        (lambda p: [p.alloc(), p.run(write="x"), p.copy(to_device=False), p.free()], "a kernel uses a stale copy"),
        (lambda p: [p.run("x")], "a kernel uses a buffer that is not there"),
        (lambda p: [p.alloc(), p.run(whole="x"), p.free()], "what the kernels wrote is lost"),
        (lambda p: [p.alloc(), p.run(whole="x"), p.host("x"), p.copy(to_device=False), p.free()],
         "the host uses a stale copy"),
        (lambda p: [p.alloc(), p.run(whole="x"), p.copy(to_device=True), p.free()], "a copy destroys newer data"),
        (lambda p: [p.alloc(), p.copy(to_device=False), p.free()], "a copy destroys newer data"),
        (lambda p: [p.copy(to_device=True), p.alloc(), p.free()], "a copy of a buffer that is not there"),
        (lambda p: [p.alloc(), p.alloc(), p.free()], "the buffer is allocated twice"),
        (lambda p: [p.free()], "a buffer is freed that is not there"),
        (lambda p: [p.alloc()], "the buffer is not freed on every way out"),
        (lambda p: [p.alloc(), p.when([p.finish()]), p.free()], "the buffer is not freed on every way out"),
        (lambda p: [p.alloc(), p.when([p.free()])], "the buffer is not freed on every way out"),
        (lambda p: [p.loop(p.alloc()), p.free()], "the buffer is allocated twice"),
    ],
)  # fmt: skip
def test_a_wrong_program_has_one(make: Callable[[Hand], list[Stmt]], finding: str) -> None:
    assert finding in said(make)


def between(*inside: str, live: str = "") -> list[str]:
    """Findings where a kernel writes all of x, then `inside` is done in an arm, then the host reads it."""

    def make(p: Hand) -> list[Stmt]:
        parts: dict[str, Stmt] = {
            "copy": p.copy(to_device=False),
            "write": p.host(whole="x"),
            "leave": p.leave(),
            "again": p.again(),
        }
        arm = [parts[word] for word in inside]
        return [p.alloc(), p.loop(p.run(whole="x"), p.when(arm), p.host("x")), p.free()]

    return said(make, live)


def test_both_arms_count() -> None:
    assert between("copy") == ["the host uses a stale copy"]
    assert between("write") == ["the host uses a stale copy"]
    assert between() == ["the host uses a stale copy"]


def test_an_arm_that_leaves_the_loop_does_not_come_behind_the_branch() -> None:
    def make(p: Hand, jump: str) -> list[Stmt]:
        jumps: dict[str, Stmt] = {"leave": p.leave(), "again": p.again(), "finish": p.finish()}
        arms = p.when([p.copy(to_device=False)], [p.free(), jumps[jump]] if jump == "finish" else [jumps[jump]])
        return [p.alloc(), p.loop(p.run(whole="x"), arms, p.host("x")), p.free()]

    assert said(lambda p: make(p, "finish"), live="") == []
    assert said(lambda p: make(p, "leave"), live="") == []
    assert said(lambda p: make(p, "leave")) == ["what the kernels wrote is lost"]
    assert said(lambda p: make(p, "again"), live="") == []


def test_what_one_iteration_leaves_the_next_one_finds() -> None:
    def make(p: Hand, *, copy: bool) -> list[Stmt]:
        back = [p.copy(to_device=False)] if copy else []
        return [p.alloc(), p.copy(to_device=True), p.loop(p.host("x"), p.run("x", "x"), *back), p.free()]

    assert said(lambda p: make(p, copy=True), live="") == []
    assert said(lambda p: make(p, copy=False), live="") == ["the host uses a stale copy"]


@pytest.mark.parametrize("form", ["do", "while"])
def test_a_condition_reads_what_the_body_leaves(form: str) -> None:
    def make(p: Hand, *, copied: bool) -> list[Stmt]:
        back = [p.copy(to_device=False)] if copied else []
        return [p.alloc(), p.repeat(form, [p.run(whole="x"), *back], use="x"), p.free()]

    assert said(lambda p: make(p, copied=True), live="") == []
    assert said(lambda p: make(p, copied=False), live="") == ["the host uses a stale copy"]


def test_a_loop_may_run_no_iteration_but_a_do_loop_does() -> None:
    def make(p: Hand, form: str) -> list[Stmt]:
        return [p.alloc(), p.repeat(form, [p.copy(to_device=True)]), p.run("x"), p.free()]

    assert said(lambda p: make(p, "do")) == []
    assert said(lambda p: make(p, "while")) == ["a kernel uses a stale copy"]


def test_control_may_enter_every_case_and_fall_through() -> None:
    def make(p: Hand, *, default: bool, leave: bool) -> list[Stmt]:
        end = [p.leave()] if leave else []
        cases = p.switch([p.copy(to_device=True), *end], [p.copy(to_device=True)], default=default)
        return [p.alloc(), cases, p.run("x"), p.free()]

    assert said(lambda p: make(p, default=True, leave=True)) == []
    assert said(lambda p: make(p, default=False, leave=True)) == ["a kernel uses a stale copy"]

    def falls(p: Hand, *, leave: bool) -> list[Stmt]:
        end = [p.leave()] if leave else []
        return [p.alloc(), p.switch([p.run(whole="x"), *end], [p.copy(to_device=True)], default=True), p.free()]

    assert said(lambda p: falls(p, leave=True), live="") == []
    assert said(lambda p: falls(p, leave=False), live="") == ["a copy destroys newer data"]


# --- data that a caller may hold


def test_data_that_are_entered_may_be_newer_than_the_hosts() -> None:
    assert said(lambda p: [p.enter(), p.run("x", "x"), p.exit()]) == []
    assert said(lambda p: [p.enter(), p.run("x"), p.exit(written=False)]) == []
    assert said(lambda p: [p.enter(), p.run("x"), p.host("x"), p.exit()]) == ["the host uses a stale copy"]


@pytest.mark.parametrize(
    ("make", "finding"),
    [
        (lambda p: [p.enter(copy=False), p.run("x"), p.exit()], "a kernel uses a stale copy"),
        (lambda p: [p.enter(), p.enter(), p.exit()], "the buffer is entered twice"),
        (lambda p: [p.exit()], "a buffer is left that is not there"),
        (lambda p: [p.enter(copy=False), p.exit()], "a buffer is left whose device copy is not valid"),
        (lambda p: [p.enter(), p.host(whole="x"), p.exit()], "a buffer is left whose device copy is not valid"),
        (lambda p: [p.enter(), p.run("x", "x"), p.exit(written=False)], "what the kernels wrote is lost"),
        (lambda p: [p.enter(), p.run("x")], "the buffer is not freed on every way out"),
    ],
)
def test_what_is_wrong_with_entered_data(make: Callable[[Hand], list[Stmt]], finding: str) -> None:
    assert finding in said(make)


def test_what_nobody_reads_later_may_be_lost() -> None:
    assert said(lambda p: [p.enter(copy=False), p.exit()], live="") == []
    assert said(lambda p: [p.enter(), p.run("x", "x"), p.exit(written=False)], live="") == []
