"""The order in which a walk meets statements: calls, jumps out of loops, branches, swapped pointers."""

from __future__ import annotations

import pytest

from tests.poly.mapped.programs import B_FROM_A, FOR, HEAD, SUM_B, TAIL
from tests.poly.mapped.test_judge import verdict
from warpsmith.base.verdict import Proved

CALLEE = """
static void twice(int m, double *x) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < m; i++) x[i] *= 2;
}
static void fresh(int m, double *x) {
#pragma omp target update from(x[0:m])
}
static void part(int m, double *x) { twice(m / 2, x); if (!m) fresh(m, x); }
"""
DATA = "#pragma omp target data map(to: a[0:n]) map(tofrom: b[0:n])\n{\n"
BODIES = {
    "a function works on what its caller mapped": (f"{DATA}part(n, b);\n}}\n{SUM_B}", True),
    "a function works on what nobody mapped": (f"part(n, b);\n{SUM_B}", False),
    "a function changes what is read in between": (f"{DATA}part(n, b);\n{SUM_B}\n}}", False),
    "a counter's range is not known": (f"{DATA}for (int k = 2; k < 4; k++) part(k, b);\n}}\n{SUM_B}", False),
    "a function updates less than it changes": (f"{DATA}part(n, b);\nfresh(h - 1, b);\n{SUM_B}\n}}", False),
    "a function updates what it changes": (f"{DATA}part(n, b);\nfresh(n, b);\n{SUM_B}\n}}", True),
    "what is read behind break is read": (
        f"{DATA}for (int k = 0; k < n; k++) {{\n{FOR}\n{B_FROM_A}\nif (k > 2) break;\n}}\n{SUM_B}\n}}", False,
    ),
    "both ways copy": (
        f"{DATA}{FOR}\n{B_FROM_A}\nif (n > 3) {{\n#pragma omp target update from(b[0:n])\n}} else {{\n"
        f"#pragma omp target update from(b[0:n])\n}}\n{SUM_B}\n}}", True,
    ),
    "swapped an odd number of times": (
        "double *p = a, *q = b;\n#pragma omp target data map(tofrom: a[0:n]) map(to: b[0:n])\n{\n"
        f"for (int k = 0; k < 3; k++) {{\n{FOR}\nfor (int i = 0; i < n; i++) q[i] = p[i] + 1;\n"
        f"double *t = p; p = q; q = t;\n}}\n}}\n{SUM_B}", False,
    ),
    "swapped, and both come back": (
        "double *p = a, *q = b;\n#pragma omp target data map(tofrom: a[0:n]) map(tofrom: b[0:n])\n{\n"
        f"for (int k = 0; k < 3; k++) {{\n{FOR}\nfor (int i = 0; i < n; i++) q[i] = p[i] + 1;\n"
        f"double *t = p; p = q; q = t;\n}}\n}}\n{SUM_B}", True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", BODIES)
def test_what_runs_when(title: str) -> None:
    body, right = BODIES[title]
    assert isinstance(verdict(CALLEE * ("part(" in body) + HEAD + body + TAIL), Proved) == right
