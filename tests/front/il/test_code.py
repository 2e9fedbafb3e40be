"""Programs of IL as kernels: held against an interpreter of their text; the bitonic sort of the tutorial sorts."""

from __future__ import annotations

import os
import random
import struct
from array import array
from pathlib import Path

import pytest

from tests.front.il.agree import same
from tests.front.il.listings import PLAIN, TRANSLATED, passes
from tests.front.il.programs import hand_cases, random_case
from tests.front.il.running import IlRun, module_of, run_program, sort_pass
from tests.front.il.seeded import BUGS, MOST, IlBug, found_by
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Branch
from warpsmith.ssa.verify import faults

EXAMPLES = Path(__file__).parents[3] / "examples" / "il"
FETCH = """\
il_ps_2_0
dcl_output_generic o0
dcl_resource_id(0)_type(1d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
dcl_input_position_interp(linear_noperspective) v0.x___
"""


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, MOST, 40))
def test_random_programs_do_what_their_text_says(first: int) -> None:
    wrong = [seed for seed in range(first, first + 40) if not same(random_case(seed))]
    assert not wrong


def test_programs_by_hand_do_so_too() -> None:
    assert [same(case) for case in hand_cases()] == [True] * len(hand_cases())


@pytest.mark.slow
def test_other_random_programs_do_so_too() -> None:
    first = 10_000 + int(os.environ.get("WARPSMITH_SEED", "0"))
    count = int(os.environ.get("WARPSMITH_PROGRAMS", "1000"))
    assert not [seed for seed in range(first, first + count) if not same(random_case(seed))]


@pytest.mark.parametrize("seed", range(12))
def test_the_compiled_machine_shows_the_same(seed: int) -> None:
    assert same(random_case(seed), compiled=True)


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.title)
def test_a_bug_would_be_noticed(bug: IlBug) -> None:
    assert found_by(bug) is not None


def _words(count: int, seed: int) -> tuple[list[float], list[int]]:
    r = random.Random(seed)
    numbers = array("f", [r.choice((r.uniform(-99, 99), float(r.randrange(8)))) for _ in range(count)])
    words = array("I")
    words.frombytes(numbers.tobytes())
    return sorted(numbers), list(words)


def _sorted(text: str, levels: int, row: int, *, fast: bool) -> bool:
    module = module_of(text)
    wanted, words = _words(1 << levels, levels)
    for stage, distance in passes(levels):
        words = sort_pass(module, words, stage, distance, row, fast=fast)
    return list(struct.unpack(f"<{1 << levels}f", array("I", words).tobytes())) == wanted


@pytest.mark.parametrize("levels", [4, 5, 6])
def test_the_listing_sorts(levels: int) -> None:
    assert _sorted(PLAIN, levels, 0, fast=False)


@pytest.mark.parametrize(("levels", "row"), [(4, 4), (5, 8)])
def test_the_listing_with_translated_addresses_sorts(levels: int, row: int) -> None:
    assert _sorted(TRANSLATED, levels, row, fast=False)


@pytest.mark.parametrize("levels", [7, 9])
def test_the_listings_sort_more_as_machine_code(levels: int) -> None:
    assert _sorted(PLAIN, levels, 0, fast=True) and _sorted(TRANSLATED, levels, 32, fast=True)


@pytest.mark.slow
@pytest.mark.parametrize("levels", (14, 16, 18, 20) if "WARPSMITH_PROGRAMS" in os.environ else (14, 16))
def test_the_listings_sort_up_to_a_million_numbers(levels: int) -> None:
    assert _sorted(PLAIN, levels, 0, fast=True) and _sorted(TRANSLATED, levels, 1024, fast=True)


@pytest.mark.parametrize(("name", "row"), [("network_pass", 0), ("network_pass_rows", 8)])
def test_the_examples_sort(name: str, row: int) -> None:
    module = module_of((EXAMPLES / f"{name}.il").read_text())
    wanted, words = _words(64, 3)
    width, height = (row, 64 // row) if row else (64, 1)
    sizes = {"t0_width": width} | ({"t0_height": height} if row else {})
    for stage, distance in passes(6):
        arrays = {"t0": words, "cb0": [stage, distance, row, 0]}
        words = run_program(module, IlRun(arrays, width, height, sizes, compiled=True))["o0"]
    assert list(struct.unpack("<64f", array("I", words).tobytes())) == wanted


def test_one_pass_worked_by_hand() -> None:
    # stage 1, distance 1: pairs (0, 1) ascend, pairs (2, 3) descend
    words = [struct.unpack("<I", struct.pack("<f", value))[0] for value in (3.0, 2.0, 4.0, 1.0)]
    found = sort_pass(module_of(PLAIN), words, 1, 1, fast=False)
    assert struct.unpack("<4f", array("I", found).tobytes()) == (2.0, 3.0, 4.0, 1.0)


def test_a_thread_beyond_the_output_writes_nothing() -> None:
    module = module_of(FETCH + "mov o0.x___, v0.x\nendmain\nend\n")
    found = run_program(module, IlRun({"t0": [0]}, 5, 1, {"t0_width": 1}, block=(4, 1, 1)))["o0"]
    assert struct.unpack("<5f", array("I", found).tobytes()) == (0.5, 1.5, 2.5, 3.5, 4.5)


def test_control_flow_becomes_branches_that_know_their_lines() -> None:
    body = "if_logicalnz v0.x\nmov o0.x___, v0.x\nelse\nwhileloop\nbreak_logicalz v0.x\nendloop\nendif\nendmain\nend\n"
    function = module_of(FETCH + body).functions[0]
    branches = [block.terminator for block in function.blocks if isinstance(block.terminator, Branch)]
    assert [one.span.line if one.span else 0 for one in branches] == [0, 5, 9]
    assert [one.construct for one in branches] == ["", "if", ""]


def test_a_loop_that_nothing_leaves_is_no_problem_to_read() -> None:
    function = module_of(FETCH + "whileloop\nmov r0, v0.x\nendloop\nmov o0, r0\nendmain\nend\n").functions[0]
    assert not faults(function)


def test_compute_shaders_know_where_they_are() -> None:
    text = """\
il_cs_2_0
dcl_num_thread_per_group 4
mov r0.x___, vAbsTidFlat.x
iadd r0._y__, r0.x, vTidInGrp.0x00
mov g[r0.x].xy__, r0.xy
mov r1, g[r0.x]
iadd g[r0.x+8].x___, r1.y, vThreadGrpId.x
endmain
end
"""
    module = module_of(text)
    assert module.functions[0].limits.exact_block == (4, 1, 1)
    memory = LaunchMemory()
    buffer = memory.allocate("g", bytes(16 * 16))
    launch = Launch((2, 1, 1), (4, 1, 1), arguments={"g": struct.pack("<Q", buffer.address)})
    outcome = interpret(module, "main", launch, memory)
    assert outcome.complete and not outcome.problems
    words = struct.unpack("<64I", bytes(buffer.data))
    assert [words[4 * i] for i in range(8)] == [*range(8)]
    assert [words[4 * i + 1] for i in range(8)] == [i + i % 4 for i in range(8)]
    assert [words[4 * (i + 8)] for i in range(8)] == [i + i % 4 + i // 4 for i in range(8)]
