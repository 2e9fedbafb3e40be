"""Scalar promotion: numbers in memory in variables while a loop runs, and only where nobody can tell."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.loops.steps.same_results import rewritten
from tests.loops.steps.test_docstrings import NoWords
from tests.poly.analysis import program_of
from warpsmith.base.verdict import Proved, Unknown
from warpsmith.loops import promotable
from warpsmith.loops.analysis import evaluation
from warpsmith.loops.promotable import promotable_places
from warpsmith.loops.steps.data import promote
from warpsmith.loops.steps.data.promote import Promote
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import For, Function
from warpsmith.tree.printing.patch import unit_text
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.program import Program
from warpsmith.tree.walk import loop_names

HEAD = """
#include <math.h>
struct tally { int count, more; double total; struct tally *next; };
extern struct tally all;
extern double shared;
extern int hits;
static void bump(int *q) { ++*q; }
"""
GIVEN = "int n, int m, double *x, double *y, int *out, double *sum, int *count, struct tally *p"
# what each function is called with is in _DRIVER: all kinds of sharing, null pointers, and memory that is only read
BODIES = [
    "*count = 0; for (int i = 0; i < n; i++) if (x[i] > 0) y[(*count)++] = x[i];",
    "for (int i = 0; i < n; i++) if (x[i] > 0) out[(*count)++ & 7] = i;",
    "for (int i = 0; i < n; i++) if (x[i] > 0) *sum = x[i];",
    "for (int i = 0; i < n; i++) *sum += x[i];",
    "for (int i = 0; i < n; i++) { *sum += x[i]; y[i] = *sum; }",
    "for (int i = 0; i < n; i++) if (x[i] > *sum) { *sum = x[i]; *count = i; }",
    "for (int i = 0; i < n; i++) if (x[i] < 0) *sum = *sum * 0;",
    "for (int i = 0; i < n; i++) if (x[i] < *sum) *sum = x[i] * 0;",
    "for (int i = 0; i < n; i++) if (x[i] > 0) p->count++;",
    "for (int i = 0; i < n; i++) { p->count++; p->total += x[i]; }",
    "for (int i = 0; i < n; i++) { p->count += out[i]; out[i] = 1; }",
    "for (int i = 0; i < n; i++) { if (x[i] > 0) hits++; if (x[i] < 0) { *count = hits; } }",
    "for (int i = 0; i < n; i++) { shared += x[i]; y[i] = shared; }",
    "for (int i = 0; i < n; i++) if (x[i] > 0) all.count++;",
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) *sum += x[i] * j;",
    "for (int i = 0; i < n; i++) { if (x[i] > 0) *sum = 1; for (int j = 0; j < m; j++) *sum += x[j]; }",
    "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) *sum += x[j]; if (x[i] > 0) *sum = 1; }",
    "for (int i = 0; i < n; i++) { if (x[i] > 1) break; *sum += x[i]; }",
    "for (int i = 0; i < n; i++) { *sum += x[i]; if (x[i] > 1) break; }",
    "for (int i = 0; i < n; i++) { if (x[i] < 0) continue; *count += 2; }",
    "for (int i = 0; i < n; i++) { *count += 1; if (x[i] > 1) return; }",
    "for (int i = 0; i < n; i++) { *count += 1; bump(count); }",
    "for (int i = 0; i < n; i++) { *count += 1; out[i] = *count + hits; hits = i; }",
    "for (int i = 0; i < n; i++) { p->count++; p = p->next; }",
    "for (int i = 0; i < n; i++) { int *q = &p->count; *q += 2; p->count++; }",
    "for (int i = 0; i < n; i++) { p->more = i; p->count += p->more; struct tally t = *p; y[i] = t.count; }",
    "for (int i = 0; i < n; i++) x[2] += x[i];",
    "for (int i = 0; i < n; i++) out[m & 3] += i;",
    "for (int i = *count & 3; i < n; i++) *count += i;",
    "for (int i = 0; i < n; i++) { double t = x[i]; if (t > 0) { *sum = *sum + sqrt(t); } else { *sum -= t; } }",
    "if (n > 2) for (int i = 0; i < n; i++) *sum += x[i]; else *sum = 1;",
    "if (x[0] > 1) *count = 3; for (int i = 0; i < n; i++) if (x[i] > 0) ++*count;",
    "*out = 3; out = count; for (int i = 0; i < n; i++) if (x[i] > 9) ++*out;",
    "int *q = n > 4 ? count : out; for (int i = 0; i < n; i++) if (x[i] > 0) *q -= 2;",
]
_DRIVER = """
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
typedef void function(int n, int m, double *x, double *y, int *out, double *sum, int *count, struct tally *p);
struct tally all;
double shared;
int hits;
static struct world { double x[12], y[12], s; int out[12], c; struct tally t, u; } w;
static void *page;
static int knows;
static sigjmp_buf trapped;
static void trap(int signal) { (void)signal; siglongjmp(trapped, 1); }
size_t ws_allocation_bytes(const void *p)
{
    const char *at = p, *low = (const char *)&w;
    if (knows && at >= (char *)page && at < (char *)page + 4096) return (size_t)((char *)page + 4096 - at);
    return at >= low && at < low + sizeof w ? (size_t)(low + sizeof w - at) : 0;
}
static int block(const void *p)
{
    const char *at = p;
    const void *blocks[] = {w.x, w.y, &w.s, w.out, &w.c, &w.t, &w.u};
    const size_t bytes[] = {sizeof w.x, sizeof w.y, sizeof w.s, sizeof w.out, sizeof w.c, sizeof w.t, sizeof w.u};
    for (int k = 0; k < 7; k++)
        if (at >= (const char *)blocks[k] && at < (const char *)blocks[k] + bytes[k]) return k + 1;
    return 0;
}
int ws_allocations_apart(const void *p, const void *q)
{
    return (block(p) || block(q)) && block(p) != block(q);
}
static void fill(int with)
{
    memset(&w, 0, sizeof w);
    for (int k = 0; k < 12; k++) {
        w.x[k] = with == 0 ? (k * 7 + 3) % 5 - 2 : with == 1 ? -1 - k : with == 2 ? 0.0 : 0.25 * (k + 1);
        w.y[k] = k - 3;
        w.out[k] = (k * 3) % 4;
    }
    w.s = with == 1 ? -0.0 : 0.5;
    w.c = 2;
    w.t = (struct tally){.count = 1, .more = 4, .total = 2, .next = &w.u};
    w.u = (struct tally){.count = 5, .more = 6, .total = 7, .next = &w.t};
    all = w.t;
    shared = 3;
    hits = 1;
}
static int run(function *f, int how, int n, int m)
{
    double *x = w.x, *y = w.y, *sum = &w.s;
    int *out = w.out, *count = &w.c;
    struct tally *p = &w.t;
    switch (how) {
    case 1: sum = x + 2; break;
    case 2: sum = y + 1; break;
    case 3: count = out + 1; break;
    case 4: sum = &p->total; count = &p->count; break;
    case 5: sum = &shared; count = &hits; break;
    case 6: y = x + 1; break;
    case 7: sum = NULL; count = NULL; p = NULL; break;
    case 8: case 9: sum = page; count = page; p = page; break;
    case 10: p = &all; sum = &shared; break;
    }
    knows = how == 9;
    if (sigsetjmp(trapped, 1)) return 1;
    f(n, m, x, y, out, sum, count, p);
    return 0;
}
struct state { struct world w; struct tally all; double shared; int hits; };
static void keep(struct state *to)
{
    memset(to, 0, sizeof *to);
    to->w = w;
    to->all = all;
    to->shared = shared;
    to->hits = hits;
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
"""


def _function(name: str, body: str) -> str:
    return f"void {name}({GIVEN})\n{{\n    {body}\n}}\n"


def _named(program: Program, name: str) -> Function:
    return next(f for _, f in program.functions() if f.symbol.name == name)


def _applied(bodies: Sequence[str]) -> tuple[str, list[int]]:
    """Return the functions after all that the step can do to their loops, and which of them it changed."""
    program = start = program_of(HEAD + "".join(_function(f"after{k}", body) for k, body in enumerate(bodies)))
    facts = Facts.about(program, PolyOptions())
    changed: list[int] = []
    for k in range(len(bodies)):
        before = _named(program, f"after{k}")
        for step in _steps(before):
            if step.loop in loop_names(_named(program, f"after{k}")).values() and isinstance(
                step.check(program, facts), Proved
            ):
                program = step.apply(program)
                facts = facts.after(program)
        changed += [k] if _named(program, f"after{k}") is not before else []
    return unit_text(start.units[0], program.units[0], NoWords()), changed


def _steps(function: Function) -> list[Promote]:
    named = loop_names(function).items()
    return [
        Promote(name, show_expression(place))
        for loop, name in named
        if isinstance(loop, For)
        for place in promotable_places(loop)
    ]


def _assert_same(bodies: Sequence[str], folder: Path) -> int:
    """Run every body before and after; return how many the step changed."""
    after, changed = _applied(bodies)
    pieces = [
        "#include <stddef.h>\nsize_t ws_allocation_bytes(const void *);\n"
        "int ws_allocations_apart(const void *, const void *);",
        after,
        _DRIVER,
        *(_function(f"before{k}", bodies[k]) for k in changed),
    ]
    calls = [
        f"for (int how = 0; how < 11; how++) for (int with = 0; with < 4; with++) for (int n = -1; n < 8; n++)"
        f" for (int m = -1; m < 5; m++) if (differs(before{k}, after{k}, how, with, n, m)) return {k} + 1;"
        for k in changed
    ]
    program = folder / "both.c"
    program.write_text("\n".join(pieces) + f"int main(void)\n{{{_START}\n" + "\n".join(calls) + "\nreturn 0;\n}\n")
    # -O0: a compiler may make of a store that is not there one that is
    command = ["gcc", "-O0", "-w", str(program), "-o", str(folder / "both"), "-lm"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[:2000]
    done = subprocess.run([str(folder / "both")], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, bodies[done.returncode - 1] if 0 < done.returncode <= len(bodies) else done.returncode
    return len(changed)


def test_results_stay_the_same(tmp_path: Path) -> None:
    assert _assert_same(BODIES, tmp_path) == 28


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 8))])
def test_random_programs_stay_the_same(seed: int, tmp_path: Path) -> None:
    rng = random.Random(f"promoted {seed}")
    assert _assert_same([_random(rng) for _ in range(30)], tmp_path) > 15


def _random(rng: random.Random) -> str:
    """Return a loop over elements and numbers in memory, some of which may be the same."""
    numbers = ["*sum", "p->total", "shared", "all.total", "y[2]"]
    counts = ["*count", "p->count", "hits", "all.count", "p->more", "out[1]"]

    def statement() -> str:
        number, count = rng.choice(numbers), rng.choice(counts)
        done = [
            f"{number} += x[i];",
            f"{number} = x[i];",
            f"{count}++;",
            f"{count} += out[i];",
            f"out[{count} & 7] = i;",
            f"out[{count}++ & 7] = i;",
            f"y[i] = {number};",
            f"y[i] = x[i] + {rng.choice(counts)};",
            f"if (x[i] > {number}) {number} = x[i];",
            f"for (int j = 0; j < m; j++) {number} += j;",
        ]
        one = rng.choice(done)
        tests = ["", "", f"if (x[i] > {rng.choice(['0', '-1', '1'])}) ", "if (i == 2) ", f"if ({count} > 2) "]
        return f"{rng.choice(tests)}{one}"

    front = rng.choice(["", "", "", f"{rng.choice(counts)} = 0; ", f"{rng.choice(numbers)} = 0; "])
    leave = rng.choice(["", "", "", "if (x[i] > 1) break; ", "if (x[i] > 1) continue; "])
    body = [statement() for _ in range(rng.randrange(1, 4))]
    body.insert(rng.randrange(len(body) + 1), leave)
    return f"{front}for (int i = 0; i < n; i++) {{ {' '.join(body)} }}"


# --- what is taken and what is not

TAKEN = [
    ("*count = 0; for (int i = 0; i < n; i++) if (x[i] > 0) y[(*count)++] = x[i];", "*count", "*count = count_value;"),
    ("for (int i = 0; i < n; i++) *sum += x[i];", "*sum", "double sum_value = 0 < n ? *sum : 0;"),
    ("for (int i = 0; i < n; i++) if (x[i] > 0) p->count++;", "p->count", "(ws_allocation_bytes(&p->count) >= sizeof"),
    ("for (int i = 0; i < n; i++) if (x[i] > 0) *count = i;", "*count", "if (count_stored)"),
    ("for (int i = 0; i < n; i++) if (x[i] > 0) all.count++;", "all.count", "if (count_value != count_start)"),
    ("for (int i = 0; i < n; i++) out[*count += 2] = i;", "*count", "if (ws_allocations_apart(out, count))"),
]  # fmt: skip
REFUSED = [
    ("for (int i = 0; i < n; i++) { *count += 1; if (x[i] > 1) return; }", "*count", "function may end in the loop"),
    ("for (int i = 0; i < n; i++) { *count += 1; bump(count); }", "*count", "a call may see what is in memory"),
    ("for (int i = 0; i < n; i++) { *count += 1; other(); }", "*count", "a call may see what is in memory"),
    ("for (int i = 0; i < n; i++) { *count += 1; hits += i; }", "*count", "hits may be the same memory as *count"),
    ("for (int i = 0; i < n; i++) { int *q = &p->count; *q += 2; p->count++; }", "p->count", "p->count is taken"),
    ("for (int i = 0; i < n; i++) { p->count++; p = p->next; }", "p->count", "does not store to p->count"),
    ("for (int i = 0; i < n; i++) p->next->count++;", "p->next->count", "is found in memory"),
    ("for (int i = 0; i < n; i++) { *count += 1; odd = i; }", "*count", "the loop has volatile accesses"),
    ("for (int i = 0; i < n; i++) if (x[i] > 0) y[i] = *sum += 1;", "*sum", "in the middle of an expression"),
    ("for (int i = 0; i < n; i++)\n#pragma omp critical\n    *sum += x[i];", "*sum", "a pragma tells the compiler"),
    ("for (int i = 0; i < n; i++) odd += i;", "odd", "does not store to odd, a number in memory"),
    ("for (int i = 0; i < n; i++) { p->count += i; struct tally t = *p; y[i] = t.count; }", "p->count", "*p may be"),
]  # fmt: skip


@pytest.mark.parametrize("body, place, line", TAKEN)
def test_what_is_taken(body: str, place: str, line: str) -> None:
    assert line in rewritten(HEAD + _function("f", body), Promote("f/i", place))


@pytest.mark.parametrize("body, place, reason", REFUSED)
def test_refusals_say_why(body: str, place: str, reason: str) -> None:
    program = program_of(HEAD + "void other(void);\nextern volatile int odd;\n" + _function("f", body))
    verdict = Promote("f/i", place).check(program, Facts.about(program, PolyOptions()))
    assert isinstance(verdict, Unknown) and reason in verdict.reasons[0].text, verdict


def test_tests_are_left_out_where_none_are_allowed() -> None:
    program = program_of(HEAD + _function("f", BODIES[3]))
    facts = Facts.about(program, PolyOptions(guards=False))
    assert isinstance(Promote("f/i", "*sum").check(program, facts), Unknown)
    assert isinstance(Promote("f/i", "*sum", guards=False).check(program, Facts.about(program, PolyOptions())), Unknown)


# --- the checks notice

BUGS: list[tuple[object, str, Callable[..., object]]] = [
    (promotable, "other_uses", lambda *_, **__: iter(())),
    (promotable, "_say_what_shows", lambda *_: None),
    (promotable, "is_integer", lambda *_: True),
    (evaluation.KnownBefore, "find_stored", lambda *_: ()),
    (evaluation.KnownBefore, "needs", lambda *_: ()),
    (evaluation.Entered, "governs", lambda *_: True),
    (evaluation, "_stays", lambda *_: True),
    (promote, "invariant_guards", lambda *_: ()),
    (promote, "own_writes", lambda *_: set()),
    (promote._Work, "test", lambda *_: None),
]


@pytest.mark.slow
@pytest.mark.parametrize("owner, name, bug", BUGS, ids=[name for _, name, _ in BUGS])
def test_seeded_bugs_are_caught(
    owner: object, name: str, bug: Callable[..., object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(owner, name, bug)
    with pytest.raises(AssertionError):
        _assert_same(BODIES, tmp_path)
