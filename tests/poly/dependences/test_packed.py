"""Arrays that iterations fill one behind the other: which subscripts keep them apart, and what comes too near."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import facts_of
from warpsmith.poly.facts import LoopFacts

HEAD = "typedef struct { int x; int y[4]; } two;\n"
PARAMETERS = "int n, long m, int *restrict a, int *restrict b, int (*restrict c)[4], two *restrict t, int **restrict r"
# the counter, what an iteration does, and whether the loop is a scan
CASES: list[tuple[str, str, bool]] = [
    ("int k = 0;", "if (b[i]) a[k++] = i;", True),
    ("int k = 0;", "if (b[i]) a[++k] = i;", True),
    ("int k = 9;", "if (b[i]) a[--k] = i;", True),
    ("int k = 9;", "if (b[i]) a[k--] = i;", True),
    ("int k = 0;", "if (b[i]) { a[k] = i; a[k] += 2; k++; }", True),
    ("int k = 0;", "if (b[i]) { a[2 * k] = i; a[2 * k + 1] = b[i]; k++; }", True),
    ("int k = 0;", "if (b[i]) { a[k] = i; a[k + 1] = b[i]; k += 2; }", True),
    ("int k = 0;", "if (b[i]) { a[k++] = i; a[k++] = b[i]; }", True),
    ("int k = 9;", "if (b[i]) { k -= 2; a[k] = i; a[k + 1] = 3; }", True),
    ("int k = 0;", "if (b[i]) { *(a + k) = i; k++; }", True),
    ("int k = 0;", "if (b[i]) { c[k][0] = i; for (int j = 1; j < 4; j++) c[k][j] = j; k++; }", True),
    ("int k = 0;", "if (b[i]) { t[k].x = i; t[k].y[i & 3] = 2; k++; }", True),
    ("int k = 0;", "if (b[i]) { int at = k++; a[at] = i; }", True),
    ("int k = 0;", "if (b[i] > 0) a[k++] = i; else if (b[i]) a[k++] = -i;", True),
    ("long k = 0;", "if (b[i]) a[(int)k++] = i;", False),
    ("unsigned k = 0;", "if (b[i]) a[(long)k++] = i;", True),
    ("unsigned k = 0;", "if (b[i]) a[k++] = i;", True),
    ("unsigned long k = 0;", "if (b[i]) { a[k] = i; a[k + 1] = i; k += 2; }", True),
    ("int k = 0, l = 0;", "if (b[i]) a[k++] = i; else c[l++][2] = i;", True),
    # two iterations may meet
    ("int k = 0;", "if (b[i]) { a[k] = i; a[k + 1] = 3; k++; }", False),
    ("int k = 0;", "if (b[i]) { a[2 * k] = i; a[2 * k + 2] = 3; k++; }", False),
    ("int k = 0;", "if (b[i]) { a[k] = i; k++; a[k] = 3; }", False),
    ("int k = 0;", "if (b[i]) { a[k - 1] = i; k++; }", True),
    ("int k = 0;", "if (b[i]) { a[k - 1] = i; a[k] = 2; k++; }", False),
    ("int k = 0;", "a[k] = i; if (b[i]) k++;", False),
    ("int k = 0;", "if (b[i]) a[k++] = i; a[0] = 3;", False),
    ("int k = 0;", "if (b[i]) a[k++] = a[i];", False),
    ("int k = 0;", "if (b[i]) { a[k] = i; k += b[i]; }", False),
    ("int k = 0;", "if (b[i] > 0) a[k++] = i; else if (b[i]) a[k--] = i;", False),
    ("int k = 0, l = 9;", "if (b[i]) a[k++] = i; else a[--l] = i;", False),
    ("unsigned char k = 0;", "if (b[i]) a[k++] = i;", False),
    ("unsigned k = 0;", "if (b[i]) { a[k] = i; a[k + 1] = i; k += 2; }", False),
    ("int k = 0;", "if (b[i]) r[k++][0] = i;", False),
    ("int k = 0;", "if (b[i]) { c[0][k] = i; k++; }", False),
    ("int k = 0;", "if (b[i]) { a[-k] = i; k++; }", False),
    ("int k = 0;", "if (b[i]) { a[k / 2] = i; k++; }", False),
    ("int k = 0;", "if (b[i]) { a[k & 7] = i; k++; }", False),
]


@functools.cache
def _facts() -> dict[str, LoopFacts]:
    texts = (
        f"long f{number}({PARAMETERS}) {{ {counter} for (int i = 0; i < n; i++) {{ {body} }} return k; }}"
        for number, (counter, body, _) in enumerate(CASES)
    )
    wide = f"long wide({PARAMETERS}) {{ unsigned k = 0; for (long i = 0; i < m; i++) if (b[i]) a[k++] = 1; return k; }}"
    return facts_of(HEAD + "\n".join([*texts, wide]))


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{case[0]} {case[1]}" for case in CASES])
def test_what_iterations_fill_is_apart(number: int) -> None:
    found = _facts()[f"f{number}/i"]
    assert (found.category == "scan") == CASES[number][2], found.reasons[0].text


def test_a_counter_that_may_come_back_keeps_nothing_apart() -> None:
    assert _facts()["wide/i"].category != "scan"
