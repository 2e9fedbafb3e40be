"""Memory of iterations before the loop: programs do the same before and after, and what others may see stays."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.loops.steps.test_docstrings import NoWords
from tests.poly.analysis import program_of
from warpsmith.base.verdict import Proved, Unknown
from warpsmith.loops import scratch
from warpsmith.loops.scratch import scratch_names
from warpsmith.loops.steps.data import hoist_allocation
from warpsmith.loops.steps.data.hoist_allocation import HoistAllocation
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import For, Function
from warpsmith.tree.printing.patch import unit_text
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.walk import loops

HEAD = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pair { double a; int b; };
struct list { double *first; };
extern double *kept[64];
extern int hits;
static double total(const double *t, int m) { double s = 0; for (int j = 0; j < m; j++) s += t[j]; return s; }
static void put(double *t, int k, double v) { t[k] = v; }
static void deep(double *t, int k, double v) { put(t, k, v); }
static double *inside(double *t) { return t + 1; }
static void keep(double *t) { kept[0] = t; }
static void give_back(double *t) { free(t); }
"""
GIVEN = "int n, int m, double *x, double *y, int *out"
FILL = "for (int j = 0; j < m; j++) t[j] = x[j] + i;"
SUM = "double s = 0; for (int j = 0; j < m; j++) s += t[j] * j; y[i] = s;"
GET = "double *t = malloc(m * sizeof *t);"
ALL = "for (int i = 0; i < n; i++)"
TAKEN = [
    f"{ALL} {{ {GET} {FILL} {SUM} free(t); }}",
    f"for (int i = 2; i <= n; i += 2) {{ {GET} {FILL} {SUM} free(t); }}",
    f"for (int i = n - 1; i >= 0; i--) {{ {GET} {FILL} {SUM} free(t); }}",
    f"{ALL} {{ double *t = (double *)malloc(sizeof(double) * (size_t)m); {FILL} {SUM} free(t); }}",
    f"{ALL} {{ double *t = calloc(m, sizeof *t); for (int j = i % 2; j < m; j += 2) t[j] = x[j]; {SUM} free(t); }}",
    f"{ALL} {{ double *t = malloc(7 * sizeof *t); for (int j = 0; j < 7; j++) t[j] = j * i; y[i] = t[6]; free(t); }}",
    f"{ALL} {{ double *t = malloc((m + 2) * sizeof *t); for (int j = 0; j < m + 2; j++) t[j] = j * i;"
    " y[i] = m > 0 ? t[m + 1] : 0; free(t); }",
    f"{ALL} {{ double *t = malloc(n * m * sizeof *t); {FILL} {SUM} free(t); }}",
    f"{ALL} {{ {GET} if (!t) exit(1); {FILL} {SUM} free(t); }}",
    f"{ALL} {{ {GET} if (t == NULL) {{ fprintf(stderr, \"no memory\"); abort(); }} {FILL} {SUM} free(t); }}",
    f"{ALL} {{ {GET} if (t == 0) continue; {FILL} {SUM} free(t); }}",
    f"{ALL} {{ {GET} double *u = malloc(m * sizeof *u); if (!t || !u) {{ free(t); free(u); exit(3); }}"
    f" {FILL} for (int j = 0; j < m; j++) u[j] = t[m - 1 - j]; y[i] = total(u, m); free(u); free(t); }}",
    f"{ALL} {{ {GET} {FILL} if (x[i] > 2) {{ free(t); continue; }} {SUM} free(t); }}",
    f"{ALL} {{ {GET} {FILL} if (x[i] > 2) {{ y[i] = -1; free(t); break; }} {SUM} free(t); }}",
    f"{ALL} {{ {GET} {FILL} if (x[i] > 2) continue; {SUM} free(t); }}",
    f"{ALL} {{ {GET} {FILL} {SUM} }}",
    f"{ALL} {{ {GET} memset(t, 0, m > 0 ? m * sizeof *t : 0); for (int j = 0; j < m; j++) deep(t, j, x[j]);"
    " y[i] = total(t, m); free(t); }",
    f"{ALL} {{ struct pair *t = malloc(m * sizeof *t); for (int j = 0; j < m; j++) {{ t[j].a = x[j]; t[j].b = i; }}"
    " y[i] = m > 0 ? t->a + t[m - 1].b : 0; free(t); }",
    f"for (int k = 0; k < 3; k++) {ALL} {{ {GET} {FILL} {SUM} free(t); }}",
]  # fmt: skip
REFUSED = [
    (f"{ALL} {{ {GET} {FILL} {SUM} free(t); free(t); }}", "t is used or freed again after it was freed"),
    (f"{ALL} {{ {GET} {FILL} if (x[i] > 0) free(t); {SUM} free(t); }}", "more is done with t than its elements"),
    (f"{ALL} {{ {GET} {FILL} free(t); {SUM} }}", "t is used or freed again after it was freed"),
    (f"{ALL} {{ {GET} {FILL} {SUM} kept[i] = t; }}", "more is done with t than its elements"),
    (f"{ALL} {{ {GET} {FILL} {SUM} kept[i] = &t[1]; }}", "an address in the memory of t may be kept: &t[1]"),
    (f"{ALL} {{ {GET} {FILL} {SUM} keep(t); }}", "more is done with t than its elements"),
    (f"{ALL} {{ {GET} {FILL} {SUM} give_back(t); }}", "more is done with t than its elements"),
    (f"{ALL} {{ {GET} {FILL} y[i] = *inside(t); free(t); }}", "more is done with t than its elements"),
    (f"{ALL} {{ {GET} struct list l = {{t}}; {FILL} y[i] = l.first[0]; free(t); }}", "more is done with t"),
    (f"{ALL} {{ {GET} {FILL} {SUM} t = x; }}", "more is done with t than its elements"),
    (f"{ALL} {{ {GET} {FILL} {SUM} double *u = t; u[0] = 1; free(u); }}", "more is done with t than its elements"),
    (f"{ALL} {{ {GET} {FILL} {SUM} out[i] = t > x; free(t); }}", "more is done with t than its elements"),
    (f"{ALL} {{ double *t = malloc((i + 1) * sizeof *t); t[i] = 1; y[i] = t[i]; free(t); }}", "i, on which"),
    (f"{ALL} {{ double *t = malloc(out[i] * sizeof *t); t[0] = 1; y[i] = t[0]; free(t); }}", "how many elements t has"),
    (f"{ALL} {{ m = i + 3; {GET} {FILL} {SUM} free(t); }}", "m, on which the size of t depends, changes"),
    (f"{ALL} {{ double *t = malloc(hits * sizeof *t); t[0] = 1; y[i] = t[0]; free(t); }}", "hits, on which"),
    (f"{ALL} {{ {GET} if (!t) return; if (x[i] > 3) return; {FILL} {SUM} free(t); }}", "may end in the loop"),
    (f"{ALL} {{ {GET} if (!t || t[0] > 1) continue; {FILL} {SUM} free(t); }}", "t is tested for more than"),
    (f"{ALL} {{ int **t = malloc(m * sizeof *t); t[0] = out; y[i] = *t[0]; free(t); }}", "is not memory for numbers"),
    (f"{ALL} {{ double *t = realloc(NULL, m * sizeof *t); {FILL} {SUM} free(t); }}", "does not start t with memory"),
    (f"{ALL} {{ double *t = malloc(m * 3); t[0] = 1; y[i] = t[0]; free(t); }}", "how many elements t has"),
]  # fmt: skip
_DRIVER = """
double *kept[64];
int hits = 2;
static void fill(double *x, double *y, int *out)
{
    for (int k = 0; k < 64; k++) {
        x[k] = k * 7 % 5 - 1;
        y[k] = -k;
        out[k] = k % 3 + 1;
    }
}
typedef void function(int n, int m, double *x, double *y, int *out);
static int differs(function *one, function *two, int n, int m)
{
    double x[2][64], y[2][64];
    int out[2][64];
    for (int k = 0; k < 2; k++) {
        fill(x[k], y[k], out[k]);
        (k ? two : one)(n, m, x[k], y[k], out[k]);
    }
    return memcmp(x[0], x[1], sizeof x[0]) || memcmp(y[0], y[1], sizeof y[0]) || memcmp(out[0], out[1], sizeof out[0]);
}
"""


def _function(name: str, body: str) -> str:
    return f"void {name}({GIVEN})\n{{\n    {body}\n}}\n"


def _named(program: Program, name: str) -> Function:
    return next(f for _, f in program.functions() if f.symbol.name == name)


def _steps(function: Function, name: str) -> list[HoistAllocation]:
    counted = [loop for loop, _ in loops(function.body) if isinstance(loop, For)]
    found = [(loop, variable) for loop in counted for variable in scratch_names(loop)]
    address = f"{name}/k/i" if any(loop.variable.name == "k" for loop in counted) else f"{name}/i"
    return [HoistAllocation(address, variable) for _, variable in found]


def _applied(bodies: list[str]) -> tuple[str, list[int]]:
    """Return the functions after the step, and which of them it changed."""
    program = start = program_of(HEAD + "".join(_function(f"after{k}", body) for k, body in enumerate(bodies)))
    changed: set[int] = set()
    for k in range(len(bodies)):
        for step in _steps(_named(program, f"after{k}"), f"after{k}"):
            verdict = step.check(program, Facts.about(program, PolyOptions()))
            if isinstance(verdict, Proved):
                program = step.apply(program)
                changed.add(k)
    return unit_text(start.units[0], program.units[0], NoWords()), sorted(changed)


def _assert_same(bodies: list[str], folder: Path, least: int) -> list[int]:
    """Run every body before and after, under the sanitizer of addresses; return those that the step changed."""
    after, changed = _applied(bodies)
    pieces = [after, _DRIVER, *(_function(f"before{k}", bodies[k]) for k in changed)]
    calls = [
        f"for (int n = {least}; n < 9; n++) for (int m = {least}; m < 7; m++)"
        f" if (differs(before{k}, after{k}, n, m)) return {k} + 1;"
        for k in changed
    ]
    program = folder / "both.c"
    program.write_text("\n".join(pieces) + "int main(void)\n{\n" + "\n".join(calls) + "\nreturn 0;\n}\n")
    # what has no value must not be read: what memory holds at first differs between the two
    flags = ["-O1", "-w", "-fsanitize=address", "-fno-sanitize-recover=all"]
    command = ["gcc", *flags, str(program), "-o", str(folder / "both"), "-lm"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[:2000]
    environment = {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    done = subprocess.run(
        [str(folder / "both")], capture_output=True, text=True, check=False, timeout=60, env=environment
    )
    assert done.returncode == 0, (bodies[done.returncode - 1 : done.returncode], done.stderr[:2000])
    return changed


def test_results_stay_the_same(tmp_path: Path) -> None:
    assert _assert_same(TAKEN, tmp_path, 0) == list(range(len(TAKEN)))


def test_sizes_below_zero_do_no_harm(tmp_path: Path) -> None:
    # where the memory is tested the original finds none: that is a guard's
    assert _assert_same([body for body in TAKEN if "!t" not in body and "t ==" not in body], tmp_path, -1)


@pytest.mark.parametrize(("body", "reason"), REFUSED)
def test_refusals_name_the_pointer(body: str, reason: str) -> None:
    program = program_of(HEAD + _function("f", body))
    verdict = HoistAllocation("f/i", "t").check(program, Facts.about(program, PolyOptions()))
    assert isinstance(verdict, Unknown)
    assert reason in verdict.reasons[0].text


def test_a_negative_size_is_a_guard_where_the_memory_is_tested() -> None:
    program = program_of(HEAD + _function("f", f"{ALL} {{ {GET} if (!t) continue; {FILL} {SUM} free(t); }}"))
    verdict = HoistAllocation("f/i", "t").check(program, Facts.about(program, PolyOptions()))
    assert isinstance(verdict, Proved)
    (guard,) = verdict.assumptions
    assert isinstance(guard, Assumption)
    assert (guard.kind, guard.text) == ("guarded", "the size of t is not negative")


def test_memory_functions_of_the_program_are_not_those_of_the_library() -> None:
    own = "typedef unsigned long size_t;\nvoid free(void *);\nstatic double pool[9];\n"
    own += "static void *malloc(size_t n) { return pool; }\n"
    program = program_of(own + _function("f", f"{ALL} {{ {GET} {FILL} {SUM} free(t); }}"))
    verdict = HoistAllocation("f/i", "t").check(program, Facts.about(program, PolyOptions()))
    assert isinstance(verdict, Unknown)


# --- the checks notice

BUGS: list[tuple[object, str, object, str]] = [
    (hoist_allocation, "_count", lambda cover: cover.high.minus(cover.low), TAKEN[0]),
    (scratch, "_ALLOCATES", {"malloc": False, "calloc": False}, TAKEN[4]),
    (scratch, "_uses_elements", lambda *_: True, f"{ALL} {{ {GET} {FILL} {SUM} give_back(t); }}"),
]


@pytest.mark.parametrize("number", range(len(BUGS)), ids=[name for _, name, _, _ in BUGS])
def test_seeded_bugs_are_caught(number: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    owner, name, bug, body = BUGS[number]
    monkeypatch.setattr(owner, name, bug)
    with pytest.raises(AssertionError):
        _assert_same([body], tmp_path, 0)
