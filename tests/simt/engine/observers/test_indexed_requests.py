"""Requests by offsets: their sums as machine/requests.py counts them from the addresses."""

from __future__ import annotations

import functools
import random

import pytest

from tests.simt.engine.observers.compiled import Compiled, compiled
from warpsmith.machine.requests import SECTOR, bank_ways, sectors
from warpsmith.simt.engine.lanes import I1, I64, Emit, Ir
from warpsmith.simt.engine.observers.indexed_requests import indexed_request_function
from warpsmith.simt.engine.observers.requests import Space
from warpsmith.simt.engine.words import RequestWords

WIDTH = 32
LOW = 64 * 1024


@functools.cache
def _request(space: Space, size: int, shift: int, *, together: bool) -> Compiled:
    """Return a request of `size` bytes a lane, `shift` bytes behind a multiple of a sector."""

    def fill(e: Emit, out: Ir, numbers: Ir, mask: Ir) -> None:
        made = indexed_request_function(Emit(e.module, e.lanes), space, size)
        e.b.call(made, [out, I64(LOW + shift), numbers, mask, I1(together)])

    return compiled(WIDTH, len(RequestWords), fill)


def _expected(space: Space, size: int, shift: int, offsets: list[int], mask: int) -> dict[RequestWords, int]:
    there = {lane: LOW + shift + offset for lane, offset in enumerate(offsets) if mask >> lane & 1}
    found = dict.fromkeys(RequestWords, 0) | {RequestWords.REQUESTS: 1, RequestWords.LANES: len(there)}
    if space == "global":
        found[RequestWords.SECTORS] = sectors(there, size)
        found[RequestWords.IDEAL] = -(-len(set(there.values())) * size // SECTOR)
    elif space == "shared":
        found[RequestWords.CONFLICTS] = bank_ways(there, size) - 1
    return found


def _compare(space: Space, size: int, shift: int, offsets: list[int], mask: int, *, together: bool) -> None:
    said = _request(space, size, shift, together=together).call(offsets, mask)
    expected = _expected(space, size, shift, offsets, mask)
    assert dict(zip(RequestWords, said, strict=True)) == expected, (space, size, shift, offsets, bin(mask))


@pytest.mark.parametrize("size", [1, 4, 8, 16])
@pytest.mark.parametrize("space", ["global", "shared", "constant"])
def test_a_request_by_offsets_costs_what_its_addresses_do(space: Space, size: int) -> None:
    pick = random.Random(size)
    for _ in range(60):
        shift = pick.choice((0, 16))
        near = [size * pick.randrange(pick.choice((1, 8, 64, 1 << 20))) for _ in range(WIDTH)]
        stride = pick.choice((0, 1, 2, 3, 16, 33))
        offsets = pick.choice((near, [size * stride * lane for lane in range(WIDTH)]))
        mask = pick.choice(((1 << WIDTH) - 1, pick.getrandbits(WIDTH) | 1, 1 << pick.randrange(WIDTH)))
        _compare(space, size, shift, offsets, mask, together=False)


@pytest.mark.parametrize("size", [1, 4, 8, 16])
@pytest.mark.parametrize("space", ["global", "shared", "constant"])
def test_lanes_side_by_side_take_the_quick_way(space: Space, size: int) -> None:
    pick = random.Random(size)
    for _ in range(40):
        start, shift = size * pick.randrange(9), pick.choice((0, 16))
        offsets = [start + size * lane for lane in range(WIDTH)]
        first, last = sorted((pick.randrange(WIDTH), pick.randrange(WIDTH)))
        run = (2 << last) - (1 << first)
        mask = pick.choice((run, (1 << WIDTH) - 1, pick.getrandbits(WIDTH) | 1))
        _compare(space, size, shift, offsets, mask, together=True)
