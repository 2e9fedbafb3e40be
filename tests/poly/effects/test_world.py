"""Answers kept from program to program are as if nothing had been asked before.

Functions of several texts are mixed at random: each step replaces one function by its version in another text, so that
summaries, what pointers may hold, and which globals own their memory change all the time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from tests.poly.analysis import program_of
from warpsmith.poly.effects import global_pointers, summaries, world
from warpsmith.poly.effects.effects import effects
from warpsmith.poly.effects.liveness import Liveness
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.effects.world import FunctionPiece, World
from warpsmith.tree.nodes import Function, Node, Stmt, replace
from warpsmith.tree.program import Program
from warpsmith.tree.walk import walk

HEAD = """
#include <stdlib.h>
#include <stdio.h>
double *u, *v, *spare; int count, limit = 3; double *kept[4];
double flux(double *a, int i); void note(int *where); void sweep(double *a, double *b, int n);
int deep(int n); int by(const void *a, const void *b); void fill(double *a, int n); int size(int n);
double any(int i);
"""
# each function in two or three versions
VERSIONS: dict[str, tuple[str, ...]] = {
    "flux": (
        "double flux(double *a, int i) { return a[i]; }",
        "double flux(double *a, int i) { a[i] = 1; count++; return a[i]; }",
        "double flux(double *a, int i) { kept[0] = a; return v[i]; }",
    ),
    "note": (
        "void note(int *where) { *where = 1; }",
        "void note(int *where) { kept[1] = (double *)where; }",
        "void note(int *where) { printf(\"%d\", *where); }",
    ),
    "any": ("double any(int i) { return *kept[i]; }", "double any(int i) { return *kept[i] = 0; }"),
    "size": ("int size(int n) { return n; }", "int size(int n) { return limit = n; }"),
    "sweep": (
        "void sweep(double *a, double *b, int n) { for (int i = 0; i < n; i++) b[i] = flux(a, i); }",
        "void sweep(double *a, double *b, int n) { double row[size(n)]; for (int i = 0; i < n; i++) row[i] = a[i]; }",
        "void sweep(double *a, double *b, int n) { double *t = a; u = b; for (int i = 0; i < n; i++) t[i] = 0; }",
    ),
    "by": (
        "int by(const void *a, const void *b) { return 0; }",
        "int by(const void *a, const void *b) { count++; return *(double *)a < *(double *)b; }",
    ),
    "deep": (
        "int deep(int n) { return n ? deep(n - 1) + size(n) : 0; }",
        "int deep(int n) { fill(u, n); note(&n); return n; }",
    ),
    "fill": (
        "void fill(double *a, int n) { int k = n; for (int i = 0; i < k; i++) a[i] = deep(i); qsort(a, n, 8, by); }",
        "void fill(double *a, int n) { int k = n; note(&k); for (int i = 0; i < k; i++) a[i] = limit; }",
    ),
    "main": (
        "int main() { int n = 9, m = 4; u = malloc(72); v = malloc(72); note(&count); sweep(u, v, n); return m; }",
        "int main() { int n = 9, m = 4; u = malloc(72); v = u; note(&m); sweep(u, v, n); return deep(m); }",
        "int main() { int n = 9, m = 4; spare = u = malloc(72); v = malloc(72); note(&count); fill(v, n); return m; }",
    ),
}  # fmt: skip
STEPS = 60


def _texts() -> list[Program]:
    """Return programs that have every version of every function among them."""
    most = max(map(len, VERSIONS.values()))
    return [
        program_of(HEAD + "\n".join(versions[k % len(versions)] for versions in VERSIONS.values())) for k in range(most)
    ]


def _programs(seed: int) -> Iterator[Program]:
    """Yield the programs of a random sequence."""
    rng = random.Random(seed)
    texts = _texts()
    program = texts[0]
    yield program
    for _ in range(STEPS):
        old = rng.choice([function for _, function in program.functions()])
        new = next(f for _, f in rng.choice(texts).functions() if f.symbol == old.symbol)
        program = program.with_function(old, new)
        yield program


def _answers(program: Program) -> list[object]:
    """Return all that is asked of a program."""
    known = Summaries.of(program)
    found: list[object] = [known.globals, known.stable, known.address_taken, known.find_held()]
    for _, function in program.functions():
        found += [known.summary(function.symbol), known.provenance(function)]
        origin, live = Origin.of(program, function, known), Liveness.of(program, function, known)
        found += [(origin.hidden, origin.unstable, origin.constants), (live.after, live.entry)]
        found += [effects(program, n, function, known) for n in walk(function.body) if isinstance(n, Stmt)]
    return found


def _differing(monkeypatch: pytest.MonkeyPatch, seed: int) -> int:
    """Return how many programs of a sequence are answered otherwise than from scratch."""
    wrong = 0
    for program in _programs(seed):
        kept = _answers(program)
        with monkeypatch.context() as scratch:
            scratch.setattr(world, "_world", lambda key: World())
            scratch.setattr(summaries, "_of", summaries._of.__wrapped__)
            scratch.setattr(global_pointers, "_uses", global_pointers._uses.__wrapped__)
            scratch.setattr(global_pointers, "_find_kept", global_pointers._find_kept.__wrapped__)
            wrong += kept != _answers(program)
    return wrong


def test_rewritten_programs_are_answered_as_from_scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _differing(monkeypatch, 1) == _differing(monkeypatch, 2) == 0


def test_what_did_not_change_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new text that does what the old one did costs itself alone."""
    program = _texts()[0]
    _answers(program)
    made: list[str] = []
    original = Summaries._summarize

    def counted(known: Summaries, function: Function) -> FunctionPiece:
        made.append(function.symbol.name)
        return original(known, function)

    monkeypatch.setattr(Summaries, "_summarize", counted)
    old = next(f for _, f in program.functions() if f.symbol.name == "size")
    _answers(program.with_function(old, replace(old)))
    assert made == ["size"]


def _callees_forgotten(known: Summaries, function: Function) -> FunctionPiece:
    for callee in known._callees(function):
        known.summary(callee)
    return known.world.piece(function, (), lambda: known._summarize(function))


def _held_forgotten(
    known: Summaries, function: Function, part: Node, question: str, answer: Callable[[], object]
) -> object:
    piece = known._piece(function)
    return world.remember(piece.answers, (question, part), answer)


ONE_WORLD = World()


@pytest.mark.parametrize(
    ("where", "name", "bug"),
    [
        (Summaries, "_make_piece", _callees_forgotten),
        (Summaries, "remember_of", _held_forgotten),
        (world, "_world", lambda key: ONE_WORLD),
    ],
    ids=["callees", "held", "world"],
)
def test_a_stale_answer_is_found(
    monkeypatch: pytest.MonkeyPatch, where: object, name: str, bug: Callable[..., object]
) -> None:
    # the seeded bugs leave what is wrong in worlds of their own
    world._world.cache_clear()
    monkeypatch.setattr(where, name, bug)
    assert _differing(monkeypatch, 1) > 0
    monkeypatch.undo()
    world._world.cache_clear()
