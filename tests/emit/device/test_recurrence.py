"""Generated recurrences: right at every size at the edges of tiles and parts, and mutants of them are caught."""

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
static unsigned char text[70001];
static int x[70001], run[70001];
static long y[70001];
static unsigned hash(int n)
{
    unsigned h = 5381;
    for (int i = 0; i < n; i++)
        h = h * 33 + text[i];
    return h;
}
static void runs(int n)
{
    int k = 2;
    for (int i = 0; i < n; i++) {
        run[i] = k;
        k = x[i] > 0 ? k + x[i] : 0;
    }
}
static void filter(int n)
{
    for (int i = 1; i <= n; i++)
        y[i] = x[i] - y[i - 1] * (x[i] % 3);
}
int main(void)
{
    static const int sizes[] = {0, 1, 64, 65, 66000};
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i <= sizes[k]; i++) {
            x[i] = i * 37 % 101 % 5 - i % 63 / 62 * 9;
            text[i] = i * 31 % 97;
            y[i] = 3;
        }
        printf("%u\\n", hash(sizes[k]));
        runs(sizes[k]);
        filter(sizes[k]);
        printf("%d %ld\\n", run[sizes[k] / 2], y[sizes[k]]);
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("recurrence")
    path = folder / "recurrences.c"
    path.write_text(PROGRAM)
    facts = analyze(load_program([str(path)], FrontOptions()).program, PolyOptions())
    written = writable_port(Prepared(facts, facts), OffloadOptions(block_volume=64))
    ported = [f for f in written.port.plan.fragments if f.kernel.scans and f.kernel.scans[0].factor is not None]
    assert [f.region for f in ported] == ["hash/i", "runs/i", "filter/i"]
    reference = sources_of(written.port.reference, written.reference, captured=True)
    candidate = sources_of(written.port.candidate, written.candidate, captured=True)
    return ReferenceProgram(reference, OPTIONS, folder / "original"), candidate


@pytest.mark.slow
def test_the_port_is_right(built: Built, tmp_path: Path) -> None:
    assert verdict(built, "blockIdx", "blockIdx", tmp_path) == "pass"


AFTER = "earlier.factor * later.factor, moved + later.summand"
MUTANTS = {
    "summand not multiplied": ("earlier.summand * later.factor;", "earlier.summand;"),
    "order turned round": (
        "value = ws_map_unsigned_int_after(value, ws_map_unsigned_int{factor, summand});",
        "value = ws_map_unsigned_int_after(ws_map_unsigned_int{factor, summand}, value);",
    ),
    "carry of the part lost": ("*running = ws_map_unsigned_int_after(of_warp[w], *running);", "*running = of_warp[w];"),
    "factor lost": (AFTER, "later.factor, moved + later.summand"),
    "first value forgotten": ("{0, (unsigned int)(*h_gpu)}", "{0, 0}"),
    "last value not stored": ("*h_gpu = before.summand;", ";"),
    "parts in no order": ("ws_block_scan_map_unsigned_int(own, &before);\n    }", "before = own;\n    }"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught(name: str, built: Built, tmp_path: Path) -> None:
    old, new = MUTANTS[name]
    assert verdict(built, old, new, tmp_path) == "fail"
