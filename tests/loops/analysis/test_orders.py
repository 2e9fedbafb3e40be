"""Statements that steps give new schedules: which move, what their schedules may name, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.refusals import first_reason, one
from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.base.verdict import Proved
from warpsmith.loops.analysis.orders import counters_of, judge_schedules, names_of, reorder_statements, statements_of
from warpsmith.loops.analysis.schedule_text import read_schedule
from warpsmith.tree.printing.printer import print_stmt

TEXT = """
void f(int n, int m, double (*restrict a)[32], double *restrict x)
{
    int k;
    for (k = 0; k < n; k++) {
        int unset;
        a[k][k] = 1;
        #pragma GCC ivdep
        for (int i = k; i < m; i++) { a[i][k] = 2; x[i] = i; }
        if (x[k] > 1) for (int j = 0; j < n; j++) a[k][j] = 3; else x[k] = 4;
        if (x[k] > 2) x[k] = 5;
        { double s = x[k]; x[k] = s; }
        ;
        while (x[k] > 6) x[k] -= 1;
    }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT.replace("        #pragma GCC ivdep\n", ""), tmp_path_factory.mktemp("orders"))


def test_the_statements_that_move(program: Analyzed) -> None:
    run = program.function().body.statements[1:]
    assert [statement.span.text.split(";")[0] for statement in statements_of(run)] == [
        "a[k][k] = 1", "a[i][k] = 2", "x[i] = i", "a[k][j] = 3", "x[k] = 4", "if (x[k] > 2) x[k] = 5",
        "{ double s = x[k]", "while (x[k] > 6) x[k] -= 1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "counters", "named"),
    [
        ("a[k][k] = 1", "k", "k n"), ("x[i] = i", "k i", "k i n m"), ("a[k][j] = 3", "k j", "k j n"),
        ("x[k] = 4", "k", "k n"),
    ],
)  # fmt: skip
def test_what_a_schedule_may_name(statement: str, counters: str, named: str, program: Analyzed) -> None:
    run, stmt = program.function().body.statements[1:], program.statement(statement)
    assert " ".join(loop.variable.name for loop in counters_of(run, stmt)) == counters
    found = names_of(run, stmt)
    assert sorted(found) == sorted(named.split()) and " ".join(found).startswith(counters)


def schedules(body: str, folder: Path, *texts: str) -> tuple[object, str]:
    """Judge statements of F at these schedules; return the reason, and the text where it is Proved."""
    stand = one(body, folder)
    run = stand.function.body.statements
    statements = statements_of(run)
    asked = {
        statement: read_schedule(text, names_of(run, statement))
        for statement, text in zip(statements, texts, strict=True)
    }
    verdict = judge_schedules(stand.program, stand.facts, stand.function, run, asked)
    if not isinstance(verdict, Proved):
        return first_reason(verdict), ""
    made = reorder_statements(stand.program, stand.function, run, asked)
    return None, " ".join(print_stmt(next(f for _, f in made.functions()).body).split())


def test_an_order_that_keeps_every_dependence_is_written(tmp_path: Path) -> None:
    reason, text = schedules("for (int i = 0; i < n; i++) { x[i] = 1; y[i] = x[i]; }", tmp_path, "0 i", "1 i")
    assert reason is None and text.count("for (") == 2 and text.index("x[") < text.index("y[")
    reason, _ = schedules("for (int i = 0; i < n; i++) { x[i] = 1; y[i] = x[i]; }", tmp_path, "1 i", "0 i")
    assert reason is not None and getattr(reason, "rule", "") == "STP001"


def test_a_pragma_speaks_of_the_loop_as_it_is(tmp_path: Path) -> None:
    reason, _ = schedules("\n#pragma omp simd\nfor (int i = 0; i < n; i++) x[i] = 1;\n", tmp_path, "-i")
    assert "a pragma tells the compiler about this loop" in str(getattr(reason, "text", ""))
