"""Variables stand apart from each other, and a kernel has its own only."""

from __future__ import annotations

from itertools import pairwise

from warpsmith.base.source import SourceFile
from warpsmith.front.ptx.read import read_ptx
from warpsmith.simt.layout import MemoryPart, local_layout, shared_layout

TEXT = """.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.shared .align 4 .b8 module[40];
.func helper() { .reg .b32 %r<2>; .shared .align 4 .b8 inner[20]; mov.u32 %r1, inner; st.shared.u32 [%r1], 0; ret; }
.entry one() { .reg .b32 %r<4>; .shared .align 4 .b8 s[132]; .local .align 4 .b8 v[12];
    st.shared.u32 [s], 1; st.shared.u32 [module], 1; st.shared.u32 [dynamic], 1; st.local.u32 [v], 2;
    call helper; ret; }
.entry two() { .shared .align 4 .b8 t[8]; st.shared.u32 [t], 1; ret; }
"""


def test_a_kernel_has_what_it_names_and_what_it_calls_names() -> None:
    module, findings = read_ptx(SourceFile("t.ptx", TEXT))
    assert not findings
    one = shared_layout(module, "one", dynamic=64)
    assert {part.name: part.end - part.start for part in one.parts} == {
        "module": 40, "s": 132, "inner": 20, "dynamic": 64,
    }  # fmt: skip
    assert one.starts["dynamic"] == one.end
    ordered = sorted(one.parts, key=lambda part: part.start)
    assert all(a.end < b.start and b.start % 128 == 0 for a, b in pairwise(ordered))
    assert [part.name for part in local_layout(module, "one").parts] == ["v"]
    assert shared_layout(module, "two").parts == (MemoryPart("t", 0, 8),)
    assert one.near(one.starts["s"] + 140) == next(part for part in one.parts if part.name == "s")
