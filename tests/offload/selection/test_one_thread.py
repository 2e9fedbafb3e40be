"""Loops that one thread runs: what it has for itself, and what has a copy on the device."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.offload.analyzed import analyzed
from warpsmith.base.verdict import Reason
from warpsmith.loops.analysis.substitute import with_symbols
from warpsmith.offload.fragments import Draft
from warpsmith.offload.selection.one_thread import find_disturbed, one_thread_at
from warpsmith.tree.walk import names


def taken(body: str, folder: Path, loop: str = "f/i") -> Draft | Reason:
    """Ask about a loop of a function with this body."""
    text = f"double f(int n, double *restrict a, int *restrict c) {{ double s = 0, t = 1; int i, j; {body} }}"
    known = analyzed(text, folder)
    facts = next(facts for facts in known.facts["f"].loops if facts.id == loop)
    return one_thread_at(known.request(), facts, (facts.loop,))


@pytest.mark.parametrize(
    ("body", "own", "cells"),
    [
        # a counter is the thread's own where nobody reads it later
        ("for (i = 1; i < n; i++) a[i] = a[i - 1] * s; return s;", "i", ""),
        ("for (int i = 1; i < n; i++) for (j = 0; j < i; j++) a[i] = a[j] * s; return s;", "j", ""),
        # so is what each iteration sets first; what is carried on, or read later, is held for the host
        ("for (int i = 1; i < n; i++) { t = a[i - 1]; a[i] = t * t; } return s;", "t", ""),
        ("for (int i = 1; i < n; i++) { t = a[i - 1]; a[i] = t * t; } return t;", "", "t"),
        ("for (int i = 1; i < n; i++) { a[i] = t; t = a[i - 1] * t; } return s;", "", "t"),
        ("for (int i = 1; i < n; i++) s = s * a[i] + 1; return s;", "", "s"),
    ],
)
def test_variables(body: str, own: str, cells: str, tmp_path: Path) -> None:
    draft = taken(body, tmp_path)
    assert isinstance(draft, Draft) and draft.kind == "single" and not draft.loops
    assert {symbol.name for symbol in draft.locals} == set(own)
    assert {use.symbol.name for use in draft.uses if use.kind == "cell"} == set(cells)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("for (i = 1; i < n; i++) a[i] = a[i - 1]; return i;", "the counter i is read outside"),
        ("int *p = &i; for (i = 1; i < n; i++) a[i] = a[i - 1]; return *p;", "the counter i is read outside"),
        ("j = 3; for (int i = 1; i < n; i++) { a[i] = j; for (j = 0; j < 2; j++) a[j] += 1; } return s;", "counter j"),
        ("for (int i = 0; i < n; i++) c++; return s;", "where 'c' points to"),
        ("for (int i = 0; i < n; i++) if (a[i] > 2) return s; else a[i] = a[i - 1]; return s;", "returns"),
        ("again: s += 1; for (int i = 0; i < n; i++) { a[i] += 1; if (a[i] > s) goto again; } return s;", "goto"),
        ("volatile int v = 0; for (int i = 0; i < n; i++) v = v + 1; return v;", "volatile"),
        ("for (int i = 0; i < n; i++) a[i]; return s;", "nothing"),
    ],
)  # fmt: skip
def test_what_is_refused(body: str, why: str, tmp_path: Path) -> None:
    reason = taken(body, tmp_path)
    assert isinstance(reason, Reason) and why in reason.text, reason


def test_a_counter_that_the_host_sets_is_not_written_on_the_device(tmp_path: Path) -> None:
    single = taken("for (int i = 1; i < n; i++) { j = c[i] - j; c[i] = j; } return j;", tmp_path)
    text = "void f(int n, double *restrict a) { int j; for (j = 0; j < n; j++) a[j] = 1; a[0] = j; }"
    (nest,) = analyzed(text, tmp_path).choice().drafts
    assert isinstance(single, Draft) and nest.finals
    assert find_disturbed(single, (nest,)) is None
    (symbol,) = {use.symbol for use in single.uses if use.kind == "cell"}
    same = {n.symbol: symbol for final in nest.finals for n in names(final) if n.symbol.name == "j"}
    shared = replace(nest, finals=tuple(with_symbols(final, same) for final in nest.finals))
    reason = find_disturbed(single, (shared,))
    assert reason is not None and "'j'" in reason.text and reason.legal_if
