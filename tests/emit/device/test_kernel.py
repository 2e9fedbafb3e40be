"""Kernels: their shape, and that every iteration belongs to exactly one thread, at the ends of the types too."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from msgspec import Struct

from tests.emit.examples import lu, saxpy
from tests.sampling import one_in
from warpsmith.base.source import SourceFile, Span
from warpsmith.emit.device.kernel import KernelText, kernel_text
from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.cuda import emit_cuda
from warpsmith.emit.words import Support
from warpsmith.tree.nodes import Binary, Call, Conditional, Expr, ExprStmt, For, Literal, Name, Relation
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.program import Axis, Kernel, KernelParameter, MappedLoop
from warpsmith.tree.types import INT, LONG_LONG, SIZE_T, UNSIGNED, VOID, FunctionType, Scalar, Symbol

HERE = Span(SourceFile("none.c", ""), 0, 0)
UCHAR = Scalar("unsigned char", 8, "unsigned")
INT_MAX = 2**31 - 1


def text_of(files: tuple[OutputFile, ...], ending: str) -> str:
    return next(file.text for file in files if file.path.endswith(ending))


def test_saxpy_is_the_classic_kernel() -> None:
    made = saxpy()
    text = text_of(emit_cuda(made.original, made.ported), "_kernels.cu")
    assert (
        "__global__ void ws_saxpy_serial_k1_kernel(int n, float a, const float *__restrict__ x_gpu, float *y_gpu)\n"
        "{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n)\n"
        "        y_gpu[i] = a * x_gpu[i] + y_gpu[i];\n"
        "}\n"
    ) in text
    assert (
        'extern "C" void ws_saxpy_serial_k1(int n, float a, const float *x_gpu, float *y_gpu)\n'
        "{\n"
        "    if (n <= 0)\n"
        "        return;\n"
        "    ws_saxpy_serial_k1_kernel<<<(n + 255u) / 256, 256>>>(n, a, x_gpu, y_gpu);\n"
        "    WS_CHECK(cudaGetLastError());\n"
        "}\n"
    ) in text


def test_threads_of_lu_are_those_of_a_slice() -> None:
    made = lu()
    text = text_of(emit_cuda(made.original, made.ported), "_kernels.cu")
    assert (
        "    int i = k + 1 + (first_y + blockIdx.y) * blockDim.y + threadIdx.y;\n"
        "    int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (k + 1 <= i && i < N && k + 1 <= j && j < N) {\n"
        "        // update\n"
        "        A_gpu[i * N + j] -= A_gpu[i * N + k] * A_gpu[k * N + j];\n"
        "    }\n"
    ) in text


class Case(Struct, frozen=True):
    """One loop `for (type i = lower; i relation bound; i += step)` over the values of two parameters."""

    type: Scalar
    lower: int | None
    relation: Relation
    step: int
    values: tuple[tuple[int, int], ...]
    axis: Axis = "x"
    strided: bool = False
    sliced: bool = False
    tested: bool = False  # the count is written `lo < hi ? count : 0`


def _number(value: int) -> Literal:
    return Literal(span=HERE, type=INT, text=str(value), value=value)


def _kernel(case: Case) -> Kernel:
    i = Symbol("i", "i", case.type, "local")
    lo, hi = Symbol("lo", "lo", case.type, "parameter"), Symbol("hi", "hi", case.type, "parameter")
    if case.type.bits < 32:
        hi = Symbol("hi", "hi", INT, "parameter")
    lower: Expr = _number(case.lower) if case.lower is not None else Name(span=HERE, type=lo.type, symbol=lo)
    bound = Name(span=HERE, type=hi.type, symbol=hi)
    visit = Symbol("visit", "visit", FunctionType(VOID, (LONG_LONG,)), "function")
    call = Call(span=HERE, type=VOID, function=Name(span=HERE, type=visit.type, symbol=visit),
                arguments=(Name(span=HERE, type=i.type, symbol=i),))  # fmt: skip
    body = ExprStmt(span=HERE, expr=call)
    loop = For(
        span=HERE, variable=i, declares=True, lower=lower, relation=case.relation, bound=bound, step=case.step,
        body=body, header=HERE,
    )  # fmt: skip
    return Kernel(
        "k", "f", "f/i", HERE, (MappedLoop(loop, case.axis, "f/i"),), ((lower, _launched(case, lower, bound)),),
        (256, 1, 1) if case.axis == "x" else (1, 8, 1),
        (KernelParameter(lo, lo, "value"), KernelParameter(hi, hi, "value")), (), body,
        (), strided=(case.axis,) if case.strided else (), sliced=(case.axis,) if case.sliced else (),
    )  # fmt: skip


def _launched(case: Case, lower: Expr, bound: Expr) -> Expr:
    count = _count(case, lower, bound)
    if not case.tested:
        return count
    entered = Binary(span=HERE, type=INT, op=case.relation, left=lower, right=bound)
    return Conditional(span=HERE, type=LONG_LONG, condition=entered, then=count, other=_number(0))


def _count(case: Case, lower: Expr, bound: Expr) -> Expr:
    """The number of iterations; what offload computes, in 64 bits."""
    high, low = (bound, lower) if case.step > 0 else (lower, bound)
    if case.relation in ("<", ">", "!=") and abs(case.step) == 1 and case.lower == 0:
        return bound
    span = Binary(span=HERE, type=INT, op="-", left=high, right=low)
    extra = (1 if "=" in case.relation and case.relation != "!=" else 0) + abs(case.step) - 1
    total: Expr = span if extra == 0 else Binary(span=HERE, type=INT, op="+", left=span, right=_number(extra))
    return total if abs(case.step) == 1 else Binary(
        span=HERE, type=LONG_LONG, op="/", left=total, right=_number(abs(case.step)))  # fmt: skip


HARNESS = """\
#include <stdio.h>
#include <stdlib.h>
#include <map>
#define __global__ static
struct dim3 { unsigned x, y, z; dim3(unsigned a, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
static dim3 blockIdx(0), blockDim(1), threadIdx(0), gridDim(1);
static std::map<long long, int> seen;
static void visit(long long i) { if (seen.size() > 3000000) exit(3); seen[i]++; }
#define WS_CHECK(call)
template <class K> static void launch(K kernel, dim3 grid, dim3 block)
{
    gridDim = grid; blockDim = block;
    unsigned long long blocks = (unsigned long long)grid.x * grid.y;
    for (unsigned long long b = 0; b < blocks; b++) {
        if (blocks > 200000 && b == 4) b = blocks - 4;  /* the ends of a very large grid */
        for (unsigned t = 0; t < block.x * block.y; t++) {
            blockIdx.x = b % grid.x; blockIdx.y = b / grid.x;
            threadIdx.x = t % block.x; threadIdx.y = t / block.x;
            kernel();
        }
    }
}
"""


def _program(case: Case, text: KernelText) -> str:
    launcher = re.sub(r"(\w+)<<<(.*), (.*)>>>\((.*)\);", r"launch([=] { \1(\4); }, \2, \3);", text.launcher)
    name = case.type.name
    start = "lo" if case.lower is None else str(case.lower)
    loop = f"for ({name} i = {start}; i {case.relation} hi; i += {case.step})"
    suffix = "LL" if case.type.bits > 32 else ""
    wide = "int" if case.type.bits < 32 else name
    checks = [
        f"    {{ seen.clear(); {name} lo = {low}{suffix}; {wide} hi = {high}{suffix}; (void)lo;\n"
        f"      k(lo, hi); long long n = 0, bad = 0;\n"
        f"      {loop} {{ if (n < 1000 || hi - i < 500) bad += seen[i] != 1; n++; }}\n"
        f"      for (auto &s : seen) bad += s.second > 1;\n"
        f"      long long visited = 0; for (auto &s : seen) visited += s.second;\n"
        f"      if (gridDim.x < 1000) bad += visited != n && n > 0;\n"
        f'      if (bad) {{ printf("%lld bad of %lld in [{low}, {high})\\n", bad, n); return 1; }} }}'
        for low, high in case.values
    ]
    return f"{HARNESS}{text.device}\n{launcher}\nint main() {{\n" + "\n".join(checks) + "\n    return 0;\n}\n"


SMALL = ((0, 0), (0, 1), (0, 255), (0, 256), (0, 257), (0, 700))
CASES = {
    "int from 0": Case(INT, 0, "<", 1, SMALL),
    "int from lo": Case(INT, None, "<", 1, ((-7, 5), (5, 5), (9, 3), (1, 1025))),
    "int to the end": Case(INT, None, "<", 1, ((INT_MAX - 300, INT_MAX), (INT_MAX - 5, INT_MAX - 2))),
    "int down": Case(INT, None, ">=", -1, ((5, 0), (700, 1), (-1, 0), (-(2**31) + 300, -(2**31) + 1))),
    "int by 3": Case(INT, None, "<", 3, ((0, 1), (0, 1000), (-5, 77), (INT_MAX - 100, INT_MAX - 3))),
    "int not equal": Case(INT, 0, "!=", 1, SMALL),
    "unsigned": Case(UNSIGNED, None, "<", 1, ((0, 0), (0, 300), (2**32 - 400, 2**32 - 1))),
    "unsigned down": Case(UNSIGNED, None, ">", -1, ((300, 0), (5, 4), (257, 1))),
    "size_t": Case(SIZE_T, 0, "<", 1, SMALL),
    "size_t from lo": Case(SIZE_T, None, "<", 1, ((1, 1), (5, 900))),
    "unsigned char": Case(UCHAR, 0, "<", 1, ((0, 0), (0, 200), (0, 255))),
    "walking": Case(INT, None, "<", 1, ((0, 5), (3, 1000), (0, 70000 * 8)), "y", True),
    "walking down": Case(INT, None, ">", -2, ((1000, 0), (3, 4)), "y", True),
    "tested": Case(INT, None, "<", 1, ((3, 700), (5, 2)), tested=True),
    "tested down": Case(SIZE_T, None, ">", -1, ((700, 3), (2, 5)), tested=True),
    "tested walking": Case(SIZE_T, None, ">", -1, ((700, 3), (2, 5)), "y", True, tested=True),
    "walking bytes": Case(UCHAR, 0, "<", 1, ((0, 255),), "y", True),
    "slices": Case(INT, None, "<", 1, ((0, 5), (3, 1000), (0, 70000 * 8), (9, 3)), "y", sliced=True),
    "slices down": Case(INT, None, ">", -2, ((1000, 0), (3, 4), (70000 * 16, 5)), "y", sliced=True),
    "slices from below": Case(INT, None, "<", 1, ((-70000 * 4, 70000 * 4),), "y", sliced=True),
    "slices to the end": Case(UNSIGNED, None, "<", 1, ((0, 0), (2**32 - 560000, 2**32 - 1)), "y", sliced=True),
    "slices of size_t": Case(SIZE_T, 0, "<", 1, ((0, 9), (0, 70000 * 8)), "y", sliced=True),
    "slices along x": Case(SIZE_T, None, ">", -1, ((700, 3), (2, 5)), sliced=True, tested=True),
    "slices of bytes": Case(UCHAR, 0, "<", 1, ((0, 255),), "y", sliced=True),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", one_in(3, CASES.values()), ids=CASES.keys())
def test_every_iteration_belongs_to_one_thread(case: Case, tmp_path: Path) -> None:
    text = kernel_text(_kernel(case), Printer(), Support("ws"), set())
    source = tmp_path / "threads.cpp"
    source.write_text(_program(case, text))
    subprocess.run(["g++", "-w", "-O1", source, "-o", tmp_path / "threads"], check=True)
    done = subprocess.run([tmp_path / "threads"], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, f"{done.stdout}\n{text.device}\n{text.launcher}"


def test_threads_past_an_int_do_not_come_back(tmp_path: Path) -> None:
    """The last block of the largest int loop: no thread may wrap around into the loop's range."""
    for lower in (0, None):
        case = Case(INT, lower, "<", 1, ())
        text = kernel_text(_kernel(case), Printer(), Support("ws"), set())
        low = 0 if lower == 0 else 1
        source = tmp_path / f"last{low}.cpp"
        source.write_text(
            f"{HARNESS}{text.device}\nint main() {{ blockDim = dim3(256);\n"
            f"    for (unsigned b = {2**23 - 3}u; b < {2**23}u; b++) for (unsigned t = 0; t < 256; t++)\n"
            f"        {{ blockIdx = dim3(b); threadIdx = dim3(t); k_kernel({low}, {INT_MAX}); }}\n"
            f"    for (auto &s : seen) if (s.first < {low} || s.first >= {INT_MAX} || s.second != 1) return 1;\n"
            f"    return seen.size() == {3 * 256 - 1 - low} ? 0 : 2; }}\n"
        )
        subprocess.run(["g++", "-w", source, "-o", tmp_path / "last"], check=True)
        assert subprocess.run([tmp_path / "last"], check=False).returncode == 0


def test_launcher_names_keep_away_from_the_users() -> None:
    kernel = _kernel(Case(INT, None, "<", 1, ()))
    text = kernel_text(kernel, Printer(), Support("ws"), {"grid", "count_i"})
    assert "const dim3 grid_(" in text.launcher
    assert "count_i_" in text.launcher
