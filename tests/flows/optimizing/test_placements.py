"""Which placements of a nest are tried."""

from __future__ import annotations

from math import prod
from pathlib import Path

from msgspec.structs import replace

from tests.flows.optimizing.begun import PAIR, PRODUCT, begin
from warpsmith.flows.optimizing.placements import (
    blocks_of,
    can_move,
    filled_otherwise,
    halo_choices,
    inner_loops,
    list_axes,
    mapped,
    padded,
    probe,
    tile_choices,
    with_elements,
)
from warpsmith.flows.optimizing.setting import nests_of
from warpsmith.loops.step import step_text
from warpsmith.offload.plan import Fragment, HaloTiles

CUBE = """
static double u[64][64][64];
void cube(void) {
    for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) for (int k = 0; k < 64; k++) u[i][j][k] *= 0.5;
}
"""
SUM = """
static double x[9000];
double sum(void) { double s = 0; for (int i = 0; i < 9000; i++) s += x[i]; return s; }
"""


def nests(text: str, folder: Path) -> dict[str, Fragment]:
    return {nest.region: nest for nest in nests_of(begin(text, folder).root.planned.port)}


def test_all_axes_and_power_of_two_blocks_are_tried_the_own_first(tmp_path: Path) -> None:
    found = nests(PAIR, tmp_path)
    turn, line = found["turn/i"], found["scale/i"]
    assert list(list_axes(turn)) == [("y", "x"), ("x", "y")] and list(list_axes(line)) == [("x",)]
    blocks = list(blocks_of(turn))
    assert blocks[0] == turn.kernel.block and len(set(blocks)) == len(blocks)
    assert {prod(block) for block in blocks} == {64, 128, 256, 512} and min(block[0] for block in blocks) == 8
    assert set(blocks_of(line)) == {(64, 1, 1), (128, 1, 1), (256, 1, 1), (512, 1, 1)}
    (cube,) = nests(CUBE, tmp_path).values()
    assert len(list(list_axes(cube))) == 6
    assert {prod(block) for block in blocks_of(cube)} == {prod(cube.kernel.block)}


def test_a_mapping_without_tiles_says_so_of_each_inner_loop(tmp_path: Path) -> None:
    (nest,) = nests(PRODUCT, tmp_path).values()
    assert inner_loops(nest) == ("product/i/j/k",)
    steps = [step_text(step) for step in mapped(nest, ("x", "y"), (64, 2, 1))]
    assert steps == ["map=product/i,axes=x:y,block=64:2", "shared-tile=product/i/j/k,width=0"]
    line = nests(PAIR, tmp_path)["scale/i"]
    assert [step_text(step) for step in mapped(line, ("x",), (64, 1, 1))] == ["map=scale/i,axes=x,block=64"]


def test_tiles_have_one_iteration_a_thread_and_then_several(tmp_path: Path) -> None:
    (nest,) = nests(PRODUCT, tmp_path).values()
    first, *others = tile_choices(nest, inner_loops(nest))
    assert [step_text(step) for step in first.steps(nest)] == [
        "map=product/i,axes=y:x,block=16:8",
        "shared-tile=product/i/j/k",
        "register-tile=product/i/j/k,rows=1,columns=1",
    ]
    assert len({choice.block for choice in (first, *others)}) == 5 and not list(tile_choices(nest, ()))
    several = [step_text(steps[-1]) for steps in with_elements(nest, first)]
    assert "register-tile=product/i/j/k" in several and len(set(several)) == 5
    filled = [[step_text(step) for step in steps] for steps in filled_otherwise(first.steps(nest))]
    same = [step_text(step) for step in first.steps(nest)]
    two, *wide = "double-buffer=product/i/j/k", "vector-load=product/i/j/k", "vector-load=product/i/j/k,elements=4"
    assert filled == [[*same, two], *([*same, *more, one] for one in wide for more in ([], [two]))]
    rows = [step_text(steps[1]) for steps in padded(first.steps(nest))]
    assert rows == [f"shared-tile=product/i/j/k,padding={number}" for number in (1, 0)]
    assert not list(padded(mapped(nest, ("x", "y"), (64, 2, 1))))
    assert not list(filled_otherwise(mapped(nest, ("x", "y"), (64, 2, 1))))
    assert [step_text(step) for step in probe(nest, "product/i/j/k")] == [
        "map=product/i,axes=y:x,block=16:16",
        "shared-tile=product/i/j/k",
    ]


def test_halos_have_blocks_of_each_number_of_axes(tmp_path: Path) -> None:
    (nest,) = nests(CUBE, tmp_path).values()
    first, *_ = ([step_text(step) for step in steps] for steps in halo_choices(nest))
    assert first == ["map=cube/i,axes=z:y:x,block=32:4:2", "halo-tile=cube/i"]
    (inner,) = nests(PRODUCT, tmp_path).values()
    assert ["shared-tile=product/i/j/k,width=0" in map(step_text, steps) for steps in halo_choices(inner)] == [True] * 5


def test_what_combines_values_keeps_its_mapping(tmp_path: Path) -> None:
    (nest,) = nests(SUM, tmp_path).values()
    pair = nests(PAIR, tmp_path).values()
    assert not can_move(nest) and all(can_move(one) for one in pair)
    assert not any(can_move(replace(one, halos=(HaloTiles("x", (34,)),))) for one in pair)
