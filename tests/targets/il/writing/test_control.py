"""Control flow: random kernels, and bugs that they show."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.targets.il.writing.agree import agree, written
from tests.targets.il.writing.seeded import BUGS, shows
from tests.targets.mask.kernel_text import kernel_of
from tests.targets.mask.random_kernels import exported_case, written_case
from tests.targets.mask.seeded import Bug
from warpsmith.ssa.nodes import Module
from warpsmith.targets.il.writing.export import write_il


def test_random_kernels_leave_the_same_memory() -> None:
    for seed in range(8):
        assert agree(exported_case(seed)) == ""


def test_so_they_do_by_the_letter() -> None:
    for seed in range(40):
        assert agree(exported_case(seed), letter=True) == ""
    assert agree(written_case(), letter=True) == ""


@pytest.mark.slow
def test_more_random_kernels_leave_the_same_memory() -> None:
    first = 1000 + int(os.environ.get("WARPSMITH_SEED", "0"))
    for seed in range(first, first + int(os.environ.get("WARPSMITH_PROGRAMS", "600"))):
        assert agree(exported_case(seed), letter=bool(seed % 2)) == ""


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.what)
def test_a_bug_shows(bug: Bug) -> None:
    assert not shows(bug, seeded=False)
    assert shows(bug)


def _lines(seed: int) -> list[str]:
    return written(exported_case(seed)).text.splitlines()


def test_random_kernels_have_all_forms() -> None:
    text = " ".join(line.strip().split(" ")[0] for seed in range(40) for line in _lines(seed))
    for form in ("whileloop", "break_logicalz", "break", "else", "if_logicalz", "endloop"):
        assert f" {form} " in text


def test_a_break_that_does_nothing_else_is_one_instruction(tmp_path: Path) -> None:
    body = "for (int k = 0; k < n; k++) {\n if (a[k] > 3)\n break;\n a[i + k] = k; }"
    text = write_il(Module(()), kernel_of(tmp_path, body)).text
    assert text.count("break_logicalz") == text.count("break_logicalnz") == 1
    assert "if_logical" not in text and " else" not in text
