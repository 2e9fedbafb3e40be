"""Ports on a real GPU: they print what their originals print, and leave the same behind after every region."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.gpu.prepare import prepare, write_manifest, write_runtime
from benchmarks.gpu.programs import Program
from benchmarks.polybench.suite import FOLDER

from tests.gpu.device import answers

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = [
    *(Program(name, "example", (EXAMPLES / f"{name}.c",)) for name in ("gemm", "lu", "stages", "overlap", "saxpy")),
    *(
        Program(name, "polybench", (FOLDER / f"{name}.c",), ("-DSUITE_DUMP",))
        for name in ("2mm", "fdtd-2d", "nussinov")
    ),
]


@pytest.mark.gpu
def test_ports_do_what_their_originals_do(tmp_path: Path) -> None:
    write_runtime(tmp_path)
    rows = prepare(iter(PROGRAMS), tmp_path)
    assert all("builds" in row for row in rows)
    write_manifest(rows, tmp_path)
    found = {answer["name"]: answer for answer in answers("check", tmp_path) if "name" in answer}
    assert found.keys() == {program.name for program in PROGRAMS}
    for answer in found.values():
        assert answer["word"] in ("same", "tolerance"), answer
        assert answer["records"] > 0, answer
    assert found["stages"]["word"] == found["nussinov"]["word"] == "same"
