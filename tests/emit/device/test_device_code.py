"""C becomes device C++: what is changed, what is written out, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import msgspec.structs
import pytest

from warpsmith.base.errors import RefusedError
from warpsmith.base.nvidia import has_nvrtc
from warpsmith.emit.device.device_code import for_device
from warpsmith.emit.host.cuda import emit_cuda, emit_kernels
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.run.native.device_compile import compile_nvcc, compile_nvrtc, has_nvcc
from warpsmith.tree.nodes import Function, Launch, Name, Stmt, replace
from warpsmith.tree.printing.patch import Patcher
from warpsmith.tree.printing.printer import join_lines
from warpsmith.tree.program import Kernel, KernelParameter, Program


def port(tmp_path: Path, text: str) -> tuple[Program, Program]:
    """Make the body of the last function one kernel of one thread; its parameters are passed as they are."""
    path = tmp_path / "a.c"
    path.write_text(text)
    loaded = load_program([str(path)], FrontOptions())
    assert not loaded.findings, loaded.findings
    program = loaded.program
    function = program.units[0].functions[-1]
    kernel = Kernel(
        "ws_f_k1", function.symbol.name, "f", function.body.span, (), (), (1, 1, 1),
        tuple(_parameter(s, function) for s in function.parameters), (), function.body, (),
    )  # fmt: skip
    arguments = tuple(Name(span=function.body.span, type=s.type, symbol=s) for s in function.parameters)
    launch: Stmt = Launch(span=function.body.span, kernel=kernel.name, arguments=arguments, region="f")
    new = replace(function, body=replace(function.body, statements=(launch,)))
    return program, msgspec.structs.replace(program.with_function(function, new), kernels=(kernel,))


def _parameter(symbol: object, function: Function) -> KernelParameter:
    found = next(s for s in function.parameters if s is symbol)
    pointer = type(found.type).__name__ == "Pointer"
    return KernelParameter(found, found, "buffer" if pointer else "value", pointer)


def kernels(tmp_path: Path, text: str) -> str:
    """Return the kernel file's text; every compiler that is there must take it."""
    original, ported = port(tmp_path, text)
    files = emit_cuda(original, ported)
    for file in emit_kernels(original, ported):
        if has_nvrtc():
            found = compile_nvrtc(file.text)
            assert found is None, found
    if has_nvcc():
        found = compile_nvcc(files)
        assert found is None, found
    return next(f.text for f in files if f.path.endswith(".cu"))


@pytest.mark.slow
def test_helpers_become_device_functions_in_order(tmp_path: Path) -> None:
    text = kernels(
        tmp_path,
        """\
#include <math.h>
static int even(int n);
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
/* how far */
inline double distance(double x, double y) {
    // Pythagoras
    return sqrt(x * x + y * y);
}
double elsewhere(double x) { return x; }
void f(double *restrict a, int n) { a[0] = distance(a[1], a[2]) + odd(n); }
""",
    )
    assert "static __device__ double distance(double x, double y)\n{\n    // Pythagoras\n" in text
    assert "static __device__ int even(int n);" in text
    assert "elsewhere" not in text
    assert "restrict" not in text.replace("__restrict__", "")


def test_names_that_cuda_owns_are_changed(tmp_path: Path) -> None:
    text = kernels(
        tmp_path,
        """\
static int min(int a, int b) { return a < b ? a : b; }
static double norm(double class, int new) { double delete = class; return delete + new; }
void f(double *a, int template) { int this = min(template, 3); a[this] = norm(a[0], this); }
""",
    )
    assert "static __device__ int ws_min(int a, int b)" in text
    assert "double class_, int new_" in text
    assert "int this_ = ws_min(template_, 3);" in text
    assert "a[this_] = ws_norm(a[0], this_);" in text


@pytest.mark.slow
def test_a_name_that_is_changed_meets_no_other(tmp_path: Path) -> None:
    text = kernels(
        tmp_path,
        """\
static double mix(double new, double new_) { double __x = 2, x = new_; return new * __x + x; }
void f(double *a, int this, int this_) { int __new = this, new = this_; a[__new] = mix(a[new], a[this_]); }
""",
    )
    assert "double mix(double new__, double new_)" in text
    assert "double x_ = 2, x = new_;" in text and "return new__ * x_ + x;" in text
    assert "int this__, int this_" in text
    assert "int new_ = this__, new__ = this_;" in text
    assert "a[new_] = mix(a[new__], a[this_]);" in text


@pytest.mark.slow
def test_definitions_come_along_in_order(tmp_path: Path) -> None:
    text = kernels(
        tmp_path,
        """\
#include <stdint.h>
#include <limits.h>
#define SIZE 4
#define TWICE(x) ((x) * FACTOR)
#define FACTOR 2
#define NOT_ME 3
typedef double real;
enum kind { ROUND, SQUARE = 7 };
typedef struct shape { real size[SIZE]; enum kind kind; } shape;
static const real table[3] = {1.5, 2.5, 3.5};
static const int step = 2;
static real area(const shape *s) { return s->kind == SQUARE ? s->size[0] * TWICE(s->size[1]) : table[step]; }
void f(shape *s, uint8_t *bytes, real *out) {
    enum kind k = SQUARE;
    uint32_t big = INT_MAX;
    k = 3;
    out[0] = area(&s[1]) + bytes[0] + k + big;
}
""",
    )
    assert "#include <stdint.h>" in text and "#include <limits.h>" in text
    assert text.index("#define SIZE 4") < text.index("typedef struct shape")
    assert text.index("typedef double real;") < text.index("typedef struct shape")
    assert "#define FACTOR 2" in text and "NOT_ME" not in text
    assert "static __device__ const real table[3] = {1.5, 2.5, 3.5};" in text
    assert "    int k = SQUARE;" in text or "    unsigned int k = SQUARE;" in text


@pytest.mark.slow
def test_silent_conversions_are_spelled_out(tmp_path: Path) -> None:
    text = kernels(
        tmp_path,
        """\
static void *pass(void *p) { return p; }
void f(double *a, int n) {
    double *b = pass(a);
    float pair[2] = {a[0], n};
    register _Bool flag = n > 2;
    b = pass(b);
    a[1] = b[0] + pair[1] + flag + (int)sizeof('x');
}
""",
    )
    assert "double *b = (double *)pass(a);" in text
    assert "float pair[2] = {(float)a[0], (float)n};" in text
    assert "bool flag = n > 2;" in text
    assert "(int)4ul" in text or "(int)sizeof(int)" in text


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("static int count; static int g(void) { return count; }\nvoid f(int *a) { a[0] = g(); }\n", "count"),
        ("static int g(void) { static int n; return n++; }\nvoid f(int *a) { a[0] = g(); }\n", "n"),
        ("#include <stdarg.h>\nstatic int g(int n, ...) { return n; }\nvoid f(int *a) { a[0] = g(1, 2); }\n", "g"),
        ("static double g(int n) { double a[n]; return a[0]; }\nvoid f(double *a) { a[0] = g(3); }\n", "length"),
        ("void f(long double *a) { a[0] = 1; }\n", "long double"),
        ("struct p { int x, class; };\nvoid f(struct p *a) { a[0].class = 1; }\n", "class"),
        ("struct p { int x, y; };\nvoid f(int *a) { struct p q = (struct p){1, 2}; a[0] = q.x; }\n", ""),
        ("struct p { int x, y; };\nvoid f(int *a) { struct p q = {.y = 2}; a[0] = q.y; }\n", ""),
    ],
)  # fmt: skip
def test_what_a_device_lacks_is_refused_by_name(text: str, named: str, tmp_path: Path) -> None:
    original, ported = port(tmp_path, text)
    with pytest.raises(RefusedError) as caught:
        emit_cuda(original, ported)
    assert named in str(caught.value.findings[0].message)


@pytest.mark.slow
def test_the_function_of_c_is_called_where_cxx_has_several(tmp_path: Path) -> None:
    text = kernels(
        tmp_path,
        """\
#include <math.h>
#include <stdlib.h>
void f(double *a, float x, int k) { a[0] = sqrt(x); a[1] = pow(a[2], 2) + fabs(a[3]); a[4] = abs(k) + sqrtf(x); }
""",
    )
    assert "a[0] = sqrt((double)x);" in text
    assert "pow(a[2], (double)2) + fabs(a[3])" in text
    assert "abs(k) + sqrtf(x)" in text


def test_calls_of_the_library_are_what_they_mean(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(
        "#include <algorithm>\nvoid f(float *a)\n{\n    float x = a[0];\n    x = std::max(x, 0.5f);\n"
        "    a[0] = std::clamp(x, 0.25f, a[1]);\n}\n"
    )
    function = load_program([str(path)], FrontOptions(arguments=("-std=c++17",))).program.units[0].functions[-1]
    text = join_lines(Patcher([function]).printer.stmt(cast(Stmt, for_device(function.body, {}))))
    assert "x = x < 0.5f ? 0.5f : x;" in text
    assert "a[0] = a[1] < (x < 0.25f ? 0.25f : x) ? a[1] : x < 0.25f ? 0.25f : x;" in text


def test_a_constant_that_is_a_parameter_of_the_kernel_gives_an_array_no_length(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(
        "const int most = 3;\nvoid f(float *a)\n{\n    const int n = 8, half = n / 2;\n"
        "    float x[n][half], y[most], z[2];\n    x[1][0] = y[0] + z[1];\n    a[0] = x[1][0];\n}\n"
    )
    function = load_program([str(path)], FrontOptions()).program.units[0].functions[-1]
    text = join_lines(Patcher([function]).printer.stmt(cast(Stmt, for_device(function.body, {}))))
    assert "float x[8][4], y[most], z[2];" in text
