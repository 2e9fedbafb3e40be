"""The device side of a unit: constants, the functions that kernels call, then kernels, in an order that compiles."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest

from tests.offload.hand import load
from warpsmith.base.errors import RefusedError
from warpsmith.emit.device.device import DeviceSection, device_section
from warpsmith.emit.words import choose_support
from warpsmith.tree.nodes import Function
from warpsmith.tree.program import Kernel, KernelParameter
from warpsmith.tree.types import Pointer, Symbol

TEXT = """
#include <assert.h>
static double positive(double x) { assert(x > 0); return x; }
static const int steps[2] = {16, 1};
static const double scale = 0.5;
static const int unused = 4;
int counter;
extern const int elsewhere;
static int even(int n);
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int even(int n) { return n == 0 ? steps[1] : odd(n - 1); }
static double half(double x) { return x * scale; }
static double quarter(double x) { return half(half(x)); }
static double __mine(double new) { return new; }
static int never(int n) { return n; }
static int sum(int n, ...) { return n; }
static int host(int n) { return n + counter; }
"""


def kernel_of(function: Function, number: int) -> Kernel:
    """Return a kernel of one thread with the body of a function."""

    def parameter(symbol: Symbol) -> KernelParameter:
        kind: Literal["value", "buffer"] = "buffer" if isinstance(symbol.type, Pointer) else "value"
        return KernelParameter(symbol, symbol, kind, True)

    parameters = tuple(parameter(symbol) for symbol in function.parameters)
    name, body = f"ws_f_k{number}", function.body
    return Kernel(name, "f", f"f/{number}", function.span, (), (), (1, 1, 1), parameters, (), body, ())


def section(bodies: list[str], folder: Path, *, prefix: str = "") -> DeviceSection:
    functions = "\n".join(f"void f{k}(double *a, int n) {{ {body} }}" for k, body in enumerate(bodies))
    program = load(f"{TEXT}{functions}\n", folder)
    found = {function.symbol.name: function for _, function in program.functions()}
    kernels = tuple(kernel_of(found[f"f{k}"], k) for k in range(len(bodies)))
    return device_section(program, program.units[0], kernels, choose_support(program), prefix)


def order(text: str, *words: str) -> list[str]:
    """Return the words in the order in which they first stand in the text."""
    return sorted((word for word in words if word in text), key=text.index)


def test_only_what_kernels_need_is_there_and_before_its_use(tmp_path: Path) -> None:
    text = section(["a[0] = quarter(n);", "a[n] = scale;"], tmp_path).device
    in_order = ("scale =", "double half(", "double quarter(", "ws_f_k0", "ws_f_k1")
    assert order(text, *in_order) == list(in_order)
    assert not re.search(r"\b(steps|unused|never|odd|even)\b", text)
    # each stands there once, as what runs on the device only
    assert text.count("static __device__ double half(double x)") == 1
    assert text.count("static __device__ const double scale = 0.5;") == 1


def test_functions_that_call_each_other_are_declared_first(tmp_path: Path) -> None:
    text = section(["a[0] = odd(n);"], tmp_path).device
    assert all(f"static __device__ int {name}(int n);" in text.split("return")[0] for name in ("odd", "even"))
    assert "static __device__ const int steps[2] = {16, 1};" in text
    # those that only call what stands above them are not
    assert "half(double x);" not in section(["a[0] = quarter(n);"], tmp_path).device


def test_helpers_have_a_prefix_where_host_text_has_them_too(tmp_path: Path) -> None:
    text = section(["a[0] = quarter(n);"], tmp_path, prefix="ws_").device
    assert "double ws_half(double x)" in text and "return ws_half(ws_half(x));" in text
    assert "a[0] = ws_quarter(" in text and not re.search(r"\b(half|quarter)\b", text)


def test_reserved_names_and_words_of_cxx_are_changed(tmp_path: Path) -> None:
    text = section(["a[0] = __mine(n);"], tmp_path).device
    assert "__mine(" not in text.replace("ws___mine(", "")
    assert "ws___mine(double new_) {" in text.replace("\n{", " {") and "return new_;" in text


def test_every_kernel_has_its_place_and_its_launcher(tmp_path: Path) -> None:
    made = section(["a[0] = n;", "a[1] = n;"], tmp_path)
    lines = [TEXT.count("\n") + k for k in (1, 2)]
    assert list(made.places) == [f"input.c:{line}: f/{k}" for k, line in enumerate(lines)]
    assert [re.findall(r"ws_f_k\d", d)[0] for d in made.declarations] == ["ws_f_k0", "ws_f_k1"]
    # launchers stand behind their kernels, and not in what is device text alone
    assert "<<<" not in made.device
    for place, piece in zip(made.places, made.pieces, strict=True):
        assert f"// {place}" in piece and "<<<" in piece


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a[0] = counter;", "device code cannot name counter, a variable of the host"),
        ("a[0] = elsewhere;", "device code cannot name elsewhere, a variable of the host"),
        ("a[0] = host(n);", "device code cannot name counter, a variable of the host"),
        ("a[0] = sum(n, n);", r"a function with a variable number of arguments \(sum\)"),
    ],
)
def test_what_device_code_cannot_have_is_refused(body: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=message):
        section([body], tmp_path)


def test_a_failed_assertion_ends_the_program_behind_the_launch(tmp_path: Path) -> None:
    made = section(["assert(n > 2 && a[n] < 3);", "a[n] = half(positive(n));", "a[n] = half(n);"], tmp_path)
    assert "assert(n > 2 && a[n] < 3);" in made.device and "assert(x > 0);" in made.device
    behind = "WS_CHECK(cudaGetLastError());\n    if (cudaDeviceSynchronize() == cudaErrorAssert)\n        abort();\n"
    launchers = [text for text in made.pieces if "<<<" in text]
    assert [behind in text for text in launchers] == [True, True, False]


def test_an_assertion_that_is_off_names_nothing_of_the_host(tmp_path: Path) -> None:
    text = "#define NDEBUG\n#include <assert.h>\nint g;\nvoid f0(double *a, int n) { assert(g > n); a[n] = 1; }\n"
    program = load(text, tmp_path)
    kernel = kernel_of(next(function for _, function in program.functions()), 0)
    made = device_section(program, program.units[0], (kernel,), choose_support(program), "")
    assert "(void)0;" in made.device and "assert" not in made.device
    assert not any("cudaErrorAssert" in text for text in made.pieces)


def test_a_variable_gives_way_to_a_macro(tmp_path: Path) -> None:
    text = "static double pick(double *q) { return q[1]; }\nvoid f(double *a, double *q, int n) { a[n] = pick(q); }\n"
    program = load(f"{text}#define n 2\n#define q 3\n", tmp_path)
    kernel = kernel_of(program.units[0].functions[-1], 0)
    device = device_section(program, program.units[0], (kernel,), choose_support(program), "").device
    assert "pick(double *q_)" in device and "return q_[1];" in device
    assert "a[n_] = pick(q_);" in device and not re.search(r"\b[nq]\b", device.partition("{\n")[2])
