"""Programs of AVX-512: errors with their places, noise."""

from __future__ import annotations

import random
import time

import pytest

from tests.simt.avx512.listings import CORRECTED
from warpsmith.base.errors import InputError
from warpsmith.base.source import SourceFile
from warpsmith.simt.avx512.read import read_avx512


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("vpadd zmm0, zmm1, zmm2", (1, 1), "vpaddd"),
        ("vpaddd zmm0, zmm1", (1, 1), "expected a vector register"),
        ("vpaddd zmm0, zmm1, eax", (1, 20), "expected a vector register"),
        ("vpaddd zmm0, zmm1 {k1}, zmm2", (1, 14), "no mask there"),
        ("kandw k1 {k2}, k3, k4", (1, 7), "no mask there"),
        ("vptestmd k1 {k1}{z}, zmm0, zmm0", (1, 10), "not for masks"),
        ("je LOP\nLOOP: ret", (1, 4), "did you mean LOOP"),
        ("je END\nEND:", (1, 4), "no instruction behind"),
        ("A: nop\nA: ret", (2, 1), "two labels"),
        ("kortestw k1, eax", (1, 14), "expected a mask register"),
        ("; nothing", None, "no instruction"),
    ],
)
def test_what_is_wrong_is_told(text: str, place: tuple[int, int] | None, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read_avx512(SourceFile("k.s", text))
    span = caught.value.findings[0].span
    assert (None if span is None else (span.line, span.column)) == place


def test_noise_ends_soon() -> None:
    made = random.Random(3)
    for text in ("".join(made.choices("zmk0123 {},\n;-:", k=1 << 20)), "vpaddd zmm0, zmm1, zmm99\n" * 40_000):
        begin = time.monotonic()
        with pytest.raises(InputError):
            read_avx512(SourceFile("k.s", text))
        assert time.monotonic() - begin < 3  # a second where the machine is not busy


def test_damaged_programs_are_read_or_refused() -> None:
    made = random.Random(5)
    refused = 0
    for _ in range(300):
        letters = list(CORRECTED["two_halves"])
        at = made.randrange(len(letters))
        letters[at] = made.choice(["", made.choice("zk01{}, \n:"), letters[at] * 2])
        file = SourceFile("k.s", "".join(letters))
        try:
            read_avx512(file)
        except InputError as error:
            refused += 1
            assert all(one.span is None or one.span.end <= len(file.text) for one in error.findings)
    assert refused > 30


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="more than"):
        read_avx512(SourceFile("k.s", " " * ((16 << 20) + 1)))
