"""Forms of operands, and what stands behind them."""

from __future__ import annotations

import pytest

from tests.simt.gcn.programs import floats, ran
from warpsmith.simt.gcn.memory import GcnFault
from warpsmith.simt.gcn.ops.op import GcnForm, forms_of


def test_forms_are_read() -> None:
    assert forms_of("u32 mask = u32 u32") == (GcnForm(("u32", "mask"), ("u32", "u32")),)
    assert forms_of("mask = f32 | f32")[1] == GcnForm((), ("f32",))
    assert forms_of("s64 =")[0].all == ("s64",)


@pytest.mark.parametrize(
    ("modifier", "result"), [("clamp", 1.0), ("mul:2", 6.0), ("div:2", 1.5), ("", 3.0), ("mul:4 clamp", 1.0)]
)
def test_a_result_is_scaled_and_clamped(modifier: str, result: float) -> None:
    assert floats(ran(f"v_add_f32_e64 v1, 1.0, 2.0 {modifier}"), 1)[0] == result


def test_integers_are_not_clamped() -> None:
    with pytest.raises(GcnFault, match="clamped"):
        ran("v_add_u32_e64 v1, v0, v0 clamp")


def test_nan_is_clamped_to_0() -> None:
    wave = ran("v_mov_b32 v1, 0x7fc00000\nv_add_f32_e64 v1, v1, 1.0 clamp")
    assert floats(wave, 1)[0] == 0.0
