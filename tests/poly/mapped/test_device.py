"""What constructs do with what is not mapped, with scalars, without being waited for, and with global data."""

from __future__ import annotations

import pytest

from tests.poly.mapped.programs import B_FROM_A, FOR, GRID, HEAD, SUM_A, SUM_B, TAIL
from tests.poly.mapped.test_judge import verdict
from warpsmith.base.verdict import Proved

B_FROM_W = "for (int i = 0; i < n; i++) b[i] = w[i % 4];"
MAPS = "map(to: a[0:n]) map(from: b[0:n])"
BODIES = {
    "nobody waits": (f"{FOR} {MAPS} nowait\n{B_FROM_A}\n{SUM_B}", False),
    "the host waits": (f"{FOR} {MAPS} nowait\n{B_FROM_A}\n#pragma omp taskwait\n{SUM_B}", True),
    "an if clause": (f"{FOR} {MAPS} if(n > 3)\n{B_FROM_A}\n{SUM_B}", False),
    "addresses of the device": (f"{FOR} is_device_ptr(a) map(from: b[0:n])\n{B_FROM_A}\n{SUM_B}", False),
    "an array of the function comes by itself": (
        f"double w[4] = {{1, 2}};\n{FOR} map(from: b[0:n])\n{B_FROM_W}\n{SUM_B}", True,
    ),
    "a reduction comes back by itself": (f"{FOR} map(to: a[0:n]) reduction(+: s)\n{SUM_A}", True),
    "a scalar is set on the device": ("#pragma omp target\n{ t = 4; }\ns = t;", False),
    "all scalars are mapped": ("#pragma omp target defaultmap(tofrom: scalar)\n{ t = 4; }\ns = t;", True),
    "openacc, wrong": (f"#pragma acc parallel loop copyin(a[0:n], b[0:n])\n{B_FROM_A}\n{SUM_B}", False),
    "openacc, right": (f"#pragma acc parallel loop copyin(a[0:n]) copyout(b[0:n])\n{B_FROM_A}\n{SUM_B}", True),
    "openacc update, missing": (
        f"#pragma acc data copyin(a[0:n]) copy(b[0:n])\n{{\n#pragma acc parallel loop\n{B_FROM_A}\n{SUM_B}\n}}", False,
    ),
    "openacc update": (
        f"#pragma acc data copyin(a[0:n]) copy(b[0:n])\n{{\n#pragma acc parallel loop\n{B_FROM_A}\n"
        f"#pragma acc update self(b[0:n])\n{SUM_B}\n}}", True,
    ),
}  # fmt: skip
GLOBAL = "#pragma omp declare target\ndouble w[4] = {1, 1, 1, 1};\n#pragma omp end declare target\n"


@pytest.mark.parametrize("title", BODIES)
def test_what_constructs_do(title: str) -> None:
    body, right = BODIES[title]
    assert isinstance(verdict(HEAD + body + TAIL), Proved) == right


def test_global_data_on_the_device_keep_their_first_values() -> None:
    body = f"{FOR} map(from: b[0:n])\nfor (int i = 0; i < n; i++) b[i] = w[i % 4];\n{SUM_B}"
    assert isinstance(verdict(GLOBAL + HEAD + body + TAIL), Proved)
    changed = f"w[1] = 7;\n{body}"
    assert not isinstance(verdict(GLOBAL + HEAD + changed + TAIL), Proved)
    assert isinstance(verdict(GLOBAL + HEAD + f"w[1] = 7;\n#pragma omp target update to(w)\n{body}" + TAIL), Proved)


# what stands before and behind the writes and reads of the same elements of a grid that comes without values
BESIDE = {
    "a border is read": ("", f"{FOR}\nfor (int i = 0; i < n; i++) a[i] += b[i];"),
    "one of it is": ("", "#pragma omp target\n{ a[1] = *(b + 1); }"),
    "one of it is, on the host": ("", "s += b[0];"),
    "a call reads it": ("", "#pragma omp target\n{ memcpy(a, b, 8); }"),
    "another name does": ("double *q;", "q = &b[0];\n#pragma omp target\n{ a[1] = q[0]; }"),
    "a loop that is not counted does": ("int k = 0;", "while (k < n) {\n#pragma omp target\n{ a[k] += b[k]; }\nk++; }"),
    "what is not modelled does": ("", "#pragma omp target\n{ a[1] = ({ double q = b[0]; q + 1; }); }"),
    "it is written under a condition": (
        "if (argc > 5) {", f"}}\n#pragma omp target\n{{ {GRID} a[i * m + j] += b[i * m + j]; }}",
    ),
    "it is left before": ("if (argc > 7) return 1;", ""),
}  # fmt: skip


@pytest.mark.parametrize("title", ["", *BESIDE])
def test_only_what_is_written_is_read_in_a_region(title: str) -> None:
    before, behind = BESIDE.get(title, ("", ""))
    body = (
        "int m = argc + 3;\n#pragma omp target data map(tofrom: a[0:n]) map(alloc: b[0:m * m])\n{\n"
        f"{before}\n{FOR}\n{GRID} b[i * m + j] = a[i * m + j - 1];\n"
        f"{FOR}\n{GRID} a[i * m + j] += b[i * m + j];\n{behind}\n}}\n{SUM_A}"
    )
    assert isinstance(verdict(HEAD + body + TAIL), Proved) == (title == "")
