"""One kernel that cannot be written leaves the other loops served."""

from __future__ import annotations

from pathlib import Path

from warpsmith.base.verdict import Proved
from warpsmith.emit.host.cuda import emit_cuda, refused_kernels
from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.porting.plan import writable_port
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import OffloadOptions, Port
from warpsmith.offload.port import plan_port
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.program import Program

# The type's name is CUDA's own; nothing else stands in the way of the second loop.
RESERVED = """
typedef struct { double x; } dim3;
double a[64];
dim3 p[64];
void f(void)
{
    for (int i = 0; i < 64; i++)
        a[i] = i;
    for (int i = 0; i < 64; i++)
        p[i].x = i;
}
"""


def _load(text: str, folder: Path, *arguments: str) -> Program:
    path = folder / "given.c"
    path.write_text(text)
    return load_program([str(path)], FrontOptions(arguments=arguments)).program


def _port(program: Program) -> Port:
    facts = analyze(program, PolyOptions())
    return writable_port(Prepared(facts, facts), OffloadOptions()).port


def _host(text: str, folder: Path) -> str:
    program = _load(text, folder)
    return emit_cuda(program, _port(program).program)[0].text


def test_a_kernel_that_cuda_cannot_express_stays_on_the_host_alone(tmp_path: Path) -> None:
    program = _load(RESERVED, tmp_path)
    facts = analyze(program, PolyOptions())
    assert all(isinstance(loop.verdict, Proved) for function in facts.functions for loop in function.loops)
    naive = plan_port(program, facts, OffloadOptions(), PolyOptions())
    assert len(refused_kernels(program, naive.program)) == 1
    made = _port(program)
    assert [fragment.loops for fragment in made.plan.fragments] == [("f/i",)]
    assert [refusal.loop for refusal in made.plan.refusals] == ["f/i#2"]
    assert "dim3" in made.plan.refusals[0].reason.text
    assert "p[i].x = i;" in emit_cuda(program, made.program)[0].text


def test_what_the_command_line_defines_is_in_the_kernels_file(tmp_path: Path) -> None:
    text = "double a[N];\nvoid f(void) { for (int i = 0; i < N; i++) a[i] = SCALE * i; }\n"
    program = _load(text, tmp_path, "-DN=(40 + 2)", "-DSCALE")
    kernels = next(f.text for f in emit_cuda(program, _port(program).program) if f.path.endswith(".cu"))
    assert "#define N (40 + 2)" in kernels
    assert "#define SCALE 1" in kernels
    assert kernels.index("#define N ") < kernels.index("i < N")


def test_regions_of_one_block_do_not_declare_a_buffer_twice(tmp_path: Path) -> None:
    text = """
double t[2], a[64];
double now(void);
void f(int n)
{
    for (int k = 0; k < n; k++) {
        t[0] = now();
#pragma omp parallel for
        for (int i = 0; i < 64; i++)
            a[i] = k;
#ifdef __SLOW__
        now();
#endif
        t[1] = now();
#pragma omp parallel for
        for (int i = 0; i < 64; i++)
            a[i] = a[i] + 1;
    }
}
"""
    program = _load(text, tmp_path)
    host, kernels, *_ = emit_cuda(program, _port(program).program)
    assert host.text.count("        ws_f_1(") == host.text.count("        ws_f_2(") == 1
    assert kernels.text.count("    double *a_gpu =") == 2


def test_a_marked_region_needs_one_kernel_not_all(tmp_path: Path) -> None:
    text = """
double a[64], b[64];
void f(void)
{
#pragma scop
    for (int i = 1; i < 64; i++)
        a[i] = a[i - 1] * a[i - 1] + b[i];
    @
#pragma endscop
}
"""
    for more, errors in (("for (int i = 0; i < 64; i++) b[i] = 2 * a[i];", 0), (";", 1)):
        path = tmp_path / "given.c"
        path.write_text(text.replace("@", more))
        result = port([str(path)], PortOptions(verify=False))
        assert sum(finding.severity == "error" for finding in result.findings) == errors


def test_a_block_whose_loops_may_stay_keeps_its_variables(tmp_path: Path) -> None:
    text = """
void f(int n, double *to, double *from)
{
    for (int k = 0; k < n; k++) {
        if (from[k] > 0) {
            double w[8];
            for (int i = 0; i < 8; i++)
                w[i] = i * k;
            for (int i = 0; i < 8; i++)
                to[i] += w[i] + from[i];
        }
    }
}
"""
    host = _host(text, tmp_path)
    assert host.count("if (!ws_f_1(") == host.count("double w[8];") == 1


CUT = """
#include <stdio.h>
double a[64];
static void step(double k)
{
    for (int i = 0; i < 64; i++)
        a[i] += k;
}
static void report(int n)
{
#ifdef OFTEN
    if (n % 2)
#else
    if (n % 4)
#endif
        printf("%g\\n", a[0]);
}
int main(void)
{
    for (int t = 0; t < 9; t++) {
        step(t);
        report(t);
    }
    return 0;
}
"""


def test_where_nothing_can_be_added_data_are_not_held_and_kernels_stay(tmp_path: Path) -> None:
    path = tmp_path / "given.c"
    for text, holds in ((CUT, False), (CUT.replace("#else", '        puts("");\n#endif\n#ifndef OFTEN'), True)):
        path.write_text(text)
        result = port([str(path)], PortOptions(verify=False, root=str(tmp_path)))
        assert result.plan is not None and result.in_place is not None
        assert [fragment.loops for fragment in result.plan.fragments] == [("step/i",)]
        assert bool(result.in_place.with_data_regions) == holds
        refused = [f.message for f in result.plan.findings if f.rule == "POR018"]
        assert any("a preprocessor conditional starts or ends inside" in message for message in refused) != holds


HELD = """
#include <stdio.h>
double a[64], b[64];
static void step(double k) { for (int i = 0; i < 64; i++) a[i] += k; }
static void mix(void) { for (int i = 1; i < 63; i++) b[i] = 0.5 * (a[i - 1] + a[i + 1]); }
int main(void)
{
    int k = 1;
    step(1);
#ifdef FAST
    k = 2;
#pragma GCC unroll 2
#endif
    for (int i = 1; i < 64; i++)
        a[i] = k / (1 + a[i - 1]);
    mix();
    for (int i = 0; i < 64; i++)
        b[i] *= k;
    printf("%g\\n", b[5]);
    return 0;
}
"""


def test_a_host_loop_before_which_nothing_can_be_added_takes_no_kernel_along(tmp_path: Path) -> None:
    path = tmp_path / "given.c"
    path.write_text(HELD)
    result = port([str(path)], PortOptions(verify=False, root=str(tmp_path)))
    assert result.plan is not None
    assert {loop for f in result.plan.fragments for loop in f.loops} == {"step/i", "mix/i", "main/i#2"}


def test_captures_are_written_for_a_port_that_is_compared(tmp_path: Path) -> None:
    facts = analyze(_load("void f(double *a) { for (int i = 0; i < 64; i++) a[i] = i; }", tmp_path), PolyOptions())
    written, alone = (
        writable_port(Prepared(facts, facts), OffloadOptions(), compared=compared) for compared in (True, False)
    )
    assert "WS_CAPTURE" in written.reference[0].text.upper()
    assert any("ws_capture(" in file.text for file in written.candidate)
    assert not any("ws_capture(" in file.text for file in written.files)
    assert alone.reference == alone.candidate == ()
    assert alone.files == written.files
