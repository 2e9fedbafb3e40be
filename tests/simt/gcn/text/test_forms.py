"""Whether operands fit: what was expected is said at the place that does not."""

from __future__ import annotations

import pytest

from tests.simt.gcn.programs import program
from warpsmith.base.errors import InputError


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("v_add_u32 s0, v1, v2", 11, "a vector register"),
        ("v_add_u32 v0, v1", 15, "expected 3"),
        ("v_lshlrev_b64 v[0:1], 2, v3", 26, "2 vector registers"),
        ("s_add_u32 s0, v1, s2", 15, "a scalar register, s0, or a constant"),
        ("s_mov_b64 s0, s[2:3]", 11, "2 scalar registers"),
        ("v_cndmask_b32 v0, v1, v2, v3", 27, "a mask"),
        ("s_branch 4", 10, "a label"),
        ("v_add_u32 v0, -v1, v2", 15, "a vector register"),
        ("v_add_u32 v0, sext(v1), v2", 15, "_sdwa only"),
        ("ds_read_b32 v1, v2 gds", 1, "expected one of"),
        ("s_nop s0", 7, "a number"),
        ("global_load_dword v0, v1, off", 27, "2 scalar registers"),
        ("s_cbranch_execz", 1, "expected 1"),
        ("s_endpgm 1", 10, "expected 0"),
    ],
)
def test_a_misfit_is_told(text: str, column: int, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        program(f"{text}\ns_endpgm")
    (finding,) = caught.value.findings
    assert finding.span is not None
    assert (finding.span.line, finding.span.column) == (1, column)


def test_masks_are_as_wide_as_waves() -> None:
    head = '.amdgcn_target "amdgcn-amd-amdhsa--gfx1030"\n'
    program(f"{head}v_cmp_eq_u32_e64 s0, v0, v1\nv_div_scale_f32 v0, null, v1, v1, v1\ns_endpgm")
    with pytest.raises(InputError, match="a mask \\(vcc_lo, s0\\)"):
        program(f"{head}v_cmp_eq_u32_e64 s[0:1], v0, v1\ns_endpgm")
