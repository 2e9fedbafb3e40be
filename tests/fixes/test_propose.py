"""Fixes are edits of the user's text that hold: read and analyzed again, and run before and after on random inputs.

kernels.cu says on each line which rule has a fix there, whether it is safe, and what the line becomes. What is safe
gives the same bits; the rest gives nearly the same numbers.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from warpsmith.flows.explain import ExplainOptions
from warpsmith.flows.fix_files import Mended, fix_files
from warpsmith.kernels.shape import Launching
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.settings.read import Wanted, read_settings
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory

SOURCE = Path(__file__).parent / "kernels.cu"
BLOCK, GRID = (32, 8, 1), (1, 1, 1)
MARK = re.compile(r"  // (?P<rule>[A-Z]{3}\d{3}) (?P<safe>safe|unsafe): (?P<after>.*)$")
KERNEL = re.compile(r"^__global__ void (\w+)\(", re.MULTILINE)


def mended_text(text: str, *, unsafe: bool = True) -> Mended:
    settings = read_settings(Wanted({"jobs": 1, "min-certainty": "heuristic"}, None, files=False, environment=False))
    options = ExplainOptions(settings, Launching(BLOCK, GRID))
    return fix_files([KernelFile("k.cu", text=text)], options, unsafe=unsafe)


@cache
def mended() -> Mended:
    return mended_text(SOURCE.read_text())


def _bare(line: str) -> str:
    return MARK.sub("", line).strip()


def test_each_marked_line_becomes_what_it_says_and_no_other_changes() -> None:
    (edited,) = mended().edited
    before, after = SOURCE.read_text().splitlines(), edited.text.splitlines()
    wanted = [found["after"] if (found := MARK.search(line)) else line.strip() for line in before]
    assert [_bare(line) for line in after] == wanted


def test_fixes_are_as_safe_as_they_say() -> None:
    offered = {
        (edit.span.line, one.finding.rule): one.fix.safe
        for one in mended().before.findings
        if one.fix is not None
        for edit in one.fix.edits
    }
    wanted = {
        (number, found["rule"]): found["safe"] == "safe"
        for number, line in enumerate(SOURCE.read_text().splitlines(), 1)
        if (found := MARK.search(line))
    }
    assert offered == wanted


def _kernels(*, safe: bool) -> Iterator[str]:
    """Yield the kernels of which every fix is safe, or not every one."""
    parts = KERNEL.split(SOURCE.read_text())
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        marks = [found["safe"] == "safe" for line in body.splitlines() if (found := MARK.search(line))]
        if marks and all(marks) == safe:
            yield name


def _ran(unit: KernelUnit, kernel: str, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Return what a kernel leaves in `out`, for random numbers of both signs in `in`."""
    numbers = np.random.default_rng(seed)
    memory = LaunchMemory()
    room = 4096
    data = numbers.standard_normal(room).astype("<f4")
    out = memory.allocate("out", np.zeros(room, "<f4").tobytes())
    source = memory.allocate("in", data.tobytes())
    n, m = (int(number) for number in numbers.integers(-50, 50, 2))
    values = (
        struct.pack("<Q", out.address),
        struct.pack("<Q", source.address),
        struct.pack("<i", n),
        struct.pack("<i", m),
    )
    symbol = next(f for f in unit.module.functions if f.name == kernel)
    arguments = {parameter.name: value for parameter, value in zip(symbol.parameters, values, strict=True)}
    outcome = interpret(unit.module, kernel, Launch(GRID, BLOCK, arguments, seed=seed), memory)
    assert outcome.complete
    return np.frombuffer(bytes(out.data), "<f4").copy()


@cache
def _units() -> tuple[KernelUnit, KernelUnit]:
    found = [read_unit(KernelFile("k.cu", text=text)) for text in (SOURCE.read_text(), mended().edited[0].text)]
    before, after = (unit for unit in found if isinstance(unit, KernelUnit))
    return before, after


@pytest.mark.parametrize("kernel", list(_kernels(safe=True)))
def test_what_is_safe_gives_the_same_bits(kernel: str) -> None:
    before, after = _units()
    one = _ran(before, kernel, 1)
    assert one.any()
    assert one.tobytes() == _ran(after, kernel, 1).tobytes()


@pytest.mark.parametrize("kernel", [k for k in _kernels(safe=False) if not k.startswith("rest") and "flat" not in k])
def test_what_is_not_safe_gives_nearly_the_same_numbers(kernel: str) -> None:
    before, after = _units()
    one, other = _ran(before, kernel, 1), _ran(after, kernel, 1)
    assert one.any()
    np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize("kernel", ["rest_of_difference", "pad_flat_rows"])
def test_what_is_not_safe_may_give_other_results(kernel: str) -> None:
    before, after = _units()
    assert any(_ran(before, kernel, seed).tobytes() != _ran(after, kernel, seed).tobytes() for seed in range(4))


BARRIERS = """\
__global__ void hoisted(float *out, const float *in, int n, int m)
{
    __shared__ float s[32];
    int t = threadIdx.x;
    if (threadIdx.y == 0) {
        s[t] = in[t];
        __syncthreads();  // all of the block
    }
    out[blockIdx.x * 256 + threadIdx.y * 32 + t] = s[31 - t];
}

__global__ void removed(float *out, const float *in, int n, int m)
{
    float x = in[threadIdx.x];
    __syncthreads();
    __syncthreads();
    out[blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x] = x;
}
"""


def test_a_barrier_comes_out_of_a_branch_and_one_that_orders_nothing_goes() -> None:
    found = mended_text(BARRIERS)
    (edited,) = found.edited
    assert edited.text == BARRIERS.replace("        __syncthreads();  // all", "          // all").replace(
        "    }\n    out", "    }\n    __syncthreads();\n    out"
    ).replace("    __syncthreads();\n    __syncthreads();\n    out", "    out")
    assert found.applied == {"SYN001": 1, "SYN006": 2}
    assert not mended_text(BARRIERS, unsafe=False).edited
    before, after = (read_unit(KernelFile("k.cu", text=text)) for text in (BARRIERS, edited.text))
    assert isinstance(before, KernelUnit) and isinstance(after, KernelUnit)
    assert _ran(before, "removed", 3).tobytes() == _ran(after, "removed", 3).tobytes()
    assert _ran(after, "hoisted", 3).any()


def test_a_barrier_that_orders_two_accesses_stays_and_so_does_one_whose_move_makes_a_race() -> None:
    ordered = BARRIERS.replace("if (threadIdx.y == 0) ", "").replace("in[threadIdx.x]", "in[threadIdx.x]++ * 0")
    racing = BARRIERS.replace("__syncthreads();  // all of the block", "__syncthreads(); out[t] = s[31 - t];")
    for text in (ordered, racing):
        assert all("barrier" not in line for line in _changed(text, mended_text(text)) if "s[" in line)


def _changed(before: str, found: Mended) -> list[str]:
    return [line for edited in found.edited for line in edited.text.splitlines() if line not in before.splitlines()]
