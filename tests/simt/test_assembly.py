"""Lines of assembly: labels, operations, operands, comments, each with its place."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.simt.assembly import AssemblyError, split_assembly, split_operands


def test_a_line_has_labels_an_operation_and_operands() -> None:
    text = "A: B:  v_mov v1, s[0:1]  ; why: because\n; nothing\n\n.LBB0_1:\n  s_nop\n"
    lines = list(split_assembly(SourceFile("k.s", text), (";",)))
    assert [[one.text for one in line.labels] for line in lines] == [["A", "B"], [".LBB0_1"], []]
    assert [line.operation.text if line.operation else "" for line in lines] == ["v_mov", "", "s_nop"]
    first, second = split_operands(lines[0].rest)
    assert (first.text, second.text) == ("v1", "s[0:1]")
    assert (second.span.line, second.span.column) == (1, 18)
    assert second.span.text == "s[0:1]"


def test_commas_in_brackets_part_nothing() -> None:
    (line,) = split_assembly(SourceFile("k.s", "op a, hwreg(A, 0, 4), quad_perm:[0,1,2,3]"), (";",))
    assert [one.text for one in split_operands(line.rest)] == ["a", "hwreg(A, 0, 4)", "quad_perm:[0,1,2,3]"]


def test_strings_hide_comments() -> None:
    (line,) = split_assembly(SourceFile("k.s", '.ascii "a;b" # c'), (";", "#"))
    assert line.rest.text == '"a;b"'


@pytest.mark.parametrize(("text", "column"), [("op a,, b", 6), ("op a,", 6), ("op ,", 4)])
def test_a_missing_operand_is_told_at_its_place(text: str, column: int) -> None:
    (line,) = split_assembly(SourceFile("k.s", text), (";",))
    with pytest.raises(AssemblyError) as caught:
        list(split_operands(line.rest))
    assert caught.value.finding.span is not None
    assert caught.value.finding.span.column == column
