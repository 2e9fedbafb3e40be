"""Registers and masks of a wave: what operands are, in which lanes results are written."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simt.gcn.programs import floats, program, ran, wave_of
from warpsmith.simt.gcn.memory import GcnFault
from warpsmith.simt.gcn.nodes import GcnNumber, GcnRegisters, GcnSymbol, GcnWord
from warpsmith.simt.gcn.wave import CODE, Symbols, bits_of_number


@pytest.mark.parametrize(
    ("value", "type", "bits"),
    [
        (1.0, "f32", 0x3F800000),
        (1.0, "f64", 0x3FF0000000000000),
        (-0.5, "f16", 0xB800),
        (-1, "u64", 0xFFFFFFFFFFFFFFFF),
        (0x40240000, "f64", 0x4024000000000000),
        (64, "f64", 64),
        (2.0, "u32", 0x40000000),
    ],
)
def test_constants_are_those_of_the_type_that_reads_them(value: float, type: str, bits: int) -> None:
    assert bits_of_number(GcnNumber(value), type) == bits


def test_only_active_lanes_are_written() -> None:
    wave = ran("v_mov_b32 v1, 7\ns_mov_b64 exec, 5\nv_mov_b32 v1, 9")
    assert list(wave.v[1][:4]) == [9, 7, 9, 7]


def test_a_wave_of_32_lanes_has_masks_of_one_register() -> None:
    wave = ran("v_cmp_gt_u32_e64 s4, 3, v0\nv_mov_b32 v1, 0\ns_mov_b32 exec_lo, 6", architecture="gfx1030")
    assert wave.width == 32
    assert wave.s[4] == 7
    assert wave.s[5] == 0
    assert wave.mask == 6


def test_vcc_and_exec_are_scalar_registers() -> None:
    wave = ran("v_cmp_eq_u32 vcc, 33, v0\ns_mov_b32 s0, vcc_hi\ns_not_b64 s[2:3], exec")
    assert (wave.s[0], wave.s[2], wave.s[3]) == (2, 0, 0)


def test_64_bits_are_two_registers() -> None:
    wave = ran("v_mov_b32 v2, -1\nv_mov_b32 v3, 1\nv_lshlrev_b64 v[4:5], 1, v[2:3]")
    assert (int(wave.v[4][9]), int(wave.v[5][9])) == (0xFFFFFFFE, 3)


def test_signs_are_bits() -> None:
    wave = ran("v_mov_b32 v1, 0xff800001\nv_mov_b32 v2, -2.0\nv_add_f32_e64 v3, -|v2|, 1.0")
    assert floats(wave, 3)[0] == -1.0
    assert int(wave.read(GcnRegisters("v", 1, 1, negative=True), "f32").view(np.uint32)[0]) == 0x7F800001


def test_the_upper_half_of_a_register_stays_since_rdna_only() -> None:
    text = "v_mov_b32 v1, 0x12345678\nv_add_u16_e32 v1, 1, v1"
    assert int(ran(text).v[1][0]) == 0x5679
    wave = wave_of(program('.amdgcn_target "amdgcn--gfx1030"\ns_endpgm'))
    wave.keeps_upper_half = True
    kept = ran("v_mov_b32 v1, 0x12345678\nv_add_nc_u16 v1, 1, v1", wave, architecture="gfx1030")
    assert int(kept.v[1][0]) == 0x12345679


def test_null_takes_what_nobody_wants() -> None:
    wave = ran("s_mov_b32 s0, 5\ns_add_u32 null, s0, s0\ns_mov_b32 s1, null", architecture="gfx1030")
    assert wave.s[1] == 0


def test_symbols_are_halves_of_addresses() -> None:
    symbols = Symbols({"here": CODE + 0x123, "far": 0x1_0000_0004})
    assert symbols.value(GcnSymbol("far", "abs32@hi"), 0) == 1
    assert symbols.value(GcnSymbol("here", "rel32@lo", 4), 2) == 0x123 - 16
    with pytest.raises(GcnFault, match="defined elsewhere"):
        symbols.value(GcnSymbol("gone", "rel32@lo"), 0)


def test_words_that_are_no_numbers_are_named() -> None:
    wave = wave_of(program("s_endpgm"))
    assert wave.read_scalar(GcnWord("src_shared_base"), 64) == 0x0100_0000_0000_0000
    with pytest.raises(GcnFault, match="lds_direct"):
        wave.read_scalar(GcnWord("src_lds_direct"), 32)
