"""Memory of IL: fetches, constants, outputs."""

from __future__ import annotations

import struct
from array import array

import pytest

from tests.front.il.groups import Groups
from tests.front.il.running import IlRun, module_of, parse, run_program
from tests.simt.engine.agree import Case
from warpsmith.front.il.code import translate_il
from warpsmith.front.il.machine import list_parameters, list_variables
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.ssa.nodes import Barrier, Fence

HEAD = """\
il_ps_2_0
dcl_output_generic o0
dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
dcl_input_position_interp(linear_noperspective) v0.xy__
dcl_literal l0, 1.5, -9.0, 99.0, 0x7FC00000
dcl_literal l1, 0x00000001, 0xFFFFFFFF, 0x00000003, 0x00000002
dcl_cb cb0[3]
"""


def fetched(body: str, channels: int = 1) -> list[float]:
    """Return what one thread writes, of a resource of 3 × 2 elements that count from 10."""
    texels = list(array("I", struct.pack(f"<{6 * channels}f", *range(10, 10 + 6 * channels))))
    module = translate_il(parse(f"{HEAD}{body}\nendmain\nend\n"), {"t0": channels, "o0": 4})
    sizes = {"t0_width": 3, "t0_height": 2}
    arrays = {"t0": texels, "cb0": [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]}
    found = run_program(module, IlRun(arrays, 1, 1, sizes, {"o0": 4}, (1, 1, 1)))["o0"]
    return list(struct.unpack("<4f", array("I", found).tobytes()))


def test_the_parameters_of_a_kernel() -> None:
    program = parse(f"{HEAD}mov o0, cb0[0]\nendmain\nend\n")
    names = [one.name for one in list_parameters(program)]
    assert names == ["o0", "t0", "t0_width", "t0_height", "cb0", "width", "height"]
    compute = parse("il_cs_2_0\ndcl_num_thread_per_group 4\nmov g[0], vTidInGrp\nendmain\nend\n")
    assert [one.name for one in list_parameters(compute)] == ["g"]


@pytest.mark.parametrize(
    ("place", "value"),
    [("v0.xy00", 10), ("l0.x100", 14), ("l0.y000", 10), ("l0.z000", 12), ("l0.zz00", 15), ("l0.w100", 13)],
)
def test_a_fetch_takes_the_nearest_element_and_the_edge_outside(place: str, value: float) -> None:
    assert fetched(f"sample_resource(0)_sampler(0) o0, {place}") == [value, 0, 0, 1]


@pytest.mark.parametrize(
    ("place", "value"), [("l1.xx00", [14, 0, 0, 1]), ("l1.yx00", [0] * 4), ("l1.z000", [0] * 4), ("l1.xw00", [0] * 4)]
)
def test_a_load_is_at_whole_places_and_nothing_outside(place: str, value: list[float]) -> None:
    assert fetched(f"load_resource(0) o0, {place}") == value


def test_elements_of_several_numbers() -> None:
    assert fetched("sample_resource(0)_sampler(0) o0, l0.x000", 2) == [12, 13, 0, 1]
    assert fetched("sample_resource(0)_sampler(0) o0, l0.x000", 4) == [14, 15, 16, 17]


def test_constants_by_number_and_by_register() -> None:
    assert fetched("itof o0, cb0[1]") == [11, 12, 13, 14]
    assert fetched("mov r0, l1.x\nitof o0, cb0[r0.y+1].wzyx") == [18, 17, 16, 15]


def test_outputs_are_rows_of_threads() -> None:
    text = f"{HEAD}mad o0.xy__, v0.y, l0.z, v0\nendmain\nend\n"
    how = IlRun({"t0": [0], "cb0": [0] * 12}, 2, 2, {"t0_width": 1, "t0_height": 1}, {"o0": 2})
    found = run_program(module_of(text), how)
    values = struct.unpack("<8f", array("I", found["o0"]).tobytes())
    assert values == (50.0, 50.0, 51.0, 50.0, 149.0, 150.0, 150.0, 150.0)


GROUPS = """\
il_cs_2_0
dcl_num_thread_per_group 4
dcl_raw_uav_id(0)
dcl_raw_uav_id(1)
dcl_lds_id(1) 64
dcl_cb cb0[1]
dcl_literal l0, 0x00000002, 0x00000003, 0x0000000C, 0x00000004
ishl r0.x___, vTidInGrp.x, l0.x
lds_store_id(1) r0.x, vAbsTid.x
fence_threads_lds
iadd r1.x___, l0.z, r0.x_neg(x)
lds_load_id(1) r2, r1.x
ishl r3.x___, vAbsTid.x, l0.y
iadd r4.xy__, r2, cb0[0].xyzw
uav_raw_store_id(0) mem0.xy__, r3.x, r4
uav_read_add_id(1) r5.x___, l0.w, vThreadGrpId.x
endmain
end
"""


def test_groups_share_memory_and_views_are_bytes() -> None:
    program = parse(GROUPS)
    assert [one.name for one in list_parameters(program)] == ["uav0", "uav1", "cb0"]
    assert [(one.name, one.space, one.bytes) for one in list_variables(program)] == [("lds1", "shared", 64)]
    arrays = {"uav0": (bytes(96), True), "uav1": (bytes(8), True), "cb0": (struct.pack("<4I", 100, 200, 0, 0), True)}
    case = Case(translate_il(program), "main", Launch((3, 1, 1), (4, 1, 1), {}), arrays)
    memory, launch = case.placed(checks=False)
    assert interpret(case.module, "main", launch, memory).complete
    left = {buffer.name: bytes(buffer.data) for buffer in memory.buffers}
    assert struct.unpack("<10I", left["uav0"][:40]) == (103, 203, 102, 202, 101, 201, 100, 200, 107, 207)
    assert struct.unpack("<2I", left["uav1"]) == (0, 4 * (0 + 1 + 2))
    views = {0: bytearray(96), 1: bytearray(8)}
    Groups(GROUPS, views, [100, 200, 0, 0]).run_groups((3, 1, 1), (4, 1, 1))
    assert {"uav0": bytes(views[0]), "uav1": bytes(views[1])} == {name: left[name] for name in ("uav0", "uav1")}


def test_fences_wait_and_order_what_they_name() -> None:
    lines = "\n".join(f"fence_{name}" for name in ("threads", "threads_lds", "threads_memory_lds", "memory", "lds"))
    function = module_of(f"il_cs_2_0\ndcl_max_thread_per_group 8\n{lines}\nendmain\nend\n").functions[0]
    details = [i.detail for _, i in function.instructions()]
    assert [one.orders for one in details if isinstance(one, Barrier)] == ["none", "shared", "all"]
    assert [one.scope for one in details if isinstance(one, Fence)] == ["device", "block"]
    assert function.limits.most_threads == 8
