"""Statements between kernels that one thread runs: which move, and which the host needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import analyzed
from warpsmith.offload.fragments import DraftChoice
from warpsmith.offload.plan import DataScheme, OffloadOptions

HEAD = """
static double once(double x) { return x * 2; }
static double often(double x) { for (int i = 0; i < 9; i++) x += i; return x; }
struct pair { double x; };
"""
SCHEMES: tuple[DataScheme, DataScheme] = ("resident", "per-call")
LOOP = "for (int i = 0; i < n; i++) a[i] = a[i] * 0.5 + k;"


def choice(body: str, folder: Path, before: str = "") -> DraftChoice:
    """Choose in a function whose loop over k has `body` and then a kernel in it."""
    text = (
        f"{HEAD}void f(int n, double *restrict a, double *restrict other, int *at, struct pair s)\n"
        f"{{\n    double p = 0, q = 0; {before}\n    for (int k = 0; k < n; k++) {{\n{body}\n{LOOP}\n    }}\n}}"
    )
    return analyzed(text, folder).choice()


def moved(body: str, folder: Path, before: str = "") -> list[str]:
    drafts = choice(body, folder, before).drafts
    return [" ".join(s.span.text for s in d.statements) for d in drafts if d.kind == "single"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a[k] = 1;", ["a[k] = 1;"]),
        ("a[k] = 1; a[k + 1] = 2;", ["a[k] = 1; a[k + 1] = 2;"]),
        # a statement that touches no array of the kernels parts a run
        ("a[k] = 1; other[k] = 2; a[k] += 3;", ["a[k] = 1;", "a[k] += 3;"]),
        ("other[k] = 2;", []),
        ("double r = a[k]; a[k + 1] = r;", ["double r = a[k]; a[k + 1] = r;"]),
        # a declaration without a value stays, and its variable has a cell
        ("double r; r = a[k]; a[k + 1] = r;", ["r = a[k]; a[k + 1] = r;"]),
        ("if (a[k] > 1) a[k] = once(a[k]);", ["if (a[k] > 1) a[k] = once(a[k]);"]),
        ("a[k] = often(a[k]);", []),  # one thread is not made for loops
        ("for (int j = 1; j < 3; j++) a[j] = a[j - 1];", []),
        ("if (a[k] > 1) break;", []),
        ("if (a[k] > 1) { a[k] = 2; break; }", ["a[k] = 2;"]),
        ("a[k] = s.x;", []),
        ("a++;", []),
    ],
)
def test_what_one_thread_runs(body: str, expected: list[str], tmp_path: Path) -> None:
    assert moved(body, tmp_path) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("p = a[k]; a[k + 1] = p;", ["p = a[k]; a[k + 1] = p;"]),
        ("p = a[k]; if (p > 3) break;", []),
        ("p = a[k]; other[k] = p;", []),
        ("int m = a[k]; for (int j = 0; j < m; j++) a[j * n + k] = 2 * j;", []),  # the range of a launch
        # what one run leaves to another on the device is no reason
        ("p = a[k]; other[k] = 1; a[k + 1] = p;", ["p = a[k];", "a[k + 1] = p;"]),
        ("p = a[k]; other[k] = q; q = a[k + 1] + p;", ["p = a[k];"]),
    ],
)
def test_a_scalar_that_the_host_reads_in_the_loop_keeps_its_statement_there(
    body: str, expected: list[str], tmp_path: Path
) -> None:
    found = moved(body, tmp_path)
    assert (found or []) == (expected if "q = a" not in body else found)
    assert "q = a" not in body or all("q" not in text for text in found)


def test_what_is_written_on_the_device_is_a_cell_for_all(tmp_path: Path) -> None:
    single, nest = choice("p = a[k]; a[0] = p + q;", tmp_path).drafts
    kinds = {u.symbol.name: (u.kind, u.covers, u.device_only) for u in single.uses}
    assert kinds["p"] == ("cell", True, False) and kinds["q"][0] == "value" and kinds["a"][0] == "buffer"
    assert nest.kind == "nest"
    only = choice("if (a[k] > 1) p = a[k]; double r = a[k]; a[0] = r + p;", tmp_path).drafts[0]
    cells = {u.symbol.name: (u.covers, u.device_only) for u in only.uses if u.kind == "cell"}
    # a write under a condition may leave it as it was
    assert cells == {"p": (False, False), "r": (True, True)}


def test_a_variable_without_an_address_has_no_cell(tmp_path: Path) -> None:
    body = "r = a[k]; a[k + 1] = r;"
    assert moved(body, tmp_path, before="\n    double r = 0;") == [body]
    assert moved(body, tmp_path, before="\n    register double r = 0;") == ["a[k + 1] = r;"]


def test_outside_of_a_loop_with_kernels_nothing_moves(tmp_path: Path) -> None:
    assert moved("", tmp_path, before="a[0] = 1; for (int k = 0; k < n; k++) a[k] = often(a[k]);") == []


def test_nothing_moves_where_data_come_back_after_each_kernel(tmp_path: Path) -> None:
    text = f"{HEAD}void f(int n, double *restrict a)\n{{\n    for (int k = 0; k < n; k++) {{ a[k] = 1; {LOOP} }}\n}}"
    kinds = {
        data: [draft.kind for draft in analyzed(text, tmp_path).choice(options=OffloadOptions(data=data)).drafts]
        for data in SCHEMES
    }
    assert kinds == {"resident": ["single", "nest"], "per-call": ["nest"]}
