"""The block that a kernel is taken to be launched with: by the indices that it reads and the arrays that it has."""

from __future__ import annotations

from math import prod

import pytest
from msgspec.structs import replace

from tests.analysis.test_kernel import HEAD
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.likely_block import examine_likely, likely_blocks
from warpsmith.analysis.rules.launch import launch
from warpsmith.analysis.uniformity.facts import Dim, KernelFacts, LaunchShape
from warpsmith.base.source import SourceFile, Span
from warpsmith.machine.devices import device
from warpsmith.ssa.nodes import Instruction, Limits, Module, Query
from warpsmith.ssa.reader import parse_module

UNKNOWN = LaunchShape()


def module(body: str, *, size: int = 1056, words: str = "threadIdx.y", limits: Limits | None = None) -> Module:
    """Return a kernel all of whose instructions stand at `words`."""
    head = HEAD.replace("1056", str(size)).replace("  %y:i32 = query [tid.y]\n", "")
    read = parse_module(f"{head}{body}\n  return\nend\n")
    span = Span(SourceFile("k.cu", words), 0, len(words))
    (function,) = read.functions

    def of(i: Instruction) -> Instruction:
        return replace(i, span=span) if isinstance(i.detail, Query) else i

    blocks = tuple(replace(b, instructions=tuple(map(of, b.instructions))) for b in function.blocks)
    return replace(read, functions=(replace(function, blocks=blocks, limits=limits or Limits()),))


def blocks(body: str, **how: object) -> list[Dim]:
    return list(likely_blocks(module(body, **how).functions[0]))  # type: ignore[arg-type]


def examined(made: Module, shape: LaunchShape = UNKNOWN) -> tuple[KernelFacts, list[LaunchShape]]:
    asked: list[LaunchShape] = []

    def ask(shape: LaunchShape) -> KernelFacts:
        asked.append(shape)
        return examine(made, "k", shape, device("h100"))

    return examine_likely(made.functions[0], shape, ask), asked


def test_the_axes_that_are_read_say_how_many_dimensions() -> None:
    assert blocks("")[0] == (256, 1, 1)
    assert blocks("  %y:i32 = query [tid.y]")[:2] == [(32, 8, 1), (16, 16, 1)]
    assert blocks("  %z:i32 = query [tid.z]")[0] == (8, 8, 4)
    assert blocks("  %y:i32 = query [tid.y]\n  %z:i32 = query [tid.z]")[0] == (8, 8, 4)


def test_an_index_that_a_library_reads_says_no_shape() -> None:
    assert blocks("  %y:i32 = query [tid.y]", words="thread_rank()")[0] == (256, 1, 1)
    assert blocks("  %y:i32 = query [tid.y]", words="get_local_id(1)")[0] == (32, 8, 1)
    plain = parse_module(f"{HEAD}  return\nend\n").functions[0]
    # read by text that is not known: as if it were not
    assert next(likely_blocks(plain)) == (256, 1, 1)


def test_no_block_is_larger_than_the_kernel_allows() -> None:
    assert blocks("", limits=Limits(100)) == [(64, 1, 1), (32, 1, 1), (16, 1, 1), (8, 1, 1)]
    assert blocks("  %y:i32 = query [tid.y]", limits=Limits(16)) == [(4, 4, 1)]
    assert blocks("", limits=Limits(4)) == []


STORE = "  %o:i32 = shl %x 2:i32\n  %p:i32 = add %t %o\n  store [shared +0 align 4] %p %x"


@pytest.mark.parametrize(("size", "expected"), [(1056, 256), (256, 256), (128, 128), (100, 64), (63, 32)])
def test_the_first_row_with_which_nothing_is_out_of_bounds(size: int, expected: int) -> None:
    facts, _ = examined(module(STORE, size=size))
    assert facts.block == (expected, 1, 1)
    assert facts.block_assumed == (f"a block has {expected} threads",)


def test_where_none_fits_it_is_the_likeliest_of_the_nearest() -> None:
    out = STORE.replace("%p:i32 = add %t %o", "%q:i32 = add %t %o\n  %p:i32 = add %q 100000:i32")
    facts, asked = examined(module(out))
    assert facts.block == (256, 1, 1)
    assert [shape.likely for shape in asked][-1] == (8, 1, 1)


def test_a_plane_in_which_threads_do_not_race_is_taken() -> None:
    # rows of 16 words: with more than 16 threads along x, rows overlap
    body = """  %y:i32 = query [tid.y]
  %r:i32 = shl %y 4:i32
  %e:i32 = add %r %x
  %o:i32 = shl %e 2:i32
  %p:i32 = add %t %o
  store [shared +0 align 4] %p %x"""
    facts, asked = examined(module(body))
    assert facts.block == (16, 16, 1)
    assert [shape.likely for shape in asked] == [(32, 8, 1), (16, 16, 1)]


def test_what_is_known_is_not_guessed() -> None:
    given = LaunchShape((48, 1, 1))
    facts, asked = examined(module(STORE), given)
    assert (facts.block, asked) == ((48, 1, 1), [given])
    facts, asked = examined(module("", limits=Limits(None, (96, 1, 1))))
    assert (facts.block, asked) == ((96, 1, 1), [LaunchShape()])


def test_a_kernel_that_allows_no_likely_block_is_examined_as_it_is() -> None:
    facts, asked = examined(module("", limits=Limits(4)))
    assert asked == [LaunchShape()] and facts.block_assumed


def test_a_race_in_a_row_does_not_choose_a_shorter_one() -> None:
    body = "  store [shared +0 align 4] %t %x"
    facts, asked = examined(module(body))
    assert facts.block == (256, 1, 1) and [one.likely for one in asked] == [(256, 1, 1), (128, 1, 1)]


PARTS = """  %c:i32 = mul %b LENGTH:i32
  %j:i32 = add %c %x
  %o:i64 = smulwide %j 4:i32
  %p:i64 = add %a %o
  store [global +0 align 4] %p %x"""


@pytest.mark.parametrize(("length", "block"), [(256, 256), (300, 256), (128, 128), (64, 64), (1, 256)])
def test_parts_of_blocks_say_how_long_a_block_is(length: int, block: int) -> None:
    facts, _ = examined(module(PARTS.replace("LENGTH", str(length))))
    assert facts.block == (block, 1, 1)


MASKED = "  %m:i32 = and %x 127:i32\n" + STORE.replace("shl %x 2", "shl %m 2")
CROSSED = """  %m:i32 = xor %x 1:i32
  %o:i32 = shl %x 2:i32
  %n:i32 = shl %m 2:i32
  %p:i32 = add %t %o
  %q:i32 = add %t %n
  store [shared +0 align 4] %p %x
  %l:i32 = load [shared +0 align 4] %q
  store [shared +0 align 4] %p %l"""


@pytest.mark.parametrize(("body", "weak"), [(MASKED, True), (CROSSED, False)])
def test_a_race_that_another_likely_block_has_not_is_weak(body: str, *, weak: bool) -> None:
    facts, _ = examined(module(body))
    assert facts.block == (256, 1, 1) and facts.races
    assert [race.certainty == "heuristic" for race in facts.races] == [weak] * len(facts.races)


@pytest.mark.parametrize(
    ("shape", "limits"),
    [(LaunchShape(block=(512, 512, 512)), Limits()), (LaunchShape(), Limits(exact_block=(1024, 1024, 64)))],
)
def test_a_block_that_would_need_gigabytes_is_told_and_another_one_looked_at(
    shape: LaunchShape, limits: Limits
) -> None:
    facts, asked = examined(module("", limits=limits), shape)
    assert max(prod(one.block or one.likely or ()) for one in asked) <= 1024
    assert facts.block_assumed
    told = [found.message for found in launch(facts) if found.rule == "OCC004"]
    threads = prod(facts.shape.too_large or ())
    assert told == [f"the launch exceeds a limit: {threads:,} threads a block, 1024 at most: it will fail"]


def test_of_the_blocks_of_host_code_giants_are_left_out() -> None:
    facts, _ = examined(module(""), LaunchShape(blocks=((128, 1, 1), (1 << 20, 1, 1))))
    assert facts.block == (128, 1, 1)
