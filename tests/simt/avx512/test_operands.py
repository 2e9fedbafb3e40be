"""Operands of AVX-512."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.simt.assembly import AssemblyError, AssemblyWord
from warpsmith.simt.avx512.nodes import AvxLabel, AvxMemory, AvxNumber, AvxOperand, AvxRegister
from warpsmith.simt.avx512.operands import read_avx_operand


def _word(text: str) -> AssemblyWord:
    return AssemblyWord(text, Span(SourceFile("k.s", text), 0, len(text)))


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("zmm31", AvxRegister("zmm", 31)),
        ("zmm0 {k1}", AvxRegister("zmm", 0, 1)),
        ("zmm0{k7}{z}", AvxRegister("zmm", 0, 7, zeroing=True)),
        ("k1 {k2}", AvxRegister("k", 1, 2)),
        ("ebx", AvxRegister("r", 1)),
        ("-0x10", AvxNumber(-16)),
        ("LOOP_END", AvxLabel("LOOP_END")),
        ("dword ptr [rax]", AvxMemory(0)),
        ("[rdi + 4*zmm2 + 64] {k1}", AvxMemory(5, AvxRegister("zmm", 2), 4, 64, 1)),
        ("zmmword ptr [rdi+rcx*8-0x10]", AvxMemory(5, AvxRegister("r", 2), 8, -16)),
        ("[rsi + r9]", AvxMemory(4, AvxRegister("r", 8))),
        ("[zmm31 + 4]", AvxMemory(-1, AvxRegister("zmm", 31), 1, 4)),
    ],
)
def test_an_operand(text: str, operand: AvxOperand) -> None:
    assert read_avx_operand(_word(text)) == operand


@pytest.mark.parametrize(
    "text",
    [
        "zmm32",
        "k8",
        "zmm0 {k0}",
        "zmm0 {k9}",
        "zmm0 {z}",
        "dword [rax]",
        "[]",
        "[rax",
        "[-rax]",
        "[rax + 3*zmm1]",
        "[zmm1 + zmm2]",
        "[rax 4]",
        "[rax] {k0}",
        "[rax] {k1}{z}",
        "1x",
        "{k1}",
    ],
)
def test_what_is_no_operand_is_told(text: str) -> None:
    with pytest.raises(AssemblyError) as caught:
        read_avx_operand(_word(text))
    assert caught.value.finding.help
