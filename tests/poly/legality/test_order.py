"""The ordered model of a run, and what keeps a run from being reordered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.programs import function, load
from warpsmith.base.verdict import Proved, Refuted, Unknown, Verdict
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import budget
from warpsmith.poly.legality.legality import keeps_order
from warpsmith.poly.legality.order import Ordered, order_run
from warpsmith.poly.legality.schedules import Schedule, ScheduleDimension, at, counter
from warpsmith.tree.nodes import Block, DeclStmt, For, Function, If, Stmt
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import Symbol

HEAD = "#include <stdio.h>\nextern double x[100], y[100], A[50][50]; extern int idx[100]; void other(void);\n"


def facts_of(text: str, folder: Path, options: PolyOptions | None = None) -> tuple[Facts, Function]:
    program = load(f"{HEAD}{text}", folder)
    return Facts.about(program, options or PolyOptions()), function(program, "f")


def loops_of(f: Function) -> tuple[For, ...]:
    """Return the loops at the top of a function."""
    return tuple(s for s in f.body.statements if isinstance(s, For))


def body(stmt: Stmt) -> tuple[Stmt, ...]:
    inner = stmt.body if isinstance(stmt, For) else stmt
    return inner.statements if isinstance(inner, Block) else (inner,)


def shown(model: Ordered) -> list[str]:
    found = {
        f"{k.source.statement.name} -> {k.sink.statement.name} {k.kind} {k.source.reference.access.base.name}": k
        for k in model.links()
    }
    return sorted(found)


def backward(facts: Facts, f: Function, owned: frozenset[Symbol] = frozenset()) -> Verdict:
    """May the first loop of the function run backward, its body being one statement?"""
    loop = loops_of(f)[0]
    return keeps_order(facts, f, (loop,), {loop.body: (counter(loop.variable, -1),)}, owned)


def apart(facts: Facts, f: Function) -> Verdict:
    """May the first loop of the function be distributed over its statements?"""
    loop = loops_of(f)[0]
    schedules: dict[Stmt, Schedule] = {s: (at(k), counter(loop.variable)) for k, s in enumerate(body(loop))}
    return keeps_order(facts, f, (loop,), schedules)


def texts(verdict: Verdict) -> str:
    assert not isinstance(verdict, Proved), verdict
    return "; ".join(reason.text for reason in verdict.reasons)


def test_a_model_has_domains_times_and_dependences(tmp_path: Path) -> None:
    facts, f = facts_of(
        "void f(int n) { for (int i = 0; i < n; i++) { x[i] = y[i]; for (int j = n; j > i; j--) y[j] += x[i]; } }",
        tmp_path,
    )
    (outer,) = loops_of(f)
    first, inner = body(outer)
    assert isinstance(inner, For)
    with budget(10**6):
        model = order_run(facts, f, (outer,), (first, body(inner)[0]))
        one, two = model.statements
        i, j = outer.variable, inner.variable
        assert (one.name, two.name) == ("S0", "S1")
        assert one.schedule == (at(0), counter(i), at(0))
        assert two.schedule == (at(0), counter(i), at(1), counter(j, -1), at(0))
        n = next(name for name, known in model.state.vocabulary.atoms.items() if known.text == "n")
        assert [model.state.vocabulary[c].symbol for c in two.counters] == [i, j]
        a, b = two.counters
        assert str(model.domain(two)) == f"[{n}] -> {{ [{a}, {b}] : 0 <= {a} < {n} and {a} < {b} <= {n} }}"
        assert shown(model) == [
            "S0 -> S1 flow x",
            "S1 -> S0 flow y",
            "S1 -> S1 anti y",
            "S1 -> S1 flow y",
            "S1 -> S1 output y",
        ]
        assert not model.obstacles
        for link in model.links():
            assert link.certain


def test_the_same_access_in_two_leaves_is_two_accesses(tmp_path: Path) -> None:
    facts, f = facts_of("void f(int n) { for (int i = 0; i < n; i++) { x[i] = 1; y[i] = x[i]; x[i] = 2; } }", tmp_path)
    (loop,) = loops_of(f)
    model = order_run(facts, f, (loop,), body(loop))
    assert shown(model) == ["S0 -> S1 flow x", "S0 -> S2 output x", "S1 -> S2 anti x"]


@pytest.mark.parametrize("dimension", ["a variable that the run changes", "a divisor that is none"])
def test_a_time_without_a_value_leaves_the_order_open(dimension: str, tmp_path: Path) -> None:
    text = "void f(int n) { int q = 0; for (int i = 0; i < n; i++) { x[i] = y[i]; q = i; } y[0] = q; }"
    facts, f = facts_of(text, tmp_path)
    (loop,) = loops_of(f)
    declared = next(s for s in f.body.statements if isinstance(s, DeclStmt))
    q = declared.declarations[0].symbol
    dimensions = {
        "a variable that the run changes": ScheduleDimension(((q, 1),), 0),
        "a divisor that is none": ScheduleDimension(((loop.variable, 1),), 0, 0),
    }
    assert isinstance(keeps_order(facts, f, (loop,), {loop.body: (dimensions[dimension],)}), Unknown)


def test_a_private_scalar_is_no_dependence(tmp_path: Path) -> None:
    text = "void f(int n) { double t; for (int i = 0; i < n; i++) { t = x[i]; y[i] = t * t; } }"
    facts, f = facts_of(text, tmp_path)
    assert backward(facts, f) == Proved(())
    assert isinstance(apart(facts, f), Refuted)


def test_a_scalar_that_is_read_later_is_memory(tmp_path: Path) -> None:
    text = "double f(int n) { double t = 0; for (int i = 0; i < n; i++) { t = x[i]; y[i] = t * t; } return t; }"
    facts, f = facts_of(text, tmp_path)
    verdict = backward(facts, f)
    assert isinstance(verdict, Refuted)
    assert "dependence on t would be turned around" in texts(verdict)


def test_what_is_owned_is_no_dependence(tmp_path: Path) -> None:
    text = "double f(int n) { double t = 0; for (int i = 0; i < n; i++) { t = x[i]; y[i] = t * t; } return t; }"
    facts, f = facts_of(text, tmp_path)
    first = f.body.statements[0]
    assert isinstance(first, DeclStmt)
    t = first.declarations[0].symbol
    assert backward(facts, f, frozenset({t})) == Proved(())


def test_a_conditional_write_may_leave_an_older_value(tmp_path: Path) -> None:
    text = "void f(int n) { double t = 0; for (int i = 0; i < n; i++) { if (x[i] > 0) t = x[i]; y[i] = t; } }"
    facts, f = facts_of(text, tmp_path)
    assert not isinstance(backward(facts, f), Proved)


@pytest.mark.parametrize(
    ("inside", "reason"),
    [
        ('printf("%d", i);', "printf"),
        ("other();", "other"),
        ("if (x[i] > 1) break; y[i] = 0;", "cuts the loop around it short"),
        ("if (x[i] > 1) return; y[i] = 0;", "return"),
        ("if (x[i] > 1) continue; y[i] = 0;", "cuts the loop around it short"),
        ("x[idx[i]] = i;", "not affine"),
        ("if (y[i] > 0) x[i / 2] = x[i];", "depending on data"),
    ],
)
def test_what_is_not_modelled_is_unknown(inside: str, reason: str, tmp_path: Path) -> None:
    facts, f = facts_of(f"void f(int n) {{ for (int i = 0; i < n; i++) {{ {inside} }} }}", tmp_path)
    verdict = backward(facts, f)
    assert isinstance(verdict, Unknown)
    assert reason in texts(verdict)


def test_a_counter_that_lives_on_is_in_the_way(tmp_path: Path) -> None:
    facts, f = facts_of("int f(int n) { int i; for (i = 0; i < n; i++) { x[i] = 0; } return i; }", tmp_path)
    assert "the counter i of the loop is read after it" in texts(backward(facts, f))
    (loop,) = loops_of(f)
    assert backward(facts, f, frozenset({loop.variable})) == Proved(())


def test_a_counter_that_may_wrap_is_in_the_way(tmp_path: Path) -> None:
    facts, f = facts_of("void f(int n) { for (unsigned char i = 0; i < n; i++) { x[i] = 0; } }", tmp_path)
    verdict = backward(facts, f)
    assert isinstance(verdict, Proved)
    assert [a.text for a in verdict.assumptions] == ["n <= 255"]
    facts, f = facts_of(
        "void f(int n) { for (unsigned char i = 0; i < n; i++) { x[i] = 0; } }", tmp_path, PolyOptions(guards=False)
    )
    assert "may wrap around" in texts(backward(facts, f))


def test_a_condition_around_leaves_must_not_change(tmp_path: Path) -> None:
    text = "void f(int n) {{ for (int i = 0; i < n; i++) {{ if ({0}[i] > 0) x[i] = y[i]; }} }}"
    for name, legal in (("idx", True), ("x", False), ("y", True)):
        facts, f = facts_of(text.format(name), tmp_path)
        (loop,) = loops_of(f)
        (branch,) = body(loop)
        assert isinstance(branch, If)
        verdict = keeps_order(facts, f, (loop,), {branch.then: (counter(loop.variable, -1),)})
        assert isinstance(verdict, Proved if legal else Unknown)
        assert legal or "decides which statements run" in texts(verdict)


def test_a_bound_around_leaves_must_not_change(tmp_path: Path) -> None:
    text = "void f(int n) { int m; for (int i = 0; i < n; i++) { m = idx[i]; for (int j = 0; j < m; j++) x[j] = 0; } }"
    facts, f = facts_of(text, tmp_path)
    (loop,) = loops_of(f)
    first, inner = body(loop)
    assert isinstance(inner, For)
    schedules: dict[Stmt, Schedule] = {
        first: (counter(loop.variable, -1),),
        inner.body: (counter(loop.variable, -1), at(1)),
    }
    assert "m decides which statements run" in texts(keeps_order(facts, f, (loop,), schedules))


def test_names_that_may_overlap_need_a_guard(tmp_path: Path) -> None:
    text = "void f(int n, double *p, double *q) { for (int i = 0; i < n; i++) { p[i] = q[i]; } }"
    facts, f = facts_of(text, tmp_path)
    verdict = backward(facts, f)
    assert isinstance(verdict, Proved)
    assert [a.text for a in verdict.assumptions] == ["what is touched of p and of q does not overlap"]
    facts, f = facts_of(text, tmp_path, PolyOptions(guards=False))
    assert "p and q may overlap" in texts(backward(facts, f))
    granted = PolyOptions(guards=False, granted=(Assumption("noalias(p, q)", "granted"),))
    facts, f = facts_of(text, tmp_path, granted)
    assert isinstance(backward(facts, f), Proved)


def test_where_nothing_moves_nothing_is_assumed(tmp_path: Path) -> None:
    text = "void f(int n, double *p, double *q) { for (int i = 0; i < n; i++) { p[i] = q[i]; } }"
    facts, f = facts_of(text, tmp_path)
    (loop,) = loops_of(f)
    assert keeps_order(facts, f, (loop,), {loop.body: (ScheduleDimension(((loop.variable, 2),), 7),)}) == Proved(())


def test_fusion_looks_at_all_pairs_of_iterations(tmp_path: Path) -> None:
    text = "void f(int n) {{ for (int i = 0; i < n; i++) x[i] = 1; for (int i = 0; i < n; i++) y[i] = x[{0}]; }}"
    for index, legal in (("i", True), ("i - 1", True), ("i + 1", False), ("n - 1 - i", False)):
        facts, f = facts_of(text.format(index), tmp_path)
        run = loops_of(f)
        schedules: dict[Stmt, Schedule] = {loop.body: (counter(loop.variable), at(k)) for k, loop in enumerate(run)}
        assert isinstance(keeps_order(facts, f, run, schedules), Proved if legal else Refuted)


def test_rows_may_name_what_does_not_change(tmp_path: Path) -> None:
    text = "void f(int n, int m) { for (int i = 0; i < n; i++) { x[i] = x[i] + 1; } m = 0; }"
    facts, f = facts_of(text, tmp_path)
    (loop,) = loops_of(f)
    for symbol in f.parameters:
        verdict = keeps_order(facts, f, (loop,), {loop.body: (ScheduleDimension(((symbol, 1), (loop.variable, -1))),)})
        assert isinstance(verdict, Proved)


def test_a_statement_without_a_time_is_in_the_way(tmp_path: Path) -> None:
    facts, f = facts_of("void f(int n) { for (int i = 0; i < n; i++) { x[i] = 1; y[i] = 2; } }", tmp_path)
    (loop,) = loops_of(f)
    verdict = keeps_order(facts, f, (loop,), {body(loop)[0]: (counter(loop.variable, -1),)})
    assert "has no place in the new order" in texts(verdict)


def test_a_loop_inside_a_leaf_may_be_any_loop(tmp_path: Path) -> None:
    text = "void f(int n) { for (int i = 0; i < n; i++) { double t = x[i]; while (t > 1) t = t / 2; x[i] = t; } }"
    facts, f = facts_of(text, tmp_path)
    assert backward(facts, f) == Proved(())


def test_running_out_of_work_is_unknown(tmp_path: Path) -> None:
    facts, f = facts_of(
        "void f(int n) { for (int i = 1; i < n; i++) { x[i] = x[i - 1]; } }", tmp_path, PolyOptions(max_operations=10)
    )
    assert "work budget" in texts(backward(facts, f))


def test_the_order_of_counters_that_count_down(tmp_path: Path) -> None:
    text = "void f(int n) { for (int i = n - 1; i > 0; i--) { x[i] = x[i - 1]; } }"
    facts, f = facts_of(text, tmp_path)
    (loop,) = loops_of(f)
    keeps = keeps_order(facts, f, (loop,), {loop.body: (counter(loop.variable, -1),)})
    turns = keeps_order(facts, f, (loop,), {loop.body: (counter(loop.variable),)})
    assert keeps == Proved(())
    assert isinstance(turns, Refuted)
    found = turns.reasons[0].dependence
    assert found is not None
    assert (found.kind, found.distance, found.direction, found.carried_by) == ("anti", (1,), ("<",), "f/i")


def test_which_instances_meet_is_worked_out_once_for_all_orders(tmp_path: Path) -> None:
    facts, f = facts_of("void f(void) { for (int i = 1; i < 99; i++) { x[i] = x[i - 1]; y[i] = x[i]; } }", tmp_path)
    (loop,) = loops_of(f)
    assert isinstance(backward(facts, f), Refuted)
    (model,) = (known for known in facts.orders.values() if isinstance(known, Ordered) and not known.region.assumptions)
    before = dict(model._meetings)
    assert before and len(before) <= sum(len(group) ** 2 for group in model.groups)
    first, second = body(loop)
    forward = {stmt: (counter(loop.variable), at(1 - k)) for k, stmt in enumerate((first, second))}
    keeps_order(facts, f, (loop,), forward)
    assert all(model._meetings[key] is known for key, known in before.items())
