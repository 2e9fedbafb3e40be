"""Which elements may be kept in variables, over which run, and under which conditions."""

from __future__ import annotations

from tests.poly.analysis import program_of
from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.replaceable import Replaceable, Replacement, find_replaceable, root_of_element
from warpsmith.poly.effects.origin import Origin
from warpsmith.tree.nodes import Expr, Loop, Stmt
from warpsmith.tree.printing.printer import print_expr, show_expression

HEAD = "void f(int n, int m, double A[restrict n][m], double *restrict q, const int *restrict p)\n"


def always(run: tuple[Stmt, ...], nodes: tuple[Expr, ...], inside: tuple[Loop, ...]) -> Verdict:
    return Proved()


def never(run: tuple[Stmt, ...], nodes: tuple[Expr, ...], inside: tuple[Loop, ...]) -> Verdict:
    return Unknown((Reason("STP001", f"asked about {len(run)} in {len(inside)}"),))


def find(body: str, wanted: str = "") -> Replaceable:
    program = program_of(f"{HEAD}{{\n{body}\n}}\n")
    _, function = next(iter(program.functions()))
    origin = Origin.of(program, function)
    return find_replaceable(
        origin,
        function.body.statements,
        always,
        typed=True,
        wanted=lambda element: not wanted or show_expression(element) == wanted,
    )


def only(body: str) -> Replacement:
    (found,) = find(body).found
    return found


def conditions(one: Replacement) -> tuple[list[str], list[str]]:
    return [print_expr(c) for c in one.entry], [print_expr(c) for c in one.conditions]


def test_a_run_begins_where_the_element_is_first_assigned() -> None:
    one = only("q[0] = 1; q[1] = 0; for (int k = 0; k < m; k++) q[1] += p[k]; q[1] /= 2; q[2] = 1;")
    assert [stmt.span.text for stmt in one.run] == [
        "q[1] = 0;",
        "for (int k = 0; k < m; k++) q[1] += p[k];",
        "q[1] /= 2;",
    ]
    assert one.given and one.stored and not one.loaded and conditions(one) == ([], [])
    assert root_of_element(one.place).name == "q" and one.type.name == "double"


def test_a_loop_alone_has_its_own_condition() -> None:
    one = only("for (int k = 1; k < m; k++) q[1] += p[k];")
    assert conditions(one) == (["1 < m"], []) and one.loaded and not one.given
    assert conditions(only("for (int k = p[1]; k < p[2] + m; k++) q[1] += 2;")) == (["p[1] < p[2] + m"], [])
    assert conditions(only("for (int k = 0; k < 5; k++) q[1] += p[k];")) == ([], [])


def test_the_conditions_of_loops_inside_stand_by_themselves() -> None:
    one = only("for (int j = 0; j < n; j++) { for (int k = 1; k < m; k++) q[1] += p[k]; q[j + 2] = 0; }")
    assert conditions(one) == (["0 < n"], ["1 < m"])


def test_what_differs_between_iterations_is_kept_inside() -> None:
    one = only("for (int j = 0; j < n; j++) for (int k = 0; k < j; k++) q[1] += p[k];")
    assert one.run[0].span.text.startswith("for (int k") and conditions(one) == (["0 < j"], [])


def test_what_is_only_read_is_kept_beside_stores() -> None:
    loop = "for (int j = 0; j < n; j++) for (int k = 0; k < m; k++) {} += q[j] * k;"
    (kept,) = find(loop.replace("{}", "A[j][k]")).found
    assert not kept.stored and conditions(kept) == (["0 < m"], []) and show_expression(kept.place) == "q[j]"
    # a compiler sees that nothing is stored in the loop
    assert [show_expression(one.place) for one in find(loop.replace("{}", "A[j][0]")).found] == ["A[j][0]"]


def test_only_what_innermost_loops_touch_is_worth_it() -> None:
    assert not find("for (int j = 0; j < n; j++) { q[1] += 1; for (int k = 0; k < m; k++) A[j][k] = 0; }").found
    assert not find("for (int k = 0; k < 1; k++) q[1] += 1;").found
    assert find("for (int k = 0; k <= 1; k++) q[1] += 1;").found


def test_a_shorter_run_where_the_whole_is_in_the_way() -> None:
    body = "q[1] = 0; for (int k = 0; k < m; k++) q[1] += k; if (n > 3) return; q[1] += 1;"
    one = only(body)
    assert len(one.run) == 2


def test_only_wanted_elements() -> None:
    body = "for (int k = 0; k < m; k++) { q[1] += k; q[2] += k; }"
    assert len(find(body).found) == 2 and len(find(body, "q[2]").found) == 1


def test_who_is_asked_has_the_last_word() -> None:
    program = program_of(f"{HEAD}{{\nfor (int j = 0; j < n; j++) for (int k = 0; k < m; k++) A[j][0] += k;\n}}\n")
    _, function = next(iter(program.functions()))
    found = find_replaceable(Origin.of(program, function), function.body.statements, never, typed=True)
    assert not found.found and [reason.text for reason in found.refused] == ["asked about 1 in 1"]
