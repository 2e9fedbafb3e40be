"""Which loop an address names, and statements put in the place of others."""

from __future__ import annotations

import pytest

from tests.offload.transfers.abstract_programs import Program as Abstract
from warpsmith.base.errors import RefusedError
from warpsmith.base.source import SourceFile
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.place import LoopContext, report_missing, with_run
from warpsmith.tree.nodes import Block, For, If, Stmt, Switch
from warpsmith.tree.program import Program, Unit

ONE = """void f(int n, double *a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i] = j;
    for (int i = 0; i < n; i++) a[i] += 1;
    while (a[0] > n) a[0]--;
}
"""
OWN = "static void g(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 2; }\n"
TWO = "void f2(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 1; }\n" + OWN


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("place")
    (folder / "sub").mkdir()
    (folder / "one.c").write_text(ONE + OWN)
    (folder / "sub" / "two.c").write_text(TWO)
    files = [str(folder / "one.c"), str(folder / "sub" / "two.c")]
    return load_program(files, FrontOptions()).program


@pytest.mark.parametrize(
    ("address", "line", "around"),
    [
        ("f/i", 3, 0), ("f/i/j", 4, 1), ("f/i#2", 5, 0), ("one.c:5", 5, 0), ("one.c:4", 4, 1), ("one.c:f/i/j", 4, 1),
        ("./one.c:3", 3, 0), ("sub/two.c:f2/i", 1, 0), ("two.c:1", 1, 0), ("one.c:g/i", 8, 0),
    ],
)  # fmt: skip
def test_the_loop_of_an_address(address: str, line: int, around: int, program: Program) -> None:
    found = LoopContext.of(program, address)
    assert (found.loop.header.line, len(found.around)) == (line, around)
    assert all(outer.span.contains(found.loop.span) for outer in found.around)


@pytest.mark.parametrize(
    ("address", "rule", "said"),
    [
        ("f/z", "INP010", "no loop is called f/z"),
        ("one.c:1", "INP010", "no loop is called one.c:1"),
        ("wo.c:1", "INP010", "no loop is called"),
        ("g/i", "INP011", "g/i names 2 loops"),
    ],
)
def test_an_address_that_names_none_or_several(address: str, rule: str, said: str, program: Program) -> None:
    with pytest.raises(RefusedError) as caught:
        LoopContext.of(program, address)
    (finding,) = caught.value.findings
    assert finding.rule == rule and said in finding.message
    if rule == "INP011":
        assert "one.c:g/i" in finding.help[0] and "two.c:g/i" in finding.help[0] and len(finding.related) == 1


def test_the_nearest_loops_are_named() -> None:
    assert report_missing("lu/k/jj", ["lu/k/j", "other/x"]).help == ("the nearest loops: lu/k/j",)
    assert report_missing("zzz", ["a/b", "c/d"]).help == ("the nearest loops: a/b, c/d",)
    assert report_missing("zzz", []).help == ("the input has no loop",)


def test_a_loop_that_is_not_counted_says_why(program: Program) -> None:
    found = LoopContext.of(program, "one.c:6")
    with pytest.raises(RefusedError, match="the loop is not a counted one: "):
        found.require_counted()
    assert LoopContext.of(program, "f/i").require_counted().variable.name == "i"


def replaced(p: Abstract, scope: tuple[Stmt, ...], old: tuple[Stmt, ...], new: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    function = p.function(scope)
    unit = Unit(SourceFile("a.c", ""), "c", (function,), (function,), (), ())
    made = with_run(Program((unit,)), function, old, new)
    ((_, after),) = made.functions()
    return after.body.statements


def test_runs_are_replaced_wherever_they_stand() -> None:
    p = Abstract()
    a, b, c, new = (p.host() for _ in range(4))
    assert replaced(p, (a, b, c), (a, b), (new,)) == (new, c)
    assert replaced(p, (a, b), (b,), ()) == (a,)
    loop = For(
        span=p.span(), variable=p.symbol("i"), declares=False, lower=p.expr(), relation="<", bound=p.expr(), step=1,
        body=a, header=p.span(),
    )  # fmt: skip
    (made,) = replaced(p, (loop,), (a,), (new,))
    assert isinstance(made, For) and made.body is new
    (made,) = replaced(p, (loop,), (a,), (new, b))
    assert isinstance(made, For) and isinstance(made.body, Block) and made.body.statements == (new, b)
    (made,) = replaced(p, (p.switch([a, b], [c]),), (b,), (new,))
    assert isinstance(made, Switch) and made.cases[0].body == (a, new) and made.cases[1].body == (c,)


def test_one_arm_of_a_branch_is_replaced_and_the_other_stays() -> None:
    p = Abstract()
    a, b, new = (p.host() for _ in range(3))
    branch = If(span=p.span(), condition=p.expr(), then=a, other=b)
    for old, arms in ((a, (new, b)), (b, (a, new))):
        (made,) = replaced(p, (branch,), (old,), (new,))
        assert isinstance(made, If) and (made.then, made.other) == arms
    alone = If(span=p.span(), condition=p.expr(), then=a, other=None)
    (made,) = replaced(p, (alone,), (a,), (new,))
    assert isinstance(made, If) and made.other is None


def test_what_does_not_stand_there_is_an_error() -> None:
    p = Abstract()
    with pytest.raises(ValueError, match="do not stand in their function"):
        replaced(p, (p.host(),), (p.host(),), ())
