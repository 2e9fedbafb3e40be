"""The changes of steps are found by identity: the smallest runs, under headers that stayed."""

from __future__ import annotations

from pathlib import Path

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.changed.changes import changed_runs, counterparts
from warpsmith.loops.place import with_run
from warpsmith.loops.steps.data.localize import Localize
from warpsmith.loops.steps.order.interchange import Interchange
from warpsmith.tree.nodes import For, Function, Pragma, Verbatim
from warpsmith.tree.program import Program

TEXT = """
void f(int n, int m, double a[restrict n][m], double *restrict b)
{
    for (int t = 0; t < 5; t++) {
        b[0] = t;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                a[i][j] = t;
        b[1] = t;
    }
    b[2] = 1;
}
"""


def load(folder: Path) -> Program:
    path = folder / "given.c"
    path.write_text(TEXT)
    return load_program([str(path)], FrontOptions()).program


def only(program: Program) -> Function:
    return next(function for _, function in program.functions())


def test_the_smallest_run_under_the_same_header(tmp_path: Path) -> None:
    program = load(tmp_path)
    old = only(program)
    new = only(Interchange("f/t/i").apply(program))
    ((before, after),) = changed_runs(old, new)
    assert [s.variable.name for s in before if isinstance(s, For)] == ["i"]
    assert [s.variable.name for s in after if isinstance(s, For)] == ["j"]
    around = counterparts(old, new)
    assert around[new.body.statements[0]] is old.body.statements[0]


def test_pragmas_that_share_a_conditional_are_a_change_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "given.c"
    path.write_text(
        "struct g { int n; double *x; };\nvoid f(int n, struct g *g, int *calls)\n{\n#ifndef OFF\n    ++*calls;\n"
        "#pragma omp parallel for\n#endif\n    for (int i = 0; i < n; i++)\n        g->x[i] = i;\n}\n"
    )
    program = load_program([str(path)], FrontOptions()).program
    pragma, run = changed_runs(only(program), only(Localize("f/i").apply(program)))
    assert ([type(s) for s in pragma[0]], pragma[1]) == ([Pragma], ())
    assert [type(s) for s in run[0]] == [For]
    assert not any(isinstance(s, Verbatim) for s in run[1])


def test_nothing_changed_is_nothing(tmp_path: Path) -> None:
    function = only(load(tmp_path))
    assert changed_runs(function, function) == ()


def test_a_removed_statement_is_a_change_of_its_list(tmp_path: Path) -> None:
    program = load(tmp_path)
    old = only(program)
    last = old.body.statements[-1]
    new = only(with_run(program, old, (last,), ()))
    assert changed_runs(old, new) == (((last,), ()),)
