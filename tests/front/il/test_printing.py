"""Programs of IL as text: what is printed reads back as the same."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.front.il.listings import PLAIN, TRANSLATED
from tests.front.il.programs import random_case
from tests.front.il.running import parse
from warpsmith.front.il.nodes import IlProgram
from warpsmith.front.il.printing import il_lines, print_il


def bare(program: IlProgram) -> IlProgram:
    """Return a program without its places."""
    instructions = tuple(replace(one, span=None, places=()) for one in program.instructions)
    declarations = tuple(replace(one, span=None) for one in program.declarations)
    return IlProgram(program.kind, declarations, instructions)


def test_the_listings_are_printed_nearly_as_they_were() -> None:
    for text in (PLAIN, TRANSLATED):
        kept = [line for line in text.splitlines() if line and not line.startswith(";")]
        assert [line for line in print_il(parse(text)).splitlines() if line] == kept


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_come_back(seed: int) -> None:
    program = parse(random_case(seed).text)
    again = parse(print_il(program))
    assert bare(again) == bare(program) and print_il(again) == print_il(program)


MEMORY = """\
il_cs_2_0
dcl_max_thread_per_group 256
dcl_raw_uav_id(0)
dcl_lds_id(1) 1024
dcl_indexed_temp_array x0[4]
dcl_cb cb0[4]

uav_raw_load_id(0) r0.xy__, vAbsTid.x
lds_store_id(1) r0.x, r0.y
fence_threads_lds
mov x0[r0.x+1].x___, x0[2].y
if_logicalnz r0.x
    lds_load_id(1) r1, cb0[1].y
    uav_read_add_id(0) r2.x___, r1.x, r1.y
endif
uav_raw_store_id(0) mem0.xy__, r0.x, r1
endmain
end
"""


def test_compute_shaders_come_back() -> None:
    head = "il_cs_2_0\ndcl_num_thread_per_group 8, 2, 1\ndcl_cb cb0[4]\n\n"
    text = f"{head}mov g[r0.x+2], vAbsTid\nmov g[3].x___, cb0[r1.y]\nendmain\nend\n"
    assert print_il(parse(text)) == text
    assert print_il(parse(MEMORY)) == MEMORY


def test_lines_know_their_instructions() -> None:
    program = parse(MEMORY)
    assert [one for _, one in il_lines(program) if one is not None] == list(program.instructions)
