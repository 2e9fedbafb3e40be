"""Programs with control flow, run by run."""

from __future__ import annotations

import pytest

from tests.front.il.programs import random_case
from tests.front.il.running import parse
from tests.targets.r600.test_views import KNOWN, random_text
from warpsmith.front.il.ops import FLOW
from warpsmith.targets.r600.analyze import compile_il
from warpsmith.targets.r600.segments import count_segments


def counted(body: str) -> list[tuple[int, int, int, int]]:
    """Return first line, last line, bundles and fetches of each segment; the body begins with line 7."""
    found = count_segments(parse(f"{KNOWN}{body}endmain\nend\n"), "evergreen")
    return [(one.first, one.last, one.bundles, one.fetches) for one in found]


def test_a_test_is_one_operation_of_the_segment_in_front_of_it() -> None:
    body = "iadd r0.x___, cb0[0].x, l0.x\nif_logicalnz r0.x\nuav_raw_store_id(0) mem0.x___, l0.x, r0.x\nendif\n"
    # an address and a word lie in registers of their own, side by side
    assert counted(body) == [(7, 8, 2, 0), (9, 9, 1, 0)]


def test_what_only_the_segment_reads_is_not_kept() -> None:
    body = "iadd r0.x___, cb0[0].x, l0.x\niadd r1.x___, r0.x, r0.x\nfence_threads\n"
    store = "uav_raw_store_id(0) mem0.x___, l0.x, {}\n"
    assert counted(body + store.format("r1.x"))[0] == (7, 8, 2, 0)
    assert counted(body + store.format("r0.x"))[0] == (7, 8, 1, 0)


def test_copies_are_operations_where_others_read_them() -> None:
    body = "mov r0.x___, l0.x\nmov r1.x___, l0.x\nwhileloop\nbreak_logicalnz r0.x\niadd r0.x___, r0.x, r1.x\nendloop\n"
    assert counted(body) == [(7, 8, 1, 0), (10, 10, 1, 0), (11, 11, 1, 0)]


def test_a_read_behind_a_write_begins_a_segment() -> None:
    body = "uav_raw_load_id(0) r0.x___, l0.x\nuav_raw_store_id(0) mem0.x___, l0.z, r0.x\n"
    assert [one[3] for one in counted(body + body.replace("l0.z", "l0.w"))] == [1, 1]


@pytest.mark.parametrize("seed", range(12))
def test_without_control_flow_a_program_is_one_segment_of_its_bundles(seed: int) -> None:
    program = parse(random_text(seed))
    (one,) = count_segments(program, "evergreen")
    made = compile_il(program, "evergreen")
    assert (one.bundles, one.bound, one.fetches) == (made.code.bundles, made.bound, made.code.fetches)


@pytest.mark.parametrize("seed", range(20))
def test_segments_of_random_programs_have_no_fewer_bundles_than_their_bound(seed: int) -> None:
    program = parse(random_case(seed, divides=False).text)
    flows = sum(one.op.form in FLOW for one in program.instructions)
    found = count_segments(program, "r600")
    assert len(found) <= flows + 1 and all(one.bundles >= one.bound and one.first <= one.last for one in found)
