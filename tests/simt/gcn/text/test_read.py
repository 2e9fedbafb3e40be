"""Whole programs: labels, two instructions at once, errors with their places, noise."""

from __future__ import annotations

import random
import time

import pytest

from tests.simt.gcn.programs import program, ran
from warpsmith.base.errors import InputError
from warpsmith.base.source import SourceFile
from warpsmith.simt.gcn.text.read import read_gcn

GOOD = """    .amdgcn_target "amdgcn-amd-amdhsa--gfx900"
LOOP:
    v_cmp_le_u32_e32 vcc, 16, v2        ; done
    s_andn2_b64 exec, exec, vcc
    v_add_u32_e32 v2, 1, v2
    global_load_dword v3, v[4:5], off offset:16 glc
    s_waitcnt vmcnt(0) & lgkmcnt(0)
    s_cbranch_execnz LOOP
    s_endpgm
"""


def test_a_program_is_read() -> None:
    made = program(GOOD)
    assert [i.name for i in made.instructions][:3] == ["v_cmp_le_u32", "s_andn2_b64", "v_add_u32"]
    assert made.instructions[0].encoding == "e32"
    assert made.instructions[3].modifiers == {"offset": "16", "glc": ""}
    assert (made.wave, made.labels) == (64, {"LOOP": 0})


def test_two_instructions_at_once_read_before_they_write() -> None:
    head = "v_mov_b32 v1, 5\nv_mov_b32 v2, 7\n"
    wave = ran(f"{head}v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v1", architecture="gfx1100")
    assert (int(wave.v[1][3]), int(wave.v[2][3])) == (7, 5)
    wave = ran(
        f"s_mov_b32 vcc_lo, 2\n{head}v_dual_cndmask_b32 v3, v1, v2 :: v_dual_mov_b32 v4, v3", architecture="gfx1100"
    )
    assert list(wave.v[3][:2]) == [5, 7]


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("v_ad_u32 v0, v1, v2", (1, 1), "v_add_u32"),
        ("s_branch LOP\nLOOP: s_endpgm", (1, 10), "did you mean LOOP"),
        ("s_branch END\nEND:", (1, 10), "no instruction behind"),
        ("A: s_nop 0\nA: s_endpgm", (2, 1), "two labels"),
        ("v_add_u32 v0, v1, v2 glc", (1, 1), "does not take 'glc'"),
        ("v_mov_b32 v0, v1 ::", (1, 19), "expected a second"),
        ("image_sample v0, v1", (1, 1), "there is no instruction"),
        ("", None, "no instruction"),
    ],
)
def test_what_is_wrong_is_told(text: str, place: tuple[int, int] | None, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        program(text)
    span = caught.value.findings[0].span
    assert (None if span is None else (span.line, span.column)) == place


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        program("v_mov_b32 v0\nfoo\ns_nop v1\ns_branch X\ns_endpgm")
    assert len(caught.value.findings) == 3
    assert len({finding.span.line for finding in caught.value.findings if finding.span}) == len(caught.value.findings)


@pytest.mark.parametrize("kind", ["letters", "lines", "one line", "bytes", "labels", "commas", "metadata"])
def test_noise_ends_soon(kind: str) -> None:
    made, size = random.Random(kind), 1 << 20
    texts = {
        "letters": lambda: "".join(made.choices("v_s0123[]:,|-.\n x", k=size)),
        "lines": lambda: "v_add_u32 v0, v1, w2\n" * (size // 21),
        "one line": lambda: "v_add_u32 " + "v0," * (size // 3),
        "bytes": lambda: made.randbytes(size).decode("latin-1"),
        "labels": lambda: "a:" * (size // 2),
        "metadata": lambda: ".amdgpu_metadata\n" + "".join(made.choices(" -.:\na", k=size)),
        "commas": lambda: "s_nop " + "," * size,
    }
    text = texts[kind]()
    begin = time.monotonic()
    with pytest.raises(InputError):
        read_gcn(SourceFile("noise.s", text))
    assert time.monotonic() - begin < 3  # a second where the machine is not busy


def test_damaged_programs_are_read_or_refused() -> None:
    """Letters lost, doubled or changed: whatever comes of it, an error has a place in the text."""
    made = random.Random(5)
    refused = 0
    for _ in range(600):
        letters = list(GOOD)
        for _ in range(made.randrange(1, 4)):
            at = made.randrange(len(letters))
            letters[at : at + made.randrange(2)] = made.choice(["", made.choice("vs01[]:,|-.\n x@("), letters[at] * 2])
        file = SourceFile("t.s", "".join(letters))
        try:
            read_gcn(file)
        except InputError as error:
            refused += 1
            assert all(
                one.span is None or 0 <= one.span.start <= one.span.end <= len(file.text) for one in error.findings
            )
    assert refused > 200


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="more than"):
        read_gcn(SourceFile("t.s", " " * ((16 << 20) + 1)))
