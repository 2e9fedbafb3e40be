"""Proofs by allocations: where a verdict and its guards hold, a loop run backwards does what it does forwards.

Every loop is run over hostile memory: blocks that overlap, pointers into the middle of them and one past their end.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.poly.analysis import assumed, facts_of, program_of
from warpsmith.base.verdict import Proved
from warpsmith.poly.aliasing import aliasing
from warpsmith.poly.analyze import analyze
from warpsmith.poly.dependences import dependences
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import LoopFacts, PolyOptions
from warpsmith.poly.regions.region import MemberStep
from warpsmith.tree.nodes import Literal
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import INT

HEAD = """
struct cell { double r[2], f[2]; int type, many; };
struct box { double *deep; int n; };
static double pair(const double *p, const double *q) { return p[0] * 2 - q[1]; }
static void put(double *p, double x) { p[0] = x; }
static double within(const struct box *s, int i) { return s->deep[i & 3]; }
static double kept[4];
static double keeper(int i) { return kept[i & 3]; }
"""
PARAMETERS = "int n, double *a, double *b, int *k, int *c, struct cell *s, struct cell *t, struct box *g"
# loops that are parallel under conditions
OPEN = [
    "a[i] = b[k[i] & 7];",
    "a[i] = b[(k[i] & 7) - 8] + a[i];",
    "struct cell *p = &s[i]; p->f[0] += b[p->type & 7];",
    "s[i].f[0] = s[k[i] & 3].r[1] + 1;",
    "s[i].many = s[k[i] & 3].type + s[i & 1].type;",
    "const double *q = b; a[i] = q[k[i] & 7];",
    "struct cell *p = s + i; double *v = p->f; v[1] = t[k[i] & 3].r[0];",
    "a[i] = pair(b, b + 1);",
    "double *p = s[i].f; p[0] = pair(b, t[k[i] & 3].r);",
    "a[i] = keeper(i);",
    "c[i] = k[k[i] & 7];",
]
# loops in which an iteration may need another one's element
SHUT = [
    "s[i].f[0] = s[k[i] & 3].f[0] + 1;",
    "a[i] = a[k[i] & 7];",
    "a[i] = pair(a, b);",
    "put(a, i);",
    "a[i] = within(g, i);",
    "double *p = a; if (c[i] > 2) p = a + 1; a[i] = p[i];",
    "s[i].f[0] = ((double *)s)[k[i] & 7];",
    "struct cell *p = s; p[i].r[0] = s[k[i] & 3].r[1];",
    "a[k[i] & 7] = i;",
]
# what is made before the loop
MADE = [
    ("double *p = a + 1;", "double *q = p; q[i] = a[i];"),
    ("struct cell *p = (struct cell *)((char *)s + 16);", "s[i].f[0] = p[k[i] & 3].r[0];"),
    ("double *p = n > 3 ? a : b;", "double *q = p; q[i] = b[k[i] & 7];"),
    ("double *deep = g->deep;", "double *q = deep; q[i] = a[k[i] & 7];"),
]
DRIVER = """
#include <stdio.h>
#include <string.h>
enum { BLOCKS = 5, ROOM = 256, GAP = 64 };
static struct { char before[GAP], arena[BLOCKS][ROOM + GAP]; } all __attribute__((aligned(64)));
#define arena all.arena
static long block_of(const void *p)
{
    for (long k = 0; k < BLOCKS; k++)
        if (arena[k] <= (const char *)p && (const char *)p <= arena[k] + ROOM) return k;
    return -1;
}
int ws_allocations_apart(const void *p, const void *q) { return block_of(p) >= 0 ? block_of(p) != block_of(q) : 0; }
static void fill(void)
{
    for (int k = 0; k < BLOCKS; k++) {
        double *d = (double *)arena[k];
        for (int j = 0; j < (ROOM + GAP) / 8; j++) d[j] = (j * 7 + k * 3) % 13;
        if (k > 2) for (int j = 0; j < (ROOM + GAP) / 4; j++) ((int *)arena[k])[j] = (j * 5 + k) % 9;
    }
    for (int j = 0; j < 4; j++) kept[j] = j * 3;
}
typedef int function(PARAMETERS, int back);
static int differs(function *run, int where)
{
    static char after[sizeof arena], kept_after[sizeof kept];
    struct box g;
    int w[4] = {where % 8, where / 8 % 8, where / 64 % 5, where / 320 % 4}, held = 0;
    double *places[] = {(double *)arena[0], (double *)arena[0] + 2, (double *)arena[0] + 16, (double *)arena[1],
                        (double *)arena[1] + 8, (double *)(arena[1] + ROOM), (double *)arena[2] + 1, kept};
    int *numbers[] = {(int *)arena[3], (int *)arena[3] + 5, (int *)arena[4], (int *)arena[4] + 3, (int *)arena[3]};
    struct cell *cells[] = {(struct cell *)arena[2], (struct cell *)arena[0], (struct cell *)(arena[2] + 40),
                            (struct cell *)arena[1]};
    for (int back = 0; back < 2; back++) {
        fill();
        g.deep = places[(w[0] + w[1]) % 7];
        /* nothing is stored through a pointer one past the end */
        held = run(4, places[w[0] == 5 ? 0 : w[0]], places[w[1]], numbers[w[2]], numbers[(w[2] + w[3]) % 5],
                   cells[w[3]], cells[(w[3] + w[0]) % 4], &g, back);
        if (!held) return 0;
        if (!back) { memcpy(after, arena, sizeof arena); memcpy(kept_after, kept, sizeof kept); }
    }
    return memcmp(after, arena, sizeof arena) || memcmp(kept_after, kept, sizeof kept) ? 2 : 1;
}
"""


def _texts() -> Iterator[tuple[str, str]]:
    yield from (("", body) for body in (*OPEN, *SHUT))
    yield from MADE


def _proved(facts: LoopFacts) -> bool:
    return isinstance(facts.verdict, Proved)


def _source(name: str, made: str, body: str) -> str:
    return f"void {name}({PARAMETERS})\n{{\n    {made}\n    for (int i = 0; i < n; i++) {{ {body} }}\n}}\n"


def _run_backwards(folder: Path) -> tuple[int, dict[str, int]]:
    """Run every loop that is proved, forwards and backwards, wherever its guards hold; return how many there are, and
    how often each was run."""
    texts = list(_texts())
    program = program_of(HEAD + "".join(_source(f"f{k}", *text) for k, text in enumerate(texts)))
    facts = {f.function.symbol.name: f.loops[0] for f in analyze(program, PolyOptions()).functions if f.loops}
    pieces = [HEAD, DRIVER.replace("PARAMETERS", PARAMETERS)]
    names: list[int] = []
    for k, (made, body) in enumerate(texts):
        if not _proved(facts[f"f{k}"]):
            continue
        guards = [a.condition for a in getattr(facts[f"f{k}"].verdict, "assumptions", ())]
        held = " && ".join(f"({print_expr(g)})" for g in guards if g is not None) or "1"
        forward, backward = "for (int i = 0; i < n; i++)", "for (int i = n - 1; i >= 0; i--)"
        pieces.append(
            f"static int run{k}({PARAMETERS}, int back)\n{{\n    {made}\n    if (!({held})) return 0;\n"
            f"    if (back) {backward} {{ {body} }}\n    else {forward} {{ {body} }}\n    return 1;\n}}\n"
        )
        names.append(k)
    runs = "".join(
        f"    {{ int held = 0; for (int w = 0; w < 1280; w++) {{ int d = differs(run{k}, w); held += d;"
        f' if (d == 2) return {k} + 1; }} printf("{k} %d\\n", held); }}\n'
        for k in names
    )
    (folder / "run.c").write_text("\n".join([*pieces, f"int main(void)\n{{\n{runs}    return 0;\n}}\n"]))
    command = ["gcc", "-O1", "-w", "-fno-strict-aliasing", str(folder / "run.c"), "-o", str(folder / "run")]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[:2000]
    done = subprocess.run([str(folder / "run")], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, texts[done.returncode - 1]
    times = {texts[int(k)][1]: int(count) for k, count in (line.split() for line in done.stdout.splitlines())}
    return len(names), times


def test_what_is_proved_may_run_backwards(tmp_path: Path) -> None:
    count, times = _run_backwards(tmp_path)
    assert count >= len(OPEN)
    assert all(times[body] > 20 for body in OPEN), times


@pytest.mark.parametrize("body", OPEN)
def test_units_settle_what_sections_cannot(body: str) -> None:
    facts = facts_of(HEAD + _source("f", "", body))["f/i"]
    assert _proved(facts), [r.text for r in facts.reasons]
    assert all(a for a in assumed(facts))


@pytest.mark.parametrize("body", SHUT)
def test_a_loop_that_meets_itself_is_not_proved(body: str) -> None:
    assert not _proved(facts_of(HEAD + _source("f", "", body))["f/i"])


def test_moving_pointers_have_no_block(tmp_path: Path) -> None:
    moving = "a[i] = b[k[i] & 7]; b += c[i];"
    assert not _proved(facts_of(HEAD + _source("f", "", moving))["f/i"])
    assert not _proved(facts_of(HEAD + _source("f", "", "a[i] = b[k[i] & 7];"), guards=False)["f/i"])


# --- bugs that the run must find


def _caught(folder: Path) -> bool:
    try:
        _run_backwards(folder)
    except AssertionError:
        return True
    return False


def test_a_guard_that_is_always_true_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(aliasing, "blocks_apart", lambda *_: Literal(span=_[3], type=INT, text="1", value=1))
    assert _caught(tmp_path)


def test_members_taken_for_apart_are_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        dependences, "_members_apart", lambda one, other: any(isinstance(p, MemberStep) for p in one.path)
    )
    assert _caught(tmp_path)


@pytest.mark.slow
def test_forgotten_sources_are_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(aliasing, "sources", lambda run, symbol: frozenset())
    assert _caught(tmp_path)


@pytest.mark.slow
def test_forgotten_arguments_are_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Summaries, "reaches", lambda self, call, write: ((), ()))
    assert _caught(tmp_path)
