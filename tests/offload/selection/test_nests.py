"""Which loops become the threads of one kernel, and what it owns. More refusals: see test_choice.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import analyzed
from warpsmith.base.verdict import Reason
from warpsmith.offload.fragments import Draft
from warpsmith.offload.plan import OffloadOptions
from warpsmith.offload.selection.nests import nest_at


def nest(text: str, folder: Path, options: OffloadOptions | None = None) -> Draft | Reason:
    """Return what becomes of the outermost loop of `f`."""
    program = analyzed(text, folder)
    facts = program.facts["f"].loops[0]
    return nest_at(program.request("f", options), facts, (facts.loop,))


def made(text: str, folder: Path) -> Draft:
    found = nest(text, folder)
    assert isinstance(found, Draft), found.text
    return found


def refused(text: str, folder: Path, options: OffloadOptions | None = None) -> str:
    found = nest(text, folder, options)
    assert isinstance(found, Reason)
    return found.text


HEAD = "void f(int n, int m, double *restrict a, double *restrict b, const int *restrict at) "
FOUR = "for (int i = 0; i < 9; i++) for (int j = 0; j < 9; j++) for (int k = 0; k < 9; k++) for (int l = 0; l < 9; l++)"


@pytest.mark.parametrize(
    ("body", "threads"),
    [
        ("for (int i = 0; i < n; i++) a[i] = b[i];", "f/i"),
        ("for (int i = 0; i < 9; i++) for (int j = 0; j < 9; j++) a[i * 9 + j] = 1;", "f/i f/i/j"),
        ("for (int i = 0; i < n; i++) { b[i] = 2; for (int j = 0; j < 9; j++) a[i * 9 + j] = 1; }", "f/i"),
        ("for (int i = 0; i < 9; i++) for (int j = 1; j < 9; j++) a[i * 9 + j] = a[i * 9 + j - 1] * 2;", "f/i"),
        # at most three
        (FOUR + " a[((i * 9 + j) * 9 + k) * 9 + l] = 1;", "f/i f/i/j f/i/j/k"),
        ("for (int i = 0; i < 9; i++) for (int j = 0; j < at[i]; j++) if (j < 9) a[i * 9 + j] = 1;", "f/i"),
        # a range that no host expression tells
        ("for (int i = 0; i < 9; i++) for (int j = 9 - i; j > m; j -= 2) if (j >= 0) a[i * 9 + j] = 1;", "f/i"),
        # what is declared between two loops without a value is each iteration's own
        ("int i; for (i = 0; i < 9; i++) { int j; for (j = 0; j < 9; j++) a[i * 9 + j] = 1; }", "f/i f/i/j"),
        (
            "for (int i = 0; i < 9; i++) { int j, k; { double s; for (j = 0; j < 9; j++) { s = 0; "
            "for (k = 0; k < 9; k++) s += b[k]; a[i * 9 + j] = s; } } }",
            "f/i f/i/j",
        ),
        ("for (int i = 0; i < 9; i++) { int k = i; for (int j = 0; j < 9; j++) a[i * 9 + j] = k; }", "f/i"),
        ("for (int i = 0; i < 9; i++) { double t[2]; for (int j = 0; j < 9; j++) a[i * 9 + j] = 1; }", "f/i"),
        (
            "for (int i = 0; i < 9; i++) { double s; for (int j = 0; j < 9; j++) { if (b[j] > 0) s = b[j]; "
            "a[i * 9 + j] = j ? s : 0; } }",
            "f/i",
        ),
        # the updates of the loop inside alone decide the element: the loop inside is the kernel
        ("double s = 0; for (int i = 0; i < n; i++) s += a[i]; b[0] = s;", "f/i"),
    ],
)
def test_the_loops_that_become_threads(body: str, threads: str, tmp_path: Path) -> None:
    assert " ".join(facts.id for facts in made(f"{HEAD}{{ {body} }}", tmp_path).loops) == threads


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("int i = 0; while (i < n) { a[i] = 1; i++; }", "only a counted loop can become threads"),
        ("for (int i = 0; i < at[0]; i++) a[i] = b[i];", "the loop's bound reads memory"),
        ("for (int i = 0; i < n; i++) a[0] = b[i];", "'a'"),
        (
            "double t; for (int i = 0; i < n; i++) { t = b[i]; a[i] = t; } a[0] = t;",
            "the value that 't' has after the loop",
        ),
        ("double t = 0; for (int i = 0; i < n; i++) { if (b[i] > 1) t = b[i]; a[i] = 1; } a[0] = t;", "'t'"),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < 64; j++) a[j] += b[j * 64 + i];", "parallel, without atomic"),
        ("int i; for (i = m; i < n; i++) { double t = b[i]; } a[i] = 1;", "its iterations change nothing"),
    ],
)
def test_why_a_loop_makes_no_kernel(body: str, said: str, tmp_path: Path) -> None:
    found = nest(f"{HEAD}{{ {body} }}", tmp_path)
    # loops that carry something are not asked in a port: here they may make what they own of it
    assert isinstance(found, Reason) or said == "'a'"
    assert not isinstance(found, Reason) or said in found.text


def test_what_iterations_own_is_local_and_counters_get_their_last_values(tmp_path: Path) -> None:
    text = f"""{HEAD}{{ int i, j; double t; static int seen;
        for (i = 0; i < n; i++) for (j = 0; j < 9; j++) {{ t = b[i]; a[i * 9 + j] = t; }}
        seen = i + j; }}"""
    found = made(text, tmp_path)
    assert [s.name for s in found.locals] == ["t"] and len(found.finals) == 2
    assert {u.symbol.name for u in found.uses} == {"a", "b", "n"}
    quiet = made(text.replace("seen = i + j;", "seen = 1;"), tmp_path)
    assert quiet.finals == ()


def test_a_counter_that_something_else_writes_too_cannot_be_restored(tmp_path: Path) -> None:
    text = f"""{HEAD}{{ int i, j;
        for (i = 0; i < n; i++) {{ for (j = 0; j < 9; j++) a[i * 9 + j] = 1; if (b[i] > 2) j = 4; }}
        a[0] = j; }}"""
    assert "the value that 'j' has after the loop is read" in refused(text, tmp_path)


def test_reductions_may_be_kept_in_their_order(tmp_path: Path) -> None:
    text = f"{HEAD}{{ double s = 0; for (int i = 0; i < n; i++) s += a[i]; b[0] = s; }}"
    (one,) = made(text, tmp_path).accumulators
    assert (one.symbol.name, one.op) == ("s", "+")
    assert "--precise-fp" in refused(text, tmp_path, OffloadOptions(precise_fp=True))
    whole = text.replace("double s", "int s").replace("a[i]", "at[i]")
    assert isinstance(nest(whole, tmp_path, OffloadOptions(precise_fp=True)), Draft)


def test_what_a_verdict_rests_on_is_assumed_once(tmp_path: Path) -> None:
    text = """void f(int n, int m, double *a) {
        for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * m + j] = 1; }"""
    found = made(text, tmp_path)
    assert len({a.text for a in found.assumptions}) == len(found.assumptions)
