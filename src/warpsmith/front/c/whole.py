"""Whether the text around the parts of an expression is what its form writes, so that no macro hides some of it.

    ADD(a) b         with #define ADD(x) x +        the text between the parts is "" where a `+` belongs: not whole
    a + LIMIT        whole: the macro is one part

It is asked only where a part begins or ends in a macro: elsewhere the parser has seen the same text as we.
"""

from __future__ import annotations

from warpsmith.front.c.context import Context, FileText
from warpsmith.front.c.scan import bare
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import ELSEWHERE

__all__ = ["is_whole"]


def is_whole(context: Context, text: FileText, row: int, place: tuple[int, int]) -> bool:
    """Whether what stands at `place` in a file writes the row's form around the text of its parts."""
    table = context.table
    # An argument that the call leaves out stands nowhere in its text.
    parts = [part for part in table.expressions(row) if not table.flags[part] & ELSEWHERE]
    if table.kind[row] in (kinds.CAST, kinds.SIZEOF):
        parts = parts[-1:]
        if table.kind[row] == kinds.SIZEOF:
            return not table.begins_in_macro(row)
    if not table.begins_in_macro(row) and not any(table.flags[part] for part in parts):
        return True
    gaps, position = [], place[0]
    for first, last in [*(table.range(part, text.uses) for part in parts), (place[1], place[1])]:
        if first < position:
            return False
        gaps.append(bare(text.file.text[position:first]).replace("(", "").replace(")", ""))
        position = last
    return _fits(context, row, gaps)


def _fits(context: Context, row: int, gaps: list[str]) -> bool:
    """Whether the texts before, between and behind the parts of a row are those of its form."""
    table = context.table
    aux = table.aux[row]
    match table.kind[row]:
        case kinds.BINARY | kinds.COMPOUND_ASSIGN:
            return gaps == ["", kinds.BINARY_OPERATORS[aux], ""]
        case kinds.UNARY:
            operator = kinds.UNARY_OPERATORS[aux].replace("x", "")
            return gaps == (["", operator] if aux in (1, 2) else [operator, ""])
        case kinds.SUBSCRIPT:
            return gaps == ["", "[", "]"]
        case kinds.CALL:
            return gaps == (["", "", *[","] * (len(gaps) - 3), ""] if len(gaps) > 2 else ["", ""])
        case kinds.MEMBER_REF_EXPR:
            name = context.dump.declared[aux][1]
            return len(gaps) == 2 and gaps[0] == "" and gaps[1] in (f".{name}", f"->{name}")
        case kinds.CONDITIONAL:
            return gaps == ["", "?", ":", ""]
        case kinds.CAST:
            return not table.begins_in_macro(row) and gaps[-1] == ""
        case _:
            return not table.begins_in_macro(row)
