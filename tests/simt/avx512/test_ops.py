"""Operations of AVX-512 compute what this processor does, on random numbers."""

from __future__ import annotations

import ctypes
import random
from functools import cache
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest

from tests.targets.llvm.native import assembled, has_avx512
from warpsmith.base.source import SourceFile
from warpsmith.simt.avx512.ops import AVX_OPERATIONS
from warpsmith.simt.avx512.read import read_avx512
from warpsmith.simt.avx512.run import begin_avx512, run_avx512

_CONTROL = ("label",)
NAMES = sorted(name for name, op in AVX_OPERATIONS.items() if (op.result or op.sources) and op.sources != _CONTROL)
NUMBERS = (0, 1, 2, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def _line(name: str, *, masked: bool) -> str:
    """Return an instruction on zmm0 to zmm2, k1 to k3, eax to ecx, and its mask k3."""
    op = AVX_OPERATIONS[name]
    places = {"zmm": ["zmm1", "zmm2"], "k": ["k2", "k1"], "r": ["ebx", "ecx"], "imm": ["5"], "word": ["ebx"]}
    if "any" in op.sources:
        return f"{name} eax, k2"
    results = {"zmm": "zmm0", "k": "k1", "r": "eax", "flags": ""}
    first = results[op.result] + (" {k3}" if masked else "")
    sources = [places[kind].pop(0) for kind in op.sources]
    return f"{name} {', '.join(one for one in (first, *sources) if one)}"


@cache
def _library() -> ctypes.CDLL:
    """Return a function for each operation: it loads registers from a record, and stores them again."""
    text = [".intel_syntax noprefix", ".text"]
    for name in NAMES:
        load = [
            *(f"vmovdqu32 zmm{n}, [rdi + {64 * n}]" for n in range(3)),
            *(f"kmovw k{n}, [rdi + {190 + 2 * n}]" for n in (1, 2, 3)),
        ]
        words = ["mov eax, [rdi + 200]", "mov ebx, [rdi + 204]", "mov ecx, [rdi + 208]"]
        store = [
            "setz dl",
            "vmovdqu32 [rdi], zmm0",
            "kmovw [rdi + 192], k1",
            "mov [rdi + 200], eax",
            "mov [rdi + 212], dl",
        ]
        text += [
            f".globl f_{name}",
            f"f_{name}:",
            "push rbx",
            *load,
            *words,
            _line(name, masked=AVX_OPERATIONS[name].takes_mask),
            *store,
        ]
        text += ["pop rbx", "vzeroupper", "ret"]
    return assembled("\n".join(text) + "\n", mkdtemp())


@pytest.mark.skipif(not has_avx512(), reason="this processor has no AVX-512")
@pytest.mark.parametrize("name", NAMES)
def test_an_operation_is_what_the_processor_does(name: str) -> None:
    made = random.Random(name)
    program = read_avx512(SourceFile("k.s", _line(name, masked=AVX_OPERATIONS[name].takes_mask)))
    for _ in range(20):
        state = begin_avx512()
        for n in range(3):
            state.zmm[n] = [made.choice((*NUMBERS, made.getrandbits(32))) for _ in range(16)]
        state.k[1:4] = [made.choice((0, 0xFFFF, made.getrandbits(16))) for _ in range(3)]
        state.r[:3] = [made.choice((*NUMBERS, made.getrandbits(32))) for _ in range(3)]
        record: Any = np.zeros(256, np.uint8)
        record[:192] = state.zmm[:3].view(np.uint8).ravel()
        record[192:198] = np.array(state.k[1:4], "<u2").view(np.uint8)
        record[200:212] = np.array(state.r[:3], "<u4").view(np.uint8)
        getattr(_library(), f"f_{name}")(ctypes.c_void_p(record.ctypes.data))
        run_avx512(program, state)
        assert np.array_equal(record[:64].view(np.uint32), state.zmm[0])
        assert int(record[192:194].view("<u2")[0]) == state.k[1]
        assert int(record[200:204].view("<u4")[0]) == state.r[0]
        if AVX_OPERATIONS[name].result == "flags" or name in ("and", "or", "xor", "add", "sub", "inc", "dec", "andn"):
            assert bool(record[212]) == state.zero
