"""The buffers of an offload region: which section, which scope, which guards, and why there is none. Offload regions:
test_residency.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.data.test_residency import Placed, lines, placed, section
from warpsmith.offload.data.buffers import apart_text
from warpsmith.tree.types import DOUBLE, Pointer, Symbol

HEAD = "void unknown(void); static double table[50], *shared; static int at[9];\n"
ARGS = "int n, int m, int k, double *restrict a, double *restrict b, double *p, double *q, const int *restrict to"


def found(body: str, folder: Path) -> Placed:
    return placed(f"{HEAD}void f({ARGS}) {{ {body} }}", folder)


@pytest.mark.parametrize(
    ("body", "name", "expected"),
    [
        ("for (int i = 3; i < 40; i++) a[i] = 1;", "a", "3 .. 40"),
        ("for (int i = 0; i < 40; i++) a[i] = b[i + 2];", "b", "2 .. 42"),
        ("for (int i = 0; i < 40; i++) table[i] = 1;", "table", "0 .. 40"),
        # what nobody can bound is the whole object, or the block of memory
        ("for (int i = 0; i < 40; i++) a[i] = table[to[i]];", "table", "0 .. 50"),
        # under a condition there is nothing, or all
        ("for (int i = 1; i < n; i++) a[i] = 1;", "a", "1 .. n >= 2 ? (long long)n : 1"),
        ("double s = 0; for (int i = 0; i < 9; i++) s += a[i]; b[0] = s;", "s", "0 .. 1"),
    ],
)
def test_the_section_of_a_buffer(body: str, name: str, expected: str, tmp_path: Path) -> None:
    assert section(found(body, tmp_path).buffer(name)) == expected


def test_memory_of_which_nobody_knows_how_much_is_used_is_its_whole_block(tmp_path: Path) -> None:
    offload_region = found("for (int i = 0; i < n; i++) a[i] = b[to[i]];", tmp_path).offload_region
    block = next(one for one in offload_region.buffers if one.host.name == "b")
    assert block.allocation and not next(one for one in offload_region.buffers if one.host.name == "a").allocation
    assert any("b lies in a block of memory that the run time knows" in guard.text for guard in offload_region.guards)


@pytest.mark.parametrize(
    ("body", "pairs"),
    [
        ("for (int i = 0; i < n; i++) a[i] = b[i];", []),  # restrict
        ("for (int i = 0; i < n; i++) p[i] = q[i];", [("p", "q")]),
        ("for (int i = 0; i < n; i++) a[i] = p[i] + q[i];", []),  # only read
        ("for (int i = 0; i < 9; i++) p[i] = table[i];", [("p", "table")]),
        ("double local[9]; for (int i = 0; i < 9; i++) { local[i] = p[i]; } b[0] = local[2];", []),
    ],
)
def test_objects_that_may_be_one_are_guarded(body: str, pairs: list[tuple[str, str]], tmp_path: Path) -> None:
    texts = [guard.text for guard in found(body, tmp_path).offload_region.guards if "overlap" in guard.text]
    assert len(texts) == len(pairs)
    assert all(f" {one} " in text and f" {other} " in text for (one, other), text in zip(pairs, texts, strict=True))


def test_a_kernel_that_writes_all_of_its_buffer_covers_it(tmp_path: Path) -> None:
    def covered(body: str) -> set[str]:
        return {
            symbol.name
            for offload_region in found(body, tmp_path).placement.offload_regions
            for _, symbol in offload_region.covers
        }

    assert covered("for (int i = 0; i < n; i++) a[i] = b[i];") == {"a"}
    assert covered("for (int i = 0; i < n; i++) a[i] += b[i];") == set()
    assert covered("for (int i = 0; i < n; i++) if (i != k) a[i] = b[i];") == set()
    # one of two kernels writes a part
    assert covered("for (int i = 0; i < 40; i++) a[i] = 1; for (int i = 0; i < 9; i++) a[i] += 2;") == {"a"}
    # what it reads it has written before
    assert covered("for (int i = 0; i < n; i++) { a[i] = b[i]; a[i] = a[i] * 2; }") == {"a"}


def test_a_scope_begins_with_the_first_and_ends_with_the_last_kernel_that_uses_it(tmp_path: Path) -> None:
    body = " ".join(f"for (int i = 0; i < 9; i++) {done}" for done in ("a[i] = 1;", "b[i] = 2;", "b[i] += 1;"))
    made = found(body, tmp_path)
    assert lines(made.buffer("a").scope) == "for (int i = 0; i < 9; i++) a[i] = 1;"
    assert lines(made.buffer("b").scope).endswith("b[i] += 1;") and "b[i] = 2" in lines(made.buffer("b").scope)


def test_a_value_that_changes_between_kernels_does_not_bound_them_together(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) a[i] = 1; n = k; for (int i = 0; i < n; i++) a[i] += 1;"
    assert len(found(body, tmp_path).placement.offload_regions) == 2
    same = body.replace("n = k;", "unknown();")
    assert len(found(same, tmp_path).placement.offload_regions) == 1


def test_the_guard_in_words() -> None:
    a, b = (Symbol(n, n, Pointer(DOUBLE), "parameter") for n in "ab")
    assert apart_text(a, b) == "what is touched of a and of b does not overlap"
