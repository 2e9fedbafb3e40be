"""Addresses that are a place and an index are found, and others are left alone."""

from __future__ import annotations

from tests.simt.test_interpreter import kernel
from warpsmith.simt.engine.reading.affine import Indexing, indexed_addresses


def indexings(body: str) -> list[tuple[Indexing, int]]:
    """Return how the accesses of a kernel are indexed, with the bytes that are added."""
    (function,) = kernel(body).functions
    return [(found.indexing, found.moved) for found in indexed_addresses(function).values()]


def test_an_index_of_a_parameter_is_found() -> None:
    assert indexings("st.global.u32 [%rd3+8], %r1; ret;") == [(Indexing(4, signed=False, follows=True), 0)]
    wide = "sub.u32 %r2, %r1, 3; mul.wide.s32 %rd5, %r2, 12; add.s64 %rd6, %rd1, %rd5; add.s64 %rd6, %rd6, 16;"
    assert indexings(f"{wide} ld.global.u32 %r3, [%rd6]; ret;") == [(Indexing(12, signed=True, follows=True), 16)]


def test_an_index_from_memory_is_not_likely_to_follow() -> None:
    body = "ld.global.u32 %r2, [%rd3]; mul.wide.u32 %rd5, %r2, 4; add.s64 %rd6, %rd1, %rd5; ld.global.u32 %r3, [%rd6];"
    assert [found.follows for found, _ in indexings(f"{body} ret;")] == [True, False]


def test_two_indices_a_pointer_from_memory_and_no_index_are_left_alone() -> None:
    assert indexings("add.s64 %rd6, %rd3, %rd3; ld.global.u32 %r2, [%rd6]; ret;") == []
    assert len(indexings("ld.global.u64 %rd5, [%rd3]; ld.global.u32 %r2, [%rd5]; ret;")) == 1
    assert indexings("ld.global.u32 %r2, [%rd1]; ret;") == []
