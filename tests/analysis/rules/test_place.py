"""An access as a finding shows it."""

from __future__ import annotations

from tests.analysis.test_kernel import ROW, told
from warpsmith.analysis.rules.place import describe_access, lane_table, place_of
from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts

BODY = """
  %o:i64 = smulwide %x {}
  %p:i64 = add %a %o
  %v:i32 = load [global +0 align 4] %p
  %q:i32 = shl %x 3:i32
  %s:i32 = add %t %q
  store [shared +0 align 4] %s %v
  %u:i32 = atomic_add [shared +0 align 4] %s %v
  %r:i64 = smulwide %v 4:i32
  %w2:i64 = add %a %r
  store [global +0 align 4] %w2 %v"""


def facts(by: str = "4:i32") -> tuple[KernelFacts, tuple[AccessFact, ...]]:
    found = told(BODY.format(by), ROW)
    return found, found.accesses


def test_what_an_access_is() -> None:
    _, (load, store, atomic, _) = facts()
    assert [describe_access(one) for one in (load, store, atomic)] == ["load of a", "store to tile", "atomic on tile"]


def test_lanes_with_their_sectors_or_banks() -> None:
    of, (load, store, _, last) = facts()
    table = lane_table(of, load)
    assert table is not None
    assert (table.title, table.columns) == ("address a + 4·tid.x; first warp", ("lane", "byte", "sector"))
    assert (table.rows[0], table.rows[8], len(table.rows)) == (("0", "+0", "0"), ("8", "+32", "1"), 32)
    banks = lane_table(of, store)
    assert banks is not None and banks.columns[2] == "bank"
    assert (banks.rows[15], banks.rows[16]) == (("15", "+120", "30"), ("16", "+128", "0"))
    assert lane_table(of, last) is None


def test_lanes_in_terms_of_a_stride_that_is_no_number() -> None:
    of, (load, *_) = facts("%n")
    table = lane_table(of, load)
    assert table is not None
    assert (table.columns, table.rows) == (
        ("lane", "byte"), (("0", "+0"), ("1", "+n"), ("2", "+2·n"), ("31", "+31·n"))
    )  # fmt: skip


def test_a_finding_has_what_its_access_has() -> None:
    of, (load, *_) = facts("%n")
    found = place_of(of, load, "MEM001", "words")
    assert (found.rule, found.message, found.certainty, found.assumptions) == (
        "MEM001", "words", load.certainty, load.assumptions
    )  # fmt: skip
    assert found.subject == "load global a " and len(found.evidence) == 1
