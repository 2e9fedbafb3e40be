"""Ways between barriers, and places that two threads are at in one interval."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.sync.kernels_of_text import judge_of
from warpsmith.analysis.sync.ways import Ways

FIRST, SECOND = "s[t] = 1;", "b[t] = s[t + 1];"


@pytest.mark.parametrize(
    ("body", "leads", "both"),
    [
        (f"{FIRST} {SECOND}", True, True),
        (f"{FIRST} __syncthreads(); {SECOND}", False, False),
        (f"{FIRST} __syncwarp(); {SECOND}", True, True),
        (f"if (n > 3) {{ {FIRST} }} else {{ {SECOND} }}", False, False),
        (f"if (t > 3) {{ {FIRST} }} else {{ {SECOND} }}", False, True),
        (f"if (n > 3) {{ {FIRST} }} {SECOND}", True, True),
        (f"for (int i = 0; i < n; i++) {{ {SECOND} __syncthreads(); {FIRST} }}", True, True),
        (f"for (int i = 0; i < n; i++) {{ __syncthreads(); {SECOND} __syncthreads(); {FIRST} }}", False, False),
        (f"for (int i = 0; i < n; i++) {{ {FIRST} __syncthreads(); }} {SECOND}", False, False),
        (f"for (int i = 0; i < n; i++) {{ if (n > i) {{ {FIRST} }} else {{ {SECOND} }} }}", True, True),
    ],
)
def test_ways(body: str, *, leads: bool, both: bool, tmp_path: Path) -> None:
    judge, places = judge_of(f"int t = threadIdx.x; {body}", tmp_path)
    (first,) = (p for p in places if p.space == "shared" and p.kind == "store")
    (second,) = (p for p in places if p.space == "shared" and p.kind == "load")
    ways = Ways(judge.forms)
    assert ways.leads(first, second) == leads
    assert ways.may_both(first, second) == ways.may_both(second, first) == both
