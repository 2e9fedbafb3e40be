"""Objects on the stack that stay on the device: random programs do what they did, seeded slips are seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.emit.changed_part import change_part
from tests.emit.host_device import CALLERS
from tests.random_programs.acceptance import is_accepted
from tests.random_programs.seeded_data_regions import no_update_after_writes, no_update_before_reads
from tests.random_programs.stack_programs import stack_program
from warpsmith.emit.words import Support
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting.transfers import measured_copies
from warpsmith.offload.plan import DataRegion, OffloadOptions
from warpsmith.offload.regions import data_regions
from warpsmith.offload.regions import stack as data_region_stack
from warpsmith.poly.pointers.pointers import Root
from warpsmith.run.verification import VerifyOptions
from warpsmith.tree.nodes import Call

Patch = pytest.MonkeyPatch

PROGRAMS = 30


def _ported(text: str, folder: Path, *, verify: bool = True, precise_fp: bool = False) -> PortResult:
    path = folder / "stack.c"
    path.write_text(text)
    return port([str(path)], PortOptions(verify=verify, offload=OffloadOptions(precise_fp=precise_fp)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_programs_do_what_they_did(seed: int, tmp_path: Path) -> None:
    # records with numbers of several types are compared byte by byte: no sums in another order
    result = _ported(stack_program(seed), tmp_path, precise_fp=True)
    assert is_accepted(result.verification), result.verification


@pytest.mark.slow
def test_most_random_programs_keep_some_of_the_stack(tmp_path: Path) -> None:
    kept = 0
    for seed in range(8):
        folder = tmp_path / str(seed)
        folder.mkdir()
        text = next(f.text for f in _ported(stack_program(seed), folder, verify=False).files if f.path == "stack.c")
        kept += "_begin(WS_FRAME, &" in text
    assert kept >= 5


# --- seeded bugs

_RECORDS = """\
#include <stdio.h>
#include <stdlib.h>
typedef struct { double rate[8], level; } Knobs;
typedef struct { double first, second, third; } Limits;
static void halve(double *x, int n) { for (int i = 0; i < n; i++) x[i] = 0.5 * x[i] + 1; }
static void shape(double *x, const Knobs *k, int n)
{
    for (int i = 0; i < n; i++) x[i] = 0.25 * k->rate[i % 8] * x[i] + k->level;
}
static void learn(Knobs *k, const double *x)
{
    for (int i = 0; i < 8; i++) k->rate[i] = 0.5 * k->rate[i] + 0.25 * x[i];
}
static void set_up(Knobs *k)
{
    k->level = k->rate[0] = 0.5;
    for (int i = 1; i < 8; i++) k->rate[i] = k->rate[i - 1] + 0.125;
}
static void tune(Knobs *k, int t) { k->level = 0.5 * k->level + t; k->rate[t % 8] += 0.5; }
static void temper(Knobs *k) { k->level *= 0.75; }
static double level(const Knobs *k) { return k->level + k->rate[3]; }
static void spare(void) { double *w = malloc(80); w[3] = 1; free(w); }
static void briefly(double *x, int n, int t)
{
    Knobs mine = {{1, 2, 1, 2, 1, 2, 1, 2}, 0.25 * t};
    shape(x, &mine, n);
}
static void again(double *x, int n, int t)
{
    Knobs mine = {{2, 1, 2, 1, 2, 1, 2, 1}, 0.5 * t};
    for (int s = 0; s < 2; s++)
        shape(x, &mine, n);
}
void relax(double *x, Knobs *k, int n, Limits given)
{
    Knobs own;
    learn(k, x);
    set_up(&own);
    for (int t = 0; t < 4; t++) {
        shape(x, k, n);
        tune(k, t);
        shape(x, &own, n);
        own.level += 0.5 * t;
        temper(&own);
        shape(x, &own, n);
        halve(&given.second, 1);
        given.second += t;
        halve(&given.second, 1);
        printf("%.6f\\n", given.second);
        briefly(x, n, t);
        again(x, n, t);
        learn(&own, x);
        learn(k, x);
        printf("%.6f %.6f\\n", level(k), level(&own));
        spare();
    }
}
int main(int argc, char **argv)
{
    int n = 24;
    double *x = malloc(n * sizeof *x);
    Knobs k = {{0.5, 1, 0.5, 1, 0.5, 1, 0.5, 1}, 0.75};
    x[0] = 0.5;
    for (int i = 1; i < n; i++) x[i] = x[i - 1] > 2.0 ? 0.5 : x[i - 1] + 0.25;
    if (argc > 9)
        goto end;
    relax(x, &k, n, (Limits){3, 2, 1});
    if (argc > 8)
        goto end;
    again(x, n, 9);
end:
    printf("%.6f %.6f\\n", x[5], level(&k));
    free(x);
    return 0;
}
"""
_TWO_CALLERS = """\
#include <stdio.h>
#include <stdlib.h>
static double *seen;
static void scale(int n) { for (int i = 0; i < n; i++) seen[i] = 0.5 * seen[i] + i; }
static void relax(double *p, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        scale(n);
        p[1] = p[1] + 3.0;
        scale(n);
    }
}
static void inner(int n)
{
    for (int t = 0; t < 2; t++) {
        double w[32];
        for (int i = 0; i < 32; i++) w[i] = i + t;
        relax(w, n, 2);
        printf("%g\\n", w[3]);
    }
}
static void once(double *h)
{
    if (h == NULL)
        goto end;
    relax(h, 32, 3);
end:;
}
int main(void)
{
    double *h = malloc(32 * sizeof *h);
    seen = h;
    h[0] = 3;
    for (int i = 1; i < 32; i++) h[i] = (int)(h[i - 1] * 7 + 3) % 11;
    once(h);
    printf("%g\\n", h[1]);
    inner(32);
    printf("%g %g\\n", h[1], h[5]);
    free(h);
    return 0;
}
"""


_STEPS = """\
#include <stdio.h>
#include <stdlib.h>
typedef struct { double rate[8], level; } Knobs;
static void shape(double *x, const Knobs *k, int n)
{
    for (int i = 0; i < n; i++) x[i] = 0.25 * k->rate[i % 8] * x[i] + k->level;
}
static void spare(void) { double *w = malloc(80); w[3] = 1; free(w); }
void relax(double *line, const Knobs *k, int n, int steps)
{
    double mine[40];
    Knobs own = {{1, 2, 1, 2, 1, 2, 1, 2}, 0.5};
    for (int i = 0; i < n; i++) mine[i] = i;
    for (int t = 0; t < steps; t++) {
        shape(line, k, n);
        shape(mine, &own, n);
        spare();
    }
    printf("%g\\n", mine[3]);
}
int main(int argc, char **argv)
{
    double line[40] = {1, 2, 3};
    Knobs k = {{0.5, 1, 0.5, 1, 0.5, 1, 0.5, 1}, 0.75};
    if (argc > 9)
        goto end;
    relax(line, &k, 40, STEPS);
end:
    printf("%g %g\\n", line[5], line[39]);
    return 0;
}
"""


@pytest.mark.slow
def test_the_stack_is_copied_once_however_long_a_data_region_lasts(tmp_path: Path) -> None:
    moved = []
    for steps in ("2", "7"):
        result = _ported(_STEPS.replace("STEPS", steps), tmp_path)
        assert is_accepted(result.verification), result.verification
        assert result.ported is not None
        counted = measured_copies(result.ported, result.files, VerifyOptions())
        assert counted is not None
        moved.append(sum(one.count for one in counted.values()))
    # in: line, k, own; out: line, mine
    assert moved == [5, 5] or not CALLERS


def _taken_for_never_kept(patch: Patch) -> None:
    """Host code does without updates of objects that the run time keeps."""
    patch.setattr(data_regions, "find_kept_by_functions", lambda *_: ())


def _parameters_are_never_kept(patch: Patch) -> None:
    """A parameter that lies behind the frame is taken for memory that is never kept."""
    patch.setattr(
        data_regions,
        "find_kept_by_functions",
        lambda found: (symbol for data_region in found for symbol in data_region.lasting),
    )


def _kept_only_at_the_end(patch: Patch) -> None:
    """All calls are taken for ones in front of the first that hands an object to a kernel."""
    real = data_region_stack.find_not_yet_kept

    def not_yet_kept(found: Sequence[DataRegion], *rest: object) -> dict[Call, frozenset[Root]]:
        told = frozenset(Root("object", symbol) for data_region in found for symbol in data_region.lasting)
        return dict.fromkeys(real(found, *rest), told)  # type: ignore[arg-type]  # handed on as it came

    patch.setattr(data_regions, "find_not_yet_kept", not_yet_kept)


def _regions_begin_in_regions_alone(patch: Patch) -> None:
    """Of functions with data regions only the callers that hold already are asked what they hand over."""
    patch.setattr(data_regions, "outermost", lambda *_: frozenset())


def _callees_are_callers(patch: Patch) -> None:
    """The stack of the callers begins far below the frame of the function that begins the data region."""
    frame = property(lambda self: "(char *)__builtin_frame_address(0) - 4096")
    patch.setattr(Support, "frame", frame)


def _in_all_data_regions(patch: Patch) -> None:
    """Functions that hold inside a data region tell of their own objects."""
    change_part(patch, "watched.cu", (" || ws_opened != 1)", ")"))


def _all_is_kept(patch: Patch) -> None:
    """Nobody asks whether memory outlives the data region."""
    change_part(patch, "present.cu", ("!ws_allocation_watch(host) && !ws_outlives(begin, end)", "false"))


_BUGS: dict[str, tuple[str, Callable[[Patch], None]]] = {
    "taken for never kept": (_RECORDS, _taken_for_never_kept),
    "parameters are never kept": (_RECORDS, _parameters_are_never_kept),
    "kept only at the end": (_RECORDS, _kept_only_at_the_end),
    "data regions begin in data regions alone": (_TWO_CALLERS, _regions_begin_in_regions_alone),
    "callees are callers": (_RECORDS, _callees_are_callers),
    "told of in all data regions": (_RECORDS, _in_all_data_regions),
    "all is kept": (_RECORDS, _all_is_kept),
    "no update before reads": (_RECORDS, no_update_before_reads),
    "no update after writes": (_RECORDS, no_update_after_writes),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", [_RECORDS, _TWO_CALLERS], ids=["records", "two callers"])
def test_the_programs_without_a_bug_pass(text: str, tmp_path: Path) -> None:
    result = _ported(text, tmp_path)
    assert is_accepted(result.verification), result.verification


def test_what_outlives_a_data_region_is_reported(tmp_path: Path) -> None:
    result = _ported(_RECORDS, tmp_path, verify=False)
    text = next(file.text for file in result.files if file.path == "stack.c")
    told = [line.strip() for line in text.splitlines() if "WS_FRAME" in line]
    assert [line.partition("_begin")[2] for line in told] == ["(WS_FRAME, &mine);", "(WS_FRAME, &own);"]
    kernels = next(file.text for file in result.files if file.path == "stack_kernels.cu")
    for line, name in zip(told, ("mine", "own"), strict=True):
        order = ("ws_data_begin(WS_HERE);", "ws_data_callers(frame);", f"ws_data_outlives({name}, ")
        body = kernels[kernels.index(f" {line.partition('(')[0]}(const void *frame, const void *{name})") :]
        assert [body.index(part) for part in order] == sorted(body.index(part) for part in order)
    # set_up runs before a kernel has `own`
    assert "_update" not in text[text.index("void set_up(") : text.index("void tune(")]
    assert text.count("ws_tune_update(") == 1 and "ws_update_device(&k->level" not in text


@pytest.mark.slow
@pytest.mark.parametrize("bug", sorted(_BUGS))
def test_seeded_bugs_are_seen(bug: str, tmp_path: Path, monkeypatch: Patch) -> None:
    text, plant = _BUGS[bug]
    plant(monkeypatch)
    result = _ported(text, tmp_path)
    assert result.verification is not None
    assert result.verification.status == "fail"
