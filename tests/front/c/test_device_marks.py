from __future__ import annotations

import pytest

from warpsmith.front.c.device_marks import kernel_name, place_of, traits_of
from warpsmith.front.clang.device.instances import named_instances
from warpsmith.front.clang.wire import Mark
from warpsmith.front.device.swizzles import find_named_lanes

KNOWN = {"WIDE": 64, "ns::DEEP": 3}.get


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("__attribute__((global)) __attribute__((launch_bounds(256))) void k()", (256, None)),
        ("__attribute__((launch_bounds(32 * 2, 4))) void k()", (64, 4)),
        ("__attribute__((launch_bounds(WIDE * (1 << ns::DEEP), 64U / 3))) void k()", (512, 21)),
        ("__attribute__((launch_bounds(sizeof(int), unknown))) void k()", (None, None)),
        ("void k()", (None, None)),
    ],
)
def test_launch_bounds_are_constant_expressions(text: str, expected: tuple[int | None, int | None]) -> None:
    traits = traits_of((["kernel"], text), KNOWN, ours=False)
    assert (traits.max_threads, traits.min_blocks) == expected


def test_registers_and_shapes() -> None:
    shapes = "__attribute__((reqd_work_group_size(16, 8, 1))) __attribute__((work_group_size_hint(4, 4, 4)))"
    text = f"__kernel {shapes} void k()"
    traits = traits_of((["maxnreg WIDE - 1"], text), KNOWN, ours=True)
    assert (traits.kernel, traits.max_registers, traits.block, traits.hint, traits.ours) == (
        True, 63, (16, 8, 1), (4, 4, 4), True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("__attribute__((reqd_work_group_size(16, 8, 1))) __kernel void k(__global int *x)", True),
        ("__kernel __attribute__((vec_type_hint(float4))) void k()", True),
        ("kernel void k()", True),
        ("inline float kernel(float kernel_x)", False),
        ("void k(int *kernel)", False),
    ],
)
def test_kernels_of_opencl_say_so(text: str, kernel: bool) -> None:
    assert traits_of(([], text), KNOWN, ours=False).kernel == kernel


@pytest.mark.parametrize(
    ("words", "text", "expected"),
    [
        (["shared"], "float t[32] __attribute__((shared))", ("shared", 0)),
        (["shared"], "extern float t[] __attribute__((shared)) __attribute__((aligned(16)))", ("dynamic", 16)),
        (["device", "managed"], "", ("managed", 0)),
        (["device"], "", ("global", 0)),
        (["device", "constant"], "", ("constant", 0)),
        ([], "alignas(32) float x", ("", 32)),
    ],
)
def test_the_memory_of_a_variable(words: list[str], text: str, expected: tuple[str, int]) -> None:
    assert place_of((words, text)) == expected


def test_the_name_of_an_instance_is_what_one_writes() -> None:
    mark: Mark = ([], "template<> __attribute__((global)) void k<std::pair<int, float>, true, 3>(int *a)")
    assert kernel_name("ns::k", mark) == "ns::k<std::pair<int, float>, true, 3>"
    assert kernel_name("k", ([], "void k(int *a)")) == "k"


@pytest.mark.parametrize(
    ("name", "lanes", "expected"),
    [
        ("x", 4, (0,)), ("wzyx", 4, (3, 2, 1, 0)), ("rgb", 4, (0, 1, 2)), ("s0A", 16, (0, 10)), ("Sf", 16, (15,)),
        ("lo", 4, (0, 1)), ("hi", 4, (2, 3)), ("even", 8, (0, 2, 4, 6)), ("odd", 2, (1,)), ("hi", 3, (2, 3)),
        ("z", 2, ()), ("s4", 4, ()), ("xr", 4, ()), ("length", 4, ()),
    ],
)  # fmt: skip
def test_components_of_vectors(name: str, lanes: int, expected: tuple[int, ...]) -> None:
    assert find_named_lanes(name, lanes) == expected


@pytest.mark.parametrize(
    ("text", "contains"),
    [
        ("template __global__ void k<short, 8>(short *);", "auto w0=&k<short, 8>;"),
        ("template void run<float>(float *x, int n);", "auto w0=&run<float>;"),
        ("template __global__ void ns::k(float *, int);", "void(*w0)(float *, int)=ns::k;"),
        (
            "template __global__ void __launch_bounds__(2 * (3 + 1)) k<int>(int *,\n    int);\nint x;",
            "auto w0=&k<int>;",
        ),
        ("template __global__ void k$a<short, 8>(short *);", "auto w0=&k$a<short, 8>;"),
        ("char c = '\"'; template void run<float>(float *x, int n); char d = '\"';", "auto w0=&run<float>;"),
        ("int a = 1'0; template void run<float>(float *x, int n); // '", "auto w0=&run<float>;"),
        ("// a \\\n template void run<int>(int *x, int n);\ntemplate void f<T>(T *x, T);", "auto w0=&f<T>;"),
    ],
)
def test_explicit_instantiations_name_their_instances_in_place(text: str, contains: str) -> None:
    made = named_instances(text)
    assert contains in made and len(made) == len(text) and made.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "template <class T> __global__ void k(T *x);",
        "// template __global__ void k<int>(int *);",
        'const char *s = "template __global__ void k<int>(int *);";',
        "template class Solver<float>; __global__ void k(int *x) { }",
        'auto s = R"(" template __global__ void k<int>(int *);)";',
        "// \\\ntemplate __global__ void k<int>(int *);",
    ],
)
def test_nothing_else_is_touched(text: str) -> None:
    assert named_instances(text) == text
