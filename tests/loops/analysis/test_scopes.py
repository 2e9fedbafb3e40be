"""Whether every name still means its own variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.refusals import one
from tests.offload.analyzed import Analyzed, analyzed
from tests.offload.transfers.abstract_programs import Program
from warpsmith.base.verdict import Proved, Unknown
from warpsmith.loops.analysis.scopes import find_captured, names_at_end, names_hold
from warpsmith.loops.analysis.shape import statements
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.steps.order.distribute import Distribute
from warpsmith.tree.nodes import Name, VarDecl
from warpsmith.tree.walk import walk

TEXT = """
int t;
void f(int n, double *a)
{
    int i = 2, k = i;
    a[t] = 1;
    { double t = 3; a[0] = t; }
    for (int i = 0; i < n; i++) { int t = i; a[t] = 2; }
    switch (n) { case 1: { int n = 3; a[n] = 4; } break; }
    while (k) { int n = k; k = n - 1; }
    double (*rows)[n] = 0;
    a[1] = sizeof(*rows) + k;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT, tmp_path_factory.mktemp("scopes"))


def test_what_c_itself_binds_is_well(program: Analyzed) -> None:
    assert find_captured(program.function()) is None


def test_a_captured_name_is_found(tmp_path: Path) -> None:
    stand = one("double t = 1; for (int i = 0; i < n; i++) { x[i] = t; double t = 2; y[i] = t; }", tmp_path)
    assert find_captured(stand.function) is None
    loop = LoopContext.of(stand.program, "F/i").require_counted()
    first, declaration, last = statements(loop.body)
    moved = with_run(stand.program, stand.function, (first, declaration, last), (declaration, first, last))
    function = next(f for _, f in moved.functions())
    found = find_captured(function)
    assert found is not None and found.name == "t"


def moved(program: Analyzed, text: str, behind: str) -> str | None:
    """Return what is captured where a statement comes to stand behind another one, in its block."""
    stmt, at = program.statement(text), program.statement(behind)
    made = with_run(program.program, program.function(), (at,), (at, stmt))
    found = find_captured(next(f for _, f in made.functions() if f.symbol.name == "f"))
    return None if found is None else found.name


@pytest.mark.parametrize(
    ("statement", "behind", "wrong"),
    [
        # a global variable behind a local one of its name, a local one where it is not declared
        ("a[t] = 1", "double t = 3", "t"),
        ("a[0] = t", "a[t] = 1", "t"),
        ("a[t] = 2", "a[t] = 1", "t"),
        ("a[t] = 1", "a[0] = t", "t"),
        ("int i = 2", "a[t] = 1", None),
        ("k = n - 1", "a[t] = 1", "n"),
        ("a[1] = sizeof", "a[t] = 2", "rows"),
        # the length of a row names a variable as well
        ("double (*rows)", "int n = k", "n"),
        ("a[t] = 1", "double (*rows)", None),
    ],
)
def test_a_statement_that_stands_elsewhere(statement: str, behind: str, wrong: str | None, program: Analyzed) -> None:
    assert moved(program, statement, behind) == wrong


def test_names_behind_a_statement(program: Analyzed) -> None:
    function = program.function()
    inner = next(n.symbol for n in walk(program.statement("{ double t")) if isinstance(n, VarDecl))
    outer = next(n.symbol for n in walk(program.statement("a[t] = 1")) if isinstance(n, Name) and n.symbol.name == "t")
    means = names_at_end(function, program.statement("double t = 3"))
    assert means(inner) and not means(outer)
    means = names_at_end(function, program.statement("a[t] = 1"))
    assert means(outer) and not means(inner)
    with pytest.raises(LookupError, match="f has no such statement"):
        names_at_end(function, Program().host())


def test_a_step_after_which_names_mean_others_is_refused(tmp_path: Path) -> None:
    stand = one("for (int i = 0; i < n; i++) { x[i] = 1; y[i] = 2; }", tmp_path)
    step = Distribute("F/i")
    assert isinstance(names_hold(step, stand.program, "F/i", Proved()), Proved)
    refused = Unknown(())
    assert names_hold(step, stand.program, "F/i", refused) is refused
