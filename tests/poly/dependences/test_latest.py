"""Latest values: what iterations set scalars to, compared with runs; and near misses, which stay in order."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.poly.analysis import facts_of, program_of
from tests.poly.dependences.random_latest import VARIABLES, original, program
from tests.poly.programs import function
from tests.sampling import one_in
from warpsmith.base.verdict import Proved
from warpsmith.poly.dependences import iteration_values, latest
from warpsmith.poly.dependences.latest import LatestValue, find_latest
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.run.native.tools import c_compiler
from warpsmith.tree.nodes import For, Name
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

# what an iteration does, and what it makes of x, y: the value, and where it comes from; "" where it is no latest value
CASES: list[tuple[str, str, str]] = [
    ("w[i] = x; x = p[i];", "p[i] | -1", ""),
    ("if (p[i] > 2) x = q[i]; w[i] = x;", "p[i] > 2 ? q[i] : 0 | p[i] > 2 ? -1 : 0", ""),
    ("w[i] = x + y; y = x; x = p[i];", "p[i] | -1", "0 | 1"),
    ("int t = x; x = y; y = t;", "0 | 1", "0 | 0"),
    ("int t = x; t = 3; x = y; y = t;", "0 | 1", "3 | -1"),
    ("x = p[i]; w[i] = x; x = q[i] + x;", "q[i] + p[i] | -1", ""),
    ("x = p[i] > 2 ? q[i] : x;", "p[i] > 2 ? q[i] : 0 | p[i] > 2 ? -1 : 0", ""),
    ("if (p[i] < 0) continue; x = i;", "p[i] < 0 ? 0 : i | p[i] < 0 ? 0 : -1", ""),
    ("if (p[i]) { if (q[i]) x = 1; } else x = 2;",
     "p[i] ? q[i] ? 1 : 0 : 2 | p[i] ? q[i] ? -1 : 0 : -1", ""),
    ("x = i; if (p[i]) x = y;", "p[i] ? y : i | -1", ""),
    ("x = i; if (p[i]) x = y; y = w[i];", "p[i] ? 0 : i | p[i] ? 1 : -1", "w[i] | -1"),
    ("x = w[i]; w[i] = p[i];", "w[i] | -1", ""),
    # what it gets depends on what it was, or on what the iteration has changed before
    ("x = x + p[i];", "", ""),
    ("x = p[x];", "", ""),
    ("if (x > 2) x = p[i];", "", ""),
    ("w[i] = p[i]; x = w[i];", "", ""),
    ("x = y * 2; y = p[i];", "", "p[i] | -1"),
    ("x = y; y += p[i];", "", ""),
    ("for (int j = 0; j < 2; j++) x = p[j];", "", ""),
    ("while (p[i] > x) x = p[i];", "", ""),
    ("if (p[i]) break; x = i;", "", ""),
    ("set(&x); x = p[i];", "p[i] | -1", ""),
    ("x = p[i]; set(&x);", "", ""),
    ("if ((x = p[i]) > 2) w[i] = 1;", "", ""),
    ("x = y = p[i];", "", ""),
    ("int t = x; if ((t = p[i]) > 2) w[i] = 1; x = y; y = t;", "", ""),
]  # fmt: skip
HEAD = "void set(int *);\n"


@pytest.mark.parametrize(("body", "x", "y"), CASES, ids=[case[0] for case in CASES])
def test_what_an_iteration_sets_scalars_to(body: str, x: str, y: str) -> None:
    text = f"{HEAD}void f(int n, int *p, int *q, int *w, int x, int y) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    found = _latest_of(text, "f")
    shown = {s.name: f"{Printer().expr(one.value)} | {Printer().expr(one.source)}" for s, one in found.items()}
    assert (shown.get("x", ""), shown.get("y", "")) == (x, y)


def _latest_of(text: str, name: str) -> Mapping[Symbol, LatestValue]:
    parsed = program_of(text)
    return _ask(_loop_of(parsed, name), Summaries.of(parsed))


def _loop_of(parsed: Program, name: str) -> For:
    return next(n for n in walk(function(parsed, name).body) if isinstance(n, For))


def _ask(loop: For, summaries: Summaries) -> Mapping[Symbol, LatestValue]:
    among = {n.symbol for n in walk(loop) if isinstance(n, Name) and n.symbol.name in VARIABLES}
    return find_latest(loop, among, summaries)


# --- against runs

COUNT = 160
SEED = 4100


def wrong(folder: Path, seed: int = SEED, count: int = COUNT) -> tuple[list[int], int]:
    """Return the numbers of the random functions of which something wrong is said, and of how many values it is."""
    texts = [original(number, seed + number) for number in range(count)]
    parsed = program_of("\n".join(texts))
    summaries = Summaries.of(parsed)
    found = [_ask(_loop_of(parsed, f"f{number}"), summaries) for number in range(count)]
    (folder / "latest.c").write_text(program(texts, found))
    built = [c_compiler(), "-w", "-fwrapv", "-o", str(folder / "latest"), str(folder / "latest.c")]
    subprocess.run(built, check=True)
    said = subprocess.run([str(folder / "latest")], check=True, capture_output=True, text=True).stdout
    return [int(number) for number in said.split()], sum(len(one) for one in found)


def test_runs_agree(tmp_path: Path) -> None:
    bad, values = wrong(tmp_path)
    assert not bad and values >= COUNT


def _ignore_conditions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(latest, "_choose", lambda condition, then, other: then)


def _forget_writes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(iteration_values, "_find_written_before", lambda *given: None)


def _mix_types(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(latest, "_look_up", lambda held, symbol, state: state.get(held.symbol))


def _keep_stale(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(latest._Follower, "lose", lambda self, stmt, state: state)


BUGS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "conditions ignored": _ignore_conditions,
    "writes before reads forgotten": _forget_writes,
    "copies between types": _mix_types,
    "other writes forgotten": _keep_stale,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(2, BUGS))
def test_seeded_bugs_are_seen(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    BUGS[name](monkeypatch)
    assert wrong(tmp_path)[0]


# --- verdicts

LOOP = "for (int i = 0; i < n; i++) { BODY }"
ARRAYS = "int n, double *restrict a, const double *restrict b, int *restrict h"
SCANS = [
    f"void f({ARRAYS}) {{ double x = 1; {LOOP} }}".replace("BODY", body)
    for body in (
        "a[i] = x; x = b[i];",
        "if (b[i] > 0) x = b[i]; a[i] = x;",
        "a[i] = x; x = a[i] + 0 * x; x = b[i];",
        "double t = b[i] * 2; a[i] = t + x; x = t;",
        "if (h[i]) { a[i] = x; x = b[i]; } else x = 2;",
    )
]
# what stays in order, and a word of why
STAYS = [
    (f"void f({ARRAYS}) {{ double x = 1; {LOOP} }}".replace("BODY", body), word)
    for body, word in (
        ("a[i] = x; x = b[i] * x * x;", "x"),
        ("a[i] = x; if (x > b[i]) x = b[i] / 2;", "x"),
        ("a[i] = x; x = a[i];", "x"),
        ("a[i] = x; x = b[(int)x];", "x"),
        ("a[i] = x + a[i + 1]; x = b[i];", "a"),
        ("h[i] = x; x = b[h[i]];", "x"),
        ("a[h[i]] = x; x = b[i];", "a"),
    )
] + [
    (f"void f({ARRAYS}) {{ double x = 1, *at = &x; {LOOP} }}".replace("BODY", "a[i] = x; x = b[i]; *at += 1;"), "x"),
    (f"void f({ARRAYS}) {{ volatile double x = 1; {LOOP} }}".replace("BODY", "a[i] = x; x = b[i];"), "volatile"),
    (f"double f({ARRAYS}) {{ double x = 1, s = 0; {LOOP} return s; }}".replace("BODY", "s += x; x = b[i];"), "x"),
    (f"static double x; static void on(void) {{ x += 1; }} void f({ARRAYS}) {{ {LOOP} }}"
     .replace("BODY", "a[i] = x; x = b[i]; on();"), "x"),
    (f"void f({ARRAYS}) {{ _Bool x = 1; {LOOP} }}".replace("BODY", "a[i] = x; x = h[i];"), "x"),
]  # fmt: skip


@pytest.mark.parametrize("text", SCANS)
def test_a_latest_value_is_a_scan(text: str) -> None:
    found = facts_of(text)["f/i"]
    assert found.category == "scan" and isinstance(found.combined, Proved) and not found.combined.assumptions
    assert [r.op for r in found.reductions] == ["latest"]


@pytest.mark.parametrize(("text", "word"), STAYS)
def test_what_depends_on_the_value_before_stays_in_order(text: str, word: str) -> None:
    found = facts_of(text)["f/i"]
    assert found.category in ("sequential", "unanalyzable") and found.combined is None
    assert any(word in reason.text for reason in found.reasons)


def test_what_may_be_one_array_is_tested() -> None:
    text = "void f(int n, double *a, double *b) { double x = 1; for (int i = 0; i < n; i++) { a[i] = x; x = b[i]; } }"
    found = facts_of(text)["f/i"]
    assert found.category == "scan" and isinstance(found.combined, Proved) and len(found.combined.assumptions) == 1
    unguarded = facts_of(text, guards=False)["f/i"]
    assert not isinstance(unguarded.combined, Proved)


def test_a_last_value_that_nobody_reads_in_the_loop_is_none() -> None:
    text = "int f(int n, int *h) { int k = 0; for (int i = 0; i < n; i++) if (h[i] > 2) k = i; return k; }"
    assert facts_of(text)["f/i"].category == "sequential"
