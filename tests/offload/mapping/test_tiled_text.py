"""Bodies with tiles, as text; what they compute is judged by tests/random_programs/test_tiled.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import analyzed
from tests.offload.hand import build_all
from warpsmith.base.verdict import Reason
from warpsmith.offload.fragments import OffloadRegion
from warpsmith.offload.mapping.own_variables import OwnVariables
from warpsmith.offload.mapping.tile_shape import TileBlock, TileShape
from warpsmith.offload.mapping.tiled_text import TiledBody, write_tiles
from warpsmith.offload.mapping.tiles import TileSearch, find_shared_reads
from warpsmith.tree.nodes import For
from warpsmith.tree.printing.printer import nothing, print_stmt
from warpsmith.tree.program import Axis

HEAD = (
    "void f(int n, int m, double C[restrict n][n], double A[restrict n][m], double B[restrict m][n],"
    " double *restrict x)\n"
)
_AXES: tuple[Axis, ...] = ("z", "y", "x")
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
LOOP = "for (int k = 0; k < m; k++) C[i][j] += A[i][k] * B[k][j];"


def write(
    text: str,
    folder: Path,
    block: tuple[int, int, int] = (16, 16, 1),
    width: int = 16,
    head: str = HEAD,
    *,
    doubled: bool = False,
    wide: int = 1,
) -> TiledBody | Reason:
    """Write the body of the first nest, all that may be shared in tiles, two for each read where they are `doubled`,
    `wide` elements a load, elements of C in memory."""
    program = analyzed(f"{head}{{\n{text}\n}}\n", folder)
    request = program.request()
    (draft, *_) = program.choice().drafts
    heads = tuple(f.loop for f in draft.loops if isinstance(f.loop, For))
    region = OffloadRegion((request.facts.function.body,), (draft,), (), ())
    found = find_shared_reads(TileSearch(request, region, draft, heads))
    assert isinstance(found, tuple)
    axes = _AXES[-len(heads) :]
    chosen = {one.loop: one.reads for one in found if one.reads}
    twice = frozenset(chosen) if doubled else frozenset()
    shape = TileShape(
        TileBlock(heads, axes, block), dict.fromkeys(chosen, width), chosen, twice, dict.fromkeys(chosen, wide)
    )
    return write_tiles(heads[-1].body, shape, found, OwnVariables(request, "ws_f_k1"))


def text_of(made: TiledBody | Reason) -> str:
    assert isinstance(made, TiledBody), made
    return " ".join(print_stmt(made.body, known=nothing).split())


def test_a_product(tmp_path: Path) -> None:
    made = write(f"{ROWS} {LOOP}", tmp_path)
    assert text_of(made) == (
        "{ for (long long k_first = 0; k_first < m; k_first += 16) {"
        " { const long long k_at = k_first + j_in;"
        " if (k_at < m && i < n) A_tile[i_in][j_in] = A[i][(int)k_at]; }"
        " { const long long k_at = k_first + i_in;"
        " if (k_at < m && j < n) B_tile[i_in][j_in] = B[(int)k_at][j]; }"
        " __syncthreads();"
        " if (inside) { const int k_last = (long long)m - k_first < 16 ? (int)((long long)m - k_first) : 16;"
        " for (int k_in = 0; k_in < k_last; k_in++) C[i][j] += A_tile[i_in][k_in] * B_tile[k_in][j_in]; }"
        " __syncthreads(); } }"
    )
    assert isinstance(made, TiledBody)
    assert [(symbol.name, axis) for symbol, axis in made.positions] == [("i_in", "y"), ("j_in", "x")]
    assert [symbol.name for symbol in made.shared] == ["A_tile", "B_tile"]


def test_rows_longer_or_shorter_than_the_block(tmp_path: Path) -> None:
    wide = text_of(write(f"{ROWS} {LOOP}", tmp_path, (32, 8, 1), 32))
    assert "for (int row = i_in; row < 32; row += 8) { const long long k_at = k_first + row;" in wide
    narrow = text_of(write(f"{ROWS} {LOOP}", tmp_path, (32, 8, 1), 8))
    assert "const int thread = i_in * 32 + j_in;" in narrow
    assert "const int row = thread / 8; if (row < 8) {" in narrow and "A_tile[row][thread % 8]" in narrow


def test_one_row_is_loaded_by_some_threads(tmp_path: Path) -> None:
    text = text_of(write(f"{ROWS} for (int k = 0; k < m; k++) C[i][j] += x[k];", tmp_path))
    assert "if (i_in < 1) { const long long k_at = k_first + j_in; if (k_at < m) x_tile[j_in] = x[(int)k_at]; }" in text


def test_blocks_of_a_triangle_without_threads_are_left_out(tmp_path: Path) -> None:
    text = text_of(write(f"for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) {LOOP}", tmp_path))
    assert text.startswith("{ if ((long long)(j - j_in) <= (long long)(i - i_in) + 15) for (long long k_first = 0;")


def test_threads_with_other_ends_share_the_loop_over_tiles(tmp_path: Path) -> None:
    loop = "for (int k = i; k <= i + 3; k++) C[i][j] += B[k][j];"
    text = text_of(write(f"{ROWS} {loop}", tmp_path))
    assert "for (long long k_first = (long long)(i - i_in); k_first < " in text
    assert "(long long)i < k_first ? 0 : (long long)i - k_first < 16 ? (int)((long long)i - k_first) : 16" in text


def test_a_counter_that_starts_elsewhere_may_wrap_around(tmp_path: Path) -> None:
    text = text_of(write(f"for (int i = m; i < n; i++) for (int j = 0; j < n; j++) {LOOP}", tmp_path, (32, 8, 1), 8))
    assert "const int i_at = (int)((unsigned int)i - i_in + row);" in text
    assert "i_at < n" in text and "i_at >= m" in text


def test_what_is_beside_the_loop_is_for_threads_inside(tmp_path: Path) -> None:
    body = "double s = x[i], t = 0; if (n > 3) { s += 1; for (int k = 0; k < m; k++) s += B[k][j]; } C[i][j] = s + t;"
    text = text_of(write(f"{ROWS} {{ {body} }}", tmp_path))
    assert text.startswith("{ double s = inside ? x[i] : 0, t = 0; const _Bool enters = inside && n > 3; {")
    assert "{ if (enters) s += 1; for (long long k_first" in text
    assert text.endswith("} } if (inside) C[i][j] = s + t; }") and "if (enters) { const int k_last" in text


def test_a_loop_around_it_is_gone_through_by_all(tmp_path: Path) -> None:
    body = "for (int t = 0; t < 3; t++) { C[i][j] *= 2; for (int k = 0; k < m; k++) C[i][j] += B[k][j]; }"
    text = text_of(write(f"{ROWS} {{ {body} }}", tmp_path))
    assert text.startswith("{ for (int t = 0; t < 3; t++) { if (inside) C[i][j] *= 2; for (long long k_first = 0;")


def test_the_counter_is_declared_where_it_is_named(tmp_path: Path) -> None:
    text = text_of(write(f"{ROWS} for (int k = 0; k < m; k++) C[i][j] += k * B[k][j];", tmp_path))
    assert "{ const int k = (int)(k_first + k_in); C[i][j] += k * B_tile[k_in][j_in]; }" in text


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (f"{{ if (n > m) {{ {LOOP} }} else C[i][j] = 0; }}", "parts that some threads leave out"),
        (f"{{ double s[2] = {{ x[i], 1 }}; {LOOP} C[i][j] += s[0]; }}", "s is more than a number"),
    ],
)
def test_what_cannot_be_written(body: str, why: str, tmp_path: Path) -> None:
    made = write(f"{ROWS} {body}", tmp_path)
    assert isinstance(made, Reason) and why in made.text


def test_three_axes(tmp_path: Path) -> None:
    head = "void f(int n, int m, double *restrict C, double *restrict A, double *restrict B)\n"
    nest = "for (int r = 0; r < n; r++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    loop = "for (int k = 0; k < m; k++) C[(r * n + i) * n + j] += A[(r * n + i) * m + k] * B[k * n + j];"
    made = write(f"{nest} {loop}", tmp_path, (8, 4, 2), 8, head)
    text = text_of(made)
    assert "A_tile[(r_in * 4 + i_in) / 4][(r_in * 4 + i_in) % 4][j_in]" in text
    assert "+= A_tile[r_in][i_in][k_in] * B_tile[k_in][j_in]" in text
    # one thread along z is no dimension
    flat = text_of(write(f"{nest} {loop}", tmp_path, (8, 8, 1), 8, head))
    assert "A_tile[i_in][k_in]" in flat and "r_in" not in flat


def test_in_the_kernels_own_names(tmp_path: Path) -> None:
    # the loop runs differently for neighbors: a thread has one iteration
    loop = "for (int k = i; k < n; k++) C[i][j] += B[k][j];"
    program = analyzed(f"{HEAD.replace('[m][n]', '[n][n]')}{{\n{ROWS} {loop}\n}}\n", tmp_path)
    (built,) = build_all(program.request(), program.choice()).values()
    kernel = built.fragment.kernel
    text = " ".join(print_stmt(kernel.body).split())
    assert "B_tile[i_in][j_in] = B_gpu[" in text and "C_value += B_tile[k_in][j_in]" in text
    assert kernel.inside is not None and len(kernel.shared) == 1 and kernel.locals == ()
