"""Barriers behind conditions that threads are meant to answer alike, and behind those that they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.sync.kernels_of_text import judge_of
from warpsmith.analysis.sync.agreeing import may_agree

WAIT = "__syncthreads();"
ROUND = f"for (int i = threadIdx.x; i / B * B < n; i += B) {{ s[i % 64] = i; {WAIT} a[i] = s[i % 7]; {WAIT} }}"
WHOLE = f"for (int i = START; i < (n / STEP + 1) * STEP; i += STEP) {{ s[i % 64] = i; {WAIT} a[i] = s[i % 7]; {WAIT} }}"
FIRST = "(int)(blockIdx.x * blockDim.x + threadIdx.x)"
GRID = "(int)(gridDim.x * blockDim.x * 4)"
PLANE = f"for (int i = START; i < end; i += w) {{ s[i % 64] = i; {WAIT} a[i] = s[i % 7]; {WAIT} }}"
UP = "int w = blockDim.x * blockDim.y, end = n & (w - 1) ? (n & ~(w - 1)) + w : n; "
ROW_BY_ROW = UP + PLANE.replace("START", "(int)(threadIdx.y * blockDim.x + threadIdx.x)")
LIST = "int own[2] = {n, m}; int **q = (int **)b; q[7] = own; int *p = *q; "
LIST += f"if (p[INDEX] > n) {{ s[threadIdx.x] = n; {WAIT} }}"
OWN = f"int t[2] = {{n, m}}; t[n & 1] = b[threadIdx.x]; int *p = n > 3 ? t : b; if (p[1] > n) {{ s[0] = n; {WAIT} }}"
POLL = f"volatile int *v = b; while (v[0] == 0) {{ s[threadIdx.x] = n; {WAIT} }}"


@pytest.mark.parametrize(
    ("body", "alike"),
    [
        (ROUND.replace("B", "(int)blockDim.x"), True),
        (ROUND.replace("B", "64"), True),
        (ROUND.replace("B", "32"), False),
        (ROUND.replace("i / B * B", "i").replace("B", "64"), False),
        (WHOLE.replace("START", FIRST).replace("STEP", GRID), True),
        (WHOLE.replace("START", "(int)threadIdx.x").replace("STEP", "32"), False),
        (WHOLE.replace("START", "(int)threadIdx.x + n").replace("STEP", "64"), False),
        (WHOLE.replace("START", "(int)threadIdx.x * 4").replace("STEP", "64"), False),
        (WHOLE.replace("i <", "i <=").replace("START", FIRST).replace("STEP", GRID), False),
        (WHOLE.replace("(n / STEP + 1) * STEP", "n").replace("START", FIRST).replace("STEP", GRID), False),
        (ROW_BY_ROW, True),
        (ROW_BY_ROW.replace("n & (w - 1) ?", "n % w ?"), True),
        (ROW_BY_ROW.replace("n & (w - 1) ?", "n > 7 ?"), False),
        (ROW_BY_ROW.replace(": n;", ": n + 1;"), False),
        (ROW_BY_ROW.replace("~(w - 1)", "(w - 1)"), False),
        (ROW_BY_ROW.replace("blockDim.x + ", "blockDim.x + n + "), False),
        (ROW_BY_ROW.replace("i += w", "i += w / 2"), False),
        (LIST.replace("INDEX", "n"), True),
        (LIST.replace("INDEX", "p[1]"), True),
        (LIST.replace("INDEX", "threadIdx.x"), False),
        (LIST.replace("INDEX", "p[threadIdx.x]"), False),
        (OWN, False),
        (POLL, True),
        (POLL.replace("v[0]", "v[threadIdx.x]"), False),
        (POLL.replace("v[0]", "atomicAdd(b, 1)"), False),
        (f"volatile int *v = b; if (v[0] > (int)threadIdx.x) {WAIT}", False),
        (f"volatile int *v = b; int x = 0; if (b[threadIdx.x]) x = v[0]; if (x) {WAIT}", False),
    ],
)
def test_conditions(body: str, *, alike: bool, tmp_path: Path) -> None:
    judge, _ = judge_of(body, tmp_path)
    answer, presences = judge.forms.answer, judge.presences
    waits = [b.name for b in answer.function.blocks if any(i.op == "barrier" for i in b.instructions)]
    branches = {branch for block in waits for branch in presences.find_diverging(block)}
    assert branches
    assert all(may_agree(answer, branch) for branch in branches) == alike
