"""Loops that were asked for and stay: their errors say what helps, and only what was tried."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.flows.port import PortOptions, port
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.program import Assumption


def helped(body: str, folder: Path, *loops: str) -> list[tuple[str, str]]:
    """Return the severity of each finding of a port of the loops, with what would help."""
    path = folder / "a.c"
    path.write_text(f"void f(int n, double *restrict a, double *restrict b, int *restrict p) {{\n{body}\n}}\n")
    found = port([str(path)], PortOptions(loops=loops, verify=False)).findings
    return [(finding.severity, "\n".join(finding.help)) for finding in found]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("for (int i = 0; i < n; i++) a[p[i]] = i;", "--assume 'injective(p)'"),
        ("for (int i = 0; i < n; i++) a[i] = a[i + 1];", "a copy of a[i + 1] from before the loop"),
        # no remedy: single steps are tried
        ("for (int i = 0; i < n; i++) { a[i + 1] = a[i] * a[i]; b[i] = 2 * i; }", "makes a part of it parallel"),
        ("for (int i = 0; i < n; i++) a[i + 1] = 0.5 * a[i] * a[i];", "no single step makes it parallel; tried: "),
    ],
)
def test_an_error_says_what_helps(body: str, said: str, tmp_path: Path) -> None:
    errors = [text for severity, text in helped(body, tmp_path, "f/i") if severity == "error"]
    assert len(errors) == 1 and said in errors[0], errors


def test_memory_of_iterations_that_stays_is_named(tmp_path: Path) -> None:
    path = tmp_path / "own.c"
    path.write_text(
        "#include <stdlib.h>\nvoid f(int n, double *a) {\nfor (int i = 0; i < n; i++) {\n"
        "double *t = malloc((i + 1) * sizeof *t); t[i] = a[i]; a[i] = t[i] * 2; free(t); }\n}\n"
    )
    found = port([str(path)], PortOptions(loops=("f/i",), verify=False)).findings
    said = "the memory of t stays where it is: i, on which the size of t depends, changes in the loop"
    assert any(said in finding.help for finding in found if finding.severity == "error"), found


def test_nothing_is_tried_for_loops_that_nobody_asked_for(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) a[i + 1] = 0.5 * a[i] * a[i];"
    assert all("tried" not in text and severity != "error" for severity, text in helped(body, tmp_path))


def test_a_loop_that_is_ported_needs_no_help(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) a[i] = 1;\nfor (int j = 0; j < n; j++) a[j + 1] = 0.5 * a[j] * a[j];"
    assert not [severity for severity, _ in helped(body, tmp_path, "f/i") if severity == "error"]


def test_a_loop_that_was_asked_for_says_what_would_help(tmp_path: Path) -> None:
    path = tmp_path / "scatter.c"
    path.write_text("void f(int n, double *restrict a, int *restrict p) { for (int i = 0; i < n; i++) a[p[i]] = i; }\n")
    refusal = port([str(path)], PortOptions(loops=("f/i",), verify=False))
    assert refusal.plan is not None and not refusal.plan.fragments
    assert "--assume 'injective(p)'" in "".join(text for f in refusal.findings for text in f.help)
    granted = PolyOptions(granted=(Assumption("injective(p)", "granted"),))
    followed = port([str(path)], PortOptions(loops=("f/i",), verify=False, poly=granted))
    assert followed.plan is not None and followed.plan.fragments
