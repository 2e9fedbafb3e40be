"""Assembly and LLVM IR with the user's lines."""

from __future__ import annotations

from warpsmith.base.source import SourceFile
from warpsmith.targets.llvm.listing import listing_of, listing_of_ir

FILE = SourceFile("some/k.cu", "first\n  second\nthird\n")
ASSEMBLY = """\t.text
k:
.Lfunc_begin0:
\t.file\t1 "some" "0/k.cu"
\t.loc\t1 2 5 prologue_end
\ts_load_dword s0, s[4:5], 0x0
\t.loc\t1 0 5
\ts_nop 0
.LBB0_1:
\t.loc\t1 3 1
\ts_endpgm
.Ltmp0:
\t.section\t.debug_info,"",@progbits
\t.long\t7
"""
IR = """; ModuleID = 'k'
source_filename = "k"
define void @k() !dbg !2 {
  call void @f(), !dbg !4
  ret void
}
!llvm.module.flags = !{!0}
!1 = !DIFile(filename: "0/k.cu", directory: "some")
!2 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 1)
!4 = !DILocation(line: 2, column: 3, scope: !2)
"""


def test_assembly_has_lines_and_no_debug_information() -> None:
    assert listing_of(ASSEMBLY, (FILE,), ";").text == (
        "        .text\nk:\n    ; k.cu:2: second\n        s_load_dword s0, s[4:5], 0x0\n        s_nop 0\n"
        ".LBB0_1:\n    ; k.cu:3: third\n        s_endpgm\n"
    )


def test_what_has_no_line_of_its_own_has_none() -> None:
    (nop,) = (one for one in listing_of(ASSEMBLY, (FILE,), ";").lines if "s_nop" in one.text)
    assert nop.file is None


def test_llvm_ir_has_lines_and_no_debug_information() -> None:
    made = listing_of_ir(IR, (FILE,))
    assert made.text == "define void @k() {\n    ; k.cu:2: second\n  call void @f()\n  ret void\n}\n"
