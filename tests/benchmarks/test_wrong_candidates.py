"""What a campaign of wrong candidates changes, how it judges without the referee, and what it counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.wrong_candidates.campaign import CORRECT, Result, written
from benchmarks.wrong_candidates.changes import CLASSES, draw, mutants
from benchmarks.wrong_candidates.dumps import Left, compare, read_dump
from benchmarks.wrong_candidates.frames import with_frames
from benchmarks.wrong_candidates.judge import Judge, device_text
from benchmarks.wrong_candidates.programs import Program, read_programs
from benchmarks.wrong_candidates.table import disagreements, table

from tests.sampling import one_in

_ORIGINAL = """#include <stdio.h>
#include <stdlib.h>
double total[4];
int main(void)
{
    int n = 70;
    double *a = (double *)malloc(n * sizeof *a);
    double end[3];
    for (int i = 0; i < n; i++)
        a[i] = 0.1 * i;
    for (int i = 0; i < n; i++)
        a[i] = a[i] * 3 + 1;
    for (int i = 0; i < 3; i++)
        total[i] = end[i] = a[n - 1 - i];
    printf("%.1f\\n", a[3]);
    free(a);
    return 0;
}
"""
_HOST = _ORIGINAL.replace("#include <stdlib.h>", '#include <stdlib.h>\n#include "p_kernels.h"').replace(
    "    for (int i = 0; i < n; i++)\n        a[i] = a[i] * 3 + 1;\n",
    """    long long a_bytes = n * (long long)sizeof(double);
    double *a_gpu = (double *)ws_device_acquire(a_bytes, "a", WS_HERE);
    ws_copy_to_device(a_gpu, a, a_bytes, WS_HERE);
    ws_main_k1(a_gpu, n);
    ws_copy_to_host(a, a_gpu, a_bytes, WS_HERE);
    ws_device_release(a_gpu);
""",
)
_HEADER = """#define WS_HERE __FILE__, __LINE__
#ifdef __cplusplus
extern "C" {
#endif
void ws_main_k1(double *a_gpu, int n);
void *ws_device_acquire(long long bytes, const char *name, const char *file, int line);
void ws_device_release(void *memory);
void ws_copy_to_device(void *device, const void *host, long long bytes, const char *file, int line);
void ws_copy_to_host(void *host, const void *device, long long bytes, const char *file, int line);
#ifdef __cplusplus
}
#endif
"""
_DEVICE = """#include <cuda_runtime.h>
#include "p_kernels.h"
// p.c:10: main/i
__global__ void ws_main_k1_kernel(double *a_gpu, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a_gpu[i] = a_gpu[i] * 3 + 1;
}

extern "C" void ws_main_k1(double *a_gpu, int n)
{
    const long long count_i = n;
    const dim3 grid((unsigned)((count_i + 31) / 32));
    const dim3 block(32);
    ws_main_k1_kernel<<<grid, block>>>(a_gpu, n);
}

/* Run time of warpsmith: device memory and copies. */
extern "C" void *ws_device_acquire(long long bytes, const char *, const char *, int)
{
    void *memory = nullptr;
    cudaMalloc(&memory, bytes);
    return memory;
}
extern "C" void ws_device_release(void *memory) { cudaFree(memory); }
extern "C" void ws_copy_to_device(void *device, const void *host, long long bytes, const char *, int)
{
    cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice);
}
extern "C" void ws_copy_to_host(void *host, const void *device, long long bytes, const char *, int)
{
    cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);
}
"""
_PORT = {"p.c": _HOST, "p_kernels.h": _HEADER, "p_kernels.cu": _DEVICE}


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    folder = tmp_path_factory.mktemp("program")
    (folder / "p.c").write_text(_ORIGINAL)
    shim = Judge.build_shim(tmp_path_factory.mktemp("shim"))
    return Judge(Program("p", folder, ("p.c",), ("p.c",)), shim, _PORT)


def _changed(name: str, old: str, new: str) -> dict[str, str]:
    assert old in _PORT[name]
    return {**_PORT, name: _PORT[name].replace(old, new)}


@pytest.mark.slow
def test_the_port_is_right(judge: Judge) -> None:
    assert judge.judge(_PORT).fate == "same"
    assert judge.dead == frozenset()
    assert {"heap0", "total", "frame_main_end_0"} <= set(judge.original[0].memory)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    one_in(
        3,
        [
            ("p_kernels.cu", "* 3", "* 4", ("differs", True)),
            ("p_kernels.cu", "i < n)", "i < n - 9)", ("differs", False)),
            ("p_kernels.cu", "i < n)", "i <= n)", ("crashes", True)),
            ("p_kernels.cu", "* 3 + 1;", "* 3 + 1 + a_gpu[0] * 0;", ("same", False)),
            ("p_kernels.cu", "grid, block>>>", "grid, 2048>>>", ("differs", True)),
            ("p_kernels.cu", "cudaMalloc(&memory, bytes)", "cudaMalloc(&memory, bytes - 8)", ("crashes", True)),
            ("p_kernels.cu", "+ 1;", "+ ;", ("unbuildable", False)),
            ("p.c", "    ws_copy_to_device(a_gpu, a, a_bytes, WS_HERE);\n", "", ("differs", True)),
            ("p.c", "ws_copy_to_host(a, a_gpu", "ws_copy_to_host(a_gpu, a", ("differs", True)),
            ("p.c", "    ws_copy_to_host(a, a_gpu", "    a[0] = *a_gpu; ws_copy_to_host(a, a_gpu", ("crashes", True)),
            ("p.c", "ws_main_k1(a_gpu", "ws_main_k1(a", ("differs", True)),
        ],
    ),
)
def test_the_judge_tells_what_is_wrong(judge: Judge, name: str, old: str, new: str, expected: tuple[str, bool]) -> None:
    found = judge.judge(_changed(name, old, new))
    assert (found.fate, found.shows) == expected, found


@pytest.mark.slow
def test_a_stream_that_waits_for_nobody_is_run_late(judge: Judge) -> None:
    (late,) = [m for m in mutants(_PORT) if m.kind == "order"]
    assert judge.judge(late.files).fate == "differs"


def test_generated_functions_have_mutants_and_declarations_of_the_run_time_none() -> None:
    call = _PORT["p.c"][_PORT["p.c"].index("    long long a_bytes") : _PORT["p.c"].index("    for (int i = 0; i < 3")]
    function = f'extern "C" void ws_main_1(double *a, int n)\n{{\n{call}}}\n\n'
    declared = f"/* Run time of warpsmith: what host text calls. */\n#ifndef WS_RUNTIME_H\n{_HEADER}#endif\n"
    at = _DEVICE.index("/* Run time")
    kernels = declared + _DEVICE[:at] + function + _DEVICE[at:]
    host = _PORT["p.c"].replace(call, "    ws_main_1(a, n);\n")
    found = mutants({**_PORT, "p.c": host, "p_kernels.cu": kernels})
    assert {m.kind for m in found} == set(CLASSES)
    assert {m.file for m in found if m.kind in ("copies", "extents", "release")} == {"p_kernels.cu"}
    assert all(m.files["p_kernels.cu"].startswith(declared) for m in found)


def test_every_class_has_mutants_and_the_run_time_stays() -> None:
    found = mutants(_PORT)
    assert {m.kind for m in found} == set(CLASSES)
    run_time = _DEVICE[_DEVICE.index("/* Run time") :]
    assert all(m.files["p_kernels.cu"].endswith(run_time) and m.files["p_kernels.h"] == _HEADER for m in found)
    assert len({str(m.files) for m in found}) == len(found)


def test_fewer_mutants_are_the_first_of_more() -> None:
    few, many = draw(_PORT, len(CLASSES), "1"), draw(_PORT, 3 * len(CLASSES), "1")
    assert many[: len(few)] == few
    assert {m.kind for m in few} == set(CLASSES)
    assert draw(_PORT, 9, "2") != draw(_PORT, 9, "1")


def test_launches_become_calls() -> None:
    assert device_text("k<<<grid, block>>>(a, n);") == "judge::Launch(grid, block)(k, a, n);"
    assert device_text("k<double><<<1, 1, 0, s>>>();") == "judge::Launch(1, 1, 0, s)(k<double>);"


def test_arrays_are_told_where_a_function_ends() -> None:
    told = ' JUDGE_STACK("f_a", a); JUDGE_STACK("f_c", c);'
    text = "int f(int n)\n{\n    double a[n], c[3];\n    if (n) { int b[2]; return b[0]; }\n    return 1;\n}\n"
    assert with_frames(text) == text.replace("return 1;", "{" + told + " } return 1;")
    assert with_frames(text.replace("    return 1;\n", "")) == text.replace("    return 1;\n}", "{" + told + " } }")


def test_what_the_original_leaves_open_is_left_out() -> None:
    one, other, digits = (bytes([1]) * 8, bytes([2]) * 8, b"1.25 7\n")
    expected = [Left(digits, 0, {}, {"a": one + one}), Left(digits, 0, {}, {"a": one + other})]
    assert compare(expected, Left(digits, 0, {}, {"a": one + bytes(8)}))[0] == "same"
    assert compare(expected, Left(digits, 0, {}, {"a": other + one})) == ("differs", "a", False)
    assert compare(expected, Left(digits, 0, {}, {"a": other + one}), frozenset("a"))[0] == "same"
    assert compare(expected, Left(b"1.26 7\n", 0, {}, {"a": one + one}))[0] == "rounding"
    assert compare(expected, Left(b"1.25 8\n", 0, {}, {"a": one + one})) == ("differs", "standard output", True)
    assert compare(expected, Left(digits, 1, {}, {}))[1:] == ("exit code 1 ", True)


def test_a_number_that_loses_digits_is_another_number() -> None:
    thirds = np.arange(1, 40) / 3.0

    def fate(values: npt.NDArray[np.float64]) -> str:
        return compare([Left(b"", 0, {}, {"a": thirds.tobytes()})], Left(b"", 0, {}, {"a": values.tobytes()}))[0]

    assert fate(thirds * (1 + 1e-15)) == "rounding"
    assert fate(thirds.astype(np.float32).astype(np.float64)) == "differs"
    assert fate(np.where(np.arange(39) == 38, 32.5, thirds)) == "differs"


def test_a_dump_that_was_cut_off_is_read_as_far_as_it_goes() -> None:
    assert read_dump(b"a 3\nx\ny" + b"b 2\nuv" + b"half") == {"a": b"x\ny", "b": b"uv"}


def test_programs_are_read_with_their_defaults(tmp_path: Path) -> None:
    (tmp_path / "programs.toml").write_text('[[program]]\nname = "p"\nfiles = ["p.c", "q.c"]\nargs = "3"\n')
    (program,) = read_programs(tmp_path)
    assert program == Program("p", tmp_path / "p", ("p.c", "q.c"), ("p.c", "q.c"), args="3")
    assert program.data is None


def test_the_table_counts_by_class(tmp_path: Path) -> None:
    def result(kind: str, fate: str, word: str, key: str) -> Result:
        return Result("p", kind, key, fate, "there", False, word, "VER009 output differs")

    results = [
        result("kernel", "differs", "fail", "1"),
        result("kernel", "crashes", "pass", "2"),
        result("kernel", "unbuildable", "", "3"),
        result("copies", "same", "undecided", "4"),
        result(CORRECT, "same", "pass", CORRECT),
    ]
    lines = {line.split()[0]: line.split()[1:] for line in table(results)}
    assert lines["kernel"] == ["3", "2", "2", "1", "0", "1", "0", "0", "0", "0"]
    assert lines["copies"] == ["1", "1", "0", "0", "0", "0", "1", "0", "1", "0"]
    assert lines["mutants"][:3] == ["4", "3", "2"] and lines[CORRECT][6:8] == ["1", "1"]
    assert [line for line in disagreements(results) if line.startswith("accepted")] == ["accepted, differs: p | 2"]
    assert written(tmp_path / "none") == ()
