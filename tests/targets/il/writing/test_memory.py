"""Views of pointer arguments, and the group's memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.targets.il.writing.agree import agree, written
from tests.targets.il.writing.group_kernels import group_case
from tests.targets.mask.kernel_text import kernel_of
from warpsmith.base.errors import InputError
from warpsmith.ssa.nodes import Function, Module
from warpsmith.targets.il.writing.memory import LDS_BYTES, lay_out, number_views


def test_random_groups_leave_the_same_memory() -> None:
    # a few read what nobody wrote: these have no meaning
    assert sum(agree(group_case(seed), letter=True) == "" for seed in range(30)) >= 26
    assert sum(agree(group_case(seed)) == "" for seed in range(30, 36)) >= 4


@pytest.mark.slow
def test_more_random_groups_leave_the_same_memory() -> None:
    first = 2000 + int(os.environ.get("WARPSMITH_SEED", "0"))
    count = int(os.environ.get("WARPSMITH_PROGRAMS", "400"))
    ran = sum(agree(group_case(seed), letter=bool(seed % 3)) == "" for seed in range(first, first + count))
    assert ran >= 0.85 * count


def test_random_groups_have_all_of_it() -> None:
    text = "".join(written(group_case(seed)).text for seed in range(40))
    names = ("add", "min", "umin", "umax", "or", "xor")
    for name in ("mov x0[r", "lds_store_id", "lds_load_id", "lds_read_add_id", "fence_threads_memory_lds"):
        assert f"{name}" in text
    assert all(f"uav_read_{name}_id" in text for name in names)


def _kernel(folder: Path, body: str) -> Function:
    return kernel_of(folder, body)


def test_variables_stand_one_behind_the_other(tmp_path: Path) -> None:
    body = (
        "__shared__ int s[3]; __shared__ float t[5];\n s[i % 3] = n; t[i % 5] = n; __syncthreads(); b[i] = s[0] + t[1];"
    )
    memory = lay_out(Module(()), _kernel(tmp_path, body))
    assert sorted(memory.starts.values()) == [0, 16] or sorted(memory.starts.values()) == [0, 32]
    assert memory.bytes in (36, 44)


def test_a_variable_of_the_launch_has_all_that_is_left(tmp_path: Path) -> None:
    body = "extern __shared__ int s[];\n s[threadIdx.x] = n; __syncthreads(); a[i] = s[0];"
    memory = lay_out(Module(()), _kernel(tmp_path, body))
    assert memory.bytes == LDS_BYTES and list(memory.starts.values()) == [0]


def test_local_variables_are_registers(tmp_path: Path) -> None:
    body = "int s[3]; float t[5];\n s[i % 3] = n; t[i % 5] = n; s[n % 3] = 1; b[i] = s[i & 1] + t[n & 1];"
    memory = lay_out(Module(()), _kernel(tmp_path, body))
    assert sorted(memory.starts.values()) in ([0, 16], [0, 32])
    assert (memory.bytes, memory.registers) == (0, 12)
    with pytest.raises(InputError, match="20,000 bytes of local arrays, and AMD IL 16,384"):
        lay_out(Module(()), _kernel(tmp_path, "int s[5000]; s[i] = n; s[n] = 1; a[i] = s[i + 1];"))


def test_more_than_a_group_has_is_refused(tmp_path: Path) -> None:
    body = "__shared__ int s[9000];\n s[threadIdx.x] = n; __syncthreads(); a[i] = s[0];"
    with pytest.raises(InputError, match="36,000 bytes of shared memory"):
        lay_out(Module(()), _kernel(tmp_path, body))


def test_arguments_that_nobody_reads_have_no_view(tmp_path: Path) -> None:
    assert number_views(_kernel(tmp_path, "b[i] = n;")) == {"b": 0}


def test_more_arrays_than_views_are_refused(tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(13)]
    body = " ".join(f"{name}[i] = 1;" for name in names)
    function = kernel_of(tmp_path, body, ", ".join(f"int *{name}" for name in names))
    with pytest.raises(InputError, match="k has 13 arrays, and AMD IL 12 unordered access views"):
        number_views(function)
