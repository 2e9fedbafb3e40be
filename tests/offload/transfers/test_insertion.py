"""Statements written in at places of the text; all else stays the very same node."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from tests.offload.hand import load
from tests.offload.transfers.abstract_programs import Program
from warpsmith.offload.transfers.flow import ProgramPoint
from warpsmith.offload.transfers.insertion import Edits, rewritten_run
from warpsmith.tree.nodes import Block, For, If, Pragma, Stmt, Switch, While
from warpsmith.tree.walk import walk

Where = Literal["before", "after", "within", "else"]


def edited(run: tuple[Stmt, ...], *inserted: tuple[Where, Stmt, Stmt]) -> tuple[Stmt, ...]:
    edits = Edits()
    for where, node, new in inserted:
        edits.at(ProgramPoint(where, node), [new])
    return rewritten_run(run, edits)


def test_before_and_behind_in_the_order_of_asking() -> None:
    p = Program()
    a, b, *new = (p.host() for _ in range(6))
    run = edited((a, b), ("after", a, new[0]), ("before", a, new[1]), ("after", a, new[2]), ("before", b, new[3]))
    assert run == (new[1], a, new[0], new[2], new[3], b)


def test_what_is_not_asked_to_change_stays_the_same_node() -> None:
    p = Program()
    inner = p.host()
    loop, other = p.loop(p.when([inner])), p.switch([p.host()])
    changed, kept = edited((loop, other), ("after", inner, p.host()))
    assert kept is other and changed is not loop
    assert any(part is inner for part in walk(changed))
    assert edited((loop, other)) == (loop, other)


def test_a_body_that_becomes_several_statements_gets_braces() -> None:
    p = Program()
    stmt, new = p.host(), p.host()
    bare = For(
        span=p.span(), variable=p.symbol("i"), declares=False, lower=p.expr(), relation="<", bound=p.expr(), step=1,
        body=stmt, header=p.span(),
    )  # fmt: skip
    (loop,) = edited((bare,), ("before", stmt, new))
    assert isinstance(loop, For) and isinstance(loop.body, Block) and loop.body.statements == (new, stmt)


def test_a_new_else_and_an_empty_block() -> None:
    p = Program()
    branch, new = p.when([p.host()]), p.host()
    (made,) = edited((branch,), ("else", branch, new))
    assert isinstance(made, If) and made.then is branch.then
    assert isinstance(made.other, Block) and made.other.statements == (new,)
    empty = p.when([], [])
    assert empty.other is not None
    (made,) = edited((empty,), ("within", empty.other, new))
    assert isinstance(made, If) and isinstance(made.other, Block)
    assert made.then is empty.then and made.other.statements == (new,)


def test_a_case_takes_statements_and_the_others_stay() -> None:
    p = Program()
    first, second, new = p.host(), p.host(), p.host()
    switch = p.switch([first], [second])
    (made,) = edited((switch,), ("after", second, new))
    assert isinstance(made, Switch)
    assert made.cases[0] is switch.cases[0] and made.cases[1].body == (second, new)


def test_what_is_replaced_takes_all_of_its_statements() -> None:
    p = Program()
    a, b, c, new = (p.host() for _ in range(4))
    edits = Edits({a: (2, (new,))}, {})
    edits.at(ProgramPoint("after", b), [c])
    assert rewritten_run((a, b, c), edits) == (new, c, c)


@pytest.mark.parametrize(
    ("pragma", "order"),
    [("omp parallel for", "new pragma loop"), ("omp barrier", "pragma new loop")],
)
def test_nothing_comes_between_a_pragma_and_its_loop(pragma: str, order: str, tmp_path: Path) -> None:
    text = f"void f(int n, double *a) {{\n#pragma {pragma}\n    for (int i = 0; i < n; i++) a[i] = 1;\n}}"
    ((_, function),) = load(text, tmp_path).functions()
    run = function.body.statements
    assert isinstance(run[0], Pragma)
    new = Program().host()
    words = {id(new): "new", id(run[0]): "pragma", id(run[1]): "loop"}
    assert " ".join(words[id(s)] for s in edited(run, ("before", run[1], new))) == order


# the second: other code stands between the loop and the end of its conditional
@pytest.mark.parametrize("line", ["", "    a[0] += 1;\n"])
def test_a_loop_that_a_conditional_cuts_through_stands_with_its_lines(line: str, tmp_path: Path) -> None:
    text = f"""\
#define REPEATED
void f(int n, double *a)
{{
#ifdef REPEATED
{line}    for (int t = 0; t < n; t++) {{
#endif
        a[0] *= 2;
#ifdef REPEATED
    }}
{line}#endif
    a[1] = 3;
}}
"""
    run = load(text, tmp_path).units[0].functions[0].body.statements
    loop = next(stmt for stmt in run if isinstance(stmt, For | While))
    p = Program()
    first, last = p.host(), p.host()
    made = edited(run, ("before", loop, first), ("after", loop, last))
    assert [stmt for stmt in made if stmt not in (first, last)] == [*run]
    inside = made[made.index(first) + 1 : made.index(last)]
    assert loop in inside and (len(inside) == 3) == (not line)
    assert not line or inside == (loop,)
