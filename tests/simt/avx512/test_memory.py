"""Loads, stores, gathers and scatters do what this processor does; what reaches beyond an array is told."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Iterator
from functools import cache
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest

from tests.targets.llvm.native import assembled, has_avx512
from warpsmith.base.errors import InputError
from warpsmith.base.source import SourceFile
from warpsmith.simt.avx512 import memory
from warpsmith.simt.avx512.nodes import AvxMemory
from warpsmith.simt.avx512.read import read_avx512
from warpsmith.simt.avx512.run import AvxState, begin_avx512, run_avx512
from warpsmith.simt.memory import LaunchMemory

LINES = (
    "vmovdqu32 zmm1, [rsi + 4]", "vmovdqu32 zmm1 {k1}, [rsi + rcx*4]", "vmovups zmm1 {k1}{z}, zmmword ptr [rsi + 64]",
    "vmovdqu32 [rsi + 12], zmm1", "vmovups [rsi + 4*rcx] {k2}, zmm1", "vmovdqa32 zmm1 {k1}, [rsi + 64]",
    "vmovaps [rsi] {k1}, zmm1", "vpgatherdd zmm1 {k1}, [rsi + 4*zmm0]", "vpgatherdd zmm1 {k2}, [rsi + zmm0 + 8]",
    "vgatherdps zmm1 {k1}, dword ptr [rsi + 8*zmm0 + 16]", "vpscatterdd [rsi + 4*zmm0] {k1}, zmm1",
    "vscatterdps [rsi + 2*zmm0 + 4] {k2}, zmm1", "mov eax, dword ptr [rsi + 20]", "mov [rsi + 4*rcx + 8], eax",
    "vpgatherdd zmm1 {k1}, [rsi + 4*zmm2 + 192]",
)  # fmt: skip
WORDS = 96


@cache
def _library() -> ctypes.CDLL:
    """Return a function for each line: it loads registers from a record (rdi), and stores them again; rsi: memory."""
    text = [".intel_syntax noprefix", ".text"]
    for number, line in enumerate(LINES):
        text += [f".globl f{number}", f"f{number}:"]
        text += [f"vmovdqu32 zmm{n}, [rdi + {64 * n}]" for n in range(3)]
        text += ["kmovw k1, [rdi + 192]", "kmovw k2, [rdi + 194]", "mov eax, [rdi + 196]", "mov ecx, [rdi + 200]", line]
        text += ["vmovdqu32 [rdi + 64], zmm1", "kmovw [rdi + 192], k1", "kmovw [rdi + 194], k2", "mov [rdi + 196], eax"]
        text += ["vzeroupper", "ret"]
    return assembled("\n".join(text) + "\n", mkdtemp())


def _state(draw: random.Random) -> tuple[AvxState, Any]:
    """Return a state with an array behind rsi, and the array; zmm0 has places in it, zmm2 some before its middle."""
    state = begin_avx512()
    state.memory = LaunchMemory(checks=False)
    words = np.array([draw.getrandbits(32) for _ in range(WORDS)], np.uint32)
    buffer = state.memory.allocate("a", words.tobytes())
    state.zmm[0] = [draw.randrange(0, 20) for _ in range(16)]
    state.zmm[1] = [draw.getrandbits(32) for _ in range(16)]
    state.zmm[2] = np.array([draw.randrange(-40, 30) for _ in range(16)], np.int32).view(np.uint32)
    state.k[1:3] = [draw.choice((0, 0xFFFF, draw.getrandbits(16))) for _ in range(2)]
    state.r[0], state.r[2], state.r[4] = draw.getrandbits(32), draw.randrange(0, 60), buffer.address
    return state, words


def _natively(number: int, state: AvxState, words: Any) -> tuple[Any, Any]:
    """Return the record and the array after the processor has run a line."""
    record: Any = np.zeros(256, np.uint8)
    record[:192] = state.zmm[:3].view(np.uint8).ravel()
    record[192:196] = np.array(state.k[1:3], "<u2").view(np.uint8)
    record[196:204] = np.array([state.r[0], state.r[2]], "<u4").view(np.uint8)
    room = np.zeros(WORDS + 16, np.uint32)
    at = -room.ctypes.data % 64 // 4
    room[at : at + WORDS] = words
    getattr(_library(), f"f{number}")(ctypes.c_void_p(record.ctypes.data), ctypes.c_void_p(room.ctypes.data + 4 * at))
    return record, room[at : at + WORDS]


def _differs(number: int, seeds: range) -> bool:
    program = read_avx512(SourceFile("k.s", LINES[number]))
    for seed in seeds:
        state, words = _state(random.Random(seed))
        record, there = _natively(number, state, words)
        run = run_avx512(program, state)
        assert state.memory is not None and not run.findings
        same = (
            np.array_equal(record[64:128].view(np.uint32), state.zmm[1])
            and record[192:196].view("<u2").tolist() == state.k[1:3]
            and int(record[196:200].view("<u4")[0]) == state.r[0] & 0xFFFFFFFF
            and bytes(state.memory.buffers[0].data) == there.tobytes()
        )
        if not same:
            return True
    return False


@pytest.mark.skipif(not has_avx512(), reason="this processor has no AVX-512")
@pytest.mark.parametrize("number", range(len(LINES)), ids=LINES)
def test_an_access_is_what_the_processor_does(number: int) -> None:
    assert not _differs(number, range(20))


def _unmasked(real: Callable[..., None]) -> Callable[..., None]:
    def access(registers: Any, held: Any, i: Any) -> None:
        before = list(registers[1])
        registers[1][1:3] = [0xFFFF, 0xFFFF]
        real(registers, held, i)
        registers[1][1:3] = before[1:3]

    return access


def _kept(real: Callable[..., None]) -> Callable[..., None]:
    def access(registers: Any, held: Any, i: Any) -> None:
        before = list(registers[1])
        real(registers, held, i)
        registers[1][:] = before

    return access


def _unsigned(zmm: Any, r: list[int], place: AvxMemory) -> list[int]:
    found = _addresses(zmm, r, place)
    if place.index is None or place.index.kind == "r":
        return found
    indices = zmm[place.index.number].tolist()
    return [one + (place.scale << 32) * (index >> 31) for one, index in zip(found, indices, strict=True)]


def _backwards(count: int) -> Iterator[int]:
    return reversed(range(count))


_addresses = memory._addresses
BUGS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "masks are not asked": lambda patch: patch.setattr(
        "warpsmith.simt.avx512.run.access_memory", _unmasked(memory.access_memory)
    ),
    "masks stay": lambda patch: patch.setattr("warpsmith.simt.avx512.run.access_memory", _kept(memory.access_memory)),
    "indices have no sign": lambda patch: patch.setattr(memory, "_addresses", _unsigned),
    "the first lane to scatter stays": lambda patch: patch.setattr(memory, "range", _backwards, raising=False),
}


@pytest.mark.skipif(not has_avx512(), reason="this processor has no AVX-512")
@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_seen(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _library()
    BUGS[bug](monkeypatch)

    def wrong(number: int) -> bool:
        try:
            return _differs(number, range(20))
        except AssertionError:
            return True

    assert any(map(wrong, range(len(LINES))))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("vpgatherdd zmm1, [rdi + 4*zmm0]", "expected vpgatherdd zmm1 {k1}, [rdi + 4*zmm2]"),
        ("vpgatherdd zmm1 {k1}{z}, [rdi + 4*zmm0]", "expected vpgatherdd"),
        ("vpgatherdd zmm1 {k1}, [rdi + 4*zmm1]", "expected vpgatherdd"),
        ("vpgatherdd zmm1 {k1}, [rdi]", "expected vpgatherdd"),
        ("vpscatterdd [rdi + 4*zmm0], zmm1", "expected vpscatterdd [rdi + 4*zmm2] {k1}, zmm1"),
        ("vmovdqu32 [rdi], [rsi]", "expected vmovdqu32 zmm1 {k1}, [rdi], or"),
        ("vmovdqu32 zmm1, [rdi + 4*zmm0]", "expected vmovdqu32"),
        ("mov eax, [rdi + zmm0]", "expected one place"),
        ("mov eax, [rdi], 3", "expected mov eax, [rdi]"),
        ("vpaddd zmm0, zmm1, [rdi]", "expected a vector register"),
    ],
)
def test_forms_that_there_are_not_are_refused(line: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_avx512(SourceFile("k.s", line))
    assert said in caught.value.findings[0].help[0]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("vmovdqa32 zmm1, [rsi + 4]", "which is no multiple of 64"),
        ("vmovdqu32 zmm1, [rsi + 384]", "lane 0: 4 bytes at byte 384 of a, which has 384"),
        ("mov eax, [rsi - 4]", "4 bytes at byte -4 of a"),
        ("vmovdqu32 zmm1 {k1}, [rsi + 324]", "lane 15: "),
    ],
)
def test_what_reaches_beyond_an_array_stops_the_run(line: str, said: str) -> None:
    state, _ = _state(random.Random(1))
    state.k[1] = 0x8001
    run = run_avx512(read_avx512(SourceFile("k.s", line)), state)
    assert [one.rule for one in run.findings] == ["ASM002"] and said in run.findings[0].message
