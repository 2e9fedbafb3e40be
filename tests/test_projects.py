"""Real projects, the whole way: survey, port, patch, apply, build, the project's own tests, the referee."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Set
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec import Struct

from tests.failing_guards import count_guards, fail_guards
from tests.project.nvcc_stand_in import install
from tests.random_programs.acceptance import BESIDE, IDLE
from warpsmith.run.emulated.counts import read_counts

PROJECTS = Path(__file__).parents[1] / "examples" / "projects"


class Project(Struct, frozen=True):
    """An example: how it is built (`switch`: and what that takes to use the GPU), tested and run, what is hot, what the
    user grants, and how its time loop is run (`{}`: the number of steps, once each of `steps`). `guarded`: the hot
    loops whose guard fails in this program, so that the user's own run."""

    name: str
    configure: tuple[str, ...]
    build: tuple[str, ...]
    switch: tuple[str, ...]
    check: tuple[str, ...]
    target: str
    run: str
    hot: frozenset[str]
    granted: tuple[str, ...] = ()
    stepped: tuple[str, ...] = ()
    steps: tuple[int, int] = (3, 6)
    guarded: frozenset[str] = frozenset()


HEAT = Project(
    "heat",
    (),
    ("make", "-s", "CFLAGS=-O1"),
    ("WARPSMITH=1", "NVCC={nvcc}"),
    ("sh", "test.sh", "./heat"),
    "main",
    "--case cavity --nx 6 --ny 6 --steps 2 --report 1 --dye",
    frozenset({"predict_u/j", "predict_v/j", "solver_predict/j", "solver_temperature/j", "jacobi_sweep/j"})
    | {"color_sweep/j", "boundary_pressure/i", "solver_project/j", "wall_column/j", "solver_dye/j"},
    ("reachable(c)",),
    ("./heat --case cavity --nx 9 --ny 7 --steps {} --report 2 --dye", "./heat --method redblack --nx 9 --steps {}"),
)
PARTICLES = Project(
    "particles",
    ("cmake", "-S", ".", "-B", "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"),
    ("cmake", "--build", "build"),
    ("-DWARPSMITH=ON", "-DWARPSMITH_NVCC={nvcc}"),
    ("ctest", "--test-dir", "build"),
    "particles",
    "--side 3 --steps 2 --report 1 --cutoff 1.2",
    frozenset({"half_kick/i", "drift/for", "thermostat/i", "forces_compute/i", "kinetic_energy/i", "total_momentum/i"})
    | {"cells_sort/for", "cells_sort/for#2", "neighbours_build/for", "neighbours_stale/i", "histogram_speeds/i"}
    | {"positions_unwrapped/i", "mean_square_displacement/i", "density_add/i"},
    (),
    # without a report, and with one in the third step; steps without follow it, and the lists hold that long
    tuple(f"./build/particles --side 3 --steps {{}} --cutoff 1.2 --skin 0.5 --report {r}" for r in (0, 3)),
    (4, 5),
    # each row of the map is a block of its own
    frozenset({"density_add/i"}),
)
PIPELINE = Project(
    "pipeline",
    (),
    ("make", "-s", "CXXFLAGS=-O1", "pipeline", "build/tests"),
    ("WARPSMITH=1", "NVCC={nvcc}"),
    ("sh", "test.sh", "./pipeline", "build/tests"),
    "main",
    "--width 20 --height 13 --rounds 2",
    frozenset({"Blur::rows/y", "Blur::columns/y", "sharpen/y", "edges/k", "resample/y", "smooth/round/y", "gamma/k"})
    | {"equalize/k", "statistics/k", "statistics/k#2", "difference/y", "convolve<float,3>/y"}
    | {"convert<unsigned char,float>/k", "convert<float,unsigned char>/k", "Image<unsigned char>::invert/k"}
    | {"threshold<unsigned char>/for"},
    (),
    ("./pipeline --width 24 --height 16 --rounds {}",),
)


def warpsmith(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the tool as a user does."""
    command = [sys.executable, "-m", "warpsmith", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def build(project: Project, folder: Path, *more: str) -> None:
    """Build a project, with words for its first command."""
    first, *rest = filter(None, (project.configure, project.build))
    for command in ((*first, *more), *rest):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def passes_its_tests(project: Project, folder: Path, **environment: str) -> None:
    own = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    done = subprocess.run(project.check, cwd=folder, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file below `folder`."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def without_additions(text: bytes) -> bytes:
    """Return what a compiler sees that does not know WARPSMITH."""
    kept, depth, open_ = [], 0, 0
    for line in text.splitlines(keepends=True):
        if open_ or line.lstrip().startswith(b"WARPSMITH_ONLY("):
            open_ += line.count(b"(") - line.count(b")")
            continue
        if line.lstrip().startswith(b"#pragma"):
            line = line.replace(b" WARPSMITH_ONLY(if (!ws_on()))", b"")
        starts = line.startswith(b"#ifdef WARPSMITH") or (depth and line.startswith((b"#if", b"#ifdef", b"#ifndef")))
        depth += bool(starts)
        if not depth:
            kept.append(line)
        depth -= bool(depth and line.startswith(b"#endif"))
    return b"".join(kept)


def copied(project: Project, folder: Path) -> Path:
    unbuilt = shutil.ignore_patterns("build", project.name if project.name != "particles" else "build")
    return Path(shutil.copytree(PROJECTS / project.name, folder / project.name, ignore=unbuilt))


def database(project: Project, user: Path, scratch: Path) -> Path:
    """Survey the project while it is built; return what `port` reads."""
    saved = scratch / "compile_commands.json"
    cache, report = ("--cache-dir", str(scratch / "cache")), scratch / "survey.json"
    for command in filter(None, (project.configure,)):
        subprocess.run(command, cwd=user, capture_output=True, check=True)
    wanted = ("--json", "-o", str(report), "--save-commands", str(saved))
    done = warpsmith("survey", *cache, *wanted, "--", *project.build, cwd=user)
    assert done.returncode == 0, done.stderr
    surveyed = json.loads(report.read_text())
    assert surveyed["survey"]["total"] == sum(surveyed["survey"]["categories"].values()) == len(surveyed["loops"])
    return saved


def test_one_loop_of_a_project_becomes_a_patch_that_leaves_the_user_alone(tmp_path: Path) -> None:
    user = copied(HEAT, tmp_path / "user")
    given = user / "compile_commands.json"
    names = ("main", "config", "grid", "boundary", "solver", "poisson", "norms", "output")
    entries = [
        {"directory": str(user), "file": f"src/{n}.c", "command": f"cc -std=c11 -fopenmp -c src/{n}.c"} for n in names
    ]
    given.write_text(json.dumps(entries))
    before = tree(user)

    patch = tmp_path / "heat.patch"
    only = ("--loop", "src/poisson.c:32", "--verify", "off")
    done = warpsmith("port", "-p", str(given), *only, "--patch", str(patch), cwd=user)

    assert done.returncode == 0, done.stdout + done.stderr
    assert tree(user) == before
    subprocess.run(["git", "apply", str(patch)], cwd=user, check=True)
    ported = (user / "src" / "poisson.c").read_text()
    kernels = (user / "warpsmith" / "poisson_kernels.cu").read_text()
    assert "if (!ws_jacobi_sweep_1(" in ported and "__global__ void ws_jacobi_sweep_k1_kernel" in kernels
    assert "int ws_jacobi_sweep_1(" in kernels and "ws_jacobi_sweep_k1(" not in ported
    for path, text in before.items():
        if path.endswith((".c", ".h")):
            assert without_additions(tree(user)[path]) == text, path


def bulk_copies(project: Project, folder: Path, command: str, told: Path) -> int:
    """Run a project that was built on the emulation; return how many copies were of more than a few numbers."""
    own = {**os.environ, "OMP_NUM_THREADS": "1", "WARPSMITH_EMULATION_COPIES": str(told)}
    subprocess.run(command.split(), cwd=folder, env=own, capture_output=True, check=True)
    lines = [line.split(" ") for line in told.read_text().splitlines()]
    assert lines, f"{project.name} has copied nothing: was a kernel run?"
    return sum(int(count) for count, bytes, *_ in lines if int(bytes) > 64 * int(count))


def launched(told: Path, kernels: Path) -> set[str]:
    """Return the user's lines, as file:line, whose kernels have run: steps may have changed the names of the loops."""
    ran = {name.partition("<")[0] for name in read_counts(told).launches}
    texts = [path.read_text() for path in sorted(kernels.glob("*.cu"))]
    of_kernel = re.compile(r"^// (\S+:\d+): .+\n(?:template.*\n)?__global__ void (\w+)\(", re.MULTILINE)
    return {place for text in texts for place, kernel in of_kernel.findall(text) if kernel in ran}


def places(rows: list[dict[str, Any]], loops: Set[str]) -> set[str]:
    """Return where ported loops stand, as file:line; an instance of a template stands where the template does."""
    spans = {_of_template(row["id"]): row["span"] for row in rows if row["ported"]}
    return {f"{Path(span['file']).name}:{span['line']}" for loop in loops for span in [spans[_of_template(loop)]]}


def _of_template(loop: str) -> str:
    function, rest = loop.split("/", 1)
    return f"{re.sub(r'<.*>', '', function)}/{rest}"


def fail_some(folder: Path, share: float) -> None:
    """Make some of the guards fail that the generated files of a project have."""
    chosen = Random(share)
    texts = {file: file.read_text() for file in sorted(folder.glob("*_kernels.cu"))}
    assert sum(map(count_guards, texts.values())) > 5
    for file, text in texts.items():
        file.write_text(fail_guards(text, lambda: chosen.random() < share))
    assert any(file.read_text() != text for file, text in texts.items())


@pytest.mark.slow
@pytest.mark.parametrize("project", [HEAT, PARTICLES, PIPELINE], ids=lambda project: project.name)
def test_a_project_goes_the_whole_way(project: Project, tmp_path: Path) -> None:
    user = copied(project, tmp_path / "user")
    saved = database(project, user, tmp_path)
    passes_its_tests(project, user)
    before = tree(user)

    # the port, with the referee's word; the user's files stay as they are
    patch = tmp_path / "port.patch"
    place = ("-p", str(saved), "--target", project.target, "--patch", str(patch))
    granted = [word for assumption in project.granted for word in ("--assume", assumption)]
    done = warpsmith("port", *place, *granted, "--run-args", project.run, "--json", cwd=user)
    report = json.loads(done.stdout)
    # a run of one case leaves the regions of the others without a launch
    verified = report["verify"]
    doubts = {reason["rule"] for reason in verified["reasons"]}
    assert verified["status"] == "pass" or (
        verified["status"] == "undecided" and doubts <= IDLE | BESIDE | {"VER023"}
    ), doubts
    assert done.returncode == (0 if verified["status"] == "pass" else 3), done.stderr
    assert tree(user) == before

    # applied: the CPU build is what it was
    applied = copied(project, tmp_path / "applied")
    subprocess.run(["git", "apply", str(patch)], cwd=applied, check=True)
    listed = tomllib.loads((applied / "warpsmith" / "port.toml").read_text())
    loops = {loop for file in listed["file"] for loop in file["loops"]}
    assert project.hot <= loops
    for path, text in before.items():
        if path.endswith((".c", ".h", ".cpp", ".hpp")) and not path.startswith("build/"):
            assert without_additions((applied / path).read_bytes()) == text, path
    build(project, applied)
    passes_its_tests(project, applied)
    if not project.switch:
        return

    # the GPU build passes the project's tests, and with WARPSMITH_OFF=1 as well
    shutil.rmtree(applied / "build")
    nvcc = install(tmp_path / "bin")
    build(project, applied, *(word.format(nvcc=nvcc) for word in project.switch))
    told = tmp_path / "counts"
    passes_its_tests(project, applied, WARPSMITH_EMULATION_COUNTS=str(told))
    hot = places(report["loops"], project.hot - project.guarded)
    assert hot <= launched(told, applied / "warpsmith")
    told.unlink()
    passes_its_tests(project, applied, WARPSMITH_OFF="1", WARPSMITH_EMULATION_COUNTS=str(told))
    assert not told.exists()

    # no bulk copy stands in the time loop: twice the steps copy no more of them
    for command in project.stepped:
        few, many = (bulk_copies(project, applied, command.format(n), tmp_path / f"copies{n}") for n in project.steps)
        assert 0 < few == many, command

    # where guards fail, the user's own statements run beside kernels
    for share in (0.2, 0.5):
        fail_some(applied / "warpsmith", share)
        build(project, applied, *(word.format(nvcc=nvcc) for word in project.switch))
        passes_its_tests(project, applied)
