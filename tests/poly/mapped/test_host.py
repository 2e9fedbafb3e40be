"""What the host does: memory that ends, and sizes that change, while the device has a copy."""

from __future__ import annotations

import pytest

from tests.poly.mapped.programs import B_FROM_A, FOR, HEAD, SUM_B, TAIL
from tests.poly.mapped.test_judge import verdict
from warpsmith.base.verdict import Proved, Refuted

ENTER = "#pragma omp target enter data map(to: a[0:n], b[0:n])\n"
LEAVE = "#pragma omp target exit data map(from: b[0:n]) map(release: a[0:n])\n"
BODIES = {
    "freed before the exit": (f"{ENTER}{FOR}\n{B_FROM_A}\nfree(a);\n{LEAVE}{SUM_B}\na = malloc(8);", False),
    "freed after the exit": (f"{ENTER}{FOR}\n{B_FROM_A}\n{LEAVE}free(a);\n{SUM_B}\na = malloc(8);", True),
    "the size changes in between": (
        f"{ENTER}{FOR}\n{B_FROM_A}\nn /= 2;\n#pragma omp target update from(b[0:n])\nn = 16;\n{SUM_B}\n{LEAVE}", False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", BODIES)
def test_what_the_host_does_beside(title: str) -> None:
    body, right = BODIES[title]
    assert isinstance(verdict(HEAD + body + TAIL), Proved) == right


def test_memory_that_is_freed_early_is_named() -> None:
    found = verdict(HEAD + BODIES["freed before the exit"][0] + TAIL)
    assert isinstance(found, Refuted) and "a is freed in line" in found.reasons[0].text
