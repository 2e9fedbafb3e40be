"""OpenCL's kernels are launched as the host code around them does it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from warpsmith.kernels.units import KernelFile, KernelUnit, Launched, read_unit

KERNELS = """__kernel void add(__global int *a) { a[get_global_id(0)] += 1; }
__kernel void mul(__global int *a) { a[get_global_id(0)] *= 2; }
"""
HOST = """#include <CL/cl.h>
static cl_program p; static cl_command_queue q;
void f(void) { cl_kernel k = clCreateKernel(p, "add", 0); size_t g = 256, l = 64;
clEnqueueNDRangeKernel(q, k, 1, 0, &g, &l, 0, 0, 0); }
"""
MADE = """#include <CL/cl.h>
#include "all.h"
void make(struct all *all) { all->k = clCreateKernel(all->p, "add", 0); }
"""
ALL = "#include <CL/cl.h>\nstruct all { cl_program p; cl_kernel k; };\n"
LENT = """#include <CL/cl.h>
#include "all.h"
void run(struct all *all) { size_t g = 256, l = 32; clEnqueueNDRangeKernel(0, all->k, 1, 0, &g, &l, 0, 0, 0); }
"""


def launched(folder: Path, **files: str) -> dict[str, Launched]:
    """Return how the kernels of `kernels.cl` are launched beside these files."""
    place = folder / "device"
    place.mkdir(parents=True)
    (place / "kernels.cl").write_text(KERNELS)
    for name, text in files.items():
        written = (place if name.startswith("beside_") else folder) / name.removeprefix("beside_").replace("_", ".")
        written.write_text(text)
    unit = read_unit(KernelFile(str(place / "kernels.cl")))
    assert isinstance(unit, KernelUnit)
    return {name: replace(one, calls=(), flat=()) for name, one in unit.launches.items()}


@pytest.mark.parametrize("name", ["beside_host_c", "host_cpp"])
def test_the_launch_of_a_kernel_by_its_name(name: str, tmp_path: Path) -> None:
    assert launched(tmp_path, **{name: HOST}) == {"add": Launched((64, 1, 1), (4, 1, 1), 0)}


def test_hosts_that_disagree(tmp_path: Path) -> None:
    found = launched(tmp_path, one_c=HOST, two_c=HOST.replace("l = 64", "l = 32"))
    assert found == {"add": Launched(None, None, 0, ((64, 1, 1), (32, 1, 1)), True)}


def test_another_program_is_none_of_it(tmp_path: Path) -> None:
    own = HOST + "/* kernels.cl */"
    found = launched(tmp_path, one_c=own, two_c=HOST.replace("l = 64", "l = 32"))
    assert found == {"add": Launched((64, 1, 1), (4, 1, 1), 0)}


def test_the_programs_of_other_files_are_none_of_it(tmp_path: Path) -> None:
    # which kernel, the command line says
    own = LENT.replace("int", "/* kernels.cl */ int") + "/* kernels.cl add */"
    other = LENT.replace("l = 32", "l = 16") + "/* device/others.cl */"
    quoted = LENT.replace("l = 32", "l = 8") + 'const char *text = "add";'
    main = LENT.replace("l = 32", "l = 4") + "int main(void) { return 0; }"
    one = dict.fromkeys(("add", "mul"), Launched((32, 1, 1), (8, 1, 1), 0))
    assert launched(tmp_path / "1", own_c=own, other_c=other, quoted_c=quoted, all_h=ALL) == one
    assert launched(tmp_path / "2", own_c=f"{own} int main() {{}}", main_c=main, all_h=ALL) == one
    both = Launched(None, None, 0, ((32, 1, 1), (4, 1, 1)), True)
    assert launched(tmp_path / "3", own_c=own, main_c=main, all_h=ALL) == dict.fromkeys(("add", "mul"), both)


def test_a_program_that_names_no_kernel_of_the_file(tmp_path: Path) -> None:
    assert launched(tmp_path, host_c=HOST.replace('"add"', '"sub"')) == {}


def test_a_launch_in_another_file_than_the_kernel_is_made_in(tmp_path: Path) -> None:
    found = launched(tmp_path, make_c=MADE, run_c=LENT, all_h=ALL)
    both = Launched((32, 1, 1), (8, 1, 1), 0)
    assert found == {"add": both, "mul": both}


def test_a_launch_of_any_kernel_counts_for_each(tmp_path: Path) -> None:
    found = launched(tmp_path, host_c=HOST, run_c=LENT, all_h=ALL)
    assert found["add"] == Launched(None, None, 0, ((64, 1, 1), (32, 1, 1)), True)


def test_a_name_that_is_computed_leaves_nothing_known(tmp_path: Path) -> None:
    text = (
        HOST.replace("void f(void) {", 'const char *names[] = {"add", "mul"}; void f(int n) {')
        .replace('"add", 0)', "names[n], 0)")
        .replace("l = 64", "l = n")
    )
    assert {name: one.block for name, one in launched(tmp_path, host_c=text).items()} == {"add": None, "mul": None}
