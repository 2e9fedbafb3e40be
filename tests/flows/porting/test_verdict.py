"""The effect of the referee's verdict on user assertions."""

from __future__ import annotations

from pathlib import Path

from warpsmith.base.findings import Finding
from warpsmith.flows.porting.plan import writable_port
from warpsmith.flows.porting.verdict import find_doubted
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.run.verification import Verification

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
