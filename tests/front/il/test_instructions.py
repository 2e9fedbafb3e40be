"""Instructions of IL."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.front.il.instructions import read_instruction
from warpsmith.front.il.tokens import IlTextError, split_line


def read(text: str):  # type: ignore[no-untyped-def]
    return read_instruction(split_line(SourceFile("p.il", text), 0, text))


def test_opcodes_with_what_they_say() -> None:
    assert (read("add_sat r0, r1, r2").saturate, read("add r0, r1, r2").saturate) == (True, False)
    assert [read(f"div{how} r0, r1, r2").zero for how in ("", "_zeroop(infinity)", "_zeroop(fltmax)")] == [
        "", "infinity", "fltmax",
    ]  # fmt: skip
    fetch = read("sample_resource(3)_sampler(1) r0, v0.xy00")
    assert (fetch.resource, fetch.sampler, fetch.op.form) == (3, 1, "sample")
    assert read("load_resource(3) r0, r1").resource == 3
    assert read("lds_read_xchg_id(2) r0.x___, r1.x, r2.x").resource == 2
    assert (
        read("uav_raw_store_id(1) mem.xy__, r1.x, r2").destination
        == read("uav_raw_store_id(1) mem0.xy, r1, r2").destination
    )
    assert read("endif").sources == () and read("break_logicalnz r0.x").destination is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ad r0, r1, r2", "there is no instruction 'ad'"),
        ("idiv r0, r1, r2", "there is no instruction 'idiv'"),
        ("add r0, r1", "add has 2 operands"),
        ("iadd_sat r0, r1, r2", "iadd cannot saturate: it gives no float"),
        ("add_zeroop(infinity) r0, r1, r2", "add has no zeroop"),
        ("div_zeroop(zero) r0, r1, r2", "div with zeroop 'zero' is not read"),
        ("add(0) r0, r1, r2", "add says 1 things in parentheses"),
        ("sample_resource(0) r0, r1", "sample_resource says 1 things in parentheses"),
        ("sample_resource(a)_sampler(0) r0, r1", "'a' is no number of a resource"),
        ("sample_resource(0)_sampler(0) g[0], r1", "a fetch cannot go to g"),
        ("uav_raw_store_id(0) r0, r1, r2", "uav_raw_store_id cannot write to r"),
        ("mov mem0, r1", "mov cannot write to mem"),
        ("iadd r0, mem0, r1", "'mem0' is memory that is written and cannot be read"),
        ("uav_raw_load_id r0, r1", "uav_raw_load_id says 0 things in parentheses"),
        ("uav_raw_load_id(0) g[0], r1", "a fetch cannot go to g"),
        ("lds_load_id(1) r0.x_0_, r1", "lds_load_id has no constants in its mask"),
        ("lds_store_id(1) r0", "lds_store_id has 1 operand"),
        ("fence_threads(0)", "fence_threads says 1 things in parentheses"),
        ("rcp r0, r1", "rcp takes one component"),
        ("if_logicalnz r0.x_neg(x)", "a condition has no modifier"),
        ("and r0, r1_neg(x), r2", "and reads bits, which have no sign"),
        ("iadd r0, r1_abs, r2", "_abs is of floats, and iadd reads integers"),
    ],
)
def test_what_is_no_instruction(text: str, message: str) -> None:
    with pytest.raises(IlTextError) as caught:
        read(text)
    assert caught.value.finding.message == message and caught.value.finding.help


def test_the_nearest_instruction_is_named() -> None:
    with pytest.raises(IlTextError) as caught:
        read("cmov_logicl r0, r1, r2, r3")
    assert "did you mean cmov_logical" in caught.value.finding.help[0]
