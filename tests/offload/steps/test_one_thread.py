"""One thread: which loops a kernel of one thread may run, and what the plan makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.steps.asked import NEXT, answer, decided, refused
from tests.poly.programs import load
from warpsmith.base.verdict import Proved
from warpsmith.flows.port import PortOptions, port
from warpsmith.offload.plan import OffloadOptions
from warpsmith.offload.steps.keep import Keep
from warpsmith.offload.steps.one_thread import OneThread
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions

BETWEEN = (
    "void f(int steps, int n, double *restrict a, double *restrict b) { for (int t = 0; t < steps; t++) {"
    " for (int i = 1; i < 16; i++) a[i] = a[i - 1] * a[i - 1] * a[i] + 1;"
    " for (int j = 0; j < n; j++) a[j] += b[j]; } }"
)


def test_dependences_are_no_reason(tmp_path: Path) -> None:
    assert isinstance(answer(NEXT, OneThread("f/i"), tmp_path), Proved)
    assert isinstance(answer(BETWEEN, OneThread("f/t/i"), tmp_path), Proved)
    # nor is it that a loop is not counted
    text = "void f(double *a) { int i = 0; while (a[i] > 0) { a[i] = 0; i++; } }"
    verdict = answer(text, OneThread("f/while"), tmp_path)
    assert isinstance(verdict, Proved) and [one.text for one in verdict.assumptions]


@pytest.mark.parametrize(
    ("text", "rule", "why"),
    [
        ("int g(int); void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = g(i); }", "POR006", "calls g"),
        ('int printf(const char *, ...); void f(int n, int *a) { for (int i = 0; i < n; i++) printf("%d", a[i]); }',
         "POR006", "calls printf"),
        ("int f(int n, int *a) { for (int i = 0; i < n; i++) { a[i] = i; if (a[i + 1]) return 1; } return 0; }",
         "POR008", "returns from its function"),
        ("void f(int n, int *a) { for (int i = 0; i < n; i++) { *a = i; a++; } }", "POR008", "where 'a' points to"),
        ("int f(int n, int *a) { int i; for (i = 1; i < n; i++) if (a[i] < 0) break; else a[i] = 1; return i; }",
         "POR008", "the counter i"),
        ("int f(int n, int *a) { int j = 4; for (int i = 1; i < n; i++) { a[i] = j; for (j = 0; j < i; j++) a[j]++; }"
         " return 0; }", "POR008", "the counter j"),
        ("int f(int n, int *a) { int s = 0; for (int i = 0; i < n; i++) a[i]; return s; }", "POR009", "nothing"),
        ("int f(int n, int *a) { register int s = 0; for (int i = 0; i < n; i++) s = a[i] - s; return s; }",
         "POR008", "register"),
        ("struct p { int x, y; }; int f(int n, int *a) { struct p s = {0, 0};"
         " for (int i = 0; i < n; i++) s.x = a[i] - s.x; return s.x; }", "POR008", "'s'"),
    ],
)  # fmt: skip
def test_what_a_device_cannot_do_is_refused(text: str, rule: str, why: str, tmp_path: Path) -> None:
    reason = refused(text, OneThread("f/i"), tmp_path)
    assert reason.rule == rule and why in reason.text, reason


def test_what_the_host_sets_behind_another_kernel_is_refused(tmp_path: Path) -> None:
    text = (
        "int f(int n, int *restrict a, int *restrict b) { int m = 0;"
        " for (int t = 0; t < 3; t++) { for (int i = 0; i < n; i++) { m = a[i] - m; a[i] = m; }"
        " for (m = 0; m < n; m++) b[m] = a[m]; } return m; }"
    )
    assert "the host sets a counter, and 'm' is in that" in refused(text, OneThread("f/t/i"), tmp_path).text
    assert isinstance(answer(text.replace("m = 0; m < n; m++) b[m] = a[m]", "int k = 0; k < n; k++) b[k] = a[k]"),
                             OneThread("f/t/i"), tmp_path), Proved)  # fmt: skip


def test_threads_of_the_host_keep_their_loop(tmp_path: Path) -> None:
    text = (
        "void f(int n, double *a, double *b) {\n#pragma omp parallel\n{\n#pragma omp for\n"
        " for (int k = 0; k < n; k++) { for (int i = 1; i < 9; i++) a[k * 9 + i] = a[k * 9 + i - 1]; } } }"
    )
    assert not isinstance(answer(text, OneThread("f/k/i"), tmp_path), Proved)


def test_the_decision_is_noted(tmp_path: Path) -> None:
    (decision,) = decided(BETWEEN, tmp_path, OneThread("f/t/i"))
    assert (decision.loop, decision.kind) == ("f/t/i", "one thread")
    # the later word on a loop counts
    (decision,) = decided(BETWEEN, tmp_path, OneThread("f/t/i"), Keep("f/t/i"))
    assert decision.kind == "host"


def test_the_plan_obeys(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(BETWEEN)
    without = port([str(path)], PortOptions(steps=False, verify=False))
    asked = port([str(path)], PortOptions(steps=False, verify=False, chosen=(OneThread("f/t/i"),)))
    assert without.plan is not None and asked.plan is not None
    assert [f.kind for f in without.plan.fragments] == ["nest"]
    assert [(f.kind, f.region) for f in asked.plan.fragments] == [("single", "f/t/i"), ("nest", "f/t/j")]
    # both arrays stay on the device while the loop over t runs
    assert {t.in_loop for t in asked.plan.transfers} == {None}
    assert [t.variable for t in without.plan.transfers if t.in_loop == "f/t"] == ["a", "a"]


def test_nothing_inside_becomes_a_kernel(tmp_path: Path) -> None:
    text = BETWEEN.replace("for (int i = 1", "for (int k = 1; k < 3; k++) for (int i = 1")
    program = OneThread("f/t/k").apply(load(text, tmp_path))
    from warpsmith.offload.port import plan_function

    ((_, function),) = program.functions()
    planned = plan_function(program, Facts.about(program, PolyOptions()), function, OffloadOptions())
    assert [f.region for f in planned.fragments] == ["f/t/k", "f/t/j"]
