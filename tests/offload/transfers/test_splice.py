"""Runs of statements put in the place of others, with braces where C needs them."""

from __future__ import annotations

import pytest

from tests.offload.transfers.abstract_programs import Program
from warpsmith.offload.transfers.splice import splice
from warpsmith.tree.nodes import Block, DeviceAlloc, For, If, Stmt, Switch


def alloc(p: Program, name: str = "x") -> DeviceAlloc:
    return DeviceAlloc(span=p.span(), buffer=p.symbol(f"{name}_gpu"), host=p.symbol(name), bytes=p.expr())


def body(p: Program, scope: tuple[Stmt, ...], *replaced: tuple[tuple[Stmt, ...], tuple[Stmt, ...]]) -> tuple[Stmt, ...]:
    return splice(p.function(scope), replaced).body.statements


def test_a_run_in_a_block_is_replaced_as_a_whole() -> None:
    p = Program()
    a, b, c, new = (p.host() for _ in range(4))
    assert body(p, (a, b, c), ((a, b), (new,))) == (new, c)
    assert body(p, (a, b, c), ((b,), (new, new))) == (a, new, new, c)
    assert body(p, (a, b), ((a,), ()), ((b,), (new,))) == (new,)


def test_a_run_that_is_not_there_is_an_error() -> None:
    p = Program()
    a, b = p.host(), p.host()
    with pytest.raises(ValueError, match="does not stand in its function"):
        body(p, (a,), ((a,), (b,)), ((b,), (a,)))


def test_the_body_of_a_loop_or_branch_gets_braces() -> None:
    p = Program()
    stmt, kept, new = p.host(), p.host(), p.host()
    loop = For(
        span=p.span(), variable=p.symbol("i"), declares=False, lower=p.expr(), relation="<", bound=p.expr(), step=1,
        body=stmt, header=p.span(),
    )  # fmt: skip
    (made,) = body(p, (loop,), ((stmt,), (new,)))
    assert isinstance(made, For) and isinstance(made.body, Block) and made.body.statements == (new,)
    for then, other in ((stmt, None), (stmt, kept), (kept, stmt)):
        branch = If(span=p.span(), condition=p.expr(), then=then, other=other)
        (changed,) = body(p, (branch,), ((stmt,), (new,)))
        assert isinstance(changed, If)
        arms = (changed.then, changed.other)
        assert [arm is kept for arm in arms] == [then is kept, other is kept] and (arms[1] is None) == (other is None)
        assert any(isinstance(arm, Block) and arm.statements == (new,) for arm in arms)


def test_in_a_case_a_run_gets_braces_and_the_others_stay() -> None:
    p = Program()
    stmt, kept, new = p.host(), p.host(), p.host()
    (made,) = body(p, (p.switch([stmt, kept]),), ((stmt,), (new,)))
    assert isinstance(made, Switch)
    braced, after = made.cases[0].body
    assert isinstance(braced, Block) and braced.statements == (new,) and after is kept


def test_runs_of_one_block_that_declare_one_buffer_get_braces() -> None:
    p = Program()
    a, b, c = (p.host() for _ in range(3))
    x, again, y = alloc(p), alloc(p), alloc(p, "y")
    braced, plain, other = body(p, (a, b, c), ((a,), (x,)), ((b,), (y,)), ((c,), (again,)))
    assert isinstance(braced, Block) and braced.statements == (x,) and isinstance(other, Block)
    assert plain is y
