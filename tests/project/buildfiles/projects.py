"""A project of two files with a build file, and what builds it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from warpsmith.project.buildfiles.makefile import MakeEdit

MAIN = "int solve(void);\nint main(void)\n{\n    return solve();\n}\n"
SOLVER = """#ifdef WARPSMITH
int on_gpu(void);
int solve(void) { return on_gpu(); }
#else
int solve(void) { return 3; }
#endif
"""
KERNELS = 'extern "C" int on_gpu(void) { return 5; }\n'
# what a compiler of kernels would do, with the same words
NVCC = """#!/bin/sh
for word; do case $word in -O3|-Xcompiler) ;; *) set -- "$@" "$word";; esac; shift; done
exec g++ -x c++ "$@"
"""


def run(command: Sequence[str], folder: Path) -> tuple[int, str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def project(folder: Path, makefile: str, name: str = "Makefile") -> Path:
    (folder / "warpsmith").mkdir(parents=True)
    for path, text in {"main.c": MAIN, "solver.c": SOLVER, "warpsmith/s.cu": KERNELS, name: makefile}.items():
        (folder / path).write_bytes(text.encode())
    nvcc = folder / "nvcc"
    nvcc.write_text(NVCC)
    nvcc.chmod(0o755)
    return folder


def apply(edit: MakeEdit, folder: Path) -> None:
    for path, text in edit.texts.items():
        (folder / path).write_bytes(text.encode("latin-1"))


def exit_code(folder: Path, *arguments: str) -> int:
    made = subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    return subprocess.run([str(folder / "prog")], check=False).returncode
