"""A program that steps rewrote, beside the user's: what stands in place of what, under which guards."""

from __future__ import annotations

from pathlib import Path

from tests.loops.changed.test_changes import load, only
from tests.offload.hand import load as parse
from warpsmith.base.verdict import Proved
from warpsmith.loops.place import LoopContext
from warpsmith.loops.prepared import Applied, Prepared, as_written, pairs
from warpsmith.loops.steps.order.canonicalize import Canonicalize
from warpsmith.loops.steps.order.interchange import Interchange
from warpsmith.loops.steps.order.unroll import Unroll
from warpsmith.loops.steps.statements.find_first import FindFirst
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import Block, For, If
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.walk import loops, names


def test_the_fall_back_is_the_users_own_text(tmp_path: Path) -> None:
    program = load(tmp_path)
    facts = Facts.about(program, PolyOptions())
    step = Interchange("f/t/i")
    old = only(program)
    loop = next(loop for loop, _ in loops(old.body) if isinstance(loop, For) and loop.variable.name == "i")
    applied = Applied(step, step.check(program, facts), old.symbol, loop.span)
    prepared = Prepared(facts, facts.after(step.apply(program)), (applied,))
    scope = only(prepared.program).body.statements
    assert as_written(scope, prepared.changes()) == old.body.statements
    assert prepared.steps_of(old.body.statements[0].span) == (applied,)
    assert prepared.untestable() == ()


def stepped(program: Program, step: Interchange | Unroll, *assumed: Assumption) -> Prepared:
    """Apply a step that is said to rest on `assumed`."""
    facts = Facts.about(program, PolyOptions())
    place = LoopContext.of(program, step.loop)
    applied = Applied(step, Proved(assumed), place.function.symbol, place.loop.span)
    return Prepared(facts, facts.after(step.apply(program)), (applied,))


def guard(program: Program) -> Assumption:
    return Assumption("so", "guarded", LoopContext.of(program, "f/t").require_counted().bound)


def test_a_change_rests_on_the_steps_that_worked_on_its_text(tmp_path: Path) -> None:
    program = load(tmp_path)
    found = stepped(program, Interchange("f/t/i"), guard(program), guard(program))
    (change,) = found.changes()
    assert [a.text for a in change.assumptions] == ["so"]
    assert change.stands_in(change.rewritten.body.statements) and not change.stands_in(change.old)
    assert set(change.new) <= change.parts()
    # a constant can be tested anywhere
    assert found.untestable() == ()


def test_a_change_with_a_guard_stands_beside_the_users_text(tmp_path: Path) -> None:
    program = load(tmp_path)
    made = only(stepped(program, Interchange("f/t/i"), guard(program)).guard_changes())
    blocks = [loop.body.statements for loop, _ in loops(made.body) if isinstance(loop.body, Block)]
    tests = [stmt for run in blocks for stmt in run if isinstance(stmt, If)]
    assert len(tests) == 1 and tests[0].other is not None
    plain = stepped(program, Interchange("f/t/i"))
    assert plain.guard_changes() is plain.program


def test_a_guard_without_a_condition_cannot_be_tested(tmp_path: Path) -> None:
    program = load(tmp_path)
    assert len(stepped(program, Interchange("f/t/i"), Assumption("so", "guarded", None)).untestable()) == 1
    assert stepped(program, Interchange("f/t/i"), Assumption("so", "granted", None)).untestable() == ()


WALK = "int g(int n, const int *p) { while (n-- > 0) if (*p++ == 3) return 1; return 0; }\n"
NEST = "void g(int n, int m, double *a) { while (n-- > 0) for (int i = 0; i < m; i++) a[i] += n; }\n"


def walked(text: str, folder: Path) -> Prepared:
    program = parse(text, folder)
    facts = Facts.about(program, PolyOptions())
    step = Canonicalize("g/while")
    place = LoopContext.of(program, step.loop)
    applied = Applied(step, step.check(program, facts), place.function.symbol, place.loop.span)
    return Prepared(facts, facts.after(step.apply(program)), (applied,))


def test_a_guard_of_walkers_speaks_of_where_the_run_is_entered(tmp_path: Path) -> None:
    found = walked(WALK, tmp_path)
    step = FindFirst("g/n_k")
    verdict = step.check(found.program, found.facts)
    place = LoopContext.of(found.program, step.loop)
    applied = Applied(step, verdict, place.function.symbol, place.loop.span)
    both = Prepared(found.original, found.facts.after(step.apply(found.program)), (*found.applied, applied))
    conditions = [a.condition for a in applied.assumptions if a.condition is not None]
    assert {n.symbol.name for condition in conditions for n in names(condition)} >= {"n", "p"}
    assert both.untestable() == ()


def test_a_guard_of_a_loop_inside_a_walk_does_not(tmp_path: Path) -> None:
    found = walked(NEST, tmp_path)
    outer = LoopContext.of(found.program, "g/n_k").require_counted()
    inner = LoopContext.of(found.program, "g/n_k/i")
    # each time that the inner loop is entered n is another number
    late = Applied(
        Unroll("g/n_k/i", 2), Proved((Assumption("n", "guarded", outer.bound),)), inner.function.symbol, inner.loop.span
    )
    assert found.untestable() == ()
    assert len(Prepared(found.original, found.facts, (*found.applied, late)).untestable()) == 1


def test_only_functions_that_changed_are_pairs(tmp_path: Path) -> None:
    text = "void g(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 1; }\n"
    program = parse(text + text.replace("void g", "void h"), tmp_path)
    ((before, after),) = pairs(program, stepped(program, Unroll("h/i", 2)).program)
    assert before.symbol.name == after.symbol.name == "h" and before is not after


def test_a_part_of_a_change_stays_as_steps_made_it(tmp_path: Path) -> None:
    text = "void g(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 1; a[0] = 2; }\n"
    program = parse(text, tmp_path)
    found = stepped(program, Unroll("g/i", 2))
    (change,) = found.changes()
    body, user = only(found.program).body.statements, only(program).body.statements
    assert len(change.new) > 1
    assert as_written(body, [change]) == user
    assert as_written(change.new[:1], [change]) == change.new[:1]
    assert as_written(user, []) == user
