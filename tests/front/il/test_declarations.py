"""Declarations of IL."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.front.il.declarations import read_declaration
from warpsmith.front.il.nodes import (
    IlConstants,
    IlInput,
    IlLds,
    IlLiteral,
    IlMostThreads,
    IlOutput,
    IlResource,
    IlTemporaries,
    IlThreads,
    IlUav,
)
from warpsmith.front.il.tokens import IlLine, IlTextError, split_line

RESOURCE = "dcl_resource_id(2)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)"


def line(text: str) -> IlLine:
    return split_line(SourceFile("p.il", text), 0, text)


def test_each_kind_of_declaration() -> None:
    made = [
        read_declaration(line(text))
        for text in (
            "dcl_output_generic o3", "dcl_output_usage(generic) o0",
            "dcl_input_position_interp(linear_noperspective) v0.xy__", RESOURCE,
            "dcl_literal l1, 0xFFFFFFFF, -1, 1.0, 2", "dcl_cb cb1[12]", "dcl_num_thread_per_group 16, 4",
            "dcl_max_thread_per_group 256", "dcl_raw_uav_id(11)", "dcl_lds_id(1) 4096",
            "dcl_indexed_temp_array x2[12]",
        )
    ]  # fmt: skip
    kinds = [type(one) for one in made]
    assert kinds == [
        IlOutput,
        IlOutput,
        IlInput,
        IlResource,
        IlLiteral,
        IlConstants,
        IlThreads,
        IlMostThreads,
        IlUav,
        IlLds,
        IlTemporaries,
    ]
    assert isinstance(made[3], IlResource) and (made[3].number, made[3].axes) == (2, 2)
    assert isinstance(made[4], IlLiteral) and made[4].words == (0xFFFFFFFF, 0xFFFFFFFF, 0x3F800000, 2)
    assert isinstance(made[5], IlConstants) and (made[5].number, made[5].size) == (1, 12)
    assert isinstance(made[6], IlThreads) and made[6].sizes == (16, 4, 1)
    assert isinstance(made[7], IlMostThreads) and made[7].count == 256
    assert isinstance(made[8], IlUav) and made[8].number == 11
    assert isinstance(made[9], IlLds) and (made[9].number, made[9].bytes) == (1, 4096)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dcl_output_generic r0", "'r0' is no output"),
        ("dcl_output_generic o0, o1", "dcl_output_generic has 2 operands"),
        ("dcl_output_usage(color) o0", "dcl_output_usage says color in parentheses"),
        ("dcl_input_position_interp(flat) v0", "dcl_input_position_interp says flat in parentheses"),
        ("dcl_input_position_interp(linear_noperspective) v1.xy__", "'v1.xy__' is no position"),
        ("dcl_input_position_interp(linear_noperspective) v0", "a thread has no place along z or w here"),
        (RESOURCE.replace("2d", "3d"), "resources of type 3d are not read"),
        (RESOURCE.replace("unnorm", "norm"), "coordinates from 0 to 1 are not read"),
        (RESOURCE.replace("_fmtx(float)", ""), "this declares no resource"),
        (RESOURCE.replace("(float)", "(half)"), "there is no format 'half'"),
        ("dcl_literal l0, 1, 2, 3", "dcl_literal has 4 operands"),
        ("dcl_literal r0, 1, 2, 3, 4", "'r0' is no literal"),
        ("dcl_literal l0, 1, 2, 3, x", "'x' is no number of 32 bits"),
        ("dcl_literal l0, 1, 2, 3, 4294967296", "4294967296 does not fit 32 bits"),
        ("dcl_cb cb0[0]", "'cb0[0]' is no constant buffer"),
        ("dcl_cb r0", "'r0' is no constant buffer"),
        ("dcl_max_thread_per_group 2000", "'2000' is no number of threads"),
        ("dcl_max_thread_per_group 2, 2", "dcl_max_thread_per_group has 2 operands"),
        ("dcl_raw_uav_id", "dcl_raw_uav_id has no number"),
        ("dcl_raw_uav_id(x)", "dcl_raw_uav_id has no number"),
        ("dcl_raw_uav_id(0) r0", "dcl_raw_uav_id has 1 operands"),
        ("dcl_lds_id(1) 6", "'6' is no size of the group's memory"),
        ("dcl_lds_id(1) 99999999", "'99999999' is no size of the group's memory"),
        ("dcl_indexed_temp_array r0", "'r0' is no array of registers"),
        ("dcl_indexed_temp_array x0[0]", "'x0[0]' is no array of registers"),
        ("dcl_lds_id 64", "dcl_lds_id has no number"),
        ("dcl_num_thread_per_group 0", "'0' is no number of threads"),
        ("dcl_num_thread_per_group 1, 2, 3, 4", "dcl_num_thread_per_group has 4 operands"),
    ],
)
def test_what_declares_nothing(text: str, message: str) -> None:
    with pytest.raises(IlTextError) as caught:
        read_declaration(line(text))
    assert caught.value.finding.message == message and caught.value.finding.help
