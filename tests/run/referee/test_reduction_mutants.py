"""Every mutant of a port's reduction code is caught; the port itself passes."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.sampling import one_in
from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.cuda import emit_cuda
from warpsmith.flows.porting.plan import writable_port
from warpsmith.flows.porting.sources import sources_of
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.run.referee.referee import judge_program
from warpsmith.run.referee.reference import ReferenceProgram
from warpsmith.run.verification import Sources, Verification, VerifyOptions

PROGRAM = """\
#include <stdio.h>
static double a[3001];
static int key[3001], h[16];
int main(void)
{
    double s = 2.5, m = -1.0;
    int at = -1;
    for (int i = 0; i < 3001; i++) {
        a[i] = (double)(i * 7 % 101) / 3.0;
        key[i] = i * 31 % 97;
    }
    for (int i = 0; i < 3001; i++)
        s += a[i];
    for (int i = 0; i < 3001; i++)
        h[key[i] & 15]++;
    for (int i = 0; i < 3001; i++)
        if (a[i] > m) {
            m = a[i];
            at = i;
        }
    printf("%.9g %g %d %d\\n", s, m, at, h[3]);
    return 0;
}
"""
OPTIONS = VerifyOptions(timeout_s=30)
STEP = """; distance > 0; distance /= 2) {
        const double other = __shfl_down_sync(0xffffffff, value, distance);
        value = value + other;"""
ADD = "; b += blockDim.x)\n        s ="
STORE = " {\n        m_partial"
MUTANTS = {
    "missing barrier": ("    __syncthreads();\n    if (thread < 32) {", "    if (thread < 32) {"),
    "missing last warp": ("of_warp[thread % warps]", "of_warp[thread % (warps - 1)]"),
    "missing first shuffle": (f"16{STEP}", f"8{STEP}"),
    "wrong identity": ("double s = -0.0;\n    for (long long", "double s = 1.0;\n    for (long long"),
    "dropped old value": ("*s_gpu += s;", "*s_gpu = s;"),
    "dropped last block": (f"b < blocks{ADD}", f"b < blocks - 1{ADD}"),
    "one place for all blocks": ("s_partial[blockIdx.x] = s;", "s_partial[0] = s;"),
    "plain histogram": ("atomicAdd(&h_gpu[key_gpu[i] & 15], 1);", "h_gpu[key_gpu[i] & 15] += 1;"),
    "last of equal maxima": ("(other == value && other_when < when)", "(other == value && other_when > when)"),
    "place of another thread": (f"if (m_best == (int)threadIdx.x){STORE}", f"if (threadIdx.x == 0){STORE}"),
}  # fmt: skip


class Ported(Struct, frozen=True):
    """The original, built once, and its port."""

    reference: ReferenceProgram
    candidate: Sources
    kernels: OutputFile

    def judge(self, text: str, work: Path) -> Verification:
        files = tuple(replace(f, text=text) if f is self.kernels else f for f in self.candidate.files)
        return judge_program(self.reference, replace(self.candidate, files=files), OPTIONS, work)


@pytest.fixture(scope="module")
def ported(tmp_path_factory: pytest.TempPathFactory) -> Ported:
    root = tmp_path_factory.mktemp("reductions")
    path = root / "reductions.c"
    path.write_text(PROGRAM)
    program = load_program([str(path)], FrontOptions()).program
    facts = analyze(program, PolyOptions())
    port = writable_port(Prepared(facts, facts), OffloadOptions()).port
    original = sources_of(port.reference, emit_cuda(port.reference, port.reference), captured=True)
    candidate = sources_of(port.candidate, emit_cuda(port.reference, port.candidate), captured=True)
    kernels = next(f for f in candidate.files if f.path.endswith(".cu"))
    reordered = replace(original, reordered=candidate.reordered)
    return Ported(ReferenceProgram(reordered, OPTIONS, root / "original"), candidate, kernels)


def test_the_port_passes(ported: Ported, tmp_path: Path) -> None:
    got = ported.judge(ported.kernels.text, tmp_path)
    assert (got.status, got.races, got.reasons) == ("pass", (), ())


@pytest.mark.parametrize("name", one_in(6, MUTANTS))
def test_the_mutant_is_caught(ported: Ported, name: str, tmp_path: Path) -> None:
    old, new = MUTANTS[name]
    assert ported.kernels.text.count(old) >= 1
    got = ported.judge(ported.kernels.text.replace(old, new, 1), tmp_path)
    assert got.status == "fail"
