"""Every loop that has no kernel says why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.random_programs.tricky import tricky_program
from tests.sampling import one_in
from warpsmith.base.errors import InputError, RefusedError
from warpsmith.flows.port import PortOptions, port
from warpsmith.front.load import FrontOptions
from warpsmith.report.model import LoopEntry
from warpsmith.report.port.build import loop_entries
from warpsmith.report.port.staying import NOT_NAMED
from warpsmith.report.survey.model import PORTABLE

ROOT = Path(__file__).parents[3]
# what says no more than that a loop might run on the device
_GOOD_NEWS = "POR001"


def entries_of(path: Path, *arguments: str, loops: Sequence[str] = ()) -> tuple[LoopEntry, ...]:
    options = PortOptions(front=FrontOptions(arguments=arguments), verify=False, loops=tuple(loops))
    result = port([str(path)], options)
    return loop_entries(result.prepared, result.plan) if result.plan is not None else ()


def silent(entries: Sequence[LoopEntry]) -> list[str]:
    """Return the loops without a kernel of which nothing is said, or nothing but good news."""
    return [f"{e.span}: {e.id}: {e.category}" for e in entries if not e.ported and not _says_why(e)]


def _says_why(entry: LoopEntry) -> bool:
    # none of the programs is ported by the names of its loops
    if not entry.reasons or entry.reasons[0].text in ("", NOT_NAMED):
        return False
    return entry.category not in PORTABLE or entry.reasons[0].rule != _GOOD_NEWS


def why(entries: Sequence[LoopEntry]) -> dict[str, str]:
    return {e.id: e.reasons[0].text for e in entries if not e.ported}


def test_loops_inside_of_one_that_stays_say_so(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text("""void f(int n, double *restrict a, double b[8][4])
{
    for (int s = 0; s < n; s++)
        for (int t = 1; t < n; t++) {
            a[t] = a[t - 1] * b[0][0] + s;
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 4; j++)
                    b[i][j] += a[t];
        }
}
""")
    found = entries_of(path)
    assert silent(found) == []
    texts = why(found)
    assert "loops of the host would launch it" in texts["f/s/t/i"]
    assert texts["f/s/t/i/j"].startswith("it stays with the loop around it, at line 6: ")


def test_loops_that_nobody_asked_for_say_so(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text("""void f(int n, double *restrict a, double *restrict b)
{
    for (int i = 0; i < n; i++)
        a[i] = 1;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            b[k * n + j] = 1;
}
""")
    assert why(entries_of(path, loops=("f/i",))) == {"f/k": NOT_NAMED, "f/k/j": NOT_NAMED}
    found = entries_of(path, loops=("f/k/j",))
    assert why(found) == {"f/i": NOT_NAMED, "f/k": "it launches the kernel of the loop inside it, at line 6"}


def test_loops_outside_of_marked_regions_say_so(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text("""void f(int n, double *restrict a, double *restrict b)
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = 1;
#pragma endscop
    for (int k = 0; k < n; k++)
        b[k] = 1;
}
""")
    assert why(entries_of(path)) == {"f/k": "it is outside of the regions that pragmas mark"}
    assert why(entries_of(path, loops=("f/k",))) == {"f/i": NOT_NAMED}


def test_a_loop_stays_with_what_is_said_of_the_loop_inside(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text("""struct Near {
    int *list, *count;
};
struct Force {
    double energy, *force, *place, limit[4];
    template <int B> void half(Near &near, int n)
    {
        double *const f = force;
        const double *const x = place;
        double sum = 0;
        for (int i = 0; i < n; i++) {
            const int *const mine = &near.list[i * 8];
            const int count = near.count[i];
            double all = 0;
            for (int k = 0; k < count; k++) {
                const int j = mine[k];
                const double d = x[i] - x[j];
                if (d * d < limit[1]) {
                    all += d;
                    f[j] -= d;
                    if (B) sum += d * d;
                }
            }
            f[i] += all;
        }
        energy += sum;
    }
};
int main()
{
    Force *all = new Force;
    Near near = {new int[512](), new int[64]()};
    all->force = new double[64]();
    all->place = new double[64]();
    all->energy = all->limit[1] = 0;
    all->half<1>(near, 64);
    all->half<0>(near, 64);
    return (int)all->energy;
}
""")
    texts = list(why(entries_of(path)).values())
    assert (
        texts[0].startswith("it stays with the loop inside it, at line 15: 'this' is a struct")
        and NOT_NAMED not in texts
    )


def _c_files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.c*") if path.suffix in (".c", ".cpp"))


@pytest.mark.parametrize("seed", one_in(3, range(3)))
def test_no_loop_of_a_random_program_is_silent(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(tricky_program(seed, 6))
    assert silent(entries_of(path)) == []


@pytest.mark.slow
def test_no_loop_of_those_that_stay_is_silent() -> None:
    assert [text for path in _c_files("tests/loops/refused") for text in silent(entries_of(path))] == []


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["examples", "tests/cases", "benchmarks/polybench"])
def test_no_loop_of_a_program_is_silent(folder: str) -> None:
    read, found = 0, []
    for path in _c_files(folder):
        try:
            found += silent(entries_of(path, "-I", str(path.parent)))
            read += 1
        except (InputError, RefusedError):
            continue  # it needs what its project gives it
    assert read and found == []
