"""What depends on which components, and what is read before it is written."""

from __future__ import annotations

from tests.front.il.listings import PLAIN, TRANSLATED
from tests.front.il.running import parse
from tests.front.il.test_read import HEAD
from warpsmith.front.il.live import channels_of, find_unwritten, needed_of, relevant_components

END = "endmain\nend\n"


def unwritten(body: str) -> list[tuple[int, str]]:
    return [one.component for one in find_unwritten(parse(HEAD + body + END))]


def test_of_the_listings_only_x_counts() -> None:
    for text in (PLAIN, TRANSLATED):
        program = parse(text)
        assert channels_of(program) == {"o0": 1, "t0": 1}
        letters = {letter for number, letter in relevant_components(program) if number >= 5}
        assert letters == {"x"}


def test_the_translated_listing_reads_two_components_that_nothing_wrote() -> None:
    assert [one.component for one in find_unwritten(parse(TRANSLATED))] == [(2, "z"), (2, "w")]
    assert find_unwritten(parse(PLAIN)) == ()


def test_elements_have_as_many_numbers_as_are_used() -> None:
    head = HEAD + "dcl_resource_id(0)_type(1d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"
    fetch = "sample_resource(0)_sampler(0) r0, v0.x\n"
    for read, of_t, of_o in (("r0.x", 1, 4), ("r0.xyxy", 2, 4), ("r0.xyzz", 4, 4)):
        assert channels_of(parse(f"{head}{fetch}mov o0, {read}\n{END}")) == {"t0": of_t, "o0": of_o}
    assert channels_of(parse(f"{head}{fetch}mov o0.xy__, r0.x\n{END}")) == {"t0": 1, "o0": 2}


def test_conditions_and_indices_count() -> None:
    text = (
        "il_cs_2_0\ndcl_num_thread_per_group 4\nmov r1, r0\nmov r3, r2\nif_logicalnz r1.y\nmov g[r3.z], r4.x\nendif\n"
    )
    program = parse(text + END)
    assert relevant_components(program) == {(1, "y"), (0, "y"), (3, "z"), (2, "z"), (4, "x")}
    assert [needed_of(one, relevant_components(program)) for one in program.instructions] == ["y", "z", "x", "xyzw", ""]


def test_addresses_and_what_is_stored_count() -> None:
    head = "il_cs_2_0\ndcl_num_thread_per_group 4\ndcl_raw_uav_id(0)\ndcl_lds_id(1) 64\ndcl_indexed_temp_array x0[4]\n"
    body = "uav_raw_store_id(0) mem0.xy__, r0.z, r1\nlds_store_id(1) r2.w, r3.x\nmov x0[r6.z].x___, r7\n"
    body += "uav_read_add_id(0) r9.x___, r4.x, r5.y\n"
    assert relevant_components(parse(head + body + END)) == {
        (0, "z"), (1, "x"), (1, "y"), (2, "w"), (3, "x"), (4, "x"), (5, "y"), (6, "z"), (7, "x"),
    }  # fmt: skip


def test_what_one_arm_writes_is_not_written() -> None:
    assert unwritten("if_logicalnz v0.x\nmov r0, v0.x\nendif\nmov o0.x___, r0\n") == [(0, "x")]
    assert unwritten("if_logicalnz v0.x\nmov r0, v0.x\nelse\nmov r0.x___, v0.x\nendif\nmov o0.x___, r0\n") == []


def test_what_a_loop_writes_before_it_is_left_is_written() -> None:
    assert unwritten("whileloop\nmov r0, v0.x\nbreak_logicalnz r0.x\nmov r1, r0\nendloop\nmov o0, r0\n") == []
    assert unwritten("whileloop\nbreak_logicalnz v0.x\nmov r0, v0.x\nendloop\nmov o0.x___, r0\n") == [(0, "x")]
    assert unwritten("whileloop\nmov r0, v0.x\nbreak\nendloop\nmov o0, r0\n") == []
    assert unwritten("whileloop\ncontinue\nendloop\nmov o0, r0\n") == []
