from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from warpsmith.front.inputs import Source
from warpsmith.front.kernels import DeviceUnit, load_kernels
from warpsmith.front.load import FrontOptions
from warpsmith.tree.nodes import (
    Assign,
    Call,
    DeclStmt,
    ExprStmt,
    Function,
    GlobalDecl,
    InitList,
    Literal,
    Member,
    Name,
    Pragma,
    Return,
    Verbatim,
    VerbatimExpr,
    While,
)
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Symbol
from warpsmith.tree.walk import walk


def load(text: str, *arguments: str, name: str = "k.cu", kernels: tuple[str, ...] = ()) -> DeviceUnit:
    return load_kernels(Source(name, arguments, None, text), FrontOptions(), kernels)


def functions(unit: DeviceUnit) -> dict[str, Function]:
    return {f.symbol.label or f.symbol.name: f for _, f in unit.program.functions()}


def lines(function: Function) -> Iterator[str]:
    """Yield what a function computes, in its order, as text."""
    for node in walk(function.body):
        match node:
            case ExprStmt(expr=expr):
                yield print_expr(expr)
            case DeclStmt(declarations=declared):
                yield from (f"{d.symbol.name} = {print_expr(d.init)}" for d in declared if d.init is not None)
            case Return(value=value) if value is not None:
                yield f"return {print_expr(value)}"
            case _:
                pass


def variables(function: Function) -> dict[str, Symbol]:
    return {d.symbol.name: d.symbol for n in walk(function.body) if isinstance(n, DeclStmt) for d in n.declarations}


def boxes(unit: DeviceUnit) -> list[str]:
    found = [n for _, f in unit.program.functions() for n in walk(f.body) if isinstance(n, Verbatim | VerbatimExpr)]
    return [make_opaque.reason for make_opaque in found]


MEMORY = """
#define N 16
constexpr int WIDE = 64;
__constant__ float weights[N];
__device__ int counter = 3;
__managed__ int shown;
__host__ __device__ int twice(int x) { return 2 * x; }
__global__ void __launch_bounds__(WIDE * 2, 4) k(float *a, int n)
{
    __shared__ __align__(32) float tile[N][N + 1];
    extern __shared__ char rest[];
    float own[3] = {1, 2};
    tile[threadIdx.y][threadIdx.x] = a[n] + weights[1] + own[2] + twice(n);
    __syncthreads();
    a[n] = rest[0];
}
int main() { float *p; dim3 block(16, 4); k<<<(100 + 31) / 32, block, 256>>>(p, 3); }
"""


def test_memory_bounds_and_launches() -> None:
    unit = load(MEMORY)
    assert (unit.kernels, unit.findings) == (("k",), ())
    kernel = unit.function("k")
    assert kernel.device is not None
    assert (kernel.device.kernel, kernel.device.max_threads, kernel.device.min_blocks) == (True, 128, 4)
    here = variables(kernel)
    assert [(s.name, s.space, s.alignment) for s in here.values()] == [
        ("tile", "shared", 32), ("rest", "dynamic", 0), ("own", "", 0),
    ]  # fmt: skip
    outer = {d.symbol.name: d.symbol.space for i in unit.program.units[0].items if isinstance(i, GlobalDecl)
             for d in i.declarations}  # fmt: skip
    assert outer == {"weights": "constant", "counter": "global", "shown": "managed"}
    tile = here["tile"].type
    assert isinstance(tile, Array) and isinstance(tile.of, Array) and (tile.count, tile.of.count) == (16, 17)
    helper = functions(unit)["twice"].device
    assert helper is not None and (helper.kernel, helper.host) == (False, True)
    (launch,) = unit.launches
    assert (launch.kernel, launch.grid, launch.block, launch.shared) == ("k", (4, 1, 1), (16, 4, 1), 256)
    assert next(lines(kernel)) == "own = {1, 2}"
    assert not boxes(unit)


ALIGNED = """
#include <cuda.h>
struct alignas(16) Quad { float x[4]; };
template <class T> struct Raw { alignas(T) unsigned char bytes[sizeof(T)]; };
__global__ void k(float *a)
{
    __shared__ alignas(16) uint8_t bytes[64];
    __shared__ alignas(Quad) float four[8];
    alignas(2 * sizeof(int)) __shared__ int eight[2];
    extern __shared__ alignas(alignof(Quad)) char rest[];
    Raw<double> raw;
    a[0] = bytes[0] + four[1] + eight[1] + rest[0] + sizeof(raw) + raw.bytes[2];
}
"""


def test_alignment_behind_the_space_of_a_variable() -> None:
    unit = load(ALIGNED)
    assert not unit.findings
    found = {s.name: s.alignment for s in variables(unit.function("k")).values()}
    # what a type or an expression says is not asked
    assert found == {"bytes": 16, "four": 0, "eight": 0, "rest": 0, "raw": 0}


TEMPLATES = """
template <class T, int B = 32, bool sum = false> __global__ void k(T *a) {
    __shared__ T tile[B][B + 1];
    if constexpr (sum) tile[0][0] = B; else tile[1][1] = a[B - 1];
}
template <> __global__ void k<char, 1, true>(char *a) { a[0] = 7; }
template __global__ void k<short, 8>(short *);
template <class T> __global__ void asked(T *a) { a[0] = 1; }
template <class T> void run(T *x) { k<T, 16><<<1, 64>>>(x); k<<<1, 1>>>(x); }
void go(double *d) { run(d); k<float, 4, true><<<1, 1>>>((float *)d); }
"""


def test_instances_of_templates() -> None:
    unit = load(TEMPLATES)
    assert sorted(unit.kernels) == sorted((
        "k<char, 1, true>", "k<short, 8, false>", "k<double, 16, false>", "k<double, 32, false>", "k<float, 4, true>",
    ))  # fmt: skip
    tile = variables(unit.function("k<double, 16, false>"))["tile"].type
    assert isinstance(tile, Array) and isinstance(tile.of, Array) and isinstance(tile.of.of, Scalar)
    assert (tile.count, tile.of.count, tile.of.of.name) == (16, 17, "double")
    assert list(lines(unit.function("k<double, 16, false>"))) == ["tile[1][1] = a[16 - 1]"]
    assert "tile[0][0] = 4" in list(lines(unit.function("k<float, 4, true>")))
    (finding,) = unit.findings
    assert finding.rule == "INP007" and "asked" in finding.message and finding.severity == "warning"
    more = load(TEMPLATES, kernels=("asked<float>", "nothing<int>"))
    assert "asked<float>" in more.kernels
    assert [(f.rule, "nothing<int>" in f.message) for f in more.findings] == [("INP007", True)]


FORMS = """
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cub/cub.cuh>
#include <vector>
#include <limits>
namespace cg = cooperative_groups;
#define CHECK(x) do { if (!(x)) return; } while (0)
#define EACH(i, n) for (int i = 0; i < (n); i++)
namespace inner { extern "C" __global__ void named(float *x) { x[0] = 1; } }
union Bits { struct { short low, high; }; int whole; };
__global__ void k(float *x, half *h, __half2 *h2, int n)
{
    CHECK(n > 2);
    EACH(i, n) x[i] = i;
    #pragma unroll 4
    for (;;) { if (n++ > 10) break; }
    do n--; while (n);
    switch (n) { case 1: case 2: n = 5; break; default: n++; }
    if (int t = n) x[1] = t;
    for (float v : {1}) ;
    int a[2][2] = {1, 2, 3};
    for (int e : a[1]) n += e;
    asm volatile("add.s32 %0, %1, 1;" : "=r"(n) : "r"(a[0][0]) : "memory");
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    float s = x[threadIdx.x];
    s += tile.shfl_down(s, 16);
    tile.sync();
    cg::this_thread_block().sync();
    h[0] = h[1] * __float2half(s);
    h2[0] = __hadd2(h2[1], h2[2]);
    Bits b; b.whole = 3; x[2] = b.high;
    x[3] = (float &)n + std::numeric_limits<float>::max() + __shfl_xor_sync(0xffffffffu, s, 1) + __ldg(x);
    float *none = NULL;
    static_assert(sizeof(half) == 2, "");
    printf("%d", n);
    assert(n > 0);
}
__global__ void scans(float *x) { cub::WarpReduce<float> r; x[0] = r.Sum(x[1]); }
void host() { std::vector<float> v; cublasHandle_t unknown; nothing(v); }
"""


def test_forms_of_real_kernels() -> None:
    unit = load(FORMS.replace("for (float v : {1}) ;", ""))
    assert unit.kernels == ("named", "k")
    assert [(f.rule, f.severity) for f in unit.findings] == [("INP001", "error"), ("INP002", "warning")]
    assert "cub" in unit.findings[0].message and "cub/cub.cuh" in unit.findings[1].message
    kernel = unit.function("k")
    loops = [n for n in walk(kernel.body) if isinstance(n, While)]
    assert [loop.form for loop in loops] == ["do", "for", "for", "do", "for"]
    each = loops[1]
    assert each.init is not None and each.condition is not None and each.advance is not None
    assert each.span.text.startswith("EACH(i, n)")
    assert loops[2].condition is None
    assert any(isinstance(n, Pragma) and "unroll 4" in n.text for n in walk(kernel.body))
    lists = [n for n in walk(kernel.body) if isinstance(n, InitList)]
    assert [len(n.items) for n in lists] == [2, 2, 1]
    (asm,) = [n for n in walk(kernel.body) if isinstance(n, Verbatim)]
    assert (asm.reason, asm.calls, [s.name for s in asm.writes]) == ("inline assembly", True, ["n"])
    assert {s.name for s in asm.reads} == {"n", "a"}
    builtins = {n.function.symbol.name for f in functions(unit).values() for n in walk(f.body)
                if isinstance(n, Call) and isinstance(n.function, Name)}  # fmt: skip
    assert {"__shfl_down_sync", "__syncwarp", "__syncthreads", "__shfl_xor_sync", "__ldg"} <= builtins
    product = next(n for n in walk(kernel.body) if isinstance(n, Assign) and print_expr(n.target) == "h[0]")
    assert isinstance(product.type, Scalar) and (product.type.name, product.type.bits) == ("half", 16)
    assert any("(float *)&n" in line.replace("(&n)", "&n") for line in lines(kernel))


OPENCL = """
#define SUM(a, b) ((a).xyz + (b).xyz)
#define BITS(v) as_uint(v)
__constant sampler_t smp = CLK_NORMALIZED_COORDS_FALSE | CLK_FILTER_NEAREST;
__constant float weights[2] = {1, 2};
typedef struct { int keys[SIZE]; float4 at; } node;
float helper(__global const float *p, float4 v) { return v.x + p[0] + dot(v, v); }
__kernel __attribute__((reqd_work_group_size(16, 4, 1)))
void k(__global float4 *a, __local float *scratch, __global node *n, read_only image2d_t img, int count)
{
    __local float tile[16][17];
    int i = get_global_id(0);
    float4 v = a[i];
    v.s01 = v.yx;
    v.lo = v.hi;
    a[1].odd = v.even;
    float3 w = SUM(v, a[2]);
    v = (float4)(1.0f, w.yz, 2.0f) * 3.0f;
    tile[get_local_id(1)][get_local_id(0)] = v.w + helper((__global float *)a, v) + weights[1];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint bits = BITS(v.x);
    int4 q = convert_int4_sat(v) + (v < 1.0f);
    half h = 1.0h;
    v = read_imagef(img, smp, (int2)(1, 2)) + vload4(0, scratch) + native_sin(v);
    atomic_add((volatile __global int *)a, n[1].keys[2]);
    a[0] = v;
}
"""


def test_opencl() -> None:
    unit = load(OPENCL, "-DSIZE=4", name="k.cl")
    assert (unit.kernels, unit.findings, boxes(unit)) == (("k",), (), [])
    kernel = unit.function("k")
    assert kernel.device is not None and kernel.device.kernel and kernel.device.block == (16, 4, 1)
    spaces = [p.type.space for p in kernel.parameters if isinstance(p.type, Pointer)]
    assert spaces == ["global", "shared", "global"]
    assert variables(kernel)["tile"].space == "shared"
    assert [d.symbol.space for i in unit.program.units[0].items if isinstance(i, GlobalDecl) for d in i.declarations][
        1:
    ] == ["constant"]
    made = list(lines(kernel))
    fields = [n.field for n in walk(kernel.body) if isinstance(n, Member) and isinstance(n.type, Record)]
    assert fields[:7] == ["s01", "s10", "s01", "s23", "s13", "s02", "s012"]
    assert "bits = as_uint(v.s0)" in made
    vector = variables(kernel)["v"].type
    assert isinstance(vector, Record) and (vector.lanes, vector.bytes, vector.fields[3].name) == (4, 16, "s3")
    third = variables(kernel)["w"].type
    assert isinstance(third, Record) and (third.lanes, third.bytes) == (3, 16)
    missing = load(OPENCL, name="k.cl")
    assert missing.kernels == () and "SIZE" in missing.findings[0].message


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "empty.cu"),
        ("\x00\x01ELF", "noise.cu"),
        ("int main() { return 0; }", "host.cu"),
        ("__global__ void k(float *x) { if (x[0] > 1) { x[1] =", "cut.cu"),
        ("\x89\xff\x12 @@ }}} ((( \x05 __global__", "garbage.cu"),
        ("__kernel void k(__global int *x) { x[0] = ", "cut.cl"),
        ("__global__ void k() {}", "file.txt"),
    ],
)
def test_bad_input_is_a_finding_or_nothing_but_never_an_exception(text: str, name: str) -> None:
    unit = load(text, name=name)
    assert unit.kernels == ()
    assert all(finding.rule in ("INP001", "INP007") for finding in unit.findings)
    assert unit.findings and (unit.findings[0].severity == "note") == (name == "host.cu")


def test_what_stands_before_a_cut_stays() -> None:
    unit = load("__global__ void a(int *x) { x[0] = 1; }\n__global__ void b(int *x) { x[0] =")
    assert unit.kernels == ("a",)
    assert unit.findings and unit.findings[0].span is not None and unit.findings[0].span.line == 2


def test_constants_of_templates_are_literals() -> None:
    unit = load("template <int N> __global__ void k(int *x) { for (int i = 0; i < N; i++) x[i] = N; }\n"
                "void go(int *x) { k<7><<<1, 1>>>(x); }")  # fmt: skip
    values = [n.value for n in walk(unit.function("k<7>").body) if isinstance(n, Literal)]
    assert values.count(7) == 2


def test_an_enum_of_cxx_becomes_int_where_its_values_fit() -> None:
    unit = load(
        "enum A { RED = 2 }; enum B : unsigned { BLUE = 2 }; enum C { BIG = 0xffffffffu };\n"
        "__global__ void k(int *x, A a, B b, C c) { x[0] = x[1] >= RED; x[2] = x[1] >= BLUE; x[3] = a + b + c; }"
    )
    kinds = [p.type.kind for p in unit.function("k").parameters if isinstance(p.type, Scalar)]
    assert kinds == ["signed", "unsigned", "unsigned"]
    named = {n.symbol.name: n.type for n in walk(unit.function("k").body) if isinstance(n, Name)}
    red, blue = named["RED"], named["BLUE"]
    assert isinstance(red, Scalar) and isinstance(blue, Scalar)
    assert (red.kind, blue.kind) == ("signed", "unsigned")


def test_what_an_included_file_has_stands_there(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("// by itself\n__global__ void k(float *a)\n{\n    a[threadIdx.x] = SCALE;\n}\n")
    around = tmp_path / "around.cu"
    around.write_text(
        '#define SCALE 2.0f\nextern "C" {\n#include "./k.cu"\nint g;\n__global__ void own(int *b) { *b = 1; }\n}\n'
    )
    unit = load_kernels(Source(str(around)), FrontOptions())
    assert unit.kernels == ("k", "own") and not unit.findings
    inner, own = unit.function("k").span, unit.function("own").span
    assert (inner.file.path, inner.line) == (str(tmp_path / "k.cu"), 2)
    assert (own.file.path, own.line) == (str(around), 5)


def test_what_our_headers_define_is_none_of_the_users() -> None:
    unit = load("#include <cuda_bf16.h>\n__global__ void k(float *o, const __nv_bfloat16 *a) { o[0] = (float)a[0]; }\n")
    made = {name: function.device for name, function in functions(unit).items()}
    assert set(made) == {"k", "__nv_bfloat16::operator float"}
    assert {name: traits is not None and traits.ours for name, traits in made.items()} == {
        "k": False,
        "__nv_bfloat16::operator float": True,
    }
    assert unit.program.units[0].headers == ()
