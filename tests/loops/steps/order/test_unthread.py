"""Regions run by one thread: the text is what it should be, and its loops' own pragmas are right on four threads."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.loops.steps.same_results import rewritten, verdict_of
from tests.poly.openmp import block_programs, sum_programs, team_programs
from tests.poly.openmp.team_programs import MANY, SHOW, region_program
from warpsmith.base.verdict import Proved, Unknown
from warpsmith.loops.steps.order import unthread
from warpsmith.loops.steps.order.unthread import Unthread
from warpsmith.tree.text.directives import Directive

ONE = team_programs.ONE | sum_programs.ONE | block_programs.ONE
COUNTED = region_program("""
    int threads = 1;
#pragma omp parallel num_threads(3)
    {
        int me = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
        if (me == 0)
            threads = omp_get_num_threads();
#pragma omp master
        {
            last = omp_get_num_threads();
            sum = a[n - 1] / last;
        }
    }
    count = threads * 10;
""")


def alone(title: str) -> str:
    """Return the program with one thread in place of its region's."""
    places = {"a time loop that all run": "region/t", "rows of parts, counted and added": "region/again/i",
              "rows of parts in one block": "region/again/i", "a loop shared in a function": "step/i",
              "functions of a time loop": "region/t", "own array of each step": "region/t",
              "own array, kept for all steps": "region/t", "own array, added under critical": "region/k",
              "own array in a function": "region/t", "parts of each step": "region/u"}  # fmt: skip
    return rewritten(ONE[title], Unthread(places.get(title, "region/i")))


def test_what_shares_work_goes_and_loops_keep_their_threads() -> None:
    text = alone("a time loop that all run")
    assert "omp parallel private(t, i)" not in text and "single" not in text
    assert text.count("#pragma omp parallel for\n") == 2


def test_functions_that_share_work_have_threads_of_their_own() -> None:
    text = alone("functions of a time loop")
    assert text.count("#pragma omp parallel for") == 3 and "single" not in text and "barrier" not in text
    assert "#pragma omp parallel for nowait" not in text and "#pragma omp for" not in text
    # the part that a critical section adds up is one thread's: its loop has no threads
    assert text.count("#pragma omp parallel for reduction(+ : most)\n") == 1
    assert "#pragma omp parallel for\n" in alone("a loop shared in a function")


def test_a_part_is_added_up_by_one_thread() -> None:
    text = alone("each thread's part is combined")
    assert "#pragma omp" not in text, "on threads of its own the loop would need a reduction"


def test_a_scratch_array_stays_private() -> None:
    assert "#pragma omp parallel for private(w)\n" in alone("a private scratch array")


def test_what_adds_to_a_threads_part_is_atomic() -> None:
    text = alone("each thread has a part of an array")
    assert "#pragma omp parallel for" in text and text.count("#pragma omp atomic\n") == 1
    text = alone("rows of parts in one block")
    assert text.count("#pragma omp atomic\n") == 2 and "part[0][k][j] +=" in text


def test_the_regions_reduction_goes_to_the_loop() -> None:
    assert "#pragma omp parallel for reduction(+: s)\n" in alone("the region's own reduction")


def test_a_region_that_needs_its_threads_is_left() -> None:
    assert isinstance(verdict_of(ONE["two pragmas, one loop"], Unthread("region/i")), Proved)
    verdict = verdict_of(MANY["a shared counter"][0] + SHOW, Unthread("region/i"))
    assert isinstance(verdict, Unknown)
    assert verdict.reasons[0].legal_if == ("private(count)", "omp single, master or critical around it")


def output(text: str, folder: Path, *flags: str) -> str:
    """Return what a region leaves behind, on four threads where `flags` ask for threads."""
    main = "int main(void) { region(); show(); return 0; }\n"
    without = "#ifndef _OPENMP\nint omp_get_thread_num(void) { return 0; }\n"
    without += "int omp_get_num_threads(void) { return 1; }\n"
    without += "void omp_set_num_threads(int n) { (void)n; }\n#endif\n"
    (folder / "p.c").write_text(text + SHOW + without + main)
    program = folder / "p"
    subprocess.run(["gcc", "-w", "-O0", *flags, str(folder / "p.c"), "-o", str(program)], check=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "4", "OMP_DYNAMIC": "false"}
    return subprocess.run([str(program)], check=True, capture_output=True, text=True, env=environment).stdout


@pytest.mark.slow
@pytest.mark.parametrize("title", ONE)
def test_four_threads_leave_the_same(title: str, tmp_path: Path) -> None:
    assert output(alone(title), tmp_path, "-fopenmp") == output(ONE[title], tmp_path)


@pytest.mark.slow
def test_a_number_that_is_kept_is_that_of_the_region(tmp_path: Path) -> None:
    text = rewritten(COUNTED, Unthread("region/i"))
    assert text.count("#pragma omp parallel num_threads(3)\n") == 2 and "#pragma omp master\n" in text
    assert output(text, tmp_path, "-fopenmp") == output(COUNTED, tmp_path, "-fopenmp")


def _keeps_every_pragma(patch: pytest.MonkeyPatch) -> None:
    def private(*given: object) -> tuple[object, ...]:
        return ()

    patch.setattr(unthread, "_private", private)


def _forgets_sums(patch: pytest.MonkeyPatch) -> None:
    def sums(team: object, directive: Directive, loop: object) -> list[object]:
        return []

    patch.setattr(unthread, "_sums", sums)


BUGS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], Callable[[], None]]] = {
    "private is forgotten": (_keeps_every_pragma, test_a_scratch_array_stays_private),
    "a part is raced for": (_keeps_every_pragma, test_a_part_is_added_up_by_one_thread),
    "the region's reduction is forgotten": (_forgets_sums, test_the_regions_reduction_goes_to_the_loop),
}


@pytest.mark.parametrize("bug", BUGS)
def test_seeded_bugs_are_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seed, check = BUGS[bug]
    seed(monkeypatch)
    with pytest.raises(AssertionError):
        check()
