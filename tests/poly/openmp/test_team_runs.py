"""The regions of team_programs.py, run: those that one thread may run leave the same behind on one thread and on four,
and the same as without OpenMP; the others do not."""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.poly.openmp import block_programs, sum_programs, team_programs
from tests.poly.openmp.team_programs import SHOW

ONE = team_programs.ONE | sum_programs.ONE | block_programs.ONE
MANY = team_programs.MANY | sum_programs.MANY | block_programs.MANY

# what is wrong here cannot be seen on every run, or needs no second thread to be wrong
UNSEEN = {"tasks", "a clause that is not known", "a shared counter", "a scratch array that crosses iterations",
          "private value read after the region", "another region leads to the function",
          "a loop shared in a function that is asked for a value", "a loop shared in a function that others may call",
          "a loop shared in a function that is known by its address"}  # fmt: skip
UNSEEN |= sum_programs.UNSEEN | block_programs.UNSEEN


@functools.cache
def outputs(kind: str) -> dict[str, tuple[str, str, str]]:
    """Return, by title, what a region prints without OpenMP, on one thread, and on four."""
    texts = ONE if kind == "one" else {title: text for title, (text, _) in MANY.items()}
    texts = {t: x.replace("allocate(a)", "") for t, x in texts.items()}
    calls = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for k, text in enumerate(texts.values()):
            renamed = f"#define region region{k}\n#define show show{k}\n{text}{SHOW}"
            (folder / f"p{k}.c").write_text(renamed)
            calls.append(k)
        declared = "".join(f"void region{k}(void); void show{k}(void);\n" for k in calls)
        head = "#include <stdio.h>\n#include <stdlib.h>\nvoid omp_set_num_threads(int n);\n"
        again = 'omp_set_num_threads(atoi(getenv("OMP_NUM_THREADS")))'
        chosen = "".join(f'puts("#"); {again}; region{k}(); show{k}();\n' for k in calls)
        alone = "#ifndef _OPENMP\nint omp_get_thread_num(void) { return 0; }\n"
        alone += "int omp_get_num_threads(void) { return 1; }\nvoid omp_set_num_threads(int n) { (void)n; }\n#endif\n"
        (folder / "main.c").write_text(f"{head}{alone}{declared}int main(void) {{\n{chosen}}}\n")
        found = [_run(folder, (), "1"), *(_run(folder, ("-fopenmp",), threads) for threads in ("1", "4"))]
    return {t: (x, y, z) for t, x, y, z in zip(texts, *found, strict=True)}


def _run(folder: Path, flags: tuple[str, ...], threads: str) -> list[str]:
    program = folder / ("threads" if flags else "plain")
    if not program.exists():
        files = sorted(str(f) for f in folder.glob("*.c"))
        subprocess.run(["gcc", "-w", "-O1", *flags, *files, "-o", str(program)], check=True)
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "OMP_DYNAMIC": "false"}
    shown = subprocess.run([str(program)], check=True, capture_output=True, text=True, env=environment).stdout
    return shown.split("#\n")[1:]


@pytest.mark.slow
@pytest.mark.parametrize("title", ONE)
def test_every_number_of_threads_leaves_the_same(title: str) -> None:
    plain, one, four = outputs("one")[title]
    assert plain == one == four


@pytest.mark.slow
@pytest.mark.parametrize("title", sorted(MANY.keys() - UNSEEN))
def test_what_is_refused_does_differ(title: str) -> None:
    plain, one, four = outputs("many")[title]
    assert len({plain, one, four}) > 1
