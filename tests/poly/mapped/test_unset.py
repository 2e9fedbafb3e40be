"""Memory without values: what nobody has given one may come back from the device without; what somebody has may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.analysis import program_of
from tests.poly.mapped.device_memory import outputs
from tests.poly.mapped.programs import FOR, HEAD, TAIL
from warpsmith.base.verdict import Proved, Verdict
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.mapped.judge import judge_mapped

HELPERS = """
struct W { double *p; };
double *held;
void fill(double *x, int n) { for (int i = 0; i < n; i++) x[i] = 1; }
void fill_inner(struct W *w, int n) { for (int i = 0; i < n; i++) w->p[i] = 1; }
void fill_held(int n) { for (int i = 0; i < n; i++) held[i] = 1; }
double *same(double *x) { return x; }
"""
MADE = "double *u = malloc(n * sizeof(double));\nif (!u || u == NULL) return 1;\n"
# the kernel writes nothing
ROUND = f"{FOR}\nfor (int i = 0; i < n; i++) if (a[i] > 1e9) u[i] = a[i];\n"
REGION = f"#pragma omp target data map(to: a[0:n]) map(from: u[0:n])\n{{\n{ROUND}}}\n"
UPDATED = REGION.replace("from:", "alloc:").replace(ROUND, f"{ROUND}#pragma omp target update from(u[0:n])\n")
SUM = "for (int i = 0; i < n; i++) s += u[i];\n"
SEEN = "if (a[0] > 1e9) {\n" + SUM + "}\n"

RIGHT = {
    "it comes back": MADE + REGION + SEEN,
    "an update brings it": MADE + UPDATED + SEEN,
    "it was given values too early": MADE + "fill(u, n);\nfree(u);\nu = malloc(n * sizeof(double));\n" + REGION + SEEN,
    "all of it is set behind": MADE + REGION + "fill(u, n);\n" + SUM,
    "another one is set": MADE + "double *v = malloc(8);\nv[0] = 1;\n" + REGION + SEEN + "free(v);\n",
    "a variable without a value": "double u[512];\n" + REGION.replace("u[0:n]", "u[0:512]") + SEEN,
}
WRONG = {
    "a loop sets it": MADE + "for (int i = 0; i < n; i++) u[i] = 1;\n" + REGION + SUM,
    "an update over it": MADE + "for (int i = 0; i < n; i++) u[i] = 1;\n" + UPDATED + SUM,
    "one element": MADE + "u[0] = 1;\n" + REGION + "s += u[0];\n",
    "a function sets it": MADE + "fill(u, n);\n" + REGION + SUM,
    "memset does": MADE + "memset(u, 0, n * sizeof(double));\n" + REGION + SUM,
    "another pointer": MADE + "double *q = u;\nfor (int i = 0; i < n; i++) q[i] = 1;\n" + REGION + SUM,
    "a pointer behind": MADE + "double *q = u + 3;\n*q = 1;\n" + REGION + "s += u[3];\n",
    "a struct": MADE + "struct W w;\nw.p = u;\nfill_inner(&w, n);\n" + REGION + SUM,
    "a struct from the start": MADE + "struct W w = {u};\nfill_inner(&w, n);\n" + REGION + SUM,
    "a global": MADE + "held = u;\nfill_held(n);\n" + REGION + SUM,
    "a branch": MADE + "if (n > 3) u[3] = 1;\n" + REGION + "s += u[3];\n",
    "a condition": MADE + "if ((u[2] = n) > 3) s += 1;\n" + REGION + "s += u[2];\n",
    "a function returns it": MADE + "double *q = same(u);\nq[1] = 1;\n" + REGION + "s += u[1];\n",
    "its address, taken before": (
        "double *u = 0, **q = &u;\nu = malloc(n * sizeof(double));\n(*q)[5] = 1;\n" + REGION + "s += u[5];\n"
    ),
    "a global pointer": "held = malloc(n * sizeof(double));\nfill_held(n);\n"
    + REGION.replace("u[", "held[")
    + SUM.replace("u[", "held["),
    "calloc": "double *u = calloc(n, sizeof(double));\n" + REGION + SUM,
    "the address of it": MADE + "double **q = &u;\n(*q)[5] = 1;\n" + REGION + "s += u[5];\n",
    "two at once": "double *q, *u = q = malloc(n * sizeof(double));\nq[1] = 1;\n" + REGION + "s += u[1];\n",
    "a variable": "double u[512];\nfor (int i = 0; i < n; i++) u[i] = 1;\n" + REGION + SUM,
    "a variable from the start": "double u[512] = {1};\n" + REGION + "s += u[0];\n",
    "set while the device has a copy": (
        f"{MADE}#pragma omp target data map(to: a[0:n]) map(from: u[0:n])\n{{\nfill(u, n);\n{ROUND}}}\n{SUM}"
    ),
    "a kernel whose results are lost": (
        f"{MADE}#pragma omp target data map(to: a[0:n]) map(alloc: u[0:n])\n{{\n{FOR}\n"
        "for (int i = 0; i < n; i++) u[i] = a[i];\n}\n"
        f"#pragma omp target data map(alloc: u[0:n]) map(from: b[0:n])\n{{\n{FOR}\n"
        "for (int i = 0; i < n; i++) b[i] = u[i];\n}\nfor (int i = 0; i < n; i++) s += b[i];\n"
    ),
    "a kernel whose results came back": (
        f"{MADE}#pragma omp target data map(to: a[0:n]) map(from: u[0:n])\n{{\n{FOR}\n"
        "for (int i = 0; i < n; i++) if (a[i] > 3) u[i] = a[i];\n}\n" + REGION + "s += u[5];\n"
    ),
    "half of it": MADE + "for (int i = 0; i < n / 2; i++) u[i] = 1;\n" + REGION + "s += u[0];\n",
}


def text_of(body: str) -> str:
    return HEAD.replace("int main", HELPERS + "int main", 1) + body + TAIL


def verdict(body: str) -> Verdict:
    (found,) = judge_mapped(Facts.about(program_of(text_of(body)), PolyOptions()))
    return found.verdict


@pytest.mark.parametrize("title", RIGHT)
def test_nothing_is_lost_that_nobody_has_set(title: str) -> None:
    assert isinstance(verdict(RIGHT[title]), Proved)


@pytest.mark.parametrize("title", WRONG)
def test_what_somebody_has_set_is_lost(title: str) -> None:
    assert not isinstance(verdict(WRONG[title]), Proved)


@pytest.mark.slow
def test_they_are_right_and_wrong_where_the_device_has_memory_of_its_own(tmp_path: Path) -> None:
    titles = [title for title in WRONG if "double u[512]" not in WRONG[title]]
    wrong = outputs([text_of(WRONG[title]) for title in titles], tmp_path)
    assert [title for title, (host, device) in zip(titles, wrong, strict=True) if host == device] == []
    titles = [title for title in RIGHT if "double u[512]" not in RIGHT[title]]
    right = outputs([text_of(RIGHT[title]) for title in titles], tmp_path)
    assert [title for title, (host, device) in zip(titles, right, strict=True) if host != device] == []
