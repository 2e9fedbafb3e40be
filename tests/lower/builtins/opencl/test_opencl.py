"""OpenCL C without a driver: every construct is modeled and runs; what is not modeled is said at its place."""

from __future__ import annotations

from pathlib import Path

from tests.lower.opencl_programs import PRELUDE, constructs, kernel, randoms
from tests.lower.pocl import interpreted, lowered, standard
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.machine.devices import device
from warpsmith.ssa.verify import faults

UNMODELED = {
    "copies": "local int tile[32]; async_work_group_copy(tile, in, 32, 0); oi[g] = tile[t];",
    "quotients": "int q; of[g] = remquo(fin[g], 3.0f, &q); oi[g] = q;",
}


def test_every_construct_is_modeled_and_runs(tmp_path: Path) -> None:
    given = {**constructs(), **randoms(range(3))}
    made = lowered("\n".join([PRELUDE, *given.values(), ""]), tmp_path)
    assert [f"{f.span}: {f.message}" for f in made.findings] == []
    assert [fault for function in made.module.functions for fault in faults(function)] == []
    found = {name: interpreted(made.module, standard(name)) for name in given}
    assert {name: text for name, text in found.items() if isinstance(text, str)} == {}


def test_what_is_not_modeled_is_said_where_it_stands(tmp_path: Path) -> None:
    text = "\n".join(["", *(kernel(name, body) for name, body in UNMODELED.items()), ""])
    made = lowered(text, tmp_path, "-cl-std=CL2.0")
    lines = text.splitlines()
    for name, body in UNMODELED.items():
        number = next(n for n, line in enumerate(lines, 1) if body in line)
        assert any(f.span is not None and f.span.line == number for f in made.findings), name
        function = made.module.function(name)
        assert function is not None
        assert any(i.op == "unmodeled" for _, i in function.instructions())


def test_what_an_image_gives_is_a_function_of_the_place(tmp_path: Path) -> None:
    text = """constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_FILTER_NEAREST;
kernel void k(read_only image2d_t from, sampler_t given, write_only image2d_t to, global float *o)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 mine = read_imagef(from, given, at), same = read_imagef(from, nearest, (int2)(3, 4));
    if (same.x > 2 && get_image_width(from) > 7) o[at.x] = mine.y;
    if (mine.x > 2) write_imagef(to, at, same);
}
"""
    made = lowered(text, tmp_path)
    assert not made.findings
    facts = examine(made.module, "k", LaunchShape((32, 2, 1)), device("sm_80"))
    assert [branch.warp for branch in facts.branches] == ["uniform", "uniform", "divergent"]
