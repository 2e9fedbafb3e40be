"""The text of generated functions: in the file of kernels, and in the header."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.emit.examples import lu, saxpy
from tests.emit.host.outline.programs import port_text, texts
from warpsmith.emit.host.cuda import emit_cuda, outlined_program
from warpsmith.emit.host.host import CudaWords
from warpsmith.emit.host.outline.text import declarations_of, definition, places, states
from warpsmith.emit.words import choose_support


def test_a_function_says_where_its_work_stands() -> None:
    made = saxpy()
    (function,) = outlined_program(made.original, made.ported).functions[0]
    unit = made.original.units[0]
    assert places(function, unit) == "saxpy.c:6: saxpy_serial/i"
    assert list(declarations_of((function,), unit)) == [
        "/* saxpy.c:6: saxpy_serial/i */\nvoid ws_saxpy_serial_1(int n, float a, float *x, float *y);"
    ]
    assert not list(states((function,)))
    words = CudaWords(choose_support(made.original), {k.name: k for k in made.ported.kernels})
    assert definition(function, unit, words).split("\n") == [
        "// saxpy.c:6: saxpy_serial/i",
        'extern "C" void ws_saxpy_serial_1(int n, float a, float *x, float *y)',
        "{",
        '    float *x_gpu = (float *)ws_device_acquire(4LL * n, "x", WS_HERE);',
        '    float *y_gpu = (float *)ws_device_acquire(4LL * n, "y", WS_HERE);',
        "    ws_copy_to_device(x_gpu, x, 4LL * n, WS_HERE);",
        "    ws_copy_to_device(y_gpu, y, 4LL * n, WS_HERE);",
        "    ws_saxpy_serial_k1(n, a, x_gpu, y_gpu);",
        "    ws_copy_to_host(y, y_gpu, 4LL * n, WS_HERE);",
        "    ws_device_release(y_gpu);",
        "    ws_device_release(x_gpu);",
        "}",
    ]


def test_what_functions_hand_on_is_a_structure_of_c() -> None:
    made = lu()
    functions = outlined_program(made.original, made.ported).functions[0]
    assert [function.name for function in functions] == ["ws_lu_begin", "ws_lu_1", "ws_lu_end"]
    assert list(states(functions)) == ["struct ws_lu_data {\n    double *A_gpu;\n};"]


@pytest.mark.parametrize("compiler", [["gcc", "-xc", "-std=c99"], ["g++", "-xc++"]])
def test_the_header_is_c_and_cxx(compiler: list[str], tmp_path: Path) -> None:
    made = lu()
    header = next(file for file in emit_cuda(made.original, made.ported) if file.path.endswith(".h"))
    assert "ws_device_acquire" not in header.text
    path = tmp_path / "header.h"
    path.write_text(header.text)
    command = [*compiler, "-Wall", "-Wextra", "-fsyntax-only", str(path)]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stderr == ""


def test_a_guard_stands_below_its_reason(tmp_path: Path) -> None:
    text = "void f(int n, float *x, float *y) { for (int i = 0; i < n; i++) x[i] = y[i + 1]; }\n"
    kernels = texts(port_text(text, tmp_path))["one_kernels.cu"]
    function = kernels[kernels.index('extern "C" int ws_f_1(') :].split("\n")
    assert function[2] == "    const long long extent = n >= 1 ? (long long)n : 0;"
    assert function[3] == "    // only where what is touched of x and of y does not overlap"
    assert function[4].startswith("    if (!ws_apart(x, x + ") and "        return 0;" in function[5:7]
    assert "    return 1;" in function
