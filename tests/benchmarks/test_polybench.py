"""The 33 programs: each is ported, verified, and puts on the device what it is known to be able to."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from benchmarks.polybench.suite import SETS, odd, programs, region, sizes

from warpsmith.app.cli.failure import run_guarded
from warpsmith.app.cli.main import warpsmith

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


def _port(path: Path, macros: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    run_guarded(warpsmith, ["port", str(path), "--json", *(word for macro in macros for word in ("-D", macro))])
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


@pytest.mark.parametrize("macros", ["", "-DSUITE_FIXED_BOUNDS -DSUITE_FIXED_ARRAYS", "-DLARGE_DATASET -DSUITE_DUMP"])
def test_programs_build_without_warnings(macros: str) -> None:
    command = ["gcc", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *macros.split(), *map(str, programs())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", programs(), ids=lambda path: path.stem)
def test_ported_and_verified_at_odd_sizes(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _check(path, _port(path, [f"{name}={size}" for name, size in odd(path).items()], capsys))


@pytest.mark.slow
@pytest.mark.parametrize("macros", [(), ("SUITE_FIXED_BOUNDS", "SUITE_FIXED_ARRAYS"), ("SUITE_FIXED_ARRAYS",)])
@pytest.mark.parametrize("path", programs(), ids=lambda path: path.stem)
def test_ported_and_verified_at_even_sizes(
    path: Path, macros: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    _check(path, _port(path, list(macros), capsys))
