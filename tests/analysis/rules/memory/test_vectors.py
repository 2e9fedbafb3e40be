"""MEM005: neighboring accesses of one thread that are, or could be, one access."""

from __future__ import annotations

import pytest

from tests.analysis.rules.test_arithmetic import compiled
from tests.analysis.test_kernel import ROW, told
from warpsmith.analysis.rules.memory.vectors import find_joined, narrow
from warpsmith.analysis.uniformity.facts import KernelFacts, LaunchShape, ParameterBound

# a pointer that is a multiple of 16 is not known to be one: accesses promise their own alignment
AT = "  %o:i64 = smulwide %i {}\n  %p:i64 = add %a %o\n"


def load(offset: int, align: int = 4, type: str = "i32", at: str = "%p") -> str:
    return f"  %v{offset}{at[1:]}:{type} = load [global +{offset} align {align}] {at}\n"


def facts(body: str, *, ptx: bool = False) -> KernelFacts:
    aligned = LaunchShape(ROW.block, None, {}, (ParameterBound("a", multiple=16),))
    found = told(body, aligned)
    return compiled(found) if ptx else found


def widths(body: str, *, ptx: bool = False) -> list[int]:
    found = facts(body, ptx=ptx)
    whole = find_joined(found, found.accesses)
    return [whole.get(access.instruction, 0) for access in found.accesses]


def test_neighbors_of_which_the_first_is_aligned_become_one() -> None:
    four = AT.format("16:i32") + "".join(load(n) for n in (0, 4, 8, 12))
    assert widths(four) == [16] * 4
    assert widths(four, ptx=True) == [0] * 4
    assert widths(AT.format("16:i32") + load(0) + load(4) + load(8)) == [8, 8, 0]
    assert widths(AT.format("8:i32") + load(0) + load(4)) == [8, 8]
    assert widths(AT.format("4:i32") + load(0) + load(4)) == [0, 0]
    assert widths(AT.format("16:i32") + load(0) + load(8)) == [0, 0]
    assert widths(AT.format("16:i32") + load(4) + load(8)) == [0, 0]
    assert widths(AT.format("16:i32") + load(0)) == [0]


def test_accesses_of_another_kind_block_or_base_are_no_neighbors() -> None:
    at = AT.format("16:i32")
    assert widths(at + load(0) + "  store [global +4 align 4] %p %x\n") == [0, 0]
    assert widths(at + load(0) + "  jump next\nnext:\n" + load(4)) == [0, 0]
    assert widths(at + "  %q:i64 = add %p 16:i64\n" + load(0) + load(4, at="%q")) == [0, 0]
    assert widths(at + load(0) + load(4).replace("align 4]", "align 4 volatile]")) == [0, 0]


def said(body: str, *, ptx: bool = False) -> list[tuple[str, str]]:
    found = facts(body, ptx=ptx)
    return [(one.message, one.certainty) for one in narrow(found, found.accesses)]


def test_bytes_side_by_side() -> None:
    ((message, _),) = said("  %o:i64 = sext %i\n  %p:i64 = add %a %o\n" + load(0, 1, "i8"))
    assert message == "narrow load of a: a warp moves 32 bytes a request"
    ((halves, _),) = said(AT.format("2:i32") + load(0, 2, "i16"))
    assert "64 bytes" in halves
    assert said(AT.format("4:i32") + load(0)) == []
    # a stride, or one for all
    assert said(AT.format("8:i32") + load(0, 1, "i8")) == []
    # one finding a variable
    assert len(said("  %o:i64 = sext %i\n  %p:i64 = add %a %o\n" + load(0, 1, "i8") + load(300, 1, "i8"))) == 1


@pytest.mark.parametrize(
    ("by", "offsets", "width"),
    [
        ("16:i32", (0, 4, 8, 12), 4),
        ("16:i32", (0, 4, 8), 2),
        ("8:i32", (0, 4, 8, 12), 2),
        ("4:i32", (0, 4), None),
        ("16:i32", (0, 8), None),
        ("16:i32", (4, 8), None),
        ("16:i32", (0,), None),
    ],
)
def test_words_of_one_thread(by: str, offsets: tuple[int, ...], width: int | None) -> None:
    body = AT.format(by) + "".join(load(n) for n in offsets)
    found = said(body)
    assert [message.split()[0] for message, _ in found] == ([str(width)] if width else [])
    assert [certainty for _, certainty in found] == (["heuristic"] if width else [])
    assert [c for _, c in said(body, ptx=True)] in ([], ["proven"], ["conditional"])


def test_other_sizes_are_no_words() -> None:
    assert said(AT.format("16:i32") + load(0, 8, "i64") + load(8, 8, "i64")) == []
