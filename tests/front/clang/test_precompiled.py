"""Headers of ours are parsed once: with a precompiled one a file has the tables that it has without."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.front.clang.device.dump import DeviceWalk
from warpsmith.front.clang.dump import dump_file
from warpsmith.front.clang.libclang import Library, load_library
from warpsmith.front.clang.precompiled import PrecompiledHeaders, does_not_fit
from warpsmith.front.clang.process import library_path
from warpsmith.front.clang.wire import Dump, Request
from warpsmith.front.cuda.source import DeviceInput, device_arguments

PROGRAM = """#include <math.h>
#define TILE 16
template <class T> __device__ T twice(T x) { return x + x; }
__global__ void k(float *a, float4 *b, int n)
{
    __shared__ float t[TILE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    t[threadIdx.x] = i < n ? twice(sqrtf(a[i])) : 0.0f;
    __syncthreads();
    if (i < n) atomicAdd(&b[i].x, __shfl_down_sync(0xffffffff, t[threadIdx.x], 1) + __ldg(a));
}
int main() { k<<<4, 128>>>(0, 0, 4); cudaDeviceSynchronize(); }
"""


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library(library_path())


def request_of(text: str, *options: str) -> Request:
    given = DeviceInput(SourceFile("k.cu", text), "cuda", options)
    return (given.file.path, device_arguments(given, plain=True), text.encode("latin-1"), 1_000_000, False)


def said(dump: Dump) -> object:
    """Return what a dump says of the user's program, wherever its files stand in the list."""
    names = [path for path, user in zip(dump.files, dump.user, strict=True) if user]
    declared = [(row[0], row[1], row[2] >= 0, row[7], row[9]) for row in dump.declared]
    return (dump.diagnostics, names, dump.nodes, declared, dump.values, dump.marks, dump.launches, dump.skipped)


def dump(library: Library, request: Request, headers: PrecompiledHeaders | None) -> Dump:
    return dump_file(library, request, DeviceWalk, headers)


@pytest.mark.parametrize("options", [(), ("-DTILE=8", "-std=c++14")])
def test_a_file_has_the_same_tables(options: tuple[str, ...], library: Library, tmp_path: Path) -> None:
    request = request_of(PROGRAM, *options)
    headers = PrecompiledHeaders(library_path(), str(tmp_path / "headers"))
    plain = dump(library, request, None)
    assert plain.tops and plain.nodes
    for _ in range(2):
        assert said(dump(library, request, headers)) == said(plain)
    (kept,) = (tmp_path / "headers").iterdir()
    assert kept.suffix == ".pch" and kept.stat().st_size > 1000
    used = headers.use(library, request[1])
    assert used is not None and str(kept) in used and not any(word.endswith("mini_cuda.h") for word in used)


def test_one_that_does_not_fit_is_dropped(library: Library, tmp_path: Path) -> None:
    request = request_of(PROGRAM)
    headers = PrecompiledHeaders(library_path(), str(tmp_path))
    plain = said(dump(library, request, headers))
    (kept,) = tmp_path.iterdir()
    for broken in (b"no header", kept.read_bytes()[:5000]):
        kept.write_bytes(broken)
        assert said(dump(library, request, headers)) == plain
        assert not kept.exists()
        assert said(dump(library, request, headers)) == plain and kept.exists()


DEVICE = ["-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-device-only"]


def asking_for_four(arguments: list[str]) -> Request:
    return ("k.cu", [*DEVICE, *arguments], b'static_assert(SIZE == 4, "");\n', 1_000_000, False)


def is_refused(found: Dump) -> bool:
    return any("static" in one[1] for one in found.diagnostics) and not does_not_fit(found.diagnostics)


@pytest.mark.parametrize("known", [True, False], ids=["a folder of the key", "clang itself sees it"])
def test_headers_that_change_are_read_anew(known: bool, library: Library, tmp_path: Path) -> None:
    header = tmp_path / "own" / "mini_cuda.h"
    header.parent.mkdir()
    headers = PrecompiledHeaders(library_path(), str(tmp_path / "kept"))
    request = asking_for_four([*(["-I", str(header.parent)] if known else []), "-include", str(header)])
    header.write_text("#define SIZE 4\n")
    assert not dump(library, request, headers).diagnostics
    header.write_text("#define SIZE 15\n")
    os.utime(header, ns=(1, 1))
    assert is_refused(dump(library, request, headers))


def test_system_headers_that_change_are_read_anew(library: Library, tmp_path: Path) -> None:
    header, system = tmp_path / "own" / "mini_cuda.h", tmp_path / "system" / "size.h"
    for path, text in ((header, "#include <size.h>\n"), (system, "#define SIZE 4\n")):
        path.parent.mkdir()
        path.write_text(text)
    headers = PrecompiledHeaders(library_path(), str(tmp_path / "kept"))
    request = asking_for_four(["-isystem", str(system.parent), "-include", str(header)])
    assert not dump(library, request, headers).diagnostics
    assert list((tmp_path / "kept").iterdir())
    system.write_text("#define SIZE 57\n")
    assert is_refused(dump(library, request, headers))


def test_without_a_place_nothing_is_made(library: Library, tmp_path: Path) -> None:
    request = request_of(PROGRAM)
    assert PrecompiledHeaders(library_path(), "").use(library, request[1]) is None
    (tmp_path / "file").write_text("")
    assert PrecompiledHeaders(library_path(), str(tmp_path / "file" / "below")).use(library, request[1]) is None
    more = PrecompiledHeaders(library_path(), str(tmp_path))
    assert more.use(library, [*request[1], "-include", "more.h"]) is None
    assert more.use(library, ["-x", "c", "-O2"]) is None


def test_headers_that_do_not_compile_are_tried_once(library: Library, tmp_path: Path) -> None:
    request = request_of("int x;\n", "-Dfloat4=+")
    headers = PrecompiledHeaders(library_path(), str(tmp_path))
    plain = dump(library, request, None)
    assert plain.diagnostics
    assert headers.use(library, request[1]) is None
    (kept,) = tmp_path.iterdir()
    assert kept.stat().st_size == 0
    assert said(dump(library, request, headers)) == said(plain)


def test_only_so_many_are_kept(library: Library, tmp_path: Path) -> None:
    headers = PrecompiledHeaders(library_path(), str(tmp_path))
    for number in range(30):
        (tmp_path / f"{number}.pch").write_bytes(b"x")
        os.utime(tmp_path / f"{number}.pch", ns=(number, number))
    (tmp_path / "left.123").write_bytes(b"half")
    os.utime(tmp_path / "left.123", ns=(0, 0))
    assert headers.use(library, request_of(PROGRAM)[1]) is not None
    left = {path.name for path in tmp_path.iterdir()}
    assert len(left) == 24 and "29.pch" in left and not {"0.pch", "left.123"} & left
