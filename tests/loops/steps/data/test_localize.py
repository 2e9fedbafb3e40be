"""Localization: what a loop finds in memory, in variables before it, and only where that changes nothing."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec.structs
import pytest

from tests.loops.steps.same_results import rewritten
from tests.loops.steps.test_docstrings import NoWords
from tests.poly.analysis import program_of
from warpsmith.base.verdict import Proved, Unknown
from warpsmith.loops import linear
from warpsmith.loops.analysis import evaluation, invariant_guards, invariants
from warpsmith.loops.analysis.invariants import survey
from warpsmith.loops.place import LoopContext
from warpsmith.loops.steps.data import localize
from warpsmith.loops.steps.data.localize import Localize
from warpsmith.poly.aliasing import unchanged
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import Function
from warpsmith.tree.printing.patch import unit_text
from warpsmith.tree.program import Program
from warpsmith.tree.walk import loop_names, walk

HEAD = """
#include <stdlib.h>
#include <math.h>
struct box {
    int n, spare[15];
    long m;
    double a[8], dt, more[15];
    float w;
    double *u, *v;
    int *id;
    char *flag;
    struct box *next;
};
union word { double x; double *p; int k; };
extern union word word;
extern struct box *global;
struct box copy_of(struct box *s) { struct box t = *s; return t; }
void grow(struct box *s) { s->n++; }
void turn(struct box *s) { double *t = s->u; s->u = s->v; s->v = t; }
void clear(double *p, int n) { for (int k = 0; k < n; k++) p[k] = 0; }
"""
# what each function is called with is in _DRIVER: all kinds of sharing, and null pointers where nothing is to do
BODIES = [
    "for (int i = 0; i < s->n; i++) s->u[i] = s->v[i] * 2;",
    "for (int i = 0; i < s->n; i++) s->u[i] = s->v[i] * s->dt;",
    "for (int i = 0; i < n; i++) s->u[i] = s->v[i] + t->u[i];",
    "for (int i = 0; i < n; i++) if (i > 3) s->u[i] = 1;",
    "for (int i = 0; i < n; i++) { s->u[i] += t->dt; s->v[i] = s->w; }",
    "for (int i = 0; i < s->n; i++) s->id[i] = i;",
    "for (int i = 0; i < s->n; i++) s->id[i] = s->m;",
    "for (int i = 0; i < n; i++) s->flag[i] = 7 + i;",
    "for (int i = 0; i < n; i++) { s->u[i] = i; if (i == 2) s->u = s->v; }",
    "for (int i = 0; i < n; i++) { s->u[i] = i; t->u = t->v; }",
    "for (int i = 0; i < n; i++) { s->u[i] = i; t->v = t->u; }",
    "for (int i = 0; i < s->n; i++) { s->u[i] = i; if (i == 1) t->n = 4; }",
    "for (int i = 0; i < n; i++) { s->u[i] = s->dt; if (i == 1) *t = *s; }",
    "for (int i = 0; i < n; i++) { s->u[i] = i; if (i == 2) turn(s); }",
    "for (int i = 0; i < s->n && i < 6; i++) { s->u[i] = i; if (i == 2) grow(t); }",
    "for (int i = 0; i < n; i++) { clear(s->u, 2); s->v[i] = s->dt; }",
    "for (int i = 0; i < n; i++) { s->v[i] = sqrt(fabs(s->dt)); }",
    "for (int i = 0; i < n; i++) s->next->u[i] = s->next->v[i];",
    "for (int k = 0; k < n; k++) for (int i = 0; i < s->n; i++) s->next->u[i] += s->u[k];",
    "for (int k = 0; k < n; k++) { for (int i = 0; i < m; i++) s->u[i] += k; s = s->next; }",
    "int k = s ? s->n : 0; for (int i = 0; i < k; i++) s->u[i] = t->v[i];",
    "int i; for (i = n; i > 0; i--) s->u[i - 1] = s->v[i] ; if (s) s->m = i;",
    "for (int i = 0; i < n; i++) { s->a[i] = s->dt; s->u[i] = s->a[0]; }",
    "for (int i = 0; i < n; i++) { double *p = s->u; p[i] = s->v[i]; int *q = &s->n; *q += 0; }",
    "int i = 0; while (i < n) { s->u[i] = s->v[i]; i++; }",
    "int i = 0; do { t->u[i] = t->v[i]; i++; } while (i < n);",
    "word.p = t->u; union word o; o.p = t->v; for (int i = 0; i < n; i++) { word.p[i] = 1; if (i == 1) word.x = o.x; }",
    "for (int i = 0; i < n; i++) { if (!s) break; s->u[i] = 1; }",
    "for (int i = 0; i < n; i++) { if (i < 9) { if (!s) continue; } s->u[i] = 1; }",
    "for (int i = 0; i < n; i++) t->v[i] = s ? s->u[i] : 2;",
    "for (int i = 0; i < n; i++) { global->u[i] = global->v[i]; s->v[i] = i; }",
    "for (int i = 0; i < global->n; i++) { if (i == 1) global = t; t->v[i] = i; }",
    "for (int i = 0; i < n; i++) { int g = s->n; s->u[i] = g; }",
    "for (int i = 0; i < *c; i++) s->u[i] = c[1];",
    "for (int i = 0; i < c[0]; i++) s->id[i] = 3;",
    "for (int i = 0; i < m; i++) for (int j = 0; j < i; j++) s->u[j] = s->v[j];",
    "for (int i = 0; i < n; i++) { if (s->u[i] > 2) continue; t->v[i] = 1; }",
    "for (int i = 0; i < n; i++) { if (i == 2) break; s->u[i] = t->v[i]; }",
    "struct box b = {0}; if (s) b = *s; for (int i = 0; i < n; i++) { b.u[i] = b.dt; b.n++; } if (s) s->m = b.n;",
    "if (!s) return; for (int i = 0; i < n; i++) s->u[i] = s->v[i] * s->dt + s->w;",
    "for (int i = 0; i < n; i++) { if (i % 2) c[i] = s->dt * 4; for (int j = 0; j < m; j++) c[j] += s->dt * 4; }",
    "for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) c[j] += s->dt * 4; if (i % 2) c[i] = s->dt * 4; }",
]
_DRIVER = """
#include <stdio.h>
#include <string.h>
typedef void function(struct box *s, struct box *t, int *c, int n, int m);
union word word;
struct box *global;
static struct world { struct box s, t, r; double d[4][12]; int i[3][12]; char f[16]; } w;
static void fill(int how, int n)
{
    memset(&w, 0, sizeof w);
    for (int k = 0; k < 12; k++)
        for (int j = 0; j < 4; j++) {
            w.d[j][k] = (k * 7 + j * 3) % 11 - 4;
            w.i[j % 3][k] = (k + j) % 5;
        }
    struct box *all[3] = {&w.s, &w.t, &w.r};
    for (int k = 0; k < 3; k++) {
        *all[k] = (struct box){.n = n < 0 ? 0 : n, .m = 2, .dt = 0.5 + k, .w = 1, .u = w.d[k], .v = w.d[k + 1],
                               .id = w.i[k], .flag = w.f, .next = all[(k + 1) % 3]};
        memcpy(all[k]->a, w.d[k], sizeof all[k]->a);
    }
    w.i[0][0] = n < 0 ? 0 : n;
    if (how == 1) w.s.id = &w.s.n;
    if (how == 2) w.s.u = &w.s.dt - 2;
    if (how == 2) w.t.v = &w.s.dt - 1;
    if (how == 3) w.s.v = w.s.u;
    if (how == 4) w.s.u = w.s.v + 1;
    if (how == 5) w.s.flag = (char *)&w.s.u;
    if (how == 6) w.s.id = (int *)&w.i[0][0];
    global = &w.r;
    memset(&word, 0, sizeof word);
}
static char *block_of(const void *p, char **end)
{
    struct { void *start; size_t bytes; } blocks[] = {
        {&w.s, sizeof w.s}, {&w.t, sizeof w.t}, {&w.r, sizeof w.r}, {w.d[0], sizeof w.d[0]}, {w.d[1], sizeof w.d[1]},
        {w.d[2], sizeof w.d[2]}, {w.d[3], sizeof w.d[3]}, {w.i[0], sizeof w.i[0]}, {w.i[1], sizeof w.i[1]},
        {w.i[2], sizeof w.i[2]}, {w.f, sizeof w.f}};
    for (int k = 0; k < 11; k++) {
        char *start = blocks[k].start;
        *end = start + blocks[k].bytes;
        if (start <= (char *)p && (char *)p < *end) return start;
    }
    return 0;
}
int ws_allocations_apart(const void *p, const void *q)
{
    char *end, *start = block_of(p, &end);
    return start && !(start <= (char *)q && (char *)q <= end);
}
static int differs(function *one, function *two, int how, int n, int m, int null)
{
    static struct world after;
    struct box *s = null ? 0 : &w.s, *t = how == 7 ? &w.s : &w.t;
    fill(how, n);
    one(s, t, w.i[0], n, m);
    after = w;
    fill(how, n);
    two(s, t, w.i[0], n, m);
    return memcmp(&after, &w, sizeof w) != 0;
}
"""


def _function(name: str, body: str) -> str:
    return f"void {name}(struct box *s, struct box *t, int *c, int n, int m)\n{{\n    {body}\n}}\n"


def _named(program: Program, name: str) -> Function:
    return next(f for _, f in program.functions() if f.symbol.name == name)


def _applied(bodies: Sequence[str]) -> tuple[str, list[int]]:
    """Return the functions after all that the step can do to their loops, and which of them it changed."""
    text = HEAD + "".join(_function(f"after{k}", body) for k, body in enumerate(bodies))
    program = start = program_of(text)
    facts = Facts.about(program, PolyOptions())
    changed: list[int] = []
    for k in range(len(bodies)):
        before = _named(program, f"after{k}")
        for number in range(len(loop_names(before))):
            address = list(loop_names(_named(program, f"after{k}")).values())[number]
            if isinstance(Localize(address).check(program, facts), Proved):
                program = Localize(address).apply(program)
                facts = facts.after(program)
        changed += [k] if _named(program, f"after{k}") is not before else []
    return unit_text(start.units[0], program.units[0], NoWords()), changed


def _assert_same(bodies: Sequence[str], folder: Path) -> int:
    """Run every body before and after; return how many the step changed."""
    after, changed = _applied(bodies)
    pieces = [after, _DRIVER, *(_function(f"before{k}", bodies[k]) for k in changed)]
    calls = [
        f"for (int how = 0; how < 8; how++) for (int n = -1; n < 8; n++) for (int m = -1; m < 5; m++)"
        f" for (int null = 0; null < 2; null++) if ({_allowed(bodies[k])} && "
        f"differs(before{k}, after{k}, how, n, m, null)) return {k} + 1;"
        for k in changed
    ]
    program = folder / "both.c"
    program.write_text("\n".join(pieces) + "int main(void)\n{\n" + "\n".join(calls) + "\nreturn 0;\n}\n")
    command = ["gcc", "-O1", "-fno-strict-aliasing", "-w", str(program), "-o", str(folder / "both"), "-lm"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[:2000]
    done = subprocess.run([str(folder / "both")], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, bodies[done.returncode - 1] if 0 < done.returncode <= len(bodies) else done.returncode
    return len(changed)


def _allowed(body: str) -> str:
    """Return the runs in which a body is defined: no null pointer that it follows, no stores that C's types forbid."""
    follows = any(part in body for part in ("< s->", "i < global->n; i++) { s"))
    guarded = any(part in body for part in ("if (!s)", "s ?"))
    nulls = "1" if guarded else "!null" if follows else "(!null || (n <= 0 && m <= 0))"
    return f"{nulls} && {'1' if 'flag' in body else 'how != 5'}"


def test_results_stay_the_same(tmp_path: Path) -> None:
    assert _assert_same(BODIES, tmp_path) > 20


@pytest.mark.parametrize("seed", range(2))
def test_random_programs_stay_the_same(seed: int, tmp_path: Path) -> None:
    bodies = [_random(random.Random(seed * 100 + k)) for k in range(24)]
    assert _assert_same(bodies, tmp_path) > 12


def _random(rng: random.Random) -> str:
    """Return a loop over members, some of which it may write."""

    def struct() -> str:
        return rng.choice(["s", "s", "t", "global"])

    def value() -> str:
        array, number = f"{struct()}->{rng.choice(['u', 'v'])}[i]", f"{struct()}->{rng.choice(['dt', 'w', 'n'])}"
        return rng.choice([array, number, number, "i"])

    def store() -> str:
        other, far = struct(), rng.choice(["c[i]", "c[i] % 3 + 1"])
        gathered = rng.choice([f"{other}->id[{far}] = i % 5;", f"{{ double *q = {other}->u; q[{far}] = {value()}; }}"])
        once = rng.choice(["dt = 3", "w = 2", "m = 1"])
        call = rng.choice(["turn(t)", "global = t", "clear(s->u, 3)"])
        stores = [
            f"{struct()}->{rng.choice(['u', 'v'])}[i] = {value()} + {value()};",
            f"{struct()}->id[i] = i % 7;",
            f"if (i == {rng.randrange(4)}) {struct()}->{once};",
            f"if (i == {rng.randrange(4)}) {{ double *p = s->u; s->u = t->v; t->v = p; }}",
            f"if ({value()} > 1) {struct()}->v[i] = {value()};",
            f"if (i == 1) {call};",
            gathered,
        ]
        return rng.choices(stores, [8, 2, 1, 1, 2, 1, 4])[0]

    body = " ".join(store() for _ in range(rng.randrange(1, 4)))
    guard = rng.choice(["", "", "if (!s) return; "])
    return f"{guard}for (int i = 0; i < {rng.choice(['n', 'n', 's->n', 'm', 'c[0]'])}; i++) {{ {body} }}"


# --- what is taken and what is not

TAKEN = [
    ("for (int i = 0; i < n; i++) s->u[i] = 1;", "double *u = 0 < n ? s->u : 0;"),
    ("for (int i = 0; i < s->n; i++) s->u[i] = s->v[i];", "double *v = s->v;"),
    ("for (int i = 0; i < s->n; i++) s->id[i] = i;", "(unsigned long)&s->n + sizeof(s->n) <= (unsigned long)id"),
    ("for (int i = 0; i < s->n; i++) s->id[c[i]]++;", "if (ws_allocations_apart(id, &s->n))"),
    ("for (int i = 0; i < s->n; i++) { s->u[i] = i; t->u = t->v; }", "&s->u + sizeof(s->u) <= (unsigned long)t"),
    ("for (int i = 0; i < s->n; i++) { int *q = s->id + m; q[c[i]] = 3; }", "if (ws_allocations_apart(id, &s->n))"),
    ("for (int i = 0; i < s->n; i++) s->next->next->u[i] = i;", "double *u = 0 < s_n ? s->next->next->u : 0;"),
    ("int u = 0; for (int i = 0; i < s->n; i++) s->u[i] = u;", "double *s_u = s->u;"),
    ("int k = s->n; for (int i = 0; i < k; i++) s->u[i] = 1;", "double *u = s->u;"),
    ("for (int i = 0; i < s->n; i++) { s->a[i] = 1; s->u[i] = 2; }", "double *a = s->a;"),
]
REFUSED = [
    ("for (int i = 0; i < n; i++) { s->u[i] = i; if (i == 2) s->u = s->v; }", "s->u = s->v may write it"),
    ("for (int i = 0; i < n; i++) { s->u[i] = i; s->u = t->v; }", "s->u = t->v may write it"),
    ("for (int i = 0; i < n; i++) { s->u[i] = i; turn(t); }", "turn(t) may write it"),
    ("for (int i = 0; i < n; i++) s->flag[i] = 1;", "may change in the loop"),
    ("for (int i = 0; i < n; i++) if (c[i]) s->u[i] = 1;", "may never be read"),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) s->u[j] = 1;", "may never be read"),
    ("for (int i = 0; i < n; i++) { exit(i); s->u[i] = 1; }", "may never be read"),
    ("for (int i = 0; i < n; i++) { s->u[i] = 1; word.x = 2; }", "a union member may write it"),
    ("for (int i = 0; i < n; i++) { other(); s->u[i] = 1; }", "calls what is not known here"),
    ("for (int i = 0; i < n; i++) c[i] = i;", "reads nothing from memory"),
]


@pytest.mark.parametrize("body, line", TAKEN)
def test_what_is_taken(body: str, line: str) -> None:
    program = program_of(HEAD + _function("f", body))
    (name,) = loop_names(_named(program, "f")).values()
    assert line in rewritten(HEAD + _function("f", body), Localize(name))


@pytest.mark.parametrize("body, reason", REFUSED)
def test_refusals_say_why(body: str, reason: str) -> None:
    program = program_of(HEAD + "void other(void);\n" + _function("f", body))
    facts = Facts.about(program, PolyOptions(guards=False))
    verdict = Localize("f/i", guards=False).check(program, facts)
    refused = survey(facts, LoopContext.of(program, "f/i")).refused
    texts = [r.text for r in (*refused, *(verdict.reasons if isinstance(verdict, Unknown) else ()))]
    assert any(reason in text for text in texts), texts


def test_a_file_without_strict_aliasing_rests_on_tests() -> None:
    program = program_of(HEAD + _function("f", BODIES[0]))
    facts = Facts.about(program, PolyOptions())
    assert isinstance(Localize("f/i", guards=False).check(program, facts), Proved)
    loose = msgspec.structs.replace(program.units[0], arguments=(*program.units[0].arguments, "-fno-strict-aliasing"))
    program = msgspec.structs.replace(program, units=(loose,))
    facts = Facts.about(program, PolyOptions())
    assert isinstance(Localize("f/i", guards=False).check(program, facts), Unknown)
    tested = unit_text(program.units[0], Localize("f/i").apply(program).units[0], NoWords())
    assert "(unsigned long)s + sizeof(*s) <= (unsigned long)u" in tested


# --- the checks notice


def _nothing(*_: object, **__: object) -> None:
    return None


BUGS: list[tuple[object, str, Callable[..., object]]] = [
    (unchanged, "_keeps_load", lambda *_, **__: True),
    (unchanged, "_by_call", _nothing),
    (invariants, "disturbances", lambda *_, **__: iter(())),
    (evaluation.KnownBefore, "needs", lambda *_: ()),
    (evaluation.Entered, "governs", lambda *_: True),
    (evaluation, "_may_skip", lambda *_: False),
    (evaluation, "_certain", walk),
    (localize, "invariant_guards", lambda *_: ()),
]


@pytest.mark.slow
@pytest.mark.parametrize("owner, name, bug", BUGS, ids=[name for _, name, _ in BUGS])
def test_seeded_bugs_are_caught(
    owner: object, name: str, bug: Callable[..., object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(owner, name, bug)
    with pytest.raises((AssertionError, subprocess.TimeoutExpired)):
        test_results_stay_the_same(tmp_path)


# --- what is stored through pointers that the loop reads from memory

ROWS = "struct grid { int n, **rows, *ends; }; "


def test_a_store_through_a_row_is_no_store_to_the_row_pointers() -> None:
    text = ROWS + "void f(struct grid *g) { for (int i = 0; i < g->n; i++) g->rows[i][0] = 5; }"
    after = rewritten(text, Localize("f/for"))
    # one of the rows may be &g->n, wherever the row pointers are
    assert "int **rows = g->rows;" in after
    assert "i < g->n" in after and "i < n" not in after


def test_a_guard_that_is_always_true_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(invariant_guards, "blocks_apart", lambda function, one, other, span: linear.number(1, span))
    bodies = ["for (int i = 0; i < s->n; i++) s->id[c[i] % 8] = i % 3;"]
    with pytest.raises(AssertionError):
        _assert_same(bodies, tmp_path)
