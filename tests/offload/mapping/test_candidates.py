"""All mappings of a nest, scored: the first is what a port takes, and the tables' choice is the cheapest by them."""

from __future__ import annotations

import random
from itertools import permutations, product
from math import prod
from pathlib import Path

import pytest

from tests.offload.hand import load, request
from warpsmith.machine.lines import count_lines
from warpsmith.machine.tables import score_by_tables
from warpsmith.offload.mapping.candidates import ScoredMapping, best_by_tables, list_mappings
from warpsmith.offload.mapping.mapping import choose_mapping
from warpsmith.offload.mapping.profile import ProfiledReference, references
from warpsmith.offload.mapping.ranges import trip_count
from warpsmith.tree.nodes import For

STRIDES = (0, 1, 2, 4, -1, 7, None)


def nest(chance: random.Random, loops: int) -> tuple[list[ProfiledReference], list[int | None]]:
    """Return random references of a nest, and trip counts."""
    count = chance.randint(1, 4)
    found = [
        ProfiledReference(chance.choice([1, 4, 8, 24]), tuple(chance.choice(STRIDES) for _ in range(loops)),
                          chance.choice([1, 1, 64]))
        for _ in range(count)
    ]  # fmt: skip
    return found, [chance.choice([None, None, 3, 40]) for _ in range(loops)]


def cost_by_hand(found: list[ProfiledReference], one: ScoredMapping) -> float:
    """Return what the document adds up: the table's time of each reference as often as it is reached."""
    total = 0.0
    for reference in found:
        placed = sorted(zip(one.axes, reference.strides, strict=True))
        block = one.block[: len(placed)]
        line = max(1, 128 // reference.bytes)
        total += reference.weight * score_by_tables([stride for _, stride in placed], block, line).lines
    return total


@pytest.mark.parametrize("loops", [2, 3])
def test_the_tables_choice_is_the_cheapest_of_all_assignments_and_blocks(loops: int) -> None:
    chance = random.Random(loops)
    for _ in range(25 if loops == 2 else 4):
        found, trips = nest(chance, loops)
        mappings = list_mappings(found, trips, 256)
        blocks = [
            (256 // (y * z), y, z) for y, z in product([1 << k for k in range(9)], repeat=2) if 256 % (y * z) == 0
        ]
        blocks = [b for b in blocks if prod(b) == 256 and b[2] <= 64 and (loops == 3 or b[2] == 1)]
        every = {(axes, block) for axes in permutations("xyz"[:loops]) for block in blocks}
        assert {(one.axes, one.block) for one in mappings} >= every
        chosen = best_by_tables(mappings)
        assert chosen is not None
        best, ties = chosen
        costs = [cost_by_hand(found, one) for one in mappings]
        assert best.printed == pytest.approx(min(costs)) == pytest.approx(cost_by_hand(found, best))
        assert ties + 1 == sum(one.printed == best.printed for one in mappings)


def test_the_first_mapping_is_the_ports_and_the_tables_choice_is_that_of_its_model(tmp_path: Path) -> None:
    loops = "".join(f"for (int {v} = 0; {v} < n; {v}++) " for v in "ijl")
    texts = [f"{loops}B[i + {c} * j + l * n] = C[{d} * l + j * n] + B[i];" for c, d in ((4, 2), (1, 7), (9, 1))]
    texts += ["for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++) B[i + 4 * j] = C[i * n + 4 * j];"]
    for text in texts:
        program = load(f"void f(int n, double *B, double *C) {{ {text} }}", tmp_path)
        facts = request(program, "f", []).facts
        heads = [one.loop for one in facts.loops if isinstance(one.loop, For)]
        found, _ = references(facts.loops[0].accesses, heads, {})
        mappings = list_mappings(found, [trip_count(head, {}) for head in heads], 256)
        lines, tables = (
            choose_mapping(facts.loops[0].accesses, heads, 256, {}, model=model) for model in ("lines", "tables")
        )
        assert (mappings[0].axes, mappings[0].block) == (lines.axes, lines.block)
        chosen = best_by_tables(mappings)
        assert chosen is not None and (chosen[0].axes, chosen[0].block) == (tables.axes, tables.block)
        assert tables.model.printed == pytest.approx(chosen[0].printed) and lines.model.printed is None
        mistaken = {m.entry for m in tables.model.mistakes}
        assert mistaken == {s.table.entry.name for s in chosen[0].scores if s.table is not None and s.is_mistaken}


def test_scores_are_those_of_the_formula() -> None:
    found = [ProfiledReference(8, (None, 1), 1), ProfiledReference(4, (0, 2), 64)]
    first = next(one for one in list_mappings(found, [None, None], 256) if one.axes == ("y", "x"))
    for reference, score in zip(found, first.scores, strict=True):
        warp = [32 // min(32, first.block[0]), min(32, first.block[0])]
        assert score.sectors == count_lines(reference.strides, warp, 32 // reference.bytes)
        assert score.lines == count_lines(reference.strides, first.block[1::-1], 128 // reference.bytes) / 256


def test_what_the_count_of_lines_leaves_out_comes_last() -> None:
    mappings = list_mappings([ProfiledReference(8, (None, 1), 1)], [None, None], 256)
    counted = [one.counted for one in mappings]
    assert counted == sorted(counted, reverse=True) and counted.count(True) == 8
    assert all(one.counted == (one.block[0] >= 32) for one in mappings)


def test_one_loop_has_no_table() -> None:
    mappings = list_mappings([ProfiledReference(8, (1,), 1)], [None], 256)
    assert [(one.axes, one.block, one.printed) for one in mappings] == [(("x",), (256, 1, 1), None)]
    assert best_by_tables(mappings) is None and mappings[0].scores[0].table is None
