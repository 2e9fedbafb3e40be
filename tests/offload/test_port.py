"""The whole plan, from C text through the analysis: what the user's function looks like afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.offload.hand import head, load
from tests.offload.mapping.test_kernels import LU
from warpsmith.base.time_limit import time_share
from warpsmith.base.verdict import Reason
from warpsmith.loops.fresh import declared_symbols
from warpsmith.loops.prepared import Prepared
from warpsmith.offload import port as port_module
from warpsmith.offload.fragments import OffloadRequest
from warpsmith.offload.names import Names
from warpsmith.offload.plan import OffloadOptions, Port
from warpsmith.offload.port import draft_port, plan_port
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import Effort
from warpsmith.tree.nodes import Block, Copy, DataEnter, DeviceAlloc, DeviceFree, ExprStmt, For, If, Launch
from warpsmith.tree.program import Program
from warpsmith.tree.walk import loops, names, walk

SHARED = """
static void step(int n, double *restrict u, const double *restrict v) {
    for (int i = 0; i < n; i++) u[i] += v[i];
}
int main(void) {
    static double u[1000], v[1000];
    for (int t = 0; t < 9; t++) { step(1000, u, v); step(1000, v, u); }
    return u[0] > 1;
}
"""


def port(program: Program, options: OffloadOptions | None = None) -> Port:
    poly = PolyOptions()
    return plan_port(program, analyze(program, poly), options or OffloadOptions(), poly)


def test_lu_copies_once_before_and_once_after_its_sequential_loop(tmp_path: Path) -> None:
    result = port(load(LU, tmp_path))
    ((_, function),) = result.program.functions()
    (outer,) = [loop for loop, around in loops(function.body) if not around]
    assert isinstance(outer, For)
    assert [type(part) for part in walk(outer.body) if isinstance(part, Launch | Copy)] == [Launch, Launch]
    assert [t.to_device for t in result.plan.transfers] == [True, False]
    assert [t.in_loop for t in result.plan.transfers] == [None, None]
    assert [k.name for k in result.program.kernels] == ["ws_lu_k1", "ws_lu_k2"]
    assert result.plan.fragments[1].loops == ("lu/k/i#2", "lu/k/i#2/j")
    assert not result.plan.findings


def test_every_allocation_is_freed(tmp_path: Path) -> None:
    result = port(load(LU, tmp_path))
    ((_, function),) = result.program.functions()
    made = [part.buffer for part in walk(function) if isinstance(part, DeviceAlloc)]
    freed = [part.buffer for part in walk(function) if isinstance(part, DeviceFree)]
    assert made == freed != []


def test_pointers_that_may_overlap_are_versioned(tmp_path: Path) -> None:
    text = "void f(int n, double *to, double *from) { for (int i = 0; i < n; i++) to[i] = 2 * from[i]; }"
    result = port(load(text, tmp_path))
    ((_, function),) = result.program.functions()
    (choice,) = [s for s in function.body.statements if isinstance(s, If)]
    assert any(isinstance(part, Launch) for part in walk(choice.then))
    assert choice.other is not None
    assert not any(isinstance(part, Launch) for part in walk(choice.other))
    (fragment,) = result.plan.fragments
    assert {a.kind for a in fragment.assumptions} == {"guarded"}


def test_a_guard_names_nothing_that_is_declared_behind_it(tmp_path: Path) -> None:
    text = """void f(double *restrict v, int k, int m, int n) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < 8; j++)
                if (i * k + j < m * k)
                    v[i * k + j] = i + j;
    }"""
    result = port(load(text, tmp_path))
    ((_, function),) = result.program.functions()
    (choice,) = [s for s in function.body.statements if isinstance(s, If)]
    (fragment,) = result.plan.fragments
    assert fragment.loops == ("f/i", "f/i/j")
    inside = {symbol for stmt in fragment.statements for symbol in declared_symbols(stmt)}
    assert inside
    assert not inside & {name.symbol for name in names(choice.condition)}


def test_a_loop_that_was_asked_for_and_stays_is_an_error(tmp_path: Path) -> None:
    text = "void f(int n, double *a) { for (int i = 1; i < n; i++) a[i] = a[i - 1] * a[i - 1]; }"
    program = load(text, tmp_path)
    result = port(program, OffloadOptions(selected=(head(program, "f/i"),)))
    assert not result.plan.fragments
    (finding,) = [f for f in result.plan.findings if f.severity == "error"]
    assert "f/i was asked for" in finding.message
    assert not [f for f in port(program).plan.findings if f.severity == "error"]


def test_a_loop_that_was_asked_for_is_served_by_kernels_inside_it(tmp_path: Path) -> None:
    program = load(LU, tmp_path)
    result = port(program, OffloadOptions(selected=(head(program, "lu/k"),)))
    assert len(result.plan.fragments) == 2
    assert not result.plan.findings


def test_one_pass_over_the_data_is_warned_about(tmp_path: Path) -> None:
    text = "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 1; }"
    (finding,) = port(load(text, tmp_path)).plan.findings
    assert (finding.rule, finding.severity, finding.certainty) == ("POR009", "warning", "heuristic")


def test_an_array_of_structs_is_one_buffer(tmp_path: Path) -> None:
    text = """
    struct particle { double x, v; };
    void drift(int n, double dt, struct particle *p)
    {
        for (int i = 0; i < n; i++)
            p[i].x += dt * p[i].v;
    }
    """
    result = port(load(text, tmp_path))
    assert [b.host.name for b in result.plan.buffers] == ["p"]


def test_two_static_functions_of_one_name_get_different_kernels(tmp_path: Path) -> None:
    first = load("static void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 1; }", tmp_path)
    (tmp_path / "more").mkdir()
    second = load("static void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = 2; }", tmp_path / "more")
    both = Program((*first.units, *second.units))
    assert [k.name for k in port(both).program.kernels] == ["ws_f_k1", "ws_f_k1_2"]


def test_what_cannot_be_sized_is_refused_and_the_rest_is_ported(tmp_path: Path) -> None:
    text = """
    void f(int n, const int *restrict at, const double *restrict b, double *restrict a, double *restrict c)
    {
        for (int i = 0; i < n; i++)
            a[i] = b[at[i]];
        for (int i = 0; i < n; i++)
            c[i] = 1.0;
    }
    """
    # a test at run time would find the block of memory that holds b
    plan = port(load(text, tmp_path), OffloadOptions(guards=False)).plan
    assert [f.region for f in plan.fragments] == ["f/i#2"]
    assert [r.loop for r in plan.refusals] == ["f/i"]


def test_a_counter_that_is_written_before_it_is_read_again_gets_no_last_value(tmp_path: Path) -> None:
    text = """
int row[103], from[100];
int f(int n, int m, int *a)
{
    int j;
    for (j = 0; j < n; j++)
        a[j] = 0;
    for (int z = 0; z < m; z++) {
        j = from[z];
        row[j] = row[j] / 2 + row[j + 1];
    }
    for (j = n; j >= 1; j--)
        row[j] = row[j - 1];
    return %s;
}
"""
    for said, wanted in (("n", 0), ("m > 0 ? n : j", 0), ("j", 0)):
        assert len(_last_values(port(load(text % said, tmp_path)))) == wanted
    read = text.replace("j = n; j >= 1", "j += n; j >= 1").replace("for (int z", "row[j] = 1;\n    for (int z")
    assert len(_last_values(port(load(read % "n", tmp_path)))) == 1


def _last_values(result: Port) -> list[ExprStmt]:
    ((_, function),) = result.program.functions()
    assert result.plan.fragments
    branches = [run for part in walk(function) if isinstance(part, Block) for run in [part.statements]]
    return [s for run in branches for s in run if isinstance(s, ExprStmt) and s.span.text.startswith("for (j = 0")]


def test_all_plans_of_a_function_share_its_effort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    efforts: dict[str, list[Effort]] = {}
    real = vars(port_module)["_function"]

    def plan(request: OffloadRequest, names: Names, failed: Mapping[int, tuple[str, Reason]]) -> object:
        request.effort.given_up += 1
        efforts.setdefault(request.facts.function.symbol.name, []).append(request.effort)
        return real(request, names, failed)

    monkeypatch.setattr(port_module, "_function", plan)
    port(load(SHARED, tmp_path))
    assert len(efforts["step"]) > 1, "it is planned again, inside a data region"
    assert efforts["step"][-1].given_up == len(efforts["step"]), "what was spent before counts"
    assert efforts["step"][0] is not efforts["main"][0]


def test_a_plan_uses_what_its_draft_has_worked_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, poly = load(LU, tmp_path), PolyOptions()
    facts = analyze(program, poly)
    asked: list[OffloadRequest] = []
    real = vars(port_module)["_function"]

    def plan(request: OffloadRequest, names: Names, failed: Mapping[int, tuple[str, Reason]]) -> object:
        asked.append(request)
        return real(request, names, failed)

    monkeypatch.setattr(port_module, "_function", plan)
    prepared, options = Prepared(facts, facts), OffloadOptions()
    draft = draft_port(program, facts, options, poly, prepared=prepared)
    whole = plan_port(program, facts, options, poly, prepared=prepared)
    assert len(asked) == 1 and whole.plan.fragments == draft.fragments and not draft.uncovered
    # what was asked otherwise, or has failed, is worked out anew
    plan_port(program, facts, OffloadOptions(transfers="host"), poly, prepared=prepared)
    refused = [(whole.plan.fragments[0], Reason("POR008", "a reason", None))]
    left = plan_port(program, facts, options, poly, refused, prepared=prepared)
    assert len(asked) == 3 and len(left.plan.fragments) < len(whole.plan.fragments)


def test_without_time_the_kernels_have_their_data_each_for_itself(tmp_path: Path) -> None:
    def held(result: Port) -> bool:
        return any(isinstance(part, DataEnter) for _, f in result.program.functions() for part in walk(f))

    in_time = port(load(SHARED, tmp_path))
    with time_share(1e-9):
        late = port(load(SHARED, tmp_path))
    assert held(in_time) and not held(late)
    assert {k.name for k in late.program.kernels} == {k.name for k in in_time.program.kernels}
    assert [f.rule for f in late.plan.findings if "simpler than it might be" in f.message] == ["POR005"]
    assert not [f for f in in_time.plan.findings if "simpler than it might be" in f.message]
