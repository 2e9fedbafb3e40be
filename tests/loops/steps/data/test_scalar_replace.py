"""Scalar replacement: elements of arrays in variables while loops run, and only where nobody can tell."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.loops.steps.same_results import rewritten, verdict_of
from tests.loops.steps.test_docstrings import NoWords
from tests.poly.analysis import program_of
from warpsmith.base.verdict import Proved, Refuted, Unknown
from warpsmith.loops import replaceable
from warpsmith.loops.analysis import evaluation
from warpsmith.loops.steps.data.scalar_replace import ScalarReplace
from warpsmith.loops.writing import replaced
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.legality import alone
from warpsmith.tree.nodes import Empty, Function
from warpsmith.tree.printing.patch import unit_text
from warpsmith.tree.program import Program
from warpsmith.tree.walk import loop_names, loops

HEAD = "#include <math.h>\nextern double G[16], H[8][8];\n"
GIVEN = "int n, int m, double *restrict x, double *y, double (*restrict A)[8], int *c"
# what each function is called with is in _DRIVER: pointers into G, null pointers, and memory that is only read
BODIES = [
    "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) G[i] += A[i][k] * x[k];",
    "for (int i = 0; i < n; i++) { G[i] = 0; for (int k = 0; k < m; k++) G[i] += A[i][k]; }",
    "for (int i = 0; i < n; i++) { for (int k = 0; k < m; k++) G[i] += A[i][k]; G[i] /= 2; }",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < n; k++) H[i][j] += A[i][k] * A[k][j];",
    "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) for (int j = 0; j < m; j++) H[i][j] += A[i][k] * A[k][j];",
    "for (int i = 0; i < n; i++) { for (int j = 0; j < i; j++) { for (int k = 0; k < j; k++)"
    " H[i][j] -= H[i][k] * H[j][k]; H[i][j] /= 3; } for (int k = 0; k < i; k++) H[i][i] -= H[i][k] * H[i][k]; }",
    "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) { H[i][j] = 0; for (int k = 0; k < m; k++)"
    " H[i][j] += A[k][i] * A[k][j]; H[i][j] /= 2; H[j][i] = H[i][j]; }",
    "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) if (x[k] > 0) G[i] += x[k];",
    "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) { if (x[k] > 1) break; G[i] += x[k]; }",
    "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) { G[i] += x[k]; if (x[k] > 1) break; }",
    "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) { if (k > 1) continue; G[i] += x[k]; }",
    "for (int k = 0; k < m; k++) G[2] += x[k];",
    "for (int k = 0; k < m; k++) G[2] += G[k];",
    "for (int k = 0; k < m; k++) G[9] += G[k];",
    "for (int k = 0; k < m; k++) G[n + 8] += G[k];",
    "for (int k = 0; k < m; k++) y[2] += G[k];",
    "for (int k = 0; k < m; k++) y[2] += x[k];",
    "for (int k = 0; k < m; k++) G[k] += y[2];",
    "for (int k = 0; k < m; k++) { G[3] = x[k]; G[4] += G[3]; }",
    "for (int k = 0; k < m; k++) { G[n] += x[k]; n++; }",
    "for (int j = 0; j < n; j++) { int t = j + 1; for (int k = 0; k < m; k++) { G[t] += x[k]; G[t] *= 2; } }",
    "for (int j = 0; j < n; j++) { int t = 1; for (int k = 0; k < m; k++) { G[t] += x[k]; t = 2; } }",
    "for (int j = 0; j < n; j++) for (int k = 0; k < c[j]; k++) { c[j] -= 1; x[k] += 1; }",
    "for (int j = 0; j < n; j++) for (int k = c[j]; k < c[j] + 3; k++) x[j] += A[j][k];",
    "for (int j = 0; j < n; j++) for (int k = 0; k < m; k++) c[j]++;",
    "for (int j = 0; j < n; j++) for (int k = 0; k < m; k++) { x[k] = c[j]; c[j] += k; }",
    "for (int j = 0; j < n; j++) { x[j] = G[j]; for (int k = 0; k < m; k++) { if (k > 1) G[j] = k; } }",
    "for (int j = 0; j < n; j++) for (int k = 0; k < m; k++) { G[j] = x[k]; A[j][k] = G[j] + x[8]; }",
    "for (int j = 0; j < n; j++) { G[j] += 1; for (int k = 0; k < m; k++) H[j][k] = G[j]; G[j + 1] += 1; }",
    "for (int j = 0; j < n; j++) { G[j] = 1; if (x[j] > 0) continue; for (int k = 0; k < m; k++) G[j] += x[k]; }",
    "for (int i = 0; i < n; i++) { H[i][0] = 1; for (int j = 0; j < m; j++) for (int k = 0; k < j; k++)"
    " H[i][0] += H[i][k + 1]; G[i] = H[i][0]; }",
    "for (int i = 0; i < n; i++) { int k = 0; while (k < m) { G[i] += x[k]; k++; } }",
    "for (int i = 0; i < n; i++) { for (int j = 1; j < m; j++) y[3] += x[i + j]; x[2] += x[2]; }",
    "for (int i = 0; i < n; i++) { for (int j = 1; j < m; j++) A[2][i] = x[0]; x[2] += x[2]; }",
    "int i = -1, j; for (i = 0; i < n; i++) for (j = 0; j < i; j++) G[3] += x[j];",
    "for (int i = n - 1; i >= 0; i--) { for (int k = m; k > 0; k--) G[i] = G[i] * 0.5 + x[k]; }",
]
_DRIVER = """
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
typedef void function(int n, int m, double *x, double *y, double (*A)[8], int *c);
double G[16], H[8][8];
static struct world { double x[16], y[16], A[8][8]; int c[16]; } w;
static void *page;
static sigjmp_buf trapped;
static void trap(int signal) { (void)signal; siglongjmp(trapped, 1); }
static void fill(int with)
{
    for (int k = 0; k < 16; k++) {
        w.x[k] = with == 0 ? (k * 7 + 3) % 5 - 2 : with == 1 ? -1 - k : 0.25 * (k + 1);
        w.y[k] = k - 3;
        w.c[k] = (k * 3) % 4;
        G[k] = with == 1 ? -0.0 : 0.5 * k;
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) { w.A[i][j] = (i * 5 + j) % 7 - 2; H[i][j] = (i + 3 * j) % 5 + 0.5; }
}
static int run(function *f, int how, int n, int m)
{
    double *x = w.x, *y = w.y, (*A)[8] = w.A;
    int *c = w.c;
    switch (how) {
    case 1: y = G + 1; break;
    case 2: y = G; break;
    case 3: y = NULL; c = NULL; break;
    case 4: y = page; c = page; break;
    case 5: x = page; break;
    case 6: A = page; break;
    case 7: x = NULL; A = NULL; break;
    }
    if (sigsetjmp(trapped, 1)) return 1;
    f(n, m, x, y, A, c);
    return 0;
}
struct state { struct world w; double G[16], H[8][8]; };
static void keep(struct state *to)
{
    memset(to, 0, sizeof *to);
    to->w = w;
    memcpy(to->G, G, sizeof G);
    memcpy(to->H, H, sizeof H);
}
static int differs(function *one, function *two, int how, int with, int n, int m)
{
    static struct state after, other;
    fill(with);
    if (run(one, how, n, m)) return 0;
    keep(&after);
    fill(with);
    if (run(two, how, n, m)) return 1;
    keep(&other);
    return memcmp(&after, &other, sizeof after) != 0;
}
"""
_START = """
    page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, trap);
    signal(SIGBUS, trap);
"""


def _function(name: str, body: str) -> str:
    return f"void {name}({GIVEN})\n{{\n    {body}\n}}\n"


def _named(program: Program, name: str) -> Function:
    return next(f for _, f in program.functions() if f.symbol.name == name)


def _addresses(function: Function) -> list[str]:
    """Return the addresses of the outermost loops."""
    outermost = [loop for loop, around in loops(function.body) if not around]
    return [name for loop, name in loop_names(function).items() if loop in outermost]


def _applied(bodies: Sequence[str]) -> tuple[str, list[int]]:
    """Return the functions with all elements replaced that may be, and which of them changed."""
    program = start = program_of(HEAD + "".join(_function(f"after{k}", body) for k, body in enumerate(bodies)))
    facts = Facts.about(program, PolyOptions())
    changed: list[int] = []
    for k in range(len(bodies)):
        before = _named(program, f"after{k}")
        for address in _addresses(before):
            step = ScalarReplace(address)
            if isinstance(step.check(program, facts), Proved):
                program = step.apply(program)
                facts = facts.after(program)
        changed += [k] if _named(program, f"after{k}") is not before else []
    return unit_text(start.units[0], program.units[0], NoWords()), changed


def _assert_same(bodies: Sequence[str], folder: Path) -> int:
    """Run every body before and after; return how many the step changed."""
    after, changed = _applied(bodies)
    pieces = [after, _DRIVER, *(_function(f"before{k}", bodies[k]) for k in changed)]
    calls = [
        f"for (int how = 0; how < 8; how++) for (int with = 0; with < 3; with++) for (int n = -1; n < 5; n++)"
        f" for (int m = -1; m < 5; m++) if (differs(before{k}, after{k}, how, with, n, m)) return {k} + 1;"
        for k in changed
    ]
    program = folder / "both.c"
    program.write_text("\n".join(pieces) + f"int main(void)\n{{{_START}\n" + "\n".join(calls) + "\nreturn 0;\n}\n")
    # -O0: a compiler may make of a store that is not there one that is
    command = ["gcc", "-O0", "-w", "-ffp-contract=off", str(program), "-o", str(folder / "both"), "-lm"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[:2000]
    done = subprocess.run([str(folder / "both")], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, bodies[done.returncode - 1] if 0 < done.returncode <= len(bodies) else done.returncode
    return len(changed)


def test_results_stay_the_same(tmp_path: Path) -> None:
    assert _assert_same(BODIES, tmp_path) >= 20


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 10))])
def test_random_nests_stay_the_same(seed: int, tmp_path: Path) -> None:
    rng = random.Random(f"replaced {seed}")
    assert _assert_same([_random(rng) for _ in range(40)], tmp_path) >= 12


class _Nest:
    """Draws one nest over arrays of which some may be the same memory."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def element(self, counters: Sequence[str]) -> str:
        rng = self.rng
        at = [rng.choice([*counters, *counters, f"{rng.choice(counters)} + 1", "2", "0"]) for _ in range(2)]
        return rng.choice([f"G[{at[0]}]", f"x[{at[0]}]", f"y[{at[0]}]", f"H[{at[0]}][{at[1]}]", f"A[{at[0]}][{at[1]}]"])

    def statement(self, counters: Sequence[str], favorite: str) -> str:
        rng = self.rng
        place = favorite if rng.random() < 0.6 else self.element(counters)
        value = " + ".join(rng.choice([self.element(counters), "0.5", favorite]) for _ in range(rng.choice([1, 2])))
        form = rng.choice(["{p} += {v};", "{p} += {v};", "{p} = {v};", "{p} = {p} * 0.5 + {v};", "{p}++;"])
        test = rng.choice(["", "", "", "", "", f"if ({rng.choice(counters)} > 1) ", f"if ({value} > 1) "])
        leave = rng.choice(["", "", "", "", "", "", f"if ({value} > 2) break; ", f"if ({value} < 1) continue; "])
        return leave + test + form.format(p=place, v=value)

    def nest(self, counters: tuple[str, ...], depth: int) -> str:
        rng = self.rng
        counter = "ijk"[len(counters)]
        low = rng.choice(["0", "0", "1", *counters])
        high = rng.choice(["n", "m", "4", *counters])
        inner = (*counters, counter)
        favorite = self.element(inner[:-1] or ("0",)) if rng.random() < 0.8 else self.element(inner)
        parts = [self.statement(inner, favorite) for _ in range(rng.choice([0, 1, 1]) if depth else rng.choice([1, 2]))]
        if depth:
            parts.insert(rng.randrange(len(parts) + 1), self.nest(inner, depth - 1))
        return f"for (int {counter} = {low}; {counter} < {high}; {counter}++) {{ {' '.join(parts)} }}"


def _random(rng: random.Random) -> str:
    text = _Nest(rng).nest((), rng.choice([0, 1, 1, 2]))
    return text if rng.random() < 0.6 else f"int i = -1, j = -1, k = -1; {text.replace('(int ', '(')}"


# --- what is taken and what is not

TAKEN = [
    (BODIES[0], "", "if (0 < m) {"),
    (BODIES[1], "", "double G_value = 0;"),
    (BODIES[3], "", "double H_value = H[i][j];"),
    (BODIES[4], "", "double A_value = A[i][k];"),
    (BODIES[5], "H[i][j]", "H_value -= H[i][k] * H[j][k];"),
    (BODIES[6], "", "H_value /= 2;"),
    (BODIES[23], "", "if (c[j] < c[j] + 3) {"),
    (BODIES[31], "", "if (k < m) {"),
]
REFUSED = [
    ("for (int k = 0; k < m; k++) G[2] += G[k];", "G[k] reads what G[2] is"),
    ("for (int k = 0; k < m; k++) y[2] += G[k];", "overlap"),
    ("for (int k = 0; k < m; k++) if (x[k] > 0) G[2] += 1;", "G[2] is not stored to on every path"),
    ("for (int k = 0; k < m; k++) { G[2] += 1; other(); }", "a call may see what is in memory"),
    ("for (int k = 0; k < m; k++) { G[2] += 1; odd = k; }", "the loop has volatile accesses"),
    ("for (int k = 0; k < m; k++) { G[2] += 1; if (x[k] > 0) return; }", "the run may be left before its end"),
    ("for (int k = 0; k < m; k++) { double *q = &x[2]; x[2] += *q; }", "its address is taken"),
    ("for (int k = 0; k < m; k++) for (int q = 0; q < c[3]; q++) x[q] = c[3];", "it decides how often a loop runs"),
    ("for (int k = 0; k < m; k++)\n#pragma omp atomic\n    G[2] += 1;", "pragma"),
    ("for (int k = 0; k < m; k++) G[k] += 1;", "no element of an array is touched again and again"),
    ("for (int k = 0; k < m; k++) G[hidden] += look(&hidden);", "no element of an array"),
]


@pytest.mark.parametrize("body, place, line", TAKEN)
def test_what_is_taken(body: str, place: str, line: str) -> None:
    assert line in rewritten(HEAD + _function("f", body), ScalarReplace("f/i" if "int i" in body else "f/j", place))


@pytest.mark.parametrize("body, reason", REFUSED)
def test_refusals_say_why(body: str, reason: str) -> None:
    head = HEAD + "void other(void);\nextern volatile int odd;\nint hidden; double look(int *);\n"
    verdict = verdict_of(head + _function("f", body), ScalarReplace("f/k"))
    assert isinstance(verdict, Unknown | Refuted) and reason in verdict.reasons[0].text, verdict


def test_a_dependence_has_a_witness() -> None:
    verdict = verdict_of(HEAD + _function("f", BODIES[12]), ScalarReplace("f/k"))
    assert isinstance(verdict, Refuted)
    assert verdict.reasons[0].dependence is not None
    assert verdict.reasons[0].dependence.witness == "m = 3: S(2) writes G[2], S(2) reads it"


def test_one_element_alone() -> None:
    text = rewritten(HEAD + _function("f", BODIES[27]), ScalarReplace("f/j", "G[j]"))
    assert "A[j][k] = G_value + x[8];" in text


# --- the checks notice

_WRITE = replaced._Writer.write
BUGS: list[tuple[str, object, str, Callable[..., object]]] = [
    ("a store forgotten", replaced._Kept, "store", lambda self: Empty(span=self.replacement.run[-1].span)),
    ("the wrong loop", evaluation._Steady, "holds", lambda *_: True),
    ("other names forgotten", alone, "overlaps", lambda *_, **__: ((), ())),
    ("dependences forgotten", alone, "overlap", lambda *_: None),
    ("loops without iterations forgotten", evaluation, "_enter", lambda _: evaluation.Entered()),
    ("ways around forgotten", evaluation, "_may_skip", lambda _: False),
    ("a load forgotten", replaceable, "_only_assigned", lambda *_: True),
    ("a store in front", replaced._Writer, "write", lambda self, run: tuple(reversed(_WRITE(self, run)))),
]


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=[bug[0] for bug in BUGS])
def test_a_seeded_bug_is_caught(
    bug: tuple[str, object, str, Callable[..., object]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, where, what, instead = bug
    monkeypatch.setattr(where, what, instead)
    rng = random.Random(f"replaced {name}")
    with pytest.raises(AssertionError):
        _assert_same(BODIES, tmp_path)
        _assert_same([_random(rng) for _ in range(40)], tmp_path)
