"""Operations on vectors of integers, against Python's integers on random numbers."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.simt.gcn.programs import program, ran, wave_of
from warpsmith.simt.gcn.ops.scalar import signed

ALL = 0xFFFFFFFF


def low(value: int) -> int:
    return value & ALL


def s(value: int) -> int:
    return signed(value, 32)


def perm(a: int, b: int, c: int) -> int:
    whole, found = a << 32 | b, 0
    for byte in range(4):
        which = c >> 8 * byte & 255
        if which < 8:
            value = whole >> 8 * which & 255
        elif which < 12:
            value = 255 * (whole >> (16 * (which - 8) + 15) & 1)
        else:
            value = 255 if which > 12 else 0
        found |= value << 8 * byte
    return found


def field(a: int, b: int, c: int) -> int:
    return a >> (b & 31) & ((1 << (c & 31)) - 1)


BY_HAND: dict[str, Callable[[int, int, int], int]] = {
    "v_add_u32": lambda a, b, c: a + b,
    "v_subrev_u32": lambda a, b, c: b - a,
    "v_mul_lo_u32": lambda a, b, c: a * b,
    "v_mul_hi_u32": lambda a, b, c: a * b >> 32,
    "v_mul_hi_i32": lambda a, b, c: s(a) * s(b) >> 32,
    "v_mul_u32_u24": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "v_mul_i32_i24": lambda a, b, c: signed(a, 24) * signed(b, 24),
    "v_min_i32": lambda a, b, c: min(s(a), s(b)),
    "v_max_u32": lambda a, b, c: max(a, b),
    "v_lshlrev_b32": lambda a, b, c: b << (a & 31),
    "v_ashrrev_i32": lambda a, b, c: s(b) >> (a & 31),
    "v_bcnt_u32_b32": lambda a, b, c: a.bit_count() + b,
    "v_xnor_b32": lambda a, b, c: ~(a ^ b),
    "v_bfm_b32": lambda a, b, c: ((1 << (a & 31)) - 1) << (b & 31),
    "v_bfe_u32": field,
    "v_bfe_i32": lambda a, b, c: signed(s(a) >> (b & 31), c & 31) if c & 31 else 0,
    "v_bfi_b32": lambda a, b, c: (a & b) | (~a & c),
    "v_alignbit_b32": lambda a, b, c: (a << 32 | b) >> (c & 31),
    "v_alignbyte_b32": lambda a, b, c: (a << 32 | b) >> 8 * (c & 3),
    "v_perm_b32": perm,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_lshl_add_u32": lambda a, b, c: (a << (b & 31)) + c,
    "v_add_lshl_u32": lambda a, b, c: low(a + b) << (c & 31),
    "v_mad_u32_u24": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c,
    "v_med3_i32": lambda a, b, c: sorted(map(s, (a, b, c)))[1],
    "v_sad_u32": lambda a, b, c: abs(a - b) + c,
    "v_maxmin_i32": lambda a, b, c: min(max(s(a), s(b)), s(c)),
}
THREE = ("bfe", "bfi", "align", "perm", "xad", "_add_u32", "lshl_u32", "mad", "med3", "sad", "maxmin")
NUMBERS = (0, 1, 2, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x00FFFFFF, 0x0C080D05)


@pytest.mark.parametrize("name", BY_HAND)
def test_an_operation_is_what_integers_say(name: str) -> None:
    chosen = random.Random(name)
    wave = wave_of(program("s_endpgm"))
    rows = [[chosen.choice((*NUMBERS, chosen.getrandbits(32))) for _ in range(64)] for _ in range(3)]
    for at, row in enumerate(rows):
        wave.v[at + 1] = row
    sources = "v1, v2, v3" if any(word in name for word in THREE) and name != "v_add_u32" else "v1, v2"
    ran(f"{name} v4, {sources}", wave)
    assert [int(x) for x in wave.v[4]] == [low(BY_HAND[name](*lane)) for lane in zip(*rows, strict=True)]


@pytest.mark.parametrize(
    ("name", "number", "result"),
    [
        ("v_ffbh_u32", 1, 31),
        ("v_ffbh_u32", 0, ALL),
        ("v_ffbl_b32", 0x100, 8),
        ("v_ffbl_b32", 0, ALL),
        ("v_ffbh_i32", 0xFFFFFFF0, 28),
        ("v_ffbh_i32", 0xFFFFFFFF, ALL),
        ("v_bfrev_b32", 0x12345678, 0x1E6A2C48),
        ("v_not_b32", 0, ALL),
    ],
)
def test_bits_of_one_number(name: str, number: int, result: int) -> None:
    assert int(ran(f"v_mov_b32 v1, {number:#x}\n{name} v2, v1").v[2][5]) == result


def test_carries_are_masks() -> None:
    wave = ran("v_add_co_u32 v1, vcc, -1, v0\nv_addc_co_u32 v2, vcc, 0, 0, vcc\nv_sub_co_u32 v3, s[0:1], v0, 2")
    assert list(wave.v[1][:2]) == [ALL, 0]
    assert list(wave.v[2][:3]) == [0, 1, 1]
    assert wave.s[0] == 3


def test_wide_products() -> None:
    wave = ran("v_mov_b32 v2, -1\nv_mov_b32 v3, -1\nv_mad_u64_u32 v[4:5], s[0:1], -1, -1, v[2:3]")
    assert int(wave.v[4][0]) | int(wave.v[5][0]) << 32 == (ALL * ALL + (1 << 64) - 1) % (1 << 64)
    assert wave.s[0] == ALL
    wave = ran("v_mov_b32 v2, 5\nv_mad_i64_i32 v[4:5], s[0:1], -3, 7, v[2:3]")
    assert signed(int(wave.v[4][0]) | int(wave.v[5][0]) << 32, 64) == -16


def test_one_of_two_is_selected() -> None:
    wave = ran("v_cmp_gt_u32 vcc, 2, v0\nv_cndmask_b32_e32 v1, 3, v0, vcc\nv_cndmask_b32_e64 v2, -|v1|, 9, vcc")
    assert list(wave.v[1][:3]) == [0, 1, 3]
    assert int(wave.v[2][2]) == 0x80000003
