"""Generated code compiles everywhere: no new host warning, device code for two architectures, whole programs."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from warpsmith.base.nvidia import has_nvrtc
from warpsmith.emit.host.cuda import emit_cuda, emit_kernels
from warpsmith.flows.porting.prepare import plan_port
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.run.native.device_compile import compile_nvcc, compile_nvrtc, has_nvcc
from warpsmith.tree.program import Program

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.c"))
CASES = sorted((ROOT / "tests" / "cases").glob("*.c"))


def _is_ported(path: Path) -> bool:
    """Whether some loop becomes a kernel, as the file's own expectations or its report say."""
    report = ROOT / "examples" / "reports" / f"{path.stem}.txt"
    told = report if report.exists() else path
    if told is path:
        return re.search(r"EXPECT: \S+ \S+ ported", told.read_text()) is not None
    return "Nothing was ported" not in told.read_text()


PORTED = [path for path in (*EXAMPLES, *CASES) if _is_ported(path)]
# the others are built by the referee in tests/test_cases.py as well
QUICK = set(PORTED[::12])


def ported(path: Path) -> tuple[Program, Program]:
    """Return the original and the port."""
    program = load_program([str(path)], FrontOptions()).program
    facts = analyze(program, PolyOptions())
    _, written = plan_port(Prepared(facts, facts), None, OffloadOptions(), search=0, single_file=False)
    return program, written.port.program


def warnings(name: str, directory: Path) -> Counter[str]:
    command = ["gcc", "-Wall", "-Wextra", "-O2", "-c", name, "-o", "host.o"]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Counter(re.findall(r"\[(-W[\w=-]+)\]", done.stderr))


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [pytest.param(p, id=p.stem, marks=[] if p in QUICK else [pytest.mark.slow]) for p in PORTED]
)
def test_what_is_written_compiles(path: Path, tmp_path: Path) -> None:
    original, port = ported(path)
    written = emit_cuda(original, port)
    for file in written:
        (tmp_path / file.path).write_bytes(file.data())
    (tmp_path / "original.c").write_bytes(path.read_bytes())
    assert not warnings(path.name, tmp_path) - warnings("original.c", tmp_path)
    kernels = emit_kernels(original, port)
    assert kernels
    for file in kernels if has_nvrtc() else ():
        for arch in ("sm_80", "sm_90"):
            assert compile_nvrtc(file.text, arch, file.path) is None
    # its own headers take nvcc two seconds a file
    if path.stem in ("lu", "stages") and has_nvcc():
        assert compile_nvcc(written) is None


@pytest.mark.slow
@pytest.mark.skipif(not has_nvcc(), reason="nvcc is not installed")
@pytest.mark.parametrize("path", [path for path in PORTED if path in EXAMPLES], ids=lambda path: path.stem)
def test_nvcc_takes_the_examples(path: Path) -> None:
    assert compile_nvcc(emit_cuda(*ported(path))) is None
