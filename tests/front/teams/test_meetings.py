"""Phases without a barrier between them: where threads could meet across a loop's or a branch's end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.teams.as_text import read_text
from tests.front.teams.constructs import program

_WHOLE = """#pragma omp target teams num_teams(teams) thread_limit(B) map(tofrom: a[0:n], b[0:n])
    {{
        double p[B], q[B], one;
#pragma omp parallel
        {{
            int t = omp_get_thread_num(), i = omp_get_team_num() * B + t;
            double mine = t;
{}
        }}
    }}"""
_HERE = "#pragma omp barrier\n"
_WHY = "no barrier stands between"


@pytest.mark.parametrize(
    "body",
    [
        f"for (int r = 0; r < 3; r++) {{ p[t] = r;\n{_HERE} q[t] = p[B - 1 - t];\n{_HERE} }} a[i] = q[0];",
        f"for (int r = 0; r < 3; r++) {{ {chr(10)}{_HERE} p[t] = r;\n{_HERE} mine += p[t]; }}\n{_HERE} p[t] = mine;",
        f"p[t] = 1;\n{_HERE}if (n > 2) {{ q[t] = p[0];\n{_HERE} mine = q[1]; }}\n a[i] = 1;".replace(
            "a[i] = 1", "mine++"
        ),
        f"p[t] = 1;\n{_HERE}for (int r = 0; r < 2; r++) {{ mine += p[r];\n{_HERE} }} mine += p[1];",
    ],
)
def test_barriers_keep_phases_apart(body: str, tmp_path: Path) -> None:
    _, found = read_text(program(_WHOLE.format(body)), tmp_path)
    assert (found.read, found.left) == (1, ())


@pytest.mark.parametrize(
    "body",
    [
        # the round before reads what this one writes
        f"for (int r = 0; r < 3; r++) {{ p[t] = r;\n{_HERE} mine += p[B - 1 - t]; }} a[i] = mine;",
        # no barrier before the loop
        f"p[t] = 1; for (int r = 0; r < 3; r++) {{ mine += p[B - 1 - t];\n{_HERE} p[t] = mine;\n{_HERE} }}",
        # none behind it
        f"for (int r = 0; r < 3; r++) {{ {chr(10)}{_HERE} p[t] = r; }} a[i] = p[0];",
        # where the branch is not taken there is none
        f"p[t] = 1; if (n > 2) {{ {chr(10)}{_HERE} mine = 2;\n{_HERE} }} a[i] = p[B - 1 - t];",
        # where the loop makes no round
        f"p[t] = 1; for (int r = 0; r < n - 3; r++) {{ {chr(10)}{_HERE} mine++; }} a[i] = p[B - 1 - t];",
        # a scalar of the team
        f"if (t == 0) one = 2; if (n > 2) {{ {chr(10)}{_HERE} mine = 2; }} mine = one; a[i] = mine;",
        # what is handed to a function
        f"one_more(p); if (n > 2) {{ {chr(10)}{_HERE} mine = 2; }} a[i] = p[0];",
        # through a pointer of the thread's own
        f"double *at = p + t; *at = 1; if (n > 2) {{ {chr(10)}{_HERE} mine = 2; }} a[i] = p[0];",
    ],
)
def test_phases_that_may_meet_are_refused(body: str, tmp_path: Path) -> None:
    text = program(_WHOLE.format(body), "void one_more(double *p);\n")
    _, found = read_text(text, tmp_path)
    assert found.read == 0
    assert [_WHY in one.text for one in found.left] == [True]
