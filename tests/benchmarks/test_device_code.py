"""The kernels of the 33 programs are device code, as another compiler sees it."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.polybench.suite import programs

from warpsmith.emit.cuda import emit_kernels
from warpsmith.flows.prepare import planned
from warpsmith.flows.select import select_loops
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.run.device_compile import compile_nvrtc, has_nvrtc


@pytest.mark.skipif(not has_nvrtc(), reason="needs the cuda extra")
@pytest.mark.parametrize("path", programs(), ids=lambda path: path.stem)
def test_kernels_are_device_code(path: Path) -> None:
    program = load_program([str(path)], FrontOptions()).program
    facts = Facts.about(program, PolyOptions())
    selected = select_loops(program, ())
    _, written = planned(Prepared(facts, facts), selected, OffloadOptions(), search=True, single_file=False)
    files = emit_kernels(program, written.port.program)
    assert files
    for file in files:
        for arch in ("sm_80", "sm_90"):
            assert compile_nvrtc(file.text, arch, file.path) is None
