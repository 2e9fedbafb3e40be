"""The effect of the referee's verdict on user assertions."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.findings import Finding
from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.porting.plan import writable_port
from warpsmith.flows.porting.verdict import find_doubted
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.run.verification import Verification
from warpsmith.tree.program import Assumption

# `t` is read before it has a value, where at[0] is small
TEXT = """
void f(int n, const int *at, double *a)
{
    double t = 1;
#pragma omp parallel for private(t)
    for (int i = 0; i < n; i++) {
        if (at[i] > 2)
            t = i;
        a[at[i]] = t;
    }
    for (int i = 0; i < n; i++)
        a[i] += 1;
}
"""


def test_a_pragma_that_a_failed_region_rests_on_is_doubted(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(TEXT)
    facts = analyze(load_program([str(path)], FrontOptions()).program, PolyOptions(), apply_claims)
    prepared = Prepared(facts, facts)
    written = writable_port(prepared, OffloadOptions())
    assert [f.region for f in written.port.plan.fragments] == ["f/i", "f/i#2"]

    def said(region: str) -> list[tuple[str, int]]:
        failed = Finding("VER007", "error", f"a differs after region {region} (instance 1): a[0] is 2", None)
        found = find_doubted(prepared, written, Verification("fail", reasons=(failed,)))
        return [(finding.rule, finding.span.line) for finding in found if finding.span is not None]

    assert said("f/i") == [("VER027", 5)]
    assert said("f/i#2") == []


LEVELS = """
#include <stdio.h>
enum { N = 96 };
int level[N], now[N], next[N], seen[N], edges[3 * N];
int main(void)
{
    for (int v = 0; v < N; v++) {
        edges[3 * v] = (v + 1) % N;
        edges[3 * v + 1] = (7 * v + 3) % N;
        edges[3 * v + 2] = (11 * v + 5) % N;
        level[v] = -1;
    }
    level[0] = 0;
    now[0] = seen[0] = 1;
    for (int step = 0; step < 6; step++) {
#pragma omp parallel for
        for (int v = 0; v < N; v++)
            if (now[v])
                for (int e = 0; e < 3; e++)
                    if (!seen[edges[3 * v + e]]) {
                        level[edges[3 * v + e]] = VALUE;
                        next[edges[3 * v + e]] = 1;
                    }
        for (int v = 0; v < N; v++) {
            now[v] = next[v];
            seen[v] |= next[v];
            next[v] = 0;
        }
    }
    for (int v = 0; v < N; v++)
        printf("%d ", level[v]);
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "said", "status"),
    [
        ("level[v] + 1", ("level", "next"), "pass"),
        ("level[v] + 1", ("level",), "fail"),
        ("level[v] + 1", (), "fail"),
        ("level[v] + 1 + v", ("level", "next"), "fail"),
    ],
)
def test_threads_that_write_one_element_write_one_value(
    value: str, said: tuple[str, ...], status: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.c"
    path.write_text(LEVELS.replace("VALUE", value))
    granted = tuple(Assumption(f"same_value({name})", "granted") for name in said)
    result = port([str(path)], PortOptions(poly=PolyOptions(granted=granted)))
    assert result.verification is not None
    # where the claim is not true the port that is left does without it
    dropped = [f for f in result.findings if f.rule == "VER027"]
    assert (result.verification.status, bool(dropped)) == ("pass", status == "fail")
    remarks = {reason.rule for reason in result.verification.reasons}
    assert ("VER024" in remarks) == (status == "pass")
    hints = [text for finding in dropped for text in finding.help if "same_value" in text]
    assert [text.partition(")")[0] for text in hints] == (
        [f"--assume 'same_value({name}" for name in ("level", "next") if name not in said]
        if value == "level[v] + 1" and status == "fail"
        else []
    )


WRITTEN_OUT = """
#include <cstdio>
static void add(int n, double *__restrict a, const double *__restrict b)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i] + 1;
}
static double a[1000], b[1000];
int main()
{
    for (int k = 0; k < 10; k++)
        add(100, a + 100 * k, b + 50 * k);
    MORE
    std::printf("%f\\n", a[99]);
}
"""


@pytest.mark.parametrize(
    ("more", "doubts"),
    [("", set()), ("if (a[5] > 2) add(10, a, b);", {"VER034"})],
    ids=["nobody calls it", "never here"],
)
def test_a_function_that_is_written_out_wherever_it_was_called_need_not_run(
    more: str, doubts: set[str], tmp_path: Path
) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(WRITTEN_OUT.replace("MORE", more))
    result = port([str(path)], PortOptions(transforms=("inline=main/k,function=add",)))
    assert result.verification is not None and result.plan is not None
    assert {fragment.region for fragment in result.plan.fragments} >= {"add/i"}
    assert {reason.rule for reason in result.verification.reasons} & {"VER034"} == doubts
    assert result.verification.status == ("undecided" if doubts else "pass")
