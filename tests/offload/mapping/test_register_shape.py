"""How many iterations a thread has: by themselves, by the device, by sizes."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.offload.analyzed import analyzed
from warpsmith.offload.fragments import OffloadRegion
from warpsmith.offload.mapping.register_shape import RegisterSearch, choose_elements, find_misfit, is_straight
from warpsmith.offload.mapping.tile_shape import TileBlock, TileShape
from warpsmith.offload.mapping.tiles import TileSearch, find_shared_reads
from warpsmith.tree.nodes import For, Stmt
from warpsmith.tree.walk import loops

HEAD = (
    "void f(int n, int m, double C[restrict n][n], double A[restrict n][m], double B[restrict m][n],"
    " float D[restrict n][n], double *restrict x)\n"
)
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
SUM = "double s = 0; for (int k = 0; k < m; k++) s += A[i][k] * B[k][j]; C[i][j] = s;"


def shape_of(text: str, folder: Path) -> tuple[Stmt, TileShape]:
    """Return the body of the first nest, and tiles of 16 for blocks of 16 x 16."""
    program = analyzed(f"{HEAD}{{\n{text}\n}}\n", folder)
    request = program.request()
    (draft, *_) = program.choice().drafts
    heads = tuple(f.loop for f in draft.loops if isinstance(f.loop, For))
    region = OffloadRegion((request.facts.function.body,), (draft,), (), ())
    found = find_shared_reads(TileSearch(request, region, draft, heads))
    assert isinstance(found, tuple)
    chosen = {one.loop: one.reads for one in found if one.reads}
    block = TileBlock(heads, ("y", "x"), (16, 16, 1))
    return heads[-1].body, TileShape(block, dict.fromkeys(chosen, 16), chosen)


def chosen(
    text: str, folder: Path, *, device: str = "sm_80", sizes: dict[str, int] | None = None, fixed: bool = False
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Return the block and the iterations of a thread."""
    body, shape = shape_of(text, folder)
    made = choose_elements(RegisterSearch(body, device, sizes or {}, fixed), shape).block
    return made.block, made.elements


def test_a_product_has_eight_rows_and_four_columns(tmp_path: Path) -> None:
    assert chosen(f"{ROWS} {{ {SUM} }}", tmp_path) == ((16, 8, 1), (4, 8, 1))


def test_a_block_that_is_given_stays(tmp_path: Path) -> None:
    assert chosen(f"{ROWS} {{ {SUM} }}", tmp_path, fixed=True) == ((16, 16, 1), (4, 8, 1))


@pytest.mark.parametrize(("n", "several"), [(4000, (4, 8, 1)), (512, (2, 4, 1)), (100, (1, 1, 1))])
def test_enough_blocks_are_left(n: int, several: tuple[int, int, int], tmp_path: Path) -> None:
    block, elements = chosen(f"{ROWS} {{ {SUM} }}", tmp_path, sizes={"n": n, "m": n})
    covered = [threads * more for threads, more in zip(block, elements, strict=True)]
    assert elements == several or (-(-n // covered[0])) * -(-n // covered[1]) >= 108


def test_enough_blocks_are_left_of_a_triangle(tmp_path: Path) -> None:
    rows = "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++)"
    block, elements = chosen(f"{rows} {{ {SUM} }}", tmp_path, sizes={"n": 200, "m": 200})
    covered = [threads * more for threads, more in zip(block, elements, strict=True)]
    assert (-(-200 // covered[0])) * -(-200 // covered[1]) >= 108
    assert chosen(f"{rows} {{ {SUM} }}", tmp_path)[1] == (4, 8, 1)


@pytest.mark.parametrize(
    "body",
    [
        SUM.replace("s += A", "if (x[i] > 0) s += A"),
        SUM.replace("B[k][j]", "B[k][j] * x[i]"),
        SUM.replace("C[i][j] = s;", "for (int l = 0; l < 3; l++) C[i][j] += s;"),
        SUM.replace("C[i][j] = s;", "C[i][j] = s;" + "".join(f"C[i][j] += x[i] * {n};" for n in range(12))),
    ],
)
def test_long_bodies_stay_as_they_are(body: str, tmp_path: Path) -> None:
    assert chosen(f"{ROWS} {{ {body} }}", tmp_path)[1] == (1, 1, 1)


def test_what_does_not_fit(tmp_path: Path) -> None:
    body, shape = shape_of(f"{ROWS} {{ {SUM} }}", tmp_path)

    def misfit(block: tuple[int, int, int], elements: tuple[int, int, int]) -> str | None:
        return find_misfit(body, replace(shape, block=replace(shape.block, block=block, elements=elements)))

    assert misfit((16, 16, 1), (4, 8, 1)) is None and misfit((32, 16, 1), (1, 1, 1)) is None
    assert "at most 256 threads" in (misfit((32, 16, 1), (2, 2, 1)) or "")
    assert "48 KiB" in (misfit((16, 16, 1), (16, 16, 1)) or "")
    assert "registers" in (misfit((16, 8, 1), (8, 16, 1)) or "")


def test_straight_loops(tmp_path: Path) -> None:
    def straight(text: str) -> bool:
        body, _ = shape_of(f"{ROWS} for (int k = 0; k < m; k++) {text}", tmp_path)
        return is_straight(next(loop for loop, _ in loops(body) if isinstance(loop, For)))

    assert straight("C[i][j] += B[k][j];") and straight("{ double t = B[k][j]; C[i][j] += t; }")
    assert not straight("C[i][j] += B[k][j] > 0 ? B[k][j] : 0;")
    assert not straight("C[i][j] += B[k][j] > 0 && A[i][k] > 0;")
    assert not straight("if (x[k] > 0) C[i][j] += B[k][j];")
