"""The copies of a port in several files: where each is made, how often, and by which line."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting.transfers import compared_schemes
from warpsmith.offload.plan import OffloadOptions
from warpsmith.report.port.copies import transfers_text
from warpsmith.run.verification import VerifyOptions
from warpsmith.tree.nodes import DataRegionBoundary
from warpsmith.tree.walk import walk

MAIN = """#include <stdio.h>
#include <stdlib.h>
void sweep(int n, const double *in, double *out);
int main(void)
{
    int n = 100;
    double *u = malloc(n * sizeof *u), *v = malloc(n * sizeof *v);
    for (int i = 0; i < n; i++)
        u[i] = v[i] = i;
    for (int k = 0; k < 10; k++) {
        sweep(n, u, v);
        if (k % 5 == 0)
            printf("%g\\n", v[n / 2]);
        if (v[1] > 1e6)
            return 2;
        double *t = u; u = v; v = t;
    }
    free(u);
    free(v);
    return 0;
}
"""
KERNEL = """void sweep(int n, const double *in, double *out)
{
    for (int i = 1; i < n - 1; i++)
        out[i] = in[i - 1] + in[i + 1];
}
"""


@pytest.fixture(scope="module")
def ported(tmp_path_factory: pytest.TempPathFactory) -> PortResult:
    folder = tmp_path_factory.mktemp("transfers")
    for name, text in (("main.c", MAIN), ("kern.c", KERNEL)):
        Path(folder, name).write_text(text)
    return port([str(folder / "main.c"), str(folder / "kern.c")], PortOptions(verify=False, steps=False))


def test_a_copy_names_its_file_and_one_element_is_no_array(ported: PortResult) -> None:
    assert ported.plan is not None
    text = " ".join(transfers_text(ported.plan.transfers).split())
    assert "for kern.c:3, unless it is there already" in text
    assert "v[n / 2] back to the host 8 bytes, for main.c:13, each time that it runs in main/k" in text
    assert "v back to the host" in text and text.count("each time") == 2


def test_a_function_that_a_loop_calls_copies_in_that_loop(ported: PortResult) -> None:
    found = compared_schemes(ported.prepared, OffloadOptions(), VerifyOptions(), measure=False)
    assert {scheme.name: scheme.in_loops for scheme in found}["optimized"] == 0
    assert all(scheme.in_loops >= 2 for scheme in found if scheme.name != "optimized")


def test_every_end_of_a_data_region_is_counted_by_itself(ported: PortResult) -> None:
    assert ported.ported is not None
    ends = [
        part for _, f in ported.ported.program.functions() for part in walk(f.body)
        if isinstance(part, DataRegionBoundary) and not part.opens
    ]  # fmt: skip
    assert len(ends) == len(set(map(id, ends))) == 2
