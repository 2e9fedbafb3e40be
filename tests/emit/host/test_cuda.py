"""The files of a port: what compilers say of them, and whose bytes they keep."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

import msgspec.structs
import pytest

from tests.emit.examples import LU, SAXPY, Ported, lu, saxpy
from warpsmith.base.errors import RefusedError, UsageError
from warpsmith.base.nvidia import has_nvrtc
from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.cuda import emit_cuda, emit_kernels
from warpsmith.flows.port import PortOptions, port
from warpsmith.run.native.device_compile import compile_nvcc, compile_nvrtc, has_nvcc
from warpsmith.tree.program import Program, TypeText
from warpsmith.tree.types import FLOAT, Pointer

PORTS = {"saxpy": saxpy, "lu": lu}


def write(files: Iterable[OutputFile], folder: Path) -> None:
    for file in files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data())


def warnings(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stderr


@pytest.mark.parametrize("name", PORTS)
@pytest.mark.parametrize("compiler", [["gcc", "-std=c99"], ["gcc", "-std=c17", "-O2"], ["g++", "-x", "c++", "-O2"]])
def test_host_text_draws_no_warning(name: str, compiler: list[str], tmp_path: Path) -> None:
    made = PORTS[name]()
    files = emit_cuda(made.original, made.ported)
    write(files, tmp_path)
    assert warnings([*compiler, "-Wall", "-Wextra", "-c", "-o", "host.o", files[0].path], tmp_path) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", PORTS)
@pytest.mark.skipif(not has_nvcc(), reason="nvcc is not installed")
def test_nvcc_takes_the_kernels(name: str) -> None:
    made = PORTS[name]()
    assert compile_nvcc(emit_cuda(made.original, made.ported)) is None


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", PORTS)
@pytest.mark.skipif(not has_nvrtc(), reason="NVRTC is not installed")
def test_nvrtc_takes_the_kernels(name: str, arch: str) -> None:
    made = PORTS[name]()
    for file in emit_kernels(made.original, made.ported):
        assert "__global__" in file.text
        assert compile_nvrtc(file.text, arch, file.path) is None


def test_only_the_region_changes() -> None:
    made = saxpy()
    host = emit_cuda(made.original, made.ported)[0]
    assert host.path == "saxpy.c"
    assert host.text == SAXPY.replace(
        "#include <stdio.h>\n", '#include <stdio.h>\n#include "saxpy_kernels.h"\n'
    ).replace(
        "    for (int i = 0; i < n; i++)\n        y[i] = a * x[i] + y[i];",
        "    ws_saxpy_serial_1(n, a, x, y);",
    )


def test_the_files_line_end_is_kept() -> None:
    made = lu(LU.replace("\n", "\r\n"))
    for file in emit_cuda(made.original, made.ported):
        assert file.text.count("\r\n") == file.text.count("\n") > 5


def test_calls_of_generated_functions_are_broken_at_120_columns(tmp_path: Path) -> None:
    names = [f"array_with_a_long_name_{k}" for k in range(6)]
    parameters = ", ".join(f"double *restrict {name}" for name in names)
    work = "".join(f"            {name}[i] += 1;\n" for name in names)
    comment = f"    /* {'words of the owner ' * 8}*/\n"
    path = tmp_path / "a.c"
    path.write_text(
        f"void f(int n, {parameters})\n{{\n{comment}\tif (n > 3) {{\n        for (int i = 0; i < n; i++) {{\n{work}"
        "        }\n    }\n}\n"
    )
    host = port([str(path)], PortOptions(verify=False)).files[0].text
    assert comment in host and "array_with_a_long_name_5);\n" in host
    calls = host[host.index("ws_f_1(") - 8 :].split("\n")
    assert max(len(line) for line in calls) <= 120


_TOLD = """/* two kernels a step */
#include <stdio.h>
void add(int n, float *a, const float *b)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i] + 1;
}
void run(int n, float *a, float *b)
{
    for (int t = 0; t < 4; t++) {
#ifdef TOLD
        printf("%d %g\\n", t, a[0]);
#endif
        add(n, a, b);
        add(n, b, a);
    }
}
"""


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
def test_code_of_other_builds_in_a_loop_is_kept_out_of_this_one(mark: str, tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(mark + _TOLD)
    files = port([str(path)], PortOptions(verify=False)).files
    host = files[0].text
    # what is not compiled stands in the way of no data region
    assert (
        host.index("ws_data_begin(") < host.index("for (int t") < host.index("#ifdef TOLD") < host.index("ws_data_end(")
    )
    first = mark.encode().decode("latin-1")
    assert host.startswith(f'{first}#include "a_build.h"\n/* two kernels a step */\n')
    write(files, tmp_path / "out")
    command = ["gcc", "-Wall", "-c", "-o", "host.o", "a.c"]
    assert warnings(command, tmp_path / "out") == ""
    assert "ported without TOLD" in warnings([*command, "-DTOLD"], tmp_path / "out")


def test_an_unchanged_program_comes_back_as_it_is() -> None:
    original = saxpy().original
    assert emit_cuda(original, original) == (OutputFile("saxpy.c", SAXPY),)


def test_generated_names_keep_away_from_the_users(tmp_path: Path) -> None:
    made = lu(LU.replace("// LU decomposition", "extern int WS_HERE, ws1_thing;"))
    files = emit_cuda(made.original, made.ported)
    assert "struct ws2_lu_data ws2_gpu = ws2_lu_begin(" in files[0].text
    assert "ws2_device_acquire(8LL" in files[1].text
    assert "WS2_CHECK(cudaGetLastError())" in files[1].text
    assert "ws_lu_k1(A_gpu, N, k);" in files[1].text
    write(files, tmp_path)
    assert warnings(["gcc", "-Wall", "-Wextra", "-fsyntax-only", files[0].path], tmp_path) == ""


@pytest.mark.parametrize("language", ["c", "c++"])
def test_captures(language: str, tmp_path: Path) -> None:
    made = lu(captures=True)
    if language == "c++":
        made = _as_cxx(made)
    host, kernels, _ = emit_cuda(made.original, made.ported)
    assert 'ws_capture("lu/k/i", "A", (const void *)A, -1, 3, 8, 0, N * N, (const void *)A_gpu);\n' in kernels.text
    assert kernels.text.count('extern "C" void ws_capture(const char *region') == 1
    assert "ws_capture" not in host.text
    # A reference build is emitted against itself: its captures are the difference.
    again = emit_cuda(made.ported, made.ported)[0]
    assert again.text.count("ws_capture(") == 2


def _as_cxx(made: Ported) -> Ported:
    def change(program: Program) -> Program:
        return msgspec.structs.replace(
            program, units=tuple(msgspec.structs.replace(u, language="c++") for u in program.units)
        )

    return Ported(change(made.original), change(made.ported))


@pytest.mark.slow
def test_several_units_share_one_pool(tmp_path: Path) -> None:
    a, b = saxpy(), lu()
    files = emit_cuda(
        Program((*a.original.units, *b.original.units)),
        Program((*a.ported.units, *b.ported.units), (*a.ported.kernels, *b.ported.kernels)),
    )
    assert [f.path for f in files] == [
        "saxpy.c", "saxpy_kernels.cu", "saxpy_kernels.h", "lu.c", "lu_kernels.cu", "lu_kernels.h",
    ]  # fmt: skip
    own = 'extern "C" void *ws_device_acquire(long long bytes, const char *name, const char *file, int line)\n{'
    assert [own in f.text for f in files] == [False, True, False, False, False, False]
    if has_nvcc():
        write(files, tmp_path)
        (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
        sources = ["saxpy.c", "lu.c", "main.c", "saxpy_kernels.cu", "lu_kernels.cu"]
        subprocess.run(["nvcc", *sources, "-o", "all"], cwd=tmp_path, check=True, capture_output=True)


def test_a_single_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        made = lu()
        emit_cuda(made.original, made.ported, single_file=True)
    made = _as_cxx(lu())
    (file,) = emit_cuda(made.original, made.ported, single_file=True)
    assert file.path == "lu.cu"
    if has_nvcc():
        assert compile_nvcc([file]) is None


def test_macros_and_types_that_kernels_use_are_written_out() -> None:
    made = saxpy(SAXPY.replace("/* y", "#define UNUSED 1\n/* y"))
    texts = (
        TypeText("base", "typedef float base;", ()),
        TypeText("real", "typedef base real;", ("base",)),
        TypeText("UNUSED", "#define UNUSED 1", (), True),
    )
    unit = msgspec.structs.replace(made.original.units[0], type_texts=texts)
    kernel = made.ported.kernels[0]
    first = kernel.parameters[2]
    pointer = Pointer(msgspec.structs.replace(FLOAT, spelling="real"))
    new = msgspec.structs.replace(first, symbol=msgspec.structs.replace(first.symbol, type=pointer))
    kernel = msgspec.structs.replace(kernel, parameters=(*kernel.parameters[:2], new, *kernel.parameters[3:]))
    ported = msgspec.structs.replace(made.ported, kernels=(kernel,))
    text = emit_cuda(msgspec.structs.replace(made.original, units=(unit,)), ported)[1].text
    assert "typedef float base;\ntypedef base real;\n" in text
    assert "UNUSED" not in text
    assert "const real *__restrict__ x_gpu" in text


def test_a_launch_without_its_kernel_is_refused() -> None:
    made = saxpy()
    with pytest.raises(RefusedError):
        emit_cuda(made.original, msgspec.structs.replace(made.ported, kernels=()))
