"""Advice about the layout of data, tried on the addresses."""

from __future__ import annotations

import pytest

from tests.analysis.test_kernel import told
from warpsmith.analysis.rules.memory.layouts import against_conflict, against_scatter
from warpsmith.analysis.uniformity.facts import Dim, LaunchShape
from warpsmith.analysis.vocabulary import CUDA, OPENCL


def advice(byte: str, block: Dim = (32, 1, 1), type: str = "f32") -> tuple[str, ...]:
    """Return the advice for a load of shared memory at %e bytes, which `byte` computes."""
    lines = "\n".join(f"  {line.strip()}" for line in byte.split(";"))
    size = int(type[1:]) // 8
    body = f"{lines}\n  %p:i32 = add %t %e\n  %v:{type} = load [shared +0 align {size}] %p"
    facts = told(body, LaunchShape(block))
    return against_conflict(facts, facts.accesses[0])


TILE = "pad the leading dimension by one element: tile[32][33]"
LEAVE = "rows of {} bytes in place of {} have no conflict: leave the padding out"
NONE = "no padding by one element helps: let neighboring lanes access neighboring words"
PAD = "lanes {} bytes apart in place of {} have no conflict: pad rows, or records, by one element"
ROWS = "%r:i32 = mul %y {}; %c:i32 = mul %x {}; %e:i32 = add %r %c"


@pytest.mark.parametrize(
    ("byte", "block", "said"),
    [
        ("%e:i32 = mul %x 128:i32", (32, 1, 1), TILE),
        ("%e:i32 = mul %x 256:i32", (32, 1, 1), PAD.format(260, 256)),
        ("%e:i32 = mul %x 8:i32", (32, 1, 1), PAD.format(12, 8)),
        (ROWS.format("68:i32", "4:i32"), (16, 16, 1), LEAVE.format(64, 68)),
        (ROWS.format("192:i32", "4:i32"), (8, 4, 1), NONE),
        # addresses that are no rows
        ("%d:i32 = and %x 15:i32; %e:i32 = mul %d 128:i32", (32, 1, 1), TILE),
        ("%e:i32 = mul %x %n", (32, 1, 1), TILE),
        ("%e:i32 = mul %x 2:i32", (32, 1, 1), TILE),
    ],
)  # fmt: skip
def test_another_length_of_rows(byte: str, block: Dim, said: str) -> None:
    assert advice(byte, block)[0] == said


def test_rows_of_wide_elements() -> None:
    assert advice("%e:i32 = mul %x 128:i32", type="f64") == (PAD.format(136, 128),)


def test_rows_that_go_backward() -> None:
    assert advice("%d:i32 = mul %x 256:i32; %e:i32 = sub 8192:i32 %d")[0] == PAD.format(260, 256)


def test_scattered_requests() -> None:
    assert "threadIdx.x" in against_scatter(CUDA, None)[0]
    assert "get_local_id(0)" in against_scatter(OPENCL, None)[0]
    assert "local memory" in against_scatter(OPENCL, None)[1]
    assert against_scatter(CUDA, 8)[0].startswith("most of the record is used")
    assert "as far apart" in against_scatter(CUDA, 16)[0]
