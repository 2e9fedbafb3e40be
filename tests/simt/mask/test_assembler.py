"""Text becomes programs, and what is wrong is told with its line and what was expected."""

from __future__ import annotations

import pytest

from tests.simt.mask.programs import program
from warpsmith.base.errors import InputError
from warpsmith.base.source import SourceFile
from warpsmith.simt.mask.assembler import assemble


def told(text: str) -> list[tuple[int, int, str]]:
    with pytest.raises(InputError) as error:
        assemble(SourceFile("wrong.mask", text))
    assert all(finding.help or finding.related for finding in error.value.findings)
    assert all(finding.rule == "MSK001" for finding in error.value.findings)
    return [
        (one.span.line if one.span else 0, one.span.column if one.span else 0, one.message)
        for one in error.value.findings
    ]


def test_labels_comments_and_several_labels_in_a_line() -> None:
    made = program("; nothing\nA: B:\n  mov r0.x, u(1) ; one\nC: jmp A\r\nD:\n")
    assert [one.op.name for one in made.instructions] == ["mov", "jmp"]
    assert made.labels == {"A": 0, "B": 0, "C": 1, "D": -1}
    assert made.instructions[0].span.line == 3


def test_parentheses_hold_an_operand_together() -> None:
    (first, _) = program("mov r0.xy , u2( 1 , 2 )\nret").instructions
    assert first.operands[1].words == (1, 2)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add.u33 r0, r1\nret", [(1, 1, "there is no instruction 'add.u33'")]),
        ("ret\n  jmp AWAY", [(2, 7, "there is no label 'AWAY': this leads nowhere")]),
        ("jmp E\nE:", [(1, 5, "there is no instruction behind the label 'E': this leads nowhere")]),
        ("A:\nA: ret", [(2, 1, "there are two labels 'A'")]),
        ("ret: ret", [(1, 1, "'ret' cannot be a label")]),
        ("r0: ret", [(1, 1, "'r0' cannot be a label")]),
        ("mov r0.x\nret", [(1, 1, "mov has 1 operands")]),
        ("mov r0.x, u(1)", [(1, 1, "the program goes on behind its last instruction")]),
        ("; nothing", [(0, 0, "wrong.mask has no instruction")]),
        ("mov r0.xy, r1.xyz\nret", [(1, 12, "the components of 'r1.xyz' do not fit mov")]),
        ("mov r0.x,\nret", [(1, 10, "'' is no value")]),
        ("mov u(1), u(1)\nmask_nz lane\nret", [(1, 5, "'u(1)' cannot be written"), (2, 9, "'lane' is no value")]),
    ],
)
def test_what_is_wrong_is_told_at_its_place(text: str, expected: list[tuple[int, int, str]]) -> None:
    assert told(text) == expected


def test_a_caret_stands_under_the_operand() -> None:
    with pytest.raises(InputError) as error:
        assemble(SourceFile("wrong.mask", "LOOP:\n    mask_nz r0.y\n    jmp LOPO\n"))
    assert str(error.value) == (
        "wrong.mask:3:9: error[MSK001] there is no label 'LOPO': this leads nowhere\n"
        "  |\n3 |     jmp LOPO\n  |         ^^^^\n   = help: did you mean LOOP?"
    )


def test_many_mistakes_are_cut_off_and_a_huge_file_is_refused() -> None:
    assert len(told("what\n" * 100)) == 20
    with pytest.raises(InputError, match="bytes"):
        assemble(SourceFile("large.mask", "ret\n" * 300_000))
