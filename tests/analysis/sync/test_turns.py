"""Which iterations of a loop meet what is outside of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.sync.kernels_of_text import judge_of
from warpsmith.analysis.sync.turns import meeting_iterations

WAIT = "__syncthreads();"


@pytest.mark.parametrize(
    ("inside", "before", "behind", "expected"),
    [
        # around the loop once, then out of it
        (f"{WAIT} s[t] = i;", "", "b[t] = s[0];", ({1}, set())),
        (f"s[t] = i; {WAIT}", "", "b[t] = s[0];", (set(), set())),
        (f"s[t] = i; {WAIT}", "b[t] = s[0];", "", (set(), {0})),
        (f"{WAIT} s[t] = i;", "b[t] = s[0];", "", (set(), set())),
        ("s[t] = i;", "", "b[t] = s[0];", ({1, 2}, set())),
        (f"{WAIT} s[t] = i;", "", f"{WAIT} b[t] = s[0];", (set(), set())),
        (f"if (n > i) {WAIT} s[t] = i;", "", "b[t] = s[0];", ({1, 2}, set())),
    ],
)
def test_iterations(inside: str, before: str, behind: str, expected: tuple[set[int], set[int]], tmp_path: Path) -> None:
    body = f"int t = threadIdx.x; {before} for (int i = 0; i < n; i++) {{ {inside} }} {behind}"
    judge, places = judge_of(body, tmp_path)
    (one,) = (p for p in places if p.space == "shared" and p.kind == "store")
    (other,) = (p for p in places if p.space == "shared" and p.kind == "load")
    (cycle,) = judge.forms.headers.values()
    assert meeting_iterations(judge.forms, one, other, cycle) == expected
