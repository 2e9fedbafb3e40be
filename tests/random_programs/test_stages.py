"""Data that stay on the device across straight-line code: random programs do what they did, seeded slips are seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.emit.changed_part import change_part
from tests.random_programs.acceptance import is_accepted
from tests.random_programs.seeded_data_regions import (
    freed_unseen,
    no_end_at_a_return,
    no_update_after_writes,
    no_update_before_reads,
)
from tests.random_programs.stage_programs import StageProgram, c_program, cxx_program
from warpsmith.flows import port as flow
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.offload.data import resident_regions
from warpsmith.offload.memory import presence
from warpsmith.offload.regions import coherence, data_regions, needs
from warpsmith.tree.nodes import DataEnter, DataRegionBoundary
from warpsmith.tree.walk import walk

Patch = pytest.MonkeyPatch
PROGRAMS = 15


def _ported(program: StageProgram, folder: Path, *, verify: bool = True) -> PortResult:
    path = folder / program.name
    path.write_text(program.text)
    return port([str(path)], PortOptions(verify=verify))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PROGRAMS))
@pytest.mark.parametrize("make", [c_program, cxx_program], ids=["c", "c++"])
def test_random_programs_do_what_they_did(make: Callable[[int], StageProgram], seed: int, tmp_path: Path) -> None:
    result = _ported(make(seed), tmp_path)
    assert is_accepted(result.verification), result.verification


@pytest.mark.slow
@pytest.mark.parametrize("make", [c_program, cxx_program], ids=["c", "c++"])
def test_most_random_programs_have_a_data_region(make: Callable[[int], StageProgram], tmp_path: Path) -> None:
    held = 0
    for seed in range(6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        held += _begins_data_region(_ported(make(seed), folder, verify=False), "run")
    assert held >= 5


def _begins_data_region(result: PortResult, name: str) -> bool:
    """Whether a data region begins in a function of the ported program."""
    assert result.ported is not None
    bodies = [f.body for _, f in result.ported.program.functions() if f.symbol.name == name]
    return any(isinstance(n, DataRegionBoundary) and n.opens for body in bodies for n in walk(body))


# --- seeded bugs

_C = """\
#include <stdio.h>
#include <stdlib.h>
static void fill(double *a, int n, double s) { for (int i = 0; i < n; i++) a[i] = s * i + 1; }
static void mix(double *restrict to, const double *restrict from, int n)
{
    for (int i = 0; i < n; i++) to[i] = 0.5 * from[i] + i;
}
static double sum(const double *a, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
static double peek(const double *a) { return a[3]; }
static int run(double **pa, double *b, int n)
{
    double *a = *pa;
    fill(a, n, 2.0);
    printf("%g %g\\n", a[5], peek(a));
    if (n > 1) {
        double small[4] = {1, 2, 3, 4};
        printf("%g\\n", peek(small));
    }
    a[6] = 77;
    mix(b, a, n);
    double *c = malloc(n * sizeof *c);
    mix(c, b, n);
    free(c);
    double *d = malloc(n * sizeof *d);
    for (int i = 0; i < n; i++) d[i] = i % 3 ? 2 : d[i > 2 ? i - 2 : 0] * 0 + 5;
    b[1] = d[4];
    a = realloc(a, 4096 * sizeof *a);
    printf("%g\\n", a[2]);
    mix(b, a, n);
    b[2] = sum(b, n);
    printf("%g %g\\n", d[3], d[n - 1]);
    free(d);
    *pa = a;
    if (n > 20)
        return 4;
    mix(a, b, n);
    return 0;
}
int main(void)
{
    int n = 32;
    double *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b);
    printf("%d\\n", run(&a, b, n));
    for (int i = 0; i < n; i++) printf("%g %g\\n", a[i], b[i]);
    free(a);
    free(b);
    return 0;
}
"""
_TAIL = """\
#include <stdio.h>
#include <stdlib.h>
static void fill(double *a, int n, double s) { for (int i = 0; i < n; i++) a[i] = s * i + 1; }
static double sum(const double *a, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
static void tail(double *b, int n)
{
    fill(b, n, 3.0);
    b[2] = sum(b, n);
}
int main(void)
{
    double *b = calloc(32, sizeof *b);
    tail(b, 32);
    for (int i = 0; i < 32; i++) printf("%g\\n", b[i]);
    free(b);
    return 0;
}
"""
_CXX = """\
#include <cstdio>
#include <stdexcept>
#include <vector>
class Row {
public:
    explicit Row(int n) : n_(n), data_(n)
    {
        if (n > 100)
            throw std::invalid_argument("long");
    }
    std::vector<double> &values() { return data_; }
    const std::vector<double> &values() const { return data_; }
private:
    int n_ = 0;
    std::vector<double> data_;
};
static void scale(Row &r)
{
    std::vector<double> &v = r.values();
    for (std::size_t i = 0; i < v.size(); i++) v[i] = 2 * v[i] + 1;
}
static void run(Row &x, int n)
{
    scale(x);
    Row y = x;
    scale(y);
    scale(x);
    { Row z(n); scale(z); scale(z); }
    std::printf("%g %g\\n", x.values()[2], y.values()[2]);
    x.values()[1] = 9;
    scale(x);
    Row never(4 * n);
    scale(never);
    scale(x);
}
int main()
{
    Row x(32);
    try { run(x, 32); } catch (const std::exception &e) { std::puts(e.what()); }
    for (double v : x.values()) std::printf("%g\\n", v);
    return 0;
}
"""


def _kept_without_being_watched(patch: Patch) -> None:
    patch.setattr(resident_regions, "DataEnter", lambda **parts: DataEnter(**{**parts, "watch": False}))


def _moved_without_coming_back(patch: Patch) -> None:
    change_part(
        patch, "heap.cu", ("ws_data_dies(start, (long long)bytes, 1);", "ws_data_dies(start, (long long)bytes, 0);")
    )


def _ends_before_what_is_sent(patch: Patch) -> None:
    real = coherence.Coherent.all
    patch.setattr(coherence.Coherent, "all", lambda self: {at: made[::-1] for at, made in real(self).items()})


def _absent_for_one_caller(patch: Patch) -> None:
    real = presence.find_short_lived

    def short_lived(*given: object, **named: object) -> dict[object, presence.Resident]:
        made = real(*given, **named)  # type: ignore[arg-type]
        return {f: presence.Resident(r.presence, r.short, r.absent | r.short, r.watched) for f, r in made.items()}

    patch.setattr(data_regions, "find_short_lived", short_lived)


def _copies_are_overlooked(patch: Patch) -> None:
    patch.setattr(needs.HostNeeds, "note_copy", lambda *_: None)


def _no_guard(patch: Patch) -> None:
    patch.setattr(data_regions, "is_guarded", lambda *_: False)
    patch.setattr(data_regions, "may_make_objects", lambda *_: True)


_BUGS: dict[str, tuple[str, Callable[[Patch], None]]] = {
    "no update before reads": (_C, no_update_before_reads),
    "no update after writes": (_C, no_update_after_writes),
    "no end at a return": (_C, no_end_at_a_return),
    "held past the end of memory": (_C, freed_unseen),
    "kept without being watched": (_C, _kept_without_being_watched),
    "moved without coming back": (_C, _moved_without_coming_back),
    "the run ends before what is sent": (_TAIL, _ends_before_what_is_sent),
    "absent for one caller": (_C, _absent_for_one_caller),
    "an object's copy is overlooked": (_CXX, _copies_are_overlooked),
    "no update after writes, objects": (_CXX, no_update_after_writes),
    "no guard": (_CXX, _no_guard),
}


def _program(text: str) -> StageProgram:
    return StageProgram("stages.cpp" if text is _CXX else "stages.c", text)


@pytest.mark.slow
@pytest.mark.parametrize("text", [_C, _TAIL, _CXX], ids=["c", "tail", "c++"])
def test_the_programs_without_a_bug_pass(text: str, tmp_path: Path) -> None:
    result = _ported(_program(text), tmp_path)
    assert is_accepted(result.verification), result.verification
    assert any(_begins_data_region(result, name) for name in ("run", "tail"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", sorted(_BUGS))
def test_seeded_bugs_are_seen(bug: str, tmp_path: Path, monkeypatch: Patch) -> None:
    text, plant = _BUGS[bug]
    plant(monkeypatch)
    # another port, in which sums keep their order, may do without what the bug breaks
    monkeypatch.setattr(flow, "_hangs_on_order", lambda *asked: False)
    result = _ported(_program(text), tmp_path)
    assert result.verification is not None
    assert result.verification.status == "fail"
