"""The text of a PTX file as statements."""

from __future__ import annotations

from warpsmith.base.source import SourceFile
from warpsmith.front.ptx.statements import statements

TEXT = """.version 8.0 // the newest
.target sm_80, debug
.global .align 4 .b32 t[2] = { 1, 2 };
.visible .entry k(
  .param .u64 a /* { ; */
)
.maxntid 8
{
  .reg .b32 %r<5>;
  .loc 1 2 3
$L1: @!%p1 bra $L2;
  { mov.b64 {%r1, %r2}, %rd1; }
L2: ret
}
.section .debug { .b8 1; }
.file 1 "a;b{c.cu"
"""


def found(text: str) -> list[tuple[str, str, str]]:
    return [(s.kind, " ".join(s.words.split()), s.guard) for s in statements(SourceFile("k.ptx", text))]


def test_statements_end_where_they_do() -> None:
    assert found(TEXT) == [
        ("directive", ".version 8.0", ""), ("directive", ".target sm_80, debug", ""),
        ("directive", ".global .align 4 .b32 t[2] = { 1, 2 }", ""),
        ("directive", ".visible .entry k( .param .u64 a ) .maxntid 8", ""), ("open", "{", ""),
        ("directive", ".reg .b32 %r<5>", ""), ("directive", ".loc 1 2 3", ""), ("label", "$L1", ""),
        ("instruction", "bra $L2", "!%p1"), ("open", "{", ""), ("instruction", "mov.b64 {%r1, %r2}, %rd1", ""),
        ("close", "}", ""), ("label", "L2", ""), ("instruction", "ret", ""), ("close", "}", ""),
        ("directive", ".section .debug { .b8 1; }", ""), ("directive", '.file 1 "a;b{c.cu"', ""),
    ]  # fmt: skip


def test_a_text_that_ends_within_a_statement_gives_what_there_is() -> None:
    assert found("mov.b64 {%r1") == [("instruction", "mov.b64 {%r1", "")]
    assert found("add /* ") == [("instruction", "add", "")] and found("  \0\n") == [] == found(";;")
    assert found("@%p1 ret;")[0] == ("instruction", "ret", "%p1")


def test_places_are_those_of_the_text() -> None:
    made = list(statements(SourceFile("k.ptx", TEXT)))
    assert next(s.span.text for s in made if s.kind == "instruction") == "@!%p1 bra $L2"
    assert made[2].span.line == 3
