"""Regions taken apart: phases, what stands around them, and where a thread's own variables are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.teams.as_text import read_text
from warpsmith.front.teams.construct import NotReadError
from warpsmith.front.teams.own import lasting
from warpsmith.front.teams.phases import Around, BarrierMark, Phase, RegionPlan, make_plan, needed
from warpsmith.tree.nodes import DeclStmt
from warpsmith.tree.walk import walk


def plan(tmp_path: Path, body: str) -> RegionPlan:
    text = f"void f(int t, int n, double *a, double *b)\n{{\n{body}\n}}\n"
    program, _ = read_text(text, tmp_path)
    (f,) = program.units[0].functions
    inside = {d.symbol for n in walk(f.body) if isinstance(n, DeclStmt) for d in n.declarations}
    number = f.parameters[0]
    return make_plan(f.body, lasting(f, f.body, inside) - {number}, number)


def test_barriers_end_phases(tmp_path: Path) -> None:
    found = plan(tmp_path, "a[t] = 1;\n#pragma omp barrier\n#pragma omp barrier\nb[t] = a[n];\na[t] = 2;")
    assert [len(item.statements) for item in found.items if isinstance(item, Phase)] == [1, 2]


def test_variables_are_sorted_by_what_they_follow_from(tmp_path: Path) -> None:
    found = plan(tmp_path, """
    int half = n / 2; int i = half * 4 + t; double first = a[i]; double inner = b[i]; int count = t;
    count++;
    a[i] = first + inner;
#pragma omp barrier
    b[i] = first * count;
""")  # fmt: skip
    assert [s.name for s in found.again] == ["half", "i"]
    assert [s.name for s in found.split] == ["first", "count"]
    last = found.items[-1]
    assert isinstance(last, Phase)
    assert [s.name for s in needed(found, last)] == ["half", "i"]


def test_what_a_loop_of_the_team_needs_is_the_teams(tmp_path: Path) -> None:
    found = plan(tmp_path, """
    int half = n / 2, more = n + 1;
    for (int h = half; h > 0; h /= 2) {
        a[t] = h * more;
#pragma omp barrier
    }
""")  # fmt: skip
    kinds = [type(item) for item in found.items]
    assert kinds == [DeclStmt, Around]
    assert isinstance(around := found.items[-1], Around)
    assert [type(item) for item in around.arms[0]] == [Phase, BarrierMark]
    assert [s.name for s in found.again] == ["more"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("if (a[0] > 1) {\n#pragma omp barrier\n}", "whether threads meet a barrier"),
        ("for (int k = 0; k < t; k++) {\n#pragma omp barrier\na[t] = k;\n}", "whether threads meet a barrier"),
        ("int k = 0;\nwhile (k < n) {\na[t] = k;\n#pragma omp barrier\nk++;\n}", "a barrier stands in what"),
        ("static int k = 0;\na[t] = k;", "k is no variable of one thread"),
    ],
)
def test_what_differs_between_threads_is_refused(tmp_path: Path, body: str, why: str) -> None:
    with pytest.raises(NotReadError, match=why):
        plan(tmp_path, body)
