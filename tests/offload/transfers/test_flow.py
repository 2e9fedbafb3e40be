"""The flow of a scope: its slots, where control comes from, and what the host evaluates where."""

from __future__ import annotations

import pytest

from tests.offload.transfers.abstract_programs import Program
from warpsmith.offload.transfers.flow import Flow, build_flow, statement_runs
from warpsmith.tree.nodes import Assign, Stmt


def flow(program: Program, *scope: Stmt) -> Flow:
    return build_flow(scope, {draft.statements[0]: draft for draft in program.drafts})


def shown(found: Flow) -> str:
    """Each point with where control comes from: `s` a slot, `h` the host, `k` a launch, `j` a join, `x` an exit."""
    words = {"slot": "s", "host": "h", "launch": "k", "join": "j", "exit": "x"}
    points = (f"{words[p.kind]}{'' if not p.preds else str(p.preds).replace(' ', '')}" for p in found.points)
    return " ".join(points)


def places(found: Flow) -> list[str]:
    return [p.place.where for p in found.points if p.place is not None]


def test_a_straight_line() -> None:
    p = Program()
    found = flow(p, p.host(), p.kernel())
    assert shown(found) == "s h[0] s[1] k[2] s[3] x[4]"
    assert places(found) == ["before", "before", "after"]
    assert [point.succs for point in found.points] == [[1], [2], [3], [4], [5], []]


def test_a_branch_has_a_slot_in_an_else_that_is_not_there() -> None:
    p = Program()
    found = flow(p, p.when([p.host()]))
    assert shown(found) == "s h[0] s[1] h[2] s[3] s[1] s[4,5] x[6]"
    assert places(found) == ["before", "before", "after", "else", "after"]
    assert [point.conditions for point in found.points] == [0, 0, 1, 1, 1, 1, 0, 0]


def test_an_empty_block_can_hold_a_copy() -> None:
    p = Program()
    assert places(flow(p, p.when([], []))) == ["before", "within", "within", "after"]


def test_a_loop_comes_back_to_its_head() -> None:
    p = Program()
    found = flow(p, p.loop(p.kernel()))
    assert shown(found) == "s h[0,4] s[1] k[2] s[3] s[1] x[5]"
    (span,) = found.loops
    assert (span.entry, span.head, span.end) == (0, 1, 5)
    assert [point.depth for point in found.points] == [0, 1, 1, 1, 1, 0, 0]
    start, bound = found.points[1].nodes
    assert isinstance(start, Assign) and bound is not None


def test_loops_are_listed_from_the_outside_inwards() -> None:
    p = Program()
    found = flow(p, p.loop(p.loop(p.host())), p.loop())
    assert [span.entry for span in found.loops] == sorted(span.entry for span in found.loops)
    assert found.loops[0].head < found.loops[1].head < found.loops[1].end <= found.loops[0].end


def test_a_do_loop_tests_behind_its_body() -> None:
    p = Program()
    found = flow(p, p.repeat("do", [p.host()]))
    assert shown(found) == "s j[0,5] s[1] h[2] s[3] h[4] s[5] x[6]"


def test_jumps_lead_out_of_their_loop_or_to_its_test() -> None:
    p = Program()
    found = flow(p, p.loop(p.when([p.leave()], [p.again()])))
    # break: the slot in front of it leads behind the loop; continue: to the head
    assert shown(found) == "s h[0,5] s[1] h[2] s[3] s[3] s[1,4] x[6]"
    p = Program()
    test_of_do = flow(p, p.repeat("do", [p.again()]))
    assert shown(test_of_do) == "s j[0,3] s[1] h[2] s[3] x[4]"


def test_a_loop_that_only_breaks_is_left_there_alone() -> None:
    p = Program()
    endless = p.repeat("do", [p.leave()])
    assert shown(flow(p, endless)) == "s j[0] s[1] s[2] x[3]"


def test_what_leaves_the_scope_is_an_exit_and_nothing_follows() -> None:
    p = Program()
    found = flow(p, p.when([p.finish()]), p.leave(), p.host())
    kinds = [point.kind for point in found.points]
    assert kinds.count("exit") == 2 and kinds[-1] == "exit"
    assert len(found.points[-1].nodes) == 0


def test_cases_fall_through_and_a_default_leaves_no_other_way() -> None:
    p = Program()
    found = flow(p, p.switch([p.host()], [p.leave()]))
    assert shown(found) == "s h[0] j[1] s[2] h[3] s[4] j[1,5] s[6] s[1,7] x[8]"
    assert found.points[4].conditions == 1
    p = Program()
    assert shown(flow(p, p.switch([p.host()], default=True))) == "s h[0] j[1] s[2] h[3] s[4] s[5] x[6]"


def test_a_continue_in_a_switch_is_the_loops() -> None:
    p = Program()
    found = flow(p, p.loop(p.switch([p.again()], default=True)))
    assert found.points[1].preds[-1] == 5 and found.points[5].kind == "slot"


@pytest.mark.parametrize(
    ("form", "counts"),
    [
        ("block", (2,)), ("if", (1,)), ("if else", (1, 2)), ("loop", (1,)), ("do", (2,)), ("switch", (1, 0)),
        ("host", ()),
    ],
)  # fmt: skip
def test_the_runs_below_a_statement(form: str, counts: tuple[int, ...]) -> None:
    p = Program()
    statements: dict[str, Stmt] = {
        "block": p.block(p.host(), p.host()),
        "if": p.when([p.host()]),
        "if else": p.when([p.host()], [p.host(), p.host()]),
        "loop": p.loop(p.host()),
        "do": p.repeat("do", [p.host(), p.host()]),
        "switch": p.switch([p.host()], []),
        "host": p.host(),
    }
    assert tuple(map(len, statement_runs(statements[form]))) == counts
