"""Runs of AVX-512: the listings of document 001 at 16 lanes, their defects, flags and masks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simt.avx512.listings import CORRECTED, PRINTED
from tests.simt.gcn.listings import PRINTED as GCN
from tests.simt.gcn.programs import masks as gcn_masks
from warpsmith.base.errors import InputError
from warpsmith.base.source import SourceFile
from warpsmith.simt.avx512.nodes import AvxProgram
from warpsmith.simt.avx512.read import read_avx512
from warpsmith.simt.avx512.run import AvxRun, begin_avx512, run_avx512

FIRST = 8
"""Lanes 8 to 23: of these `lane < 16` is one half."""


def program(text: str) -> AvxProgram:
    return read_avx512(SourceFile("k.s", text))


def ran(text: str, first: int = 0, lanes: int = 16) -> AvxRun:
    return run_avx512(program(text), begin_avx512(first, lanes))


def masks(text: str, first: int = FIRST, lanes: int = 16) -> list[int]:
    return [mask for _, mask in ran(text, first, lanes).masks]


def of(test: list[bool]) -> int:
    return sum(1 << n for n, one in enumerate(test) if one)


ALL, ODD = 0xFFFF, 0xAAAA
BELOW = of([FIRST + n < 16 for n in range(16)])
LOOP = [of([FIRST + n + turn + (at > 1) < 16 for n in range(16)]) for turn in range(8) for at in range(4)]
EXPECTED = {
    "odd_lanes": [ALL] * 3 + [ODD] * 2 + [ODD] + [ALL],
    "up_to_16": [ALL] * 4 + [BELOW] * 3 + LOOP + [0, ALL],
    "two_halves": [ALL] * 5 + [BELOW] * 2 + [BELOW] * 3 + [ALL & ~BELOW] * 2 + [ALL & ~BELOW] + [ALL],
}


@pytest.mark.parametrize("name", CORRECTED)
def test_a_corrected_listing_has_the_masks_of_its_text(name: str) -> None:
    assert masks(CORRECTED[name]) == EXPECTED[name]
    assert not ran(CORRECTED[name], FIRST).findings


def test_masks_are_those_of_gcn_at_their_widths() -> None:
    """What the arms have, in the first 16 lanes of a wave of 64 and in a register of 16."""
    found = {name: {mask & ALL for mask in gcn_masks(GCN[name])} for name in GCN}
    assert set(masks(CORRECTED["odd_lanes"], 0)) == found["odd_lanes"]
    assert set(masks(CORRECTED["up_to_16"], 0)) == found["up_to_16"]
    # lanes 0 to 15 are all below 16: none is left for the other arm
    assert set(masks(CORRECTED["two_halves"], 0)) == {ALL, 0} == found["two_halves"]


def test_the_first_printed_listing_is_right() -> None:
    assert masks(PRINTED["odd_lanes"]) == EXPECTED["odd_lanes"]


def test_a_comparison_with_a_constant_is_none() -> None:
    """The second printed listing: both its comparisons need a vector."""
    with pytest.raises(InputError, match="'16' is not what vpcmpltud takes there") as caught:
        program(PRINTED["up_to_16"])
    places = [(one.span.line, one.span.column) for one in caught.value.findings if one.span]
    assert places == [(4, 34), (12, 34)]
    assert "expected a vector register, zmm1" in str(caught.value)


def test_the_third_printed_listing_asks_for_odd_lanes() -> None:
    """It is to ask for lanes below 16; and in its other arm is none."""
    printed, corrected = masks(PRINTED["two_halves"]), EXPECTED["two_halves"]
    then = printed.index(ODD)
    assert printed[then] == ODD != BELOW
    assert ALL & ~BELOW in corrected
    assert set(printed) == {ALL, ODD, 0}


def test_an_andn_that_leaves_no_lane_is_told() -> None:
    (finding,) = ran(PRINTED["two_halves"], FIRST).findings
    assert (finding.rule, finding.severity) == ("ASM004", "warning")
    assert finding.span is not None
    assert finding.span.text.split() == ["andn", "ebx,", "eax,", "ebx"]
    assert finding.help == ("swap them: ebx, eax",)


def test_lanes_that_are_not_there_stay_off() -> None:
    assert masks(CORRECTED["odd_lanes"], 0, 5)[3] == 0b01010


def test_what_is_masked_off_stays_or_is_0() -> None:
    state = ran("mov eax, 3\nkmovw k2, eax\nvpaddd zmm1 {k2}, zmm0, zmm0\nvpaddd zmm0 {k2}{z}, zmm0, zmm0\nret").state
    assert list(state.zmm[1][:4]) == [0, 2, 0, 0]
    assert list(state.zmm[0][:4]) == [0, 2, 0, 0]


def test_flags_decide_where_it_goes_on() -> None:
    text = "mov eax, 3\nL: inc ebx\ndec eax\njne L\ncmp ebx, 3\nje OUT\nmov ecx, 9\nOUT: ret"
    state = ran(text).state
    assert (state.r[1], state.r[2]) == (3, 0)


def test_what_is_endless_is_stopped() -> None:
    run = run_avx512(program("L: jmp L\nret"), begin_avx512(), 50)
    assert run.findings[0].rule == "ASM003"
    assert len(run.masks) == 50


def test_the_end_may_be_without_ret() -> None:
    assert np.array_equal(ran("vmovdqa32 zmm3, zmm0").state.zmm[3], np.arange(16))
