"""An analysis as text: what costs most first, each cause once, notes a line each, and what was not said."""

from __future__ import annotations

from msgspec.structs import replace

from tests.report.analysis.samples import FILE, TEXT, access, fix, report, reported, span
from warpsmith.analysis.rules.finding import EvidenceTable, Why
from warpsmith.base.findings import Note
from warpsmith.base.source import SourceFile
from warpsmith.report.analysis.text import TextOptions, analysis_concise, analysis_text, columns, diagnostics_text


def text(options: TextOptions | None = None, **changes: object) -> str:
    return analysis_text(report(**changes), options or TextOptions())


def block(options: TextOptions | None = None, **changes: object) -> list[str]:
    """Return the lines about the first finding."""
    return text(options, **changes).split("\n\n")[0].split("\n")


ALONE = replace(reported(), finding=replace(reported().finding, related=(), why=(Why("because"), Why("of this"))))


def test_a_finding_on_its_line() -> None:
    assert block(findings=(ALONE,)) == [
        "src/k.cu:3:1: warning[MEM001] uncoalesced store to out",
        "  |",
        "3 | line 3;",
        "  | ^^^^ the label",
        "  = kernel: k",
        "  = because: because <- of this",
        "  = evidence: addresses: lane 0: byte +0; lane 1: byte +32",
        "  = certainty: proven",
        "  = estimate: traffic 8 times the minimum (model, not a measurement)",
        "  = help: swap the loops",
        "  = more: warpsmith explain MEM001",
    ]


def test_as_much_as_is_asked_for() -> None:
    none = block(TextOptions(evidence="none"), findings=(ALONE,))
    assert not [line for line in none if "because" in line or "evidence" in line or "estimate" in line]
    full = block(TextOptions(evidence="full"), findings=(ALONE,))
    assert "       lane  byte" in full and "       1     +32" in full
    context = block(TextOptions(context=1), findings=(ALONE,))
    assert context[2:6] == ["2 | line 2;", "3 | line 3;", "  | ^^^^ the label", "4 | line 4;"]
    painted = block(TextOptions(color=True), findings=(ALONE,))[0]
    assert "\x1b[1;33mwarning[MEM001]\x1b[0m" in painted


def test_long_tables_are_cut_and_long_lines_broken() -> None:
    table = EvidenceTable("t", ("warp", "mask"), tuple((f"warp {n}", "0") for n in range(6)))
    many = replace(ALONE, finding=replace(ALONE.finding, evidence=(table,)))
    said = "; ".join(f"warp {n}: mask 0" for n in range(4))
    assert f"  = evidence: t: {said}; … 6 in all" in block(findings=(many,))
    long = replace(ALONE, finding=replace(ALONE.finding, help=("word " * 30,)))
    lines = block(TextOptions(width=70), findings=(long,))
    assert max(map(len, lines[1:])) <= 70 and any(line.startswith("          word") for line in lines)


def test_other_places_and_remedies_that_were_told() -> None:
    both = (ALONE, reported(line=9, message="less"), reported("MEM010", 12))
    first, second, *_ = text(findings=both).split("\n\n")
    assert "  = also: less, line 9" in first
    assert "explain MEM010" in second and second.count("help:") == 1
    twice = replace(ALONE, finding=replace(ALONE.finding, times=3))
    assert "  = also: 3 instructions of this place" in block(findings=(twice,))


def with_note(file: SourceFile, line: int) -> list[str]:
    note = Note(span(line, file), "see here")
    return block(findings=(replace(ALONE, finding=replace(ALONE.finding, related=(note,))),))


def test_related_places() -> None:
    assert with_note(FILE, 3)[4] == "  | ^^^^ see here"
    assert with_note(FILE, 7)[4:7] == ["  |", "7 | line 7;", "  | ^^^^ see here"]
    assert with_note(SourceFile("h.cuh", TEXT), 7)[4] == "  : h.cuh:7:1"


def test_notes_are_a_line_each_below_their_rule() -> None:
    notes = [reported("DIV008", line, "a bounds check", "note") for line in (5, 9)]
    notes.append(replace(reported("DIV008", 12, "another", "note"), fix=fix()))
    part = text(findings=tuple(notes)).split("\n\n")[0].split("\n")
    assert part == [
        "notes", "  DIV008 boundary-only-divergence", "    src/k.cu:5, 9: a bounds check",
        "    src/k.cu:12 [*]: another", "    = help: swap the loops",
    ]  # fmt: skip


def test_limits_headings_and_what_is_kept_back() -> None:
    assert "… and 1 more findings: --limit 0 prints them" in text(TextOptions(limit=1))
    assert "--- MEM001: 2 findings" in text(TextOptions(group_by="rule"), findings=(reported(), reported(line=9)))
    kept = replace(reported("MEM010", 7), hidden="baseline", reason="b.json")
    shown = text(TextOptions(suppressed=True), kept_back=(kept, *report().kept_back))
    assert "src/k.cu:7:1: warning[MEM010] uncoalesced store to out (in b.json)" in shown
    assert "(suppressed: meant)" in shown and "(suppressed: meant)" not in text()
    assert "registers a thread" in text(TextOptions(metrics=True)) and "registers a thread" not in text()


def test_what_could_not_be_analyzed() -> None:
    unknown = [access(line, sectors=None, certainty="heuristic", blocked="it is loaded") for line in (3, 4, 5, 6, 6)]
    assert "Not analyzed: 5 accesses (src/k.cu:3, src/k.cu:4, src/k.cu:5 and 1 more): it is loaded" in text(
        accesses=tuple(unknown)
    )
    local = access(sectors=None, certainty="heuristic", space="local")
    assert "Not analyzed" not in text(accesses=(local, access(sectors=None), access(certainty="heuristic")))
    bare = access(None, sectors=None, certainty="heuristic")
    assert "Not analyzed: 1 access (out): the address is not known" in text(accesses=(bare,))


def test_a_line_each() -> None:
    found = report(findings=(replace(reported(), fix=fix()), reported(line=None, kernel="")))
    assert analysis_concise(found).split("\n") == [
        "src/k.cu:3:1: MEM001 warning proven uncoalesced store to out [k] [*]",
        "src/k.cu: MEM001 warning proven uncoalesced store to out",
    ]


def test_columns_and_diagnostics() -> None:
    assert columns([("a", "bb", "c"), ("ddd", "e", "")]) == ["a    bb  c", "ddd  e"]
    assert "no such file" in diagnostics_text(report()) and diagnostics_text(report(diagnostics=())) == ""
