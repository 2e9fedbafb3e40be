"""Split structs: which arrays may be split, under which conditions, and what the loop becomes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.offload.steps.asked import answer, refused
from tests.poly.programs import load
from tests.random_programs.steps_sequences import NoWords
from warpsmith.base.verdict import Proved
from warpsmith.flows.port import PortOptions, port
from warpsmith.offload.steps.keep import Keep
from warpsmith.offload.steps.split_structs import SplitStructs
from warpsmith.tree.printing.patch import unit_text

HEAD = "#include <stdlib.h>\nstruct point { float x, y; int k; };\nvoid use(struct point *);\n"
SWEEP = "for (int t = 0; t < 3; t++) for (int i = 0; i < n; i++) { p[i].x += 0.5f * p[i].y; }"


def program(nest: str, parameters: str = "struct point *restrict p", *, include: bool = True) -> str:
    head = HEAD if include else HEAD.partition("\n")[2]
    return f"{head}void f(int n, {parameters})\n{{\n    {nest}\n}}\n"


def rewritten(text: str, step: SplitStructs, folder: Path) -> str:
    """Return the program's text after the step, blanks as single spaces."""
    before = load(text, folder)
    after = step.apply(before)
    return " ".join(unit_text(before.units[0], after.units[0], NoWords()).split())


def test_members_have_arrays(tmp_path: Path) -> None:
    text = program(SWEEP)
    assert isinstance(answer(text, SplitStructs("f/t", "p"), tmp_path), Proved)
    new = rewritten(text, SplitStructs("f/t", "p"), tmp_path)
    assert "for (long long e = 0; e < n; e++) { p_x[e] = p[e].x; p_y[e] = p[e].y; }" in new
    assert "p_x[i] += 0.5f * p_y[i];" in new
    # only what is written goes back
    assert "for (long long e2 = 0; e2 < n; e2++) p[e2].x = p_x[e2];" in new
    assert new.count("malloc(") == new.count("free(") == 2


def test_what_is_written_whole_is_not_gathered(tmp_path: Path) -> None:
    nest = "for (int i = 0; i < n; i++) p[i].x = 2;"
    new = rewritten(program(nest), SplitStructs("f/i", "p"), tmp_path)
    assert "= p[" not in new and "p[e].x = p_x[e]" in new
    some = rewritten(program(nest.replace("i++", "i += 2")), SplitStructs("f/i", "p"), tmp_path)
    assert "p_x[e] = p[e].x" in some


@pytest.mark.parametrize(
    ("nest", "parameters", "why"),
    [
        ("for (int i = 0; i < n; i++) { struct point q = p[i]; p[i].x = q.y; }", "struct point *restrict p", "p[i]"),
        ("for (int i = 0; i < n; i++) use(p + i);", "struct point *restrict p", "itself is used: p + i"),
        ("for (int i = 0; i < n; i++) { float *x = &p[i].x; *x = 1; }", "struct point *restrict p", "address"),
        ("for (int i = 0; i < n; i++) { if (p[i].x > 3) return; p[i].y = 1; }", "struct point *p", "may end"),
        ("for (int i = 0; i < n; i++) { p[i].y = 1; use(0); }", "struct point *p", "what the loop calls may use p"),
        ("for (int i = 0; i < n; i++) { struct point *q = p; p[i].y = q[i].x; }", "struct point *p", "itself is"),
        ("for (int i = 0; i < n; i++) p[i] += 1;", "float *p", "no array of structs"),
        ("for (int i = 0; i < n; i++) { struct point p[3]; p[1].x = i; }", "float *q", "declared in the loop"),
    ],
)  # fmt: skip
def test_what_is_refused(nest: str, parameters: str, why: str, tmp_path: Path) -> None:
    reason = refused(program(nest, parameters), SplitStructs("f/i", "p"), tmp_path)
    assert why in reason.text, reason


def test_names_are_told(tmp_path: Path) -> None:
    reason = refused(program(SWEEP), SplitStructs("f/t", "q"), tmp_path)
    assert reason.rule == "STP003" and reason.legal_if == ("p",)
    assert "malloc" in refused(program(SWEEP, include=False), SplitStructs("f/t", "p"), tmp_path).text


@pytest.mark.parametrize(
    ("before", "loop"),
    [
        ("#pragma omp parallel for\nfor (int k = 0; k < 4; k++)\n", "f/k/t"),
        ("#pragma omp parallel\n", "f/t"),
    ],
)
def test_one_thread_of_the_host_writes_back(before: str, loop: str, tmp_path: Path) -> None:
    reason = refused(program(f"\n{before}{SWEEP}"), SplitStructs(loop, "p"), tmp_path)
    assert "threads" in reason.text
    team = program(SWEEP) + "void g(struct point *p)\n{\n#pragma omp parallel\n    f(3, p);\n}\n"
    assert "inside an OpenMP parallel region" in refused(team, SplitStructs("f/t", "p"), tmp_path).text


def test_other_memory_is_tested_to_lie_elsewhere(tmp_path: Path) -> None:
    nest = "for (int i = 0; i < n; i++) { p[i].x = w[i]; w[i] = 1; }"
    verdict = answer(program(nest, "struct point *p, float *w"), SplitStructs("f/i", "p"), tmp_path)
    assert isinstance(verdict, Proved)
    assert [one.text for one in verdict.assumptions] == ["what is touched of p and of w does not overlap"]
    apart = answer(program(nest, "struct point *restrict p, float *restrict w"), SplitStructs("f/i", "p"), tmp_path)
    assert isinstance(apart, Proved) and not apart.assumptions


def test_elements_by_another_name(tmp_path: Path) -> None:
    nest = "struct point *q = p + 1; for (int i = 0; i < n; i++) p[i].y = q[i].x;"
    verdict = answer(program(nest, "struct point *p"), SplitStructs("f/i", "p"), tmp_path)
    # a test that never holds
    assert isinstance(verdict, Proved) and verdict.assumptions
    nest = "for (int i = 0; i < 9; i++) { all[i].x = p[i].y; }"
    text = program(nest, "struct point *p").replace("void f", "static struct point all[9]; void f")
    assert isinstance(verdict := answer(text, SplitStructs("f/i", "p"), tmp_path), Proved) and verdict.assumptions


def test_restrict_says_nothing_of_what_lies_between(tmp_path: Path) -> None:
    # the loop writes every other x: w may be one of the others
    nest = "for (int i = 0; i < n; i += 2) { p[i].x = w[i]; w[i] = 1; }"
    verdict = answer(program(nest, "struct point *restrict p, float *restrict w"), SplitStructs("f/i", "p"), tmp_path)
    assert isinstance(verdict, Proved)
    assert [one.text for one in verdict.assumptions] == ["what is touched of p and of w does not overlap"]


GRID = "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) g[i][j].x = g[i][7 - j].y + v[i][2];"


def test_rows_of_structs_and_rows_of_numbers(tmp_path: Path) -> None:
    text = program(GRID, "struct point (*restrict g)[8], double (*restrict v)[3]")
    assert "g_x[(long long)i * 8 + j] = g_y[(long long)i * 8 + (7 - j)] + v[i][2];" in rewritten(
        text, SplitStructs("f/i", "g"), tmp_path
    )
    assert "v_2[e] = v[e][2];" in rewritten(text, SplitStructs("f/i", "v"), tmp_path)


def test_the_loop_stands_twice_where_it_may_use_nothing(tmp_path: Path) -> None:
    nest = "for (int i = 0; i < n; i++) for (int j = 0; j < n - 3; j++) w[i] = p[j].x;"
    new = rewritten(program(nest, "struct point *restrict p, float *restrict w"), SplitStructs("f/i", "p"), tmp_path)
    assert re.search(r"if \(n >= \d.*\) \{ float \*p_x = .*\} else \{ for \(int i = 0", new) or "else" not in new
    text = program("for (int t = 0; t < k; t++) for (int i = 0; i < n; i++) p[i].x += 1;", "struct point *p, int k")
    new = rewritten(text, SplitStructs("f/t", "p"), tmp_path)
    # without an iteration over t there is nothing to do
    assert "if (k >= 1) {" in new and "else" not in new


def test_the_port_packs_on_the_device_or_on_the_host(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(program(SWEEP))
    split = SplitStructs("f/t", "p")
    packed = port([str(path)], PortOptions(steps=False, verify=False, chosen=(split,)))
    assert packed.plan is not None
    assert [f.region for f in packed.plan.fragments] == ["f/e", "f/t/i", "f/e2"]
    # the structs move, their members never do
    assert [(t.variable, t.to_device) for t in packed.plan.transfers] == [("p", True), ("p", False)]
    kept = port([str(path)], PortOptions(steps=False, verify=False, chosen=(split, Keep("f/e"), Keep("f/e2"))))
    assert kept.plan is not None and [f.region for f in kept.plan.fragments] == ["f/t/i"]
    assert "p" not in {t.variable for t in kept.plan.transfers}
