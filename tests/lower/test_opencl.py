"""OpenCL C without a driver: every construct is modeled and runs; what is not modeled is said at its place."""

from __future__ import annotations

from pathlib import Path

from tests.lower.opencl_programs import PRELUDE, constructs, kernel, randoms
from tests.lower.pocl import interpreted, lowered, standard
from warpsmith.ssa.verify import faults

UNMODELED = {
    "groups": "oi[g] = work_group_reduce_add(in[g]);",
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
