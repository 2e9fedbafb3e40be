"""Generated latest values: right at every size at the edges of tiles and parts, and mutants of them are caught."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.device.test_scan import OPTIONS, Built, verdict
from warpsmith.flows.porting.plan import writable_port
from warpsmith.flows.porting.sources import sources_of
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.run.referee.reference import ReferenceProgram

# 64 threads a block, so that a block walks over several tiles
PROGRAM = """
#include <stdio.h>
static int x[70001], y[70001], z[70001];
static double d[70001], e[70001];
static double held(int n)
{
    double t = 2.5;
    for (int i = 0; i < n; i++) {
        if (x[i] > 90)
            t = d[i] * 0.5;
        e[i] = t;
    }
    return t;
}
static int places(int n)
{
    short now = 3, before = 4;
    for (int i = 0; i < n; i++) {
        y[i] = now * 100 + before;
        if (x[i] % 7 == 3) {
            short last = now;
            now = before;
            before = last;
        } else if (x[i] % 31 == 5)
            now = x[i] * 300;
    }
    return now - before;
}
static void handed(int n)
{
    for (int i = 1; i <= n; i++) {
        int own = z[i] * 3;
        y[i] += z[i - 1];
        z[i] = own + x[i];
        y[i] ^= z[i];
    }
}
int main(void)
{
    static const int sizes[] = {0, 1, 64, 65, 66000};
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i <= sizes[k]; i++) {
            x[i] = i * 37 % 101;
            d[i] = i * 0.25;
            z[i] = i % 11;
        }
        printf("%g %d\\n", held(sizes[k]), places(sizes[k]));
        handed(sizes[k]);
        printf("%g %d %d\\n", e[sizes[k] / 2], y[sizes[k] / 3], z[sizes[k]]);
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("latest")
    path = folder / "latest.c"
    path.write_text(PROGRAM)
    facts = analyze(load_program([str(path)], FrontOptions()).program, PolyOptions())
    written = writable_port(Prepared(facts, facts), OffloadOptions(block_volume=64))
    ported = [f for f in written.port.plan.fragments if f.kernel.scans and f.kernel.scans[0].source is not None]
    assert [f.region for f in ported] == ["held/i", "places/i", "handed/i"]
    reference = sources_of(written.port.reference, written.reference, captured=True)
    candidate = sources_of(written.port.candidate, written.candidate, captured=True)
    return ReferenceProgram(reference, OPTIONS, folder / "original"), candidate


@pytest.mark.slow
def test_the_port_is_right(built: Built, tmp_path: Path) -> None:
    assert verdict(built, "blockIdx", "blockIdx", tmp_path) == "pass"


MUTANTS = {
    "order turned round": (
        "own = ws_latest_double_after(own, other);",
        "own = ws_latest_double_after(other, own);",
    ),
    "carry of the part lost": ("*running = ws_latest_double_after(of_warp[w], *running);", "*running = of_warp[w];"),
    "sources not followed": ("both.source[k] = earlier.source[from];", ""),
    "first value forgotten": ("{{*t_gpu}, {-1}}", "{{0}, {-1}}"),
    "last value not stored": ("*now_gpu = before_.value[0];", ";"),
    "variables mixed up": ("earlier.value[from];", "earlier.value[0];"),
    "condition lost": ("x_gpu[i] > 90 ? -1 : 0", "-1"),
    "parts in no order": ("ws_block_scan_latest_double(own_, &before);\n    }", "before = own_;\n    }"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name: str, built: Built, tmp_path: Path) -> None:
    old, new = MUTANTS[name]
    assert verdict(built, old, new, tmp_path) == "fail"
