"""One instruction: registers, masks and views change as it says, and faults name the lane."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simt.mask.programs import program, views_for
from warpsmith.simt.mask.resources import Views, place_views
from warpsmith.simt.mask.step import FaultError, LaneAccesses, Wave, begin_wave, step

WIDTH = 4


def stepped(text: str, mask: int = 0b1111, setup: str = "") -> tuple[Wave, Views, LaneAccesses]:
    """Execute a line, behind lines that all lanes execute."""
    lines = [*setup.split("\n"), text] if setup else [text]
    made = program("\n".join([*lines, "ret"]))
    views = place_views(made, views_for(WIDTH))
    wave = begin_wave(2, 8, WIDTH, WIDTH, (8, 4))
    touched = LaneAccesses()
    for instruction in made.instructions[:-1]:
        wave.stack.exec = mask if instruction is made.instructions[-2] else 0b1111
        touched = step(wave, instruction, views, 77)
    return wave, views, touched


def row(wave: Wave, register: int, component: int) -> list[int]:
    return [int(word) for word in wave.registers[register, component]]


def test_lanes_that_are_off_keep_their_registers() -> None:
    wave, _, _ = stepped("add.u32 r1.x, lane_id, u(5)", 0b0110)
    assert row(wave, 1, 0) == [0, 6, 7, 0] and wave.stack.pc == 1


def test_builtins() -> None:
    wave, _, _ = stepped("mov r1.w, clock", setup="mov r1.x, thread_id\nmov r1.y, lane_id\nmov r1.z, wave_id")
    assert [row(wave, 1, n) for n in range(4)] == [[8, 9, 10, 11], [0, 1, 2, 3], [2] * 4, [77] * 4]


def test_components_are_read_and_written_in_the_order_named() -> None:
    wave, _, _ = stepped("mov r1.wx, r0.yz", setup="mov r0, u4(1, 2, 3, 4)")
    assert [row(wave, 1, n)[0] for n in range(4)] == [3, 0, 0, 2]
    wave, _, _ = stepped("mov r0.xy, r0.yx", setup="mov r0, u4(1, 2, 3, 4)")
    assert [row(wave, 0, n)[0] for n in range(4)] == [2, 1, 3, 4]


def test_a_load_of_named_words() -> None:
    wave, views, touched = stepped("ld r1.xy, t0.zx, r0.x", 0b0101, "mul.u32 r0.x, lane_id, u(16)")
    words = views["t", 0].words
    assert row(wave, 1, 0) == [words[2], 0, words[10], 0] and row(wave, 1, 1) == [words[0], 0, words[8], 0]
    assert touched.addresses == ((8, 0), (40, 32))


def test_a_store_and_lanes_that_write_one_word() -> None:
    _, views, touched = stepped("st u0.y, u(0), lane_id", 0b0111)
    assert views["u", 0].words.tolist() == [0, 2, 0, 0]
    base = views["u", 0].base
    assert touched.addresses == ((base + 4,),) * 3


def test_a_pixel_gets_the_channels_that_are_named() -> None:
    _, views, _ = stepped("st u1.yw, r0.xy, f2(0.5, 7)", 0b0010, "mov r0.x, lane_id\nmov r0.y, u(1)")
    pixels = views["u", 1].words.view(np.uint8).reshape(8, 16, 4)
    assert pixels[1, 1].tolist() == [0, 128, 0, 255] and not pixels[0].any() and not pixels[1, 2].any()


def test_a_sample_touches_four_texels_in_each_active_lane() -> None:
    wave, _, touched = stepped("sample r1.xw, t1.yx, s0, f2(0.5, 0.5)", 0b1000)
    assert len(touched.addresses) == 1 and len(touched.addresses[0]) == 4
    assert row(wave, 1, 0)[:3] == [0, 0, 0] and row(wave, 1, 0)[3] != 0 and row(wave, 1, 1) == [0] * 4


def test_a_test_of_lanes_becomes_the_mask() -> None:
    wave, _, _ = stepped("mask_nz lane_id", 0b0111)
    assert wave.stack.exec == 0b0110 and not wave.ended


@pytest.mark.parametrize(
    ("line", "kind", "lane", "at"),
    [
        ("ld r1.x, t0, r0.x", "outside", 2, (256, 256)),
        ("ld r1.xy, t0.xw, r0.x", "outside", 2, (256, 256)),
        ("ld r1.x, t0, lane_id", "misaligned", 1, (1, 0)),
        ("st u0, r0.x, u(1)", "outside", 1, (128, 16)),
        ("st u1, r0.xy, u(1)", "pixel", 1, (128, 128)),
        ("pop_mask", "underflow", -1, (0, 0)),
    ],
)
def test_a_fault_names_the_lane_and_the_place(line: str, kind: str, lane: int, at: tuple[int, int]) -> None:
    with pytest.raises(FaultError) as error:
        stepped(line, setup="mul.u32 r0.xy, lane_id, u(128)")
    fault = error.value.fault
    assert (fault.kind, fault.wave, fault.lane, fault.at, fault.index) == (kind, 2, lane, at, 1)
