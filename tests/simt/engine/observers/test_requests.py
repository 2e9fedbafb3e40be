"""Sectors, ideal sectors and bank conflicts of requests of every stride, size and alignment."""

from __future__ import annotations

import random

import pytest

from tests.simt.engine.agree import Case, agree
from tests.simt.test_interpreter import kernel
from warpsmith.simt.engine.engine import Checks
from warpsmith.simt.launch import Launch

ONLY = Checks(lost=False, requests=True, uninitialized=False, races=False)
SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "v2.u32": 8, "v4.u32": 16}
REGISTERS = {"u64": "%rd9", "v2.u32": "{%r8, %r9}", "v4.u32": "{%r6, %r7, %r8, %r9}"}


def _body(space: str, word: str, stride: int, some: int) -> str:
    """Touch memory with lanes `stride` elements apart; not those whose number has a bit of `some`."""
    base = "mov.u64 %rd6, s;" if space == "shared" else "mov.u64 %rd6, %rd1;"
    moved = f"mul.wide.u32 %rd7, %r2, {SIZES[word]}; add.u64 %rd8, %rd6, %rd7;"
    given = REGISTERS.get(word, "%r9")
    return f"""
        .shared .align 16 .b8 s[4096];
        and.b32 %r3, %r1, {some}; setp.ne.u32 %p1, %r3, 0; @%p1 bra $end;
        mul.lo.u32 %r2, %r1, {stride}; {base} {moved}
        st.{space}.{word} [%rd8], {given}; ld.{space}.{word} {given}, [%rd8];
    $end: ret;"""


def _check(seed: int) -> None:
    chosen = random.Random(seed)
    word = chosen.choice(list(SIZES))
    stride = chosen.choice((0, 1, 1, 2, 3, 5, 8, 17, 32)) if SIZES[word] < 16 else chosen.choice((0, 1, 3, 4))
    body = _body(chosen.choice(("global", "shared")), word, stride, chosen.choice((0, 0, 1, 4, 6)))
    launch = Launch((1, 1, 1), (chosen.choice((32, 40, 64)), 1, 1), {"n": bytes(4)}, warp=chosen.choice((8, 32, 64)))
    if 64 * stride * SIZES[word] >= 4096:
        launch = Launch((1, 1, 1), (8, 1, 1), {"n": bytes(4)}, warp=8)
    assert agree(Case(kernel(body), "k", launch, {"out": (bytes(65536), True)}), ONLY, contents=False) == ""


@pytest.mark.parametrize("seed", range(6))
def test_a_request_costs_what_the_interpreter_says(seed: int) -> None:
    _check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6, 200))
def test_any_request_costs_what_the_interpreter_says(seed: int) -> None:
    _check(seed)
