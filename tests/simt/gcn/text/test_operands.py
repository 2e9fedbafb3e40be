"""Operands and modifiers, read from their texts."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.simt.assembly import AssemblyError, AssemblyWord
from warpsmith.simt.gcn.nodes import GcnNumber, GcnOperand, GcnRegisters, GcnSymbol, GcnWord
from warpsmith.simt.gcn.text.operands import read_gcn_operand, split_modifiers


def _word(text: str) -> AssemblyWord:
    return AssemblyWord(text, Span(SourceFile("t.s", text), 0, len(text)))


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("v12", GcnRegisters("v", 12, 1)),
        ("s[2:5]", GcnRegisters("s", 2, 4)),
        ("a[1]", GcnRegisters("a", 1, 1)),
        ("vcc_hi", GcnRegisters("s", 107, 1)),
        ("exec", GcnRegisters("s", 126, 2)),
        ("ttmp9", GcnRegisters("s", 119, 1)),
        ("-|v3|", GcnRegisters("v", 3, 1, negative=True, absolute=True)),
        ("abs(s0)", GcnRegisters("s", 0, 1, absolute=True)),
        ("sext(v1)", GcnRegisters("v", 1, 1, extended=True)),
        ("-0x10", GcnNumber(-16)),
        ("1.5e3", GcnNumber(1500.0)),
        ("-.5", GcnNumber(-0.5)),
        ("off", GcnWord("off")),
        ("src_shared_base", GcnWord("src_shared_base")),
        ("hwreg(HW_REG_MODE, 0, 4)", GcnWord("hwreg(HW_REG_MODE, 0, 4)")),
        (".LBB0_1", GcnSymbol(".LBB0_1")),
        ("x@gotpcrel32@lo+4", GcnSymbol("x", "gotpcrel32@lo", 4)),
    ],
)
def test_an_operand(text: str, operand: GcnOperand) -> None:
    assert read_gcn_operand(_word(text)) == operand


@pytest.mark.parametrize(
    "text",
    [
        "v256",
        "s[3:2]",
        "v[1:",
        "--v1",
        "|v1",
        "-off",
        "12x",
        "|-v1|",
        "sext(1)",
        "s106",
        "%r1",
        "-|" * 5000 + "|" * 5000,
        "neg(" * 3000 + ")" * 3000,
    ],
)
def test_what_is_no_operand_is_told(text: str) -> None:
    with pytest.raises(AssemblyError) as caught:
        read_gcn_operand(_word(text))
    assert caught.value.finding.help


def test_modifiers_stand_behind_the_last_operand() -> None:
    words, found = split_modifiers([_word("v0"), _word("s[2:3] offset:-8 glc")])
    assert [word.text for word in words] == ["v0", "s[2:3]"]
    assert found == {"offset": "-8", "glc": ""}
    words, found = split_modifiers([_word("v1 quad_perm:[0,1,2,3] row_mask:0xf")])
    assert (words[0].text, found["quad_perm"]) == ("v1", "[0,1,2,3]")
    words, found = split_modifiers([_word("sc1")])
    assert (words, found) == ([], {"sc1": ""})
