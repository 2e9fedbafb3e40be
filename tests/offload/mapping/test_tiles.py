"""Which reads the threads of a block may share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import analyzed
from warpsmith.base.verdict import Reason
from warpsmith.offload.fragments import OffloadRegion
from warpsmith.offload.mapping.tiles import LoopReads, TileSearch, array_of, find_shared_reads
from warpsmith.tree.nodes import For
from warpsmith.tree.printing.printer import print_expr, show_expression

HEAD = (
    "typedef unsigned char byte;\n"
    "void f(int n, int m, double C[restrict n][n], double A[restrict n][m], double B[restrict m][n],"
    " double P[restrict n][n], double *restrict x, const int *restrict q)\n"
)
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"


def find(text: str, folder: Path) -> tuple[LoopReads, ...] | Reason:
    program = analyzed(f"{HEAD}{{\n{text}\n}}\n", folder)
    request = program.request()
    (draft, *_) = program.choice().drafts
    heads = tuple(f.loop for f in draft.loops if isinstance(f.loop, For))
    region = OffloadRegion((request.facts.function.body,), (draft,), (), ())
    return find_shared_reads(TileSearch(request, region, draft, heads))


def reads(text: str, folder: Path) -> dict[str, tuple[str, str]]:
    """Return each element that may be shared with the counters that it is read by, and its condition."""
    found = find(text, folder)
    assert isinstance(found, tuple)
    return {
        show_expression(read.nodes[0]): (
            "".join(loop.variable.name for loop in read.by),
            "" if read.condition is None else " && ".join(sorted(print_expr(read.condition).split(" && "))),
        )
        for one in found
        for read in one.reads
    }


def reasons(text: str, folder: Path) -> list[str]:
    found = find(text, folder)
    return [found.text] if isinstance(found, Reason) else [reason.text for one in found for reason in one.refused]


def test_both_factors_of_a_product(tmp_path: Path) -> None:
    text = f"{ROWS} for (int k = 0; k < m; k++) C[i][j] += 3 * A[i][k] * B[k][j];"
    assert reads(text, tmp_path) == {"A[i][k]": ("ik", "i < n && k < m"), "B[k][j]": ("kj", "j < n && k < m")}


def test_rows_and_columns_of_one_array_in_a_triangle(tmp_path: Path) -> None:
    text = "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) for (int k = 0; k < m; k++)"
    found = reads(f"{text} C[i][j] += A[i][k] * A[j][k];", tmp_path)
    assert {name: by for name, (by, _) in found.items()} == {"A[i][k]": "ik", "A[j][k]": "jk"}


def test_ends_that_move_with_the_thread(tmp_path: Path) -> None:
    found = reads(f"{ROWS} for (int k = i + 1; k < n; k++) C[i][j] += P[k][j] * P[k][i];", tmp_path)
    assert found["P[k][j]"][0] == "kj" and found["P[k][i]"][0] == "ki"
    assert "i < k" in found["P[k][i]"][1] and "i" not in found["P[k][j]"][1]


def test_linear_subscripts_and_single_rows(tmp_path: Path) -> None:
    found = reads(f"{ROWS} for (int k = 0; k < m; k++) C[i][j] += x[i * m + k] + x[k];", tmp_path)
    assert {name: by for name, (by, _) in found.items()} == {"x[i * m + k]": "ik", "x[k]": "k"}


def test_a_loop_of_the_thread_around_it(tmp_path: Path) -> None:
    text = f"{ROWS} for (int t = 0; t < 3; t++) for (int k = 0; k < m; k++) C[i][j] += A[i][k] * x[t];"
    found = find(text, tmp_path)
    assert isinstance(found, tuple)
    (one,) = found
    assert [loop.variable.name for loop in one.around] == ["t"] and [array_of(r.nodes[0]) for r in one.reads] == ["A"]


def test_references_with_one_text_are_one_read(tmp_path: Path) -> None:
    found = find(f"{ROWS} for (int k = 0; k < m; k++) C[i][j] += A[i][k] * A[i][k];", tmp_path)
    assert isinstance(found, tuple) and [len(read.nodes) for read in found[0].reads] == [2]


REFUSED = [
    ("for (int k = m - 1; k >= 0; k--) C[i][j] += A[i][k];", "does not count up by one"),
    ("for (int k = 0; k < m; k += 2) C[i][j] += A[i][k];", "does not count up by one"),
    ("for (byte k = 0; k < 9; k++) C[i][j] += A[i][k];", "may wrap around"),
    ("for (long k = m; k < m + 4; k++) C[i][j] += A[i][k - m];", "may wrap around"),
    ("for (int k = 0; k < q[j]; k++) C[i][j] += A[i][k];", "how far the loop over k runs"),
    ("for (int k = 0; k < m; k++) { if (C[i][j] > 3) break; C[i][j] += A[i][k]; }", "may be left early"),
    ("{ int k; for (k = 0; k < m; k++) C[i][j] += A[i][k]; C[i][j] += k; }", "behind its loop is read"),
    ("{ int h = q[i]; for (int k = 0; k < m; k++) C[i][j] += A[h][k]; }", "parameters and counters alone"),
    ("for (int k = 0; k < m; k++) C[i][j] += x[q[k]];", "parameters and counters alone"),
    ("for (int t = 0; t < i; t++) for (int k = 0; k < m; k++) C[i][j] += A[i][k];", "runs differently in each thread"),
    ("for (int k = 0; k < m; k++) if (q[k]) C[i][j] += A[i][k];", "depends on data"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_what_stays_in_memory(text: str, why: str, tmp_path: Path) -> None:
    assert not set(reads(f"{ROWS} {text}", tmp_path)) - {"q[k]"}
    assert any(why in reason for reason in reasons(f"{ROWS} {text}", tmp_path)), reasons(f"{ROWS} {text}", tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "for (int k = 0; k < m; k++) C[i][j] += P[i][j];",  # moves with no iteration
        "for (int k = 0; k < m; k++) C[i][j] += x[(i * n + j) * m + k];",  # each thread has its own
    ],
)
def test_what_nobody_shares(text: str, tmp_path: Path) -> None:
    assert reads(f"{ROWS} {text}", tmp_path) == {} and reasons(f"{ROWS} {text}", tmp_path) == []


def test_threads_that_end_early_do_not_wait(tmp_path: Path) -> None:
    text = "{ if (P[i][j] > 1) continue; for (int k = 0; k < m; k++) C[i][j] += A[i][k]; }"
    assert "would not wait" in reasons(f"{ROWS} {text}", tmp_path)[0]


def test_threads_that_combine_values_walk(tmp_path: Path) -> None:
    text = "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) x[q[i]] += A[i][k];"
    assert "combine values" in reasons(text, tmp_path)[0]


def test_what_the_kernel_writes_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{ROWS} for (int k = 0; k < m; k++) C[i][j] += A[i][k];"
    from warpsmith.base.verdict import Unknown
    from warpsmith.offload.mapping import tiles

    asked = []

    def alone(question: object) -> Unknown:
        asked.append(question)
        return Unknown((Reason("STP001", "somebody writes it"),))

    monkeypatch.setattr(tiles, "is_alone", alone)
    assert reads(text, tmp_path) == {} and reasons(text, tmp_path) == ["somebody writes it"] and asked
