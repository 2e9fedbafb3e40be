"""Versions of a run that declares something: its scope comes along, so that all names behind it keep their meaning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.offload.hand import load
from warpsmith.flows.porting.step_check import verify_steps
from warpsmith.loops.analysis.scopes import find_captured
from warpsmith.loops.changed.guarded_runs import find_rest_of_scope
from warpsmith.loops.place import LoopContext
from warpsmith.loops.prepared import Applied, Prepared
from warpsmith.loops.steps.data.unmap import Unmap
from warpsmith.loops.steps.statements.find_first import FindFirst
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.run.verification import VerifyOptions
from warpsmith.tree.nodes import Block, DeclStmt, Function, If, Stmt
from warpsmith.tree.program import Program
from warpsmith.tree.walk import walk

# data directives go from the first statement, a search becomes a minimum in the third: one change from that one to this
CHECKED = """
#include <stdio.h>
#include <stdlib.h>
static void twice(int n, const double *a, double *b)
{
#pragma omp target enter data map(to: a[0:n]) map(alloc: b[0:n])
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++)
        b[i] = 2 * a[i];
#pragma omp target exit data map(release: a[0:n]) map(from: b[0:n])
    DECLARED
    for (int i = 0; i < n; i++)
        if (b[i] != 2 * a[i]) {
            FOUND;
            break;
        }
    BEHIND
}
int main(void)
{
    double *a = malloc(40 * sizeof *a), *b = malloc(40 * sizeof *b);
    for (int i = 0; i < 40; i++)
        a[i] = i;
    twice(40, a, b);
    free(a);
    free(b);
    return 0;
}
"""
# what is declared, what the search does with it, what follows, and how much of that is in its scope
SCOPES = {
    "read once": ("int good = 1;", "good = 0", r'printf("%d\n", good); puts("done");', 1),
    "read at the end": ("int good = 1;", "good = 0", r'puts("so"); printf("%d\n", good);', 2),
    "not read": ("int good = 1;", "good = 0", 'puts("done");', 0),
    "address kept": ("int good = 1; int *p = &good;", "*p = 0", r'puts("so"); puts("so"); printf("%d\n", *p);', 3),
    "array": ("int seen[2] = {0, 0};", "seen[1] = i", r'printf("%d\n", seen[1]); puts("done"); return;', 2),
    "size of it": ("long good = 1;", "good = 0", r'puts("so"); printf("%d %ld\n", (int)sizeof good, good);', 2),
}


def given(declared: str, found: str, behind: str) -> str:
    return CHECKED.replace("DECLARED", declared).replace("FOUND", found).replace("BEHIND", behind)


def stepped(program: Program, *makers: Callable[[], Unmap | FindFirst]) -> Prepared:
    """Return the program after steps that prove themselves."""
    original = facts = Facts.about(program, PolyOptions())
    applied: list[Applied] = []
    for make in makers:
        step = make()
        place = LoopContext.of(facts.program, step.loop)
        applied.append(Applied(step, step.check(facts.program, facts), place.function.symbol, place.loop.span))
        facts = facts.after(step.apply(facts.program))
    return Prepared(original, facts, tuple(applied))


def both(text: str, folder: Path) -> Prepared:
    return stepped(load(text, folder), lambda: Unmap("twice/i"), lambda: FindFirst("twice/i#2"))


def guarded(prepared: Prepared) -> Function:
    return next(f for _, f in prepared.guard_changes().functions() if f.symbol.name == "twice")


@pytest.mark.parametrize("title", SCOPES)
def test_what_a_changed_run_declares_stays_in_scope(title: str, tmp_path: Path) -> None:
    declared, found, behind, count = SCOPES[title]
    prepared = both(given(declared, found, behind), tmp_path)
    (change,) = prepared.changes()
    assert any(isinstance(stmt, DeclStmt) for stmt in change.old) and change.assumptions
    assert prepared.untestable() == ()
    function = guarded(prepared)
    assert find_captured(function) is None
    (versions,) = [s for s in function.body.statements if isinstance(s, If) and s.other is not None]
    for arm, run in ((versions.then, change.new), (versions.other, change.old)):
        assert isinstance(arm, Block) and len(arm.statements) == len(run) + count


def test_without_the_rest_of_the_scope_names_mean_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A seeded bug: the run alone gets versions."""
    prepared = both(given(*SCOPES["read once"][:3]), tmp_path)
    monkeypatch.setattr("warpsmith.loops.prepared.find_rest_of_scope", lambda *rest: ())
    wrong = find_captured(guarded(prepared))
    assert wrong is not None and wrong.name == "good"


def test_a_scope_that_may_not_stand_twice_leaves_the_run_as_it_is(tmp_path: Path) -> None:
    between = 'static int times; times++; printf("%d %d\\n", good, times);'
    assert len(both(given("int good = 1;", "good = 0", between), tmp_path).untestable()) == 1
    behind = 'printf("%d\\n", good); static int times; times++;'
    assert both(given("int good = 1;", "good = 0", behind), tmp_path).untestable() == ()


def test_statements_without_declarations_have_no_scope(tmp_path: Path) -> None:
    program = load("void f(int n, int *a) { a[0] = n; if (n) a[1] = 2; a[2] = 3; }\n", tmp_path)
    ((_, function),) = program.functions()
    first: Stmt = function.body.statements[0]
    assert find_rest_of_scope(function, (first,)) == ()
    inner = next(part for part in walk(function.body) if isinstance(part, If)).then
    assert find_rest_of_scope(function, (inner,)) == ()


@pytest.mark.slow
def test_the_referee_builds_and_compares_it(tmp_path: Path) -> None:
    assert verify_steps(both(given(*SCOPES["read once"][:3]), tmp_path), VerifyOptions()).status == "pass"
