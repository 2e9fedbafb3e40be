"""Random nests whose kernels have tiles, and threads several iterations: the kernels do what the functions do, bit for
bit, under every schedule.

`WARPSMITH_PROGRAMS=500 pytest -m slow tests/random_programs/test_tiled.py -k many` runs as many functions.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from math import prod
from pathlib import Path

import pytest

from tests.emit.changed_part import change_part
from tests.random_programs.seeded_iterations import BUGS as BUGS_OF_SEVERAL
from tests.random_programs.seeded_staged import BUGS as BUGS_OF_TWO
from tests.random_programs.seeded_staged import ELEMENTS
from tests.random_programs.seeded_tiles import BUGS
from tests.random_programs.seeded_wide import BUGS as BUGS_OF_WIDE
from tests.random_programs.several_iterations import want_one, want_padding, want_several, want_two_tiles, want_wide
from tests.random_programs.tiled_on_engine import Tiled, compare_tiled
from tests.random_programs.tiled_programs import (
    chosen_function,
    falling_function,
    program,
    random_functions,
    scaled_function,
)
from warpsmith.flows.port import PortOptions, port

BATCH = 12
REGISTERS = "-arch=sm_75"
"""Of kernels with two tiles for each read: elements wait in registers, and nothing is copied beside the threads."""
MANY = int(os.environ.get("WARPSMITH_PROGRAMS", "60"))


def _compared(count: int, folder: Path, *arguments: str, first: int = 0) -> Tiled:
    tiled = Tiled()
    for number in range(-(-count // BATCH)):
        functions = random_functions(first + number, min(count, BATCH))
        if count >= BATCH:
            functions += [falling_function("falling"), scaled_function("halved"), chosen_function("chosen")]
        compare_tiled(functions, folder, tiled, *arguments)
    return tiled


def test_kernels_with_tiles_do_what_functions_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    want_one(monkeypatch)
    tiled = _compared(3, tmp_path)
    assert not tiled.wrong, tiled.wrong[0]
    assert tiled.kernels == 2 and tiled.launches == 16


def test_kernels_with_two_tiles_a_read_do_what_functions_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    want_one(monkeypatch)
    want_two_tiles(monkeypatch)
    tiled = _compared(2, tmp_path, REGISTERS)
    assert not tiled.wrong, tiled.wrong[0]
    assert tiled.kernels == 1 and tiled.launches == 8


@pytest.mark.slow
@pytest.mark.parametrize("want", [want_one, want_several])
@pytest.mark.parametrize("arch", [REGISTERS, "-arch=sm_80"])
def test_many_kernels_with_two_tiles_a_read_do_what_functions_do(
    arch: str,
    want: Callable[[pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    want(monkeypatch)
    want_two_tiles(monkeypatch)
    tiled = _compared(MANY, tmp_path, arch)
    with capsys.disabled():
        print(f"\n{tiled.kernels} kernels with two tiles a read, {tiled.several} with several iterations a thread")
    assert not tiled.wrong, "\n\n".join(tiled.wrong[:3])
    assert tiled.kernels >= MANY // 3


@pytest.mark.slow
def test_threads_with_several_iterations_do_what_functions_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    want_several(monkeypatch)
    tiled = _compared(3, tmp_path)
    assert not tiled.wrong, tiled.wrong[0]
    assert tiled.several == 1 and tiled.launches == 16


@pytest.mark.slow
def test_many_threads_with_several_iterations_do_what_functions_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    want_several(monkeypatch)
    tiled = _compared(MANY, tmp_path)
    with capsys.disabled():
        print(f"\n{tiled.several} kernels of {tiled.kernels} with several iterations a thread")
    assert not tiled.wrong, "\n\n".join(tiled.wrong[:3])
    assert tiled.several >= MANY // 4


@pytest.mark.slow
def test_many_kernels_do_what_functions_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    want_one(monkeypatch)
    tiled = _compared(MANY, tmp_path)
    with capsys.disabled():
        print(f"\n{tiled.kernels} kernels with tiles, {tiled.launches} launches; without: {dict(tiled.left)}")
    assert not tiled.wrong, "\n\n".join(tiled.wrong[:3])
    assert tiled.kernels >= MANY // 3


@pytest.mark.slow
def test_ports_with_tiles_pass_the_referee(tmp_path: Path) -> None:
    path = tmp_path / "tiled.c"
    path.write_text(program(random_functions(0, 2 * BATCH)))
    result = port([str(path)], PortOptions(steps=False))
    assert result.plan is not None and result.verification is not None
    assert result.verification.status == "pass", result.verification.reasons
    assert sum(bool(fragment.tiles) for fragment in result.plan.fragments) >= BATCH // 2


@pytest.mark.slow
def test_ports_with_several_iterations_pass_the_referee(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    want_several(monkeypatch)
    path = tmp_path / "tiled.c"
    path.write_text(program(random_functions(0, BATCH)))
    result = port([str(path)], PortOptions(steps=False))
    assert result.plan is not None and result.verification is not None
    assert result.verification.status == "pass", result.verification.reasons
    assert sum(prod(fragment.kernel.elements) > 1 for fragment in result.plan.fragments) >= BATCH // 4


@pytest.mark.slow
@pytest.mark.parametrize("want", [want_one, want_several])
def test_ports_with_two_tiles_a_read_pass_the_referee(
    want: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    want(monkeypatch)
    want_two_tiles(monkeypatch)
    path = tmp_path / "tiled.c"
    path.write_text(program(random_functions(0, BATCH)))
    result = port([str(path)], PortOptions(steps=False))
    assert result.plan is not None and result.verification is not None
    assert result.verification.status == "pass", result.verification.reasons
    doubled = sum(any(one.doubled for one in fragment.tiles) for fragment in result.plan.fragments)
    assert doubled >= BATCH // 4


def test_neighbors_that_are_loaded_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    want_one(monkeypatch)
    want_wide(monkeypatch)
    tiled = _compared(2, tmp_path)
    assert not tiled.wrong, tiled.wrong[0]
    assert tiled.kernels == 1 and tiled.launches == 8


@pytest.mark.slow
@pytest.mark.parametrize("want", [want_one, want_several])
def test_rows_of_any_length(
    want: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for one in (want, want_padding, want_wide):
        one(monkeypatch)
    tiled = _compared(BATCH, tmp_path)
    assert not tiled.wrong, "\n\n".join(tiled.wrong[:3])
    assert tiled.kernels >= BATCH // 3


@pytest.mark.slow
@pytest.mark.parametrize("want", [want_one, want_several])
@pytest.mark.parametrize("more", [lambda _: None, want_two_tiles], ids=["one tile", "two tiles"])
def test_many_neighbors_that_are_loaded_at_once(
    more: Callable[[pytest.MonkeyPatch], None],
    want: Callable[[pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    for one in (want, more, want_wide):
        one(monkeypatch)
    tiled = _compared(MANY, tmp_path)
    assert not tiled.wrong, "\n\n".join(tiled.wrong[:3])
    assert tiled.kernels >= MANY // 3


@pytest.mark.slow
@pytest.mark.parametrize("more", [lambda _: None, want_two_tiles], ids=["one tile", "two tiles"])
def test_ports_that_load_neighbors_at_once_pass_the_referee(
    more: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for one in (want_several, more, want_wide):
        one(monkeypatch)
    path = tmp_path / "tiled.c"
    path.write_text(program(random_functions(0, BATCH)))
    result = port([str(path)], PortOptions(steps=False))
    assert result.verification is not None
    assert result.verification.status == "pass", result.verification.reasons
    assert any("tile_load" in file.text for file in result.files)


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS_OF_WIDE)
def test_wrong_neighbors_are_seen(bug: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (want_several if "rows" in bug else want_one)(monkeypatch)
    want_wide(monkeypatch)
    BUGS_OF_WIDE[bug](monkeypatch)
    assert _compared(BATCH, tmp_path).wrong


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS_OF_TWO)
def test_wrong_pairs_of_tiles_are_seen(bug: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    want_one(monkeypatch)
    want_two_tiles(monkeypatch)
    BUGS_OF_TWO[bug](monkeypatch)
    assert _compared(BATCH, tmp_path, REGISTERS).wrong


@pytest.mark.slow
@pytest.mark.parametrize("bug", ELEMENTS)
def test_elements_that_are_left_out_are_seen(bug: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    want_several(monkeypatch)
    want_two_tiles(monkeypatch)
    ELEMENTS[bug](monkeypatch)
    assert _compared(BATCH, tmp_path, REGISTERS).wrong


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("__pipeline_wait_prior(0);", ""),
        ("__pipeline_commit();", ""),
        ("__pipeline_memcpy_async(tile, from, sizeof(Element));", "(void)tile, (void)from;"),
    ],
)
def test_copies_that_do_not_arrive_are_seen(
    old: str, new: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    want_one(monkeypatch)
    want_two_tiles(monkeypatch)
    change_part(monkeypatch, "tile_copies.cu", (old, new))
    path = tmp_path / "tiled.c"
    path.write_text(program(random_functions(0, 4)))
    result = port([str(path)], PortOptions(steps=False))
    assert result.verification is not None and result.verification.status == "fail"


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS_OF_SEVERAL)
def test_wrong_iterations_are_seen(bug: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    want_several(monkeypatch)
    BUGS_OF_SEVERAL[bug](monkeypatch)
    assert _compared(BATCH, tmp_path).wrong


@pytest.mark.slow
def test_a_variable_of_two_iterations_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    want_several(monkeypatch)
    BUGS_OF_SEVERAL["two iterations share a variable"](monkeypatch)
    assert _compared(3, tmp_path).wrong


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_wrong_tiles_are_seen(bug: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    want_one(monkeypatch)
    BUGS[bug](monkeypatch)
    assert _compared(BATCH, tmp_path).wrong


@pytest.mark.slow
def test_a_tile_that_is_too_narrow_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    want_one(monkeypatch)
    BUGS["a tile one iteration too narrow"](monkeypatch)
    assert _compared(3, tmp_path).wrong
