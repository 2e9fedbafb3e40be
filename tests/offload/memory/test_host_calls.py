"""Who calls whom on the host: functions that lead to kernels, and those that run while statements do."""

from __future__ import annotations

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.offload.memory.host_calls import HostCalls, calls_in, device_call, leads_to_kernels
from warpsmith.poly.effects.summaries import Summaries

TEXT = """
double helper(double x) { return x + 1; }
double deep(double x) { return helper(x) * 2; }
void kernel(double *a, int n) { for (int i = 0; i < n; i++) a[i] = deep(a[i]); }
void stage(double *a, int n) { if (n > 3) kernel(a, n); }
void again(double *a, int n) { if (n) { again(a, n - 1); stage(a, n); } }
void aside(double *a) { a[0] = helper(a[1]); }
void f(double *a, int n, void (*call)(double *, int)) {
    again(a, n);
    aside(a);
    call(a, n);
    a[0] = 1;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    return analyzed(TEXT, tmp_path_factory.mktemp("calls"))


def calls(program: Analyzed) -> HostCalls:
    summaries = Summaries.of(program.program)
    device = leads_to_kernels(summaries, {program.function("kernel").symbol})
    return HostCalls.of(summaries, program.function("kernel").body.statements, device)


def test_callers_of_callers_lead_to_kernels(program: Analyzed) -> None:
    assert {s.name for s in calls(program).device} == {"kernel", "stage", "again", "f"}
    assert leads_to_kernels(Summaries.of(program.program), set()) == frozenset()


@pytest.mark.parametrize(
    ("statement", "reached"),
    [
        # what the kernel's own statements call runs on the device
        ("again(a, n)", {"again", "stage", "kernel"}),
        ("aside(a)", {"aside", "helper"}),
        ("call(a, n)", set()),
        ("a[0] = 1", set()),
    ],
)
def test_what_the_host_calls_while_a_statement_runs(statement: str, reached: set[str], program: Analyzed) -> None:
    found = calls(program).find_reached([program.statement(statement)])
    assert {f.symbol.name for f in found} == reached


def test_a_call_of_what_leads_to_kernels(program: Analyzed) -> None:
    device = calls(program).device
    found = device_call(program.statement("again(a, n)"), device)
    assert found is not None and found.span.text == "again(a, n)"
    assert device_call(program.statement("aside(a)"), device) is None
    assert device_call(program.statement("again(a, n)"), frozenset()) is None


def test_all_calls_are_found_in_order(program: Analyzed) -> None:
    assert [call.span.text for call in calls_in(program.function("again").body)] == ["again(a, n - 1)", "stage(a, n)"]
    assert [call.span.text for call in calls_in(program.function("f").body)][-1] == "call(a, n)"
