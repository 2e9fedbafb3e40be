"""Launches by what host code computes: what is known is what happens, on programs by hand and random ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.clang.device.launches.host_programs import KERNEL, host_program, observed_launches
from tests.front.conftest import device_dump
from warpsmith.front.clang.wire import Dump, Given

HEAD = """#include <cuda_runtime.h>
#include <cstdlib>
#include <cstdio>
#include <cmath>
#include <algorithm>
#define WG 192
template <int N> __global__ void k(int *a) {}
"""


def arguments(dump: Dump) -> dict[int, Given]:
    """Return what the arguments of the launches may be, by the number of their kernel."""
    return {_number(dump, launch[0]): launch[-1] for launch in dump.launches}


def _number(dump: Dump, row: int) -> int:
    name = dump.declared[row][7] or dump.declared[row][1]
    return int(name.partition("ILi")[2].partition("E")[0] if "ILi" in name else name.strip("k"))


def shapes(dump: Dump) -> dict[int, tuple[list[int | None], list[int | None], tuple[list[list[int]], bool]]]:
    """Return grid, block and possible blocks of the launches, by the number of their kernel."""
    found = {}
    for row, _, _, _, grid, block, _, blocks, _ in dump.launches:
        found[_number(dump, row)] = (grid, block, blocks)
    return found


CASES = {
    "dim3 t; t.x = WG; k<0><<<n, t>>>(a);": (192, 1, 1),
    "int bs; bs = WG / 2; k<0><<<1, bs>>>(a);": (96, 1, 1),
    "dim3 t(4, 4), g; for (int i = 0; i < n; i++) { g.x = i; k<0><<<g, t>>>(a); }": (4, 4, 1),
    "dim3 t(4); t = dim3(8, 2); k<0><<<1, t>>>(a);": (8, 2, 1),
    "struct { int bs; } c; c.bs = 48; k<0><<<1, c.bs>>>(a);": (48, 1, 1),
    "int v[2] = {16, 8}; k<0><<<1, dim3(v[0], v[1])>>>(a);": (16, 8, 1),
    "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); k<0><<<1, std::min(p.maxThreadsPerBlock, 256)>>>(a);":
        (256, 1, 1),
    "int bs = (int)ceil(100 / 32.0f) * 32; k<0><<<1, bs>>>(a);": (128, 1, 1),
    "int bs = 64; if (n > 5) { bs = 128; exit(1); } k<0><<<1, bs>>>(a);": (64, 1, 1),
    "int bs = 64; if (WG > 512) bs = 512; k<0><<<1, bs>>>(a);": (64, 1, 1),
    "do { int bs = 32; k<0><<<1, bs>>>(a); } while (0);": (32, 1, 1),
    "int bs; switch (n) { case 1: bs = 32; break; default: bs = 32; } k<0><<<1, bs>>>(a);": (32, 1, 1),
    # not known, or several
    "int bs = 64; while (n--) bs = 128; k<0><<<1, bs>>>(a);": ([[64, 1, 1], [128, 1, 1]], True),
    "int bs = 64; for (;;) { bs = 32; if (n) break; bs = 16; } k<0><<<1, bs>>>(a);":
        ([[16, 1, 1], [32, 1, 1], [64, 1, 1]], True),
    "int bs = 64; while (n--) { if (n == 3) { bs = 96; break; } bs = 64; } k<0><<<1, bs>>>(a);":
        ([[64, 1, 1], [96, 1, 1]], True),
    "int bs = 64; if (n > 512) bs = n; k<0><<<1, bs>>>(a);": ([[64, 1, 1]], False),
    "int bs = 64; if (n > 512) bs = 128; k<0><<<1, bs>>>(a);": ([[64, 1, 1], [128, 1, 1]], True),
    "int bs = 32; while (n--) { k<0><<<1, bs>>>(a); bs *= 2; }": ([], False),
    "for (int bs = 32; bs < n; bs *= 2) k<0><<<1, bs>>>(a);": ([], False),
    "int bs = 32; scanf(\"%d\", &bs); k<0><<<1, bs>>>(a);": ([], False),
    "int bs = 32; int &r = bs; r = n; k<0><<<1, bs>>>(a);": ([], False),
    "int bs = 32; auto f = [&] { bs = n; }; f(); k<0><<<1, bs>>>(a);": ([], False),
    "int bs = 32; again: k<0><<<1, bs>>>(a); bs += n; if (bs < 500) goto again;": ([], False),
    "int v[2] = {16, 8}; v[n] = 4; k<0><<<1, v[0]>>>(a);": ([], False),
    "dim3 t(32); dim3 *p = &t; p->x = n; k<0><<<1, t>>>(a);": ([], False),
    "int bs = 32; try { bs = 64; throw 1; } catch (int) { k<0><<<1, bs>>>(a); }": ([], False),
    "int bs = 1000000; bs *= 1000000; k<0><<<1, bs>>>(a);": ([], False),
}  # fmt: skip


@pytest.mark.parametrize("body", CASES)
def test_blocks_of_one_function(body: str, tmp_path: Path) -> None:
    expected = CASES[body]
    _, block, (blocks, complete) = shapes(device_dump(tmp_path, f"{HEAD}void host(int *a, int n) {{ {body} }}"))[0]
    if len(expected) == 3:
        assert tuple(block) == expected and (blocks, complete) == ([list(expected)], True)
    else:
        assert None in block and (blocks, complete) == expected


FILES = {
    # a constant is not what a statement of another function changes that could not be read
    "void g() { if (Unknown *t = find()) t = t->next; } void f(int *a) { const dim3 t(128, 2); k<0><<<1, t>>>(a); }":
        (128, 2, 1),
    "void g() { if (Unknown *t = find()) t = t->next; } void f(int *a) { dim3 t(128, 2); k<0><<<1, t>>>(a); }":
        ([], False),
    "static void run(int *a, int bs) { k<0><<<1, bs>>>(a); } void f(int *a) { run(a, 2 * WG); }": (384, 1, 1),
    "void run(int *a, int bs = 128) { k<0><<<1, bs>>>(a); } int main() { run(0); }": (128, 1, 1),
    "static void run(int *a, dim3 t) { k<0><<<1, t>>>(a); } void f(int *a) { run(a, dim3(8, 8)); }": (8, 8, 1),
    "int bs; void f(int *a) { bs = 256; k<0><<<1, bs>>>(a); }": (256, 1, 1),
    "int side = 16; int bs = side * side; void f(int *a) { k<0><<<1, bs>>>(a); }": (256, 1, 1),
    "struct C { int bs = 40; } c; void f(int *a) { k<0><<<1, c.bs>>>(a); }": (40, 1, 1),
    "static dim3 t; void g() { t.x = 64; } void f(int *a) { g(); k<0><<<1, t>>>(a); }": ([[1, 1, 1], [64, 1, 1]], True),
    "template <int B> void run(int *a) { const int bs = 2 * B; k<B><<<1, bs>>>(a); } void f(int *a) { run<32>(a); }":
        (64, 1, 1),
    # another file may call it, or write it; it is called with several, or through a pointer, or before main
    "void run(int *a, int bs) { k<0><<<1, bs>>>(a); } void f(int *a) { run(a, 64); }": ([], False),
    "extern int bs; void f(int *a) { bs = 64; k<0><<<1, bs>>>(a); }": ([], False),
    "static void run(int *a, int bs) { k<0><<<1, bs>>>(a); } void f(int *a) { run(a, 32); run(a, 64); }":
        ([[32, 1, 1], [64, 1, 1]], True),
    "static void run(int bs) { k<0><<<1, bs>>>(0); } void f() { void (*p)(int) = run; p(9); run(64); }": ([], False),
    "static int run(int bs) { k<0><<<1, bs>>>(0); return 1; } int x = run(9); void f() { run(64); }": ([], False),
    "static void run(int bs) { bs += 1; k<0><<<1, bs>>>(0); if (bs < 9) run(bs); } void f() { run(64); }":
        ([[65, 1, 1], [66, 1, 1], [67, 1, 1], [68, 1, 1]], False),
    "int bs = 64; void g(int n) { bs = n; } void f(int *a) { k<0><<<1, bs>>>(a); }": ([[64, 1, 1]], False),
    "int bs = 64; void g(int &n); void h() { g(bs); } void f(int *a) { k<0><<<1, bs>>>(a); }": ([], False),
    "static void run(int bs, int n) { for (int i = 0; i < n; bs++, i++) k<0><<<1, bs>>>(0); } void f() { run(64, 2); }":
        ([], False),
}  # fmt: skip


@pytest.mark.parametrize("text", FILES)
def test_blocks_through_functions_and_files(text: str, tmp_path: Path) -> None:
    expected = FILES[text]
    ((_, block, (blocks, complete)),) = shapes(device_dump(tmp_path, HEAD + text)).values()
    if len(expected) == 3:
        assert tuple(block) == expected and complete
    else:
        assert None in block and (blocks, complete) == expected


def test_a_grid_that_changes_leaves_the_block(tmp_path: Path) -> None:
    text = "void f(int *a, int n) { dim3 g(4), t(8); while (n--) { k<0><<<g, t>>>(a); g.y = n; } }"
    grid, block, _ = shapes(device_dump(tmp_path, HEAD + text))[0]
    assert (grid, block) == ([4, None, 1], [8, 1, 1])


def check_random(seeds: range, folder: Path) -> tuple[int, int, int]:
    """Compare what is said of random programs with what they do; return how many blocks are known, or one of several,
    and how many arguments."""
    known = several = sure = 0
    for seed in seeds:
        text = host_program(seed)
        dump = device_dump(folder, f"#include <algorithm>\nusing std::min; using std::max;\n{KERNEL}{text}")
        said, given = shapes(dump), arguments(dump)
        for number, seen in observed_launches(text, folder).items():
            _, block, (blocks, complete) = said[number]
            # a launch with no threads, or with too many, fails
            runs = {(x, y, z) for x, y, z, *_ in seen if 0 < x * y * z <= 1024}
            passed = {tuple(more) for x, y, z, *more in seen if (x, y, z) in runs}
            for numbers in passed:
                assert all(few is None or n in few for n, few in zip(numbers, given[number], strict=True)), (
                    seed,
                    number,
                )
            assert all(b in (None, s) for one in runs for b, s in zip(block, one, strict=True)), (seed, number, seen)
            assert not complete or runs <= {*map(tuple, blocks), tuple(block)}, (seed, number, seen)
            known += None not in block
            several += None in block and complete
            sure += sum(few is not None for few in given[number])
    return known, several, sure


@pytest.mark.slow
def test_random_programs_launch_with_what_is_known(tmp_path: Path) -> None:
    known, several, sure = check_random(range(6), tmp_path)
    assert known > 10 and several > 0 and sure > 10


@pytest.mark.slow
@pytest.mark.parametrize("part", range(6))
def test_more_random_programs(part: int, tmp_path: Path) -> None:
    known, several, sure = check_random(range(part * 25, part * 25 + 25), tmp_path)
    assert known > 50 and several > 5 and sure > 50
