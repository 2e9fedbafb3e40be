"""The findings of the plan: refused loops, copies that cost more than the loop, results that depend on an order."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.offload.hand import load
from warpsmith.base.findings import Finding
from warpsmith.loops.place import LoopContext
from warpsmith.offload.data import residency
from warpsmith.offload.decisions import decide
from warpsmith.offload.plan import OffloadOptions
from warpsmith.offload.port import plan_port
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.program import Decision, Program

HEAD = "#include <stdio.h>\nvoid f(int n, int m, double *restrict a, double *restrict b, int *restrict k) {\n"
GOOD = "for (int i = 0; i < n; i++) a[i] = b[i];"
NEXT = "for (int j = 1; j < n; j++) a[j] = a[j - 1] * a[j - 1] + 1;"


def findings(program: Program, options: OffloadOptions) -> list[Finding]:
    return list(plan_port(program, analyze(program, PolyOptions()), options, PolyOptions()).plan.findings)


def asked(body: str, folder: Path, *addresses: str, demanded: bool = True) -> list[Finding]:
    """Return what is said where these loops are asked for."""
    program = load(f"{HEAD}{body}\n}}", folder)
    loops = tuple(LoopContext.of(program, address).loop for address in addresses)
    found = findings(program, OffloadOptions(selected=loops, demanded=demanded))
    return [finding for finding in found if finding.severity == "error"]


def test_a_loop_that_was_asked_for_and_carries_something_is_an_error(tmp_path: Path) -> None:
    (finding,) = asked(NEXT, tmp_path, "f/j")
    assert finding.message.startswith("f/j was asked for and stays on the host: ")
    assert finding.rule == "POR003" and finding.span is not None and finding.span.text.startswith("for (int j")
    assert len(finding.related) == 2 and finding.help[0].startswith("for example: ")


@pytest.mark.parametrize(
    ("body", "addresses", "count"),
    [
        (GOOD, ("f/i",), 0),
        (GOOD + NEXT, ("f/i", "f/j"), 1),
        # something inside was ported
        ("for (int t = 0; t < 3; t++) { " + GOOD + " a[t] = a[t + 1] * 2; }", ("f/t",), 0),
        ('for (int i = 0; i < n; i++) printf("%g", a[i]);', ("f/i",), 1),
        # nobody asked
        (NEXT + GOOD, ("f/i",), 0),
    ],
)
def test_what_is_refused(body: str, addresses: tuple[str, ...], count: int, tmp_path: Path) -> None:
    assert len(asked(body, tmp_path, *addresses)) == count


def test_of_a_marked_region_it_is_enough_that_something_is_ported(tmp_path: Path) -> None:
    assert asked(GOOD + NEXT, tmp_path, "f/i", "f/j", demanded=False) == []
    assert len(asked(NEXT, tmp_path, "f/j", demanded=False)) == 1


def said(body: str, folder: Path, rule: str, options: OffloadOptions | None = None) -> list[Finding]:
    program = load(f"{HEAD}{body}\n}}", folder)
    return [f for f in findings(program, options or OffloadOptions()) if f.rule == rule]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (GOOD, "copying 'a', 'b' may take longer than the loop itself: each element is used about once"),
        ("for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < 64; j++) s += b[j]; a[i] = s; }", ""),
        ("for (int t = 0; t < m; t++) for (int i = 1; i < n; i++) a[i] = a[i] * t + b[i] + a[0];", ""),
        # several kernels, fewer copies
        (GOOD + " for (int i = 0; i < n; i++) b[i] = a[i] * 2; for (int i = 0; i < n; i++) a[i] += b[i];"
         " for (int i = 0; i < n; i++) b[i] += a[i]; for (int i = 0; i < n; i++) a[i] *= b[i];", ""),
        ("for (int i = 0; i < n; i++) a[i] = 2; for (int i = 0; i < n; i++) b[i] = 3;",
         "copying 'a', 'b' may take longer than the loops themselves"),
        ("double s = 0; for (int i = 0; i < 100; i++) s += i; a[0] = s;", ""),
    ],
)  # fmt: skip
def test_copies_that_cost_more_than_the_loop(body: str, message: str, tmp_path: Path) -> None:
    found = said(body, tmp_path, "POR009")
    assert bool(found) == bool(message)
    assert all(f.message.startswith(message) and f.severity == "warning" for f in found)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("double s = 0; for (int i = 0; i < n; i++) s += a[i]; b[0] = s;", 1),
        ("int s = 0; for (int i = 0; i < n; i++) s += k[i]; b[0] = s;", 0),
        ("double s = 0; for (int i = 0; i < n; i++) { s += a[i]; b[i] = s; }", 1),
        (GOOD, 0),
    ],
)
def test_results_that_depend_on_an_order(body: str, expected: int, tmp_path: Path) -> None:
    found = said(body, tmp_path, "POR007")
    assert len(found) == expected
    assert all(f.severity == "note" and f.help == ("--precise-fp keeps the order of the original",) for f in found)


@pytest.mark.parametrize(("body", "count"), [(GOOD, 0), (NEXT.replace("int j", "int i").replace("j", "i"), 1)])
def test_a_loop_that_a_step_made_a_kernel_and_that_cannot_be_one(body: str, count: int, tmp_path: Path) -> None:
    program = load(f"{HEAD}{body}\n}}", tmp_path)
    place = LoopContext.of(program, "f/i")
    made = decide(program, place, Decision("f/i", "f", "device", place.loop))
    found = [f for f in findings(made, OffloadOptions()) if f.severity == "error"]
    assert len(found) == count
    host = replace(made, decisions=(Decision("f/i", "f", "host", place.loop),))
    assert not [f for f in findings(host, OffloadOptions()) if f.severity == "error"]


def test_a_plan_that_was_cut_short_names_its_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{HEAD}{GOOD * 8}\n}}"
    assert not [f for f in findings(load(text, tmp_path), OffloadOptions()) if f.rule == "POR005"]
    monkeypatch.setattr(residency, "_MOST_READ", 60)
    (finding,) = [f for f in findings(load(text, tmp_path), OffloadOptions()) if f.rule == "POR005"]
    assert finding.severity == "note" and finding.message.startswith("the plan of f is simpler than it might be")
    assert finding.help and "functions of their own" in finding.help[0]
