"""SASS, where NVIDIA's tools are."""

from __future__ import annotations

import pytest

from tests.targets.llvm.texts import kernel_of
from warpsmith.base.errors import InputError
from warpsmith.base.nvidia import find_tool
from warpsmith.base.source import SourceFile
from warpsmith.targets.llvm import sass
from warpsmith.targets.llvm.export import lower_by_llvm
from warpsmith.targets.llvm.listing import Listed, Listing
from warpsmith.targets.llvm.sass import SassCount, count_sass, read_disassembly, sass_of

TEXT = "__global__ void k(int *a) {\n    a[threadIdx.x] *= 3;\n}\n"
DISASSEMBLY = """
\t.section\t.text.k,"ax",@progbits
k:
.text.k:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
\t//## File "0/k.cu", line 2
        /*0010*/                   S2R R2, SR_TID.X ;
.L_x_0:
        /*0020*/                   BRA `(.L_x_0);
"""


def test_lines_of_a_disassembly() -> None:
    file = SourceFile("k.cu", TEXT)
    found = [
        (one.text.strip(), one.line if one.file is not None else 0) for one in read_disassembly(DISASSEMBLY, (file,))
    ]
    assert found == [
        ("k:", 0),
        ("/*0000*/                   MOV R1, c[0x0][0x28] ;", 0),
        ("/*0010*/                   S2R R2, SR_TID.X ;", 2),
        (".L_x_0:", 0),
        ("/*0020*/                   BRA `(.L_x_0);", 2),
    ]


COUNTED = """
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E R9, desc[UR4][R2.64] ;
        /*0020*/             @!UP1 UIADD3 UR4, UR4, 0x1, URZ ;
        /*0030*/                   LDS R0, [R4] ;
        /*0040*/              @!P0 BRA `(.L_x_1) ;
        /*0050*/                   STG.E desc[UR4][R2.64], R0 ;
        /*0060*/                   EXIT ;
.L_x_0:
        /*0070*/                   BRA `(.L_x_0);
        /*0080*/                   NOP;
        /*0090*/                   NOP;
"""


def test_instructions_are_counted_but_for_what_fills_up() -> None:
    listing = Listing(tuple(map(Listed, COUNTED.splitlines())), "//")
    assert count_sass(listing) == SassCount(instructions=7, loads=2)
    assert count_sass(Listing((), "//")) == SassCount(0, 0)


def test_tools_that_are_not_there_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sass, "find_tool", lambda name: None)
    module, kernel = kernel_of(TEXT)
    with pytest.raises(InputError, match="ptxas is not installed") as caught:
        sass_of(lower_by_llvm(module, kernel, "sm_80"), kernel)
    assert "nvidia-cuda-nvcc" in caught.value.findings[0].help[0]


@pytest.mark.skipif(not (find_tool("ptxas") and find_tool("nvdisasm")), reason="CUDA's toolkit is not installed")
def test_a_kernel_is_assembled_and_taken_apart() -> None:
    module, kernel = kernel_of(TEXT)
    made = sass_of(lower_by_llvm(module, kernel, "sm_80"), kernel)
    assert any("STG" in one.text and one.line == 2 for one in made.lines)
