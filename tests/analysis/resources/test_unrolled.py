"""Arrays that a compiler keeps in registers, and what is left of the loops that index them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lower.harness import lowered
from warpsmith.analysis.counts.kinds import block_kinds
from warpsmith.analysis.resources.registers import estimate_registers
from warpsmith.analysis.resources.unrolled import Unrolled, find_numbers, find_unrolled
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function


def kernel(body: str, folder: Path) -> Function:
    text = f"__global__ void k(float *p, int n) {{ {body} }}\n"
    return next(f for f in lowered(text, folder, "k.cu").module.functions if f.kernel)


def found(body: str, folder: Path) -> Unrolled:
    function = kernel(body, folder)
    return find_unrolled(function, Graph.of(function))


FILL = "float s[4]; for (int i = 0; i < 4; i++) s[i] = p[i];"
OUT = "for (int i = 0; i < 4; i++) p[i] = s[i];"


@pytest.mark.parametrize(
    ("body", "bytes_"),
    [
        (f"{FILL} {OUT}", 16),
        (f"{FILL} for (int k = 0; k < n; k++) for (int i = 3; i >= 0; i--) s[i] += p[k]; {OUT}", 16),
        (f"{FILL} for (unsigned i = 0; i != 4; i += 2) s[i + 1] = s[i]; {OUT}", 16),
        ("float s[2][3]; for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) s[i][j] = p[j];"
         " for (int i = 0; i < 6; i++) p[i] = s[i / 3][i % 3];", 24),
        # numbers are parts of the instructions that use them
        ("float w[4] = {1, 2, 4, 8}; for (int i = 0; i < 4; i++) p[i] *= w[i];", 0),
        ("float w[4]; for (int i = 0; i < 4; i++) w[i] = i * 2; for (int i = 0; i < 4; i++) p[i] *= w[i];", 0),
        ("float w[4] = {1, 2, 4, 8}; w[2] = p[9]; for (int i = 0; i < 4; i++) p[i] *= w[i];", 16),
        # an index that only the run tells, a loop that it ends, a place that goes elsewhere, a loop that is long
        (f"{FILL} p[0] = s[n];", 0),
        (f"{FILL} for (int i = 0; i < n; i++) p[i] = s[i];", 0),
        (f"{FILL} float *q = n > 3 ? s : p; for (int i = 0; i < 4; i++) p[i] = q[i];", 0),
        (f"{FILL} for (int i = 0; i < 4; i++) {{ if (p[i] > s[i]) break; p[i] = s[i]; }}", 0),
        ("float s[100]; for (int i = 0; i < 100; i++) s[i] = p[i]; for (int i = 0; i < 100; i++) p[i] = s[i];", 0),
        ("float s[300]; for (int i = 0; i < 4; i++) s[i] = p[i]; for (int i = 0; i < 4; i++) p[i] = s[i];", 0),
    ],
)  # fmt: skip
def test_arrays_in_registers(body: str, bytes_: int, tmp_path: Path) -> None:
    assert found(body, tmp_path).bytes == bytes_


def test_nothing_but_the_work_is_left_of_their_loops(tmp_path: Path) -> None:
    body = f"{FILL} for (int k = 0; k < n; k++) for (int i = 0; i < 4; i++) s[i] += p[k]; {OUT}"
    function = kernel(body, tmp_path)
    graph = Graph.of(function)
    made = find_unrolled(function, graph)
    assert len(made.ends) == 3 and {i.op for i in made.accesses} == {"load", "store"}
    kinds = block_kinds(function, graph)
    (inner,) = (b.name for b in function.blocks if any(i.op == "fadd" for i in b.instructions))
    # of the four copies of p[k] one is left
    assert dict(kinds[inner].instructions) == {"single": 1, "memory": 0.25}
    assert all("control" not in kinds[name].instructions for name in made.ends)


def test_they_take_registers(tmp_path: Path) -> None:
    few, many = (kernel(f"{FILL} {OUT}".replace("4", str(n)), tmp_path) for n in (4, 60))
    assert estimate_registers(many, Graph.of(many)) > estimate_registers(few, Graph.of(few)) + 50


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("for (int i = 3; i < 6; i++) p[i] /= 1.0f / (i - 1);", 1),
        ("for (int i = 3; i < n; i++) p[i] /= 1.0f / (i - 1);", 0),
        ("for (int i = 3; i < 600; i++) p[i] /= 1.0f / (i - 1);", 0),
        # 64 times 64 copies
        ("for (int i = 0; i < 64; i++) for (int j = 1; j < 65; j++) p[i] /= 1.0f / (i + j);", 0),
        ("for (int i = 0; i < 8; i++) for (int j = 1; j < 9; j++) p[i] /= 1.0f / (i + j);", 1),
    ],
)
def test_what_a_compiler_works_out_itself(body: str, known: int, tmp_path: Path) -> None:
    function = kernel(body, tmp_path)
    assert sum(i.op == "fdiv" for i in find_numbers(function, Graph.of(function))) == known
