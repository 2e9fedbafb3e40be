"""Pseudo-code of programs of AMD IL."""

from __future__ import annotations

from tests.front.il.listings import PLAIN
from tests.front.il.running import parse
from warpsmith.targets.il.pseudo import pseudo_lines


def pseudo(text: str) -> list[str]:
    """Return the lines of a program."""
    return [line for line, _ in pseudo_lines(parse(text))]


def test_the_documents_listing_is_what_its_author_wrote_first() -> None:
    found = pseudo(PLAIN)
    assert found[0] == "[in t0[], out o0, cb0[3]]" and found[-1] == "}"
    wanted = ("r3 = r1.x000 & r3.x000", "r8 = r7 ? r5 : r6")
    assert all(f"    {one}" in found for one in wanted)


HEAD = "il_ps_2_0\ndcl_output_generic o0\n"
HEAD += "dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"
HEAD += "dcl_input_position_interp(linear_noperspective) v0.xy__\ndcl_cb cb0[2]\n"
HEAD += "dcl_literal l0, 0x3F000000, 0x00000003, 0xFFFFFFFF, 0x00000000\n"


def test_operators_stand_between_and_numbers_in_place_of_literals() -> None:
    body = """mul_ieee r0.x___, cb0[0].y, l0.x
iadd r1.x___, r0.x, l0.z
inegate r1.x___, r1.x
round_neginf r2.x___, r0.x
mad r2.x___, r2.x, r0.x, l0.w
sample_resource(0)_sampler(0) r3, v0.xyyy
whileloop
ige r4.x___, r1.x, l0.y
if_logicalz r4.x
break
else
ftoi r1.x___, r2.x
endif
continue_logicalnz r4.x
endloop
mov o0._y__, r3.x
endmain
end
"""
    assert pseudo(HEAD + body)[2:-1] == [
        "    r0 = cb0[0].y * 0.5",
        "    r1 = r0 + -1",
        "    r1 = -r1",
        "    r2 = floor(r0)",
        "    r2 = r2 * r0 + 0",
        "    r3 = t0[v0.xy]",
        "    loop {",
        "        r4 = r1 >= 3",
        "        if (!r4) {",
        "            break",
        "        } else {",
        "            r1 = int(r2)",
        "        }",
        "        if (r4) continue",
        "    }",
        "    o0.y = r3",
    ]


def test_memory_of_compute_shaders_is_an_array() -> None:
    text = """il_cs_2_0
dcl_num_thread_per_group 64
dcl_raw_uav_id(0)
dcl_literal l0, 0x00000004, 0x00000000, 0x00000000, 0x00000000

imul r0.x___, vAbsTid.x, l0.x
uav_raw_load_id(0) r1.x___, r0.x
icbits r2.x___, r1.x
uav_raw_store_id(0) mem0.x___, r0.x, r2.x
endmain
end
"""
    assert pseudo(text)[2:-1] == [
        "    r0 = vAbsTid.x * 4",
        "    r1 = uav0[r0]",
        "    r2 = popcount(r1)",
        "    uav0[r0] = r2",
    ]
