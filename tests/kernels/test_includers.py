"""Kernels in a file that others include are launched as these do."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from warpsmith.kernels.units import KernelFile, KernelUnit, Launched, read_unit

KERNEL = "__global__ void k(int *a) { a[threadIdx.x] = 1; }\n"


def launched(folder: Path, **files: str) -> Launched | None:
    """Return how the kernel of `kernel.cu` is launched beside these files."""
    (folder / "kernel.cu").write_text(KERNEL)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    unit = read_unit(KernelFile(str(folder / "kernel.cu")))
    assert isinstance(unit, KernelUnit)
    found = unit.launches.get("k")
    return found if found is None else replace(found, calls=(), flat=())


def test_the_launch_of_a_file_that_includes_it(tmp_path: Path) -> None:
    found = launched(tmp_path, main_cu='#include "kernel.cu"\nvoid f(int *a) { k<<<2, 96>>>(a); }\n')
    assert found == Launched((96, 1, 1), (2, 1, 1), 0)


def test_through_a_header(tmp_path: Path) -> None:
    main = '#include "all.h"\nvoid f(int *a) { k<<<2, 96>>>(a); }\n'
    found = launched(tmp_path, all_h='#include "kernel.cu"\n', main_cu=main)
    assert found is not None and found.block == (96, 1, 1)


def test_files_that_disagree(tmp_path: Path) -> None:
    text = '#include "kernel.cu"\nvoid f(int *a) {{ k<<<2, {}>>>(a); }}\n'
    found = launched(tmp_path, one_cu=text.format(32), two_cu=text.format(64))
    assert found == Launched(None, (2, 1, 1), 0, ((32, 1, 1), (64, 1, 1)), True)


def test_a_launch_that_cannot_be_read_leaves_nothing_known(tmp_path: Path) -> None:
    text = '#include "kernel.cu"\nvoid f(int *a) { k<<<2, 64>>>(a); }\n'
    broken = '#include "kernel.cu"\n#include "gone.h"\nvoid f(int *a) { k<<<2, missing>>>(a); }\n'
    found = launched(tmp_path, one_cu=text, two_cu=broken)
    assert found is not None and found.block is None and not found.complete


def test_other_files_are_none_of_it(tmp_path: Path) -> None:
    other = '#include "other/kernel.cu"\n__global__ void k(int *a) {}\nvoid f(int *a) { k<<<2, 96>>>(a); }\n'
    assert launched(tmp_path, main_cu=other) is None
