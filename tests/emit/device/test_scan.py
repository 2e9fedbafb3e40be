"""Generated scans: right at every size at the edges of tiles and parts, and mutants of them are caught."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.sampling import one_in
from warpsmith.emit.files import OutputFile
from warpsmith.flows.porting.plan import writable_port
from warpsmith.flows.porting.sources import sources_of
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.run.referee.referee import judge_program
from warpsmith.run.referee.reference import ReferenceProgram
from warpsmith.run.verification import Sources, VerifyOptions

OPTIONS = VerifyOptions(timeout_s=60)

# 64 threads a block: 70000 elements are more tiles than there are parts, so that a block walks over several
PROGRAM = """
#include <stdio.h>
static int a[70001], b[70001];
static void sums(int n, const int *restrict x, int *restrict y)
{
    int s = 5;
    for (int i = 0; i < n; i++) {
        y[i] = s;
        s += x[i];
    }
    printf("%d\\n", s);
}
static void highest(int n, int *restrict y, const int *restrict x)
{
    for (int i = 1; i <= n; i++)
        y[i] = y[i - 1] > x[i] ? y[i - 1] : x[i];
}
static int c[70001], d[70001];
static int split(int n, const int *restrict x)
{
    int k = 2, m = 70001;
    for (int i = 0; i < n; i++) {
        if (x[i] % 7 == 0)
            continue;
        if (x[i] % 3 == 0)
            c[k++] = i;
        else if (x[i] > 0)
            d[--m] = x[i];
    }
    return m - k;
}
static double halved(int n, const int *restrict x)
{
    double t = 1;
    for (int i = 0; i < n; i++) {
        double own = x[i];
        t = t * 0.5 + own;
    }
    return t;
}
int main(void)
{
    static const int sizes[] = {0, 1, 2, 63, 64, 65, 129, 2049, 70000};
    for (int k = 0; k < 9; k++) {
        for (int i = 0; i <= sizes[k]; i++) {
            a[i] = i * 37 % 101 - 40 + i / 64;
            b[i] = -1000;
        }
        sums(sizes[k], a, b);
        printf("%d %d\\n", b[0], b[sizes[k] / 2]);
        highest(sizes[k], b, a);
        printf("%d %d\\n", b[0], b[sizes[k]]);
        int parts = split(sizes[k], a);
        printf("%d %d %d %g\\n", parts, c[2], d[70000], halved(sizes[k], a));
    }
    return 0;
}
"""

Built = tuple[ReferenceProgram, Sources]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("scan")
    path = folder / "scans.c"
    path.write_text(PROGRAM)
    facts = analyze(load_program([str(path)], FrontOptions()).program, PolyOptions())
    written = writable_port(Prepared(facts, facts), OffloadOptions(block_volume=64))
    ported = [f for f in written.port.plan.fragments if f.kernel.scans]
    assert [f.region for f in ported] == ["sums/i", "highest/i", "split/i", "halved/i"]
    reference = sources_of(written.port.reference, written.reference, captured=True)
    candidate = sources_of(written.port.candidate, written.candidate, captured=True)
    return ReferenceProgram(reference, OPTIONS, folder / "original"), candidate


def test_the_body_is_left_out_where_it_only_makes_the_next_value(built: Built) -> None:
    (text,) = (file.text for file in built[1].files if file.path.endswith(".cu"))
    for name, kernels in (("sums", 3), ("split", 3), ("halved", 2)):
        assert len(re.findall(rf"__global__ void ws_{name}_k1_kernel\w*\(", text)) == kernels
        assert len(re.findall(rf"ws_{name}_k1_kernel\w*<<<", text)) == kernels


def verdict(built: Built, old: str, new: str, work: Path) -> str:
    reference, candidate = built
    changed = [replace_text(f, old, new) if f.path.endswith(".cu") else f for f in candidate.files]
    return judge_program(reference, replace(candidate, files=tuple(changed)), OPTIONS, work).status


def replace_text(file: OutputFile, old: str, new: str) -> OutputFile:
    assert old in file.text, file.text
    return replace(file, text=file.text.replace(old, new))


@pytest.mark.slow
def test_the_port_is_right(built: Built, tmp_path: Path) -> None:
    assert verdict(built, "blockIdx", "blockIdx", tmp_path) == "pass"


MUTANTS = {
    "offset dropped": ("int before = total[blockIdx.x];", "int before = 0;"),
    "barrier missing": ("        of_warp[warp] = value;\n    __syncthreads();", "        of_warp[warp] = value;"),
    "carry of the part lost": ("*running = *running + of_warp[w];", "*running = of_warp[w];"),
    "own element counted twice": ("lane == 0 ? below : (below + left)", "below + value"),
    "tile one short": ("if (t_i < end)", "if (t_i < end - 1)"),
    "parts overlap": ("blockIdx.x * part", "blockIdx.x * (part - 1)"),
    "first value forgotten": ("int before = *s_gpu;", "int before = 0;"),
    "last value not stored": ("*s_gpu = before;", ";"),
    "kept out of order": ("int k = ws_block_scan_sum_int(k_own, &k_before);", "int k = atomicAdd(&k_total[0], k_own);"),
    "condition left out": ("k_own = !(x_gpu[i] % 7 == 0) && x_gpu[i] % 3 == 0 ? 1 : 0;", "k_own = 1;"),
    "next tile not reached": ("continue;", "return;"),
    "other counter's offset": ("int m_before = m_total[blockIdx.x];", "int m_before = k_total[blockIdx.x];"),
    "start of the count forgotten": ("int k_before = *k_gpu;", "int k_before = 0;"),
    "second count not stored": ("*m_gpu = m_before;", ";"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(12, MUTANTS))
def test_mutants_are_caught(name: str, built: Built, tmp_path: Path) -> None:
    old, new = MUTANTS[name]
    assert verdict(built, old, new, tmp_path) == "fail"
