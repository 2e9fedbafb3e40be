"""The 33 programs: each is ported and verified, puts on the device what it is known to be able to, and what is said of
its loops is true."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from benchmarks.polybench.suite import SETS, odd, programs, region, sizes

from tests.benchmarks.categories import check_categories
from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith
from warpsmith.base.nvidia import has_nvrtc
from warpsmith.emit.host.cuda import emit_kernels
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions
from warpsmith.run.native.device_compile import compile_nvrtc

# Loops of the region that stay on the host, without the function's name: the sequential ones around kernels, and those
# whose counter became the sequential one after a step. Shorten it as more is ported.
HOST: dict[str, str] = {
    "2mm": "",
    "3mm": "",
    "adi": "t",
    "atax": "",
    "bicg": "",
    "cholesky": "i/j/k i/k",
    "correlation": "",
    "covariance": "",
    "deriche": "",
    "doitgen": "",
    "durbin": "k",
    "dynprog": "iter iter/i#2/j/k",
    "fdtd-2d": "t",
    "fdtd-apml": "",
    "floyd-warshall": "k",
    "gemm": "",
    "gemver": "",
    "gesummv": "",
    "gramschmidt": "k",
    "heat-3d": "t",
    "jacobi-1d": "t",
    "jacobi-2d": "t",
    "lu": "i/j/k i/j#2/k",
    "ludcmp": "i/j/k i/j#2/k i#2/j i#3",
    "mvt": "",
    "nussinov": "",
    "reg_detect": "t t/j#3",
    "seidel-2d": "",
    "symm": "",
    "syr2k": "",
    "syrk": "",
    "trisolv": "i/j",
    "trmm": "",
}


# Programs that are nothing without steps.
AFTER = ("floyd-warshall", "ludcmp", "nussinov", "seidel-2d", "trisolv")


def _port(path: Path, macros: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    given = [word for macro in macros for word in ("-D", macro)]
    run_guarded(warpsmith, ["port", str(path), "--all", "--json", *given])
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return document


def _check(path: Path, document: dict[str, object]) -> None:
    loops = document["loops"]
    assert isinstance(loops, list)
    inside = [loop for loop in loops if loop["span"]["line"] in region(path)]
    # No loop of the text is missing, and one that stays behind says why.
    text = path.read_text().splitlines()
    assert len(inside) == sum(len(re.findall(r"\bfor \(", text[line - 1])) for line in region(path))
    host = {loop["id"].partition("/")[2] for loop in inside if not loop["ported"]}
    assert host <= set(HOST[path.stem].split()), "a loop that could be ported stays on the host"
    for loop in inside:
        assert loop["ported"] or loop["category"] == "parallel" or loop["reasons"], loop["id"]
        assert all(reason["text"] for reason in loop["reasons"])
    if len(host) < len(inside):
        verify = document["verify"]
        assert isinstance(verify, dict)
        assert verify["status"] == "pass", verify


def test_the_suite_is_complete() -> None:
    assert {path.stem for path in programs()} == set(HOST)
    assert len(HOST) == 33
    for path in programs():
        given = [sizes(path, data_set) for data_set in SETS]
        assert all(each.keys() == given[0].keys() and each for each in given)
        assert all(size % 2 for size in odd(path).values())


@pytest.mark.slow
@pytest.mark.parametrize("macros", ["", "-DSUITE_FIXED_BOUNDS -DSUITE_FIXED_ARRAYS", "-DLARGE_DATASET -DSUITE_DUMP"])
def test_programs_build_without_warnings(macros: str) -> None:
    command = ["gcc", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *macros.split(), *map(str, programs())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# triangles and a reduction, a sequential loop around kernels: the others are like them
QUICK = {"fdtd-2d"}
PROGRAMS = [
    pytest.param(path, id=path.stem, marks=[] if path.stem in QUICK else [pytest.mark.slow]) for path in programs()
]


@pytest.mark.parametrize("path", PROGRAMS)
def test_ported_and_verified_at_odd_sizes(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results: list[PortResult] = []

    def kept(paths: Sequence[str | Source], options: PortOptions) -> PortResult:
        results.append(port(paths, options))
        return results[-1]

    monkeypatch.setattr("warpsmith.app.cli.commands.port.port", kept)
    macros = [f"{name}={size}" for name, size in odd(path).items()]
    document = _port(path, macros, capsys)
    _check(path, document)
    loops = document["loops"]
    assert isinstance(loops, list)
    check_categories(path, FrontOptions(arguments=tuple(f"-D{macro}" for macro in macros)), loops)
    if path.stem in AFTER:
        assert any(loop["category"] == "parallel-after" for loop in loops)
    _check_device_code(results[0])


def _check_device_code(result: PortResult) -> None:
    """Check that the kernels are device code, as another compiler sees it, where there is one."""
    assert result.ported is not None
    files = emit_kernels(result.program, result.ported.program)
    assert files
    for file in files if has_nvrtc() else ():
        for arch in ("sm_80", "sm_90"):
            assert compile_nvrtc(file.text, arch, file.path) is None


@pytest.mark.slow
@pytest.mark.parametrize("macros", [(), ("SUITE_FIXED_BOUNDS", "SUITE_FIXED_ARRAYS"), ("SUITE_FIXED_ARRAYS",)])
@pytest.mark.parametrize("path", programs(), ids=lambda path: path.stem)
def test_ported_and_verified_at_even_sizes(
    path: Path, macros: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    _check(path, _port(path, list(macros), capsys))
