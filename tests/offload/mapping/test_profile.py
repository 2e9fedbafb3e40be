"""The accesses of a mapping, counted from strides: references, their weights, sectors a request and lines a thread."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import load, request
from warpsmith.offload.mapping.profile import ProfiledReference, estimate, references, size_of
from warpsmith.tree.nodes import For
from warpsmith.tree.types import CHAR, DOUBLE, INT, Array, FunctionType, Pointer, Record, Scalar


def test_a_reference_weighs_as_often_as_it_repeats(tmp_path: Path) -> None:
    text = (
        "void f(int n, double A[64][64], double *B, double *C) { for (int i = 0; i < n; i++) {"
        " B[i] = 0; for (int k = 0; k < 10; k++) for (int t = 0; t < n; t++) C[i] += A[i][k]; } }"
    )
    facts = request(load(text, tmp_path), "f", []).facts
    outer = facts.loops[0].loop
    assert isinstance(outer, For)
    found, assumed = references(facts.loops[0].accesses, [outer], {})
    assert sorted(r.weight for r in found) == [1, 640, 640]
    assert assumed == ("the loop over t (line 1) runs 64 times",)
    known, none = references(facts.loops[0].accesses, [outer], {"n": 7})
    assert (sorted(r.weight for r in known), none) == ([1, 70, 70], ())


def test_sizes() -> None:
    assert (size_of(CHAR), size_of(INT), size_of(DOUBLE)) == (1, 4, 8)
    assert size_of(Record("pair", 24)) == 24
    assert size_of(Array(DOUBLE, None, 3)) == 24
    assert size_of(Scalar("flag", 1, "bool")) == 1
    assert {size_of(t) for t in (Pointer(CHAR), Array(CHAR, None, None), Record("open", 0), FunctionType(INT, ()))} == {
        8
    }


def test_strides_are_elements_a_thread(tmp_path: Path) -> None:
    text = (
        "void f(int n, double A[64][64], double *B) { for (int i = 0; i < n; i += 2) for (int j = n; j > 0; j--)"
        " B[64 * j + i] = B[i] + B[i * n] + B[3] ; }"
    )
    facts = request(load(text, tmp_path), "f", []).facts
    heads = [one.loop for one in facts.loops if isinstance(one.loop, For)]
    found, assumed = references(facts.loops[0].accesses, heads, {})
    assert assumed == ()
    assert [r.strides for r in found] == [(2, -64), (2, 0), (None, 0), (0, 0)]
    assert {(r.bytes, r.weight) for r in found} == {(8, 1)}


def test_a_while_loop_is_assumed_to_run_often_and_one_without_iterations_weighs_one(tmp_path: Path) -> None:
    text = (
        "void f(int n, double *B) { for (int i = 0; i < n; i++) {"
        " while (B[i] > 1) B[i] /= 2; for (int k = 5; k < 2; k++) B[i] += k; } }"
    )
    facts = request(load(text, tmp_path), "f", []).facts
    outer = next(one.loop for one in facts.loops if isinstance(one.loop, For))
    found, assumed = references(facts.loops[0].accesses, [outer], {})
    assert sorted(r.weight for r in found) == [1, 64, 64]
    assert assumed == ("the while loop (line 1) runs 64 times",)


@pytest.mark.parametrize(
    ("reference", "shape", "fastest", "sectors", "lines"),
    [
        # 32 doubles in a row: 8 sectors; a block of 64 brings 4 lines
        (ProfiledReference(8, (1,), 1), (64,), (0,), 8.0, 4 / 64),
        (ProfiledReference(4, (1,), 1), (64,), (0,), 4.0, 2 / 64),
        # all threads one element; each its own sector
        (ProfiledReference(8, (0,), 1), (64,), (0,), 1.0, 1 / 64),
        (ProfiledReference(8, (64,), 1), (64,), (0,), 32.0, 1.0),
        # x over the first loop or the second: a warp is 32 along x
        (ProfiledReference(8, (64, 1), 1), (8, 32), (1, 0), 8.0, 16 / 256),
        (ProfiledReference(8, (64, 1), 1), (32, 8), (0, 1), 32.0, 32 / 256),
        # 8 along x and 4 along y
        (ProfiledReference(8, (64, 1), 1), (4, 8), (1, 0), 8.0, 4 / 32),
        # an element of three lines
        (ProfiledReference(384, (1,), 1), (32,), (0,), 32 * 12.0, 3.0),
    ],
)
def test_sectors_and_lines(
    reference: ProfiledReference, shape: tuple[int, ...], fastest: tuple[int, ...], sectors: float, lines: float
) -> None:
    found = estimate([reference], shape, fastest)
    assert (found.sectors_per_request, found.lines_per_thread) == (sectors, lines)


def test_references_count_as_often_as_they_repeat() -> None:
    found = estimate([ProfiledReference(8, (1,), 1), ProfiledReference(8, (0,), 3)], (32,), (0,), ("so",))
    assert (found.sectors_per_request, found.lines_per_thread, found.assumed) == (11 / 4, 5 / 32, ("so",))
    assert estimate([], (32,), (0,)).sectors_per_request == 0
