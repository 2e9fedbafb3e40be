"""The classic algorithms of tests/cases: one launch a level, a pass or a merge step, and the same result."""

from __future__ import annotations

import struct
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.random_programs.replay import parse_witness
from tests.sampling import one_in
from warpsmith.base.verdict import Refuted
from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.porting.sources import sources_of
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.run.emulated.build import build_emulated, schedule_environment
from warpsmith.run.emulated.counts import read_counts
from warpsmith.run.native.tools import run_limited
from warpsmith.run.referee.reference import runtime_files
from warpsmith.simt.choose import EngineChoice, execute
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory

CASES = Path(__file__).parent / "cases"
# passes of a network of 2^6 elements: 1 + 2 + … + 6
LAUNCHES = [
    ("classic_bitonic_index.c", 21),
    ("classic_walsh_unsigned.c", 6),
    ("classic_batcher.c", 15),
    ("classic_fft_table.c", 5),
    ("classic_bitonic_pointers.c", 28),
    ("classic_walsh_nested.c", 6),
    ("classic_bitonic_macros.c", 21),
    ("classic_walsh_flat.c", 6),
    ("classic_fft_struct.c", 5),
    ("classic_sieve.c", 8),
    ("classic_sieve_function.c", 7),
    ("classic_batcher_unsigned.c", 21),
    ("classic_batcher_pointers.c", 21),
    ("classic_fft_halves.c", 6),
    ("classic_sieve_unsigned.c", 8),
    ("classic_batcher_main.c", 21),
    ("classic_fft_down.c", 6),
    ("classic_fft_flat.c", 6),
    ("classic_fft_outside.c", 6),
    ("classic_walsh_down.c", 6),
    ("classic_walsh_pairs.c", 6),
]
# kernels of a level each: the factors, the right side or the column, and rows and columns in two dimensions
ELIMINATIONS = [
    ("classic_gauss.c", {39: 8, 1: 2}),
    ("classic_lu_block.c", {23: 1, 1: 1}),
    ("classic_lu_pivot.c", {23: 3, 24: 1}),
]
# the elements that the iterations of a loop may touch: written, read
TOUCHED: dict[str, tuple[Callable[..., Iterable[int]], Callable[..., Iterable[int]]]] = {
    "reversal/i": (lambda i, n: {i, n - 1 - i}, lambda i, n: {i, n - 1 - i}),
    "neighbors/i": (lambda i, n: {i, i + 1}, lambda i, n: {i, i + 1}),
    "blocks/i": (lambda i, j, n: {16 * i + j, 16 * i + j + 8}, lambda i, j, n: {16 * i + j, 16 * i + j + 8}),
    "blocks/i/j": (lambda i, j, n: {16 * i + j, 16 * i + j + 8}, lambda i, j, n: {16 * i + j, 16 * i + j + 8}),
    "marks/m": (lambda m, n: {m}, lambda m, n: {m - 2}),
    "second_order/i": (lambda i, n: {i}, lambda i, n: {i - 1, i - 2}),
    "doubled/i": (lambda i, n: {2 * i}, lambda i, n: {i}),
    "rows_exchanged/i": (lambda i, n: {i, i - 1}, lambda i, n: {i, i - 1}),
    "knapsack/c": (lambda c, room: {c}, lambda c, room: {c, c - 3}),
    "row/j": (lambda j, m: {j}, lambda j, m: {j - 1}),
    "logistic/i": (lambda i, n: {0}, lambda i, n: {0}),
    "last_read/i": (lambda i, n: {0}, lambda i, n: {0}),
}


@pytest.mark.parametrize(("name", "launches"), one_in(12, LAUNCHES))
def test_the_inner_loops_are_one_launch_each(name: str, launches: int, tmp_path: Path) -> None:
    output, found = _ported(CASES / name, tmp_path)
    assert output == _original(CASES / name, tmp_path)
    # the kernels that fill or sum up run once
    assert found[-1] == launches, found
    assert all(count <= 2 for count in found[:-1]), found


@pytest.mark.slow
@pytest.mark.parametrize(("name", "launches"), ELIMINATIONS)
def test_a_level_of_an_elimination_is_a_few_launches(name: str, launches: dict[int, int], tmp_path: Path) -> None:
    output, found = _ported(CASES / name, tmp_path)
    assert output == _original(CASES / name, tmp_path)
    assert Counter(found) == launches


def test_each_near_miss_is_refused_with_two_iterations_that_meet() -> None:
    result = port([str(CASES / "classic_conflicts.c")], PortOptions(verify=False))
    functions = [function for _, function in result.program.functions()]
    seen = {loop.id: loop for function in functions for loop in result.facts.of(function).loops}
    assert seen.keys() == TOUCHED.keys()
    assert result.plan is not None and not result.plan.fragments
    for name, (writes, reads) in TOUCHED.items():
        dependence = seen[name].reasons[0].dependence
        assert isinstance(seen[name].verdict, Refuted) and dependence is not None, name
        witness = parse_witness(dependence.witness)
        (one, first), (two, second) = witness.first, witness.second
        at = witness.subscripts[0] if witness.subscripts else 0
        assert one != two and (first or second), name
        for iteration, write in ((one, first), (two, second)):
            assert at in (writes if write else reads)(*iteration, *witness.parameters.values()), (name, witness)


@pytest.mark.parametrize(
    ("key", "values"),
    one_in(
        2,
        [
            ("(i * 37 + 11) % 101", [(i * 37 + 11) % 101 for i in range(64)]),
            ("i % 2 ? 5 - i : i / 3", [5 - i if i % 2 else i // 3 for i in range(64)]),
        ],
    ),
)
def test_bitonic_from_c_and_the_kernels_of_the_manual_sort_alike(key: str, values: list[int], tmp_path: Path) -> None:
    text = (CASES / "classic_bitonic_index.c").read_text()
    assert "(i * 37 + 11) % 101" in text
    (tmp_path / "bitonic.c").write_text(text.replace("(i * 37 + 11) % 101", key))
    output, _ = _ported(tmp_path / "bitonic.c", tmp_path)
    unit = read_unit(KernelFile(str(CASES.parents[1] / "examples" / "manual" / "bitonic.cu")))
    assert isinstance(unit, KernelUnit)
    assert [int(word) for word in output.split()] == sorted(values)
    for kernel in ("branches", "operands", "selects"):
        assert _sort_with_kernel(unit, kernel, values) == sorted(values)


def _sort_with_kernel(unit: KernelUnit, kernel: str, values: list[int]) -> list[int]:
    """Return what a kernel that sorts a block's numbers makes of them."""
    memory = LaunchMemory()
    buffer = memory.allocate("data", struct.pack(f"<{len(values)}i", *values))
    arguments = {"data": struct.pack("<Q", buffer.address)}
    launch = Launch(block=(len(values), 1, 1), arguments=arguments, shared=4 * len(values))
    outcome = execute(unit.module, kernel, launch, memory, EngineChoice()).outcome
    assert outcome.complete and not outcome.problems, outcome.problems
    return list(struct.unpack(f"<{len(values)}i", bytes(buffer.data)))


def _original(path: Path, folder: Path) -> bytes:
    """Return what the user's program prints."""
    subprocess.run(["cc", "-O1", "-w", "-o", folder / "original", path, "-lm"], check=True)
    return run_limited([str(folder / "original")], folder).stdout


def _ported(path: Path, folder: Path) -> tuple[bytes, list[int]]:
    """Return what the port prints under the emulation, and how often each kernel was launched, rising."""
    result = port([str(path)], PortOptions(verify=False))
    assert result.ported is not None and result.plan is not None
    sources = sources_of(result.ported.program, result.files, captured=False)
    built = build_emulated(sources, folder / "build", extra_files=runtime_files())
    assert built.finding is None, built.finding
    counts = folder / "counts"
    environment = schedule_environment(0, folder / "reports", counts)
    output = run_limited([*built.command], folder, environment=environment).stdout
    return output, sorted(read_counts(counts).launches.values())
