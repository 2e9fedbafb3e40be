"""Indices in 32 bits: where the tests of a launch hold, no part of an index leaves them, in any iteration.

Random nests are run in Python with a small number in place of 2^31 - 1, and every part of every index is looked at;
bugs put into the bounds are seen that way.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from tests.offload.hand import load
from warpsmith.flows.port import PortOptions, port
from warpsmith.offload.gain.sizes import Size, Sizes
from warpsmith.offload.mapping import narrow
from warpsmith.offload.mapping.extremes import extremes
from warpsmith.offload.mapping.narrow import narrow_conditions
from warpsmith.offload.mapping.ranges import counter_range
from warpsmith.offload.values.kernel_text import flat_rows
from warpsmith.tree.nodes import Expr, For, Stmt
from warpsmith.tree.program import Program
from warpsmith.tree.types import is_integer
from warpsmith.tree.walk import loops, peel, walk, written_symbols

SEEDS = 300
LARGEST = 150


def conditions(program: Program, threads: int = 1) -> tuple[Expr, ...]:
    """Return the tests of the kernel of a function's first nest, of which so many loops are threads."""
    ((_, function),) = program.functions()
    heads: list[For] = []
    inside: Stmt = function.body
    for loop, _ in loops(function.body):
        if len(heads) < threads and isinstance(loop, For):
            heads.append(loop)
            inside = loop.body
    rows = {p: tuple(e for e in flat_rows(p.type) if e is not None) for p in function.parameters if flat_rows(p.type)}
    changed = written_symbols(function.body)
    passed = frozenset(p for p in function.parameters if is_integer(p.type) and p not in changed)
    return narrow_conditions(heads, inside, rows, passed)


def holds(program: Program, found: Sequence[Expr], values: Mapping[str, int]) -> bool:
    """Whether a launch may use 32 bits, as its launcher computes it."""
    ((_, function),) = program.functions()
    sizes = Sizes({p: Size(values[p.name]) for p in function.parameters if p.name in values})
    results = [sizes.value(one) for one in found]
    return bool(found) and all(one is not None and one.value for one in results)


class Nest(Struct, frozen=True):
    """A random nest in C and in Python, where it lists every part of every index."""

    text: str
    python: str

    def parts(self, values: Mapping[str, int]) -> list[int]:
        found: list[int] = []
        exec(self.python, {"found": found, **values})
        return found


def make_nest(seed: int) -> Nest:
    draw = random.Random(seed)
    depth = draw.choice((2, 2, 3))
    counters = "ijkt"[: draw.choice((depth, depth, depth + 1))]
    heads, lines, known = [], [], list[str]()
    for counter in counters:
        low = draw.choice(["0", "0", "1", "2", *known[-1:]])
        bound = draw.choice(["n", "m", "l", "n - 1", "m + 1", *[f"{k} + 1" for k in known[-1:]]])
        if draw.random() < 0.2:
            heads.append(f"for (int {counter} = {bound}; {counter} >= {low}; {counter}--)")
            lines.append(f"for {counter} in range({bound}, ({low}) - 1, -1):")
        else:
            step = draw.choice((1, 1, 1, 2))
            heads.append(f"for (int {counter} = {low}; {counter} < {bound}; {counter} += {step})")
            lines.append(f"for {counter} in range({low}, {bound}, {step}):")
        known.append(counter)
    extents = ["m", "l"][: depth - 1]
    elements = [[_subscript(draw, counters) for _ in range(depth)] for _ in range(draw.choice((1, 2)))]
    if draw.random() < 0.5:  # an element beside another one
        at = draw.randrange(depth)
        elements.append([f"{s} + 1" if to == at else s for to, s in enumerate(elements[-1])])
    body = " + ".join("a" + "".join(f"[{s}]" for s in element) for element in elements)
    rows = "".join(f"[{e}]" for e in extents)
    text = f"void f(int n, int m, int l, double a[n]{rows}, double *b) {{\n{' '.join(heads)} b[0] += {body}; }}\n"
    pad = " " * len(counters)
    python = "".join(f"{' ' * at}{line}\n" for at, line in enumerate(lines))
    for element in elements:
        parts = [f"({s})" + "".join(f" * {e}" for e in extents[at:]) for at, s in enumerate(element)]
        cuts = [f"({s})" + "".join(f" * {e}" for e in extents[at:to]) for at, s in enumerate(element)
                for to in range(at, len(extents) + 1)]  # fmt: skip
        sums = [" + ".join(parts[: at + 1]) for at in range(len(parts))]
        python += f"{pad}found += [{', '.join([*cuts, *sums])}]\n"
    return Nest(text, python)


def _subscript(draw: random.Random, counters: str) -> str:
    one, other = draw.choice(counters), draw.choice(counters)
    return draw.choice((one, one, one, f"{one} + 1", f"{one} - 1", f"{one} + {other}", f"n - {one}", f"2 * {one}", "1"))


def _sizes(seed: int) -> dict[str, int]:
    draw = random.Random(seed)
    return {name: draw.choice((1, 2, 3, 4, 5, 7, 11, 17)) for name in "nml"}


def _check(folder: Path, seeds: range) -> tuple[int, int, list[str]]:
    """Return how many launches used 32 bits, how many could have, and where one should not have."""
    used = could = 0
    wrong: list[str] = []
    for seed in seeds:
        nest = make_nest(seed)
        program = load(nest.text, folder)
        found = conditions(program, 1 + seed % 2)
        for more in range(6):
            values = _sizes(seed * 10 + more)
            parts = nest.parts(values)
            right = all(0 <= part <= LARGEST for part in parts)
            chosen = holds(program, found, values)
            used, could = used + chosen, could + (right and bool(parts))
            if chosen and not right:
                wrong.append(f"{nest.text} with {values}: {min(parts)} to {max(parts)}")
    return used, could, wrong


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "real" not in request.keywords:
        monkeypatch.setattr(narrow, "LARGEST", LARGEST)


@pytest.mark.slow
def test_no_index_leaves_what_the_launch_has_tested(tmp_path: Path) -> None:
    used, could, wrong = _check(tmp_path, range(SEEDS))
    assert not wrong, wrong[0]
    assert used > 0.5 * could > 100, (used, could)


_Patch = Callable[[pytest.MonkeyPatch], None]


def _set(name: str, made: object) -> _Patch:
    return lambda patch: patch.setattr(narrow, name, made)


def _lower_ends(subscript: Any, ranges: Any) -> Any:
    ends = extremes(subscript, ranges)
    return None if ends is None else (ends[0], ends[0])


def _forgetting(loop: Any, ranges: Any) -> Any:
    ends = counter_range(loop, ranges)
    return None if ends is None else (ends[0], loop.lower)


_DISTANCE = narrow._distance
BUGS: dict[str, _Patch] = {
    "negative subscripts": _set("_at_least", lambda expr, least: iter(())),
    "the least subscript": _set("extremes", _lower_ends),
    "the first iteration": _set("counter_range", _forgetting),
    "any element is inside another": _set("_is_inside", lambda one, other, strict: strict),
    "the other way round": _set("_distance", lambda one, other: _DISTANCE(other, one)),
    "a limit that is too large": _set("LARGEST", LARGEST + 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_bugs_in_the_bounds_are_seen(bug: _Patch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bug(monkeypatch)
    assert any(_check(tmp_path, range(first, first + 25))[2] for first in range(0, SEEDS, 25))


NARROW = "void f(int n, int m, double a[n][m]) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = 1; }"


@pytest.mark.parametrize(
    ("n", "m", "fits"),
    [
        (1 << 16, 1 << 15, True), (46341, 46341, False), (46340, 46341, True), (2**31 - 1, 1, True),
        (1, 2**31 - 1, True),
        ((1 << 16) + 1, 1 << 15, False), (2**31 - 1, 2**31 - 1, False), (65536, 65536, False), (5, 0, False),
    ],
)  # fmt: skip
def test_sizes_at_the_limit(n: int, m: int, fits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrow, "LARGEST", 2**31 - 1)
    program = load(NARROW, tmp_path)
    assert holds(program, conditions(program, 2), {"n": n, "m": m}) is fits
    assert (n * m - 1 <= 2**31 - 1 and m > 0) is fits


@pytest.mark.parametrize(
    "body",
    [
        "a[p[i]][0] = 1;",  # memory decides
        "{ int t = i; t *= 7; a[t][0] = 1; }",  # a variable of the thread
        "while (n-- > 0) a[n][0] = 1;",
        "{ double *r = a[i]; r[0] = 1; }",  # a row, not an element
        "a[i % 7][0] = 1;",  # no extremes are known
        "a[g(i)][0] = 1;",
        "for (int j = 0; j < p[i]; j++) a[i][j] = 1;",
    ],
)
def test_what_has_no_bound_keeps_64_bits(body: str, tmp_path: Path) -> None:
    text = f"int g(int);\nvoid f(int n, int m, double a[n][m], int *p) {{ for (int i = 0; i < 9; i++) {body} }}"
    assert conditions(load(text, tmp_path)) == ()


def test_elements_inside_of_others_have_no_test_of_their_own(tmp_path: Path) -> None:
    text = """void f(int n, int m, double a[n][m], double b[n][m]) {
    for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)
        b[i][j] = a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j]; }"""
    found = conditions(load(text, tmp_path), 2)
    assert len(found) == 3  # rows are not empty; the one below and the one to the right
    assert all(is_integer(peel(one).type) for one in found)
    assert not any(isinstance(part, For) for one in found for part in walk(one))


TRANSPOSED = """#include <stdio.h>
static void add(int n, int m, double a[n][m], double b[m][n], double c[n][m]) {
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) c[i][j] = a[i][j] + b[j][i];
}
static double a[40][30], b[30][40], c[40][30];
int main(void) {
    for (int i = 0; i < 40; i++) for (int k = 0; k < 30; k++) { a[i][k] = i - k; b[k][i] = i * k % 7; }
    add(40, 30, a, b, c);
    for (int i = 0; i < 40; i++) printf("%g ", c[i][29 - i % 30]);
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("largest", "type"), [(2**31 - 1, "int"), (40 * 30 - 2, "longlong")])
def test_both_kernels_do_what_the_loops_did(
    largest: int, type: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(narrow, "LARGEST", largest)
    path = tmp_path / "transposed.c"
    path.write_text(TRANSPOSED)
    made = port([str(path)], PortOptions())
    assert made.verification is not None and made.verification.status == "pass"
    launched = [name for name in made.verification.launches or {} if name.startswith("ws_add_k1_kernel")]
    assert launched == [f"ws_add_k1_kernel<{type}>"]
