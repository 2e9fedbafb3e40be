"""Accesses by indices do and count what the interpreter does and counts, wherever the lanes are."""

from __future__ import annotations

import struct

import pytest

from tests.simt.engine.agree import Case, agree
from tests.simt.test_interpreter import kernel
from warpsmith.simt.launch import Launch

_LENGTH = 1 << 20
_TWICE = """
    mov.u32 %r5, 0; mov.u32 %r6, 0;
$top: {index}
    mul.wide.{sign}32 %rd5, %r2, {size}; add.s64 %rd6, %rd1, %rd5;
    {access}
    add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra $top;
    ret;"""
_WHOLE = ("u", 4, "ld.global.u32 %r3, [%rd6]; add.u32 %r3, %r3, %r1; st.global.u32 [%rd6], %r3;")
_READ = ("u", 4, "ld.global.u32 %r3, [%rd6]; add.u32 %r6, %r6, %r3; st.global.u32 [%rd3+524288], %r6;")
_BYTES = ("u", 1, "ld.global.u8 %r3, [%rd6]; add.u32 %r3, %r3, 1; st.global.u8 [%rd6], %r3;")
_FOUR = ("u", 16, "ld.global.v4.u32 {%r3, %r4, %r6, %r7}, [%rd6]; st.global.v4.u32 [%rd6], {%r4, %r3, %r7, %r6};")
_BACK = ("s", 4, "ld.global.u32 %r3, [%rd6+1024]; add.u32 %r3, %r3, 5; st.global.u32 [%rd6+1024], %r3;")
_SHARED = ("u", 4, "ld.global.u32 %r3, [%rd6]; st.global.u32 [%rd6+65536], %r3;")

CASES = {
    "side by side": ("mov.u32 %r2, %r1;", _WHOLE, 32),
    "far from each other": ("mul.lo.u32 %r2, %r1, 1021; and.b32 %r2, %r2, 65535;", _READ, 32),
    "signed, negative": ("sub.u32 %r2, %r1, 70;", _BACK, 32),
    "four at once": ("xor.b32 %r2, %r1, 3;", _FOUR, 32),
    "pairs read one place": ("shr.u32 %r2, %r1, 1;", _READ, 32),
    "bytes": ("mov.u32 %r2, %r1;", _BYTES, 32),
    "some lanes": ("and.b32 %r2, %r1, 1; setp.eq.u32 %p2, %r2, 0; @%p2 ret; add.u32 %r2, %r1, 7;", _WHOLE, 32),
    "64 lanes": ("xor.b32 %r2, %r1, 5;", _WHOLE, 64),
    "5 lanes": ("mov.u32 %r2, %r1;", _WHOLE, 5),
    "outside": ("mul.lo.u32 %r2, %r1, 1021; add.u32 %r2, %r2, %r5; shl.b32 %r2, %r2, 4;", _READ, 32),
    "copied": ("add.u32 %r2, %r1, 1;", _SHARED, 32),
}
QUICK = ("far from each other", "signed, negative", "some lanes")


def same(name: str) -> str:
    index, (sign, size, access), width = CASES[name]
    body = _TWICE.format(index=index, sign=sign, size=size, access=access)
    data = struct.pack(f"<{_LENGTH // 4}I", *((n * 2654435761) % 2**32 for n in range(_LENGTH // 4)))
    launch = Launch((1, 1, 1), (96, 1, 1), {"n": bytes(4)}, warp=width)
    return agree(Case(kernel(body), "k", launch, {"out": (data, True)}))


@pytest.mark.parametrize("name", QUICK)
def test_accesses_by_indices_do_the_same(name: str) -> None:
    assert same(name) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name not in QUICK])
def test_more_accesses_by_indices_do_the_same(name: str) -> None:
    found = same(name)
    assert found.startswith("an access out of bounds") if name == "outside" else found == ""
