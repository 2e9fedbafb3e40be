"""Which kernels read from tiles: by themselves, as steps ask, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from tests.offload.hand import build_all
from warpsmith.base.errors import RefusedError
from warpsmith.loops.place import LoopContext
from warpsmith.offload.decisions import decide
from warpsmith.offload.fragments import OffloadRequest
from warpsmith.offload.mapping.tiling import TilesRefusedError
from warpsmith.offload.names import Names
from warpsmith.offload.plan import Fragment, LoopTiles, OffloadOptions
from warpsmith.offload.selection.choice import choose
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.program import Decision

HEAD = (
    "void f(int n, int m, double C[restrict n][n], double A[restrict n][m], double B[restrict m][n],"
    " double *restrict x, const int *restrict q)\n"
)
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
PRODUCT = f"{ROWS} for (int k = 0; k < m; k++) C[i][j] += A[i][k] * B[k][j];"


def build(
    text: str,
    folder: Path,
    *decisions: tuple[str, int, tuple[str, ...]],
    device: str = "sm_80",
    elements: tuple[int, int] | None = None,
) -> Fragment:
    """Build the first kernel, with decisions (address, width, arrays) about its loops, and about its iterations."""
    given: Analyzed = analyzed(f"{HEAD}{{\n{text}\n}}\n", folder)
    program = given.program
    for address, width, arrays in decisions:
        place = LoopContext.of(program, address)
        program = decide(program, place, Decision(address, "f", "tiles", place.loop, width=width, arrays=arrays))
    if elements is not None:
        place = LoopContext.of(program, "f/i/j/k")
        program = decide(program, place, Decision("f/i/j/k", "f", "elements", place.loop, elements=elements))
    known = Summaries.of(program)
    request = OffloadRequest(
        program, given.facts["f"], OffloadOptions(device=device), PolyOptions(), Names(program).scope(), known
    )
    return next(iter(build_all(request, choose(request, {})).values())).fragment


def test_products_have_tiles_by_themselves(tmp_path: Path) -> None:
    made = build(PRODUCT, tmp_path)
    assert made.tiles == (LoopTiles("f/i/j/k", 16, ("A", "B")),)
    assert made.kernel.block == (16, 8, 1) and made.kernel.elements == (4, 8, 1) and made.model is not None


def test_tiles_that_a_step_asks_for_are_for_one_iteration_a_thread(tmp_path: Path) -> None:
    assert build(PRODUCT, tmp_path, ("f/i/j/k", 16, ())).kernel.elements == (1, 1, 1)


def test_a_step_says_how_many_iterations(tmp_path: Path) -> None:
    assert build(PRODUCT, tmp_path, elements=(2, 1)).kernel.elements == (1, 2, 1)
    one = build(PRODUCT, tmp_path, elements=(1, 1))
    assert one.kernel.elements == (1, 1, 1) and one.kernel.block == (16, 16, 1) and one.tiles
    both = build(PRODUCT, tmp_path, ("f/i/j/k", 8, ()), elements=(4, 2))
    assert both.kernel.elements == (2, 4, 1) and both.tiles[0].width == 8


def test_iterations_without_tiles_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TilesRefusedError, match="no tiles in shared memory"):
        build(PRODUCT.replace("A[i][k] * B[k][j]", "x[q[i]] * x[q[k]]"), tmp_path, elements=(2, 2))


def test_iterations_that_cannot_be_leave_the_tiles(tmp_path: Path) -> None:
    made = build(PRODUCT.replace("k < m", "k <= j"), tmp_path)
    assert made.tiles and made.kernel.elements == (1, 1, 1) and made.kernel.inside is not None


def test_sums_of_rows_have_none(tmp_path: Path) -> None:
    made = build("for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) x[i] += A[i][k];", tmp_path)
    assert made.tiles == () and made.kernel.inside is None and made.kernel.shared == ()


def test_a_step_says_how_wide_and_which(tmp_path: Path) -> None:
    made = build(PRODUCT, tmp_path, ("f/i/j/k", 8, ("B",)))
    assert made.tiles == (LoopTiles("f/i/j/k", 8, ("B",)),)
    assert [symbol.name for symbol in made.kernel.shared] == ["B_tile"]


def test_a_step_says_none(tmp_path: Path) -> None:
    made = build(PRODUCT, tmp_path, ("f/i/j/k", 0, ()))
    assert made.tiles == () and made.kernel.block == (64, 4, 1)


def test_other_loops_of_the_kernel_follow_the_steps(tmp_path: Path) -> None:
    sums = "for (int k = 0; k < m; k++) C[i][j] += A[i][k]; for (int l = 0; l < m; l++) C[i][j] += B[l][j];"
    text = f"{ROWS} {{ {sums} }}"
    assert [one.loop for one in build(text, tmp_path).tiles] == ["f/i/j/k", "f/i/j/l"]
    assert [one.loop for one in build(text, tmp_path, ("f/i/j/k", 0, ())).tiles] == ["f/i/j/l"]
    assert [one.loop for one in build(text, tmp_path, ("f/i/j/k", 16, ())).tiles] == ["f/i/j/k"]
    both = ("f/i/j/k", 16, ()), ("f/i/j/l", 8, ())
    with pytest.raises(TilesRefusedError, match="one width"):
        build(text, tmp_path, *both)


REFUSED = [
    (PRODUCT, 7, (), "do not fit"),
    (PRODUCT, 1024, (), "do not fit"),
    (PRODUCT, 16, ("C",), "no two threads of a block read the same element of C"),
    (f"{ROWS} for (int k = 0; k < m; k++) C[i][j] += x[q[i] + k];", 16, ("x",), "parameters and counters alone"),
    (f"{ROWS} for (int k = 0; k < q[i]; k++) C[i][j] += B[k][j];", 16, (), "how far the loop over k runs"),
    (f"{ROWS} {{ int k = 0; while (k < m) {{ C[i][j] += B[k][j]; k += 2 * k + 1; }} }}", 16, (), "only a counted loop"),
    (f"{ROWS} {{ if (n > m) {{ for (int k = 0; k < m; k++) C[i][j] += B[k][j]; }} else C[i][j] = 0; }}", 16, (),
     "some threads leave out"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "width", "arrays", "why"), REFUSED)
def test_what_a_step_cannot_have_is_refused(
    text: str, width: int, arrays: tuple[str, ...], why: str, tmp_path: Path
) -> None:
    address = "f/i/j/while" if "while" in text else "f/i/j/k"
    with pytest.raises(RefusedError, match=why):
        build(text, tmp_path, (address, width, arrays))


def test_loops_in_one_another_do_not_both_have_tiles(tmp_path: Path) -> None:
    text = f"{ROWS} for (int k = 0; k < m; k++) for (int l = 0; l < m; l++) C[i][j] += A[i][k] * B[l][j];"
    assert build(text, tmp_path, ("f/i/j/k", 16, ())).tiles == (LoopTiles("f/i/j/k", 16, ("A",)),)
    with pytest.raises(TilesRefusedError, match="a loop inside it has tiles"):
        build(text, tmp_path, ("f/i/j/k", 16, ()), ("f/i/j/k/l", 16, ()))


def test_a_kernel_that_may_have_none_stays_as_it_is(tmp_path: Path) -> None:
    text = f"{ROWS} {{ if (n > m) {{ for (int k = 0; k < m; k++) C[i][j] += A[i][k] * B[k][j]; }} else C[i][j] = 0; }}"
    made = build(text, tmp_path)
    assert made.tiles == () and made.kernel.inside is None
