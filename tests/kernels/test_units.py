"""Files with kernels are found and read, in whatever they are written, or it is told why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.kernels.kernels import kernel, unit
from warpsmith.base.findings import Finding
from warpsmith.kernels import units
from warpsmith.kernels.units import KernelFile, KernelUnit, Launched, files_of, read_unit

PTX = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }\n"
OPENCL = "__kernel void k(__global float *a) { a[0] = 1; }\n"


def test_launches_on_which_all_sites_agree() -> None:
    found = {name: unit().launches.get(kernel(name).name) for name in ("scale", "scan", "bytes", "twice")}
    launches = {name: None if one is None else replace(one, calls=(), flat=()) for name, one in found.items()}
    assert launches["scale"] == Launched((64, 1, 1), None, 0), "the grids differ"
    assert launches["scan"] == Launched((8, 4, 1), (2, 3, 1), 256)
    assert launches["bytes"] is None, "nothing launches it"
    assert launches["twice"] == Launched(None, None, 0), "no number is known"


def test_axes_along_which_every_grid_has_one_block() -> None:
    text = """
__global__ void k(int *a) { a[blockIdx.y] = 1; }
void host(int *a, int n) { k<<<dim3(1, n), 32>>>(a); k<<<dim3(1, 4, n), 32>>>(a); }
"""
    read = read_unit(KernelFile("k.cu", text=text))
    assert isinstance(read, KernelUnit)
    assert (read.launches["k"].grid, read.launches["k"].flat) == (None, (0,))


CALLED = """
__global__ void k(int *a, int n, bool on, unsigned m, float f) { a[n] = on ? m : f; }
__global__ void other(int *a, int n) { a[n] = 1; }
__global__ void never(int *a, int n) { a[n] = 1; }
static void run(int *a, int n, bool on) { k<<<1, 32>>>(a, 2 * n, on, -1, 2); }
void host(int *a, int x) {
    int n = 4;
    const int size = 1 << 10;
    run(a, 8, true);
    run(a, 16, false);
    k<<<2, 32>>>(a, n, x > 2, 5, 1);
    n = x;
    other<<<1, 1>>>(a, size);
    other<<<1, 1>>>(a, n);
}
void unused(int *a) { other<<<1, 1>>>(a, 3); }
"""


def test_what_launches_say_of_arguments() -> None:
    read = read_unit(KernelFile("k.cu", text=CALLED))
    assert isinstance(read, KernelUnit)
    calls = {name: [(call.numbers, call.span) for call in one.calls] for name, one in read.launches.items()}
    assert [numbers for numbers, _ in calls["k"]] == [
        {"n": (16, 32), "m": (4294967295,)}, {"n": (4,), "m": (5,)}
    ], "what x > 2 is, is not known"  # fmt: skip
    assert [span.line for _, span in calls["k"] if span is not None] == [5, 11]
    assert [numbers for numbers, _ in calls["other"]] == [{}, {}, {}], "one of them gives any number"
    assert "never" not in calls
    assert "n = 16 or 32" in read.launches["k"].text and "line" not in read.launches["k"].text


def test_what_a_unit_holds() -> None:
    assert unit().language == "cuda" and not [f for f in unit().findings if f.severity == "error"]
    assert [p.name for p in unit().parameters[kernel("scale").name]] == ["data", "n", "by"]
    assert {f.symbol.name for f in unit().functions} >= {"scale", "helper"}


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("k.ptx", PTX, "ptx"),
        ("k.cl", OPENCL, "opencl"),
        ("k.CL", OPENCL, "opencl"),
        ("k.txt", PTX, "ptx"),
    ],
)
def test_languages_by_suffix_and_by_text(name: str, text: str, language: str) -> None:
    read = read_unit(KernelFile(name, text=text))
    assert isinstance(read, KernelUnit) and read.language == language
    assert [f.name for f in read.module.functions if f.kernel] == ["k"]


def test_a_language_that_is_named_wins() -> None:
    read = read_unit(KernelFile("k.inc", "opencl", text=OPENCL))
    assert isinstance(read, KernelUnit) and read.language == "opencl"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.cu", None, "does not exist"),
        ("a.cu", b"", "is empty"),
        ("a.cu", b" \n\t", "is empty"),
        ("a.cu", b"int x;\0", "zero bytes"),
        ("a.c", b"int x;", "the suffix .c says no language"),
        ("a", b"int x;", "the suffix (none) says no language"),
        ("folder", b"", "cannot be read"),
    ],
)
def test_why_a_file_cannot_be_read(name: str, content: bytes | None, words: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    found = read_unit(KernelFile(str(path)))
    assert isinstance(found, Finding) and found.rule == "INP001" and words in found.message and found.help


def test_a_file_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ptx"
    path.write_text(PTX)
    monkeypatch.setattr(units, "_LARGEST", len(PTX))
    assert isinstance(read_unit(KernelFile(str(path))), KernelUnit)
    monkeypatch.setattr(units, "_LARGEST", len(PTX) - 1)
    found = read_unit(KernelFile(str(path)))
    assert isinstance(found, Finding) and found.rule == "INP003" and f"{len(PTX):,} bytes" in found.message


def test_files_below_folders(tmp_path: Path) -> None:
    names = ["b.cu", "a.cu", "deep/c.cu", "deep/d.ptx", ".hidden/e.cu", "deep/.f.cu", "g.txt"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    found = list(files_of([str(tmp_path)], ("*.cu",)))
    assert [Path(one).relative_to(tmp_path).as_posix() for one in found] == ["a.cu", "b.cu", "deep/c.cu"]
    both = list(files_of([str(tmp_path / "b.cu"), str(tmp_path), str(tmp_path / "g.txt")], ("*.cu", "deep/*.ptx")))
    shown = [Path(one).relative_to(tmp_path).as_posix() for one in both]
    assert shown == ["b.cu", "a.cu", "deep/c.cu", "deep/d.ptx", "g.txt"], "each once, what is named in any case"
    assert list(files_of([str(tmp_path / "missing.cu")], ())) == [str(tmp_path / "missing.cu")]
