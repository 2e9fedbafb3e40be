"""Texts of Brook+: the examples against C, noise, and texts that are nearly right."""

from __future__ import annotations

import random
import time

import pytest

from tests.front.brook.by_hand import CASES, BrookCase, agrees
from tests.front.brook.running import EXAMPLES, wrong
from tests.front.brook.seeded import BUGS, ReaderBug, found_by
from warpsmith.base.source import SourceFile
from warpsmith.front.brook.read import read_brook
from warpsmith.lower.program import lower

TEXTS = sorted(EXAMPLES.glob("*.br"))


@pytest.mark.parametrize("case", CASES, ids=lambda one: f"{one.kernel}")
@pytest.mark.parametrize("compiled", [False, True], ids=["interpreter", "compiled"])
def test_a_kernel_computes_what_c_does(case: BrookCase, compiled: bool) -> None:
    assert agrees(case, compiled=compiled)


@pytest.mark.parametrize("bug", BUGS, ids=lambda one: one.title)
def test_bugs_in_the_reader_are_seen(bug: ReaderBug) -> None:
    assert found_by(bug) is not None


@pytest.mark.parametrize(
    "letters",
    ["".join(map(chr, range(256))), "".join(map(chr, range(32, 127))), "(){}<>[];,*+ \n", "kernel void float a<>(){ "],
)
def test_a_megabyte_of_noise_ends_in_a_second(letters: str) -> None:
    draw = random.Random(3)
    text = "".join(draw.choices(letters, k=1 << 20))
    start = time.process_time()
    assert wrong(text)
    assert time.process_time() - start < 4, "a second, on a machine that does nothing else"


@pytest.mark.parametrize("path", TEXTS, ids=lambda one: one.stem)
def test_a_text_that_is_nearly_right_is_read_or_told(path: object) -> None:
    text = next(one for one in TEXTS if one == path).read_text()
    draw = random.Random(len(text))
    for _ in range(40):
        at, count = draw.randrange(len(text)), draw.choice((0, 1, 5, 40))
        other = draw.choice(("", "", ";", "(", "}", "<", "float ", "0", "->", "\x80"))
        changed = text[:at] + other + text[at + count :]
        found = read_brook(SourceFile("k.br", changed))
        assert all(one.span is not None and one.rule == "BRK001" for one in found.findings)
        lower(found.program)


def test_every_mistake_is_told_once_however_many_kernels_call_it() -> None:
    text = "kernel float f(float x) { return y; }\n" + "".join(
        f"kernel void k{n}(out float o<>) {{ o = f({n}); }}\n" for n in range(3)
    )
    assert [(line, message) for line, _, message, _ in wrong(text)] == [(1, "'y' is not declared")]


def test_a_text_that_is_too_long_is_not_read() -> None:
    (finding,) = read_brook(SourceFile("k.br", " " * (5 << 20))).findings
    assert finding.rule == "INP003"
