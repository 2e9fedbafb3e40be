"""Grids in numbers, against those that the launchers compute: as C++, with a note in place of each launch."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.offload.hand import load
from warpsmith.emit.device.launching.grid import LaunchedGrid, launched_grid, most_blocks
from warpsmith.emit.device.reduction import MOST_BLOCKS
from warpsmith.emit.host.cuda import emit_cuda
from warpsmith.offload.gain.sizes import Size, Sizes
from warpsmith.offload.plan import OffloadOptions
from warpsmith.offload.port import plan_port
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.program import Kernel

TEXT = """
void one(int n, int m, int l, double *x) { for (int i = 0; i < n; i++) x[i] = i; }
void two(int n, int m, int l, double *x)
{ for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[(long)i * m + j] = i; }
void three(int n, int m, int l, double *x)
{ for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++)
    x[((long)i * m + j) * l + k] = i; }
double sum(int n, int m, int l, const double *x) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
double sum2(int n, int m, int l, const double *x)
{ double s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s += x[(long)i * m + j]; return s; }
void product(int n, int m, int l, double C[restrict n][m], const double A[restrict n][l], const double B[restrict l][m])
{ for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++) C[i][j] += A[i][k] * B[k][j]; }
void rows(int n, int m, int l, double *restrict x, const double *restrict a)
{ for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < m; j++) s = s * a[(long)i * m + j]; x[i] = s; } }
void far(int n, int m, int l, double *restrict x, const double *restrict a)
{ for (long i = 0; i < n; i++) { double s = 0; for (int j = 0; j < m; j++) s = s * a[i * m + j]; x[i] = s; } }
void fixed_rows(int n, int m, int l, double *restrict x, const double *restrict a)
{ for (int i = 0; i < 100; i++) { double s = 0; for (int j = 0; j < m; j++) s = s * a[i * m + j]; x[i] = s; } }
void columns(int n, int m, int l, double *restrict x, const double *restrict a)
{ for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < m; j++) s += a[(long)j * n + i]; x[i] = s; } }
void fixed(int n, int m, int l, double x[100][300])
{ for (int i = 0; i < 100; i++) for (int j = 0; j < 300; j++) x[i][j] = i; }
"""
SIZES: Sequence[tuple[int, int, int]] = (
    (0, 5, 5), (1, 1, 1), (255, 256, 257), (65535, 3, 2), (65536, 65537, 1), (200_000, 7, 140_000),
    (2_000_000_000, 1, 300), (3, 2_000_000_000, 70_000), (32_767, 4, 4), (32_768, 4, 4),
)  # fmt: skip
_STUBS = """#include <stdio.h>
struct dim3 { unsigned x, y, z; dim3(unsigned a, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
static void note(const char *name, dim3 grid, dim3 block)
{ printf("%s %u %u %u %u %u %u\\n", name, grid.x, grid.y, grid.z, block.x, block.y, block.z); }
#define WS_CHECK(call)
#define ws_device_acquire(...) 0
#define ws_device_release(...)
"""


def _kernels(text: str, folder: Path) -> tuple[Sequence[Kernel], str]:
    program = load(text, folder)
    facts = analyze(program, PolyOptions())
    port = plan_port(program, facts, OffloadOptions(), PolyOptions())
    written = next(f.text for f in emit_cuda(program, port.program) if f.path.endswith("_kernels.cu"))
    return [fragment.kernel for fragment in port.plan.fragments], written


def _launched(kernels: Sequence[Kernel], text: str, folder: Path) -> Mapping[tuple[str, int], list[list[int]]]:
    """Return the grids of each kernel's launches, for each of the sizes."""
    launchers = re.findall(r'^extern "C" void ws_\w+_k1\(.*?^}', text, re.M | re.S)
    launch = r"(\w+)(?:<[\w ,]+>)?<<<((?:(?!>>>).)*), (\w+)>>>\(.*?\);"
    noted = [re.sub(launch, r'note("\1", \2, \3);', one, flags=re.S) for one in launchers]
    calls = []
    for kernel in kernels:
        values = {"n": 0, "m": 1, "l": 2}
        for at, sizes in enumerate(SIZES):
            passed = [str(sizes[values[p.host.name]]) if p.kind == "value" else "0" for p in kernel.parameters]
            calls.append(f'    printf("= {at}\\n"); {kernel.name}({", ".join(passed)});')
    source = folder / "grids.cpp"
    source.write_text(_STUBS + "\n".join(noted) + "\nint main() {\n" + "\n".join(calls) + "\n}\n")
    subprocess.run(["g++", "-w", source, "-o", folder / "grids"], check=True)
    said = subprocess.run([folder / "grids"], capture_output=True, text=True, check=True).stdout
    found: dict[tuple[str, int], list[list[int]]] = {}
    at = 0
    for line in said.splitlines():
        name, *numbers = line.split()
        if name == "=":
            at = int(numbers[0])
        elif not name.endswith("_finish"):
            found.setdefault((name.removesuffix("_kernel"), at), []).append([int(n) for n in numbers])
    return found


def _in_numbers(kernel: Kernel, sizes: tuple[int, int, int]) -> LaunchedGrid | None:
    values = dict(zip(("i", "j", "k"), (100, 300, 0) if "fixed" in kernel.name else sizes, strict=True))
    threads: dict[str, int] = {m.axis: values[m.loop.variable.name[0]] for m in kernel.mapped}
    return launched_grid(kernel, threads, shared=_is_shared(kernel, sizes))


def _is_shared(kernel: Kernel, sizes: tuple[int, int, int]) -> bool:
    """Whether threads share an iteration, as the launcher's tests say."""
    if kernel.sharing is None:
        return False
    given = {p.symbol: Size(sizes["nml".index(p.host.name)]) for p in kernel.parameters if p.kind == "value"}
    said = [Sizes(given).value(one) for one in (*kernel.narrow, *kernel.sharing.long)]
    assert all(one is not None for one in said)
    return all(one is not None and bool(one.value) for one in said)


def test_grids_are_those_of_the_launchers(tmp_path: Path) -> None:
    kernels, text = _kernels(TEXT, tmp_path)
    assert len(kernels) == 11 and any(kernel.covered != kernel.block for kernel in kernels)
    assert {kernel.function for kernel in kernels if kernel.few} == {"rows", "far", "columns", "fixed_rows"}
    assert {kernel.function for kernel in kernels if kernel.sharing is not None} == {"rows", "columns", "fixed_rows"}
    noted = _launched(kernels, text, tmp_path)
    for kernel in kernels:
        for at, sizes in enumerate(SIZES):
            found, said = _in_numbers(kernel, sizes), noted.get((kernel.name, at), [])
            assert (found is None) == (not said), (kernel.name, sizes)
            if found is not None:
                shape = [*found.grid, *found.block]
                assert (shape, found.slices) == (said[0], len(said)), (kernel.name, sizes)


def test_reductions_have_few_enough_blocks_for_one_more(tmp_path: Path) -> None:
    text = """
double a(int n, const double *x) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
double b(int n, const double x[n][n]) { double s = 0;
 for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) s += x[i][j]; return s; }
double c(int n, const double x[n][n][n]) { double s = 0;
 for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) s += x[i][j][k]; return s; }
"""
    kernels, _ = _kernels(text, tmp_path)
    assert [len(kernel.mapped) for kernel in kernels] == [1, 2, 3]
    for kernel in kernels:
        x, y, z = (most_blocks(kernel, axis) for axis in "xyz")
        assert x * y * z <= MOST_BLOCKS


ROWS = """void scale(int n, int m, double a[n][m]) {
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] *= 2; }
void add(int n, int m, double a[n][m][m], const double *restrict b) {
    for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) for (int k = 0; k < j; k++) a[i][j - 1][k] += b[k]; }
"""
_CHOSEN = """#include <stdio.h>
#include <stdlib.h>
struct dim3 { dim3(unsigned, unsigned = 1, unsigned = 1) {} };
#define WS_CHECK(call)
"""


def test_launchers_choose_indices_of_32_bits_where_they_fit(tmp_path: Path) -> None:
    _, text = _kernels(ROWS, tmp_path)
    assert text.count("template <typename Index>\n__global__ void") == 2 and "(long long)i * m" not in text
    launchers = re.findall(r'^extern "C" void ws_\w+_k1\(.*?^}', text, re.M | re.S)
    noted = [re.sub(r"\w+<(int|long long)><<<[^>]*>>>\(.*?\);", r'{ puts("\1"); return; }', one) for one in launchers]
    sizes = ((1, 1), (65536, 32768), (65537, 32768), (46341, 46341), (46340, 46341), (2**31 - 1, 1), (1, 2**31 - 1))
    cubes = ((8, 16384), (9, 16384), (2, 32768), (3, 32768), (2**31 - 1, 2))
    calls = [f"ws_scale_k1(0, {n}, {m});" for n, m in sizes] + [f"ws_add_k1(0, 0, {n}, {m});" for n, m in cubes]
    source = tmp_path / "chosen.cpp"
    source.write_text(_CHOSEN + "\n".join(noted) + "\nint main() {\n" + "\n".join(calls) + "\n}\n")
    subprocess.run(["g++", "-w", source, "-o", tmp_path / "chosen"], check=True)
    said = subprocess.run([tmp_path / "chosen"], capture_output=True, text=True, check=True).stdout.splitlines()
    # the last element that each touches
    last = [n * m - 1 for n, m in sizes] + [((n - 1) * m + m - 2) * m + m - 2 for n, m in cubes]
    assert said == ["int" if one < 2**31 else "long long" for one in last]
    assert {"int", "long long"} == set(said[: len(sizes)]) == set(said[len(sizes) :])
